import { randomUUID } from 'node:crypto';
import {
  corrected,
  input,
  many,
  mutation,
  ofAdmins,
  ofClients,
  overridden,
  type Row,
  row,
  same,
  submitted,
  submittedMany,
} from './row.js';
import { appIds, costIds, nth, orgIds, uuid } from './targets.js';
import { correctionInput, costInput, foreign, newCanary, own, roles } from './worlds.js';

const budgetSet = mutation('setBudget', 'SetBudgetInput', '{ period spentUsdMicros }');
const budgetInput = () => ({ name: `fresh-${newCanary()}`, period: 'MONTH', usdMicros: 1_000_000_000 });
const ofSecondCost = () => ({
  ...correctionInput(own.canary),
  appId: own.client.appId,
  requestId: own.costIds[1],
});

/** Costs and model selection. */
export const spendRows: Readonly<Record<string, Row>> = {
  // First, because the rows of `submitCost` record costs of the own tenant with ids of the foreign one.
  'Mutation.correctCost(orgId)': row(
    corrected,
    orgIds,
    input(
      ({
        tenant: {
          client,
          costIds: [, requestId],
          canary,
        },
      }) => ({
        ...correctionInput(canary),
        appId: client.appId,
        requestId,
        correctionId: randomUUID(),
      }),
    ),
    ofAdmins,
  ),
  'Mutation.correctCost(appId)': row(
    corrected,
    appIds,
    input((_, appId) => ({ ...ofSecondCost(), appId, correctionId: randomUUID() })),
    same('ok none none none none', 'admin', 'org'),
  ),
  'Mutation.correctCost(requestId)': row(
    corrected,
    costIds,
    input((_, requestId) => ({ ...ofSecondCost(), requestId, correctionId: randomUUID() })),
    same('ok - none none bad', 'admin', 'org'),
  ),
  'Mutation.correctCost(correctionId)': row(
    corrected,
    {
      own: () => own.correctionIds[0] ?? '',
      foreign: ({ role }) => foreign.correctionIds[nth(role)] ?? '',
      ...uuid,
    },
    input((_, correctionId) => ({ ...ofSecondCost(), requestId: own.costIds[0], correctionId })),
    same('again - ok ok bad', 'admin', 'org'),
  ),
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
  'Mutation.setOrgPrice(orgId)': row(
    mutation('setOrgPrice', 'SetOrgPriceInput', '{ label }'),
    orgIds,
    (orgId) => ({ input: { orgId, label: 'premium', prices: null } }),
    { admin: 'ok - - none bad' },
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
  'Mutation.setBudget(orgId)': row(
    budgetSet,
    orgIds,
    input(() => ({ ...budgetInput(), label: 'economy' })),
    ofAdmins,
  ),
  'Mutation.setBudget(appId)': row(
    budgetSet,
    appIds,
    input((_, appId) => ({ ...budgetInput(), appId })),
    same('ok ok none none none', 'admin', 'org'),
  ),
  'Mutation.deleteBudget(orgId)': row(
    'mutation ($orgId: UUID, $name: String!) { it: deleteBudget(orgId: $orgId, name: $name) }',
    orgIds,
    (orgId) => ({ orgId, name: `none-${newCanary()}` }),
    { admin: 'no - - none bad', org: 'no - none none bad' },
  ),
};
