import type { CliCommand, CliParam } from '../api/command.js';

const figures = 'costUsdMicros inputTokens outputTokens requests';
const dayFields = `day scope ${figures} mode resetsAt labels { label ${figures} quotaUsdMicros quotaPct mode asOf }`;
const cost = { path: 'costUsdMicros', title: 'cost', show: 'usd' } as const;
const dayColumns = ['day', cost, 'requests', 'inputTokens', 'outputTokens', 'mode'] as const;
const labelColumns = [
  'label',
  cost,
  { path: 'quotaUsdMicros', title: 'quota', show: 'usd' },
  'quotaPct',
  'mode',
] as const;
const from: CliParam = { flags: '--from <day>', text: 'the first day, YYYY-MM-DD', to: 'from', required: true };
const to: CliParam = { flags: '--to <day>', text: 'the last day, YYYY-MM-DD', to: 'to', required: true };
const step: CliParam = {
  flags: '--step <hour|day>',
  text: 'the length of a point',
  to: 'step',
  as: 'upper',
  choices: ['hour', 'day'],
  fallback: 'day',
};
const label: CliParam = { flags: '--label <label>', text: 'only this label', to: 'label' };
const exact: CliParam = {
  flags: '--exact',
  text: 'the figures of this moment, for more read units',
  to: 'consistency',
  means: 'EXACT',
};
const ofApp: CliParam = { flags: '--app <appId>', text: 'only this app', to: 'appId' };
const day: CliParam = { flags: '--day <day>', text: 'another day, YYYY-MM-DD', to: 'day' };
const app: CliParam = { flags: '<appId>', text: 'the app', to: 'appId' };
const pointFields = 'day startsAt endsAt costUsdMicros requests';
const pointColumns = [{ path: 'startsAt', show: 'time' }, 'day', cost, 'requests'] as const;
const entryFields = `requestId appId label day occurredAt inputTokens outputTokens costUsdMicros correctedUsdMicros
  status estimated priceSource dimensions { name value }
  corrections { correctionId deltaUsdMicros reason correctedAt }`;
const entryColumns = [
  'requestId',
  'appId',
  'label',
  { path: 'occurredAt', show: 'time' },
  cost,
  { path: 'correctedUsdMicros', title: 'corrected', show: 'usd' },
  'status',
  'estimated',
] as const;
const selectionFields = 'allowed label bedrockModelId reason mode budget recheckAfterSecs day resetsAt';
const selectionColumns = ['allowed', 'label', 'bedrockModelId', 'reason', 'mode', 'recheckAfterSecs'] as const;

const reads: readonly CliCommand[] = [
  {
    name: 'spend today',
    text: 'Show the spend of an org today, by label.',
    document: `query ($orgId: UUID, $day: LocalDate, $consistency: Consistency! = AGGREGATED) { org(orgId: $orgId) {
      spend(day: $day, consistency: $consistency) { ${dayFields} } } }`,
    org: 'orgId',
    params: [day, exact, ofApp],
    rows: 'org.spend.labels',
    variant: {
      option: 'app',
      document: `query ($orgId: UUID, $appId: String!, $day: LocalDate, $consistency: Consistency! = AGGREGATED) {
        org(orgId: $orgId) { app(appId: $appId) { spend(day: $day, consistency: $consistency) { ${dayFields} } } } }`,
      rows: 'org.app.spend.labels',
    },
    columns: labelColumns,
  },
  {
    name: 'spend history',
    text: 'Show the spend of an org by day.',
    document: `query ($orgId: UUID, $from: LocalDate!, $to: LocalDate!) { org(orgId: $orgId) {
      spendHistory(from: $from, to: $to) { ${dayFields} } } }`,
    org: 'orgId',
    params: [from, to, ofApp],
    rows: 'org.spendHistory',
    variant: {
      option: 'app',
      document: `query ($orgId: UUID, $appId: String!, $from: LocalDate!, $to: LocalDate!) { org(orgId: $orgId) {
        app(appId: $appId) { spendHistory(from: $from, to: $to) { ${dayFields} } } } }`,
      rows: 'org.app.spendHistory',
    },
    columns: dayColumns,
  },
  {
    name: 'spend series',
    text: 'Show the spend of an org by hour or day.',
    document: `query ($orgId: UUID, $from: LocalDate!, $to: LocalDate!, $step: SpendStep!, $label: String) {
      org(orgId: $orgId) { spendSeries(from: $from, to: $to, step: $step, label: $label) { ${pointFields} } } }`,
    org: 'orgId',
    params: [from, to, step, label, ofApp],
    rows: 'org.spendSeries',
    variant: {
      option: 'app',
      document: `query ($orgId: UUID, $appId: String!, $from: LocalDate!, $to: LocalDate!, $step: SpendStep!,
        $label: String) { org(orgId: $orgId) { app(appId: $appId) {
          spendSeries(from: $from, to: $to, step: $step, label: $label) { ${pointFields} } } } }`,
      rows: 'org.app.spendSeries',
    },
    columns: pointColumns,
  },
  {
    name: 'spend top',
    text: 'Show the apps, labels or values of a dimension with the largest spend.',
    document: `query ($orgId: UUID, $from: LocalDate!, $to: LocalDate!, $by: BreakdownKind!, $name: String,
      $top: Int! = 100) { org(orgId: $orgId) { spendBreakdown(from: $from, to: $to, by: $by, name: $name, top: $top) {
        rows { name ${figures} } } } }`,
    org: 'orgId',
    params: [
      from,
      to,
      {
        flags: '--by <app|label|dimension>',
        text: 'what a row is',
        to: 'by',
        as: 'upper',
        choices: ['app', 'label', 'dimension'],
        fallback: 'app',
      },
      { flags: '--dimension <name>', text: 'the dimension', to: 'name' },
      { flags: '--top <n>', text: 'the number of rows', to: 'top', as: 'int' },
    ],
    rows: 'org.spendBreakdown.rows',
    columns: ['name', cost, 'requests', 'inputTokens', 'outputTokens'],
  },
  {
    name: 'spend select',
    text: 'Show which model an app is to call now.',
    document: `query ($orgId: UUID, $appId: String!) { org(orgId: $orgId) { app(appId: $appId) {
      modelSelection { ${selectionFields} } } } }`,
    org: 'orgId',
    params: [app],
    rows: 'org.app.modelSelection',
    columns: selectionColumns,
    id: 'label',
    isRefusal: ([selection]) => selection?.allowed === false,
  },
  {
    name: 'spend override',
    text: 'Select a label by hand for the rest of the day, or end that.',
    document: `mutation ($input: OverrideModelInput!) { overrideModel(input: $input) { ${selectionFields} } }`,
    org: 'input.orgId',
    params: [
      { flags: '[label]', text: 'the label; absent: end the override', to: 'input.label' },
      { flags: '--app <appId>', text: 'the app, if apps have the quotas', to: 'input.appId' },
    ],
    rows: 'overrideModel',
    columns: selectionColumns,
    id: 'label',
  },
];

const costs: readonly CliCommand[] = [
  {
    name: 'cost list',
    text: 'List recorded costs (the org must have a ledger).',
    document: `query ($orgId: UUID, $from: LocalDate!, $to: LocalDate!, $label: String, $appId: String, $first: Int,
      $after: String) { org(orgId: $orgId) { costs(from: $from, to: $to, label: $label, appId: $appId, first: $first,
        after: $after) { nodes { ${entryFields} } pageInfo { hasNextPage endCursor } } } }`,
    org: 'orgId',
    params: [from, to, label, ofApp],
    rows: 'org.costs.nodes',
    connection: 'org.costs',
    columns: entryColumns,
  },
  {
    name: 'cost get',
    text: 'Show a recorded cost.',
    document: `query ($orgId: UUID, $requestId: UUID!, $appId: String!) { org(orgId: $orgId) {
      cost(requestId: $requestId, appId: $appId) {
        ${entryFields} lines { name quantity usdMicrosPer1M costUsdMicros } } } }`,
    org: 'orgId',
    params: [
      { flags: '<requestId>', text: 'the request id of the cost', to: 'requestId' },
      { flags: '--app <appId>', text: 'the app', to: 'appId', required: true },
    ],
    rows: 'org.cost',
    columns: entryColumns,
  },
  {
    name: 'cost submit',
    text: 'Record a cost once. Repeat it with the same request id if the response was lost.',
    document: `mutation ($input: SubmitCostInput!) { submitCost(input: $input) {
      requestId replayed label day costUsdMicros priceSource } }`,
    org: 'input.orgId',
    params: [
      { flags: '<requestId>', text: 'a UUID', to: 'input.requestId' },
      { flags: '--label <label>', text: 'the model label', to: 'input.modelLabel', required: true },
      { flags: '--input-tokens <n>', text: 'input tokens', to: 'input.inputTokens', as: 'int', fallback: '0' },
      { flags: '--output-tokens <n>', text: 'output tokens', to: 'input.outputTokens', as: 'int', fallback: '0' },
      { flags: '--app <appId>', text: 'the app', to: 'input.appId' },
      { flags: '--component <name=n...>', text: 'further usage', to: 'input.components', as: 'component' },
      { flags: '--cost <dollars>', text: 'the cost, if the provider tells it', to: 'input.costUsdMicros', as: 'usd' },
      { flags: '--dimension <name=value...>', text: 'a value of a dimension', to: 'input.dimensions', as: 'named' },
      { flags: '--occurred-at <time>', text: 'when the call was made', to: 'input.occurredAt' },
    ],
    rows: 'submitCost',
    columns: ['requestId', 'day', 'label', cost, 'replayed'],
  },
  {
    name: 'cost correct',
    text: 'Credit or debit a recorded cost once.',
    document: `mutation ($input: CorrectCostInput!) { correctCost(input: $input) { replayed
      correction { correctionId deltaUsdMicros reason } cost { requestId correctedUsdMicros } } }`,
    org: 'input.orgId',
    params: [
      { flags: '<requestId>', text: 'the request id of the cost', to: 'input.requestId' },
      { flags: '--app <appId>', text: 'the app', to: 'input.appId', required: true },
      { flags: '--correction-id <uuid>', text: 'the id of the correction', to: 'input.correctionId', required: true },
      {
        flags: '--delta <dollars>',
        text: 'added to the cost; negative for a credit',
        to: 'input.deltaUsdMicros',
        as: 'usd',
        required: true,
      },
      { flags: '--reason <text>', text: 'why', to: 'input.reason', required: true },
    ],
    rows: 'correctCost',
    columns: [
      { path: 'correction.correctionId' },
      { path: 'correction.deltaUsdMicros', title: 'delta', show: 'usd' },
      { path: 'cost.correctedUsdMicros', title: 'cost', show: 'usd' },
      'replayed',
    ],
  },
];

export const spendCommands: readonly CliCommand[] = [...reads, ...costs];
