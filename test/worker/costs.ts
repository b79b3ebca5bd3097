import { randomUUID } from 'node:crypto';
import type { StoreClient } from '../../src/dynamo/client.js';
import { type SpendId, sliceOf } from '../../src/orgs/scope.js';
import { noUsage, plus, type Usage } from '../../src/spend/money.js';
import { shardKey, totalKey } from '../../src/spend/spend.item.js';
import { type Caller, orgInput, type TestApp } from '../support/app.js';
import { Chance, testSeed } from '../support/chance.js';
import { ManualClock } from '../support/clock.js';
import * as op from '../support/operations.js';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** A clock that starts at noon UTC, so that no test crosses midnight by accident. */
export function noonClock(): ManualClock {
  const clock = new ManualClock();
  toHour(clock, 12);
  return clock;
}

/** Advances the clock to the next time of this hour, UTC. */
export function toHour(clock: ManualClock, hour: number): void {
  clock.advance(dayMs - ((clock.nowMs() - hour * hourMs) % dayMs));
}

export const dateAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export interface Tenant {
  readonly orgId: string;
  readonly shardCount: number;
}

/** An org in UTC with apps. None of them is logged in; the admin acts for them. */
export async function newTenant(
  app: TestApp,
  overrides: Partial<op.RegisterOrgInput> = {},
  appIds: readonly string[] = ['chat'],
): Promise<Tenant> {
  const { registerOrg } = await app.admin.ask(op.RegisterOrgDocument, {
    input: orgInput({ timezone: 'UTC', ...overrides }),
  });
  const { orgId, shardCount } = registerOrg.org;
  for (const appId of appIds) await app.admin.ask(op.RegisterAppDocument, { input: { orgId, appId, name: appId } });
  return { orgId, shardCount };
}

/** An id of an org that belongs to the same slice. */
export function idInSliceOf(orgId: string): string {
  for (;;) {
    const id = randomUUID();
    if (sliceOf(id) === sliceOf(orgId)) return id;
  }
}

const chance = new Chance(testSeed);

/** The cost of one call, with random figures. */
export const cost = (
  { orgId }: Pick<Tenant, 'orgId'>,
  overrides: Partial<op.SubmitCostInput> = {},
): op.SubmitCostInput => ({
  orgId,
  appId: 'chat',
  requestId: randomUUID(),
  modelLabel: 'premium',
  inputTokens: 1 + chance.below(1000),
  outputTokens: 1 + chance.below(1000),
  costUsdMicros: 1 + chance.below(1000),
  ...overrides,
});

export const costs = (
  tenant: Pick<Tenant, 'orgId'>,
  count: number,
  overrides: Partial<op.SubmitCostInput> = {},
): op.SubmitCostInput[] => Array.from({ length: count }, () => cost(tenant, overrides));

/** Submits all costs at the same time, 100 per request. Throws unless each gets a receipt. */
export async function submit(caller: Caller, inputs: readonly op.SubmitCostInput[]): Promise<void> {
  const requests: op.SubmitCostInput[][] = [];
  for (let i = 0; i < inputs.length; i += 100) requests.push(inputs.slice(i, i + 100));
  const responses = await Promise.all(requests.map((batch) => caller.ask(op.SubmitCostsDocument, { inputs: batch })));
  const rejected = responses.flatMap(({ submitCosts }) => submitCosts).filter(({ receipt }) => !receipt);
  if (rejected.length > 0) throw new Error(`rejected: ${JSON.stringify(rejected[0])}`);
}

/** The sum of the costs. */
export const usageOf = (inputs: readonly op.SubmitCostInput[]): Usage =>
  inputs.reduce(
    (usage, { costUsdMicros, inputTokens, outputTokens }) =>
      plus(usage, { costUsdMicros: costUsdMicros as number, inputTokens, outputTokens, requests: 1 }),
    noUsage,
  );

type Attributes = { readonly [name: string]: unknown };

const usageIn = (item: Attributes): Usage => ({
  costUsdMicros: item.cost_usd_micros as number,
  inputTokens: item.input_tokens as number,
  outputTokens: item.output_tokens as number,
  requests: item.requests as number,
});

/** The stored total. */
export async function totalOf(store: StoreClient, id: SpendId): Promise<Usage | undefined> {
  const item = await store.get('daily_total', totalKey(id), { consistent: true });
  return item && usageIn(item);
}

/** The stored shards that have any cost. */
export async function shardsOf(store: StoreClient, id: SpendId, shardCount: number): Promise<Usage[]> {
  const keys = Array.from({ length: shardCount }, (_, shard) => shardKey(id, shard));
  const items = await store.getMany('usage_agg_sharded', keys, { consistent: true });
  return items.filter((item) => item !== undefined).map(usageIn);
}
