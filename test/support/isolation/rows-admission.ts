import { randomUUID } from 'node:crypto';
import * as op from '../operations.js';
import { consumed, input, mutation, ofClients, type Row, row, same } from './row.js';
import { appIds, cursorsOf, entityIds, nth, orgIds, type Targets, uuid } from './targets.js';
import { foreign, own, randomLike, recentDays } from './worlds.js';

const admittedText = mutation(
  'admit',
  'AdmitInput',
  '{ ... on Admitted { label replayed } ... on Denied { binding { name } } }',
);
const settledText = mutation('settle', 'SettleInput', '{ day label }');
const page = '{ pageInfo { hasNextPage } }';
const listed = (args: string): string =>
  `query ($orgId: UUID, $it: String) { it: overruns(orgId: $orgId, ${args} ${recentDays}) ${page} }`;

/** An admission of an app of the own tenant. */
async function freshAdmission(appId: string): Promise<string> {
  const limits = [{ entityId: own.entityIds[0], resource: own.resource, consume: consumed(own) }];
  const { admit } = await own.org.caller.ask(op.AdmitDocument, {
    input: { appId, requestId: randomUUID(), estimate: { costUsdMicros: 5 }, limits, ttlSecs: 900 },
  });
  if (admit.__typename !== 'Admitted') throw new Error(`not admitted: ${JSON.stringify(admit)}`);
  return admit.admissionId;
}

const admissionIds: Targets = {
  own: () => freshAdmission(own.client.appId),
  sibling: () => freshAdmission(own.sibling.appId),
  foreign: () => foreign.admissionId,
  random: () => randomLike(foreign.admissionId),
  malformed: () => 'x',
};
const ofAdmissions = {
  admin: 'ok ok - none none',
  org: 'ok ok none none none',
  app: 'ok none none none none',
};

/** Admissions and overruns. */
export const admissionRows: Readonly<Record<string, Row>> = {
  'Query.overruns(orgId)': row(
    `query ($it: UUID) { it: overruns(orgId: $it, ${recentDays}) { pageInfo { hasNextPage } } }`,
    orgIds,
    (it) => ({ it }),
    { admin: 'ok - ok none bad', ...same('ok - none none bad', 'org', 'app') },
  ),
  'Query.overruns(appId)': row(listed('appId: $it,'), appIds, (it, { orgId }) => ({ it, orgId }), {
    ...same('ok ok none none none', 'admin', 'org'),
    app: 'ok none none none none',
  }),
  'Query.overruns(after)': row(listed('after: $it,'), cursorsOf('Query.overruns'), (it, { orgId }) => ({ it, orgId }), {
    ...same('ok bad bad bad bad', 'admin', 'org', 'app'),
  }),
  'Mutation.admit(orgId)': row(
    admittedText,
    orgIds,
    input(({ tenant }) => ({
      appId: tenant.client.appId,
      requestId: randomUUID(),
      estimate: { costUsdMicros: 5 },
    })),
    ofClients,
  ),
  'Mutation.admit(appId)': row(
    admittedText,
    appIds,
    input((_, appId) => ({ appId, requestId: randomUUID(), estimate: { costUsdMicros: 5 } })),
    { ...same('ok ok none none none', 'admin', 'org'), app: 'ok none none none none' },
  ),
  'Mutation.admit(requestId)': row(
    admittedText,
    { own: () => own.admitIds[0] ?? '', foreign: ({ role }) => foreign.admitIds[nth(role)] ?? '', ...uuid },
    input((_, requestId) => ({
      appId: own.client.appId,
      requestId,
      estimate: { costUsdMicros: 5 },
      ttlSecs: 900,
    })),
    same('again - ok ok bad', 'admin', 'org', 'app'),
  ),
  'Mutation.admit(entityId)': row(
    admittedText,
    entityIds,
    input((_, entityId) => ({
      appId: own.client.appId,
      requestId: randomUUID(),
      estimate: { costUsdMicros: 5 },
      limits: [{ entityId, resource: own.resource, consume: consumed(own) }],
    })),
    same('ok ok ok ok bad', 'admin', 'org', 'app'),
  ),
  'Mutation.settle(admissionId)': row(
    settledText,
    admissionIds,
    (admissionId) => ({ input: { admissionId, costUsdMicros: 4 } }),
    ofAdmissions,
  ),
  'Mutation.settle(entityId)': row(
    settledText,
    entityIds,
    async (entityId) => ({
      input: {
        admissionId: await freshAdmission(own.client.appId),
        costUsdMicros: 4,
        adjust: [{ entityId, resource: own.resource, consumed: consumed(own) }],
      },
    }),
    same('ok bad bad bad bad', 'admin', 'org', 'app'),
  ),
  'Mutation.cancelAdmission(admissionId)': row(
    'mutation ($it: String!) { it: cancelAdmission(admissionId: $it, sent: false) { day label } }',
    admissionIds,
    (it) => ({ it }),
    ofAdmissions,
  ),
  'Mutation.renewAdmission(admissionId)': row(
    'mutation ($it: String!) { it: renewAdmission(admissionId: $it, ttlSecs: 60) { label } }',
    admissionIds,
    (it) => ({ it }),
    ofAdmissions,
  ),
};
