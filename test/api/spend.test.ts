import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { requestKey } from '../../src/spend/cost.item.js';
import { newApp, newOrg, startTestApp, type TestApp } from '../support/app.js';
import * as op from '../support/operations.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let app: TestApp;
let other: TestApp;
let worker: Background;
beforeAll(async () => {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
  worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
  moveTo('2030-03-04T15:00:00Z');
});
afterAll(async () => {
  worker.close();
  await Promise.all([app.stop(), other.stop()]);
});

/** Time only goes on: tests that name an instant stand in the order of their instants. */
function moveTo(iso: string): void {
  const byMs = Date.parse(iso) - app.clock.nowMs();
  if (byMs < 0) throw new Error(`${iso} has passed`);
  app.clock.advance(byMs);
}

const ago = (ms: number): string => new Date(app.clock.nowMs() - ms).toISOString();
const daysAgo = (days: number): string => ago(days * dayMs).slice(0, 10);

interface Place {
  readonly orgId: string;
  readonly appId: string;
}

const inUtc = { timezone: 'UTC' } as const;

async function newPlace(overrides: Partial<op.RegisterOrgInput> = inUtc): Promise<Place> {
  const { orgId } = await newOrg(app, overrides);
  return addApp(orgId, 'chat');
}

async function addApp(orgId: string, appId: string, overrides: Partial<op.RegisterAppInput> = {}): Promise<Place> {
  await app.admin.ask(op.RegisterAppDocument, { input: { orgId, appId, name: appId, ...overrides } });
  return { orgId, appId };
}

const cost = (place: Partial<Place>, overrides: Partial<op.SubmitCostInput> = {}): op.SubmitCostInput => ({
  ...place,
  requestId: randomUUID(),
  modelLabel: 'premium',
  inputTokens: 10,
  outputTokens: 20,
  costUsdMicros: 1000,
  ...overrides,
});

const submit = async (input: op.SubmitCostInput, on = app) =>
  (await on.admin.ask(op.SubmitCostDocument, { input })).submitCost;
const refusal = (input: op.SubmitCostInput) => app.admin.codeOf(op.SubmitCostDocument, { input });
const submitAll = async (inputs: op.SubmitCostInput[]) =>
  (await app.admin.ask(op.SubmitCostsDocument, { inputs })).submitCosts;

const spendOf = async (place: Place, consistency: op.Consistency, day?: string): Promise<op.DayFragment> =>
  (await app.admin.ask(op.AppSpendDocument, { ...place, consistency, day })).org?.app?.spend as op.DayFragment;
const orgSpend = async (orgId: string, consistency: op.Consistency): Promise<op.DayFragment> =>
  (await app.admin.ask(op.OrgSpendDocument, { orgId, consistency })).org?.spend as op.DayFragment;
const exact = (place: Place, day?: string) => spendOf(place, 'EXACT', day);
const labelOf = ({ labels }: op.DayFragment, label: string) => labels.find((entry) => entry.label === label);

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

describe('what a call cost', () => {
  it('is 16,500 micro-dollars for 1,500 tokens in and 800 out at the configured price', async () => {
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

  it('is rounded down on each side apart', async () => {
    const input = cost(await newPlace(), {
      modelLabel: 'economy',
      inputTokens: 3,
      outputTokens: 3,
      costUsdMicros: null,
    });
    expect((await submit(input)).costUsdMicros).toBe(3);
  });

  it('is exact where the product passes 2^53', async () => {
    const input = cost(await newPlace(), {
      modelLabel: 'economy',
      inputTokens: 999_999_999_999,
      outputTokens: 0,
      costUsdMicros: null,
    });
    expect((await submit(input)).costUsdMicros).toBe(249_999_999_999);
  });

  it('is what was submitted, zero included, whatever the tokens say', async () => {
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

  it('follows the cached price of the UTC day it occurred on, or the last one before it', async () => {
    const place = await newPlace({ timezone: 'Pacific/Kiritimati' });
    await putPrice('anthropic.claude-3-5-haiku-20241022-v1:0', '2030-03-03', 5_000_000);
    const input = { modelLabel: 'standard', inputTokens: 1000, outputTokens: 100, costUsdMicros: null };
    // Already the 4th there, still the 3rd in UTC.
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

  it('stays what it was when the price has changed since', async () => {
    const place = await newPlace();
    const input = cost(place, { modelLabel: 'economy', inputTokens: 4_000_000, outputTokens: 0, costUsdMicros: null });
    expect((await submit(input)).costUsdMicros).toBe(1_000_000);
    await putPrice('anthropic.claude-3-haiku-20240307-v1:0', '2030-03-04', 9_000_000);
    // The other gateway has not remembered a price: it sees the new one.
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

  it('counts the same for a call that failed', async () => {
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

describe('what is refused, and counts nothing', () => {
  it('is an unknown label, with the valid ones beside it', async () => {
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

  it('is an app that does not exist, a sibling or a foreign one, each with the same answer', async () => {
    const org = await newOrg(app, inUtc);
    const own = await newApp(app, org, 'own');
    const sibling = await addApp(org.orgId, 'sibling');
    const foreign = await newPlace();
    const refused = async (caller: typeof own.caller, place: Partial<Place>) => {
      const { errors } = await caller.send(op.SubmitCostDocument, { input: cost(place) });
      return [errors?.length, errors?.[0]?.extensions.code, errors?.[0]?.message];
    };
    const unknown = await refused(org.caller, { appId: 'nobody' });
    expect(unknown.slice(0, 2)).toEqual([1, 'NOT_FOUND']);
    expect(await refused(app.admin, { orgId: org.orgId, appId: 'nobody' })).toEqual(unknown);
    expect(await refused(org.caller, { appId: 'x#LABEL#premium' })).toEqual(unknown);
    expect(await refused(own.caller, { appId: 'sibling' })).toEqual(unknown);
    expect(await refused(own.caller, { appId: 'nobody' })).toEqual(unknown);
    expect(await refused(org.caller, foreign)).toEqual(
      await refused(org.caller, { orgId: randomUUID(), appId: 'chat' }),
    );
    expect((await refused(org.caller, foreign)).slice(0, 2)).toEqual([1, 'NOT_FOUND']);
    for (const place of [sibling, foreign, { orgId: org.orgId, appId: 'own' }])
      expect((await exact(place)).requests).toBe(0);
  });

  it('is an org client that names no app, and an admin that names no org; an app need name nothing', async () => {
    const org = await newOrg(app, inUtc);
    const own = await newApp(app, org, 'own');
    expect(await org.caller.codeOf(op.SubmitCostDocument, { input: cost({}) })).toBe('BAD_USER_INPUT');
    expect(await app.admin.codeOf(op.SubmitCostDocument, { input: cost({ appId: 'own' }) })).toBe('BAD_USER_INPUT');
    expect((await own.caller.ask(op.SubmitCostDocument, { input: cost({}) })).submitCost.replayed).toBe(false);
    expect((await exact({ orgId: org.orgId, appId: 'own' })).requests).toBe(1);
  });

  it.each([
    ['a negative cost', { costUsdMicros: -1 }],
    ['a cost past 10^12', { costUsdMicros: 1_000_000_000_001 }],
    ['a cost past 2^53', { costUsdMicros: 2 ** 53 }],
    ['a fraction of a micro-dollar', { costUsdMicros: 0.5 }],
    ['negative tokens in', { inputTokens: -1 }],
    ['negative tokens out', { outputTokens: -1 }],
    ['tokens in past 10^12', { inputTokens: 1_000_000_000_001 }],
    ['tokens out past 10^12', { outputTokens: 1_000_000_000_001 }],
    ['tokens that cost more than 10^12', { inputTokens: 1_000_000_000_000, outputTokens: 0, costUsdMicros: null }],
    ['an id that is none', { requestId: 'once' }],
  ])('is %s', async (_what, wrong) => {
    const place = await newPlace();
    expect(await refusal(cost(place, wrong))).toBe('BAD_USER_INPUT');
    expect((await exact(place)).requests).toBe(0);
  });

  it('is nothing at the bounds themselves', async () => {
    const place = await newPlace();
    const most = 1_000_000_000_000;
    expect(
      (await submit(cost(place, { inputTokens: most, outputTokens: most, costUsdMicros: most }))).costUsdMicros,
    ).toBe(most);
    expect((await submit(cost(place, { inputTokens: 0, outputTokens: 0, costUsdMicros: 0 }))).costUsdMicros).toBe(0);
    expect(await exact(place)).toMatchObject({
      costUsdMicros: most,
      inputTokens: most,
      outputTokens: most,
      requests: 2,
    });
  });

  it('is what occurred more than 24 hours ago or more than 5 minutes from now; what lies within is taken', async () => {
    const place = await newPlace();
    expect(await refusal(cost(place, { occurredAt: ago(dayMs + 1000) }))).toBe('BAD_USER_INPUT');
    expect(await refusal(cost(place, { occurredAt: ago(-5 * 60_000 - 10_000) }))).toBe('BAD_USER_INPUT');
    expect((await submit(cost(place, { occurredAt: ago(dayMs - 10_000) }))).day).toBe('2030-03-03');
    expect((await submit(cost(place, { occurredAt: ago(-5 * 60_000 + 1000) }))).day).toBe('2030-03-04');
    expect([(await exact(place, '2030-03-03')).requests, (await exact(place)).requests]).toEqual([1, 1]);
  });
});

describe('the day of a cost', () => {
  it('is the one at which it occurred, 23 hours long where the clocks go forward', async () => {
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

  it('is that of the zone of its org', async () => {
    moveTo('2030-03-11T10:30:00Z');
    const dayIn = async (timezone: string, occurredAt: string) =>
      (await submit(cost(await newPlace({ timezone }), { occurredAt }))).day;
    expect(await dayIn('Pacific/Kiritimati', '2030-03-11T09:59:59.999Z')).toBe('2030-03-11');
    expect(await dayIn('Pacific/Kiritimati', '2030-03-11T10:00:00.000Z')).toBe('2030-03-12');
    expect(await dayIn('America/New_York', '2030-03-11T09:59:59.999Z')).toBe('2030-03-11');
    expect(await dayIn('America/New_York', '2030-03-11T03:59:59.999Z')).toBe('2030-03-10');
  });

  it('is that of the zone in force when it occurred, though the org has moved since', async () => {
    moveTo('2030-03-11T12:00:00Z');
    const place = await newPlace({ timezone: 'America/New_York' });
    const { updateOrg } = await app.admin.ask(op.UpdateOrgDocument, {
      input: { orgId: place.orgId, timezone: 'Asia/Tokyo' },
    });
    expect((await submit(cost(place))).day).toBe('2030-03-11'); // the new zone waits
    // New York's 11th ends at 04:00Z of the 12th, when it is the 12th in Tokyo.
    expect(Date.parse(updateOrg.timezoneEffectiveAt ?? '')).toBe(Date.parse('2030-03-12T04:00Z'));
    moveTo('2030-03-12T15:30:00Z');
    expect((await submit(cost(place))).day).toBe('2030-03-13');
    expect((await submit(cost(place, { occurredAt: '2030-03-12T04:00:00Z' }))).day).toBe('2030-03-12');
    expect((await submit(cost(place, { occurredAt: '2030-03-12T03:59:59Z' }))).day).toBe('2030-03-11');
  });
});

describe('an id sent again', () => {
  const first = { replayed: true, label: 'premium', costUsdMicros: 1000, priceSource: 'SUBMITTED' };

  it('gets its first receipt, as often as it is sent, on any gateway, and counts once', async () => {
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

  it('gets its receipt 30 days later, said when it occurred or not', async () => {
    const place = await newPlace();
    const [dated, undated] = [cost(place, { occurredAt: ago(1000) }), cost(place)];
    const { day } = await submit(dated);
    await submit(undated);
    app.clock.advance(30 * dayMs);
    for (const gateway of [app, other])
      for (const input of [dated, undated]) expect(await submit(input, gateway)).toMatchObject({ ...first, day });
    expect(await refusal({ ...dated, inputTokens: 11 })).toBe('IDEMPOTENCY_CONFLICT');
    expect(await refusal({ ...dated, requestId: randomUUID() })).toBe('BAD_USER_INPUT');
    expect([(await exact(place, day)).requests, (await exact(place)).requests]).toEqual([2, 0]);
  });

  it('is a new one after its 35 days, though its record is still there, and not a minute before', async () => {
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
    expect(item).toMatchObject({ request_id: input.requestId, day });
    const again = await submit(input);
    expect(again.replayed).toBe(false);
    expect(again.day > day).toBe(true);
    expect(await submit(input, other)).toEqual({ ...again, replayed: true });
    expect((await exact(place)).requests).toBe(1);
  });

  it.each<readonly [string, Partial<op.SubmitCostInput>]>([
    ['tokens in', { inputTokens: 11 }],
    ['tokens out', { outputTokens: 21 }],
    ['a cost', { costUsdMicros: 1001 }],
    ['no cost', { costUsdMicros: null }],
    ['a label', { modelLabel: 'standard' }],
    ['a status', { callStatus: 'ERROR' }],
    ['an instant', { occurredAt: '2030-01-01T00:00:00Z' }],
  ])('with %s other than before is a conflict and counts nothing', async (_what, change) => {
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

  it('by another org is a call of that org', async () => {
    const [mine, theirs] = [await newPlace(), await newPlace()];
    const input = cost(mine);
    await submit(input);
    expect((await submit({ ...input, ...theirs, costUsdMicros: 5 })).replayed).toBe(false);
    expect([(await exact(mine)).costUsdMicros, (await exact(theirs)).costUsdMicros]).toEqual([1000, 5]);
  });
});

describe('many at once', () => {
  it('count each of 200 ids once, though each is sent three times over two gateways', async () => {
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

  it('let one of two with the same id and other figures win, and count that one', async () => {
    const place = await newPlace();
    const requestIds = Array.from({ length: 20 }, () => randomUUID());
    const answers = await Promise.all(
      requestIds.flatMap((requestId) =>
        [app, other].map((gateway, i) =>
          gateway.admin.send(op.SubmitCostDocument, { input: cost(place, { requestId, costUsdMicros: i + 1 }) }),
        ),
      ),
    );
    const won = answers.flatMap(({ data }) => (data ? [data.submitCost] : []));
    expect(new Set(won.map(({ requestId }) => requestId)).size).toBe(20);
    expect(won).toHaveLength(20);
    expect(answers.flatMap(({ errors }) => errors?.map(({ extensions }) => extensions.code) ?? [])).toEqual(
      Array(20).fill('IDEMPOTENCY_CONFLICT'),
    );
    expect(await exact(place)).toMatchObject({
      costUsdMicros: won.reduce((sum, { costUsdMicros }) => sum + costUsdMicros, 0),
      requests: 20,
    });
  });
});

describe('submitCosts', () => {
  it('takes 1 to 100, in the order they were sent, and neither 0 nor 101', async () => {
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

  it('tells each its own code, and counts the neighbours of a bad one', async () => {
    const place = await newPlace();
    const foreign = await newPlace();
    const known = cost(place);
    await submit(known);
    const inputs = [
      cost(place),
      cost(place, { modelLabel: 'gold' }),
      cost(place, { appId: 'nobody' }),
      cost(place, { costUsdMicros: -1 }),
      cost(place, { occurredAt: ago(2 * dayMs) }),
      { ...known, costUsdMicros: 7 },
      cost({ orgId: place.orgId }),
      { ...known },
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

  it('counts an id once that stands in it twice, and refuses it with other figures', async () => {
    const place = await newPlace();
    const twice = cost(place);
    const torn = cost(place);
    const outcomes = await submitAll([twice, torn, cost(place), twice, { ...torn, costUsdMicros: 2 }, twice]);
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

  it('counts one of two with the same id and different labels, and refuses the other', async () => {
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

describe('spend', () => {
  it('as aggregated is empty and undated before the first round, then what was there at its time', async () => {
    const place = await newPlace();
    await submit(cost(place, { costUsdMicros: 2_500_000 }));
    const before = await spendOf(place, 'AGGREGATED');
    expect(before).toMatchObject({ costUsdMicros: 0, requests: 0, mode: 'NORMAL', scope: 'APP', stickyFallback: null });
    expect(before.labels.map(({ asOf }) => asOf)).toEqual([null, null, null]);
    const beganMs = app.clock.nowMs();
    await worker.spend.sumAll();
    await submit(cost(place, { costUsdMicros: 1 }));
    const premium = labelOf(await spendOf(place, 'AGGREGATED'), 'premium');
    expect(premium).toMatchObject({
      costUsdMicros: 2_500_000,
      requests: 1,
      quotaUsdMicros: 10_000_000,
      quotaPct: 25,
      mode: 'NORMAL',
    });
    // Less a second, in which the index of shards may not have shown the newest yet.
    expect(Date.parse(premium?.asOf ?? '')).toBeGreaterThanOrEqual(beganMs - 1000);
    expect(Date.parse(premium?.asOf ?? '')).toBeLessThanOrEqual(app.clock.nowMs());
    const { submitCost } = await app.admin.ask(op.SubmitCostWithSpendDocument, { input: cost(place) });
    expect(submitCost.spend).toEqual(premium);
  });

  it('as exact is what is there now, dated now', async () => {
    const place = await newPlace();
    await submit(cost(place, { costUsdMicros: 9_500_000 }));
    await submit(cost(place, { costUsdMicros: 5_000_000, modelLabel: 'standard' }));
    const beganMs = app.clock.nowMs();
    const spend = await exact(place);
    expect(spend).toMatchObject({
      costUsdMicros: 14_500_000,
      inputTokens: 20,
      outputTokens: 40,
      requests: 2,
      mode: 'EXCEEDED',
    });
    expect(spend.labels.map(({ label, quotaPct, mode }) => [label, quotaPct, mode])).toEqual([
      ['premium', 95, 'TIGHT'],
      ['standard', 100, 'EXCEEDED'],
      ['economy', 0, 'NORMAL'],
    ]);
    for (const { asOf } of spend.labels) expect(Date.parse(asOf ?? '')).toBeGreaterThanOrEqual(beganMs);
  });

  it('of an org under quotaScope APP is the sum over its apps, with no quota and the worst of their modes', async () => {
    const { orgId } = await newOrg(app, inUtc);
    const [calm, worn, quiet] = [
      await addApp(orgId, 'calm'),
      await addApp(orgId, 'worn'),
      await addApp(orgId, 'quiet'),
    ];
    await submit(cost(calm, { costUsdMicros: 100 }));
    await submit(cost(worn, { costUsdMicros: 9_600_000 }));
    await submit(cost(worn, { costUsdMicros: 5_000_000, modelLabel: 'standard' }));
    await worker.spend.sumAll();
    for (const consistency of ['EXACT', 'AGGREGATED'] as const) {
      const spend = await orgSpend(orgId, consistency);
      expect(spend).toMatchObject({
        scope: 'ORG',
        costUsdMicros: 14_600_100,
        requests: 3,
        inputTokens: 30,
        mode: 'EXCEEDED',
        stickyFallback: null,
      });
      expect(
        spend.labels.map(({ label, costUsdMicros, quotaUsdMicros, quotaPct, mode }) => [
          label,
          costUsdMicros,
          quotaUsdMicros,
          quotaPct,
          mode,
        ]),
      ).toEqual([
        ['premium', 9_600_100, null, null, 'TIGHT'],
        ['standard', 5_000_000, null, null, 'EXCEEDED'],
        ['economy', 0, null, null, 'NORMAL'],
      ]);
      expect((await spendOf(quiet, consistency)).requests).toBe(0);
      expect(await spendOf(calm, consistency)).toMatchObject({ scope: 'APP', costUsdMicros: 100, mode: 'NORMAL' });
    }
    // An app that is not summed in the round still counts in the roll-up.
    await submit(cost(calm, { costUsdMicros: 1 }));
    await worker.spend.sumAll();
    expect((await orgSpend(orgId, 'AGGREGATED')).costUsdMicros).toBe(14_600_101);
    await submit(cost(worn, { costUsdMicros: 1 }));
    await worker.spend.sumNear();
    expect((await orgSpend(orgId, 'AGGREGATED')).costUsdMicros).toBe(14_600_102);
  });

  it('of an org under quotaScope APP follows a change of its apps’ quotas, with the next round at the latest', async () => {
    const place = await newPlace();
    await submit(cost(place, { costUsdMicros: 10_000_000 }));
    await worker.spend.sumAll();
    expect((await orgSpend(place.orgId, 'AGGREGATED')).mode).toBe('EXCEEDED');
    await app.admin.ask(op.UpdateAppDocument, {
      input: {
        ...place,
        quotas: ['premium', 'standard', 'economy'].map((label) => ({ label, dailyUsdMicros: 90_000_000 })),
      },
    });
    await worker.spend.sumAll();
    expect((await spendOf(place, 'AGGREGATED')).mode).toBe('NORMAL');
    expect((await orgSpend(place.orgId, 'EXACT')).mode).toBe('NORMAL');
    expect((await orgSpend(place.orgId, 'AGGREGATED')).mode).toBe('NORMAL');
  });

  it('of an app under quotaScope ORG is the org’s, which all its apps share', async () => {
    const { orgId } = await newOrg(app, { ...inUtc, quotaScope: 'ORG' });
    const [one, two] = [await addApp(orgId, 'one'), await addApp(orgId, 'two')];
    await submit(cost(one, { costUsdMicros: 4_000_000 }));
    await submit(cost(two, { costUsdMicros: 6_000_000 }));
    await worker.spend.sumAll();
    for (const consistency of ['EXACT', 'AGGREGATED'] as const) {
      const [ofOrg, ofOne, ofTwo] = [
        await orgSpend(orgId, consistency),
        await spendOf(one, consistency),
        await spendOf(two, consistency),
      ];
      for (const spend of [ofOrg, ofOne, ofTwo]) {
        expect(spend).toMatchObject({ scope: 'ORG', costUsdMicros: 10_000_000, requests: 2, mode: 'EXCEEDED' });
        expect(labelOf(spend, 'premium')).toMatchObject({ quotaUsdMicros: 10_000_000, quotaPct: 100 });
      }
    }
  });

  it('of a past day is that day’s, aggregated though it has ended; of a future one it is refused', async () => {
    const place = await newPlace();
    const { day } = await submit(cost(place, { costUsdMicros: 5 }));
    app.clock.advance(dayMs);
    await submit(cost(place, { costUsdMicros: 7 }));
    await worker.spend.sumAll();
    for (const consistency of ['EXACT', 'AGGREGATED'] as const) {
      expect(await spendOf(place, consistency, day)).toMatchObject({ day, costUsdMicros: 5 });
      expect(await spendOf(place, consistency)).toMatchObject({ day: daysAgo(0), costUsdMicros: 7 });
      expect(await spendOf(place, consistency, '2020-01-01')).toMatchObject({ day: '2020-01-01', costUsdMicros: 0 });
    }
    expect(await app.admin.codeOf(op.AppSpendDocument, { ...place, consistency: 'EXACT', day: daysAgo(-1) })).toBe(
      'BAD_USER_INPUT',
    );
    expect(
      await app.admin.codeOf(op.OrgSpendDocument, { orgId: place.orgId, consistency: 'AGGREGATED', day: daysAgo(-1) }),
    ).toBe('BAD_USER_INPUT');
  });
});

describe('spendHistory', () => {
  it('has every day of the range, oldest first, both ends included, those without spend too', async () => {
    const place = await newPlace();
    await submit(cost(place, { costUsdMicros: 1 }));
    app.clock.advance(dayMs);
    await worker.spend.sumAll();
    app.clock.advance(dayMs);
    await submit(cost(place, { costUsdMicros: 2 }));
    await submit(cost(place, { costUsdMicros: 4, modelLabel: 'economy' }));
    await worker.spend.sumAll();
    const range = { from: daysAgo(3), to: daysAgo(0) };
    const ofApp = (await app.admin.ask(op.AppHistoryDocument, { ...place, ...range })).org?.app?.spendHistory ?? [];
    expect(ofApp.map(({ day, costUsdMicros, requests }) => [day, costUsdMicros, requests])).toEqual([
      [daysAgo(3), 0, 0],
      [daysAgo(2), 1, 1],
      [daysAgo(1), 0, 0],
      [daysAgo(0), 6, 2],
    ]);
    expect(ofApp.at(-1)?.labels.map(({ label, costUsdMicros }) => [label, costUsdMicros])).toEqual([
      ['premium', 2],
      ['standard', 0],
      ['economy', 4],
    ]);
    const ofOrg =
      (await app.admin.ask(op.OrgHistoryDocument, { orgId: place.orgId, ...range })).org?.spendHistory ?? [];
    expect(ofOrg.map(({ costUsdMicros }) => costUsdMicros)).toEqual([0, 1, 0, 6]);
    const oneDay = await app.admin.ask(op.AppHistoryDocument, { ...place, from: daysAgo(2), to: daysAgo(2) });
    expect(oneDay.org?.app?.spendHistory.map(({ costUsdMicros }) => costUsdMicros)).toEqual([1]);
  });

  it('has up to 366 days and no more', async () => {
    const place = await newPlace();
    const days =
      'query ($orgId: UUID, $appId: String!, $from: LocalDate!, $to: LocalDate!) { org(orgId: $orgId) { app(appId: $appId) { spendHistory(from: $from, to: $to) { day } } } }';
    const { org } = await app.admin.ask<{ org: { app: { spendHistory: { day: string }[] } } }, object>(days, {
      ...place,
      from: daysAgo(365),
      to: daysAgo(0),
    });
    expect(org.app.spendHistory).toHaveLength(366);
    expect([org.app.spendHistory[0]?.day, org.app.spendHistory.at(-1)?.day]).toEqual([daysAgo(365), daysAgo(0)]);
    expect(await app.admin.codeOf(days, { ...place, from: daysAgo(366), to: daysAgo(0) })).toBe('BAD_USER_INPUT');
  });

  it.each([
    ['ends before it begins', () => ({ from: daysAgo(1), to: daysAgo(2) })],
    ['ends in the future', () => ({ from: daysAgo(1), to: daysAgo(-1) })],
    ['lies in the future', () => ({ from: daysAgo(-1), to: daysAgo(-2) })],
  ])('is refused if it %s', async (_what, range) => {
    const place = await newPlace();
    expect(await app.admin.codeOf(op.AppHistoryDocument, { ...place, ...range() })).toBe('BAD_USER_INPUT');
    expect(await app.admin.codeOf(op.OrgHistoryDocument, { orgId: place.orgId, ...range() })).toBe('BAD_USER_INPUT');
  });
});
