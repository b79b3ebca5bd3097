import { randomUUID } from 'node:crypto';
import type { StoreClient } from '../../src/dynamo/client.js';
import { type SpendId, sliceOf } from '../../src/orgs/scope.js';
import { noUsage, plus, type Usage } from '../../src/spend/money.js';
import { shardKey, totalKey } from '../../src/spend/spend.item.js';
import { type Caller, orgInput, type TestApp } from '../support/app.js';
import { Chance, testSeed } from '../support/chance.js';
import { TestClock } from '../support/clock.js';
import * as op from '../support/operations.js';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** A clock that stands at noon, UTC: no test of it meets a midnight that it did not ask for. */
export function noonClock(): TestClock {
  const clock = new TestClock();
  toHour(clock, 12);
  return clock;
}

/** Moves on to the next time that it is that hour, UTC. */
export function toHour(clock: TestClock, hour: number): void {
  clock.advance(dayMs - ((clock.nowMs() - hour * hourMs) % dayMs));
}

export const dateAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export interface Tenant {
  readonly orgId: string;
  readonly shardCount: number;
}

/** An org in UTC with its apps; nobody of them is logged in, the admin acts for them. */
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

/** An id for an org whose scopes are summed together with the other's. */
export function idInSliceOf(orgId: string): string {
  for (;;) {
    const id = randomUUID();
    if (sliceOf(id) === sliceOf(orgId)) return id;
  }
}

const chance = new Chance(testSeed);

/** One call's cost, of figures that no other has. */
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

/** Submits all at once, a hundred a request; each must get its receipt. */
export async function submit(caller: Caller, inputs: readonly op.SubmitCostInput[]): Promise<void> {
  const requests: op.SubmitCostInput[][] = [];
  for (let i = 0; i < inputs.length; i += 100) requests.push(inputs.slice(i, i + 100));
  const answers = await Promise.all(requests.map((batch) => caller.ask(op.SubmitCostsDocument, { inputs: batch })));
  const refused = answers.flatMap(({ submitCosts }) => submitCosts).filter(({ receipt }) => !receipt);
  if (refused.length > 0) throw new Error(`refused: ${JSON.stringify(refused[0])}`);
}

/** What those costs come to. */
export const usageOf = (inputs: readonly op.SubmitCostInput[]): Usage =>
  inputs.reduce(
    (usage, { costUsdMicros, inputTokens, outputTokens }) =>
      plus(usage, { costUsdMicros: costUsdMicros as number, inputTokens, outputTokens, requests: 1 }),
    noUsage,
  );

type Figures = { readonly [name: string]: unknown };

const usageIn = (item: Figures): Usage => ({
  costUsdMicros: item.cost_usd_micros as number,
  inputTokens: item.input_tokens as number,
  outputTokens: item.output_tokens as number,
  requests: item.requests as number,
});

/** The stored total, as it is. */
export async function totalOf(store: StoreClient, id: SpendId): Promise<Usage | undefined> {
  const item = await store.get('daily_total', totalKey(id), { consistent: true });
  return item && usageIn(item);
}

/** Each shard that has anything, as it is. */
export async function shardsOf(store: StoreClient, id: SpendId, shardCount: number): Promise<Usage[]> {
  const keys = Array.from({ length: shardCount }, (_, shard) => shardKey(id, shard));
  const items = await store.getMany('usage_agg_sharded', keys, { consistent: true });
  return items.filter((item) => item !== undefined).map(usageIn);
}
