import { randomBytes, randomUUID } from 'node:crypto';
import { orgInput } from '../app.js';
import * as op from '../operations.js';
import {
  appRegistered,
  appUpdated,
  clientCreated,
  clientDeleted,
  everyone,
  input,
  mutation,
  ofAdmins,
  ofClients,
  type Row,
  rotated,
  row,
  same,
} from './row.js';
import { appIds, freshApp, freshClient, freshOrg, freshTokens, orgIds, secretOf, uuid } from './targets.js';
import { app, foreign, own, randomLike, third } from './worlds.js';

/** Credentials, settings and the lifecycle of tenants. */
export const identityRows: Readonly<Record<string, Row>> = {
  'Mutation.issueToken(clientId)': row(
    mutation('issueToken', 'IssueTokenInput', '{ tokenType }'),
    {
      own: () => own.sibling.clientId,
      sibling: () => own.client.clientId,
      foreign: () => third.clientId,
      random: () => `org-${randomUUID()}`,
      malformed: () => 'nobody',
    },
    (clientId) => ({ input: { clientId, clientSecret: own.sibling.clientSecret } }),
    everyone('ok who who who who'),
  ),
  'Mutation.refreshToken(refreshToken)': {
    ...row(
      'mutation ($it: String!) { it: refreshToken(refreshToken: $it) { tokenType } }',
      {
        own: async () => (await freshTokens(own.sibling)).refreshToken,
        foreign: async () => (await freshTokens(third)).refreshToken,
        random: () => `tgr_${randomBytes(32).toString('base64url')}`,
        malformed: () => 'x',
      },
      (it) => ({ it }),
      everyone('ok - ok who who'),
    ),
    bearer: true,
  },
  'Mutation.retrieveSecret(token)': {
    ...row(
      'mutation ($it: String!) { it: retrieveSecret(token: $it) { __typename } }',
      {
        own: async () => {
          const { registerApp } = await own.org.caller.ask(op.RegisterAppDocument, {
            input: { appId: `new-${randomUUID()}`, name: 'New' },
          });
          return registerApp.secretRetrieval.token;
        },
        foreign: async () =>
          (await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() })).registerOrg.secretRetrieval.token,
        random: () => `tgt_${randomBytes(32).toString('base64url')}`,
        malformed: () => 'x',
      },
      (it) => ({ it }),
      everyone('ok - ok none none'),
    ),
    bearer: true,
  },
  'Mutation.revokeToken(token)': row(
    'mutation ($it: String!) { it: revokeToken(token: $it) }',
    {
      own: async () => (await freshTokens(own.client)).accessToken,
      sibling: async () => (await freshTokens(own.sibling)).accessToken,
      foreign: () => third.accessToken,
      random: () => randomLike(third.accessToken),
      malformed: () => 'x',
    },
    (it) => ({ it }),
    { admin: 'ok ok - ok ok', ...same('ok', 'org', 'app') },
  ),
  'Mutation.setManagedItems(orgId)': row(
    mutation('setManagedItems', 'SetManagedItemsInput', '{ manager }'),
    orgIds,
    (orgId) => ({ input: { orgId, manager: 'file', items: [{ item: 'app:x', intent: '{}' }] } }),
    ofAdmins,
  ),
  'Mutation.updateOrg(orgId)': row(
    mutation('updateOrg', 'UpdateOrgInput', '{ name }'),
    orgIds,
    input(({ tenant }) => ({ name: `Renamed ${tenant.canary}` })),
    ofAdmins,
  ),
  'Mutation.updateApp(orgId)': row(
    appUpdated,
    orgIds,
    input(({ tenant }) => ({ appId: tenant.client.appId, name: 'Renamed' })),
    ofAdmins,
  ),
  'Mutation.updateApp(appId)': row(
    appUpdated,
    appIds,
    input((_, appId) => ({ appId, name: 'Renamed' })),
    same('ok ok none none none', 'admin', 'org'),
  ),
  'Mutation.rotateCredentials(orgId)': row(
    rotated,
    orgIds,
    input(({ role }) => ({ currentSecret: secretOf(role) })),
    ofClients,
  ),
  'Mutation.rotateCredentials(appId)': row(
    rotated,
    appIds,
    input(({ role }, appId) => ({ appId, currentSecret: secretOf(role) })),
    { ...same('ok ok none none none', 'admin', 'org'), app: 'ok none none none none' },
  ),
  'Mutation.rotateCredentials(clientId)': row(
    rotated,
    {
      own: () => own.client.clientId,
      sibling: () => own.sibling.clientId,
      foreign: () => foreign.client.clientId,
      random: () => `org-${randomUUID()}`,
      malformed: () => 'nobody',
    },
    input(({ role }, clientId) => ({ clientId, currentSecret: secretOf(role) })),
    { ...same('ok ok none none none', 'admin', 'org'), app: 'ok none none none none' },
  ),
  'Mutation.createClient(orgId)': row(
    clientCreated,
    orgIds,
    input(({ role }) => ({ name: 'Reports', currentSecret: secretOf(role) })),
    ofAdmins,
  ),
  'Mutation.createClient(appId)': row(
    clientCreated,
    appIds,
    input((_, appId) => ({ appId, name: 'Reports' })),
    same('ok ok none none none', 'admin', 'org'),
  ),
  'Mutation.deleteClient(orgId)': row(
    clientDeleted,
    orgIds,
    async (orgId, { tenant }) => ({
      orgId,
      clientId: tenant === own ? await freshClient() : `org-${orgId}~0123456789ab`,
    }),
    ofAdmins,
  ),
  'Mutation.deleteClient(clientId)': row(
    clientDeleted,
    {
      own: freshClient,
      foreign: () => foreign.client.clientId,
      random: () => `org-${randomUUID()}`,
      malformed: () => 'nobody',
    },
    (clientId, { orgId }) => ({ clientId, orgId }),
    same('ok - none none none', 'admin', 'org'),
  ),
  ...Object.fromEntries(
    ['suspendOrg', 'resumeOrg'].map((field) => [
      `Mutation.${field}(orgId)`,
      row(
        `mutation ($orgId: UUID!) { it: ${field}(orgId: $orgId) { name } }`,
        { own: freshOrg, foreign: () => foreign.org.orgId, ...uuid },
        (orgId) => ({ orgId }),
        { admin: 'ok - - none bad' },
      ),
    ]),
  ),
  ...Object.fromEntries(
    [
      ['suspendApp', '{ name }'],
      ['resumeApp', '{ name }'],
      ['deleteApp', ''],
    ].flatMap(([field, selection]) => {
      const call = `${field}(orgId: $orgId, appId: $appId)`;
      const document = `mutation ($orgId: UUID, $appId: String!) { it: ${call} ${selection} }`;
      const ofOrg: Row['variables'] = async (orgId, { tenant }) => ({
        orgId,
        appId: tenant === own ? await freshApp() : tenant.client.appId,
      });
      const ofApp = { ...appIds, own: freshApp, sibling: freshApp };
      return [
        [`Mutation.${field}(orgId)`, row(document, orgIds, ofOrg, ofAdmins)],
        [
          `Mutation.${field}(appId)`,
          row(document, ofApp, (appId, { orgId }) => ({ appId, orgId }), same('ok ok none none none', 'admin', 'org')),
        ],
      ];
    }),
  ),
};

/** Registrations and the purge, which change what the rows before them see. */
export const lastRows: Readonly<Record<string, Row>> = {
  'Mutation.registerApp(orgId)': row(
    appRegistered,
    orgIds,
    input(() => ({ appId: `a-${randomUUID()}`, name: 'New' })),
    ofAdmins,
  ),
  'Mutation.registerApp(appId)': row(
    appRegistered,
    { ...appIds, foreign: ({ role }) => (role === 'org' ? foreign.client : foreign.sibling).appId },
    input((_, appId) => ({ appId, name: 'New' })),
    same('taken taken ok ok bad', 'admin', 'org'),
  ),
  'Mutation.registerOrg(orgId)': row(
    mutation('registerOrg', 'RegisterOrgInput', '{ org { name } }'),
    orgIds,
    (orgId) => ({ input: orgInput({ orgId }) }),
    {
      admin: 'taken - taken ok bad',
    },
  ),
  'Mutation.purgeLimiter(orgId)': row(
    'mutation ($it: UUID) { it: purgeLimiter(orgId: $it) }',
    orgIds,
    (it) => ({ it }),
    ofAdmins,
  ),
};
