import { randomUUID } from 'node:crypto';
import {
  assigned,
  deleted,
  ingested,
  input,
  mutation,
  ofAdmins,
  type Row,
  readingInput,
  renamed,
  revoked,
  row,
  same,
} from './row.js';
import { freshDevice, freshKey, hardwareIds, orgIds, registration, uuid } from './targets.js';
import { foreign, newCanary, own } from './worlds.js';

/** Device keys, devices and readings. */
export const deviceRows: Readonly<Record<string, Row>> = {
  'Mutation.createApiKey(orgId)': row(
    mutation('createApiKey', 'CreateApiKeyInput', '{ apiKey { active } }'),
    orgIds,
    input(() => ({})),
    ofAdmins,
  ),
  'Mutation.createApiKey(hardwareId)': row(
    mutation('createApiKey', 'CreateApiKeyInput', '{ apiKey { active } }'),
    hardwareIds,
    // A MAC address may be bound before the device registers.
    (hardwareId, { orgId }) => ({ input: { orgId, hardwareId } }),
    same('ok ok ok ok bad', 'admin', 'org'),
  ),
  'Mutation.revokeApiKey(orgId)': row(
    revoked,
    orgIds,
    async (orgId, { tenant }) => ({ orgId, keyId: tenant === own ? await freshKey() : tenant.keyId }),
    ofAdmins,
  ),
  'Mutation.revokeApiKey(keyId)': row(
    revoked,
    { own: freshKey, foreign: () => foreign.keyId, ...uuid },
    (keyId, { orgId }) => ({ keyId, orgId }),
    {
      ...same('ok - none none bad', 'admin', 'org'),
    },
  ),
  'Mutation.renameDevice(orgId)': row(
    renamed,
    orgIds,
    (orgId, { tenant }) => ({ orgId, hardwareId: tenant.hardwareIds[0], name: 'Renamed' }),
    ofAdmins,
  ),
  'Mutation.renameDevice(hardwareId)': row(
    renamed,
    hardwareIds,
    (hardwareId, { orgId }) => ({ orgId, hardwareId, name: 'Renamed' }),
    same('ok ok none none bad', 'admin', 'org'),
  ),
  'Mutation.assignDevice(orgId)': row(
    assigned,
    orgIds,
    async (orgId, { tenant }) => ({ orgId, hardwareId: tenant === own ? await freshDevice() : tenant.hardwareIds[0] }),
    ofAdmins,
  ),
  'Mutation.assignDevice(hardwareId)': row(
    assigned,
    { ...hardwareIds, own: freshDevice, sibling: freshDevice },
    (hardwareId, { orgId }) => ({ orgId, hardwareId }),
    same('ok ok none none bad', 'admin', 'org'),
  ),
  'Mutation.assignDevice(keyId)': row(
    assigned,
    { own: freshKey, foreign: () => foreign.keyId, ...uuid },
    async (keyId, { orgId }) => ({ keyId, orgId, hardwareId: await freshDevice() }),
    same('ok - none none bad', 'admin', 'org'),
  ),
  'Mutation.deleteDevice(orgId)': row(
    deleted,
    orgIds,
    async (orgId, { tenant }) => ({ orgId, hardwareId: tenant === own ? await freshDevice() : tenant.hardwareIds[0] }),
    {
      admin: 'ok - - no bad',
      org: 'ok - none none bad',
    },
  ),
  'Mutation.deleteDevice(hardwareId)': row(
    deleted,
    { ...hardwareIds, own: freshDevice, sibling: freshDevice },
    (hardwareId, { orgId }) => ({ orgId, hardwareId }),
    same('ok ok no no bad', 'admin', 'org'),
  ),
  'Mutation.ingest(hardwareId)': row(
    ingested,
    hardwareIds,
    (hardwareId) => ({ input: readingInput({ hardwareId, batchId: `sent-${randomUUID()}` }) }),
    same('ok ok DEVICE_NOT_FOUND DEVICE_NOT_FOUND DEVICE_NOT_FOUND', 'org', 'device'),
  ),
  'Mutation.ingest(batchId)': row(
    ingested,
    {
      own: () => own.readings[0]?.batchId ?? '',
      foreign: ({ role }) => foreign.readings[role === 'org' ? 0 : 1]?.batchId ?? '',
      random: () => `a-${newCanary()}`,
      malformed: () => 'no batch',
    },
    (batchId, { target }) => ({ input: readingInput(target === 'own' ? { ...own.readings[0] } : { batchId }) }),
    same('again - ok ok INVALID_BATCH_ID', 'org', 'device'),
  ),
  'Mutation.registerDevice(hardwareId)': row(
    mutation('registerDevice', 'RegisterDeviceInput', '{ created device { hardwareId firmwareVersion friendlyName } }'),
    { ...hardwareIds, foreign: ({ role }) => foreign.hardwareIds[role === 'org' ? 0 : 1] },
    (hardwareId) => ({ input: { ...registration(), hardwareId } }),
    same('ok ok ok ok bad', 'org', 'device'),
  ),
};
