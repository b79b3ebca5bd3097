import { readFileSync } from 'node:fs';
import { Tollgate } from '@tollgate/client';

const url = process.env.TOLLGATE_URL ?? 'http://127.0.0.1:4000/graphql';
/** More than the default, because the embedded engine shares its machine with everything else. */
const timeoutMs = 20_000;

/** The key that `npm start` has made. Run the examples in the same folder, or set TOLLGATE_ADMIN_KEY. */
const adminKey = () =>
  process.env.TOLLGATE_ADMIN_KEY ?? JSON.parse(readFileSync('.tollgate/secrets.json', 'utf8')).TOLLGATE_ADMIN_KEY;

const registerOrg = `mutation ($input: RegisterOrgInput!) {
  registerOrg(input: $input) { org { orgId } secretRetrieval { token } }
}`;
const registerApp = `mutation ($input: RegisterAppInput!) { registerApp(input: $input) { secretRetrieval { token } } }`;
const retrieveSecret = `mutation ($token: String!) { retrieveSecret(token: $token) { clientId clientSecret } }`;

/** A client of the tenant that a one-time token belongs to. */
async function logIn(token, options) {
  const { retrieveSecret: credentials } = await new Tollgate({ url, timeoutMs }).query(retrieveSecret, { token });
  return new Tollgate({ url, timeoutMs, credentials, ...options });
}

/** Registers an org with one app, and returns a client of each. Every start of an example makes an org of its own. */
export async function newTenant(name, { quotas, ...options }) {
  const admin = new Tollgate({ url, timeoutMs, credentials: { adminKey: adminKey() } });
  const input = { name, timezone: 'UTC', quotaScope: 'APP', modelOrdering: quotas.map(({ label }) => label), quotas };
  const { registerOrg: made } = await admin.query(registerOrg, { input });
  const org = await logIn(made.secretRetrieval.token);
  const { registerApp: app } = await org.query(registerApp, { input: { appId: 'example', name } });
  return { orgId: made.org.orgId, org, app: await logIn(app.secretRetrieval.token, options) };
}

/** A client with the key of a fleet of devices. */
export async function newFleet(org) {
  const { createApiKey } = await org.query('mutation { createApiKey(input: { description: "example" }) { secret } }');
  return new Tollgate({ url, timeoutMs, credentials: { apiKey: createApiKey.secret } });
}
