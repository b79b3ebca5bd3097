import { randomUUID } from 'node:crypto';
import { type Background, buildBackground } from '../../../src/app.js';
import { silentLog } from '../../../src/lib/log.js';
import { type Repeating, repeat, sleep } from '../../../src/lib/timers.js';
import { adminKey, startTestApp, type TestApp } from '../../support/app.js';
import { Chance, testSeed } from '../../support/chance.js';
import { revocationMs, violations } from './checks.js';
import { type Entry, History } from './history.js';
import { measureLag } from './lag.js';
import { about, type GraphqlResponse, honest, type Lie, startLiar } from './liar.js';
import { factsOf, Load, newCanary, newTenants } from './load.js';

const minEntries = 250;
const kinds = [
  'cost',
  'correction',
  'acquire',
  'adjust',
  'release',
  'ingest',
  'shards',
  'total',
  'retrieve',
  'refresh',
  'revoke',
];
const minPerKind = 2;
const shortMs = 300;
/** Long enough for a revocation to hold, and to measure a rate. */
const longMs = 4000;
const maxMs = 60_000;
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

/** The violations in the history of a short mixed load on two servers that are broken in the same way. */
async function violationsOf(
  loadMs: number,
  lie: (canaries: Readonly<Record<string, string>>) => Lie,
  isEnough: (entries: readonly Entry[]) => boolean = hasEveryKind,
): Promise<string[]> {
  const canaries = { red: newCanary(), blue: newCanary() };
  const shared = lie(canaries);
  const liars = await Promise.all([1, 2].map(() => startLiar(app.url, shared)));
  const history = new History();
  const tenants = await newTenants(app, { history, gateways: liars, canaries }, adminKey, 'UTC');
  const isHonest = shared === honest;
  // Only an honest server gets more time, because its history must be complete even on a busy machine.
  const patienceMs = isHonest ? 60_000 : 3000;
  const load = new Load(tenants, liars.length, new Chance(testSeed), patienceMs);
  load.start();
  const startedMs = Date.now();
  while (Date.now() - startedMs < loadMs || (!isEnough(history.entries) && Date.now() - startedMs < maxMs))
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

const hasEveryKind = (entries: readonly Entry[]): boolean =>
  entries.length >= minEntries &&
  kinds.every((kind) => entries.filter(({ act }) => act.kind === kind).length >= minPerKind);

/** True if a revoked token was used again after its revocation had to hold on every gateway. */
const hasCallAfterRevocation = (entries: readonly Entry[]): boolean =>
  entries.some(({ act, outcome, endedMs }) => {
    const credential = act.kind === 'revoke' && outcome === 'ok' ? act.credential : undefined;
    return (
      credential !== undefined &&
      entries.some((entry) => entry.credential === credential && entry.invokedMs > endedMs + revocationMs)
    );
  });

/** True if refusals are so far apart that half of what was due is less than 95 % of it, even with a full bucket. */
const hasLongRefusals = (entries: readonly Entry[]): boolean => {
  const refusals = entries.filter(
    ({ act, outcome, data }) => act.kind === 'acquire' && outcome === 'ok' && !data.granted,
  );
  return (refusals.at(-1)?.invokedMs ?? 0) - (refusals[0]?.endedMs ?? 0) > calmAfterMs + longMs;
};

/** Lies on every `nth` call. */
const every = (nth: number, lie: Lie): Lie =>
  (() => {
    let count = 0;
    return (request, truth) => (++count % nth === 0 ? lie(request, truth) : truth());
  })();

/** Repeats the first response to requests with the same key. */
const repeated = (
  key: (variables: { token: string; refreshToken: string }) => string,
  change: (response: GraphqlResponse) => GraphqlResponse = (response) => response,
): Lie => {
  const responses = new Map<string, Promise<GraphqlResponse>>();
  return async (request, truth) => {
    const before = responses.get(key(request.variables));
    if (before) return change(structuredClone(await before));
    const response = truth();
    responses.set(key(request.variables), response);
    return response;
  };
};

describe('the history check', () => {
  it('finds nothing for an honest server', async () => {
    expect(await violationsOf(longMs, () => honest)).toEqual([]);
  });

  let lastReceipt: GraphqlResponse | undefined;
  const broken: [what: string, rule: string, lie: (canaries: Readonly<Record<string, string>>) => Lie][] = [
    [
      'acknowledges costs that it has not stored',
      'conservation of cost',
      about(
        'submitCost',
        every(5, async (_request, truth) => {
          lastReceipt ??= await truth();
          return lastReceipt;
        }),
      ),
    ],
    [
      'counts a retried cost twice',
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
      'counts a retried correction twice',
      'conservation of cost',
      about('correctCost', async ({ variables }, truth) => {
        await truth({ variables: { input: { ...variables.input, correctionId: randomUUID() } } });
        return truth();
      }),
    ],
    [
      'acknowledges corrections that it has not stored',
      'conservation of cost',
      () => {
        let receipt: GraphqlResponse | undefined;
        return about(
          'correctCost',
          every(2, async (_request, truth) => {
            receipt ??= await truth();
            return receipt;
          }),
        )();
      },
    ],
    [
      'leaves an hour out',
      'hours sum to the day',
      about('spendSeries', async (_request, truth) => {
        const response = await truth();
        const series = response.data?.org?.app?.spendSeries ?? [];
        const hour = series.find(({ costUsdMicros }: { costUsdMicros: number }) => costUsdMicros > 0);
        if (hour) hour.costUsdMicros = 0;
        return response;
      }),
    ],
    [
      'returns a smaller total than before',
      'totals never decrease',
      () => {
        let count = 0;
        return about('spend', async ({ variables }, truth) => {
          const response = await truth();
          const labels = response.data?.org?.app?.spend.labels ?? [];
          if (variables.consistency === 'AGGREGATED' && ++count % 2 === 0)
            for (const label of labels) label.costUsdMicros = Math.floor(label.costUsdMicros / 2);
          return response;
        })();
      },
    ],
    [
      'grants without checking the limit',
      'grants within the bound',
      about('acquire', async ({ variables }, truth) =>
        variables.input.requestId ? truth() : { data: { acquire: { __typename: 'Lease', leaseId: 'made up' } } },
      ),
    ],
    [
      'consumes tokens and then refuses',
      'grants above 95 %',
      () => {
        const grants = new Map<string, number>();
        return about('acquire', async ({ variables, headers }, truth) => {
          const response = await truth();
          if (variables.input.requestId || response.data?.acquire.__typename !== 'Lease') return response;
          const tenant = String(headers.authorization);
          const count = (grants.get(tenant) ?? 0) + 1;
          grants.set(tenant, count);
          return count % 2 === 0
            ? response
            : { data: { acquire: { __typename: 'RateLimited', message: 'no', retryAfterSecs: 1 } } };
        })();
      },
    ],
    [
      'returns a secret twice',
      'once',
      () =>
        about(
          'retrieveSecret',
          repeated(({ token }) => token),
        )(),
    ],
    [
      'exchanges a refresh token for two successors',
      'once',
      () =>
        about(
          'refreshToken',
          repeated(
            ({ refreshToken }) => refreshToken,
            (response) => ({
              data: { refreshToken: { ...response.data.refreshToken, refreshToken: `tgr_${randomUUID()}` } },
            }),
          ),
        )(),
    ],
    [
      'releases a lease on every call',
      'once',
      about('releaseLease', async (_request, truth) => {
        const response = await truth();
        if (response.data) response.data.releaseLease.replayed = false;
        return response;
      }),
    ],
    [
      'loses a reading that it reported as stored',
      'readings once',
      about(
        'ingest',
        every(3, async ({ variables }, truth) => {
          const { readings } = variables.input;
          const response =
            readings.length > 1
              ? await truth({ variables: { input: { readings: readings.slice(1) } } })
              : await truth();
          if (response.data && readings.length > 1)
            response.data.ingest.verdicts.unshift({
              index: 0,
              batchId: readings[0].batchId,
              kind: 'STORED',
              error: null,
            });
          return response;
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
      'continues to serve a revoked token',
      'nothing after revocation',
      () => {
        const responses = new Map<string, GraphqlResponse>();
        return async ({ query, headers }, truth) => {
          const response = await truth();
          if (!/\bme\b/.test(query)) return response;
          const token = String(headers.authorization);
          if (response.data) responses.set(token, response);
          return responses.get(token) ?? response;
        };
      },
    ],
    [
      "puts one tenant's data into another tenant's error",
      'tenant isolation',
      (canaries) => async (_request, truth) => {
        const response = await truth();
        return response.errors
          ? { ...response, errors: [{ ...response.errors[0], message: `not allowed for ${canaries.blue}` }] }
          : response;
      },
    ],
  ];

  const enough: Readonly<Record<string, (entries: readonly Entry[]) => boolean>> = {
    'nothing after revocation': hasCallAfterRevocation,
    'grants above 95 %': hasLongRefusals,
  };

  it.each(broken)('finds a server that %s', async (_what, rule, lie) => {
    const isSlow = /^(grants|nothing|totals)/.test(rule);
    const found = await violationsOf(isSlow ? longMs : shortMs, lie, enough[rule]);
    expect(found.filter((line) => line.startsWith(rule)).length).toBeGreaterThan(0);
  });
});

describe('the history check of a bucket with a burst of 5 and 4 per second', () => {
  // Made by hand, because a load on a busy machine may be too small to exceed the bound.
  const grant = (sentMs: number, i: number): Entry => ({
    callId: `${i}`,
    tenant: 'red',
    credential: 'org',
    via: 0,
    act: { kind: 'acquire', bucket: 'b', amount: 1, requestId: `${i}` },
    invokedMs: sentMs,
    endedMs: sentMs + 10,
    outcome: 'ok',
    data: { granted: true },
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

  it('finds a grant beyond the bound in any window', () => {
    expect(found([0, 0, 0, 0, 0, 0])).toEqual(['grants within the bound']);
    expect(found([0, 5000, 5000, 5100, 5200, 5300, 5400, 5500, 5600])).toEqual(['grants within the bound']);
  });

  it('accepts a burst plus the refill', () => {
    expect(found([0, 0, 0, 0, 0, 250, 500, 750, 1000])).toEqual([]);
  });
});

describe('the history check of a gateway that stops', () => {
  const drains = [{ via: 0, fromMs: 1000, toMs: 5000 }];
  const brokenCall: Entry = {
    callId: 'c',
    tenant: 'red',
    credential: 'org',
    via: 0,
    act: { kind: 'other' },
    invokedMs: 4000,
    endedMs: 4500,
    outcome: 'unknown',
    code: 'broken connection',
    data: {},
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

  it('finds a call that was served and got no response', () => {
    expect(found(brokenCall, ['c'])).toEqual(['drains clean']);
  });

  it('accepts a call that was never served, that got a response, or that went to another gateway', () => {
    expect(found(brokenCall, ['another'])).toEqual([]);
    const { code: _broken, ...completeCall } = brokenCall;
    expect(found({ ...completeCall, outcome: 'ok' }, ['c'])).toEqual([]);
    expect(found({ ...brokenCall, via: 1 }, ['c'])).toEqual([]);
  });
});
