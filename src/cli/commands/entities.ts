import type { CliCommand, CliParam } from '../api/command.js';

const entityFields = 'entityId name cascade metadata { name value } createdAt deletedAt parent { entityId }';
const entityColumns = [
  'entityId',
  'name',
  { path: 'parent.entityId', title: 'parent' },
  'cascade',
  'createdAt',
] as const;
const statusFields = 'entityId resource requested available exceeded retryAfterSecs limit { name }';
const pageInfo = 'pageInfo { hasNextPage endCursor }';
const entityArgument = (to: string): CliParam => ({ flags: '<entityId>', text: 'the entity', to });
const windowOption: CliParam = {
  flags: '--window <hourly|daily|monthly>',
  text: 'the length of a window',
  to: 'window',
  as: 'upper',
  choices: ['hourly', 'daily', 'monthly'],
  fallback: 'daily',
};
const changes: readonly CliParam[] = [
  { flags: '--name <name>', text: 'the name', to: 'input.name' },
  { flags: '--parent <entityId>', text: 'the parent', to: 'input.parentId' },
  { flags: '--cascade <yes|no>', text: 'take from the parent too', to: 'input.cascade', as: 'yesno' },
  { flags: '--metadata <name=value...>', text: 'a note; repeat it', to: 'input.metadata', as: 'named' },
];

export const entityCommands: readonly CliCommand[] = [
  {
    name: 'entity list',
    text: 'List the entities of an org.',
    document: `query ($orgId: UUID, $first: Int, $after: String) { org(orgId: $orgId) {
      entities(first: $first, after: $after) { nodes { ${entityFields} } ${pageInfo} } } }`,
    org: 'orgId',
    rows: 'org.entities.nodes',
    connection: 'org.entities',
    columns: entityColumns,
  },
  {
    name: 'entity search',
    text: 'List the entities whose ids begin with a text.',
    document: `query ($orgId: UUID, $prefix: String!, $first: Int, $after: String) { org(orgId: $orgId) {
      searchEntities(prefix: $prefix, first: $first, after: $after) { nodes { ${entityFields} } ${pageInfo} } } }`,
    org: 'orgId',
    params: [{ flags: '<prefix>', text: 'the beginning of the ids', to: 'prefix' }],
    rows: 'org.searchEntities.nodes',
    connection: 'org.searchEntities',
    columns: entityColumns,
  },
  {
    name: 'entity limited',
    text: 'List the entities that have limits of their own for a resource.',
    document: `query ($orgId: UUID, $resource: String!, $first: Int, $after: String) { org(orgId: $orgId) {
      entitiesWithLimits(resource: $resource, first: $first, after: $after) {
        nodes { ${entityFields} } ${pageInfo} } } }`,
    org: 'orgId',
    params: [{ flags: '--resource <name>', text: 'the resource', to: 'resource', required: true }],
    rows: 'org.entitiesWithLimits.nodes',
    connection: 'org.entitiesWithLimits',
    columns: entityColumns,
  },
  {
    name: 'entity get',
    text: 'Show an entity with its buckets.',
    document: `query ($orgId: UUID, $entityId: String!) { org(orgId: $orgId) { entity(entityId: $entityId) {
      ${entityFields} buckets { resource shardCount limits { available totalConsumed limit { name capacity } } } } } }`,
    org: 'orgId',
    params: [entityArgument('entityId')],
    rows: 'org.entity',
    columns: entityColumns,
  },
  {
    name: 'entity create',
    text: 'Create an entity. Tokens can be taken for one that was not created.',
    document: `mutation ($input: CreateEntityInput!) { createEntity(input: $input) { ${entityFields} } }`,
    org: 'input.orgId',
    params: [entityArgument('input.entityId'), ...changes],
    rows: 'createEntity',
    columns: entityColumns,
  },
  {
    name: 'entity set',
    text: 'Change an entity.',
    document: `mutation ($input: UpdateEntityInput!) { updateEntity(input: $input) { ${entityFields} } }`,
    org: 'input.orgId',
    params: [entityArgument('input.entityId'), ...changes],
    rows: 'updateEntity',
    columns: entityColumns,
  },
  {
    name: 'entity delete',
    text: 'Delete an entity with its limits and buckets.',
    document: `mutation ($orgId: UUID, $entityId: String!) { deleteEntity(orgId: $orgId, entityId: $entityId) }`,
    org: 'orgId',
    params: [entityArgument('entityId')],
    rows: 'deleteEntity',
    columns: [],
    confirm: 'Delete the entity?',
    done: 'Deleted the entity.',
  },
  {
    name: 'entity top',
    text: 'Show the entities that have taken the most of a limit.',
    document: `query ($orgId: UUID, $resource: String!, $window: UsageWindow!, $limit: String!,
      $by: TopEntitiesBy! = CONSUMED, $first: Int! = 10) { org(orgId: $orgId) {
        topEntities(resource: $resource, window: $window, limit: $limit, by: $by, first: $first) {
          windowStart truncated entities { entityId consumed refused } } } }`,
    org: 'orgId',
    params: [
      { flags: '--resource <name>', text: 'the resource', to: 'resource', required: true },
      { flags: '--name <limit>', text: 'the limit', to: 'limit', required: true },
      windowOption,
      {
        flags: '--by <consumed|refused>',
        text: 'the order',
        to: 'by',
        as: 'upper',
        choices: ['consumed', 'refused'],
      },
      { flags: '--top <n>', text: 'the number of rows', to: 'first', as: 'int' },
    ],
    rows: 'org.topEntities.entities',
    columns: ['entityId', 'consumed', 'refused'],
  },
  {
    name: 'entity try',
    text: 'Show whether an entity could take tokens now. Takes nothing. Exits with 3 if not.',
    document: `query ($orgId: UUID, $entityId: String!, $resource: String!, $consume: [ConsumeInput!]) {
      availability(orgId: $orgId, entityId: $entityId, resource: $resource, consume: $consume) {
        retryAfterSecs statuses { ${statusFields} } } }`,
    org: 'orgId',
    params: [
      entityArgument('entityId'),
      { flags: '--resource <name>', text: 'the resource', to: 'resource', required: true },
      { flags: '--consume <limit=n...>', text: 'the amount of a limit; repeat it', to: 'consume', as: 'consume' },
    ],
    rows: 'availability.statuses',
    columns: [
      'entityId',
      'resource',
      { path: 'limit.name', title: 'limit' },
      'requested',
      'available',
      'exceeded',
      'retryAfterSecs',
    ],
    isRefusal: (rows) => rows.some(({ exceeded }) => exceeded === true),
  },
  {
    name: 'entity usage',
    text: 'Show what an entity has taken, by window.',
    document: `query ($orgId: UUID, $entityId: String!, $window: UsageWindow!, $resource: String, $from: DateTime,
      $to: DateTime, $first: Int, $after: String) { org(orgId: $orgId) { entity(entityId: $entityId) {
        usage(window: $window, resource: $resource, from: $from, to: $to, first: $first, after: $after) {
          nodes { resource windowStart totalEvents counters { limit consumed refused } } ${pageInfo} } } } }`,
    org: 'orgId',
    params: [
      entityArgument('entityId'),
      windowOption,
      { flags: '--resource <name>', text: 'only this resource', to: 'resource' },
      { flags: '--from <time>', text: 'the start, in ISO 8601', to: 'from' },
      { flags: '--to <time>', text: 'the end, in ISO 8601', to: 'to' },
    ],
    rows: 'org.entity.usage.nodes',
    connection: 'org.entity.usage',
    columns: ['resource', { path: 'windowStart', show: 'time' }, { path: 'counters', show: 'counters' }, 'totalEvents'],
  },
];
