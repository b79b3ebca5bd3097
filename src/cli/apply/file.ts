import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { completeLimit, type Limit } from '../../limits/limit.js';
import { limitText, parseLimit } from '../api/limit-spec.js';
import { type ItemDocument, itemName, parseItem } from './item.js';

const micros = z.int().min(0);
const quotas = z.record(z.string(), micros);
const settings = {
  modelOrdering: z.array(z.string()).optional(),
  quotasUsdMicros: quotas.optional(),
  /** The labels whose quota is HARD. */
  hardQuotas: z.array(z.string()).optional(),
  tightModeThresholdPct: z.int().optional(),
  refreshIntervalNormalSecs: z.int().optional(),
  refreshIntervalTightSecs: z.int().optional(),
};
const orgSettings = z.strictObject({
  name: z.string().optional(),
  timezone: z.string().optional(),
  ...settings,
  stickyFallbackEnabled: z.boolean().optional(),
  appsMayBringLimits: z.boolean().optional(),
  attributeApps: z.boolean().optional(),
  ledger: z.boolean().optional(),
  dimensions: z.array(z.string()).optional(),
  maxReservationPct: z.int().optional(),
});
const prices = z.array(z.strictObject({ name: z.string(), usdMicrosPer1M: micros, above: micros.default(0) }));
const time = z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString());
const budget = z.strictObject({
  appId: z.string().optional(),
  label: z.string().optional(),
  dimension: z.strictObject({ name: z.string(), value: z.string() }).optional(),
  period: z.enum(['DAY', 'WEEK', 'MONTH']),
  usdMicros: micros,
  thresholdsPct: z.array(z.int()).default([50, 80, 95]),
  enforcement: z.enum(['ALERT', 'ADVISORY', 'HARD']).default('ALERT'),
  raise: z.strictObject({ until: time, usdMicros: micros }).optional(),
});
const limits = z.array(z.string());
const appSettings = z
  .strictObject({ name: z.string(), ...settings })
  .refine(({ quotasUsdMicros, hardQuotas }) => quotasUsdMicros || !hardQuotas, {
    message: 'hardQuotas needs quotasUsdMicros; an app without quotas of its own inherits both',
  });
const orgSection = z.strictObject({
  orgId: z.string().optional(),
  settings: orgSettings.optional(),
  apps: z.record(z.string(), appSettings).default({}),
  budgets: z.record(z.string(), budget).default({}),
  pricesOfLabels: z.record(z.string(), prices).default({}),
  limits: z
    .strictObject({
      system: z
        .strictObject({ limits: limits.default([]), onUnavailable: z.enum(['ALLOW', 'BLOCK']).optional() })
        .optional(),
      resources: z.record(z.string(), limits).default({}),
      entities: z
        .record(
          z.string(),
          z.strictObject({ default: limits.optional(), resources: z.record(z.string(), limits).default({}) }),
        )
        .default({}),
    })
    .optional(),
});
const model = z.strictObject({
  modelId: z.string(),
  provider: z.string().optional(),
  tier: z.string().optional(),
  family: z.string().optional(),
  description: z.string().optional(),
  prices: prices.optional(),
});
const fileSchema = z.strictObject({
  manager: z.string().default('tollgate.yaml'),
  models: z.record(z.string(), model).optional(),
  orgs: z.array(orgSection).default([]),
});

type OrgSection = z.infer<typeof orgSection>;
type ModelSection = z.infer<typeof model>;

/** The things of one org, or of the platform, that a file describes. */
export interface FileTenant {
  /** Absent: the platform if `isPlatform`, else the org of the caller. */
  readonly orgId?: string;
  readonly isPlatform?: true;
  readonly items: ReadonlyMap<string, ItemDocument>;
}

export interface ConfigFile {
  readonly manager: string;
  readonly tenants: readonly FileTenant[];
}

/** Reads `tollgate.yaml`. Throws one error that names every fault. */
export function parseConfigFile(text: string): ConfigFile {
  const parsed = fileSchema.safeParse(parse(text) ?? {});
  if (!parsed.success)
    throw new Error(
      `the file has faults:\n${parsed.error.issues
        .map(({ path, message }) => `  - ${path.join('.') || 'file'}: ${message}`)
        .join('\n')}`,
    );
  const { manager, models, orgs } = parsed.data;
  const ids = orgs.map(({ orgId }) => orgId ?? '');
  if (new Set(ids).size < ids.length) throw new Error('the file lists an org twice; put all of it in one place');
  const platform = models ? [{ isPlatform: true as const, items: modelItems(models) }] : [];
  const tenants = orgs.map((org) => ({
    ...(org.orgId === undefined ? {} : { orgId: org.orgId }),
    items: orgItems(org),
  }));
  return { manager, tenants: [...platform, ...tenants] };
}

const modelItems = (models: Readonly<Record<string, ModelSection>>): Map<string, ItemDocument> =>
  new Map(
    Object.entries(models).map(([label, { prices: given, ...facts }]) => [
      itemName('model', label),
      { ...facts, ...(given ? { prices: sortedPrices(given) } : {}) },
    ]),
  );

function orgItems({
  settings: own,
  apps,
  budgets,
  pricesOfLabels,
  limits: levels,
}: OrgSection): Map<string, ItemDocument> {
  const entities = Object.entries(levels?.entities ?? {});
  const level = (...parts: string[]) => itemName('limits', ...parts);
  return new Map<string, ItemDocument>([
    ...(own ? [[itemName('org'), withSortedLabels(own)] as const] : []),
    ...Object.entries(apps).map(([appId, app]) => [itemName('app', appId), appDocument(app)] as const),
    ...Object.entries(budgets).map(([name, each]) => [itemName('budget', name), each] as const),
    ...Object.entries(pricesOfLabels).map(
      ([label, given]) => [itemName('price', label), { prices: sortedPrices(given) }] as const,
    ),
    ...(levels?.system
      ? [[level('system'), levelDocument(levels.system.limits, levels.system.onUnavailable)] as const]
      : []),
    ...Object.entries(levels?.resources ?? {}).map(
      ([resource, given]) => [level('resource', resource), levelDocument(given)] as const,
    ),
    ...entities.flatMap(([entityId, each]) => [
      ...(each.default ? [[level('entity', entityId), levelDocument(each.default)] as const] : []),
      ...Object.entries(each.resources).map(
        ([resource, given]) => [level('entity', entityId, resource), levelDocument(given)] as const,
      ),
    ]),
  ]);
}

/** The labels are a set. */
const withSortedLabels = <T extends { readonly hardQuotas?: string[] | undefined }>({ hardQuotas, ...others }: T) => ({
  ...others,
  ...(hardQuotas ? { hardQuotas: [...hardQuotas].sort() } : {}),
});

/** Quotas of an app are ADVISORY unless the file says otherwise. */
const appDocument = ({ hardQuotas, ...app }: z.infer<typeof appSettings>): ItemDocument =>
  app.quotasUsdMicros ? withSortedLabels({ ...app, hardQuotas: hardQuotas ?? [] }) : app;

/** Limits with their defaults, by name, as the gateway has them. */
export function levelDocument(specs: readonly string[], onUnavailable?: string): ItemDocument {
  const complete = specs.map((spec) => completeLimit(parseLimit(spec)));
  return {
    limits: Object.fromEntries(complete.map(({ name, ...limit }) => [name, limit])),
    ...(onUnavailable ? { onUnavailable } : {}),
  };
}

interface PriceRow {
  readonly name: string;
  readonly usdMicrosPer1M: number;
  readonly above: number;
}

export const sortedPrices = (rows: readonly PriceRow[]): PriceRow[] =>
  rows
    .map(({ name, usdMicrosPer1M, above }) => ({ name, usdMicrosPer1M, above }))
    .sort((a, b) => (a.name === b.name ? a.above - b.above : a.name < b.name ? -1 : 1));

/** The file that describes these things. `parseConfigFile` reads the same from it. */
export function configFileText({ manager, tenants }: ConfigFile): string {
  const platform = tenants.find(({ isPlatform }) => isPlatform);
  const file = {
    manager,
    ...(platform ? { models: section(platform.items, 'model') } : {}),
    orgs: tenants.filter(({ isPlatform }) => !isPlatform).map(orgText),
  };
  return stringify(file, { lineWidth: 120 });
}

const section = (items: FileTenant['items'], kind: string): Record<string, ItemDocument> =>
  Object.fromEntries(
    [...items].flatMap(([item, document]) => {
      const name = parseItem(item);
      return name.kind === kind ? [[name.parts[0] ?? '', document]] : [];
    }),
  );

function orgText({ orgId, items }: FileTenant): object {
  const own = items.get(itemName('org'));
  const priceSection = Object.entries(section(items, 'price')).map(([label, document]) => [label, document.prices]);
  const parts = {
    apps: section(items, 'app'),
    budgets: section(items, 'budget'),
    pricesOfLabels: Object.fromEntries(priceSection),
    limits: limitsText(items),
  };
  return {
    ...(orgId === undefined ? {} : { orgId }),
    ...(own ? { settings: own } : {}),
    ...Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0)),
  };
}

function limitsText(items: FileTenant['items']): object {
  let system: object | undefined;
  const resources: Record<string, string[]> = {};
  const entities: Record<string, { default?: string[]; resources?: Record<string, string[]> }> = {};
  for (const [item, document] of items) {
    const { kind, parts } = parseItem(item);
    if (kind !== 'limits') continue;
    const [level, name = '', resource] = parts;
    const specs = specsOf(document);
    if (level === 'system') {
      const { onUnavailable } = document;
      system = { limits: specs, ...(onUnavailable ? { onUnavailable } : {}) };
    } else if (level === 'resource') resources[name] = specs;
    else {
      entities[name] ??= {};
      const entity = entities[name];
      if (resource === undefined) entity.default = specs;
      else entity.resources = { ...entity.resources, [resource]: specs };
    }
  }
  return {
    ...(system ? { system } : {}),
    ...(Object.keys(resources).length > 0 ? { resources } : {}),
    ...(Object.keys(entities).length > 0 ? { entities } : {}),
  };
}

const specsOf = ({ limits: byName }: ItemDocument): string[] =>
  Object.entries(byName as Readonly<Record<string, Omit<Limit, 'name'>>>).map(([name, limit]) =>
    limitText({ ...limit, name }),
  );
