import { randomUUID } from 'node:crypto';
import { type Client, orgInput } from '../app.js';
import * as op from '../operations.js';
import {
  app,
  foreign,
  newCanary,
  newHardwareId,
  nodeIdOf,
  own,
  partsOf,
  type Role,
  randomLike,
  roles,
  type Target,
} from './worlds.js';

export interface Cell {
  readonly role: Role;
  readonly target: Target;
}

/** The value of an argument for each target. Absent if there is no such target. */
export type Targets = Readonly<Partial<Record<Target, (cell: Cell) => string | Promise<string>>>>;

/** Each role uses another object of the foreign tenant if the first use would change the response to the next role. */
export const nth = (role: Role): number => roles.indexOf(role);
export const uuid = { random: () => randomUUID(), malformed: () => 'no-uuid' };

export const orgIds: Targets = { own: () => own.org.orgId, foreign: () => foreign.org.orgId, ...uuid };
export const appIds: Targets = {
  own: () => own.client.appId,
  sibling: () => own.sibling.appId,
  foreign: () => foreign.client.appId,
  random: () => `chat-${newCanary()}`,
  malformed: () => 'No App!',
};
export const costIds: Targets = {
  own: () => own.costIds[0] ?? '',
  foreign: ({ role }) => foreign.costIds[nth(role)] ?? '',
  ...uuid,
};
export const entityIds: Targets = {
  own: () => own.entityIds[0],
  sibling: () => own.entityIds[1],
  foreign: () => foreign.entityIds[0],
  random: () => `parent-${newCanary()}`,
  malformed: () => '#none',
};
export const hardwareIds: Targets = {
  own: () => own.hardwareIds[0],
  sibling: () => own.hardwareIds[1],
  foreign: () => foreign.hardwareIds[0],
  random: newHardwareId,
  malformed: () => 'aa:bb',
};
/** The sibling of a cursor is a cursor of another list of the same tenant. */
export const cursorsOf = (field: string): Targets => ({
  own: () => own.cursors[field] ?? 'none',
  sibling: () => own.cursors[field === 'Org.apps' ? 'Org.auditEvents' : 'Org.apps'] ?? 'none',
  foreign: () => foreign.cursors[field] ?? 'none',
  random: () => randomLike(foreign.cursors[field] ?? 'none'),
  malformed: () => 'x',
});
export const leaseIds: Targets = {
  own: freshLease,
  foreign: () => foreign.leaseId,
  random: () => randomLike(foreign.leaseId),
  malformed: () => 'x',
};

export async function freshLease(): Promise<string> {
  const [limit] = own.limits;
  const input = {
    entityId: own.entityIds[0],
    resource: own.resource,
    consume: [{ limit: limit?.name ?? '', amount: 2 }],
  };
  const { acquire } = await own.org.caller.ask(op.AcquireDocument, { input });
  return acquire.__typename === 'Lease' ? acquire.leaseId : acquire.message;
}
export const freshKey = async (): Promise<string> =>
  (await own.org.caller.ask(op.CreateApiKeyDocument, { input: {} })).createApiKey.apiKey.keyId;
export async function freshEntity(): Promise<string> {
  const entityId = `fresh-${randomUUID()}`;
  await own.org.caller.ask(op.CreateEntityDocument, { input: { entityId } });
  await own.org.caller.ask(op.SetLimitsDocument, {
    input: { level: 'ENTITY', entityId, resource: own.resource, limits: own.limits },
  });
  return entityId;
}
export async function freshApp(): Promise<string> {
  const { registerApp } = await own.org.caller.ask(op.RegisterAppDocument, {
    input: { appId: `fresh-${randomUUID()}`, name: 'Fresh' },
  });
  return registerApp.app.appId;
}
export const freshOrg = async (): Promise<string> =>
  (await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() })).registerOrg.org.orgId;
export async function freshClient(): Promise<string> {
  const { createClient } = await app.admin.ask(op.CreateClientDocument, {
    input: { orgId: own.org.orgId, appId: await freshApp(), name: 'Fresh' },
  });
  return createClient.client.clientId;
}
/** The secret of the caller itself. */
export const secretOf = (role: Role): string => (role === 'app' ? own.client : own.org).clientSecret;
export async function freshDevice(): Promise<string> {
  const hardwareId = newHardwareId();
  await own.org.caller.ask(op.RegisterDeviceDocument, { input: { hardwareId, ...registration() } });
  return hardwareId;
}
export const freshTokens = async ({ clientId, clientSecret }: Client) =>
  (await app.anonymous.ask(op.IssueTokenDocument, { input: { clientId, clientSecret } })).issueToken;

/** The unchanged id of each tenant. */
export const nodeTargets = (type: string): Targets => ({
  own: () => own.nodeIds[type] ?? 'none',
  foreign: () => foreign.nodeIds[type] ?? 'none',
  random: () => withOrg(foreign.nodeIds[type] ?? 'none', randomUUID()),
  malformed: () => `${own.nodeIds[type]}A`,
});
/** The parts of a foreign id under the caller's own org. */
export const forgedTargets = (type: string): Targets => ({
  foreign: () => withOrg(foreign.nodeIds[type] ?? 'none', own.org.orgId),
  random: () =>
    nodeIdOf(
      type,
      own.org.orgId,
      ...partsOf(foreign.nodeIds[type] ?? 'none')
        .slice(2)
        .map(nonexistent),
    ),
});
export const withOrg = (nodeId: string, orgId: string): string => {
  const [type = '', , ...parts] = partsOf(nodeId);
  return nodeIdOf(type, orgId, ...parts);
};
/** A part of the same format that names nothing. */
export const nonexistent = (part: string): string =>
  part
    .replace(foreign.canary, newCanary())
    .replace(/^[0-9A-F:]{17}$/, newHardwareId)
    .replace(/^[0-9a-f-]{36}$/, () => randomUUID())
    .replace(/^\d{12,13}$/, '1760000000000')
    .replace(/^\d{1,6}$/, (digits) => '9'.repeat(digits.length))
    .replace(/^[0-9A-Z]{26}$/, (eventId) => `${eventId.slice(0, 20)}000000`);
/** The input of a registration, without the hardware id. */
export const registration = () => ({
  bootId: randomUUID(),
  firmwareVersion: '2.0',
  capabilities: { sensors: ['bme280'] },
});
