import { randomUUID } from 'node:crypto';
import type { Item } from '../../src/dynamo/client.js';
import type { BucketId } from '../../src/limits/limiter-keys.js';
import { orgInput, startTestApp, type TestApp, type TestOptions } from './app.js';
import { frozenNoon, type ManualClock } from './clock.js';
import * as op from './operations.js';

export const resource = 'api';
export type Amounts = Readonly<Record<string, number>>;
type Acquired = NonNullable<op.AcquireMutation['acquire']>;
export type Lease = Extract<Acquired, { __typename: 'Lease' }>;
export type Refusal = Extract<Acquired, { __typename: 'RateLimited' }>;
type More = Partial<op.AcquireInput> & { readonly via?: TestApp };

export const consumption = (amounts: Amounts): op.ConsumeInput[] =>
  Object.entries(amounts).map(([limit, amount]) => ({ limit, amount }));
/** Refills so slowly that nothing comes back during a test. */
export const slowLimit = (name: string, capacity: number, more: Partial<op.LimitInput> = {}): op.LimitInput => ({
  name,
  capacity,
  refillAmount: 1,
  refillPeriodSecs: 10_000_000,
  ...more,
});
export const slotLimit = (name: string, capacity: number, more: Partial<op.LimitInput> = {}): op.LimitInput => ({
  name,
  capacity,
  kind: 'CONCURRENCY',
  ...more,
});
export const times = <T>(count: number, task: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => task(i));

/** Two gateways, each with its own caches, on one database, and one org whose limits are used through them. */
export class Limiter {
  private constructor(
    readonly app: TestApp,
    readonly other: TestApp,
    readonly clock: ManualClock,
    readonly orgId: string,
    readonly namespace: string,
  ) {}

  static async start(options: TestOptions & { readonly org?: Partial<op.RegisterOrgInput> } = {}): Promise<Limiter> {
    const { org = {}, ...rest } = options;
    const clock = frozenNoon();
    const app = await startTestApp({
      clock,
      ...rest,
      config: { principalRps: 0, principalConcurrency: 0, ...rest.config },
    });
    const orgId = await newOrgId(app, org);
    return new Limiter(app, await app.another(), clock, orgId, await app.gateway.services.namespaces.of(orgId));
  }

  async stop(): Promise<void> {
    await this.other.stop();
    await this.app.stop();
    this.app.tableAdmin.client.destroy();
  }

  /** The same gateways with another org. */
  async forOrg(org: Partial<op.RegisterOrgInput>): Promise<Limiter> {
    const orgId = await newOrgId(this.app, org);
    return new Limiter(this.app, this.other, this.clock, orgId, await this.app.gateway.services.namespaces.of(orgId));
  }

  /** An entity with these limits at level ENTITY. */
  async entity(...limits: op.LimitInput[]): Promise<string> {
    const entityId = `e-${randomUUID()}`;
    await this.setLimits(entityId, ...limits);
    return entityId;
  }

  /** A child that cascades to its parent, each with these limits at level ENTITY. */
  async family(...limits: op.LimitInput[]): Promise<{ readonly child: string; readonly parent: string }> {
    const parent = await this.entity(...limits);
    return { parent, child: await this.childOf(parent, ...limits) };
  }

  async childOf(parentId: string, ...limits: op.LimitInput[]): Promise<string> {
    const child = await this.entity(...limits);
    const { app, orgId } = this;
    await app.admin.send(op.CreateEntityDocument, { input: { orgId, entityId: parentId } });
    await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId: child, parentId, cascade: true } });
    return child;
  }

  async setLimits(entityId: string, ...limits: op.LimitInput[]): Promise<void> {
    await this.app.admin.ask(op.SetLimitsDocument, {
      input: { orgId: this.orgId, level: 'ENTITY', entityId, resource, limits },
    });
  }

  /** Code and path of the issues that setLimits reports for a limit. */
  async limitIssues(limit: op.LimitInput) {
    const input = { orgId: this.orgId, level: 'ENTITY' as const, entityId: 'e', resource, limits: [limit] };
    const { errors } = await this.app.admin.send(op.SetLimitsDocument, { input });
    return errors?.flatMap(({ extensions: { code, issues } }) => (issues ?? []).map(({ path }) => [code, path]));
  }

  input(entityId: string, amounts: Amounts, more: Partial<op.AcquireInput> = {}): { readonly input: op.AcquireInput } {
    return { input: { orgId: this.orgId, entityId, resource, consume: consumption(amounts), ...more } };
  }

  async acquire(entityId: string, amounts: Amounts, { via = this.app, ...more }: More = {}): Promise<Acquired> {
    return (await via.admin.ask(op.AcquireDocument, this.input(entityId, amounts, more))).acquire;
  }

  async take(entityId: string, amounts: Amounts, more: More = {}): Promise<Lease> {
    const acquired = await this.acquire(entityId, amounts, more);
    if (acquired.__typename !== 'Lease') throw new Error(acquired.message);
    return acquired;
  }

  async refused(entityId: string, amounts: Amounts, more: More = {}): Promise<Refusal> {
    const acquired = await this.acquire(entityId, amounts, more);
    if (acquired.__typename !== 'RateLimited')
      throw new Error(`granted instead of refused: ${JSON.stringify(acquired.statuses)}`);
    return acquired;
  }

  async acquireAll(
    requests: readonly (readonly [entityId: string, amounts: Amounts, more?: Partial<op.AcquireAllRequestInput>])[],
    via = this.app,
  ) {
    const input = {
      orgId: this.orgId,
      requests: requests.map(([entityId, amounts, more]) => ({
        entityId,
        resource,
        consume: consumption(amounts),
        ...more,
      })),
    };
    return (await via.admin.ask(op.AcquireAllDocument, { input })).acquireAll;
  }

  /** With an idempotency key: applied once, and given back by a release. */
  async adjust(leaseId: string, amounts: Amounts, via = this.app) {
    const input = { leaseId, adjust: consumption(amounts), idempotencyKey: randomUUID() };
    return (await via.admin.ask(op.AdjustLeaseDocument, { input })).adjustLease;
  }

  /** Without a key: cheaper, and not given back by a release. */
  async charge(leaseId: string, amounts: Amounts, via = this.app) {
    return (await via.admin.ask(op.AdjustLeaseDocument, { input: { leaseId, adjust: consumption(amounts) } }))
      .adjustLease;
  }

  async release(leaseId: string, via = this.app) {
    return (await via.admin.ask(op.ReleaseLeaseDocument, { leaseId })).releaseLease;
  }

  async renew(leaseId: string, ttlSecs?: number, via = this.app): Promise<number> {
    return Date.parse((await via.admin.ask(op.RenewLeaseDocument, { leaseId, ttlSecs })).renewLease.renewBy);
  }

  renewCode(leaseId: string, via = this.app): Promise<string> {
    return via.admin.codeOf(op.RenewLeaseDocument, { leaseId });
  }

  async availability(entityId: string, amounts: Amounts, via = this.app) {
    return (
      await via.admin.ask(op.AvailabilityDocument, {
        orgId: this.orgId,
        entityId,
        resource,
        consume: consumption(amounts),
      })
    ).availability;
  }

  async bucket(entityId: string) {
    return (await this.app.admin.ask(op.BucketOfDocument, { orgId: this.orgId, entityId, resource })).org?.entity
      ?.bucket;
  }

  /** Available and consumed tokens by limit. */
  async balances(entityId: string): Promise<Record<string, [available: number, consumed: number]>> {
    const limits = (await this.bucket(entityId))?.limits ?? [];
    return Object.fromEntries(
      limits.map(({ limit: { name }, available, totalConsumed }) => [name, [available, totalConsumed]]),
    );
  }

  id(entityId: string): BucketId {
    return { namespace: this.namespace, entityId, resource };
  }

  /** Doubles an existing bucket until it has this many shards. */
  async shard(entityId: string, shardCount: number): Promise<void> {
    for (let count = 1; count < shardCount; count *= 2)
      if (!(await this.app.gateway.services.buckets.double(this.id(entityId))))
        throw new Error(`cannot double to ${count * 2} shards`);
  }

  /** The stored items of the entity's buckets. */
  async items(entityId: string): Promise<Item[]> {
    const { items } = await this.app.gateway.services.store.scan('limiter');
    return items.filter(({ PK }) => (PK as string).startsWith(`${this.namespace}/BUCKET#${entityId}#`));
  }

  /** The counters of the current hour by limit, after all refusals were stored. */
  async usage(entityId: string): Promise<Record<string, { consumed: number; refused: number; wouldRefuse: number }>> {
    const { app, other, clock, orgId } = this;
    for (const { gateway } of [app, other]) await gateway.services.refusals.flush();
    const hour = {
      from: new Date(clock.nowMs() - 3_600_000).toISOString(),
      to: new Date(clock.nowMs() + 3_600_000).toISOString(),
    };
    const { org } = await app.admin.ask(op.RefusalsOfDocument, {
      orgId,
      entityId,
      resource,
      window: 'HOURLY',
      ...hour,
    });
    const counters = org?.entity?.usage.nodes.at(-1)?.counters ?? [];
    return Object.fromEntries(
      counters.map(({ limit, consumed, refused, wouldRefuse }) => [limit, { consumed, refused, wouldRefuse }]),
    );
  }

  /** Makes both gateways poll the change counter. */
  async pollChanges(): Promise<void> {
    this.clock.age(5001);
    for (const { admin } of [this.app, this.other]) await admin.ask(op.OrgDocument, { orgId: this.orgId });
  }
}

async function newOrgId(app: TestApp, org: Partial<op.RegisterOrgInput>): Promise<string> {
  const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput({ timezone: 'UTC', ...org }) });
  return registerOrg.org.orgId;
}
