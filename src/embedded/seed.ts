type Data = Record<string, Record<string, { readonly [name: string]: string }>>;

interface Answer {
  readonly data?: Data;
  readonly errors?: readonly { readonly message: string }[];
}

/** Fills a running Tollgate with a demo org, through its own API. Returns what to tell the user. */
export async function seedDemo(url: string, adminKey: string): Promise<string> {
  const ask = async (query: string, variables: object): Promise<Data> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-admin-key': adminKey },
      body: JSON.stringify({ query, variables }),
    }).catch((cause: unknown) => {
      throw new Error(`nothing answers at ${url}: start Tollgate first (npm start), or name it with --url`, { cause });
    });
    const { data, errors } = (await response.json()) as Answer;
    if (errors || !data) throw new Error(`${url} refused: ${errors?.map(({ message }) => message).join('; ')}`);
    return data;
  };
  const redeem = async (token: string | undefined): Promise<{ clientId: string; clientSecret: string }> => {
    const { retrieveSecret } = await ask('mutation ($token: String!) { retrieveSecret(token: $token) { clientId clientSecret } }', { token });
    return retrieveSecret as unknown as { clientId: string; clientSecret: string };
  };

  const { registerOrg } = await ask('mutation ($input: RegisterOrgInput!) { registerOrg(input: $input) { org { orgId } secretRetrieval { token } } }', {
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
  });
  const orgId = registerOrg?.org?.orgId;
  const clients = [await redeem(registerOrg?.secretRetrieval?.token)];
  for (const [appId, name] of [
    ['chat', 'Support chat'],
    ['search', 'Search'],
  ]) {
    const { registerApp } = await ask('mutation ($input: RegisterAppInput!) { registerApp(input: $input) { secretRetrieval { token } } }', {
      input: { orgId, appId, name },
    });
    clients.push(await redeem(registerApp?.secretRetrieval?.token));
  }
  return `Demo Corp is org ${orgId}.\n\n${clients.map(({ clientId, clientSecret }) => `client id      ${clientId}\nclient secret  ${clientSecret}\n`).join('\n')}`;
}
