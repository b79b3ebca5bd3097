import { randomUUID } from 'node:crypto';
import * as op from '../operations.js';
import {
  acquired,
  adjusted,
  allAcquired,
  consumed,
  entityCreated,
  entityUpdated,
  input,
  limitsDeleted,
  limitsSet,
  named,
  ofAdmins,
  ofClients,
  type Row,
  row,
  same,
  toppedUp,
  topUpOf,
} from './row.js';
import { entityIds, freshEntity, freshLease, leaseIds, nth, orgIds, uuid } from './targets.js';
import { app, foreign, newCanary, own } from './worlds.js';

/** Leases, limits and entities. */
export const limitRows: Readonly<Record<string, Row>> = {
  'Mutation.adjustLease(leaseId)': row(
    adjusted,
    leaseIds,
    (leaseId, { tenant }) => ({ input: { leaseId, adjust: consumed(tenant), idempotencyKey: randomUUID() } }),
    {
      admin: 'ok - - none none',
      ...same('ok - none none none', 'org', 'app'),
    },
  ),
  'Mutation.adjustLease(idempotencyKey)': row(
    adjusted,
    { own: () => own.adjustKey, foreign: () => foreign.adjustKey, ...uuid },
    async (idempotencyKey, { target }) => ({
      input: { leaseId: target === 'own' ? own.leaseId : await freshLease(), adjust: consumed(own), idempotencyKey },
    }),
    same('again - ok ok bad', 'admin', 'org', 'app'),
  ),
  'Mutation.releaseLease(leaseId)': row(
    'mutation ($it: String!) { it: releaseLease(leaseId: $it) { replayed } }',
    leaseIds,
    (it) => ({ it }),
    {
      admin: 'ok - - none none',
      ...same('ok - none none none', 'org', 'app'),
    },
  ),
  'Mutation.acquire(orgId)': row(
    acquired,
    orgIds,
    input(({ tenant }) => ({ entityId: tenant.entityIds[0], resource: tenant.resource, consume: consumed(tenant) })),
    ofClients,
  ),
  'Mutation.acquire(requestId)': row(
    acquired,
    { own: () => own.acquireIds[0] ?? '', foreign: ({ role }) => foreign.acquireIds[nth(role)] ?? '', ...uuid },
    input((_, requestId) => ({
      entityId: own.entityIds[0],
      resource: own.resource,
      consume: consumed(own),
      requestId,
    })),
    same('again - ok ok bad', 'admin', 'org', 'app'),
  ),
  'Mutation.acquire(entityId)': row(
    acquired,
    entityIds,
    input((_, entityId) => ({ entityId, resource: own.resource, consume: consumed(own) })),
    same('ok ok ok ok bad', 'admin', 'org', 'app'),
  ),
  'Mutation.acquireAll(orgId)': row(
    allAcquired,
    orgIds,
    input(({ tenant }) => ({
      requests: [{ entityId: tenant.entityIds[0], resource: tenant.resource, consume: consumed(tenant) }],
    })),
    ofClients,
  ),
  'Mutation.acquireAll(entityId)': row(
    allAcquired,
    entityIds,
    input((_, entityId) => ({ requests: [{ entityId, resource: own.resource, consume: consumed(own) }] })),
    same('ok ok ok ok bad', 'admin', 'org', 'app'),
  ),
  // The lease holds no concurrency slot, so the owner gets an error.
  'Mutation.renewLease(leaseId)': row(
    'mutation ($it: String!) { it: renewLease(leaseId: $it) { renewBy } }',
    leaseIds,
    (it) => ({ it }),
    {
      admin: 'bad - - none none',
      ...same('bad - none none none', 'org', 'app'),
    },
  ),
  'Mutation.topUp(orgId)': row(
    toppedUp,
    orgIds,
    input(({ tenant }) => topUpOf(tenant, randomUUID())),
    ofAdmins,
  ),
  'Mutation.topUp(entityId)': row(
    toppedUp,
    entityIds,
    input((_, entityId) => ({ ...topUpOf(own, randomUUID()), entityId })),
    same('ok ok ok ok bad', 'admin', 'org'),
  ),
  'Mutation.topUp(operationId)': row(
    toppedUp,
    { own: () => own.topUpIds[0] ?? '', foreign: ({ role }) => foreign.topUpIds[nth(role)] ?? '', ...uuid },
    input((_, operationId) => topUpOf(own, operationId)),
    same('again - ok ok bad', 'admin', 'org'),
  ),
  'Mutation.setLimits(orgId)': row(
    limitsSet,
    orgIds,
    input(({ tenant }) => ({ level: 'SYSTEM', limits: tenant.limits })),
    ofAdmins,
  ),
  'Mutation.deleteLimits(orgId)': row(
    limitsDeleted,
    orgIds,
    input(async ({ tenant }) => ({
      level: 'ENTITY',
      resource: tenant.resource,
      entityId: tenant === own ? await freshEntity() : tenant.entityIds[1],
    })),
    ofAdmins,
  ),
  'Mutation.deleteLimits(entityId)': row(
    limitsDeleted,
    {
      ...entityIds,
      own: freshEntity,
      sibling: freshEntity,
      foreign: () => foreign.entityIds[1],
      random: () => `child-${newCanary()}`,
    },
    input((_, entityId) => ({ level: 'ENTITY', resource: own.resource, entityId })),
    same('ok ok no no bad', 'admin', 'org'),
  ),
  'Mutation.setLimits(entityId)': row(
    limitsSet,
    entityIds,
    input((_, entityId) => ({ level: 'ENTITY_DEFAULT', entityId, limits: own.limits })),
    same('ok ok ok ok bad', 'admin', 'org'),
  ),
  'Mutation.createEntity(orgId)': row(
    entityCreated,
    orgIds,
    input(() => ({ entityId: `new-${randomUUID()}` })),
    ofAdmins,
  ),
  'Mutation.createEntity(parentId)': row(
    entityCreated,
    entityIds,
    input((_, parentId) => ({ entityId: `new-${randomUUID()}`, parentId })),
    same('ok ok none none bad', 'admin', 'org'),
  ),
  'Mutation.createEntity(entityId)': {
    ...row(
      entityCreated,
      { ...entityIds, foreign: () => foreign.entityIds[1], random: () => `child-${newCanary()}` },
      input((_, entityId) => ({ entityId })),
      same('taken taken ok ok bad', 'admin', 'org'),
    ),
    undo: (entityId) => app.admin.send(op.DeleteEntityDocument, { orgId: own.org.orgId, entityId }),
  },
  'Mutation.updateEntity(orgId)': row(
    entityUpdated,
    orgIds,
    input(({ tenant }) => ({ entityId: tenant.entityIds[1], cascade: false })),
    ofAdmins,
  ),
  'Mutation.updateEntity(entityId)': row(
    entityUpdated,
    entityIds,
    input((_, entityId) => ({ entityId, cascade: false })),
    same('ok ok none none bad', 'admin', 'org'),
  ),
  'Mutation.updateEntity(parentId)': row(
    entityUpdated,
    entityIds,
    input((_, parentId) => ({ entityId: own.entityIds[1], parentId })),
    same('ok bad none none bad', 'admin', 'org'),
  ),
  'Mutation.deleteEntity(orgId)': row(
    'mutation ($orgId: UUID, $entityId: String!) { it: deleteEntity(orgId: $orgId, entityId: $entityId) }',
    orgIds,
    async (orgId, { tenant }) => ({ orgId, entityId: tenant === own ? await freshEntity() : tenant.entityIds[1] }),
    ofAdmins,
  ),
  'Mutation.deleteEntity(entityId)': row(
    'mutation ($orgId: UUID, $it: String!) { it: deleteEntity(orgId: $orgId, entityId: $it) }',
    {
      ...entityIds,
      own: freshEntity,
      sibling: freshEntity,
      foreign: () => foreign.entityIds[1],
      random: () => `child-${newCanary()}`,
    },
    named,
    same('ok ok no no bad', 'admin', 'org'),
  ),
};
