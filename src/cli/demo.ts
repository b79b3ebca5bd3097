import { systemClock } from '../lib/clock.js';
import { newUuid } from '../lib/id.js';

type Data = Record<string, Record<string, { readonly [name: string]: string }>>;

interface Answer {
  readonly data?: Data;
  readonly errors?: readonly { readonly message: string }[];
}

type Ask = (query: string, variables: object) => Promise<Data>;

/** The API as the holder of a credential sees it. */
function asking(url: string, credential: Readonly<Record<string, string>>): Ask {
  return async (query, variables) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...credential },
      body: JSON.stringify({ query, variables }),
    }).catch((cause: unknown) => {
      throw new Error(`nothing answers at ${url}: start Tollgate first (npm start), or name it with --url`, { cause });
    });
    const { data, errors } = (await response.json()) as Answer;
    if (errors || !data) throw new Error(`${url} refused: ${errors?.map(({ message }) => message).join('; ')}`);
    return data;
  };
}

/** A team with two users, limits for them, and a few calls against these. */
async function useLimits(ask: Ask, orgId: string | undefined): Promise<void> {
  await ask('mutation ($input: SetLimitsInput!) { setLimits(input: $input) { version } }', {
    input: {
      orgId,
      level: 'RESOURCE',
      resource: 'gpt-4',
      limits: [
        { name: 'rpm', capacity: 100 },
        { name: 'tpm', capacity: 40_000, burst: 60_000 },
      ],
    },
  });
  const create = 'mutation ($input: CreateEntityInput!) { createEntity(input: $input) { entityId } }';
  await ask(create, { input: { orgId, entityId: 'team-red', name: 'Team Red' } });
  for (const entityId of ['ana', 'ben']) {
    await ask(create, { input: { orgId, entityId, parentId: 'team-red', cascade: true } });
    for (let amount = 500; amount <= 5000; amount += 500) {
      await ask('mutation ($input: AcquireInput!) { acquire(input: $input) { __typename } }', {
        input: {
          orgId,
          entityId,
          resource: 'gpt-4',
          consume: [
            { limit: 'rpm', amount: 1 },
            { limit: 'tpm', amount },
          ],
        },
      });
    }
  }
}

/** A device and a day of what it measured. */
async function sendReadings(url: string, ask: Ask, orgId: string | undefined): Promise<void> {
  const { createApiKey } = await ask(
    'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }',
    {
      input: { orgId, description: 'demo fleet' },
    },
  );
  const asDevice = asking(url, { 'x-api-key': String(createApiKey?.secret) });
  const [hardwareId, bootId, firmwareVersion] = ['AA:BB:CC:DD:EE:FF', newUuid(), '1.0.16'];
  await asDevice('mutation ($input: RegisterDeviceInput!) { registerDevice(input: $input) { created } }', {
    input: {
      hardwareId,
      bootId,
      firmwareVersion,
      friendlyName: 'greenhouse-01',
      capabilities: { sensors: ['bme280'] },
    },
  });
  const nowMs = systemClock.nowMs();
  const readings = Array.from({ length: 96 }, (_, quarter) => ({
    hardwareId,
    batchId: `${hardwareId}_${bootId}_${quarter}`,
    timestampMs: nowMs - quarter * 900_000,
    bootId,
    firmwareVersion,
    sensors: { bme280TempC: Math.round(200 + 60 * Math.sin(quarter / 15)) / 10, humidityPct: 45 + (quarter % 20) },
    sensorStatus: { bme280: 'OK' },
  }));
  await asDevice('mutation ($input: IngestInput!) { ingest(input: $input) { settledBatchIds } }', {
    input: { readings },
  });
}

/** Fills a running Tollgate with a demo org, through its own API. Returns what to tell the user. */
export async function seedDemo(url: string, adminKey: string): Promise<string> {
  const ask = asking(url, { 'x-admin-key': adminKey });
  const redeem = async (token: string | undefined): Promise<{ clientId: string; clientSecret: string }> => {
    const { retrieveSecret } = await ask(
      'mutation ($token: String!) { retrieveSecret(token: $token) { clientId clientSecret } }',
      { token },
    );
    return retrieveSecret as unknown as { clientId: string; clientSecret: string };
  };

  const { registerOrg } = await ask(
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
  const orgId = registerOrg?.org?.orgId;
  const clients = [await redeem(registerOrg?.secretRetrieval?.token)];
  for (const [appId, name] of [
    ['chat', 'Support chat'],
    ['search', 'Search'],
  ]) {
    const { registerApp } = await ask(
      'mutation ($input: RegisterAppInput!) { registerApp(input: $input) { secretRetrieval { token } } }',
      {
        input: { orgId, appId, name },
      },
    );
    clients.push(await redeem(registerApp?.secretRetrieval?.token));
  }
  await useLimits(ask, orgId);
  await sendReadings(url, ask, orgId);
  return `Demo Corp is org ${orgId}.\n\n${clients.map(({ clientId, clientSecret }) => `client id      ${clientId}\nclient secret  ${clientSecret}\n`).join('\n')}`;
}
