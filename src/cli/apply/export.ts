import type { FileTenant } from './file.js';
import { itemName } from './item.js';
import { type ApplyApi, allNodes, type TenantName } from './live.js';
import type { ApplyTarget } from './target.js';

const pageInfo = 'pageInfo { hasNextPage endCursor }';
type EntityIdPage = {
  readonly nodes: readonly { readonly entityId: string }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
};

const resourcesDocument = 'query ($orgId: UUID) { org(orgId: $orgId) { limitConfigs { resource } } }';
const entitiesDocument = `query ($orgId: UUID, $after: String) { org(orgId: $orgId) {
  entities(first: 100, after: $after) { nodes { entityId } ${pageInfo} } } }`;
const limitedDocument = `query ($orgId: UUID, $resource: String!, $after: String) { org(orgId: $orgId) {
  entitiesWithLimits(resource: $resource, first: 100, after: $after) { nodes { entityId } ${pageInfo} } } }`;

/**
 * The levels that may have limits: the system, every resource with limits of its own, each created entity, and each
 * entity with limits for one of these resources.
 */
export async function levelsOf(api: ApplyApi, { orgId }: TenantName): Promise<string[]> {
  const { org } = await api.query<{ org: { limitConfigs: readonly { resource: string | null }[] } }>(
    resourcesDocument,
    {
      orgId,
    },
  );
  const resources = org.limitConfigs.flatMap(({ resource }) => resource ?? []);
  const entities = await allNodes(async (after) => {
    const page = await api.query<{ org: { entities: EntityIdPage } }>(entitiesDocument, { orgId, after });
    return page.org.entities;
  });
  const items = [
    itemName('limits', 'system'),
    ...resources.map((resource) => itemName('limits', 'resource', resource)),
  ];
  items.push(...entities.map(({ entityId }) => itemName('limits', 'entity', entityId)));
  for (const resource of resources) {
    const limited = await allNodes(async (after) => {
      const variables = { orgId, resource, after };
      const page = await api.query<{ org: { entitiesWithLimits: EntityIdPage } }>(limitedDocument, variables);
      return page.org.entitiesWithLimits;
    });
    items.push(...limited.map(({ entityId }) => itemName('limits', 'entity', entityId, resource)));
  }
  return items;
}

/** Everything that a file can describe, as the gateway has it now. */
export async function exportTenant(target: ApplyTarget, api: ApplyApi): Promise<FileTenant> {
  const { tenant } = target;
  const records = await target.readRecords();
  const levels = tenant.isPlatform ? [] : await levelsOf(api, tenant);
  const live = await target.readLive([...levels, ...records.keys()]);
  const items = [...live].flatMap(([item, { document }]) => (document ? [[item, document] as const] : []));
  return { ...tenant, items: new Map(items.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

const orgsDocument = `query ($after: String) { orgs(first: 100, after: $after) { nodes { orgId } ${pageInfo} } }`;

/** The tenants that a caller can export: one org, or for the platform admin the catalog and all orgs. */
export async function exportedTenants(api: ApplyApi, orgId: string | undefined): Promise<TenantName[]> {
  if (orgId !== undefined) return [{ orgId }];
  const { me } = await api.query<{ me: { kind: string } }>('{ me { kind } }');
  if (me.kind !== 'PLATFORM_ADMIN') return [{}];
  const orgs = await allNodes(async (after) => {
    const page = await api.query<{
      orgs: { nodes: { orgId: string }[]; pageInfo: EntityIdPage['pageInfo'] };
    }>(orgsDocument, { after });
    return page.orgs;
  });
  return [{ isPlatform: true }, ...orgs.map((org) => ({ orgId: org.orgId }))];
}
