import type { CliCommand, CliParam } from '../api/command.js';

const quotas = 'quotas { label dailyUsdMicros enforcement nextEnforcement { enforcement from } }';
const orgFields = `orgId name timezone quotaScope modelOrdering ${quotas} stickyFallbackEnabled shardCount
  appsMayBringLimits attributeApps ledger dimensions maxReservationPct tightModeThresholdPct
  refreshIntervalNormalSecs refreshIntervalTightSecs createdAt updatedAt version suspendedAt credentials { clientId }`;
const appFields = `appId name modelOrdering ${quotas} tightModeThresholdPct
  refreshIntervalNormalSecs refreshIntervalTightSecs inheritedFields createdAt updatedAt version suspendedAt
  credentials { clientId }`;
const orgColumns = ['orgId', 'name', 'timezone', 'quotaScope', { path: 'quotas', show: 'quotas' }, 'version'] as const;
const appColumns = ['appId', 'name', { path: 'quotas', show: 'quotas' }, 'version', 'suspendedAt'] as const;
const secretColumns = ['clientId', 'clientSecret'] as const;

const expectedVersion: CliParam = {
  flags: '--expected-version <n>',
  text: 'change it only if this is its version',
  to: 'input.expectedVersion',
  as: 'int',
};

const settings: readonly CliParam[] = [
  { flags: '--models <labels>', text: 'the fallback chain, comma-separated', to: 'input.modelOrdering', as: 'list' },
  {
    flags: '--quota <label=dollars...>',
    text: 'the daily quota of a label, with :hard or :advisory; repeat it for each label',
    to: 'input.quotas',
    as: 'quota',
  },
  {
    flags: '--tight-pct <n>',
    text: 'percentage of a quota from which the mode is TIGHT',
    to: 'input.tightModeThresholdPct',
    as: 'int',
  },
  {
    flags: '--refresh-secs <n>',
    text: 'seconds after which to query the selection again in mode NORMAL',
    to: 'input.refreshIntervalNormalSecs',
    as: 'int',
  },
  {
    flags: '--refresh-tight-secs <n>',
    text: 'the same in mode TIGHT',
    to: 'input.refreshIntervalTightSecs',
    as: 'int',
  },
];

const yesNo = (name: string, text: string, field: string): CliParam => ({
  flags: `--${name} <yes|no>`,
  text,
  to: `input.${field}`,
  as: 'yesno',
});
const orgSettings: readonly CliParam[] = [
  ...settings,
  yesNo('sticky-fallback', 'stay on the fallback for the rest of the day', 'stickyFallbackEnabled'),
  yesNo('apps-may-bring-limits', 'app clients may send limits with an acquire', 'appsMayBringLimits'),
  yesNo('attribute-apps', 'count costs per app too', 'attributeApps'),
  {
    flags: '--max-reservation-pct <n>',
    text: 'the largest share of a hard quota that one admission may reserve',
    to: 'input.maxReservationPct',
    as: 'int',
  },
  yesNo('ledger', 'keep costs so that they can be listed', 'ledger'),
  {
    flags: '--dimensions <names>',
    text: 'names that costs may carry, comma-separated',
    to: 'input.dimensions',
    as: 'list',
  },
];

const appArgument = (to: string): CliParam => ({ flags: '<appId>', text: 'the app', to });
const orgArgument: CliParam = { flags: '<orgId>', text: 'the org', to: 'orgId' };
const graceHours: CliParam = {
  flags: '--grace-hours <n>',
  text: 'hours for which the old secret stays valid',
  to: 'input.graceHours',
  as: 'int',
};
const rotateDocument = `mutation ($input: RotateCredentialsInput!) {
  rotateCredentials(input: $input) { credentials { clientId graceExpiresAt } secretRetrieval { token } } }`;
const rotation = {
  document: rotateDocument,
  org: 'input.orgId',
  rows: 'rotateCredentials.credentials',
  retrieval: 'rotateCredentials.secretRetrieval.token',
  provesSecret: true,
  columns: [...secretColumns, 'graceExpiresAt'],
} as const;

export const orgCommands: readonly CliCommand[] = [
  {
    name: 'org list',
    text: 'List all orgs (platform admin).',
    document: `query ($first: Int, $after: String) { orgs(first: $first, after: $after) {
      nodes { ${orgFields} } pageInfo { hasNextPage endCursor } } }`,
    rows: 'orgs.nodes',
    connection: 'orgs',
    columns: orgColumns,
  },
  {
    name: 'org get',
    text: 'Show the settings of an org.',
    document: `query ($orgId: UUID) { org(orgId: $orgId) { ${orgFields} timezoneEffectiveAt deviceCount } }`,
    org: 'orgId',
    rows: 'org',
    columns: orgColumns,
  },
  {
    name: 'org create',
    text: 'Register an org and print its secret once (platform admin).',
    document: `mutation ($input: RegisterOrgInput!) { registerOrg(input: $input) {
      org { ${orgFields} } secretRetrieval { token } } }`,
    params: [
      { flags: '<name>', text: 'the name of the org', to: 'input.name' },
      { flags: '--timezone <zone>', text: 'an IANA time zone', to: 'input.timezone', fallback: 'Etc/UTC' },
      {
        flags: '--quota-scope <org|app>',
        text: 'whether the org or each app has the quotas',
        to: 'input.quotaScope',
        as: 'upper',
        choices: ['org', 'app'],
        fallback: 'org',
      },
      { flags: '--org-id <uuid>', text: 'the id of the new org', to: 'input.orgId' },
      { flags: '--shard-count <n>', text: '8, 16, 32 or 64 counters', to: 'input.shardCount', as: 'int' },
      ...orgSettings.map((param) =>
        param.to === 'input.modelOrdering' || param.to === 'input.quotas'
          ? { ...param, required: true as const }
          : param,
      ),
    ],
    rows: 'registerOrg.org',
    retrieval: 'registerOrg.secretRetrieval.token',
    columns: ['orgId', 'name', ...secretColumns],
  },
  {
    name: 'org set',
    text: 'Change settings of an org.',
    document: `mutation ($input: UpdateOrgInput!) { updateOrg(input: $input) { ${orgFields} } }`,
    org: 'input.orgId',
    params: [
      { flags: '--name <name>', text: 'the name', to: 'input.name' },
      { flags: '--timezone <zone>', text: 'an IANA time zone, from tomorrow on', to: 'input.timezone' },
      ...orgSettings,
      expectedVersion,
    ],
    rows: 'updateOrg',
    columns: orgColumns,
  },
  {
    name: 'org suspend',
    text: 'Suspend an org: its credentials stop working (platform admin).',
    document: 'mutation ($orgId: UUID!) { suspendOrg(orgId: $orgId) { orgId name suspendedAt } }',
    params: [orgArgument],
    rows: 'suspendOrg',
    columns: ['orgId', 'name', 'suspendedAt'],
  },
  {
    name: 'org resume',
    text: 'End the suspension of an org (platform admin).',
    document: 'mutation ($orgId: UUID!) { resumeOrg(orgId: $orgId) { orgId name suspendedAt } }',
    params: [orgArgument],
    rows: 'resumeOrg',
    columns: ['orgId', 'name', 'suspendedAt'],
  },
  {
    name: 'org rotate',
    text: 'Give the org a new secret and print it once.',
    params: [{ flags: '--client <clientId>', text: 'a further client of the org', to: 'input.clientId' }, graceHours],
    ...rotation,
  },
  {
    name: 'app list',
    text: 'List the apps of an org.',
    document: `query ($orgId: UUID, $first: Int, $after: String) { org(orgId: $orgId) {
      apps(first: $first, after: $after) { nodes { ${appFields} } pageInfo { hasNextPage endCursor } } } }`,
    org: 'orgId',
    rows: 'org.apps.nodes',
    connection: 'org.apps',
    columns: appColumns,
  },
  {
    name: 'app get',
    text: 'Show the settings of an app.',
    document: `query ($orgId: UUID, $appId: String!) { org(orgId: $orgId) { app(appId: $appId) { ${appFields} } } }`,
    org: 'orgId',
    params: [appArgument('appId')],
    rows: 'org.app',
    columns: appColumns,
  },
  {
    name: 'app create',
    text: 'Register an app and print its secret once.',
    document: `mutation ($input: RegisterAppInput!) { registerApp(input: $input) {
      app { ${appFields} } secretRetrieval { token } } }`,
    org: 'input.orgId',
    params: [
      appArgument('input.appId'),
      { flags: '--name <name>', text: 'the name', to: 'input.name', required: true },
      ...settings,
    ],
    rows: 'registerApp.app',
    retrieval: 'registerApp.secretRetrieval.token',
    columns: ['appId', 'name', ...secretColumns],
  },
  {
    name: 'app set',
    text: 'Change settings of an app.',
    document: `mutation ($input: UpdateAppInput!) { updateApp(input: $input) { ${appFields} } }`,
    org: 'input.orgId',
    params: [
      appArgument('input.appId'),
      { flags: '--name <name>', text: 'the name', to: 'input.name' },
      ...settings,
      expectedVersion,
    ],
    rows: 'updateApp',
    columns: appColumns,
  },
  {
    name: 'app suspend',
    text: 'Suspend an app: its credentials stop working.',
    document: `mutation ($orgId: UUID, $appId: String!) { suspendApp(orgId: $orgId, appId: $appId) { ${appFields} } }`,
    org: 'orgId',
    params: [appArgument('appId')],
    rows: 'suspendApp',
    columns: appColumns,
  },
  {
    name: 'app resume',
    text: 'End the suspension of an app.',
    document: `mutation ($orgId: UUID, $appId: String!) { resumeApp(orgId: $orgId, appId: $appId) { ${appFields} } }`,
    org: 'orgId',
    params: [appArgument('appId')],
    rows: 'resumeApp',
    columns: appColumns,
  },
  {
    name: 'app delete',
    text: 'Delete an app with its clients. Its costs remain.',
    document: `mutation ($orgId: UUID, $appId: String!, $expectedVersion: SafeInt) {
      deleteApp(orgId: $orgId, appId: $appId, expectedVersion: $expectedVersion) }`,
    org: 'orgId',
    params: [appArgument('appId'), { ...expectedVersion, to: 'expectedVersion' }],
    rows: 'deleteApp',
    columns: [],
    confirm: 'Delete the app with all its clients?',
    done: 'Deleted the app.',
  },
  {
    name: 'app rotate',
    text: 'Give an app a new secret and print it once.',
    params: [
      appArgument('input.appId'),
      { flags: '--client <clientId>', text: 'a further client of the app', to: 'input.clientId' },
      graceHours,
    ],
    ...rotation,
  },
];
