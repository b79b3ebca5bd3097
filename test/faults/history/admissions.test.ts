import { randomUUID } from 'node:crypto';
import { print } from 'graphql';
import { type Background, buildBackground } from '../../../src/app.js';
import { silentLog } from '../../../src/lib/log.js';
import { sleep } from '../../../src/lib/timers.js';
import { slotMs } from '../../../src/spend/held/held.js';
import type { HardApp } from '../../support/admissions.js';
import { adminKey, startTestApp, type TestApp } from '../../support/app.js';
import { Chance, testSeed } from '../../support/chance.js';
import { CancelAdmissionDocument, SubmitCostDocument } from '../../support/operations.js';
import { toHour } from '../../worker/costs.js';
import { type AdmissionFacts, admissionViolations } from './admissions.js';
import { AdmitLoad, admitFacts, admitQuota, denialMs, newAdmitApp } from './admit-load.js';
import { violations } from './checks.js';
import { HistoryClient } from './client.js';
import { type Act, type Entry, History } from './history.js';
import { measureLag } from './lag.js';
import { about, honest, type Lie, startLiar } from './liar.js';

const minMs = 1000;
const maxMs = 30_000;
const moveEveryMs = 400;
const maxMoves = 100;
const kinds = ['admit', 'settle', 'renew', 'cost', 'shards'];
const minPerKind = 10;
const minDenials = 20;
const quotaRule = 'settled + reserved within the quota';
const heldRule = 'held as reserved and settled';

let app: TestApp;
let other: TestApp;
let worker: Background;
const lag = measureLag();
beforeAll(async () => {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  other = await app.another();
  worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
});
afterAll(async () => {
  lag.stop();
  worker.close();
  await Promise.all([app.stop(), other.stop()]);
  app.tableAdmin.client.destroy();
});

const hasEnough = (entries: readonly Entry[]): boolean =>
  kinds.every((kind) => entries.filter(({ act }) => act.kind === kind).length >= minPerKind) &&
  entries.filter(({ data }) => data.room).length >= minDenials;

type PassSlots = (count: number) => Promise<void>;

/** Many clients at the same time, while the clock passes slots. */
async function crowd(load: AdmitLoad, passSlots: PassSlots, entries: readonly Entry[]): Promise<void> {
  load.start();
  const startedMs = Date.now();
  for (let moves = 0; moves < maxMoves && Date.now() - startedMs < maxMs; moves++) {
    if (Date.now() - startedMs > minMs && hasEnough(entries)) break;
    await sleep(moveEveryMs);
    await passSlots(1);
  }
}

const walk: typeof crowd = (load, passSlots) => load.walk(passSlots);

/** The violations in the history of a load on two servers that are broken in the same way. */
async function violationsOf(lie: (place: HardApp) => Lie, drive: typeof crowd): Promise<string[]> {
  // The clock passes some hours, and the day must not end.
  toHour(app.clock, 1);
  const place = await newAdmitApp(app);
  const shared = lie(place);
  const liars = await Promise.all([app, other].map(({ url }) => startLiar(url, shared)));
  const history = new History();
  const admin = { name: 'admin', headers: { 'x-admin-key': adminKey } };
  const client = new HistoryClient({ history, gateways: liars, canaries: {} }, 'admin', admin);
  const nowMs = () => app.clock.nowMs();
  const load = new AdmitLoad({ client, place, gateways: liars.length, chance: new Chance(testSeed), nowMs });
  const clocks = [{ fromMs: 0, aheadMs: app.clock.nowMs() - Date.now() + 1 }];
  const passSlots: PassSlots = async (count) => {
    clocks.push({ fromMs: Date.now(), aheadMs: (clocks.at(-1)?.aheadMs ?? 0) + count * slotMs });
    app.clock.advance(count * slotMs);
    await worker.spend.sumAll();
  };

  await drive(load, passSlots, history.entries);
  await load.settle(60_000);
  const settledMs = Date.now();
  const pausedMs: number[] = [];
  const readAll = async () => {
    await sleep(denialMs + lag.ms);
    pausedMs.push(Date.now());
    await load.readAll();
  };
  await readAll();
  await passSlots(4);
  const sweptMs = Date.now();
  await readAll();
  await Promise.all(liars.map((liar) => liar.stop()));
  const facts = { limits: {}, saturated: [], skewMs: 0, calm: [], drains: [], served: new Set<string>(), settledMs };
  const admissions = { ...admitFacts(place), clocks, denialMs: denialMs + lag.ms, pausedMs, sweptMs };
  return violations(history.entries, { ...facts, revocationGraceMs: 0, lagMs: lag.ms, admissions }).map(
    ({ rule, what }) => `${rule}: ${what}`,
  );
}

interface Open {
  readonly admissionId: string;
  readonly label: string;
  readonly expiresAt: string;
}

/** Reads every response, so that a lie knows the admissions that clients hold. */
function remembering(lie: (open: Map<string, Open>) => Lie): () => Lie {
  return () => {
    const open = new Map<string, Open>();
    const told = lie(open);
    return async (request, truth) => {
      const response = await told(request, truth);
      const { admit } = response.data ?? {};
      if (admit?.__typename === 'Admitted') open.set(admit.admissionId, admit);
      const ended = request.variables.admissionId ?? request.variables.input?.admissionId;
      if (response.data?.settle || response.data?.cancelAdmission) open.delete(ended);
      return response;
    };
  };
}

/** Cancels the oldest admission that a client still holds. */
async function steal(open: Map<string, Open>, truth: Parameters<Lie>[1]): Promise<void> {
  const victim = [...open.values()].find(({ expiresAt }) => Date.parse(expiresAt) > app.clock.nowMs() + slotMs);
  if (!victim) return;
  const { admissionId } = victim;
  open.delete(admissionId);
  await truth({ query: print(CancelAdmissionDocument), variables: { admissionId, sent: false } });
}

const costOf = (place: HardApp, modelLabel: string, requestId: string, costUsdMicros: number) => ({
  query: print(SubmitCostDocument),
  variables: { input: { ...place, requestId, modelLabel, inputTokens: 1, outputTokens: 1, costUsdMicros } },
});

describe('the history check of admissions', () => {
  it.each([
    ['many clients', crowd],
    ['one client after the other', walk],
  ])('finds nothing for an honest server with %s', async (_what, drive) => {
    expect(await violationsOf(() => honest, drive)).toEqual([]);
  });

  const broken: [what: string, rule: string, lie: (place: HardApp) => Lie][] = [
    [
      'reserves without checking the quota',
      quotaRule,
      () =>
        about('admit', async ({ variables }, truth) => {
          const response = await truth();
          const { requestId, labels, estimate } = variables.input;
          if (response.data?.admit?.__typename !== 'Denied' || estimate.costUsdMicros === admitQuota) return response;
          const expiresAt = new Date(app.clock.nowMs() + 30_000).toISOString();
          const made = { requestId, label: labels[0], reservedUsdMicros: estimate.costUsdMicros, expiresAt };
          return { data: { admit: { __typename: 'Admitted', admissionId: requestId, replayed: false, ...made } } };
        })(),
    ],
    [
      'settles without returning the reservation',
      heldRule,
      (place) => {
        const costs = new Map<string, string>();
        return remembering((open) =>
          about('settle', async ({ variables }, truth) => {
            const { admissionId, costUsdMicros } = variables.input;
            const label = open.get(admissionId)?.label;
            if (!label) return truth();
            const requestId = costs.get(admissionId) ?? randomUUID();
            costs.set(admissionId, requestId);
            const { data, ...rest } = await truth(costOf(place, label, requestId, costUsdMicros));
            return { ...rest, data: data && { settle: data.submitCost } };
          })(),
        )();
      },
    ],
    [
      'counts a settled cost twice',
      'conservation of cost',
      (place) =>
        about('settle', async ({ variables }, truth) => {
          const response = await truth();
          const { label, replayed } = response.data?.settle ?? { replayed: true };
          if (!replayed) await truth(costOf(place, label, randomUUID(), variables.input.costUsdMicros + 1));
          return response;
        })(),
    ],
    [
      'returns a cancelled reservation twice',
      heldRule,
      remembering((open) =>
        about('cancelAdmission', async (_request, truth) => {
          const response = await truth();
          if (response.data?.cancelAdmission?.replayed === false) await steal(open, truth);
          return response;
        })(),
      ),
    ],
    [
      'returns a reservation again that a late settle finds returned',
      heldRule,
      remembering((open) =>
        about('settle', async ({ variables }, truth) => {
          const { expiresAt } = open.get(variables.input.admissionId) ?? {};
          const response = await truth();
          open.delete(variables.input.admissionId);
          const isLate = expiresAt !== undefined && Date.parse(expiresAt) + 2 * slotMs < app.clock.nowMs();
          if (isLate && response.data?.settle?.replayed === false) await steal(open, truth);
          return response;
        })(),
      ),
    ],
    [
      'does not list overruns',
      quotaRule,
      about('overruns', async (_request, truth) => {
        const response = await truth();
        if (response.data) response.data.overruns.nodes = [];
        return response;
      }),
    ],
    [
      'lists overruns that did not happen',
      'overruns are justified',
      about('overruns', async (_request, truth) => {
        const response = await truth();
        const made = { requestId: randomUUID(), kind: 'UNRESERVED', overUsdMicros: admitQuota };
        response.data?.overruns.nodes.push(made);
        return response;
      }),
    ],
  ];

  it.each(broken)('finds a server that %s', async (_what, rule, lie) => {
    const found = await violationsOf(lie, walk);
    expect(found.filter((line) => line.startsWith(rule)).length).toBeGreaterThan(0);
  });
});

describe('the history check of a quota of 100', () => {
  const entry = (act: Act, invokedMs: number, data: Entry['data'], outcome: Entry['outcome'] = 'ok'): Entry => ({
    ...{ callId: '', tenant: 'red', credential: 'app', via: 0, act, invokedMs, endedMs: invokedMs + 10, outcome },
    ...{ data, canaries: [] },
  });
  const admitted = (requestId: string, micros: number, invokedMs: number, expiresAtMs = 100_000): Entry =>
    entry({ kind: 'admit', scopes: ['s'], budget: 'b', requestId, micros }, invokedMs, {
      admission: { id: requestId, scope: 's', reservedMicros: micros, expiresAtMs },
      replayed: false,
    });
  const denied = (room: number, micros: number, invokedMs: number): Entry =>
    entry({ kind: 'admit', scopes: ['s'], budget: 'b', requestId: `d${invokedMs}`, micros }, invokedMs, {
      room: { scope: 's', micros: room },
    });
  const unknown = (requestId: string, micros: number, invokedMs: number): Entry =>
    entry({ kind: 'admit', scopes: ['s'], budget: 'b', requestId, micros }, invokedMs, {}, 'unknown');
  const settled = (requestId: string, micros: number, invokedMs: number, replayed = false): Entry =>
    entry({ kind: 'settle', scope: 's', requestId, micros }, invokedMs, { micros, replayed });
  const listed = (requestId: string, kind: string, overMicros: number): Entry =>
    entry({ kind: 'overruns', scope: 's' }, 500_000, { overruns: [{ requestId, kind, overMicros }] });
  const found = (entries: readonly Entry[], facts: Partial<AdmissionFacts> = {}, last = denied(1, 100, 600_000)) =>
    admissionViolations([...entries, last], {
      ...{
        quotas: { s: 100 },
        budget: 'b',
        clocks: [{ fromMs: 0, aheadMs: 0 }],
        denialMs: 100,
        pausedMs: [],
        sweptMs: 550_000,
        ...facts,
      },
    }).map(({ rule }) => rule);
  /** A cost of 99, so that the last denial shows room for 1. */
  const filled = settled('last', 99, 400_000);

  it('accepts reservations up to the quota, and again what was settled or has expired', () => {
    expect(found([admitted('a', 60, 0), admitted('b', 40, 0), filled])).toEqual([]);
    expect(found([admitted('a', 60, 0), settled('a', 0, 20), admitted('b', 100, 20), filled])).toEqual([]);
    expect(found([admitted('a', 60, 0), admitted('b', 100, 100_000, 300_000), filled])).toEqual([]);
  });

  it('finds a reservation beyond the quota, also before a clock passes the expiry of another', () => {
    expect(found([admitted('a', 60, 0), admitted('b', 41, 0), filled])).toEqual([quotaRule]);
    expect(found([admitted('a', 60, 0), admitted('b', 41, 99_000, 300_000), filled])).toEqual([quotaRule]);
    const clocks = [
      { fromMs: 0, aheadMs: 0 },
      { fromMs: 50_000, aheadMs: 60_000 },
    ];
    expect(found([admitted('a', 60, 0), admitted('b', 41, 50_000, 300_000), filled], { clocks })).toEqual([]);
    expect(found([admitted('a', 60, 0), admitted('b', 41, 49_000, 300_000), filled], { clocks })).toEqual([quotaRule]);
  });

  it('accepts a cost beyond the quota only if its overrun is listed, once and with its reason', () => {
    const over = [admitted('a', 60, 0), admitted('b', 40, 0, 300_000), settled('b', 45, 30), settled('a', 54, 300_000)];
    const last = denied(1, 100, 600_000);
    expect(found(over, {}, last)).toEqual([quotaRule]);
    expect(found([...over, listed('b', 'ABOVE_RESERVATION', 5)])).toEqual([]);
    expect(found([...over, listed('b', 'ABOVE_RESERVATION', 6)])).toEqual(['overruns are justified']);
    expect(found([...over, listed('b', 'LATE_SETTLE', 5)])).toEqual(['overruns are justified']);
    expect(found([...over, listed('a', 'LATE_SETTLE', 1)])).toEqual([quotaRule]);
  });

  it('finds figures of a denial that no order of the calls explains', () => {
    expect(found([admitted('a', 60, 0), denied(40, 41, 500), filled])).toEqual([]);
    expect(found([admitted('a', 60, 0), denied(41, 42, 500), filled])).toEqual([heldRule]);
    expect(found([admitted('a', 60, 0), denied(39, 42, 500), filled])).toEqual([heldRule]);
    expect(found([admitted('a', 60, 0), denied(40, 40, 500), filled])).toEqual([heldRule]);
    // The outcome of the second is unknown, so both figures are possible.
    for (const room of [40, 20])
      expect(found([admitted('a', 60, 0), unknown('b', 20, 0), denied(room, 50, 500), filled])).toEqual([]);
    expect(found([admitted('a', 60, 0), unknown('b', 20, 0), denied(19, 50, 500), filled])).toEqual([heldRule]);
  });

  it('accepts the denial of 0 only if more than the quota is held', () => {
    expect(found([admitted('a', 100, 0), denied(0, 0, 500), settled('a', 99, 1000)])).toEqual([heldRule]);
    const over = [admitted('a', 100, 0), settled('a', 105, 20), listed('a', 'ABOVE_RESERVATION', 5)];
    expect(found([...over, denied(0, 0, 500)], {}, denied(0, 100, 600_000))).toEqual([]);
  });

  it('finds a reservation that is left after its slot', () => {
    expect(found([admitted('a', 60, 0), filled], {}, denied(0, 100, 600_000))).toEqual([heldRule]);
  });

  it('finds an admission or a settlement that worked twice', () => {
    expect(found([admitted('a', 60, 0), admitted('a', 60, 20), filled])).toEqual(['once']);
    expect(found([admitted('a', 60, 0), settled('a', 0, 20), settled('a', 0, 40), filled])).toEqual(['once']);
    expect(found([admitted('a', 60, 0), settled('a', 0, 20), settled('a', 0, 40, true), filled])).toEqual([]);
  });
});
