import type { CliCommand, CliParam } from '../api/command.js';

const budgetFields = `name appId label dimension { name value } period usdMicros thresholdsPct enforcement version
  raise { until usdMicros } inForceUsdMicros periodStart periodEnd resetsAt spentUsdMicros remainingUsdMicros pct asOf
  nextEnforcement { enforcement from }`;
const budgetColumns = [
  'name',
  'period',
  { path: 'inForceUsdMicros', title: 'amount', show: 'usd' },
  { path: 'spentUsdMicros', title: 'spent', show: 'usd' },
  'pct',
  'enforcement',
  'version',
] as const;
const nameArgument = (to: string): CliParam => ({ flags: '<name>', text: 'the budget', to });
const labelArgument = (to: string): CliParam => ({ flags: '<label>', text: 'the label of the model', to });
const prices: CliParam = {
  flags: '--price <component=dollars...>',
  text: 'dollars per million, for example inputTokens=3.00',
  to: 'input.prices',
  as: 'price',
};
const effectiveFrom: CliParam = {
  flags: '--effective-from <time>',
  text: 'when the price takes effect',
  to: 'input.effectiveFrom',
};
const expectedVersion = (to: string): CliParam => ({
  flags: '--expected-version <n>',
  text: 'change it only if this is its version',
  to,
  as: 'int',
});
const modelFields = `label modelId provider tier family description version retiredAt
  price { inputUsdMicrosPer1M outputUsdMicrosPer1M source entries { name usdMicrosPer1M above } }`;
const modelColumns = [
  'label',
  'modelId',
  'provider',
  { path: 'price.entries', title: 'price per 1M', show: 'prices' },
  'version',
  'retiredAt',
] as const;
const changeFields = 'effectiveFrom source entries { name usdMicrosPer1M above }';

export const budgetCommands: readonly CliCommand[] = [
  {
    name: 'budget list',
    text: 'List the budgets of an org.',
    document: `query ($orgId: UUID) { org(orgId: $orgId) { budgets { ${budgetFields} } } }`,
    org: 'orgId',
    rows: 'org.budgets',
    columns: budgetColumns,
  },
  {
    name: 'budget get',
    text: 'Show a budget with its forecast.',
    document: `query ($orgId: UUID, $name: String!) { org(orgId: $orgId) { budget(name: $name) { ${budgetFields}
      forecast { burnUsdMicrosPerHour projectedUsdMicros exhaustsAt basis } } } }`,
    org: 'orgId',
    params: [nameArgument('name')],
    rows: 'org.budget',
    columns: budgetColumns,
  },
  {
    name: 'budget set',
    text: 'Create a budget, or replace all its settings.',
    document: `mutation ($input: SetBudgetInput!) { setBudget(input: $input) { ${budgetFields} } }`,
    org: 'input.orgId',
    params: [
      nameArgument('input.name'),
      {
        flags: '--period <day|week|month>',
        text: 'its period',
        to: 'input.period',
        as: 'upper',
        choices: ['day', 'week', 'month'],
        required: true,
      },
      { flags: '--amount <dollars>', text: 'the amount per period', to: 'input.usdMicros', as: 'usd', required: true },
      { flags: '--app <appId>', text: 'only costs of this app', to: 'input.appId' },
      { flags: '--label <label>', text: 'only costs of this label', to: 'input.label' },
      { flags: '--dimension <name>', text: 'only costs with a value of this dimension', to: 'input.dimension.name' },
      { flags: '--value <value>', text: 'the value of the dimension', to: 'input.dimension.value' },
      { flags: '--thresholds <pcts>', text: 'percentages that raise alerts', to: 'input.thresholdsPct', as: 'ints' },
      {
        flags: '--enforcement <alert|advisory|hard>',
        text: 'what happens when it is used up',
        to: 'input.enforcement',
        as: 'upper',
        choices: ['alert', 'advisory', 'hard'],
      },
      { flags: '--raise <dollars>', text: 'another amount for a time', to: 'input.raise.usdMicros', as: 'usd' },
      { flags: '--raise-until <time>', text: 'the end of that time', to: 'input.raise.until' },
      expectedVersion('input.expectedVersion'),
    ],
    rows: 'setBudget',
    columns: budgetColumns,
  },
  {
    name: 'budget delete',
    text: 'Delete a budget.',
    document: `mutation ($orgId: UUID, $name: String!, $expectedVersion: SafeInt) {
      deleteBudget(orgId: $orgId, name: $name, expectedVersion: $expectedVersion) }`,
    org: 'orgId',
    params: [nameArgument('name'), expectedVersion('expectedVersion')],
    rows: 'deleteBudget',
    columns: [],
    confirm: 'Delete the budget?',
    done: 'Deleted the budget.',
  },
  {
    name: 'model list',
    text: 'List the models of the catalog.',
    document: `query ($after: String, $includeRetired: Boolean) {
      models(after: $after, includeRetired: $includeRetired) { ${modelFields} } }`,
    params: [
      { flags: '--after <label>', text: 'the models that were added after this one', to: 'after' },
      { flags: '--retired <yes|no>', text: 'whether to list retired models too', to: 'includeRetired', as: 'yesno' },
    ],
    rows: 'models',
    columns: modelColumns,
  },
  {
    name: 'model set',
    text: 'Add a model, or change one (platform admin).',
    document: `mutation ($input: UpsertModelInput!) { upsertModel(input: $input) { ${modelFields} } }`,
    params: [
      labelArgument('input.label'),
      { flags: '--model-id <id>', text: 'its id at the provider', to: 'input.modelId', required: true },
      { flags: '--provider <name>', text: 'the provider', to: 'input.provider' },
      { flags: '--tier <name>', text: 'the tier', to: 'input.tier' },
      { flags: '--family <name>', text: 'the family', to: 'input.family' },
      { flags: '--description <text>', text: 'a description for people', to: 'input.description' },
      prices,
      effectiveFrom,
      expectedVersion('input.expectedVersion'),
    ],
    rows: 'upsertModel',
    columns: modelColumns,
  },
  {
    name: 'model retire',
    text: 'Retire a model: it gets no new costs (platform admin).',
    document: `mutation ($label: String!, $expectedVersion: SafeInt) {
      retireModel(label: $label, expectedVersion: $expectedVersion) { ${modelFields} } }`,
    params: [labelArgument('label'), expectedVersion('expectedVersion')],
    rows: 'retireModel',
    columns: modelColumns,
    confirm: 'Retire the model for all orgs?',
  },
  {
    name: 'price list',
    text: 'List the prices that an org has instead of those of the catalog.',
    document: `query ($orgId: UUID) { org(orgId: $orgId) { prices { label version changes { ${changeFields} } } } }`,
    org: 'orgId',
    rows: 'org.prices',
    columns: ['label', 'version', { path: 'changes' }],
  },
  {
    name: 'price set',
    text: 'Set the price of an org for a label; without --price, clear it (platform admin).',
    document: `mutation ($input: SetOrgPriceInput!) { setOrgPrice(input: $input) {
      label version changes { ${changeFields} } } }`,
    org: 'input.orgId',
    params: [labelArgument('input.label'), prices, effectiveFrom, expectedVersion('input.expectedVersion')],
    rows: 'setOrgPrice',
    columns: ['label', 'version', { path: 'changes' }],
  },
];
