import { randomUUID } from 'node:crypto';
import { allLimits, type Shard } from '../../src/limits/buckets/shard.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { Chance, testSeed } from '../support/chance.js';
import { frozenNoon } from '../support/clock.js';
import * as op from '../support/operations.js';
import { hourMs, newTenant } from '../worker/costs.js';
import {
  availableIn,
  CheckedBuckets,
  entityIds,
  exact,
  isLess,
  type LimitReference,
  names,
  plus,
  resource,
  type Spec,
  text,
  tokens,
} from './limit-conservation-reference.js';

const clock = frozenNoon();
let app: TestApp;
let other: TestApp;

beforeAll(async () => {
  app = await startTestApp({ clock, config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
});
afterAll(async () => {
  await other.stop();
  await app.stop();
  app.tableAdmin.client.destroy();
});

interface HeldOut {
  readonly bucket: string;
  readonly referenceId: string;
  readonly name: string;
  milli: bigint;
}
interface HeldLease {
  readonly leaseId: string;
  readonly outs: HeldOut[];
  readonly input: op.AcquireInput;
  readonly untilMs: number;
  adjusts: number;
}

/** One random sequence of operations through both gateways. */
class Sequence extends CheckedBuckets {
  private leases: HeldLease[] = [];
  granted = 0;
  refused = 0;
  demanded = 0;
  /** Retry times that were tried and found exact. */
  confirmedRetries = 0;

  async run(steps: number): Promise<void> {
    await this.readNamespace();
    await this.setLimits('RESOURCE', undefined);
    for (let i = 0; i < steps; i++) await this.step();
    for (const entityId of entityIds) {
      await this.demand(entityId);
      await this.checkUsage(entityId);
    }
  }

  private async readNamespace(): Promise<void> {
    this.namespace = await app.gateway.services.namespaces.of(this.orgId);
  }

  private async step(): Promise<void> {
    const { chance } = this;
    this.advance(
      chance.hit(0.8) ? chance.below(chance.one([1, 50, 3000, 60_000])) : chance.below(chance.one([600_000, hourMs])),
    );
    const luck = chance.below(100);
    const entityId = chance.one(entityIds);
    if (luck < 40) await this.acquire(entityId);
    else if (luck < 46) await this.acquireTogether(entityId);
    else if (luck < 60) await this.adjust();
    else if (luck < 68) await this.release();
    else if (luck < 76) await this.setLimits(chance.one(['ENTITY', 'RESOURCE'] as const), entityId);
    else if (luck < 79) await this.deleteLimits(entityId);
    else if (luck < 87) await this.reshard(entityId, 'double');
    else if (luck < 92) await this.reshard(entityId, 'halve');
    else if (luck < 95) await this.demand(entityId);
    else if (luck < 97) await this.checkUsage(entityId);
    else if (luck < 99) await this.deleteEntity(entityId);
    else await this.purge();
  }

  private advance(ms: number): void {
    clock.advance(ms);
    this.leases = this.leases.filter(({ untilMs }) => untilMs > clock.nowMs());
  }

  private spec(name: string): op.LimitInput {
    const { chance } = this;
    const capacity = chance.one([1, 7, 40, 64, 320, 1024, 3200, 6400]);
    return {
      name,
      capacity,
      refillPeriodSecs: chance.one([1, 7, 60, 3600]),
      ...(chance.hit(0.3) ? { burst: capacity * chance.between(1, 3) } : {}),
      ...(chance.hit(0.3) ? { refillAmount: chance.between(1, capacity) } : {}),
    };
  }

  private specs(): op.LimitInput[] {
    return this.chance
      .shuffled(names)
      .slice(0, this.chance.between(1, names.length))
      .map((name) => this.spec(name));
  }

  /** Without this a gateway would see a change within two seconds. */
  private async refreshGateways(): Promise<void> {
    for (const { gateway } of [app, other]) await gateway.services.changes.refresh();
  }

  private async setLimits(level: 'ENTITY' | 'RESOURCE', entityId: string | undefined): Promise<void> {
    const limits = this.specs();
    const isRefreshed = this.chance.hit(0.7);
    this.note('setLimits', level, entityId, limits, isRefreshed);
    await this.via().admin.ask(op.SetLimitsDocument, {
      input: {
        orgId: this.orgId,
        level,
        resource,
        limits,
        ...(level === 'ENTITY' ? { entityId: entityId ?? 'a' } : {}),
      },
    });
    if (isRefreshed) await this.refreshGateways();
    for (const each of entityIds) await this.check(each);
  }

  private async deleteLimits(entityId: string): Promise<void> {
    this.note('deleteLimits', entityId);
    await this.via().admin.ask(op.DeleteLimitsDocument, {
      input: { orgId: this.orgId, level: 'ENTITY', entityId, resource },
    });
    if (this.chance.hit(0.7)) await this.refreshGateways();
    await this.check(entityId);
  }

  private async acquire(entityId: string): Promise<void> {
    const { chance } = this;
    const isOwn = chance.hit(0.2);
    const limits = isOwn
      ? this.specs()
      : (await this.effective(entityId)).map(({ name, burst }) => ({ name, capacity: burst }));
    const requested = chance.shuffled(limits).slice(0, chance.between(1, limits.length));
    // One entity requests little, so that its bucket may have many shards.
    const maxShare = entityId === 'b' ? 1 / 32 : 1;
    const consume = requested.map(({ name, capacity }) => ({
      limit: name,
      amount: Math.floor(chance.fraction() ** 2 * (capacity * maxShare + 1)),
    }));
    const input: op.AcquireInput = {
      orgId: this.orgId,
      entityId,
      resource,
      consume,
      ...(isOwn ? { limits } : {}),
      ...(chance.hit(0.3) ? { requestId: randomUUID() } : {}),
    };
    await this.take(input, this.via());
  }

  private async effective(entityId: string): Promise<readonly { readonly name: string; readonly burst: number }[]> {
    const { resolution } = app.gateway.services;
    const { set } = await resolution.resolveFresh({ orgId: this.orgId, namespace: this.namespace, entityId, resource });
    if (!set) throw new Error('no limits');
    return set.limits;
  }

  /** Acquires and records a grant. Returns whether it was granted. */
  private async take(input: op.AcquireInput, via: TestApp): Promise<boolean> {
    const { entityId, consume, limits } = input;
    const isOwn = limits !== undefined;
    this.note('acquire', via === app ? 1 : 2, entityId, consume, limits, input.requestId);
    let { acquire } = await via.admin.ask(op.AcquireDocument, { input });
    let shards = await this.readBucket(entityId, isOwn);
    const nowMs = clock.nowMs();
    const isEnough = (): boolean =>
      (shards[0]?.limits ?? []).every(({ name }) => {
        const amount = consume.find(({ limit }) => limit === name)?.amount ?? 0;
        return !isLess(availableIn(shards, name, nowMs), exact(BigInt(amount) * 1000n));
      });
    if (acquire.__typename === 'RateLimited' && shards.length > 0 && isEnough()) {
      // A refusal from the cache of this gateway, which holds it for at most a second.
      clock.age(1001);
      this.note('again');
      ({ acquire } = await via.admin.ask(op.AcquireDocument, { input }));
      shards = await this.readBucket(entityId, isOwn);
      if (acquire.__typename === 'RateLimited') throw new Error(`refused an available amount: ${acquire.message}`);
    }
    if (acquire.__typename === 'RateLimited') {
      this.refused++;
      await this.check(entityId, isOwn);
      await this.retry(input, acquire.retryAfterSecs);
      return false;
    }
    this.recordGrant(input, acquire.leaseId, shards);
    await this.check(entityId, isOwn);
    return true;
  }

  /** Checks that a refused acquire is granted at the promised millisecond and not one earlier. */
  private async retry(input: op.AcquireInput, afterSecs: number): Promise<void> {
    const waitMs = Math.round(afterSecs * 1000);
    expect(waitMs).toBeGreaterThan(0);
    if (!this.chance.hit(0.5)) return;
    const { requestId: _, ...again } = input;
    const early = this.via();
    // A cached refusal does not include what others have taken since.
    clock.age(1001);
    const { acquire } = await early.admin.ask(op.AcquireDocument, { input: again });
    if (acquire.__typename !== 'RateLimited') throw new Error('granted after a refusal');
    const retryMs = Math.round(acquire.retryAfterSecs * 1000);
    if (retryMs > hourMs) return;
    this.advance(retryMs - 1);
    this.note('too early', early === app ? 1 : 2);
    expect((await early.admin.ask(op.AcquireDocument, { input: again })).acquire.__typename).toBe('RateLimited');
    this.advance(1);
    if (!(await this.take(again, this.via()))) throw new Error(`refused at the promised time, after ${retryMs} ms`);
    this.confirmedRetries++;
  }

  private recordGrant(input: op.AcquireInput, leaseId: string, shards: readonly Shard[]): void {
    const { entityId, consume, limits } = input;
    const bucket = this.bucketName(entityId, limits !== undefined);
    const nowMs = clock.nowMs();
    const outs = (shards[0]?.limits ?? []).map(({ name }): HeldOut => {
      const [referenceId, reference] = this.referenceOf(bucket, shards, name) as readonly [string, LimitReference];
      const milli = BigInt(consume.find(({ limit }) => limit === name)?.amount ?? 0) * 1000n;
      const had = reference.at(nowMs);
      if (isLess(had, exact(milli))) throw new Error(`${referenceId} granted ${milli} of ${text(had)}`);
      reference.move(milli, nowMs);
      this.count(entityId, name, milli);
      return { bucket, referenceId, name, milli };
    });
    this.granted++;
    this.events.set(entityId, (this.events.get(entityId) ?? 0) + 1);
    this.leases.push({ leaseId, outs, input, untilMs: nowMs + 20 * hourMs, adjusts: 0 });
  }

  /** Concurrent acquires through both gateways: every grant was available. */
  private async acquireTogether(entityId: string): Promise<void> {
    await this.refreshGateways();
    const limits = await this.effective(entityId);
    const { name, burst } = this.chance.one(limits);
    // The first acquire stamps the bucket with the current limits, so that no other is granted by older ones.
    if (
      !(await this.take({ orgId: this.orgId, entityId, resource, consume: [{ limit: name, amount: 0 }] }, this.via()))
    )
      return;
    const requests = Array.from({ length: this.chance.between(2, 8) }, () => ({
      via: this.via(),
      amount: Math.floor(this.chance.fraction() ** 2 * (burst + 1)),
    }));
    this.note(
      'together',
      entityId,
      name,
      requests.map(({ via, amount }) => [via === app ? 1 : 2, amount]),
    );
    const inputs = requests.map(({ amount }) => ({
      orgId: this.orgId,
      entityId,
      resource,
      consume: [{ limit: name, amount }],
    }));
    const responses = await Promise.all(
      requests.map(({ via }, i) => via.admin.ask(op.AcquireDocument, { input: inputs[i] as op.AcquireInput })),
    );
    const shards = await this.readBucket(entityId, false);
    for (const [i, { acquire }] of responses.entries())
      if (acquire.__typename === 'Lease') this.recordGrant(inputs[i] as op.AcquireInput, acquire.leaseId, shards);
    await this.check(entityId);
  }

  /** Records a change of a lease, for the limits that still are those that it took from. */
  private async settle(
    lease: HeldLease,
    deltas: readonly { readonly name: string; readonly milli: bigint }[],
    isFinal: boolean,
  ): Promise<void> {
    const { entityId, limits } = lease.input;
    const shards = await this.readBucket(entityId, limits !== undefined);
    const bucket = this.bucketName(entityId, limits !== undefined);
    const [first] = shards;
    const present = new Set((first ? allLimits(first) : []).map((limit) => this.idOfReference(bucket, first, limit)));
    for (const { name, milli } of deltas) {
      const out = lease.outs.find((each) => each.name === name) as HeldOut;
      const isThere = present.has(out.referenceId);
      if (isThere) {
        (this.references.get(out.referenceId) as LimitReference).move(milli, clock.nowMs());
        this.count(entityId, name, milli);
      }
      if (!isFinal && (isThere || milli < 0n)) out.milli += milli;
    }
    await this.check(entityId, limits !== undefined);
  }

  private async adjust(): Promise<void> {
    const { chance } = this;
    if (this.leases.length === 0) return;
    const lease = chance.one(this.leases);
    const isFinal = chance.hit(0.3);
    if (!isFinal && lease.adjusts++ >= 16) return;
    const outs = chance.shuffled(lease.outs).slice(0, chance.between(1, lease.outs.length));
    const adjust = outs.map(({ name, milli }) => {
      const held = Number(milli / 1000n);
      const isDown = !isFinal && chance.hit(0.5);
      return { limit: name, amount: isDown ? -chance.below(held + 1) : chance.below(chance.one([3, 100, 2000])) };
    });
    const via = this.via();
    this.note(
      'adjust',
      via === app ? 1 : 2,
      lease.input.entityId,
      lease.outs.map(({ referenceId }) => referenceId),
      adjust,
      isFinal ? 'final' : 'keyed',
    );
    const input = { leaseId: lease.leaseId, adjust, ...(isFinal ? {} : { idempotencyKey: randomUUID() }) };
    const { adjustLease } = await via.admin.ask(op.AdjustLeaseDocument, { input });
    expect(adjustLease.replayed).toBe(false);
    if (!isFinal && chance.hit(0.2))
      expect((await this.via().admin.ask(op.AdjustLeaseDocument, { input })).adjustLease.replayed).toBe(true);
    await this.settle(
      lease,
      adjust.map(({ limit, amount }) => ({ name: limit, milli: BigInt(amount) * 1000n })),
      isFinal,
    );
  }

  private async release(): Promise<void> {
    const { chance } = this;
    if (this.leases.length === 0) return;
    const [lease] = this.leases.splice(chance.below(this.leases.length), 1) as [HeldLease];
    const via = this.via();
    const { requestId } = lease.input;
    if (requestId && chance.hit(0.5)) {
      this.note('repeat', lease.input);
      const { acquire } = await this.via().admin.ask(op.AcquireDocument, { input: lease.input });
      expect(acquire).toMatchObject({ __typename: 'Lease', replayed: true });
    }
    this.note(
      'release',
      via === app ? 1 : 2,
      lease.input.entityId,
      lease.outs.map(({ referenceId, milli }) => [referenceId, String(milli)]),
    );
    expect((await via.admin.ask(op.ReleaseLeaseDocument, { leaseId: lease.leaseId })).releaseLease.replayed).toBe(
      false,
    );
    await this.settle(
      lease,
      lease.outs.map(({ name, milli }) => ({ name, milli: -milli })),
      false,
    );
    if (chance.hit(0.2))
      expect(
        (await this.via().admin.ask(op.ReleaseLeaseDocument, { leaseId: lease.leaseId })).releaseLease.replayed,
      ).toBe(true);
    if (requestId && chance.hit(0.2))
      expect(await this.via().admin.codeOf(op.AcquireDocument, { input: lease.input })).toBe('LEASE_EXPIRED');
    await this.check(lease.input.entityId, lease.input.limits !== undefined);
  }

  /** Changes the number of shards once or several times. The available amount is conserved. */
  private async reshard(entityId: string, how: 'double' | 'halve'): Promise<void> {
    const id = this.idOf(entityId, this.chance.hit(0.2));
    for (let i = this.chance.between(1, 3); i > 0; i--) {
      const before = await this.readBucket(entityId, id.isOwn === true);
      const via = this.via();
      const isDone = await via.gateway.services.buckets[how](id);
      this.note(how, via === app ? 1 : 2, id, before.length, isDone);
      const after = await this.check(entityId, id.isOwn === true);
      if (isDone) expect(after.length).toBe(how === 'double' ? before.length * 2 : Math.ceil(before.length / 2));
      for (const { name } of before[0] ? allLimits(before[0]) : []) {
        const [had, has] = [availableIn(before, name, clock.nowMs()), availableIn(after, name, clock.nowMs())];
        if (isLess(had, has)) throw new Error(`${how} minted ${name}: ${text(had)} became ${text(has)}`);
        if (isLess(plus(has, exact(how === 'double' ? 0n : 1n)), had))
          throw new Error(`${how} lost ${name}: ${text(had)} became ${text(has)}`);
      }
    }
  }

  /** Requests everything again and again. At least 95 % of it must be granted. */
  private async demand(entityId: string): Promise<void> {
    await this.refreshGateways();
    const [{ name = '', burst = 0 } = {}] = await this.effective(entityId);
    const request = (amount: number) =>
      this.take({ orgId: this.orgId, entityId, resource, consume: [{ limit: name, amount }] }, this.via());
    this.note('demand', entityId, name);
    if (!(await request(0))) return;
    const bucket = this.bucketName(entityId, false);
    const current = () => {
      const shards = this.shards.get(bucket) ?? [];
      return { shards, has: availableIn(shards, name, clock.nowMs()) };
    };
    const first = current().shards[0]?.limits.find((limit) => limit.name === name) as Spec;
    const begunMs = clock.nowMs();
    let [due, had] = [current().has, 0n];
    for (let round = 0; round < 4; round++) {
      // The steps are too short to fill it, and each round divides the available amount over several requests.
      let left = tokens(current().has);
      for (let i = 0; i < 6 && left > 0n; i++) {
        const amount = i === 5 || this.chance.hit(0.3) ? Number(left) : this.chance.below(Number(left)) + 1;
        const all = this.shards.get(bucket)?.[0]?.limits ?? [];
        const isBlocked = all.some((limit) =>
          isLess(availableIn(this.shards.get(bucket) ?? [], limit.name, clock.nowMs()), exact(0n)),
        );
        if (isBlocked || amount > burst) return;
        if (await request(amount)) had += BigInt(amount) * 1000n;
        left = tokens(current().has);
      }
      const stepMs = Number((first.burstMilli * first.refillPeriodMs) / first.refillMilli / 3n);
      if (stepMs > hourMs) break;
      if (round < 3) this.advance(stepMs);
    }
    due = plus(due, exact(BigInt(clock.nowMs() - begunMs) * first.refillMilli, first.refillPeriodMs));
    this.demanded++;
    // Less than a token may be left.
    if (isLess(exact(had + 1000n), { n: due.n * 95n, d: due.d * 100n }))
      throw new Error(`${name} gave ${had} of ${text(due)} under demand`);
  }

  private async deleteEntity(entityId: string): Promise<void> {
    this.note('deleteEntity', entityId);
    await this.via().admin.ask(op.DeleteEntityDocument, { orgId: this.orgId, entityId });
    await this.refreshGateways();
    for (const isOwn of [false, true]) {
      this.shards.delete(this.bucketName(entityId, isOwn));
      expect(await this.readBucket(entityId, isOwn)).toEqual([]);
    }
    await this.checkUsage(entityId);
  }

  private async purge(): Promise<void> {
    this.note('purge');
    await this.via().admin.ask(op.PurgeLimiterDocument, { orgId: this.orgId });
    await this.refreshGateways();
    await this.readNamespace();
    const purged = this.leases.splice(0);
    this.shards.clear();
    this.references.clear();
    this.used.clear();
    this.events.clear();
    for (const { leaseId } of purged.slice(0, 2))
      expect(await this.via().admin.codeOf(op.ReleaseLeaseDocument, { leaseId })).toBe('NOT_FOUND');
    await this.setLimits('RESOURCE', undefined);
  }
}

const sequences = Number(process.env.CONSERVATION_SEQUENCES ?? 5);
const steps = Number(process.env.CONSERVATION_STEPS ?? 120);

it.each(Array.from({ length: sequences }, (_, i) => testSeed + i))(
  'mints no tokens and loses none in a random sequence of operations through two gateways (seed %i)',
  async (seed) => {
    const { orgId } = await newTenant(app, {}, []);
    const sequence = new Sequence({ clock, gateways: [app, other], orgId, chance: new Chance(seed) });
    try {
      await sequence.run(steps);
    } catch (error) {
      // TOLLGATE_TEST_SEED reproduces the sequence.
      throw new Error(`seed ${seed}: ${(error as Error).message}\n${sequence.trace.slice(-60).join('\n')}`, {
        cause: error,
      });
    }
    const { granted, refused, demanded, confirmedRetries, maxShards } = sequence;
    if (process.env.CONSERVATION_STEPS) console.log({ seed, granted, refused, demanded, confirmedRetries, maxShards });
    expect(granted).toBeGreaterThan(steps / 10);
  },
);
