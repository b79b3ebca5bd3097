import { canonical, type ItemDocument, itemName, parseItem } from './item.js';
import { allNodes, type LiveDeps, placeOfItem, readLevels, readTenant, type TenantName } from './live.js';
import type { ItemRecord, LiveItem } from './plan.js';

/** A record to save. Undefined deletes it. */
export type RecordUpdates = ReadonlyMap<string, Omit<ItemRecord, 'manager'> | undefined>;

interface RecordNode {
  readonly item: string;
  readonly manager: string;
  readonly document: string | null;
  readonly version: number | null;
  readonly intent: string | null;
}

const recordsDocument = `query ($orgId: UUID, $after: String) { managedItems(orgId: $orgId, first: 100, after: $after) {
  nodes { item manager document version intent } pageInfo { hasNextPage endCursor } } }`;
const saveDocument = `mutation ($input: SetManagedItemsInput!) { setManagedItems(input: $input) { item } }`;
/** The bound of `setManagedItems`. */
export const recordsPerCall = 25;

/** The reads and changes of one org, or of the platform. */
export class ApplyTarget {
  constructor(
    private readonly deps: LiveDeps,
    readonly tenant: TenantName,
  ) {}

  /** The name of the tenant for people. */
  get title(): string {
    return this.tenant.isPlatform ? 'platform' : `org ${this.tenant.orgId ?? '(your own)'}`;
  }

  async readRecords(): Promise<Map<string, ItemRecord>> {
    const nodes = await allNodes<RecordNode>(async (after) => {
      const { managedItems } = await this.deps.api.query<{
        managedItems: { nodes: RecordNode[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };
      }>(recordsDocument, { orgId: this.tenant.orgId, after });
      return managedItems;
    });
    return new Map(
      nodes.map(({ item, manager, document, version, intent }) => [
        item,
        {
          manager,
          ...(document === null ? {} : { document: JSON.parse(document) as ItemDocument }),
          ...(version === null ? {} : { version }),
          ...(intent === null ? {} : { intent: JSON.parse(intent) as ItemDocument | null }),
        },
      ]),
    );
  }

  /** These things as the gateway has them now, with everything that comes for free. */
  async readLive(items: Iterable<string>): Promise<Map<string, LiveItem>> {
    const levels = [...new Set(items)].filter((item) => parseItem(item).kind === 'limits');
    const [tenant, limits] = await Promise.all([
      readTenant(this.deps, this.tenant),
      readLevels(this.deps, this.tenant, levels),
    ]);
    return new Map([...tenant, ...limits]);
  }

  /** Idempotent. At most `recordsPerCall` at a time. */
  async saveRecords(manager: string, updates: RecordUpdates): Promise<void> {
    if (updates.size === 0) return;
    const items = [...updates].map(([item, record]) => ({
      item,
      ...(record?.document ? { document: canonical(record.document), version: record.version } : {}),
      ...(record?.intent === undefined ? {} : { intent: canonical(record.intent) }),
    }));
    await this.deps.api.query(saveDocument, { input: { orgId: this.tenant.orgId, manager, items } });
  }

  /** Makes the thing what the document says, if it still has the version of `live`. Returns its new version. */
  async set(item: string, document: ItemDocument, live: LiveItem): Promise<number> {
    const { kind, parts } = parseItem(item);
    const request = setters[kind]({ name: parts[0] ?? '', item, document, live, orgId: this.tenant.orgId });
    const data = await this.deps.api.query<Record<string, unknown>>(request.document, { input: request.input });
    return request.versionIn(data);
  }

  /** Deletes the thing if it still has this version. */
  async remove(item: string, expectedVersion: number): Promise<void> {
    const { kind, parts } = parseItem(item);
    const { document, variables } = remover(kind, {
      item,
      name: parts[0] ?? '',
      orgId: this.tenant.orgId,
      expectedVersion,
    });
    await this.deps.api.query(document, variables);
  }
}

interface SetRequest {
  readonly document: string;
  readonly input: object;
  readonly versionIn: (data: Record<string, unknown>) => number;
}
interface SetContext {
  readonly name: string;
  readonly item: string;
  readonly document: ItemDocument;
  readonly live: LiveItem;
  readonly orgId: string | undefined;
}

const versionAt = (field: string) => (data: Record<string, unknown>) =>
  (data[field] as { readonly version: number }).version;

const mutation = (field: string, type: string): Pick<SetRequest, 'document' | 'versionIn'> => ({
  document: `mutation ($input: ${type}!) { ${field}(input: $input) { version } }`,
  versionIn: versionAt(field),
});

/** The API has a list of quotas. A file has a map of amounts and a list of labels; of an org it may omit either. */
function withQuotas({ document, live }: Pick<SetContext, 'document' | 'live'>): Record<string, unknown> {
  const { quotasUsdMicros, hardQuotas, ...settings } = document;
  if (!quotasUsdMicros && !hardQuotas) return settings;
  const amounts = Object.entries(quotasUsdMicros ?? live.document?.quotasUsdMicros ?? {});
  const unknown = [hardQuotas ?? []].flat().find((label) => !amounts.some(([each]) => each === label));
  if (unknown !== undefined) throw new Error(`hardQuotas: "${unknown}" has no quota; add it to quotasUsdMicros`);
  const enforcementOf = (label: string) =>
    Array.isArray(hardQuotas) ? { enforcement: hardQuotas.includes(label) ? 'HARD' : 'ADVISORY' } : {};
  const quotas = amounts.map(([label, dailyUsdMicros]) => ({ label, dailyUsdMicros, ...enforcementOf(label) }));
  return { ...settings, quotas };
}

/** Settings that a file leaves out are inherited. */
const inherited = {
  modelOrdering: null,
  quotas: null,
  tightModeThresholdPct: null,
  refreshIntervalNormalSecs: null,
  refreshIntervalTightSecs: null,
};

const setters: Readonly<Record<ReturnType<typeof parseItem>['kind'], (context: SetContext) => SetRequest>> = {
  model: ({ name: label, document, live }) => ({
    ...mutation('upsertModel', 'UpsertModelInput'),
    input: { label, ...document, expectedVersion: live.version },
  }),
  org: ({ orgId, document, live }) => ({
    ...mutation('updateOrg', 'UpdateOrgInput'),
    input: { orgId, ...withQuotas({ document, live }), expectedVersion: live.version },
  }),
  app: ({ orgId, name: appId, document, live }) =>
    live.document
      ? {
          ...mutation('updateApp', 'UpdateAppInput'),
          input: { orgId, appId, ...inherited, ...withQuotas({ document, live }), expectedVersion: live.version },
        }
      : {
          document: 'mutation ($input: RegisterAppInput!) { registerApp(input: $input) { app { version } } }',
          versionIn: (data) => versionAt('app')(data.registerApp as Record<string, unknown>),
          input: { orgId, appId, ...withQuotas({ document, live }) },
        },
  budget: ({ orgId, name, document, live }) => ({
    ...mutation('setBudget', 'SetBudgetInput'),
    input: { orgId, name, ...document, expectedVersion: live.version },
  }),
  price: ({ orgId, name: label, document, live }) => ({
    ...mutation('setOrgPrice', 'SetOrgPriceInput'),
    input: { orgId, label, ...document, expectedVersion: live.version },
  }),
  limits: ({ orgId, item, document, live }) => ({
    ...mutation('setLimits', 'SetLimitsInput'),
    input: { orgId, ...placeOfItem(item), ...levelInput(document), expectedVersion: live.version },
  }),
};

/** The refill of calendar and concurrency limits follows from the limit, so it is not sent. */
const levelInput = ({ limits, onUnavailable }: ItemDocument) => ({
  onUnavailable,
  limits: Object.entries(limits as Readonly<Record<string, Record<string, unknown>>>).map(([name, limit]) => {
    const { burst, refillAmount, refillPeriodSecs, ...others } = limit;
    const isPlain = limit.kind === 'RATE' && !limit.window;
    return { name, ...others, ...(isPlain ? { burst, refillAmount, refillPeriodSecs } : {}) };
  }),
});

interface RemoveContext {
  readonly item: string;
  readonly name: string;
  readonly orgId: string | undefined;
  readonly expectedVersion: number;
}

function remover(
  kind: ReturnType<typeof parseItem>['kind'],
  { item, name, orgId, expectedVersion }: RemoveContext,
): { readonly document: string; readonly variables: object } {
  const versioned = { orgId, name, expectedVersion };
  switch (kind) {
    case 'model':
      return {
        document: `mutation ($name: String!, $expectedVersion: SafeInt) {
          retireModel(label: $name, expectedVersion: $expectedVersion) { version } }`,
        variables: { name, expectedVersion },
      };
    case 'app':
      return {
        document: `mutation ($orgId: UUID, $name: String!, $expectedVersion: SafeInt) {
          deleteApp(orgId: $orgId, appId: $name, expectedVersion: $expectedVersion) }`,
        variables: versioned,
      };
    case 'budget':
      return {
        document: `mutation ($orgId: UUID, $name: String!, $expectedVersion: SafeInt) {
          deleteBudget(orgId: $orgId, name: $name, expectedVersion: $expectedVersion) }`,
        variables: versioned,
      };
    case 'price':
      return {
        document: 'mutation ($input: SetOrgPriceInput!) { setOrgPrice(input: $input) { version } }',
        variables: { input: { orgId, label: name, prices: null, expectedVersion } },
      };
    case 'limits':
      return {
        document: 'mutation ($input: DeleteLimitsInput!) { deleteLimits(input: $input) }',
        variables: { input: { orgId, ...placeOfItem(item), expectedVersion } },
      };
    case 'org':
      throw new Error(`${itemName('org')} cannot be deleted`);
  }
}
