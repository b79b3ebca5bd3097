import type { CliCommand, CliParam } from '../api/command.js';

const keyFields = 'keyId description hardwareId active createdAt lastUsedAt';
const keyColumns = ['keyId', 'description', 'hardwareId', 'active', 'lastUsedAt'] as const;
const clientFields = 'clientId name role createdAt lastLoginAt';
const appOption: CliParam = { flags: '--app <appId>', text: 'a client of this app', to: 'input.appId' };
const eventFields = 'at actor action entityId resource address requestId details { name value previousValue }';
const eventColumns = [
  { path: 'at', show: 'time' },
  'actor',
  'action',
  'entityId',
  { path: 'details', show: 'details' },
] as const;
const about: CliParam = {
  flags: '--about <id>',
  text: 'only events about this object, for example $ORG',
  to: 'entityId',
};

export const identityCommands: readonly CliCommand[] = [
  {
    name: 'whoami',
    text: 'Show who you are signed in as.',
    document: '{ me { kind clientId role expiresAt org { orgId name } app { appId } } }',
    rows: 'me',
    columns: ['kind', 'clientId', 'role', { path: 'org.orgId', title: 'org' }, { path: 'app.appId', title: 'app' }],
    id: 'clientId',
  },
  {
    name: 'client list',
    text: 'List the clients of an org.',
    document: `query ($orgId: UUID) { org(orgId: $orgId) { clients { ${clientFields} } } }`,
    org: 'orgId',
    rows: 'org.clients',
    columns: ['clientId', 'name', 'role', 'lastLoginAt'],
  },
  {
    name: 'client create',
    text: 'Create a further client of an org or app and print its secret once.',
    document: `mutation ($input: CreateClientInput!) { createClient(input: $input) {
      client { ${clientFields} } secretRetrieval { token } } }`,
    org: 'input.orgId',
    params: [
      { flags: '<name>', text: 'the name of the client', to: 'input.name' },
      appOption,
      { flags: '--role <full|read>', text: 'its role', to: 'input.role', as: 'upper', choices: ['full', 'read'] },
    ],
    rows: 'createClient.client',
    retrieval: 'createClient.secretRetrieval.token',
    provesSecret: true,
    columns: ['clientId', 'clientSecret', 'role'],
  },
  {
    name: 'client delete',
    text: 'Delete a further client. Its tokens end.',
    document: `mutation ($orgId: UUID, $clientId: String!) { deleteClient(orgId: $orgId, clientId: $clientId) }`,
    org: 'orgId',
    params: [{ flags: '<clientId>', text: 'the client', to: 'clientId' }],
    rows: 'deleteClient',
    columns: [],
    confirm: 'Delete the client?',
    done: 'Deleted the client.',
  },
  {
    name: 'key list',
    text: 'List the API keys of devices.',
    document: `query ($orgId: UUID, $first: Int, $after: String) { org(orgId: $orgId) {
      apiKeys(first: $first, after: $after) { nodes { ${keyFields} } pageInfo { hasNextPage endCursor } } } }`,
    org: 'orgId',
    rows: 'org.apiKeys.nodes',
    connection: 'org.apiKeys',
    columns: keyColumns,
  },
  {
    name: 'key create',
    text: 'Create an API key for devices and print it once.',
    document: `mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) {
      apiKey { ${keyFields} } secret } }`,
    org: 'input.orgId',
    params: [
      { flags: '--description <text>', text: 'what the key is for', to: 'input.description' },
      { flags: '--device <mac>', text: 'the only device that may use it', to: 'input.hardwareId' },
      { flags: '--replaces <keyId>', text: 'the key that it succeeds', to: 'input.replaces' },
    ],
    rows: 'createApiKey',
    columns: [{ path: 'apiKey.keyId' }, { path: 'apiKey.description' }, 'secret'],
    id: 'apiKey.keyId',
  },
  {
    name: 'key revoke',
    text: 'Revoke an API key.',
    document: `mutation ($orgId: UUID, $keyId: UUID!) { revokeApiKey(orgId: $orgId, keyId: $keyId) { ${keyFields} } }`,
    org: 'orgId',
    params: [{ flags: '<keyId>', text: 'the key', to: 'keyId' }],
    rows: 'revokeApiKey',
    columns: keyColumns,
    confirm: 'Revoke the key? Devices that use it are refused.',
  },
  {
    name: 'audit list',
    text: 'List audit events of an org, newest first.',
    document: `query ($orgId: UUID, $entityId: String, $first: Int, $after: String) { org(orgId: $orgId) {
      auditEvents(entityId: $entityId, first: $first, after: $after) {
        nodes { ${eventFields} } pageInfo { hasNextPage endCursor } } } }`,
    org: 'orgId',
    params: [about],
    rows: 'org.auditEvents.nodes',
    connection: 'org.auditEvents',
    columns: eventColumns,
    id: 'requestId',
  },
  {
    name: 'audit platform',
    text: 'List audit events of the platform itself, newest first (platform admin).',
    document: `query ($entityId: String, $first: Int, $after: String) {
      platformAuditEvents(entityId: $entityId, first: $first, after: $after) {
        nodes { ${eventFields} } pageInfo { hasNextPage endCursor } } }`,
    params: [about],
    rows: 'platformAuditEvents.nodes',
    connection: 'platformAuditEvents',
    columns: eventColumns,
    id: 'requestId',
  },
  {
    name: 'managed list',
    text: 'List what configuration files manage in an org.',
    document: `query ($orgId: UUID, $first: Int, $after: String) {
      managedItems(orgId: $orgId, first: $first, after: $after) {
        nodes { item manager version document intent updatedAt } pageInfo { hasNextPage endCursor } } }`,
    org: 'orgId',
    rows: 'managedItems.nodes',
    connection: 'managedItems',
    columns: ['item', 'manager', 'version', { path: 'updatedAt', show: 'time' }],
  },
];
