import type { CliArguments, CliCommand, CliParam } from '../api/command.js';
import { UsageError } from '../help.js';

const limitFields = 'name capacity burst refillAmount refillPeriodSecs kind window enforce';
const configFields = `level resource entityId onUnavailable version limits { ${limitFields} }`;
const configColumns = ['level', 'resource', 'entityId', { path: 'limits', show: 'limits' }, 'version'] as const;
const statusFields = `entityId resource requested available exceeded retryAfterSecs wouldRefuse
  limit { ${limitFields} }`;
const statusColumns = [
  'entityId',
  'resource',
  { path: 'limit.name', title: 'limit' },
  'requested',
  'available',
  'exceeded',
  'retryAfterSecs',
] as const;

const level = (prefix: string): readonly CliParam[] => [
  { flags: '--system', text: 'the limits of the whole org' },
  { flags: '--resource <name>', text: 'the limits of a resource', to: `${prefix}resource` },
  {
    flags: '--entity <id>',
    text: 'the limits of an entity; with --resource, for that resource',
    to: `${prefix}entityId`,
  },
];
/** The level that the options name. */
const levelIn =
  (path: string) =>
  ({ system, resource, entity }: CliArguments): Readonly<Record<string, unknown>> => {
    const isNamed = resource !== undefined || entity !== undefined;
    if (isNamed === (system === true)) throw new UsageError('name the level by --system, --resource, --entity or both');
    if (entity !== undefined) return { [path]: resource === undefined ? 'ENTITY_DEFAULT' : 'ENTITY' };
    return { [path]: resource === undefined ? 'SYSTEM' : 'RESOURCE' };
  };
const entityArgument = (to: string): CliParam => ({ flags: '<entityId>', text: 'the entity', to });
const resource = (to: string): CliParam => ({ flags: '--resource <name>', text: 'the resource', to, required: true });
const consume = (to: string): CliParam => ({
  flags: '--consume <limit=n...>',
  text: 'the amount of a limit; repeat it for each limit',
  to,
  as: 'consume',
});
const window: CliParam = {
  flags: '--window <hourly|daily|monthly>',
  text: 'the length of a window',
  to: 'window',
  as: 'upper',
  choices: ['hourly', 'daily', 'monthly'],
  fallback: 'daily',
};
const from: CliParam = { flags: '--from <time>', text: 'the start, in ISO 8601', to: 'from' };
const to: CliParam = { flags: '--to <time>', text: 'the end, in ISO 8601', to: 'to' };
const expectedVersion: CliParam = {
  flags: '--expected-version <n>',
  text: 'change it only if this is its version; 0: it must not exist',
  to: 'input.expectedVersion',
  as: 'int',
};

const levels: readonly CliCommand[] = [
  {
    name: 'limit list',
    text: 'List the limits of the system and of all resources.',
    document: `query ($orgId: UUID) { org(orgId: $orgId) { limitConfigs { ${configFields} } } }`,
    org: 'orgId',
    rows: 'org.limitConfigs',
    columns: configColumns,
    id: 'resource',
  },
  {
    name: 'limit get',
    text: 'Show the limits of one level.',
    document: `query ($orgId: UUID, $level: LimitLevel!, $resource: String, $entityId: String) { org(orgId: $orgId) {
      limitConfig(level: $level, resource: $resource, entityId: $entityId) { ${configFields} } } }`,
    org: 'orgId',
    params: level(''),
    derive: levelIn('level'),
    rows: 'org.limitConfig',
    columns: configColumns,
  },
  {
    name: 'limit set',
    text: 'Set the limits of a level and replace all that it had.',
    document: `mutation ($input: SetLimitsInput!) { setLimits(input: $input) { ${configFields} } }`,
    org: 'input.orgId',
    params: [
      ...level('input.'),
      {
        flags: '-l, --limit <limit...>',
        text: 'for example rpm=100 or tpm=40000:burst=60000/60s or calls=1000/day or jobs=5:concurrent',
        to: 'input.limits',
        as: 'limit',
        required: true,
      },
      {
        flags: '--on-unavailable <allow|block>',
        text: 'at level system: what happens during an outage',
        to: 'input.onUnavailable',
        as: 'upper',
        choices: ['allow', 'block'],
      },
      expectedVersion,
    ],
    derive: levelIn('input.level'),
    rows: 'setLimits',
    columns: configColumns,
  },
  {
    name: 'limit unset',
    text: 'Delete the limits of a level.',
    document: 'mutation ($input: DeleteLimitsInput!) { deleteLimits(input: $input) }',
    org: 'input.orgId',
    params: [...level('input.'), expectedVersion],
    derive: levelIn('input.level'),
    rows: 'deleteLimits',
    columns: [],
    confirm: 'Delete the limits of this level?',
    done: 'Deleted the limits.',
  },
  {
    name: 'limit capacity',
    text: 'Show capacity and available tokens of a limit, by entity.',
    document: `query ($orgId: UUID, $resource: String!, $limit: String!) { org(orgId: $orgId) {
      resourceCapacity(resource: $resource, limit: $limit) {
        entities { entityId capacity available utilizationPct } } } }`,
    org: 'orgId',
    params: [resource('resource'), { flags: '--name <limit>', text: 'the limit', to: 'limit', required: true }],
    rows: 'org.resourceCapacity.entities',
    columns: ['entityId', 'capacity', 'available', 'utilizationPct'],
  },
  {
    name: 'limit usage',
    text: 'Show what was taken of a resource, by window.',
    document: `query ($orgId: UUID, $resource: String!, $window: UsageWindow!, $from: DateTime!, $to: DateTime!) {
      org(orgId: $orgId) { resourceUsage(resource: $resource, window: $window, from: $from, to: $to) {
        windowStart windowEnd entities counters { limit consumed refused } } } }`,
    org: 'orgId',
    params: [resource('resource'), window, { ...from, required: true }, { ...to, required: true }],
    rows: 'org.resourceUsage',
    columns: [{ path: 'windowStart', show: 'time' }, 'entities', { path: 'counters', show: 'counters' }],
  },
  {
    name: 'limit top-up',
    text: 'Give an entity tokens of a limit once.',
    document: `mutation ($input: TopUpInput!) { topUp(input: $input) { replayed statuses { ${statusFields} } } }`,
    org: 'input.orgId',
    params: [
      entityArgument('input.entityId'),
      resource('input.resource'),
      { flags: '--name <limit>', text: 'the limit', to: 'input.limit', required: true },
      { flags: '--amount <n>', text: 'the number of tokens', to: 'input.amount', as: 'int', required: true },
      { flags: '--operation-id <uuid>', text: 'the id of the top-up', to: 'input.operationId', required: true },
    ],
    rows: 'topUp.statuses',
    columns: statusColumns,
  },
  {
    name: 'limit purge',
    text: 'Delete all limits, entities, buckets and usage of an org.',
    document: 'mutation ($orgId: UUID) { purgeLimiter(orgId: $orgId) }',
    org: 'orgId',
    rows: 'purgeLimiter',
    columns: [],
    confirm: 'Delete ALL limits, entities, buckets and usage of the org?',
    done: 'Purged the limiter of the org.',
  },
];

const leases: readonly CliCommand[] = [
  {
    name: 'lease acquire',
    text: 'Take tokens for an entity. Exits with 3 if there are not enough.',
    document: `mutation ($input: AcquireInput!) { acquire(input: $input) { __typename
      ... on Lease { leaseId entityId resource expiresAt renewBy degraded statuses { ${statusFields} } }
      ... on RateLimited { message retryAfterSecs violations { ${statusFields} } } } }`,
    org: 'input.orgId',
    params: [
      entityArgument('input.entityId'),
      resource('input.resource'),
      { ...consume('input.consume'), required: true },
      { flags: '--request-id <uuid>', text: 'makes a repetition safe', to: 'input.requestId' },
      { flags: '--ttl <secs>', text: 'how long the lease holds slots', to: 'input.ttlSecs', as: 'int' },
    ],
    rows: 'acquire',
    columns: ['leaseId', 'entityId', 'resource', 'expiresAt', 'retryAfterSecs'],
    isRefusal: ([row]) => row?.__typename === 'RateLimited',
  },
  {
    name: 'lease adjust',
    text: 'Correct what a lease has taken: positive amounts are taken, negative ones given back.',
    document: `mutation ($input: AdjustLeaseInput!) { adjustLease(input: $input) {
      leaseId replayed statuses { ${statusFields} } } }`,
    params: [
      { flags: '<leaseId>', text: 'the lease', to: 'input.leaseId' },
      { ...consume('input.adjust'), required: true },
      { flags: '--idempotency-key <uuid>', text: 'makes a repetition safe', to: 'input.idempotencyKey' },
    ],
    rows: 'adjustLease',
    columns: ['leaseId', 'replayed'],
  },
  {
    name: 'lease renew',
    text: 'Keep the slots of a lease for longer.',
    document: `mutation ($leaseId: String!, $ttlSecs: Int! = 60) { renewLease(leaseId: $leaseId, ttlSecs: $ttlSecs) {
      leaseId renewBy } }`,
    params: [
      { flags: '<leaseId>', text: 'the lease', to: 'leaseId' },
      { flags: '--ttl <secs>', text: 'for how long', to: 'ttlSecs', as: 'int' },
    ],
    rows: 'renewLease',
    columns: ['leaseId', 'renewBy'],
  },
  {
    name: 'lease release',
    text: 'Give back everything that a lease has taken.',
    document: 'mutation ($leaseId: String!) { releaseLease(leaseId: $leaseId) { leaseId replayed } }',
    params: [{ flags: '<leaseId>', text: 'the lease', to: 'leaseId' }],
    rows: 'releaseLease',
    columns: ['leaseId', 'replayed'],
  },
];

export const limitCommands: readonly CliCommand[] = [...levels, ...leases];
