import { systemClock } from '../lib/clock.js';
import { newUuid } from '../lib/id.js';

/** Sends one operation with a credential and returns its data. */
type Api = <T = unknown>(query: string, variables: object) => Promise<T>;

interface DemoClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

interface CreatedClient {
  readonly secretRetrieval: { readonly token: string };
}

/** Creates a demo org through the API of a running Tollgate. Returns a report with the credentials of its clients. */
export async function seedDemo(url: string, adminKey: string): Promise<string> {
  const api = apiOf(url, { 'x-admin-key': adminKey });
  const { orgId, client } = await createOrg(api);
  const chat = await createApp(api, { orgId, appId: 'chat', name: 'Support chat' });
  const search = await createApp(api, { orgId, appId: 'search', name: 'Search' });
  await useLimits(api, orgId);
  await sendReadings(url, api, orgId);
  return [
    `Created the org "Demo Corp" with the id ${orgId}.\n`,
    credentialsOf('Org client', client),
    credentialsOf('Client of the app "chat"', chat),
    credentialsOf('Client of the app "search"', search),
  ].join('\n');
}

const credentialsOf = (title: string, { clientId, clientSecret }: DemoClient): string =>
  `${title}\nclient id      ${clientId}\nclient secret  ${clientSecret}\n`;

function apiOf(url: string, credential: Readonly<Record<string, string>>): Api {
  return async <T>(query: string, variables: object) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...credential },
      body: JSON.stringify({ query, variables }),
    }).catch((cause: unknown) => {
      throw new Error(`cannot connect to ${url}; start Tollgate first (npm start), or set --url`, { cause });
    });
    const { data, errors } = (await response.json()) as { data?: T; errors?: readonly { message: string }[] };
    if (errors || !data) throw new Error(`${url} refused: ${errors?.map(({ message }) => message).join('; ')}`);
    return data;
  };
}

async function createOrg(api: Api): Promise<{ readonly orgId: string; readonly client: DemoClient }> {
  const { registerOrg } = await api<{ registerOrg: CreatedClient & { org: { orgId: string } } }>(
    'mutation ($input: RegisterOrgInput!) { registerOrg(input: $input) { org { orgId } secretRetrieval { token } } }',
    {
      input: {
        name: 'Demo Corp',
        timezone: 'America/New_York',
        quotaScope: 'APP',
        modelOrdering: ['premium', 'standard', 'economy'],
        quotas: [
          { label: 'premium', dailyUsdMicros: 10_000_000 },
          { label: 'standard', dailyUsdMicros: 5_000_000 },
          { label: 'economy', dailyUsdMicros: 2_000_000 },
        ],
      },
    },
  );
  return { orgId: registerOrg.org.orgId, client: await retrieveSecret(api, registerOrg) };
}

async function createApp(
  api: Api,
  input: { readonly orgId: string; readonly appId: string; readonly name: string },
): Promise<DemoClient> {
  const { registerApp } = await api<{ registerApp: CreatedClient }>(
    'mutation ($input: RegisterAppInput!) { registerApp(input: $input) { secretRetrieval { token } } }',
    { input },
  );
  return retrieveSecret(api, registerApp);
}

async function retrieveSecret(api: Api, { secretRetrieval: { token } }: CreatedClient): Promise<DemoClient> {
  const query = 'mutation ($token: String!) { retrieveSecret(token: $token) { clientId clientSecret } }';
  return (await api<{ retrieveSecret: DemoClient }>(query, { token })).retrieveSecret;
}

/** A team with two users, limits for them, and a few calls that use the limits. */
async function useLimits(api: Api, orgId: string): Promise<void> {
  const limits = [
    { name: 'rpm', capacity: 100 },
    { name: 'tpm', capacity: 40_000, burst: 60_000 },
  ];
  await api('mutation ($input: SetLimitsInput!) { setLimits(input: $input) { version } }', {
    input: { orgId, level: 'RESOURCE', resource: 'gpt-4', limits },
  });
  const create = 'mutation ($input: CreateEntityInput!) { createEntity(input: $input) { entityId } }';
  const acquire = 'mutation ($input: AcquireInput!) { acquire(input: $input) { __typename } }';
  await api(create, { input: { orgId, entityId: 'team-red', name: 'Team Red' } });
  for (const entityId of ['ana', 'ben']) {
    await api(create, { input: { orgId, entityId, parentId: 'team-red', cascade: true } });
    for (let tokens = 500; tokens <= 5000; tokens += 500) {
      const consume = [
        { limit: 'rpm', amount: 1 },
        { limit: 'tpm', amount: tokens },
      ];
      await api(acquire, { input: { orgId, entityId, resource: 'gpt-4', consume } });
    }
  }
}

/** A device with the readings of one day, one per quarter of an hour. */
async function sendReadings(url: string, api: Api, orgId: string): Promise<void> {
  const { createApiKey } = await api<{ createApiKey: { secret: string } }>(
    'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }',
    { input: { orgId, description: 'demo fleet' } },
  );
  const asDevice = apiOf(url, { 'x-api-key': createApiKey.secret });
  const device = { hardwareId: 'AA:BB:CC:DD:EE:FF', bootId: newUuid(), firmwareVersion: '1.0.16' };
  await asDevice('mutation ($input: RegisterDeviceInput!) { registerDevice(input: $input) { created } }', {
    input: { ...device, friendlyName: 'greenhouse-01', capabilities: { sensors: ['bme280'] } },
  });
  const nowMs = systemClock.nowMs();
  const readings = Array.from({ length: 96 }, (_, quarter) => ({
    ...device,
    batchId: `${device.hardwareId}_${device.bootId}_${quarter}`,
    timestampMs: nowMs - quarter * 900_000,
    sensors: { bme280TempC: Math.round(200 + 60 * Math.sin(quarter / 15)) / 10, humidityPct: 45 + (quarter % 20) },
    sensorStatus: { bme280: 'OK' },
  }));
  await asDevice('mutation ($input: IngestInput!) { ingest(input: $input) { settledBatchIds } }', {
    input: { readings },
  });
}
