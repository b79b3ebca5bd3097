/** Sends several acquires in one request, to fill the tables. Each must be granted. */
export async function acquireAll({ client }, headers, inputs) {
  const variables = inputs.map((_, i) => `$i${i}: AcquireInput!`).join(', ');
  const fields = inputs.map((_, i) => `a${i}: acquire(input: $i${i}) { __typename }`).join(' ');
  const leases = await client.request(
    headers,
    `mutation (${variables}) { ${fields} }`,
    Object.fromEntries(inputs.map((input, i) => [`i${i}`, input])),
  );
  if (Object.values(leases).some(({ __typename }) => __typename !== 'Lease')) throw new Error('not granted');
}

/** A new org with an app and its access token. `enforcement`: of its quota. */
export async function newOrg({ client, asAdmin }, { enforcement } = {}) {
  const { registerOrg } = await client.request(
    asAdmin,
    'mutation ($input: RegisterOrgInput!) { registerOrg(input: $input) { org { orgId } } }',
    {
      input: {
        name: 'Bench',
        timezone: 'UTC',
        quotaScope: 'APP',
        modelOrdering: ['premium'],
        quotas: [{ label: 'premium', dailyUsdMicros: 1e12, ...(enforcement ? { enforcement } : {}) }],
        appsMayBringLimits: true,
      },
    },
  );
  const { orgId } = registerOrg.org;
  const { registerApp } = await client.request(
    asAdmin,
    'mutation ($input: RegisterAppInput!) { registerApp(input: $input) { secretRetrieval { token } } }',
    {
      input: { orgId, appId: 'chat', name: 'Chat' },
    },
  );
  const { retrieveSecret } = await client.request(
    {},
    'mutation ($token: String!) { retrieveSecret(token: $token) { clientId clientSecret } }',
    {
      token: registerApp.secretRetrieval.token,
    },
  );
  const { issueToken } = await client.request(
    {},
    'mutation ($input: IssueTokenInput!) { issueToken(input: $input) { accessToken } }',
    { input: retrieveSecret },
  );
  return { orgId, headers: { authorization: `Bearer ${issueToken.accessToken}` } };
}
