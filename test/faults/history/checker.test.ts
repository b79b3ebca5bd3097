import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../../src/app.js';
import { silentLog } from '../../../src/lib/log.js';
import { type Repeating, repeat, sleep } from '../../../src/lib/timers.js';
import { adminKey, startTestApp, type TestApp } from '../../support/app.js';
import { Chance, testSeed } from '../../support/chance.js';
import { revocationMs, violations } from './checks.js';
import { type Entry, History } from './history.js';
import { measureLag } from './lag.js';
import { type Lie, startLiar, type Told } from './liar.js';
import { factsOf, Load, newCanary, newTenants } from './load.js';

const leastEntries = 250;
const kinds = ['cost', 'acquire', 'adjust', 'release', 'ingest', 'shards', 'total', 'retrieve', 'refresh', 'revoke'];
const leastOfAKind = 2;
const shortMs = 300;
/** Long enough for a revocation to hold, and for a rate to show. */
const longMs = 4000;
const mostMs = 60_000;
const nothingStopped = { drains: [], served: new Set<string>() };
const calmAfterMs = 500;

let app: TestApp;
let worker: Background;
let rounds: Repeating;
const lag = measureLag();
beforeAll(async () => {
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  worker = buildBackground(app.config, { log: silentLog });
  rounds = repeat(
    400,
    async () => void (await worker.spend.sumAll()),
    () => undefined,
  );
});
afterAll(async () => {
  lag.stop();
  await rounds.stop();
  worker.close();
  await app.stop();
  app.tableAdmin.client.destroy();
});

/** What the log of a short mixed load on two servers, broken alike, is found to say. */
async function judged(
  loadMs: number,
  lie: (canaries: Readonly<Record<string, string>>) => Lie,
  isEnough: (entries: readonly Entry[]) => boolean = hasSomeOfAll,
): Promise<string[]> {
  const canaries = { red: newCanary(), blue: newCanary() };
  const shared = lie(canaries);
  const liars = await Promise.all([1, 2].map(() => startLiar(app.url, shared)));
  const history = new History();
  const tenants = await newTenants(app, { history, gateways: liars, canaries }, adminKey, 'UTC');
  const isHonest = shared === honest;
  // Only an honest server is given time: on a busy machine too all must come out in the end.
  const patienceMs = isHonest ? 60_000 : 3000;
  const load = new Load(tenants, liars.length, new Chance(testSeed), patienceMs);
  load.start();
  const startedMs = Date.now();
  while (Date.now() - startedMs < loadMs || (!isEnough(history.entries) && Date.now() - startedMs < mostMs))
    await sleep(50);
  const calm = [{ fromMs: startedMs + calmAfterMs, toMs: Date.now() }];
  const settledMs = await load.settle(patienceMs);
  await Promise.all(liars.map((liar) => liar.stop()));
  return violations(history.entries, {
    ...factsOf(tenants),
    ...nothingStopped,
    skewMs: 0,
    calm,
    settledMs,
    revocationGraceMs: 0,
    lagMs: isHonest ? lag.ms : 0,
  }).map(({ rule, what }) => `${rule}: ${what}`);
}

const hasSomeOfAll = (entries: readonly Entry[]): boolean =>
  entries.length >= leastEntries &&
  kinds.every((kind) => entries.filter(({ act }) => act.kind === kind).length >= leastOfAKind);

/** Whether a token that was revoked has been presented once more when that holds everywhere. */
const hasAskedAfterRevocation = (entries: readonly Entry[]): boolean =>
  entries.some(({ act, outcome, endedMs }) => {
    const credential = act.kind === 'revoke' && outcome === 'ok' ? act.credential : undefined;
    return (
      credential !== undefined &&
      entries.some((entry) => entry.credential === credential && entry.invokedMs > endedMs + revocationMs)
    );
  });

const honest: Lie = (_asked, truth) => truth();
/** Lies about one operation, and tells the truth of all others. */
const about =
  (field: string, lie: Lie): (() => Lie) =>
  () =>
  (asked, truth) =>
    new RegExp(`\\b${field}\\(`).test(asked.query) ? lie(asked, truth) : truth();
/** Every so many times. */
const every = (nth: number, lie: Lie): Lie =>
  (() => {
    let count = 0;
    return (asked, truth) => (++count % nth === 0 ? lie(asked, truth) : truth());
  })();

/** What was answered to the same question before is answered again. */
const byHeart = (
  key: (variables: { token: string; refreshToken: string }) => string,
  change: (told: Told) => Told = (told) => told,
): Lie => {
  const known = new Map<string, Promise<Told>>();
  return async (asked, truth) => {
    const before = known.get(key(asked.variables));
    if (before) return change(structuredClone(await before));
    const told = truth();
    known.set(key(asked.variables), told);
    return told;
  };
};

describe('the history of', () => {
  it('an honest server shows nothing', async () => {
    expect(await judged(longMs, () => honest)).toEqual([]);
  });

  let lastReceipt: Told | undefined;
  const broken: [what: string, rule: string, lie: (canaries: Readonly<Record<string, string>>) => Lie][] = [
    [
      'acknowledges costs that it has not kept',
      'conservation of cost',
      about(
        'submitCost',
        every(5, async (_asked, truth) => {
          lastReceipt ??= await truth();
          return lastReceipt;
        }),
      ),
    ],
    [
      'counts a cost twice when its caller may have asked twice',
      'conservation of cost',
      about(
        'submitCost',
        every(5, async ({ variables }, truth) => {
          await truth({ variables: { input: { ...variables.input, requestId: randomUUID() } } });
          return truth();
        }),
      ),
    ],
    [
      'lets a total fall',
      'totals never fall',
      () => {
        let count = 0;
        return about('spend', async ({ variables }, truth) => {
          const told = await truth();
          const labels = told.data?.org?.app?.spend.labels ?? [];
          if (variables.consistency === 'AGGREGATED' && ++count % 2 === 0)
            for (const label of labels) label.costUsdMicros = Math.floor(label.costUsdMicros / 2);
          return told;
        })();
      },
    ],
    [
      'grants without asking its limit',
      'grants within the bound',
      about('acquire', async ({ variables }, truth) =>
        variables.input.requestId ? truth() : { data: { acquire: { __typename: 'Lease', leaseId: 'made up' } } },
      ),
    ],
    [
      'takes what it then refuses',
      'grants above 95 %',
      about(
        'acquire',
        every(2, async ({ variables }, truth) => {
          const told = await truth();
          return variables.input.requestId
            ? told
            : { data: { acquire: { __typename: 'RateLimited', message: 'no', retryAfterSecs: 1 } } };
        }),
      ),
    ],
    [
      'shows a secret again',
      'once',
      () =>
        about(
          'retrieveSecret',
          byHeart(({ token }) => token),
        )(),
    ],
    [
      'gives a refresh token two successors',
      'once',
      () =>
        about(
          'refreshToken',
          byHeart(
            ({ refreshToken }) => refreshToken,
            (told) => ({ data: { refreshToken: { ...told.data.refreshToken, refreshToken: `tgr_${randomUUID()}` } } }),
          ),
        )(),
    ],
    [
      'takes a lease back as often as it is told to',
      'once',
      about('releaseLease', async (_asked, truth) => {
        const told = await truth();
        if (told.data) told.data.releaseLease.replayed = false;
        return told;
      }),
    ],
    [
      'loses a reading that it said was stored',
      'readings once',
      about(
        'ingest',
        every(3, async ({ variables }, truth) => {
          const { readings } = variables.input;
          const told =
            readings.length > 1
              ? await truth({ variables: { input: { readings: readings.slice(1) } } })
              : await truth();
          if (told.data && readings.length > 1)
            told.data.ingest.verdicts.unshift({ index: 0, batchId: readings[0].batchId, kind: 'STORED', error: null });
          return told;
        }),
      ),
    ],
    [
      'stores a reading twice',
      'readings once',
      about(
        'ingest',
        every(3, async ({ variables }, truth) => {
          await truth({
            variables: { input: { readings: [{ ...variables.input.readings[0], batchId: randomUUID() }] } },
          });
          return truth();
        }),
      ),
    ],
    [
      'goes on serving a token that was revoked',
      'nothing after revocation',
      () => {
        const known = new Map<string, Told>();
        return async ({ query, headers }, truth) => {
          const told = await truth();
          if (!/\bme\b/.test(query)) return told;
          const token = String(headers.authorization);
          if (told.data) known.set(token, told);
          return known.get(token) ?? told;
        };
      },
    ],
    [
      "puts one tenant's text into another's error",
      'tenants apart',
      (canaries) => async (_asked, truth) => {
        const told = await truth();
        return told.errors
          ? { ...told, errors: [{ ...told.errors[0], message: `not allowed for ${canaries.blue}` }] }
          : told;
      },
    ],
  ];

  it.each(broken)('a server that %s shows it', async (_what, rule, lie) => {
    const isSlow = /^(grants|nothing|totals)/.test(rule);
    const found = await judged(
      isSlow ? longMs : shortMs,
      lie,
      rule.startsWith('nothing') ? hasAskedAfterRevocation : undefined,
    );
    expect(found.filter((line) => line.startsWith(rule)).length).toBeGreaterThan(0);
  });
});

describe('the history of a bucket with a burst of 5 and 4 per second', () => {
  // By hand, because a busy machine does not ask for so much that it shows.
  const grant = (sentMs: number, i: number): Entry => ({
    callId: `${i}`,
    tenant: 'red',
    credential: 'org',
    via: 0,
    act: { kind: 'acquire', bucket: 'b', amount: 1, requestId: `${i}` },
    invokedMs: sentMs,
    endedMs: sentMs + 10,
    outcome: 'ok',
    told: { granted: true },
    canaries: [],
  });
  const found = (sentMs: readonly number[]) => {
    const facts = {
      limits: { b: { burst: 5, perSecond: 4 } },
      saturated: ['b'],
      ...nothingStopped,
      skewMs: 0,
      calm: [],
      settledMs: 0,
      revocationGraceMs: 0,
      lagMs: 0,
    };
    return violations(sentMs.map(grant), facts).map(({ rule }) => rule);
  };

  it('shows a grant beyond them, in any window', () => {
    expect(found([0, 0, 0, 0, 0, 0])).toEqual(['grants within the bound']);
    expect(found([0, 5000, 5000, 5100, 5200, 5300, 5400, 5500, 5600])).toEqual(['grants within the bound']);
  });

  it('does not show a burst and what came back since', () => {
    expect(found([0, 0, 0, 0, 0, 250, 500, 750, 1000])).toEqual([]);
  });
});

describe('the history of a gateway that was told to stop', () => {
  const drains = [{ via: 0, fromMs: 1000, toMs: 5000 }];
  const unanswered: Entry = {
    callId: 'c',
    tenant: 'red',
    credential: 'org',
    via: 0,
    act: { kind: 'ask' },
    invokedMs: 4000,
    endedMs: 4500,
    outcome: 'unknown',
    code: 'broken connection',
    told: {},
    canaries: [],
  };
  const found = (entry: Entry, served: readonly string[]) => {
    const facts = {
      limits: {},
      saturated: [],
      skewMs: 0,
      calm: [],
      drains,
      served: new Set(served),
      settledMs: 6000,
      revocationGraceMs: 0,
      lagMs: 0,
    };
    return violations([entry], facts).map(({ rule }) => rule);
  };

  it('shows a call that it served and did not answer', () => {
    expect(found(unanswered, ['c'])).toEqual(['drains clean']);
  });

  it('does not show a call that it never read, one that it answered, or one of another gateway', () => {
    expect(found(unanswered, ['another'])).toEqual([]);
    const { code: _broken, ...answered } = unanswered;
    expect(found({ ...answered, outcome: 'ok' }, ['c'])).toEqual([]);
    expect(found({ ...unanswered, via: 1 }, ['c'])).toEqual([]);
  });
});
