import { Arg, Authorized, Ctx, ID, Query, Resolver } from 'type-graphql';
import { auditEventId, auditedEntity, auditedTenant } from '../audit/audit-event.js';
import { batchIdPattern } from '../devices/reading.js';
import { maySeeAllOf, maySeeOrg, type Policy } from '../identity/viewer.js';
import { hardwareIdPattern, slug, uuidPattern } from '../lib/patterns.js';
import { entityIdPattern } from '../limits/entities/entity-id.js';
import { resourcePattern } from '../limits/limit-input.js';
import { scopeOf } from '../orgs/scope.js';
import type { Context } from './context.js';
import { Node, parseNodeId } from './node.js';

interface NodeKind {
  /** The format of each part of the id. Callers can make up ids. */
  readonly parts: readonly RegExp[];
  /** Uses a loader or a check that knows the viewer, so that an id of another tenant is not found. */
  load(parts: readonly string[], context: Context): unknown;
}

const kinds: ReadonlyMap<string, NodeKind> = new Map(
  Object.entries({
    Org: { parts: [uuidPattern], load: ([orgId = ''], { loaders }) => loaders.org(orgId) },
    App: { parts: [uuidPattern, slug], load: ([orgId = '', appId = ''], { loaders }) => loaders.app({ orgId, appId }) },
    QuotaAlert: {
      parts: [uuidPattern, /^\d{1,12}$/],
      load: async ([orgId = '', number = ''], { viewer, alertStore, loaders }) => {
        if (!maySeeOrg(viewer, orgId) || viewer.kind === 'DEVICE_KEY') return null;
        const alert = await alertStore.load(orgId, Number(number));
        const app = alert && viewer.kind === 'APP_CLIENT' ? await loaders.app(viewer) : undefined;
        return app && scopeOf(app).appId !== alert?.appId ? null : alert;
      },
    },
    Entity: {
      parts: [uuidPattern, entityIdPattern],
      load: async ([orgId = '', entityId = ''], { viewer, loaders, entities }) =>
        maySeeAllOf(viewer, orgId) && (await loaders.org(orgId)) ? entities.find(orgId, entityId) : null,
    },
    Bucket: {
      parts: [uuidPattern, entityIdPattern, resourcePattern],
      load: async ([orgId = '', entityId = '', resource = ''], { viewer, loaders, reports }) =>
        maySeeAllOf(viewer, orgId) && (await loaders.org(orgId)) ? reports.bucket(orgId, entityId, resource) : null,
    },
    Device: {
      parts: [uuidPattern, hardwareIdPattern],
      load: ([orgId = '', hardwareId = ''], { viewer, devices }) =>
        maySeeAllOf(viewer, orgId) ? devices.find({ orgId, hardwareId }) : null,
    },
    Reading: {
      parts: [uuidPattern, hardwareIdPattern, /^\d{12,13}$/, batchIdPattern],
      load: async (
        [orgId = '', hardwareId = '', timestampMs = '', batchId = ''],
        { viewer, devices, readingStore },
      ) => {
        const device = maySeeAllOf(viewer, orgId) ? await devices.find({ orgId, hardwareId }) : undefined;
        return device ? readingStore.load(device, { timestampMs: Number(timestampMs), batchId }) : null;
      },
    },
    ApiKey: {
      parts: [uuidPattern, uuidPattern],
      load: async ([orgId = '', keyId = ''], { viewer, apiKeyStore }) => {
        const found = maySeeAllOf(viewer, orgId) ? await apiKeyStore.load(keyId) : undefined;
        return found?.apiKey.orgId === orgId ? found.apiKey : null;
      },
    },
    AuditEvent: {
      parts: [auditedTenant, auditedEntity, auditEventId],
      load: ([orgId = '', entityId = '', eventId = ''], { viewer, auditStore }) =>
        maySeeAllOf(viewer, orgId) ? auditStore.load(orgId, { entityId, eventId }) : null,
    },
  } satisfies Record<string, NodeKind>),
);

@Resolver()
export class NodeResolver {
  @Authorized<Policy>('signed-in')
  @Query(() => Node, {
    nullable: true,
    description: 'The object with this global id. Null if it does not exist or belongs to another tenant.',
  })
  node(
    @Arg('id', () => ID, { description: 'The global id: the `id` of any object.' }) id: string,
    @Ctx() context: Context,
  ) {
    const [type = '', ...parts] = parseNodeId(id) ?? [];
    const kind = kinds.get(type);
    const isValid =
      kind?.parts.length === parts.length && kind.parts.every((pattern, i) => pattern.test(parts[i] ?? ''));
    return isValid ? kind.load(parts, context) : null;
  }
}
