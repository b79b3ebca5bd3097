/** A fresh org with an app that is logged in. */
export async function newOrg({ client, asAdmin }) {
  const { registerOrg } = await client.ask(asAdmin, 'mutation ($input: RegisterOrgInput!) { registerOrg(input: $input) { org { orgId } } }', {
    input: { name: 'Bench', timezone: 'UTC', quotaScope: 'APP', modelOrdering: ['premium'], quotas: [{ label: 'premium', dailyUsdMicros: 1e12 }] },
  });
  const { orgId } = registerOrg.org;
  const { registerApp } = await client.ask(asAdmin, 'mutation ($input: RegisterAppInput!) { registerApp(input: $input) { secretRetrieval { token } } }', {
    input: { orgId, appId: 'chat', name: 'Chat' },
  });
  const { retrieveSecret } = await client.ask({}, 'mutation ($token: String!) { retrieveSecret(token: $token) { clientId clientSecret } }', {
    token: registerApp.secretRetrieval.token,
  });
  const { issueToken } = await client.ask({}, 'mutation ($input: IssueTokenInput!) { issueToken(input: $input) { accessToken } }', { input: retrieveSecret });
  return { orgId, headers: { authorization: `Bearer ${issueToken.accessToken}` } };
}
