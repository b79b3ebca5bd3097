import { randomUUID } from 'node:crypto';
import { requestKey, toCostRecord } from '../../src/spend/cost.item.js';
import { newApp, newOrg } from '../support/app.js';
import * as op from '../support/operations.js';
import {
  addApp,
  ago,
  app,
  codeOf,
  cost,
  dayMs,
  exact,
  inUtc,
  moveTo,
  newPlace,
  other,
  type Place,
  spendOf,
  startStage,
  stopStage,
  submit,
  submitAll,
  worker,
} from '../support/spend-stage.js';

beforeAll(startStage);
afterAll(stopStage);

async function putPrice(bedrockModelId: string, utcDay: string, micros: number): Promise<void> {
  const put = {
    PK: bedrockModelId,
    SK: utcDay,
    input_price_usd_micros_per_1m: micros,
    output_price_usd_micros_per_1m: 2 * micros,
    fetched_at_epoch: Math.floor(app.clock.nowMs() / 1000),
    expires_at_epoch: Math.floor(app.clock.nowMs() / 1000) + 3 * 86_400,
  };
  await app.gateway.services.store.write({ table: 'pricing_cache', put });
}

describe('the cost of a call', () => {
  it('is 16,500 micro-dollars for 1,500 input and 800 output tokens at the configured price', async () => {
    const place = await newPlace();
    const input = cost(place, { inputTokens: 1500, outputTokens: 800, costUsdMicros: null });
    expect(await submit(input)).toEqual({
      requestId: input.requestId,
      replayed: false,
      label: 'premium',
      day: '2030-03-04',
      costUsdMicros: 16_500,
      priceSource: 'CONFIG_DEFAULT',
    });
    expect(await exact(place)).toMatchObject({
      costUsdMicros: 16_500,
      inputTokens: 1500,
      outputTokens: 800,
      requests: 1,
    });
  });

  it('is rounded down separately for input and output', async () => {
    const input = cost(await newPlace(), {
      modelLabel: 'economy',
      inputTokens: 3,
      outputTokens: 3,
      costUsdMicros: null,
    });
    expect((await submit(input)).costUsdMicros).toBe(3);
  });

  it('is exact if the product exceeds 2^53', async () => {
    const input = cost(await newPlace(), {
      modelLabel: 'economy',
      inputTokens: 999_999_999_999,
      outputTokens: 0,
      costUsdMicros: null,
    });
    expect((await submit(input)).costUsdMicros).toBe(249_999_999_999);
  });

  it('is the submitted cost, also if it is 0, whatever the tokens', async () => {
    const place = await newPlace();
    expect(await submit(cost(place, { costUsdMicros: 77 }))).toMatchObject({
      costUsdMicros: 77,
      priceSource: 'SUBMITTED',
    });
    expect(await submit(cost(place, { costUsdMicros: 0 }))).toMatchObject({
      costUsdMicros: 0,
      priceSource: 'SUBMITTED',
    });
    expect(await exact(place)).toMatchObject({ costUsdMicros: 77, requests: 2 });
  });

  it('uses the fetched price of the UTC day of the call, or the last one before it', async () => {
    const place = await newPlace({ timezone: 'Pacific/Kiritimati' });
    await putPrice('anthropic.claude-3-5-haiku-20241022-v1:0', '2030-03-03', 5_000_000);
    const input = { modelLabel: 'standard', inputTokens: 1000, outputTokens: 100, costUsdMicros: null };
    // Already the 4th in Kiritimati, still the 3rd in UTC.
    expect(await submit(cost(place, { ...input, occurredAt: '2030-03-03T20:00:00Z' }))).toMatchObject({
      day: '2030-03-04',
      costUsdMicros: 6000,
      priceSource: 'PRICING_CACHE',
    });
    expect(await submit(cost(place, { ...input, occurredAt: '2030-03-04T14:00:00Z' }))).toMatchObject({
      costUsdMicros: 6000,
      priceSource: 'PRICING_CACHE',
    });
    await putPrice('anthropic.claude-3-5-haiku-20241022-v1:0', '2030-03-05', 9_000_000);
    expect(await submit(cost(place, input), other)).toMatchObject({
      costUsdMicros: 6000,
      priceSource: 'PRICING_CACHE',
    });
  });

  it('does not change when the price changes later', async () => {
    const place = await newPlace();
    const input = cost(place, { modelLabel: 'economy', inputTokens: 4_000_000, outputTokens: 0, costUsdMicros: null });
    expect((await submit(input)).costUsdMicros).toBe(1_000_000);
    await putPrice('anthropic.claude-3-haiku-20240307-v1:0', '2030-03-04', 9_000_000);
    // The other gateway has no cached price, so it reads the new one.
    expect(await submit(cost(place, { ...input, requestId: randomUUID() }), other)).toMatchObject({
      costUsdMicros: 36_000_000,
      priceSource: 'PRICING_CACHE',
    });
    expect(await submit(input, other)).toMatchObject({
      replayed: true,
      costUsdMicros: 1_000_000,
      priceSource: 'CONFIG_DEFAULT',
    });
    expect((await exact(place)).costUsdMicros).toBe(37_000_000);
  });

  it('counts for a failed call too', async () => {
    const place = await newPlace();
    expect(await submit(cost(place, { callStatus: 'ERROR' }))).toMatchObject({ costUsdMicros: 1000, replayed: false });
    expect(await exact(place)).toMatchObject({ costUsdMicros: 1000, inputTokens: 10, outputTokens: 20, requests: 1 });
  });

  it('is counted and reported for a label outside the chain', async () => {
    const place = await newPlace({
      ...inUtc,
      modelOrdering: ['premium'],
      quotas: [{ label: 'premium', dailyUsdMicros: 5000 }],
    });
    await submit(cost(place, { modelLabel: 'economy' }));
    const spend = await exact(place);
    expect(spend.labels.map(({ label, costUsdMicros }) => [label, costUsdMicros])).toEqual([
      ['premium', 0],
      ['economy', 1000],
    ]);
    expect(spend.costUsdMicros).toBe(1000);
  });
});

describe('submitCost', () => {
  it('rejects an unknown label, returns the valid ones, and counts nothing', async () => {
    const place = await newPlace();
    for (const modelLabel of ['gold', 'constructor', 'a#SH#0', '']) {
      const { errors } = await app.admin.send(op.SubmitCostDocument, { input: cost(place, { modelLabel }) });
      expect(errors?.[0]?.extensions).toMatchObject({
        code: 'INVALID_MODEL_LABEL',
        validLabels: ['premium', 'standard', 'economy'],
      });
    }
    expect((await exact(place)).requests).toBe(0);
  });

  it('returns the same response for a sibling app and a foreign app as for an app that does not exist', async () => {
    const org = await newOrg(app, inUtc);
    const own = await newApp(app, org, 'own');
    const sibling = await addApp(org.orgId, 'sibling');
    const foreign = await newPlace();
    const rejection = async (caller: typeof own.caller, place: Partial<Place>) => {
      const { errors } = await caller.send(op.SubmitCostDocument, { input: cost(place) });
      return [errors?.length, errors?.[0]?.extensions.code, errors?.[0]?.message];
    };
    const unknown = await rejection(org.caller, { appId: 'nobody' });
    expect(unknown.slice(0, 2)).toEqual([1, 'NOT_FOUND']);
    expect(await rejection(app.admin, { orgId: org.orgId, appId: 'nobody' })).toEqual(unknown);
    expect(await rejection(org.caller, { appId: 'x#LABEL#premium' })).toEqual(unknown);
    expect(await rejection(own.caller, { appId: 'sibling' })).toEqual(unknown);
    expect(await rejection(own.caller, { appId: 'nobody' })).toEqual(unknown);
    expect(await rejection(org.caller, foreign)).toEqual(
      await rejection(org.caller, { orgId: randomUUID(), appId: 'chat' }),
    );
    expect((await rejection(org.caller, foreign)).slice(0, 2)).toEqual([1, 'NOT_FOUND']);
    for (const place of [sibling, foreign, { orgId: org.orgId, appId: 'own' }])
      expect((await exact(place)).requests).toBe(0);
  });

  it('requires the app from an org client and the org from an admin, and neither from an app', async () => {
    const org = await newOrg(app, inUtc);
    const own = await newApp(app, org, 'own');
    expect(await org.caller.codeOf(op.SubmitCostDocument, { input: cost({}) })).toBe('BAD_USER_INPUT');
    expect(await app.admin.codeOf(op.SubmitCostDocument, { input: cost({ appId: 'own' }) })).toBe('BAD_USER_INPUT');
    expect((await own.caller.ask(op.SubmitCostDocument, { input: cost({}) })).submitCost.replayed).toBe(false);
    expect((await exact({ orgId: org.orgId, appId: 'own' })).requests).toBe(1);
  });

  it.each([
    ['a negative cost', { costUsdMicros: -1 }],
    ['a cost above 10^12', { costUsdMicros: 1_000_000_000_001 }],
    ['a cost above 2^53', { costUsdMicros: 2 ** 53 }],
    ['a fraction of a micro-dollar', { costUsdMicros: 0.5 }],
    ['negative input tokens', { inputTokens: -1 }],
    ['negative output tokens', { outputTokens: -1 }],
    ['more than 10^12 input tokens', { inputTokens: 1_000_000_000_001 }],
    ['more than 10^12 output tokens', { outputTokens: 1_000_000_000_001 }],
    ['tokens that cost more than 10^12', { inputTokens: 1_000_000_000_000, outputTokens: 0, costUsdMicros: null }],
    ['an id that is not a UUID', { requestId: 'once' }],
  ])('rejects %s and counts nothing', async (_what, invalid) => {
    const place = await newPlace();
    expect(await codeOf(cost(place, invalid))).toBe('BAD_USER_INPUT');
    expect((await exact(place)).requests).toBe(0);
  });

  it('accepts the minimum and the maximum of every amount', async () => {
    const place = await newPlace();
    const max = 1_000_000_000_000;
    expect((await submit(cost(place, { inputTokens: max, outputTokens: max, costUsdMicros: max }))).costUsdMicros).toBe(
      max,
    );
    expect((await submit(cost(place, { inputTokens: 0, outputTokens: 0, costUsdMicros: 0 }))).costUsdMicros).toBe(0);
    expect(await exact(place)).toMatchObject({
      costUsdMicros: max,
      inputTokens: max,
      outputTokens: max,
      requests: 2,
    });
  });

  it('rejects calls more than 24 hours ago or more than 5 minutes ahead, and accepts those within', async () => {
    const place = await newPlace();
    expect(await codeOf(cost(place, { occurredAt: ago(dayMs + 1000) }))).toBe('BAD_USER_INPUT');
    expect(await codeOf(cost(place, { occurredAt: ago(-5 * 60_000 - 10_000) }))).toBe('BAD_USER_INPUT');
    expect((await submit(cost(place, { occurredAt: ago(dayMs - 10_000) }))).day).toBe('2030-03-03');
    expect((await submit(cost(place, { occurredAt: ago(-5 * 60_000 + 1000) }))).day).toBe('2030-03-04');
    expect([(await exact(place, '2030-03-03')).requests, (await exact(place)).requests]).toEqual([1, 1]);
  });
});

describe('the day of a cost', () => {
  it('is the day on which the call occurred, also if it has 23 hours because of daylight saving time', async () => {
    moveTo('2030-03-11T04:30:00Z');
    const place = await newPlace({ timezone: 'America/New_York' });
    const dayOf = async (occurredAt: string) => (await submit(cost(place, { occurredAt }))).day;
    expect(await dayOf('2030-03-10T04:59:59.999Z')).toBe('2030-03-09');
    expect(await dayOf('2030-03-10T05:00:00.000Z')).toBe('2030-03-10');
    expect(await dayOf('2030-03-11T03:59:59.999Z')).toBe('2030-03-10');
    expect(await dayOf('2030-03-11T04:00:00.000Z')).toBe('2030-03-11');
    const [ninth, tenth, eleventh] = await Promise.all(
      ['2030-03-09', '2030-03-10', '2030-03-11'].map((day) => exact(place, day)),
    );
    expect([ninth?.requests, tenth?.requests, eleventh?.requests]).toEqual([1, 2, 1]);
    expect([ninth?.resetsAt, tenth?.resetsAt].map((at) => Date.parse(at ?? ''))).toEqual([
      Date.parse('2030-03-10T05:00Z'),
      Date.parse('2030-03-11T04:00Z'),
    ]);
  });

  it('is the day in the time zone of the org', async () => {
    moveTo('2030-03-11T10:30:00Z');
    const dayIn = async (timezone: string, occurredAt: string) =>
      (await submit(cost(await newPlace({ timezone }), { occurredAt }))).day;
    expect(await dayIn('Pacific/Kiritimati', '2030-03-11T09:59:59.999Z')).toBe('2030-03-11');
    expect(await dayIn('Pacific/Kiritimati', '2030-03-11T10:00:00.000Z')).toBe('2030-03-12');
    expect(await dayIn('America/New_York', '2030-03-11T09:59:59.999Z')).toBe('2030-03-11');
    expect(await dayIn('America/New_York', '2030-03-11T03:59:59.999Z')).toBe('2030-03-10');
  });

  it('is the day in the time zone that was in force when the call occurred, whatever it is now', async () => {
    moveTo('2030-03-11T12:00:00Z');
    const place = await newPlace({ timezone: 'America/New_York' });
    const { updateOrg } = await app.admin.ask(op.UpdateOrgDocument, {
      input: { orgId: place.orgId, timezone: 'Asia/Tokyo' },
    });
    expect((await submit(cost(place))).day).toBe('2030-03-11'); // the new zone is not in force yet
    // New York's 11th ends at 04:00Z of the 12th, when it is the 12th in Tokyo.
    expect(Date.parse(updateOrg.timezoneEffectiveAt ?? '')).toBe(Date.parse('2030-03-12T04:00Z'));
    moveTo('2030-03-12T15:30:00Z');
    expect((await submit(cost(place))).day).toBe('2030-03-13');
    expect((await submit(cost(place, { occurredAt: '2030-03-12T04:00:00Z' }))).day).toBe('2030-03-12');
    expect((await submit(cost(place, { occurredAt: '2030-03-12T03:59:59Z' }))).day).toBe('2030-03-11');
  });
});

describe('a retry', () => {
  const first = { replayed: true, label: 'premium', costUsdMicros: 1000, priceSource: 'SUBMITTED' };

  it('returns the first receipt, however often it is sent and to which gateway, and counts once', async () => {
    const place = await newPlace();
    const input = cost(place);
    const { day, ...receipt } = await submit(input);
    for (const gateway of [app, other, app])
      expect(await submit(input, gateway)).toEqual({ ...receipt, day, replayed: true });
    expect((await submit({ ...input, requestId: input.requestId.toUpperCase() })).replayed).toBe(true);
    expect(await exact(place)).toMatchObject({ costUsdMicros: 1000, requests: 1 });
  });

  it('keeps its day after midnight', async () => {
    const place = await newPlace();
    const input = cost(place);
    const { day } = await submit(input);
    app.clock.advance(dayMs);
    expect(await submit(input)).toMatchObject({ ...first, day });
    expect([(await exact(place, day)).requests, (await exact(place)).requests]).toEqual([1, 0]);
  });

  it('keeps its day after a change of the time zone', async () => {
    const place = await newPlace({ timezone: 'America/New_York' });
    const input = cost(place, { occurredAt: ago(1000) });
    const { day } = await submit(input);
    await app.admin.ask(op.UpdateOrgDocument, { input: { orgId: place.orgId, timezone: 'Pacific/Kiritimati' } });
    app.clock.advance(3 * dayMs);
    const { org } = await app.admin.ask(op.OrgDocument, { orgId: place.orgId });
    expect(org).toMatchObject({ timezone: 'Pacific/Kiritimati', timezoneEffectiveAt: null });
    expect(await submit(input, other)).toMatchObject({ ...first, day });
    expect((await exact(place, day)).requests).toBe(1);
  });

  it('returns the first receipt 30 days later, with or without `occurredAt`', async () => {
    const place = await newPlace();
    const [dated, undated] = [cost(place, { occurredAt: ago(1000) }), cost(place)];
    const { day } = await submit(dated);
    await submit(undated);
    app.clock.advance(30 * dayMs);
    for (const gateway of [app, other])
      for (const input of [dated, undated]) expect(await submit(input, gateway)).toMatchObject({ ...first, day });
    expect(await codeOf({ ...dated, inputTokens: 11 })).toBe('IDEMPOTENCY_CONFLICT');
    expect(await codeOf({ ...dated, requestId: randomUUID() })).toBe('BAD_USER_INPUT');
    expect([(await exact(place, day)).requests, (await exact(place)).requests]).toEqual([2, 0]);
  });

  it('counts as a new call after 35 days, though the record is still stored, and not a minute earlier', async () => {
    const place = await newPlace();
    const input = cost(place);
    const { day } = await submit(input);
    app.clock.advance(35 * dayMs - 60_000);
    expect((await submit(input)).replayed).toBe(true);
    app.clock.advance(61_000);
    const item = await app.gateway.services.store.get(
      'cost_requests',
      requestKey({ ...place, requestId: input.requestId }),
    );
    expect(item && toCostRecord(item)).toMatchObject({ requestId: input.requestId, day });
    const again = await submit(input);
    expect(again.replayed).toBe(false);
    expect(again.day > day).toBe(true);
    expect(await submit(input, other)).toEqual({ ...again, replayed: true });
    expect((await exact(place)).requests).toBe(1);
  });

  it.each<readonly [string, Partial<op.SubmitCostInput>]>([
    ['input tokens', { inputTokens: 11 }],
    ['output tokens', { outputTokens: 21 }],
    ['a cost', { costUsdMicros: 1001 }],
    ['no cost', { costUsdMicros: null }],
    ['a label', { modelLabel: 'standard' }],
    ['a status', { callStatus: 'ERROR' }],
    ['a time', { occurredAt: '2030-01-01T00:00:00Z' }],
  ])('with another payload (%s) is a conflict and counts nothing', async (_what, change) => {
    const place = await newPlace();
    const input = cost(place);
    await submit(input);
    for (const gateway of [app, other]) {
      expect(await gateway.admin.codeOf(op.SubmitCostDocument, { input: { ...input, ...change } })).toBe(
        'IDEMPOTENCY_CONFLICT',
      );
    }
    expect(await exact(place)).toMatchObject({ costUsdMicros: 1000, inputTokens: 10, outputTokens: 20, requests: 1 });
    expect((await submit(input)).replayed).toBe(true);
  });

  it('of another org is a new call of that org', async () => {
    const [first, second] = [await newPlace(), await newPlace()];
    const input = cost(first);
    await submit(input);
    expect((await submit({ ...input, ...second, costUsdMicros: 5 })).replayed).toBe(false);
    expect([(await exact(first)).costUsdMicros, (await exact(second)).costUsdMicros]).toEqual([1000, 5]);
  });
});

describe('concurrent submissions', () => {
  it('count each of 200 ids once, though each is sent three times through two gateways', async () => {
    const place = await newPlace();
    const inputs = Array.from({ length: 200 }, (_, i) =>
      cost(place, { costUsdMicros: 1000 + i, inputTokens: i, outputTokens: 2 * i }),
    );
    const receipts = await Promise.all(
      [app, other, app].flatMap((gateway) => inputs.map((input) => submit(input, gateway))),
    );
    expect(receipts.filter(({ replayed }) => !replayed)).toHaveLength(200);
    expect(receipts.map(({ requestId, costUsdMicros }) => [requestId, costUsdMicros])).toEqual(
      [0, 1, 2].flatMap(() => inputs.map(({ requestId, costUsdMicros }) => [requestId, costUsdMicros])),
    );
    const sums = { costUsdMicros: 219_900, inputTokens: 19_900, outputTokens: 39_800, requests: 200 };
    expect(await exact(place)).toMatchObject(sums);
    await worker.spend.sumAll();
    expect(await spendOf(place, 'AGGREGATED')).toMatchObject(sums);
    await worker.spend.sumAll();
    expect(await spendOf(place, 'AGGREGATED')).toMatchObject(sums);
  });

  it('with the same id and different figures let one win and count that one', async () => {
    const place = await newPlace();
    const requestIds = Array.from({ length: 20 }, () => randomUUID());
    const responses = await Promise.all(
      requestIds.flatMap((requestId) =>
        [app, other].map((gateway, i) =>
          gateway.admin.send(op.SubmitCostDocument, { input: cost(place, { requestId, costUsdMicros: i + 1 }) }),
        ),
      ),
    );
    const won = responses.flatMap(({ data }) => (data ? [data.submitCost] : []));
    expect(new Set(won.map(({ requestId }) => requestId)).size).toBe(20);
    expect(won).toHaveLength(20);
    expect(responses.flatMap(({ errors }) => errors?.map(({ extensions }) => extensions.code) ?? [])).toEqual(
      Array(20).fill('IDEMPOTENCY_CONFLICT'),
    );
    expect(await exact(place)).toMatchObject({
      costUsdMicros: won.reduce((sum, { costUsdMicros }) => sum + costUsdMicros, 0),
      requests: 20,
    });
  });
});

describe('submitCosts', () => {
  it('accepts 1 to 100 inputs, returns outcomes in their order, and rejects 0 and 101', async () => {
    const place = await newPlace();
    const inputs = Array.from({ length: 101 }, (_, i) => cost(place, { costUsdMicros: i }));
    expect(await app.admin.codeOf(op.SubmitCostsDocument, { inputs: [] })).toBe('BAD_USER_INPUT');
    expect((await app.admin.send(op.SubmitCostsDocument, { inputs })).errors?.[0]?.extensions.code).toBe(
      'BAD_USER_INPUT',
    );
    expect((await exact(place)).requests).toBe(0);
    expect((await submitAll(inputs.slice(0, 1))).map(({ receipt }) => receipt?.costUsdMicros)).toEqual([0]);
    const outcomes = await submitAll(inputs.slice(1));
    expect(outcomes.map(({ requestId, receipt }) => [requestId, receipt?.costUsdMicros])).toEqual(
      inputs.slice(1).map(({ requestId, costUsdMicros }) => [requestId, costUsdMicros]),
    );
    expect(await exact(place)).toMatchObject({ costUsdMicros: 5050, requests: 101 });
  });

  it('returns an outcome per input and counts the valid ones', async () => {
    const place = await newPlace();
    const foreign = await newPlace();
    const recorded = cost(place);
    await submit(recorded);
    const inputs = [
      cost(place),
      cost(place, { modelLabel: 'gold' }),
      cost(place, { appId: 'nobody' }),
      cost(place, { costUsdMicros: -1 }),
      cost(place, { occurredAt: ago(2 * dayMs) }),
      { ...recorded, costUsdMicros: 7 },
      cost({ orgId: place.orgId }),
      { ...recorded },
      cost(foreign),
      cost(place),
    ];
    const outcomes = await submitAll(inputs);
    expect(outcomes.map(({ requestId }) => requestId)).toEqual(inputs.map(({ requestId }) => requestId));
    expect(outcomes.map(({ receipt, error }) => error?.code ?? (receipt?.replayed ? 'replayed' : 'recorded'))).toEqual([
      'recorded',
      'INVALID_MODEL_LABEL',
      'NOT_FOUND',
      'BAD_USER_INPUT',
      'BAD_USER_INPUT',
      'IDEMPOTENCY_CONFLICT',
      'BAD_USER_INPUT',
      'replayed',
      'recorded',
      'recorded',
    ]);
    for (const { receipt, error } of outcomes) expect([receipt, error].filter((side) => side === null)).toHaveLength(1);
    expect([(await exact(place)).requests, (await exact(foreign)).requests]).toEqual([3, 1]);
  });

  it('counts an id once that occurs twice, and rejects it with other figures', async () => {
    const place = await newPlace();
    const twice = cost(place);
    const changed = cost(place);
    const outcomes = await submitAll([twice, changed, cost(place), twice, { ...changed, costUsdMicros: 2 }, twice]);
    expect(outcomes.map(({ receipt, error }) => error?.code ?? receipt?.replayed)).toEqual([
      false,
      false,
      false,
      true,
      'IDEMPOTENCY_CONFLICT',
      true,
    ]);
    expect(await exact(place)).toMatchObject({ costUsdMicros: 3000, requests: 3 });
  });

  it('counts one of two inputs with the same id and different labels, and rejects the other', async () => {
    const place = await newPlace();
    const input = cost(place);
    const outcomes = await submitAll([input, { ...input, modelLabel: 'economy' }]);
    expect(outcomes.map(({ receipt, error }) => error?.code ?? receipt?.replayed).sort()).toEqual([
      'IDEMPOTENCY_CONFLICT',
      false,
    ]);
    expect(await exact(place)).toMatchObject({ costUsdMicros: 1000, requests: 1 });
  });
});
