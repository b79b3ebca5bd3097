import type { CliCommand, CliParam } from '../api/command.js';

const admissionArgument = (to: string): CliParam => ({ flags: '<admissionId>', text: 'the admission', to });
const components: CliParam = { flags: '--component <name=n...>', text: 'further usage', as: 'component' };
const admittedColumns = [
  'admissionId',
  'label',
  'modelId',
  { path: 'reservedUsdMicros', title: 'reserved', show: 'usd' },
  { path: 'expiresAt', show: 'time' },
  { path: 'binding.kind', title: 'denied by' },
  { path: 'binding.name', title: 'name' },
  { path: 'binding.wouldPass', title: 'would pass' },
] as const;
const receiptFields = 'requestId replayed label day costUsdMicros estimated';
const receiptColumns = [
  'requestId',
  'day',
  'label',
  { path: 'costUsdMicros', title: 'cost', show: 'usd' },
  'estimated',
  'replayed',
] as const;

export const admissionCommands: readonly CliCommand[] = [
  {
    name: 'admission admit',
    text: 'Decide whether a call may be made, and reserve its cost. Exits with 3 if it is denied.',
    document: `mutation ($input: AdmitInput!) { admit(input: $input) { __typename
      ... on Admitted { admissionId requestId label modelId reservedUsdMicros expiresAt replayed degraded }
      ... on Denied { binding { kind name label entityId missing wouldPass } retryAt } } }`,
    org: 'input.orgId',
    params: [
      { flags: '<requestId>', text: 'a UUID', to: 'input.requestId' },
      { flags: '--app <appId>', text: 'the app', to: 'input.appId' },
      { flags: '--input-tokens <n>', text: 'input tokens', to: 'input.estimate.inputTokens', as: 'int' },
      { flags: '--max-output-tokens <n>', text: 'max output tokens', to: 'input.estimate.maxOutputTokens', as: 'int' },
      { ...components, to: 'input.estimate.components' },
      { flags: '--cost <dollars>', text: 'the max cost', to: 'input.estimate.costUsdMicros', as: 'usd' },
      { flags: '--labels <labels>', text: 'the labels to try, comma-separated', to: 'input.labels', as: 'list' },
      { flags: '--limits <file>', text: 'limits to take, as a JSON list', to: 'input.limits', as: 'json' },
      { flags: '--ttl <secs>', text: 'how long the amount stays reserved', to: 'input.ttlSecs', as: 'int' },
      { flags: '--wait-ms <n>', text: 'how long to wait for money or tokens', to: 'input.waitMs', as: 'int' },
    ],
    rows: 'admit',
    columns: admittedColumns,
    isRefusal: ([row]) => row?.__typename === 'Denied',
  },
  {
    name: 'admission settle',
    text: 'Record what an admitted call cost.',
    document: `mutation ($input: SettleInput!) { settle(input: $input) { ${receiptFields} } }`,
    params: [
      admissionArgument('input.admissionId'),
      { flags: '--input-tokens <n>', text: 'input tokens', to: 'input.inputTokens', as: 'int' },
      { flags: '--output-tokens <n>', text: 'output tokens', to: 'input.outputTokens', as: 'int' },
      { ...components, to: 'input.components' },
      { flags: '--cost <dollars>', text: 'the cost, if the provider tells it', to: 'input.costUsdMicros', as: 'usd' },
      { flags: '--dimension <name=value...>', text: 'a value of a dimension', to: 'input.dimensions', as: 'named' },
    ],
    rows: 'settle',
    columns: receiptColumns,
  },
  {
    name: 'admission cancel',
    text: 'End an admission without a call, or with one whose usage is unknown.',
    document: `mutation ($admissionId: String!, $sent: Boolean!) {
      cancelAdmission(admissionId: $admissionId, sent: $sent) { ${receiptFields} } }`,
    params: [
      admissionArgument('admissionId'),
      { flags: '--sent <yes|no>', text: 'whether the call was sent', to: 'sent', as: 'yesno', required: true },
    ],
    rows: 'cancelAdmission',
    columns: [],
    done: 'Cancelled the admission.',
  },
  {
    name: 'admission renew',
    text: 'Keep the reserved amount for longer.',
    document: `mutation ($admissionId: String!, $ttlSecs: Int!) {
      renewAdmission(admissionId: $admissionId, ttlSecs: $ttlSecs) {
        admissionId requestId label modelId reservedUsdMicros expiresAt } }`,
    params: [
      admissionArgument('admissionId'),
      { flags: '--ttl <secs>', text: 'for how long', to: 'ttlSecs', as: 'int', fallback: '120' },
    ],
    rows: 'renewAdmission',
    columns: ['admissionId', 'label', { path: 'expiresAt', show: 'time' }],
  },
  {
    name: 'admission overruns',
    text: 'List settled calls that passed a hard quota or budget.',
    document: `query ($orgId: UUID, $appId: String, $from: LocalDate!, $to: LocalDate!, $first: Int, $after: String) {
      overruns(orgId: $orgId, appId: $appId, from: $from, to: $to, first: $first, after: $after) {
        nodes { requestId appId label day kind overUsdMicros occurredAt } pageInfo { hasNextPage endCursor } } }`,
    org: 'orgId',
    params: [
      { flags: '--from <day>', text: 'the first day, YYYY-MM-DD', to: 'from', required: true },
      { flags: '--to <day>', text: 'the last day, YYYY-MM-DD', to: 'to', required: true },
      { flags: '--app <appId>', text: 'only this app', to: 'appId' },
    ],
    rows: 'overruns.nodes',
    connection: 'overruns',
    columns: [
      { path: 'occurredAt', show: 'time' },
      'requestId',
      'appId',
      'label',
      'kind',
      { path: 'overUsdMicros', title: 'over', show: 'usd' },
    ],
  },
];
