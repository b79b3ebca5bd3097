import type { Services } from '../app.js';
import type { Actor } from '../audit/audit-event.js';
import type { SecretRetrieval } from '../identity/credential.service.js';
import { newUuid } from '../lib/id.js';
import type { ModelQuota } from '../orgs/quotas.js';
import type { App, Org } from '../orgs/settings.js';
import type { CatalogModel } from '../spend/catalog/catalog.js';
import { type AppProfile, appProfiles, dimensionNames, quotaFor } from './traffic.js';

export const demoZone = 'America/New_York';
const demoName = 'Demo Corp';
const maxChain = 3;
/** How many orgs are searched for the names of earlier demos. */
const maxSearchedOrgs = 1000;

const address = '127.0.0.1';
const actor = (name: string): Actor => ({ name, address, requestId: newUuid() });
export const adminActor = (): Actor => actor('platform-admin:seed');

export interface DemoClient {
  readonly title: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The demo org with its apps and credentials. */
export interface DemoTenant {
  readonly org: Org;
  readonly apps: readonly App[];
  readonly clients: readonly DemoClient[];
  /** The client of the org, as the actor of changes. */
  owner(): Actor;
}

/** The labels of the demo org: the first models of the catalog. */
export const chainOf = ({ catalog }: Pick<Services, 'catalog'>): CatalogModel[] =>
  [...catalog.values()].slice(0, maxChain);

/** Registers the demo org, its apps, and the secrets of their clients. */
export async function createTenant(services: Services): Promise<DemoTenant> {
  const chain = chainOf(services);
  const { org, secretRetrieval } = await services.orgs.registerOrg(
    {
      name: await freeName(services),
      timezone: demoZone,
      quotaScope: 'APP',
      modelOrdering: chain.map(({ label }) => label),
      quotas: await quotasOf(services, appProfiles[0] as AppProfile, chain),
      stickyFallbackEnabled: true,
      appsMayBringLimits: false,
      maxReservationPct: 100,
      attributeApps: false,
      ledger: true,
      dimensions: dimensionNames,
      shardCount: 8,
      tightModeThresholdPct: 80,
      refreshIntervalNormalSecs: 300,
      refreshIntervalTightSecs: 60,
    },
    adminActor(),
  );
  const orgClient = await retrieve(services, 'Org client', secretRetrieval);
  const owner = () => actor(orgClient.clientId);
  const apps: App[] = [];
  const clients = [orgClient];
  for (const profile of appProfiles) {
    const { appId, name } = profile;
    const quotas = await quotasOf(services, profile, chain);
    const registered = await services.apps.registerApp(org.orgId, { appId, name, quotas }, owner());
    apps.push(registered.app);
    clients.push(await retrieve(services, `Client of the app "${appId}"`, registered.secretRetrieval));
  }
  return { org, apps, clients, owner };
}

/** "Demo Corp", or the same with the next number if there are demo orgs already. */
async function freeName({ orgStore }: Services): Promise<string> {
  const names = new Set((await orgStore.listOrgs(maxSearchedOrgs)).map(({ name }) => name));
  for (let number = 1; ; number++) {
    const name = number === 1 ? demoName : `${demoName} ${number}`;
    if (!names.has(name)) return name;
  }
}

async function quotasOf(
  { prices, clock }: Services,
  profile: AppProfile,
  chain: readonly CatalogModel[],
): Promise<ModelQuota[]> {
  const current = await prices.allAt(chain, clock.nowMs());
  return chain.map(({ label }, i) => ({
    label,
    dailyUsdMicros: quotaFor(profile, i, current[i] ?? { inputUsdMicrosPer1M: 0, outputUsdMicrosPer1M: 0 }),
  }));
}

async function retrieve({ credentials }: Services, title: string, { token }: SecretRetrieval): Promise<DemoClient> {
  return { title, ...(await credentials.retrieve(token, { address, requestId: newUuid() })) };
}
