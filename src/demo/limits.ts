import type { Services } from '../app.js';
import type { DemoHour } from './history.js';
import {
  acquiresOf,
  allowance,
  burstSize,
  type EntityProfile,
  entityProfiles,
  exportResource,
  exportsOf,
  minuteLimits,
  modelResource,
} from './limits-plan.js';
import { patiently } from './patience.js';
import { SeededRandom } from './random.js';
import type { DemoTenant } from './tenant.js';

export interface DemoLimitsDeps {
  readonly services: Services;
  readonly tenant: DemoTenant;
  readonly days: number;
}

/** The allowance of this entity is nearly used up at the end. */
const exporter = 'team-data';
const leftOfAllowance = 0.06;
const lastTokens = 800;

/** The entities and acquires of the demo org. */
export class DemoLimits {
  acquires = 0;
  refused = 0;
  private readonly random = new SeededRandom(0x11317);

  constructor(private readonly deps: DemoLimitsDeps) {}

  private get orgId(): string {
    return this.deps.tenant.org.orgId;
  }

  async create(): Promise<void> {
    const { services, tenant } = this.deps;
    const { limitConfigs, entities } = services;
    const set = (request: Parameters<typeof limitConfigs.set>[1]) =>
      limitConfigs.set(this.orgId, request, tenant.owner());
    await set({ level: 'RESOURCE', resource: modelResource, limits: minuteLimits(60, 40_000) });
    await set({ level: 'RESOURCE', resource: exportResource, limits: [allowance] });
    for (const { entityId, name, parentId, limits } of entityProfiles) {
      const entity = { entityId, name, parentId, cascade: parentId !== undefined, metadata: [] };
      await entities.create(this.orgId, entity, tenant.owner());
      if (limits) await set({ level: 'ENTITY', entityId, resource: modelResource, limits: minuteLimits(...limits) });
    }
  }

  /** The acquires of one hour. They are sent at once, so those of one bucket share a write. */
  async step(hour: DemoHour): Promise<void> {
    const { services, days } = this.deps;
    const planned = entityProfiles.flatMap((entity) =>
      acquiresOf(entity, hour, days, this.random).map((tokens) => ({ entity, tokens })),
    );
    const pages = exportsOf(hour, this.random);
    await Promise.all([
      ...planned.map(({ entity, tokens }) => this.callModel(entity, tokens)),
      ...(pages > 0 ? [this.exportPages(pages)] : []),
    ]);
    // Counted refusals are stored by hour, and the clock is about to leave this one.
    while (await services.refusals.flush());
  }

  /** A few acquires at the real time: every entity is active, one is refused, and one allowance is nearly used up. */
  async finish(): Promise<void> {
    const { services } = this.deps;
    const members = entityProfiles.filter(({ parentId }) => parentId !== undefined);
    await Promise.all(members.map((entity) => this.callModel(entity, lastTokens)));
    const ben = members.find(({ entityId }) => entityId === 'ben') as EntityProfile;
    await Promise.all(Array.from({ length: burstSize }, () => this.callModel(ben, 100)));
    const consume = [{ limit: allowance.name, amount: 1 }];
    const { statuses } = await patiently(() =>
      services.limits.availability(this.orgId, { entityId: exporter, resource: exportResource, consume }),
    );
    const pages = Math.floor((statuses[0]?.available ?? 0) - leftOfAllowance * allowance.capacity);
    if (pages > 0) await this.exportPages(pages);
    while (await services.refusals.flush());
  }

  private callModel({ entityId }: EntityProfile, tokens: number): Promise<void> {
    return this.acquire(entityId, modelResource, [
      { limit: 'rpm', amount: 1 },
      { limit: 'tpm', amount: tokens },
    ]);
  }

  private exportPages(pages: number): Promise<void> {
    return this.acquire(exporter, exportResource, [{ limit: allowance.name, amount: pages }]);
  }

  private async acquire(
    entityId: string,
    resource: string,
    consume: readonly { readonly limit: string; readonly amount: number }[],
  ): Promise<void> {
    const { limits } = this.deps.services;
    const result = await patiently(() => limits.acquire(this.orgId, { entityId, resource, consume }));
    this.acquires++;
    if (result.kind === 'RateLimited') this.refused++;
  }
}
