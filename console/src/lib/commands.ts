/** Commands to paste into a shell. Each works as it is, once the variables that it names are set. */

const graphql = (query: string, credential = '-H "authorization: Bearer $ACCESS_TOKEN"'): string =>
  `curl -s ${location.origin}/graphql -H 'content-type: application/json' ${credential} \\
  -d '${JSON.stringify({ query })}'`;

export const commands = {
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
  registerOrg: (): string =>
    graphql(
      'mutation { registerOrg(input: { name: "Acme", timezone: "UTC", quotaScope: APP, modelOrdering: ["premium"], ' +
        'quotas: [{ label: "premium", dailyUsdMicros: 10000000 }] }) { org { orgId } secretRetrieval { token } } }',
      '-H "x-admin-key: $ADMIN_KEY"',
    ),
  setBudget: (): string =>
    graphql('mutation { setBudget(input: { name: "team-month", period: MONTH, usdMicros: 500000000 }) { version } }'),
  upsertModel: (): string =>
    graphql(
      'mutation { upsertModel(input: { label: "premium", modelId: "anthropic.claude-3-5-sonnet-20241022-v2:0", ' +
        'prices: [{ name: "input", usdMicrosPer1M: 3000000 }, { name: "output", usdMicrosPer1M: 15000000 }] }) ' +
        '{ version } }',
      '-H "x-admin-key: $ADMIN_KEY"',
    ),
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
      '-H "x-api-key: $DEVICE_KEY"',
    ),
};
