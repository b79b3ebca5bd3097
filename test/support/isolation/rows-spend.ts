import { randomUUID } from 'node:crypto';
import { input, many, ofAdmins, ofClients, overridden, type Row, row, same, submitted, submittedMany } from './row.js';
import { appIds, nth, orgIds, uuid } from './targets.js';
import { costInput, foreign, own, roles } from './worlds.js';

/** Costs and model selection. */
export const spendRows: Readonly<Record<string, Row>> = {
  'Mutation.submitCost(orgId)': row(
    submitted,
    orgIds,
    input(({ tenant }) => ({ ...costInput(randomUUID()), appId: tenant.client.appId })),
    { ...ofClients, ...same('ok - none none bad', 'app') },
  ),
  'Mutation.submitCost(appId)': row(
    submitted,
    appIds,
    input((_, appId) => ({ ...costInput(randomUUID()), appId })),
    { ...same('ok ok none none none', 'admin', 'org'), app: 'ok none none none none' },
  ),
  'Mutation.submitCost(requestId)': row(
    submitted,
    { own: () => own.costIds[0] ?? '', foreign: ({ role }) => foreign.costIds[nth(role)] ?? '', ...uuid },
    input((_, requestId) => ({ ...costInput(requestId), appId: own.client.appId })),
    same('again - ok ok bad', 'admin', 'org', 'app'),
  ),
  'Mutation.submitCosts(orgId)': row(
    submittedMany,
    orgIds,
    many(({ tenant }) => ({ ...costInput(randomUUID()), appId: tenant.client.appId })),
    { ...ofClients },
  ),
  'Mutation.submitCosts(appId)': row(
    submittedMany,
    appIds,
    many((_, appId) => ({ ...costInput(randomUUID()), appId })),
    { ...same('ok ok none none none', 'admin', 'org'), app: 'ok none none none none' },
  ),
  'Mutation.submitCosts(requestId)': row(
    submittedMany,
    {
      own: () => own.costIds[0] ?? '',
      foreign: ({ role }) => foreign.costIds[nth(role) + roles.length] ?? '',
      ...uuid,
    },
    many((_, requestId) => ({ ...costInput(requestId), appId: own.client.appId })),
    same('again - ok ok bad', 'admin', 'org', 'app'),
  ),
  'Mutation.overrideModel(orgId)': row(
    overridden,
    orgIds,
    input(({ tenant }) => ({ appId: tenant.client.appId, label: null })),
    ofAdmins,
  ),
  'Mutation.overrideModel(appId)': row(
    overridden,
    appIds,
    input((_, appId) => ({ appId, label: null })),
    same('ok ok none none none', 'admin', 'org'),
  ),
};
