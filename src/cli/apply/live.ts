import type { Clock } from '../../lib/clock.js';
import { sortedPrices } from './file.js';
import { type ItemDocument, itemName, parseItem } from './item.js';
import type { LiveItem } from './plan.js';

/** Sends an operation. `GatewayApi` does. */
export interface ApplyApi {
  query<T>(document: string, variables?: object): Promise<T>;
}

export interface LiveDeps {
  readonly api: ApplyApi;
  readonly clock: Clock;
}

/** An org, or the platform. */
export interface TenantName {
  readonly orgId?: string;
  readonly isPlatform?: true;
}

type Json = Readonly<Record<string, unknown>>;
interface PageOf<T> {
  readonly nodes: readonly T[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** All nodes of a connection, page by page. */
export async function allNodes<T>(fetch: (after: string | null) => Promise<PageOf<T>>): Promise<T[]> {
  const nodes: T[] = [];
  for (let after: string | null = null; ; ) {
    const page: PageOf<T> = await fetch(after);
    nodes.push(...page.nodes);
    if (!page.pageInfo.hasNextPage) return nodes;
    after = page.pageInfo.endCursor;
  }
}

const pageInfo = 'pageInfo { hasNextPage endCursor }';
const settingNames = [
  'modelOrdering',
  'tightModeThresholdPct',
  'refreshIntervalNormalSecs',
  'refreshIntervalTightSecs',
];
const orgSettingNames = [
  'name',
  'timezone',
  ...settingNames,
  'stickyFallbackEnabled',
  'appsMayBringLimits',
  'attributeApps',
  'ledger',
  'dimensions',
  'maxReservationPct',
];
const quotaFields = 'quotas { label dailyUsdMicros enforcement nextEnforcement { enforcement } }';
const orgDocument = `query ($orgId: UUID) { org(orgId: $orgId) { orgId version ${orgSettingNames.join(' ')}
  ${quotaFields}
  budgets { name appId label dimension { name value } period usdMicros thresholdsPct enforcement version
    nextEnforcement { enforcement } raise { until usdMicros } }
  prices { label version changes { effectiveFrom entries { name usdMicrosPer1M above } } } } }`;
const appsDocument = `query ($orgId: UUID, $after: String) { org(orgId: $orgId) { apps(first: 100, after: $after) {
  nodes { appId name version inheritedFields ${settingNames.join(' ')} ${quotaFields} }
  ${pageInfo} } } }`;
const modelsDocument = `query ($after: String) { models(first: 100, after: $after, includeRetired: true) {
  label modelId provider tier family description version retiredAt
  prices { effectiveFrom source entries { name usdMicrosPer1M above } } } }`;

/** Every thing of a tenant except limits, as the gateway has it now. */
export function readTenant(deps: LiveDeps, tenant: TenantName): Promise<Map<string, LiveItem>> {
  return tenant.isPlatform ? readModels(deps) : readOrg(deps, tenant.orgId);
}

async function readOrg({ api, clock }: LiveDeps, orgId: string | undefined): Promise<Map<string, LiveItem>> {
  const { org } = await api.query<{ org: OrgNode | null }>(orgDocument, { orgId });
  if (!org)
    throw new Error(
      `the org ${orgId ?? ''} does not exist, or you may not see it; create it with: tollgate org create`,
    );
  const apps = await allNodes<AppNode>(async (after) => {
    const page = await api.query<{ org: { apps: PageOf<AppNode> } }>(appsDocument, { orgId, after });
    return page.org.apps;
  });
  return new Map<string, LiveItem>([
    [itemName('org'), { document: settingsOf(org, orgSettingNames), version: org.version }],
    ...apps.map((app) => [itemName('app', app.appId), { document: appOf(app), version: app.version }] as const),
    ...org.budgets.map(
      ({ name, version, ...budget }) => [itemName('budget', name), { document: budgetOf(budget), version }] as const,
    ),
    ...org.prices.map(({ label, version, changes }) => {
      const entries = entriesNow(changes, clock);
      const document = entries.length > 0 ? { document: { prices: entries } } : {};
      return [itemName('price', label), { ...document, version }] as const;
    }),
  ]);
}

/** A change of enforcement waits for the next day. A file is about the one that was set last. */
interface EnforcedNode {
  readonly enforcement: string;
  readonly nextEnforcement: { readonly enforcement: string } | null;
}
interface Quota extends EnforcedNode {
  readonly label: string;
  readonly dailyUsdMicros: number;
}
const lastEnforcementOf = ({ enforcement, nextEnforcement }: EnforcedNode): string =>
  nextEnforcement?.enforcement ?? enforcement;
interface AppNode extends Json {
  readonly appId: string;
  readonly name: string;
  readonly version: number;
  readonly inheritedFields: readonly string[];
  readonly quotas: readonly Quota[];
}
interface OrgNode extends Json {
  readonly version: number;
  readonly quotas: readonly Quota[];
  readonly budgets: readonly (Json & EnforcedNode & { readonly name: string; readonly version: number })[];
  readonly prices: readonly { readonly label: string; readonly version: number; readonly changes: PriceChanges }[];
}
type PriceChanges = readonly {
  readonly effectiveFrom: string | null;
  readonly source?: string;
  readonly entries: Parameters<typeof sortedPrices>[0];
}[];

const withoutNulls = (document: Json): ItemDocument =>
  Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null && value !== undefined));

const settingsOf = (node: Json & { readonly quotas: readonly Quota[] }, names: readonly string[]): ItemDocument => ({
  ...Object.fromEntries(names.map((name) => [name, node[name]])),
  quotasUsdMicros: Object.fromEntries(node.quotas.map(({ label, dailyUsdMicros }) => [label, dailyUsdMicros])),
  hardQuotas: node.quotas
    .filter((quota) => lastEnforcementOf(quota) === 'HARD')
    .map(({ label }) => label)
    .sort(),
});

/** The settings that the app does not inherit. */
function appOf(app: AppNode): ItemDocument {
  const own = settingNames.filter((name) => !app.inheritedFields.includes(name));
  const { quotasUsdMicros, hardQuotas, ...others } = settingsOf(app, own);
  const quotas = app.inheritedFields.includes('quotas') ? {} : { quotasUsdMicros, hardQuotas };
  return { name: app.name, ...others, ...quotas };
}

function budgetOf({ enforcement, nextEnforcement, ...budget }: Json & EnforcedNode): ItemDocument {
  const { raise, ...settings } = withoutNulls(budget);
  const others = { ...settings, enforcement: lastEnforcementOf({ enforcement, nextEnforcement }) };
  if (!raise) return others;
  const { until, usdMicros } = raise as { until: string; usdMicros: number };
  return { ...others, raise: { until: new Date(until).toISOString(), usdMicros } };
}

/** The clock of the gateway may be ahead, and a price that was just set must not look like one of the future. */
const maxSkewMs = 300_000;

/** The prices in force. Prices of the future are not managed by files. */
function entriesNow(changes: PriceChanges, clock: Clock): ReturnType<typeof sortedPrices> {
  const nowMs = clock.nowMs() + maxSkewMs;
  const last = changes.findLast(({ effectiveFrom }) => effectiveFrom === null || Date.parse(effectiveFrom) <= nowMs);
  return sortedPrices(last?.entries ?? []);
}

interface ModelNode extends Json {
  readonly label: string;
  readonly version: number;
  readonly retiredAt: string | null;
  readonly prices: PriceChanges;
}

async function readModels({ api, clock }: LiveDeps): Promise<Map<string, LiveItem>> {
  const live = new Map<string, LiveItem>();
  for (let after: string | undefined; ; ) {
    const { models } = await api.query<{ models: readonly ModelNode[] }>(modelsDocument, { after });
    for (const { label, version, retiredAt, prices, ...facts } of models) {
      const set = prices.filter(({ source }) => source === 'CATALOG');
      const document = { ...withoutNulls(facts), prices: entriesNow(set, clock) };
      live.set(itemName('model', label), { version, ...(retiredAt === null ? { document } : {}) });
    }
    if (models.length < 100) return live;
    after = models.at(-1)?.label;
  }
}

/** The document allows 15 aliases. */
const levelsPerQuery = 15;
const levelFields = `onUnavailable version
  limits { name capacity burst refillAmount refillPeriodSecs kind window enforce }`;

interface LevelNode {
  readonly onUnavailable: string | null;
  readonly version: number;
  readonly limits: readonly (Json & { readonly name: string })[];
}

/** The limits of these levels as the gateway has them now. */
export async function readLevels(
  { api }: LiveDeps,
  { orgId }: TenantName,
  items: readonly string[],
): Promise<Map<string, LiveItem>> {
  const live = new Map<string, LiveItem>();
  for (let start = 0; start < items.length; start += levelsPerQuery) {
    const chunk = items.slice(start, start + levelsPerQuery);
    const fields = chunk.map((item, i) => `l${i}: limitConfig(${placeText(item)}) { ${levelFields} }`);
    const { org } = await api.query<{ org: Readonly<Record<string, LevelNode | null>> | null }>(
      `query ($orgId: UUID) { org(orgId: $orgId) { ${fields.join('\n')} } }`,
      { orgId },
    );
    chunk.forEach((item, i) => {
      const level = org?.[`l${i}`];
      if (level) live.set(item, { document: levelOf(level), version: level.version });
    });
  }
  return live;
}

const levelOf = ({ onUnavailable, limits }: LevelNode): ItemDocument => ({
  limits: Object.fromEntries(limits.map(({ name, ...limit }) => [name, withoutNulls(limit)])),
  ...(onUnavailable === null ? {} : { onUnavailable }),
});

/** The level that an item names, as arguments of a mutation. */
export function placeOfItem(item: string): {
  readonly level: string;
  readonly resource?: string;
  readonly entityId?: string;
} {
  const [level, name = '', resource] = parseItem(item).parts;
  if (level === 'system') return { level: 'SYSTEM' };
  if (level === 'resource') return { level: 'RESOURCE', resource: name };
  return resource === undefined
    ? { level: 'ENTITY_DEFAULT', entityId: name }
    : { level: 'ENTITY', entityId: name, resource };
}

const placeText = (item: string): string => {
  const { level, ...names } = placeOfItem(item);
  const others = Object.entries(names).map(([name, value]) => `, ${name}: ${JSON.stringify(value)}`);
  return `level: ${level}${others.join('')}`;
};
