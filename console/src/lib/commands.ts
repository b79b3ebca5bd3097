/**
 * Commands to paste into a shell, with the names of this org where they are known. Each works as it is, once the
 * variable that it names is set.
 */
export function commandsFor(origin: string) {
  const graphql: Curl = (query, credential = accessToken) => {
    const body = JSON.stringify({ query });
    return `curl -s ${origin}/graphql -H 'content-type: application/json' -H "${credential}" \\\n  -d '${body}'`;
  };
  return { ...orgCommands(graphql), ...platformCommands(graphql) };
}

type Curl = (query: string, credential?: string) => string;

const accessToken = 'authorization: Bearer $ACCESS_TOKEN';

const orgCommands = (graphql: Curl) => ({
  submitCost: (appId: string, label: string): string =>
    graphql(
      `mutation { submitCost(input: { appId: "${appId}", requestId: "${crypto.randomUUID()}", ` +
        `modelLabel: "${label}", inputTokens: 1500, outputTokens: 800 }) { costUsdMicros day } }`,
    ),
  registerApp: (): string =>
    graphql(
      'mutation { registerApp(input: { appId: "chat", name: "Chat" }) { app { appId } secretRetrieval { token } } }',
    ),
  setLimits: (): string =>
    graphql(
      'mutation { setLimits(input: { level: RESOURCE, resource: "gpt-4", ' +
        'limits: [{ name: "rpm", capacity: 10 }] }) { version } }',
    ),
  createApiKey: (): string =>
    graphql('mutation { createApiKey(input: { description: "greenhouse" }) { apiKey { keyId } secret } }'),
  setBudget: (): string =>
    graphql('mutation { setBudget(input: { name: "team-month", period: MONTH, usdMicros: 500000000 }) { version } }'),
  switchLedger: (): string => graphql('mutation { updateOrg(input: { ledger: true }) { ledger } }'),
  acquire: (resource: string, limit: string): string =>
    graphql(
      `mutation { acquire(input: { entityId: "ana", resource: "${resource}", ` +
        `consume: [{ limit: "${limit}", amount: 1 }] }) { __typename } }`,
    ),
  registerDevice: (): string =>
    graphql(
      'mutation { registerDevice(input: { hardwareId: "AA:BB:CC:DD:EE:FF", ' +
        `bootId: "${crypto.randomUUID()}", firmwareVersion: "1.0.0", capabilities: { sensors: ["bme280"] } }) ` +
        '{ device { hardwareId } } }',
      'x-api-key: $DEVICE_KEY',
    ),
});

const platformCommands = (graphql: Curl) => ({
  registerOrg: (): string =>
    graphql(
      'mutation { registerOrg(input: { name: "Acme", timezone: "UTC", quotaScope: APP, modelOrdering: ["premium"], ' +
        'quotas: [{ label: "premium", dailyUsdMicros: 10000000 }] }) { org { orgId } secretRetrieval { token } } }',
      'x-admin-key: $ADMIN_KEY',
    ),
  upsertModel: (): string =>
    graphql(
      'mutation { upsertModel(input: { label: "premium", modelId: "anthropic.claude-3-5-sonnet-20241022-v2:0", ' +
        'prices: [{ name: "input", usdMicrosPer1M: 3000000 }, { name: "output", usdMicrosPer1M: 15000000 }] }) ' +
        '{ version } }',
      'x-admin-key: $ADMIN_KEY',
    ),
});
