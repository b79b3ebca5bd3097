// Consumed capacity as Amazon DynamoDB and dynoxide count it. DynamoDB Local counts differently and skips these tests.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Background, buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { Metrics } from '../../src/lib/metrics.js';
import type { Units } from '../../src/lib/units.js';
import { shardKey } from '../../src/spend/spend.item.js';
import { newOrg, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

let app: TestApp;
let worker: Background;
beforeAll(async () => {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
});
afterAll(async () => {
  worker.close();
  await app.stop();
});

interface Place {
  readonly orgId: string;
  readonly appId: string;
}

/** The document that the overview of the console sends. */
const overview =
  Object.values(
    JSON.parse(
      readFileSync(new URL('../../console/src/gql/persisted-documents.json', import.meta.url), 'utf8'),
    ) as Record<string, string>,
  ).find((text) => /query Overview\b/.test(text)) ?? '';

const inUtc = { timezone: 'UTC' } as const;

const newPlace = async (): Promise<Place> => addApp((await newOrg(app, inUtc)).orgId, 'chat');

async function addApp(orgId: string, appId: string): Promise<Place> {
  await app.admin.ask(op.RegisterAppDocument, { input: { orgId, appId, name: appId } });
  return { orgId, appId };
}

const cost = (place: Place, overrides: Partial<op.SubmitCostInput> = {}): op.SubmitCostInput => ({
  ...place,
  requestId: randomUUID(),
  modelLabel: 'premium',
  inputTokens: 10,
  outputTokens: 20,
  costUsdMicros: 1000,
  ...overrides,
});

/** A usual call of a model with a cache. */
const components = [
  { name: 'cacheRead', quantity: 123_456 },
  { name: 'cacheWrite5m', quantity: 12_345 },
  { name: 'cacheWrite1h', quantity: 1234 },
  { name: 'reasoning', quantity: 4321 },
];

/** A label with a price for each of them. */
async function newLabel(): Promise<string> {
  const names = ['input', 'output', ...components.map(({ name }) => name)];
  const prices = names.map((name) => ({ name, usdMicrosPer1M: 3_750_000 }));
  const label = `priced-${randomUUID()}`;
  await app.admin.ask(op.UpsertModelDocument, { input: { label, modelId: 'm', prices } });
  return label;
}

const unitsIn = (kind: string) => async (metrics: Metrics) =>
  Number(
    new RegExp(`tollgate_store_units_total\\{kind="${kind}"\\} ([\\d.]+)`).exec(
      await metrics.registry.metrics(),
    )?.[1] ?? 0,
  );
const readUnits = unitsIn('read');
const writeUnits = unitsIn('write');

const submit = async (input: op.SubmitCostInput) => (await app.admin.ask(op.SubmitCostDocument, { input })).submitCost;
const submitAll = async (inputs: op.SubmitCostInput[]) =>
  (await app.admin.ask(op.SubmitCostsDocument, { inputs })).submitCosts;
const exact = async (place: Place): Promise<op.DayFragment> =>
  (await app.admin.ask(op.AppSpendDocument, { ...place, consistency: 'EXACT' })).org?.app?.spend as op.DayFragment;

describe('the price of', () => {
  /** The units that a task consumes: the minimum of up to 20 attempts, because the gateway polls meanwhile. */
  async function unitsOf(task: () => Promise<unknown>, isExpected: (units: Units) => boolean): Promise<Units> {
    const { consumed } = app.gateway.services.store;
    let best: Units | undefined;
    for (let attempt = 0; attempt < 20; attempt++) {
      const before = { ...consumed };
      await task();
      const units = {
        read: consumed.read - before.read,
        write: consumed.write - before.write,
        calls: consumed.calls - before.calls,
      };
      if (!best || units.read + units.write < best.read + best.write) best = units;
      if (isExpected(best)) break;
    }
    return best as Units;
  }

  it('one submission is 4 write units and no read unit, and half a read unit more with its total', async () => {
    const place = await newPlace();
    await submit(cost(place));
    const alone = await unitsOf(
      () => submit(cost(place)),
      ({ read, write }) => read === 0 && write === 4,
    );
    expect(alone).toEqual({ read: 0, write: 4, calls: 1 });
    const withTotal = await unitsOf(
      () => app.admin.ask(op.SubmitCostWithSpendDocument, { input: cost(place) }),
      ({ read, write }) => read === 0.5 && write === 4,
    );
    expect(withTotal).toEqual({ read: 0.5, write: 4, calls: 2 });
  });

  it('submissions with components is the same, with items below 1 KB', async () => {
    const place = await newPlace();
    const label = await newLabel();
    const priced = () => cost(place, { modelLabel: label, costUsdMicros: null, components });
    await submit(priced());
    const alone = await unitsOf(
      () => submit(priced()),
      ({ read, write }) => read === 0 && write === 4,
    );
    expect(alone).toEqual({ read: 0, write: 4, calls: 1 });
    const { write } = await unitsOf(
      () => submitAll(Array.from({ length: 50 }, priced)),
      (units) => units.write <= 105,
    );
    expect(write).toBeLessThanOrEqual(105);
  });

  it('50 concurrent submissions of one scope is at most 2.1 write units each', async () => {
    const place = await newPlace();
    await submit(cost(place));
    const inputs = () => Array.from({ length: 50 }, () => cost(place));
    const { write } = await unitsOf(
      () => submitAll(inputs()),
      (units) => units.write <= 105,
    );
    expect(write).toBeGreaterThanOrEqual(100);
    expect(write).toBeLessThanOrEqual(105);
    expect((await exact(place)).requests % 50).toBe(1);
  });

  it('a submission is the same with 25 hours filled with large figures, alone and of 50', async () => {
    const place = await newPlace();
    await submit(cost(place));
    const { store } = app.gateway.services;
    const hours = Array.from({ length: 25 }, (_, hour) => [
      [`h${hour}`, 987_654_321_098],
      [`n${hour}`, 87_654_321],
    ]);
    const large = { cost_usd_micros: 24_691_358_027_450, input_tokens: 9e12 + 1, output_tokens: 9e12 + 1 };
    const day = new Date(app.clock.nowMs()).toISOString().slice(0, 10);
    for (let shard = 0; shard < 8; shard++) {
      const update = shardKey({ ...place, label: 'premium', day }, shard);
      if (!(await store.get('usage_agg_sharded', update))) continue;
      const set = { ...Object.fromEntries(hours.flat()), ...large, requests: 25 * 87_654_321 };
      await store.write({ table: 'usage_agg_sharded', update, set });
    }
    const alone = await unitsOf(
      () => submit(cost(place)),
      ({ read, write }) => read === 0 && write === 4,
    );
    expect(alone).toEqual({ read: 0, write: 4, calls: 1 });
    const { write } = await unitsOf(
      () => submitAll(Array.from({ length: 50 }, () => cost(place))),
      (units) => units.write <= 105,
    );
    expect(write).toBeLessThanOrEqual(105);
  });

  it('figures per app or dimension value are 2 write units each for a cost alone, and shared in a group', async () => {
    const { orgId } = await newOrg(app, {
      ...inUtc,
      quotaScope: 'ORG',
      attributeApps: true,
      dimensions: ['user', 'feature'],
    });
    const place = await addApp(orgId, 'chat');
    const dimensions = [
      { name: 'user', value: 'ann' },
      { name: 'feature', value: 'search' },
    ];
    const submitOne = (count: number) => () => submit(cost(place, { dimensions: dimensions.slice(0, count) }));
    await submitOne(2)();
    for (const count of [0, 1, 2]) {
      const due = 4 + 2 + 2 * count;
      const units = await unitsOf(submitOne(count), ({ write, read }) => write === due && read === 0);
      expect(units).toEqual({ read: 0, write: due, calls: 1 });
    }
    const { write } = await unitsOf(
      () => submitAll(Array.from({ length: 50 }, () => cost(place, { dimensions }))),
      (units) => units.write <= 108,
    );
    expect(write).toBeLessThanOrEqual(108);
  });

  it('a selection is half a read unit per label and half a unit for the sticky state, and no write unit', async () => {
    const place = await newPlace();
    await submit(cost(place));
    await worker.spend.sumAll();
    const select = async () => {
      const { org } = await app.admin.ask(op.SelectionDocument, place);
      expect(org?.app?.modelSelection).toMatchObject({ label: 'premium', reason: 'WITHIN_QUOTA' });
    };
    await select();
    const { read, write } = await unitsOf(select, (units) => units.read === 2);
    expect([read, write]).toEqual([2, 0]);
  });

  it('a selection of an org with budgets is half a read unit more per budget that it obeys', async () => {
    const place = await newPlace();
    const { orgId } = place;
    const budget = { orgId, period: 'MONTH', usdMicros: 1_000_000_000 } as const;
    await app.admin.ask(op.SetBudgetDocument, { input: { ...budget, name: 'all', enforcement: 'ADVISORY' } });
    await app.admin.ask(op.SetBudgetDocument, {
      input: { ...budget, name: 'premium', label: 'premium', enforcement: 'HARD' },
    });
    await app.admin.ask(op.SetBudgetDocument, { input: { ...budget, name: 'quiet', enforcement: 'ALERT' } });
    await submit(cost(place));
    await worker.spend.sumAll();
    const select = async () => {
      const { org } = await app.admin.ask(op.SelectionDocument, place);
      expect(org?.app?.modelSelection).toMatchObject({ label: 'premium', reason: 'WITHIN_QUOTA', budget: null });
    };
    await select();
    const { read, write } = await unitsOf(select, (units) => units.read === 3);
    expect([read, write]).toEqual([3, 0]);
  });

  it('the spend of 30 apps in one response is at most 8 calls', async () => {
    const org = await newOrg(app, inUtc);
    for (let i = 10; i < 40; i++) await addApp(org.orgId, `app-${i}`);
    await submitAll([
      cost({ orgId: org.orgId, appId: 'app-10' }),
      cost({ orgId: org.orgId, appId: 'app-39' }, { costUsdMicros: 3 }),
    ]);
    await worker.spend.sumAll();
    const query = '{ org { apps(first: 100) { nodes { appId spend { costUsdMicros } } } } }';
    const ask = async () => {
      const { org: found } = await org.caller.ask<
        { org: { apps: { nodes: { appId: string; spend: { costUsdMicros: number } }[] } } },
        object
      >(query);
      expect(found.apps.nodes).toHaveLength(30);
      expect([found.apps.nodes[0], found.apps.nodes[29]].map((node) => node?.spend.costUsdMicros)).toEqual([1000, 3]);
    };
    const { calls } = await unitsOf(ask, (units) => units.calls <= 8);
    expect(calls).toBeLessThanOrEqual(8);
  });

  it('the overview of the console for 20 apps with 3 labels each is at most 60 read units', async () => {
    const labels = ['premium', 'standard', 'economy'];
    const quotas = labels.map((label) => ({ label, dailyUsdMicros: 1_000_000 }));
    const { orgId } = await newOrg(app, { ...inUtc, modelOrdering: labels, quotas });
    const places = await Promise.all(Array.from({ length: 20 }, (_, i) => addApp(orgId, `app-${i}`)));
    await submitAll(places.flatMap((place) => labels.map((modelLabel) => cost(place, { modelLabel }))));
    await worker.spend.sumAll();
    const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
    const to = day(app.clock.nowMs());
    const variables = { orgId, from: day(Date.parse(to) - 13 * 86_400_000), to, byApp: false };
    const ask = async () => {
      const { org } = await app.admin.ask<{ org: { spend: { requests: number } } }, object>(overview, variables);
      expect(org.spend.requests).toBe(60);
    };
    const { read, write } = await unitsOf(ask, (units) => units.read <= 60 && units.write === 0);
    expect(read).toBeLessThanOrEqual(60);
    expect(write).toBe(0);
  });

  it('the ledger is 1 write unit per cost, alone or in a group', async () => {
    const { orgId } = await newOrg(app, { ...inUtc, ledger: true });
    const place = await addApp(orgId, 'chat');
    await submit(cost(place));
    const alone = await unitsOf(
      () => submit(cost(place)),
      ({ read, write }) => read === 0 && write === 5,
    );
    expect(alone).toEqual({ read: 0, write: 5, calls: 1 });
    const { write } = await unitsOf(
      () => submitAll(Array.from({ length: 50 }, () => cost(place))),
      (units) => units.write <= 155,
    );
    expect(write).toBeLessThanOrEqual(155);
  });

  it('a page of 50 listed costs is at most 80 read units, and one cost is 1', async () => {
    const { orgId } = await newOrg(app, { ...inUtc, ledger: true });
    const place = await addApp(orgId, 'chat');
    const inputs = Array.from({ length: 60 }, () => cost(place));
    await submitAll(inputs);
    const day = new Date(app.clock.nowMs()).toISOString().slice(0, 10);
    const list = async () => {
      const { org } = await app.admin.ask(op.CostsDocument, { orgId, from: day, to: day, first: 50 });
      expect(org?.costs.nodes).toHaveLength(50);
    };
    const { read } = await unitsOf(list, (units) => units.read <= 80);
    expect(read).toBeLessThanOrEqual(80);
    const one = await unitsOf(
      () =>
        app.admin.ask(`{ org(orgId: "${orgId}") {
        cost(requestId: "${inputs[0]?.requestId}", appId: "chat") { costUsdMicros } } }`),
      (units) => units.read === 1,
    );
    expect([one.read, one.write]).toEqual([1, 0]);
  });

  it('a correction is 1 read unit and 9 write units, and up to 3 write units more on a closed day', async () => {
    const place = await newPlace();
    const { requestId } = await submit(cost(place));
    const correct = () =>
      app.admin.ask('mutation ($input: CorrectCostInput!) { correctCost(input: $input) { replayed } }', {
        input: { ...place, requestId, correctionId: randomUUID(), deltaUsdMicros: -1, reason: 'test' },
      });
    const open = await unitsOf(correct, ({ read, write }) => read === 1 && write === 9);
    expect([open.read, open.write]).toEqual([1, 9]);
    app.clock.advance(4 * 86_400_000);
    const closed = await unitsOf(correct, ({ read, write }) => read === 1 && write <= 12);
    expect(closed.read).toBe(1);
    expect(closed.write).toBeLessThanOrEqual(12);
  });

  // Last, because their workers claim the slices.
  it('an idle, used-up scope with 64 shards and three labels is under 10 read units per minute', async () => {
    const { orgId } = await newOrg(app, {
      ...inUtc,
      shardCount: 64,
      quotas: ['premium', 'standard', 'economy'].map((label) => ({ label, dailyUsdMicros: 1000 })),
    });
    const place = await addApp(orgId, 'chat');
    const metrics = new Metrics();
    const alone = buildBackground(app.config, { clock: app.clock, log: silentLog, metrics });
    const minute = async () => {
      const unitsBefore = await readUnits(metrics);
      app.clock.advance(60_000);
      await alone.spend.sumAll();
      for (let i = 0; i < 12; i++) await alone.spend.sumNear();
      return (await readUnits(metrics)) - unitsBefore;
    };
    try {
      app.clock.advance(4 * 86_400_000);
      await alone.spend.sumAll();
      const idle = await minute();
      await submitAll(['premium', 'standard', 'economy'].map((modelLabel) => cost(place, { modelLabel })));
      await alone.spend.sumAll();
      expect((await minute()) - idle).toBeLessThan(10);
      app.clock.advance(86_400_000);
      await alone.spend.sumAll();
      expect((await minute()) - idle).toBeLessThan(10);
    } finally {
      alone.close();
    }
  });

  it('a round is 4 read units and 1 write unit more if the spend of a budget of one label has changed', async () => {
    const metrics = new Metrics();
    const alone = buildBackground(app.config, { clock: app.clock, log: silentLog, metrics });
    /** What the round consumes after one more cost, beyond the first one of a day. */
    const round = async (place: Place) => {
      app.clock.advance(60_000);
      await submit(cost(place));
      const before = [await readUnits(metrics), await writeUnits(metrics)] as const;
      await alone.spend.sumAll();
      return [(await readUnits(metrics)) - before[0], (await writeUnits(metrics)) - before[1]] as const;
    };
    try {
      app.clock.advance(4 * 86_400_000);
      const place = await newPlace();
      await alone.spend.sumAll();
      await round(place);
      const [readWithout, writeWithout] = await round(place);
      const input = { orgId: place.orgId, name: 'all', period: 'MONTH', usdMicros: 1_000_000_000 } as const;
      await app.admin.ask(op.SetBudgetDocument, { input });
      await round(place);
      const [read, write] = await round(place);
      expect([read - readWithout, write - writeWithout]).toEqual([4, 1]);
    } finally {
      alone.close();
    }
  });

  it('a worker with nothing to sum is under 150 read units and 18 write units per minute', async () => {
    const metrics = new Metrics();
    const alone = buildBackground(app.config, { clock: app.clock, log: silentLog, metrics });
    try {
      // At 11:00 UTC three days go on at once: one of them began at UTC+14, and another has not ended at UTC-12.
      const dayMs = 86_400_000;
      app.clock.advance(5 * dayMs - (app.clock.nowMs() % dayMs) + 11 * 3_600_000);
      await alone.spend.sumAll();
      const before = [await readUnits(metrics), await writeUnits(metrics)];
      app.clock.advance(60_000);
      await alone.spend.sumAll();
      expect((await readUnits(metrics)) - (before[0] as number)).toBeLessThan(150);
      expect((await writeUnits(metrics)) - (before[1] as number)).toBeLessThan(18);
    } finally {
      alone.close();
    }
  });
});
