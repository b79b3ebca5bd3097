import { randomUUID } from 'node:crypto';
import { sleep } from '../../../src/lib/timers.js';
import { type Denied, type HardApp, newHardApp } from '../../support/admissions.js';
import type { TestApp } from '../../support/app.js';
import type { Chance } from '../../support/chance.js';
import * as op from '../../support/operations.js';
import type { AdmissionFacts } from './admissions.js';
import { type HistoryClient, untilKnown } from './client.js';
import type { Act, Admission, Entry, ResponseData } from './history.js';

export const admitLabels = ['premium', 'standard'] as const;
/** So large that many small costs do not use it up, and reserved by a few admissions at a time. */
export const admitQuota = 100_000_000;
/** Less than the quotas together, so that it denies too. */
export const admitBudget = 180_000_000;
/** Costs are small, because a day has one quota. */
const maxCost = 2000;
const maxLateCost = 200_000;
/** A gateway repeats a denial for this long. */
export const denialMs = 1000;
/** Some reservations expire before the next move of the clocks, some after several. */
const ttls: readonly [short: number, long: number] = [30, 600];

interface Open {
  readonly requestId: string;
  readonly admission: Admission;
  readonly ending: Ending;
}

/** How an admission ends. All retries send the same. */
interface Ending {
  readonly by: 'settle' | 'cancel' | 'submitCost';
  readonly micros: number;
}

export interface AdmitLoadDeps {
  readonly client: HistoryClient;
  readonly place: HardApp;
  readonly gateways: number;
  readonly chance: Chance;
  /** The time of the gateways. */
  readonly nowMs: () => number;
}

const scopeOf = ({ appId }: HardApp, label: string): string => `${appId}/${label}`;

const budgetOf = (place: HardApp): string => scopeOf(place, 'budget');

/** The app of the load. */
export const newAdmitApp = (app: TestApp, timezone = 'UTC'): Promise<HardApp> =>
  newHardApp(app, Object.fromEntries(admitLabels.map((label) => [label, admitQuota])), {
    org: { timezone },
    budget: { period: 'DAY', usdMicros: admitBudget },
  });

/** The facts about this load that the checks need. */
export const admitFacts = (place: HardApp): Pick<AdmissionFacts, 'quotas' | 'budget'> => ({
  quotas: {
    ...Object.fromEntries(admitLabels.map((label) => [scopeOf(place, label), admitQuota])),
    [budgetOf(place)]: admitBudget,
  },
  budget: budgetOf(place),
});

/** Clients that reserve more than the quotas of one app have, and settle, cancel, renew, repeat or forget it. */
export class AdmitLoad {
  private isOver = false;
  private giveUpMs = Number.POSITIVE_INFINITY;
  private readonly actors: Promise<void>[] = [];
  /** How long the last admission took. */
  private admitMs = 0;
  /** Admissions that their clients have forgotten. Some are settled later. */
  private readonly forgotten: Open[] = [];

  constructor(private readonly deps: AdmitLoadDeps) {}

  start(): void {
    const each = (count: number, actor: (chance: Chance) => Promise<void>) => {
      for (let i = 0; i < count; i++) this.actors.push(this.repeat(actor, this.deps.chance.fork()));
    };
    each(10, (chance) => this.useAdmission(chance));
    each(1, (chance) => this.settleForgotten(chance));
    each(1, (chance) => this.submitUnreserved(chance, chance.one(admitLabels)));
    each(1, (chance) => this.read(chance));
  }

  /**
   * Every kind of call, one after the other, so that the history is the same on every machine: a full quota, a late
   * settlement, one above its reservation, and reservations that are left at the end.
   */
  async walk(passSlots: (count: number) => Promise<void>): Promise<void> {
    const { chance } = this.deps;
    const [label] = admitLabels;
    const open = async (micros: number, ttlSecs: number, ending: Ending): Promise<Open | undefined> => {
      const { requestId, entry } = await this.admit(chance, [label], micros, { ttlSecs });
      return entry.data.admission && { requestId, admission: entry.data.admission, ending };
    };
    const end = (one: Open | undefined) => one && this.untilKnown(chance, (via) => this.sendEnding(via, one));
    const [short, long] = ttls;
    const late = await open(admitQuota * 0.3, short, { by: 'settle', micros: maxLateCost });
    await passSlots(4);
    await end(await open(admitQuota * 0.4, long, { by: 'settle', micros: maxCost }));
    await open(admitQuota * 0.3, long, { by: 'cancel', micros: 0 });
    const small = await open(maxCost, long, { by: 'settle', micros: 2 * maxCost });
    const held = (await this.probe(chance, label)) ?? 0;
    const rest = await open(admitQuota - held, long, { by: 'cancel', micros: 0 });
    await open(maxCost, long, { by: 'cancel', micros: 0 });
    await end(small);
    await end(late);
    for (const each of admitLabels) await this.submitUnreserved(chance, each);
    await end(rest);
  }

  /** Ends the load and retries calls with an unknown outcome until it is known. */
  async settle(withinMs: number): Promise<void> {
    this.isOver = true;
    this.giveUpMs = Date.now() + withinMs;
    await Promise.all(this.actors);
  }

  /** Reads the costs and the overruns of each label, and how much of its quota is held. */
  async readAll(): Promise<void> {
    const { chance } = this.deps;
    const [first, second] = admitLabels;
    for (const label of admitLabels) await this.untilKnown(chance, (via) => this.readCosts(via, label));
    await this.probe(chance, first);
    const held = (await this.probe(chance, second)) ?? 0;
    await this.probeBudget(chance, { full: second, held, other: first });
    await this.readOverruns();
  }

  /** Waits until nothing is reserved. */
  async untilReturned(withinMs: number): Promise<void> {
    const { chance } = this.deps;
    for (const label of admitLabels)
      for (const untilMs = Date.now() + withinMs; Date.now() < untilMs; await sleep(300)) {
        const { data } = await this.untilKnown(chance, (via) => this.readCosts(via, label));
        const held = await this.probe(chance, label);
        if (held === data.micros) break;
      }
  }

  private async repeat(actor: (chance: Chance) => Promise<void>, chance: Chance): Promise<void> {
    while (!this.isOver) await actor(chance);
  }

  private untilKnown(chance: Chance, attempt: (via: number) => Promise<Entry>): Promise<Entry> {
    const { gateways } = this.deps;
    // An admission that was lost and has ended since cannot be asked for again.
    return untilKnown({ chance, gateways, giveUpMs: () => this.giveUpMs, finalCodes: ['LEASE_EXPIRED'] }, attempt);
  }

  private async useAdmission(chance: Chance): Promise<void> {
    const small = chance.hit(0.3);
    const micros = small ? chance.between(1, maxCost) : chance.between(admitQuota / 8, admitQuota / 2);
    const labels = chance.hit(0.6) ? [chance.one(admitLabels)] : chance.shuffled(admitLabels);
    const { requestId, entry } = await this.admit(chance, labels, micros, { waitMs: chance.hit(0.2) ? 300 : 0 });
    const { admission, room } = entry.data;
    if (!admission) {
      // Fills the quota or the budget to the last micro-dollar.
      if (room && room.micros > 0 && labels.length === 1 && chance.hit(0.8))
        await this.fill(chance, labels, room.micros);
      return sleep(chance.between(20, 100));
    }
    const over = small && chance.hit(0.3) ? chance.between(1, maxCost) : 0;
    const micro = over > 0 ? micros + over : chance.between(0, Math.min(micros, maxCost));
    const by = chance.one(['settle', 'settle', 'cancel', 'submitCost'] as const);
    await this.use(chance, { requestId, admission, ending: { by, micros: by === 'cancel' ? 0 : micro } });
  }

  private async fill(chance: Chance, labels: readonly string[], micros: number): Promise<void> {
    const { requestId, entry } = await this.admit(chance, labels, micros);
    const { admission } = entry.data;
    if (admission) await this.use(chance, { requestId, admission, ending: { by: 'cancel', micros: 0 } });
  }

  /** Holds the reservation for a while, renews it in some cases, and ends it or forgets it. */
  private async use(chance: Chance, open: Open): Promise<void> {
    // Longer than calls take on this machine, so that quotas are full most of the time.
    await sleep(chance.between(20, 100) + chance.between(0, 2) * this.admitMs);
    if (chance.hit(0.15)) await this.untilKnown(chance, (via) => this.renew(via, open));
    if (chance.hit(0.2)) {
      const late: Ending = {
        by: chance.one(['settle', 'submitCost'] as const),
        micros: chance.between(1, maxLateCost),
      };
      this.forgotten.push(open.ending.by === 'cancel' ? open : { ...open, ending: late });
      return;
    }
    await this.end(chance, open);
  }

  private async end(chance: Chance, open: Open): Promise<void> {
    const once = (via: number) => this.sendEnding(via, open);
    // Some clients send it twice at the same time, some retry a call that has succeeded, some cancel what has ended.
    const twin = chance.hit(0.2) ? this.untilKnown(chance, once) : undefined;
    const { outcome } = await this.untilKnown(chance, once);
    await twin;
    if (outcome !== 'ok') return;
    if (chance.hit(0.1)) await once(chance.below(this.deps.gateways));
    if (chance.hit(0.1)) await this.sendEnding(chance.below(this.deps.gateways), open, 'cancel');
  }

  private async settleForgotten(chance: Chance): Promise<void> {
    await sleep(chance.between(100, 400));
    const [open] = chance.hit(0.5) ? this.forgotten.splice(chance.below(this.forgotten.length), 1) : [];
    if (open) await this.end(chance, open);
  }

  private async submitUnreserved(chance: Chance, label: string): Promise<void> {
    const { place } = this.deps;
    const requestId = randomUUID();
    const act: Act = { kind: 'cost', scope: scopeOf(place, label), requestId, micros: chance.between(1, maxCost) };
    await this.untilKnown(chance, (via) => this.submitCost(via, act));
    await sleep(chance.between(50, 200));
  }

  private async read(chance: Chance): Promise<void> {
    const label = chance.one(admitLabels);
    if (chance.hit(0.5)) await this.readCosts(chance.below(this.deps.gateways), label);
    else await this.probe(chance, label);
    await sleep(chance.between(50, 200));
  }

  /** Requests the whole quota. The denial says how much is held. */
  private async probe(chance: Chance, label: string): Promise<number | undefined> {
    const { requestId, entry } = await this.admit(chance, [label], admitQuota);
    const { admission, room } = entry.data;
    if (admission) await this.end(chance, { requestId, admission, ending: { by: 'cancel', micros: 0 } });
    return room?.scope === scopeOf(this.deps.place, label) ? admitQuota - room.micros : undefined;
  }

  /** Reserves the rest of one quota, so that the budget has less room than the other one. */
  private async probeBudget(
    chance: Chance,
    { full, held, other }: { readonly full: string; readonly held: number; readonly other: string },
  ): Promise<void> {
    const { requestId, entry } = await this.admit(chance, [full], admitQuota - held);
    const { admission } = entry.data;
    // A gateway would repeat the denial of the quota.
    await sleep(denialMs + 500);
    await this.probe(chance, other);
    if (admission) await this.end(chance, { requestId, admission, ending: { by: 'cancel', micros: 0 } });
  }

  private async admit(
    chance: Chance,
    labels: readonly string[],
    micros: number,
    { ttlSecs = chance.one(ttls), waitMs = 0 }: { readonly ttlSecs?: number; readonly waitMs?: number } = {},
  ) {
    const { client, place } = this.deps;
    const requestId = randomUUID();
    const input = { ...place, requestId, labels: [...labels], estimate: { costUsdMicros: micros }, ttlSecs, waitMs };
    const scopes = labels.map((label) => scopeOf(place, label));
    const act: Act = { kind: 'admit', scopes, budget: budgetOf(place), requestId, micros };
    const send = (via: number) =>
      client.call(via, act, op.AdmitDocument, { input }, ({ admit }) =>
        admit.__typename === 'Admitted'
          ? { admission: this.admissionOf(admit), replayed: admit.replayed }
          : { room: this.roomOf(admit) },
      );
    const entry = await this.untilKnown(chance, send);
    if (entry.outcome === 'ok') this.admitMs = entry.endedMs - entry.invokedMs;
    if (entry.data.admission && chance.hit(0.1)) await send(chance.below(this.deps.gateways));
    return { requestId, entry };
  }

  private roomOf({ binding: { kind, name, wouldPass } }: Denied): { readonly scope: string; readonly micros: number } {
    const { place } = this.deps;
    return { scope: kind === 'BUDGET' ? budgetOf(place) : scopeOf(place, name), micros: wouldPass };
  }

  private admissionOf({ admissionId, label, reservedUsdMicros, expiresAt }: op.AdmittedFragment): Admission {
    return {
      id: admissionId,
      scope: scopeOf(this.deps.place, label),
      reservedMicros: reservedUsdMicros,
      expiresAtMs: Date.parse(expiresAt),
    };
  }

  private renew(via: number, { requestId, admission }: Open): Promise<Entry> {
    const { client } = this.deps;
    const variables = { admissionId: admission.id, ttlSecs: 2 * ttls[0] };
    const act: Act = { kind: 'renew', requestId };
    return client.call(via, act, op.RenewAdmissionDocument, variables, ({ renewAdmission }) => ({
      admission: this.admissionOf(renewAdmission),
    }));
  }

  private sendEnding(via: number, { requestId, admission, ending }: Open, by = ending.by): Promise<Entry> {
    const { client } = this.deps;
    const act: Act = { kind: 'settle', scope: admission.scope, requestId, micros: ending.micros };
    const admissionId = admission.id;
    switch (by) {
      case 'submitCost':
        return this.submitCost(via, act);
      case 'cancel':
        return client.call(via, act, op.CancelAdmissionDocument, { admissionId, sent: false }, ({ cancelAdmission }) =>
          receiptOf(cancelAdmission),
        );
      case 'settle': {
        const input = { admissionId, inputTokens: 1, outputTokens: 1, costUsdMicros: ending.micros };
        return client.call(via, act, op.SettleDocument, { input }, ({ settle }) => receiptOf(settle));
      }
    }
  }

  private submitCost(via: number, act: Extract<Act, { kind: 'cost' | 'settle' }>): Promise<Entry> {
    const { client, place } = this.deps;
    const { requestId, micros: costUsdMicros } = act;
    const modelLabel = act.scope.split('/')[1] as string;
    const input = { ...place, requestId, modelLabel, inputTokens: 1, outputTokens: 1, costUsdMicros };
    return client.call(via, act, op.SubmitCostDocument, { input }, ({ submitCost }) => receiptOf(submitCost));
  }

  private readCosts(via: number, label: string): Promise<Entry> {
    const { client, place } = this.deps;
    const variables = { ...place, consistency: 'EXACT' as const };
    const act: Act = { kind: 'shards', scope: scopeOf(place, label) };
    return client.call(via, act, op.AppSpendDocument, variables, ({ org }) => ({
      micros: org?.app?.spend.labels.find((one) => one.label === label)?.costUsdMicros ?? 0,
    }));
  }

  private async readOverruns(): Promise<void> {
    const { client, place, chance, nowMs } = this.deps;
    const dayAt = (days: number) => new Date(nowMs() + days * 86_400_000).toISOString().slice(0, 10);
    const range = { ...place, from: dayAt(-1), to: dayAt(1), first: 100 };
    const act: Act = { kind: 'overruns', scope: place.appId };
    const all: { requestId: string; kind: string; overMicros: number }[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const position: { after: string | null } = { after };
      // The entry of the last page contains all overruns.
      const { outcome } = await this.untilKnown(chance, (via) =>
        client.call(via, act, op.OverrunsDocument, { ...range, ...position }, ({ overruns: { nodes, pageInfo } }) => {
          all.push(...nodes.map(({ overUsdMicros, ...one }) => ({ ...one, overMicros: overUsdMicros })));
          more = pageInfo.hasNextPage;
          after = pageInfo.endCursor;
          return { overruns: [...all] };
        }),
      );
      if (outcome !== 'ok') return;
    }
  }
}

const receiptOf = ({
  costUsdMicros,
  replayed,
}: Pick<op.ReceiptFragment, 'costUsdMicros' | 'replayed'>): ResponseData => ({
  micros: costUsdMicros,
  replayed,
});
