import { randomUUID } from 'node:crypto';
import { atLeast } from '../../src/dynamo/expression.js';
import { shardKey } from '../../src/limits/limiter-keys.js';
import { orgInput, startTestApp, type TestApp } from '../support/app.js';
import { stoppedClock } from '../support/clock.js';
import * as op from '../support/operations.js';
import { type Vector, vectors } from '../support/vectors.js';

type AnyVector = Vector<unknown, unknown>;
const startMs = 1_760_000_000_000;

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ clock: stoppedClock(startMs), config: { principalRps: 0, principalConcurrency: 0 } });
});
afterAll(() => app.stop());

/** Moves both clocks, and polls the change counter so that the gateway does not count it as outdated. */
async function pass(ms: number): Promise<void> {
  app.clock.advance(ms);
  await app.gateway.services.changeFeed.refresh();
}

type Amounts = Readonly<Record<string, number>>;
interface GivenLimit {
  readonly name: string;
  readonly capacity: number;
  readonly refill_amount?: number;
  readonly refill_period_seconds?: number;
}
interface FlowStep {
  readonly op: string;
  readonly entity?: string;
  readonly resource?: string;
  readonly limits?: readonly GivenLimit[];
  readonly consume?: Amounts;
  readonly needed?: Amounts;
  readonly body?: readonly { readonly adjust?: Amounts; readonly throw?: boolean }[];
  readonly ms?: number;
  readonly parent?: string;
  readonly cascade?: boolean;
  readonly limit?: string;
  readonly parentsOnly?: boolean;
}

const amounts = (given: Amounts = {}) => Object.entries(given).map(([limit, amount]) => ({ limit, amount }));
const limitInputs = (limits: readonly GivenLimit[] = []): op.LimitInput[] =>
  limits.map(({ name, capacity, refill_amount, refill_period_seconds = 60 }) => ({
    name,
    capacity,
    refillAmount: refill_amount,
    refillPeriodSecs: refill_period_seconds,
  }));
const addTo = (sum: Record<string, number>, statuses: readonly op.StatusFieldsFragment[], entityId: string) => {
  for (const { entityId: id, limit, requested } of statuses)
    if (id === entityId) sum[limit.name] = (sum[limit.name] ?? 0) + requested;
};

/** Runs the steps of the vectors on the limiter of one org. */
class Flow {
  constructor(private readonly orgId: string) {}

  static async begin(): Promise<Flow> {
    const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, { input: orgInput() });
    return new Flow(registerOrg.org.orgId);
  }

  /** The result of a step. Undefined for steps without a result in the vectors. */
  async run(step: FlowStep): Promise<unknown> {
    const { orgId } = this;
    const { entity: entityId = '', resource = '' } = step;
    switch (step.op) {
      case 'advance':
        return pass(step.ms ?? 0);
      case 'setSystemDefaults':
        return void (await this.setLimits({ level: 'SYSTEM' }, step.limits));
      case 'setResourceDefaults':
        return void (await this.setLimits({ level: 'RESOURCE', resource }, step.limits));
      case 'setLimits':
        return void (await this.setLimits(
          step.resource ? { level: 'ENTITY', entityId, resource } : { level: 'ENTITY_DEFAULT', entityId },
          step.limits,
        ));
      case 'createEntity': {
        const { errors } = await app.admin.send(op.CreateEntityDocument, {
          input: { orgId, entityId, parentId: step.parent, cascade: step.cascade ?? false },
        });
        return errors ? { ok: false, error: errors[0]?.extensions.code } : 'ok';
      }
      case 'deleteEntity':
        await app.admin.ask(op.DeleteEntityDocument, { orgId, entityId });
        return 'ok';
      case 'available': {
        const { statuses } = await this.availability(entityId, resource);
        return Object.fromEntries(
          statuses
            .filter((status) => status.entityId === entityId)
            .map(({ limit, available }) => [limit.name, available]),
        );
      }
      case 'timeUntil':
        return (await this.availability(entityId, resource, step.needed)).retryAfterSecs;
      case 'resolve': {
        const load = async () =>
          (await app.admin.ask(op.EffectiveLimitsOfDocument, { orgId, entityId, resource })).org?.entity;
        const createAndLoad = async () => {
          await app.admin.ask(op.CreateEntityDocument, { input: { orgId, entityId } });
          return load();
        };
        // The vectors resolve for entities that do not exist. The API returns null for those, so they are created
        // first.
        const { limits = [], source } = ((await load()) ?? (await createAndLoad()))?.effectiveLimits ?? {};
        return {
          limits: Object.fromEntries(limits.map(({ name, capacity }) => [name, capacity])),
          source: source?.toLowerCase(),
        };
      }
      case 'capacity': {
        const { org } = await app.admin.ask(op.CapacityOfDocument, {
          orgId,
          resource,
          limit: step.limit ?? '',
          parentsOnly: step.parentsOnly ?? false,
        });
        const { totalCapacity, totalAvailable, utilizationPct, entities = [] } = org?.resourceCapacity ?? {};
        return {
          total_capacity: totalCapacity,
          total_available: totalAvailable,
          utilization_pct: utilizationPct,
          entities: entities.length,
        };
      }
      case 'acquire':
        return this.acquireAndRun(step);
      default:
        throw new Error(`no such step: ${step.op}`);
    }
  }

  async setLimits(
    place: Pick<op.SetLimitsInput, 'level' | 'resource' | 'entityId'>,
    limits?: readonly GivenLimit[],
  ): Promise<void> {
    await app.admin.ask(op.SetLimitsDocument, { input: { orgId: this.orgId, ...place, limits: limitInputs(limits) } });
  }

  async acquire(entityId: string, consume: Amounts) {
    return (
      await app.admin.ask(op.AcquireDocument, {
        input: { orgId: this.orgId, entityId, resource: 'api', consume: amounts(consume) },
      })
    ).acquire;
  }

  /** The number of sequential acquires that are granted before one is refused. */
  async drain(entityId: string, consume: Amounts): Promise<number> {
    for (let granted = 0; granted < 1000; granted++)
      if ((await this.acquire(entityId, consume)).__typename !== 'Lease') return granted;
    throw new Error('no acquire was refused');
  }

  async availability(entityId: string, resource: string, needed: Amounts = {}) {
    return (
      await app.admin.ask(op.AvailabilityDocument, { orgId: this.orgId, entityId, resource, consume: amounts(needed) })
    ).availability;
  }

  async shardCount(entityId: string): Promise<number | undefined> {
    const { org } = await app.admin.ask(op.BucketOfDocument, { orgId: this.orgId, entityId, resource: 'api' });
    return org?.entity?.bucket?.shardCount;
  }

  /** The usage of each window by its start. */
  async usage(entityId: string, window: op.UsageWindow): Promise<Amounts> {
    const { org } = await app.admin.ask(op.UsageOfDocument, { orgId: this.orgId, entityId, window, resource: 'api' });
    const nodes = org?.entity?.usage.nodes ?? [];
    return Object.fromEntries(
      nodes.map(({ windowStart, counters }) => [windowStart.replace('.000Z', 'Z'), counters[0]?.consumed ?? 0]),
    );
  }

  /** Adds to the write counter of the bucket item, as the acquires of other callers would. */
  async addWrites(entityId: string, count: number): Promise<void> {
    const namespace = await app.gateway.services.namespaces.of(this.orgId);
    const done = await app.gateway.services.store.write({
      table: 'limiter',
      update: shardKey({ namespace, entityId, resource: 'api', shard: 0 }),
      add: { wc: count },
      condition: atLeast('wc', 1),
    });
    expect(done.done).toBe(true);
  }

  private async acquireAndRun({ entity: entityId = '', consume = {}, body = [] }: FlowStep): Promise<unknown> {
    const acquired = await this.acquire(entityId, consume);
    if (acquired.__typename === 'RateLimited') {
      const { retryAfterSecs, violations, statuses } = acquired;
      return {
        ok: false,
        error: 'RateLimitExceeded',
        retry_after_seconds: retryAfterSecs,
        violations: violations.map(({ limit, entityId: entity, available, requested, retryAfterSecs: secs }) => ({
          limit: limit.name,
          entity,
          available,
          requested,
          retry_after_seconds: secs,
        })),
        passed: statuses.filter(({ exceeded }) => !exceeded).map(({ limit }) => limit.name),
      };
    }
    const { leaseId, statuses } = acquired;
    const consumed: Record<string, number> = {};
    addTo(consumed, statuses, entityId);
    for (const { adjust, throw: throws } of body) {
      if (adjust) {
        const input = { leaseId, adjust: amounts(adjust), idempotencyKey: randomUUID() };
        addTo(consumed, (await app.admin.ask(op.AdjustLeaseDocument, { input })).adjustLease.statuses, entityId);
      }
      if (throws) {
        await app.admin.ask(op.ReleaseLeaseDocument, { leaseId });
        return { thrown: true };
      }
    }
    return { ok: true, consumed };
  }
}

/** The error codes for the error names of the vectors. */
const codes: Readonly<Record<string, string>> = { ValidationError: 'BAD_USER_INPUT', EntityNotFoundError: 'NOT_FOUND' };

/** The expected result with Tollgate's error codes, and with retry times to the millisecond. */
function toExpected(expected: unknown): unknown {
  if (Array.isArray(expected)) return expected.map(toExpected);
  if (typeof expected === 'number') return withinAMillisecond(expected);
  if (typeof expected !== 'object' || expected === null) return expected;
  return Object.fromEntries(
    Object.entries(expected).map(([name, value]) => {
      if (name === 'error') return [name, codes[value as string] ?? value];
      if (name === 'retry_after_seconds') return [name, withinAMillisecond(value as number)];
      return [name, Array.isArray(value) ? value.map(toExpected) : value];
    }),
  );
}
// Within 0.0015 s: 1 ms and the rounding error of adding floats.
const withinAMillisecond = (secs: number) => ({
  asymmetricMatch: (actual: unknown) => typeof actual === 'number' && Math.abs(actual - secs) < 0.0015,
  toString: () => `${secs} s ± 1 ms`,
});

/** The names of the vectors that were run. */
const done = new Set<string>();
const vectorsOf = (name: string) =>
  vectors.filter((vector) => vector.function === name).map((vector) => [vector.name, vector] as const);
const vectorNamed = (name: string): AnyVector => {
  done.add(name);
  return vectors.find((vector) => vector.name === name) as AnyVector;
};
const limitsOf = ({ input }: AnyVector) => (input as { limits: readonly GivenLimit[] }).limits;

describe('the limiter', () => {
  it.each(vectorsOf('runFlow'))('passes the flow %s', async (name, { input, expected }) => {
    done.add(name);
    const flow = await Flow.begin();
    const shown: unknown[] = [];
    for (const step of (input as { steps: FlowStep[] }).steps) {
      const result = await flow.run(step);
      if (result !== undefined) shown.push(result);
    }
    const results = expected as unknown[];
    expect(shown).toHaveLength(results.length);
    for (const [i, result] of results.entries()) {
      // For some grants a vector has only `ok`.
      if (typeof result === 'object' && result !== null && 'ok' in result && Object.keys(result).length === 1)
        expect(shown[i]).toMatchObject(result);
      else expect(shown[i]).toEqual(toExpected(result));
    }
  });
});

// The vectors of 'simulate'.
describe('a bucket', () => {
  it('grants its burst once after an idle hour', async () => {
    const vector = vectorNamed('corrected/idle-bucket-burst');
    const flow = await Flow.begin();
    await flow.setLimits({ level: 'RESOURCE', resource: 'api' }, limitsOf(vector));
    expect((await flow.acquire('u', { rpm: 1 })).__typename).toBe('Lease');
    await pass(3_600_000);
    expect({ admitted: await flow.drain('u', { rpm: 1 }) }).toEqual(vector.expected);
  });

  it('refills however often 0 is acquired', async () => {
    const vector = vectorNamed('corrected/slow-limit-polled');
    const { duration_ms } = vector.input as { duration_ms: number };
    const [{ capacity, refill_period_seconds = 0 }] = limitsOf(vector) as [GivenLimit];
    const flow = await Flow.begin();
    await flow.setLimits({ level: 'RESOURCE', resource: 'api' }, limitsOf(vector));
    await flow.acquire('u', { rph: capacity });
    for (let i = 0; i < 60; i++) {
      await pass(duration_ms / 60);
      expect((await flow.acquire('u', { rph: 0 })).__typename).toBe('Lease');
    }
    // The API returns whole tokens. The wait for the next token gives the fraction.
    const { retryAfterSecs } = await flow.availability('u', 'api', { rph: 1 });
    expect({ rph_milli: Math.floor(1000 - (retryAfterSecs * 1000 * capacity) / refill_period_seconds) }).toEqual(
      vector.expected,
    );
  });

  it('never gets more shards at one acquire per second', async () => {
    const vector = vectorNamed('corrected/low-rate-never-shards');
    const { poll_every_ms } = vector.input as { poll_every_ms: number };
    const flow = await Flow.begin();
    await flow.setLimits({ level: 'RESOURCE', resource: 'api' }, limitsOf(vector));
    // Fewer than the 1100 of the vector: here each second is measured separately, so no balance can run out.
    for (let i = 0; i < 150; i++) {
      await flow.acquire('u', { rpm: 1 });
      await pass(poll_every_ms);
    }
    expect({ shard_count: await flow.shardCount('u') }).toEqual(vector.expected);
  });

  // The reference keeps a balance of 1000 writes per second and doubles below a fifth of it. Here the writes of a
  // second are counted.
  it.each(vectorsOf('proactiveShard'))('doubles by the writes per second: %s', async (name, { input, expected }) => {
    done.add(name);
    const { wcu_tk_milli, wcu_capacity_milli } = input as { wcu_tk_milli: number; wcu_capacity_milli: number };
    const { new_count } = expected as { new_count: number };
    const flow = await Flow.begin();
    await flow.setLimits({ level: 'RESOURCE', resource: 'api' }, [{ name: 'rpm', capacity: 1_000_000 }]);
    await flow.acquire('u', { rpm: 1 });
    await flow.addWrites('u', Math.ceil((wcu_capacity_milli - wcu_tk_milli) / 1000) - 1);
    await pass(1000);
    await flow.acquire('u', { rpm: 1 });
    // Doubling runs in the background: this waits until it happens, or long enough to see that it does not.
    for (let i = 0; i < 30 && (await flow.shardCount('u')) === 1; i++) await flow.acquire('u', { rpm: 1 });
    expect(await flow.shardCount('u')).toBe(new_count);
  });

  it('of several shards grants its burst once, also for amounts larger than a shard', async () => {
    const flow = await Flow.begin();
    await flow.setLimits({ level: 'RESOURCE', resource: 'api' }, [{ name: 'rpm', capacity: 100 }]);
    await flow.acquire('u', { rpm: 1 });
    await flow.addWrites('u', 1000);
    await pass(1000);
    await flow.acquire('u', { rpm: 1 });
    for (let i = 0; i < 30 && (await flow.shardCount('u')) === 1; i++) await pass(0);
    expect(await flow.shardCount('u')).toBe(2);
    await pass(3_600_000);
    expect(await flow.drain('u', { rpm: 60 })).toBe(1);
    await pass(3_600_000);
    expect(await flow.drain('u', { rpm: 100 })).toBe(1);
  });
});

// The vectors of 'usageAggregate', in the order of their times.
describe('usage', () => {
  const moveTo = (iso: string): Promise<void> => {
    const byMs = Date.parse(iso) - app.clock.nowMs();
    if (byMs < 0) throw new Error(`${iso} is in the past`);
    return pass(byMs);
  };
  const begin = async () => {
    const flow = await Flow.begin();
    await flow.setLimits({ level: 'SYSTEM' }, [{ name: 'tpm', capacity: 1000 }]);
    return flow;
  };

  it('at midnight counts once in its hour and once in its day', async () => {
    const { input, expected } = vectorNamed('corrected/usage-midnight-hour-and-day');
    const flow = await begin();
    for (const { at, tokens } of (input as { events: { at: string; tokens: number }[] }).events) {
      await moveTo(at);
      expect((await flow.acquire('u', { tpm: tokens })).__typename).toBe('Lease');
    }
    expect({ hourly: await flow.usage('u', 'HOURLY'), daily: await flow.usage('u', 'DAILY') }).toEqual(expected);
    await pass(3_600_000);
    expect(await flow.usage('u', 'DAILY')).toEqual((expected as { daily: Amounts }).daily);
  });

  it('includes the first acquire', async () => {
    const { input, expected } = vectorNamed('corrected/usage-first-event-counts');
    const flow = await begin();
    for (const { tokens } of (input as { events: { tokens: number }[] }).events)
      await flow.acquire('u', { tpm: tokens });
    expect({ total: Object.values(await flow.usage('u', 'HOURLY')).reduce((sum, used) => sum + used, 0) }).toEqual(
      expected,
    );
  });

  it('counts at the time of the acquire, not of the last write of the bucket', async () => {
    const { input, expected } = vectorNamed('corrected/usage-time-is-event-time');
    const { last_refill, consumed_at, tokens } = input as { last_refill: string; consumed_at: string; tokens: number };
    const flow = await begin();
    await moveTo(last_refill);
    await flow.acquire('u', { tpm: 0 });
    await moveTo(consumed_at);
    await flow.acquire('u', { tpm: tokens });
    const hours = await flow.usage('u', 'HOURLY');
    expect(hours).toMatchObject({ [(expected as { hour: string }).hour]: tokens });
    expect(Object.values(hours).reduce((sum, used) => sum + used, 0)).toBe(tokens);
  });
});

it('runs every vector that needs the API', () => {
  const functions = ['runFlow', 'simulate', 'usageAggregate', 'proactiveShard'];
  const expected = vectors.filter((vector) => functions.includes(vector.function)).map(({ name }) => name);
  expect([...done].sort()).toEqual(expected.sort());
});
