import { randomUUID } from 'node:crypto';
import { ClientError, GraphQLClient, gql } from 'graphql-request';
import { bearer } from '../support/alert-source.js';
import { type Client, newOrg, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

let app: TestApp;
let org: Client & { readonly orgId: string };
beforeAll(async () => {
  app = await startTestApp();
  org = await newOrg(app);
});
afterAll(() => app.stop());

const client = (
  options: ConstructorParameters<typeof GraphQLClient>[1] = {},
  headers: Record<string, string> = bearer(org),
) => new GraphQLClient(app.url, { headers, ...options });

/** The error of a request that must fail. */
async function refusal(request: Promise<unknown>): Promise<ClientError> {
  const error = await request.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ClientError)) throw new Error(`expected a ClientError, got ${error}`);
  return error;
}

const codes = ({ response }: ClientError): unknown[] =>
  (response.errors ?? []).map(({ extensions }) => extensions.code);

describe('graphql-request', () => {
  it('queries with a typed document, by POST', async () => {
    expect((await client().request(op.MeDocument)).me).toMatchObject({ kind: 'ORG_CLIENT', clientId: org.clientId });
  });

  it('queries with text, by GET', async () => {
    const query = gql`query Org($orgId: UUID) { org(orgId: $orgId) { orgId name } }`;
    expect(await client({ method: 'GET', jsonSerializer: JSON }).request(query, { orgId: org.orgId })).toEqual({
      org: { orgId: org.orgId, name: 'Acme' },
    });
  });

  it('mutates', async () => {
    const { createApiKey } = await client().request(op.CreateApiKeyDocument, {
      input: { description: 'by graphql-request' },
    });
    expect(createApiKey?.secret).toMatch(/^tgk_/);
  });

  it('throws a ClientError with the code and the status', async () => {
    const failed = await refusal(client().request(op.RevokeApiKeyDocument, { keyId: randomUUID() }));
    expect([codes(failed), failed.response.status]).toEqual([['NOT_FOUND'], 200]);
    const anonymous = await refusal(client({}, { authorization: 'Bearer x.y.z' }).request(op.MeDocument));
    expect([codes(anonymous), anonymous.response.status]).toEqual([['UNAUTHENTICATED'], 401]);
    const invalid = await refusal(client().request(gql`{ nothing }`));
    expect([codes(invalid), invalid.response.status]).toEqual([['GRAPHQL_VALIDATION_FAILED'], 400]);
  });

  it('keeps the result of the first mutation if the second one fails', async () => {
    const document = gql`
      mutation ($keyId: UUID!) {
        first: createApiKey(input: {}) { secret }
        second: revokeApiKey(keyId: $keyId) { keyId }
      }
    `;
    const { data, errors } = await client({ errorPolicy: 'all' }).rawRequest<{
      first: { secret: string } | null;
      second: null;
    }>(document, {
      keyId: randomUUID(),
    });
    expect(data).toEqual({ first: { secret: expect.stringMatching(/^tgk_/) }, second: null });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['NOT_FOUND']);
  });
});
