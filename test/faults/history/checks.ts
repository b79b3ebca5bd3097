import type { Act, Entry } from './history.js';

/** What the log alone cannot know. */
export interface Facts {
  readonly limits: Readonly<Record<string, { readonly burst: number; readonly perSecond: number }>>;
  /** Buckets that are asked for more than they give all the time. */
  readonly saturated: readonly string[];
  /** How far the clocks of two gateways may have been apart. */
  readonly skewMs: number;
  /** Times without faults. */
  readonly calm: readonly Span[];
  /** Gateways that were told to stop, and when. */
  readonly drains: readonly (Span & { readonly via: number })[];
  /** The ids of the calls that gateways say they have served. */
  readonly served: ReadonlySet<string>;
  /** From here on every unknown has been asked for again until it was known. */
  readonly settledMs: number;
  /** How much later than stated a revocation may hold while the store is failing. */
  readonly revocationGraceMs: number;
  /** How late this machine has run timers. */
  readonly lagMs: number;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Violation {
  readonly rule: string;
  readonly what: string;
  readonly atMs: number;
}

/** So long after it a revocation holds everywhere. */
export const revocationMs = 2000;
const leastShare = 0.95;
/** Windows begin at so many of the grants: each of them is then held against all that follow. */
const windowsTried = 400;

type Of<K extends Act['kind']> = Entry & { readonly act: Extract<Act, { kind: K }> };

/** Everything in the log that the promises rule out, the earliest first. */
export function violations(entries: readonly Entry[], facts: Facts): Violation[] {
  const of = <K extends Act['kind']>(kind: K) => entries.filter((entry): entry is Of<K> => entry.act.kind === kind);
  return [
    ...costsKept(of('cost'), of('shards'), facts),
    ...totalsGrow(of('cost'), of('total'), facts),
    ...grantsBounded(of('acquire'), facts),
    ...grantsDelivered(of('acquire'), facts),
    ...takingsKept(of('acquire'), of('adjust'), of('release'), of('consumed'), facts),
    ...once(of('retrieve'), ({ act }) => act.token, 'retrieval token'),
    ...once(
      of('release').filter(({ told }) => !told.replayed),
      ({ act }) => act.leaseId,
      'lease release',
    ),
    ...oneSuccessor(of('refresh')),
    ...readingsOnce(of('ingest'), of('readings'), facts),
    ...nothingAfterRevocation(entries, of('revoke'), facts),
    ...tenantsApart(entries),
    ...drainsClean(entries, facts),
    ...answersInTime(entries),
  ].sort((a, b) => a.atMs - b.atMs);
}

const mayHaveHappened = ({ outcome }: Entry): boolean => outcome !== 'failed';
const happened = ({ outcome }: Entry): boolean => outcome === 'ok';

function grouped<T>(all: readonly T[], key: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const name = key(one);
    const group = groups.get(name);
    if (group) group.push(one);
    else groups.set(name, [one]);
  }
  return groups;
}

/** A sum that grows with time: what had been added by a moment. */
class Ledger {
  private readonly atMs: number[] = [];
  private readonly sums: number[] = [];

  constructor(parts: readonly { readonly atMs: number; readonly amount: number }[]) {
    let sum = 0;
    for (const { atMs, amount } of [...parts].sort((a, b) => a.atMs - b.atMs)) {
      sum += amount;
      this.atMs.push(atMs);
      this.sums.push(sum);
    }
  }

  by(ms: number): number {
    let low = 0;
    let high = this.atMs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.atMs[middle] as number) <= ms) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? 0 : (this.sums[low - 1] as number);
  }
}

interface Effect {
  readonly amount: number;
  /** Not before. */
  readonly earliestMs: number;
  /** Surely by then; absent: nobody was ever told. */
  readonly knownMs?: number;
}

/** Calls that are one and the same to the server, as one effect; undefined where it surely never happened. */
function effectOf(calls: readonly Entry[], amount: number): Effect | undefined {
  const possible = calls.filter(mayHaveHappened);
  if (possible.length === 0) return undefined;
  const known = calls.filter(happened).map(({ endedMs }) => endedMs);
  return {
    amount,
    earliestMs: Math.min(...possible.map(({ invokedMs }) => invokedMs)),
    ...(known.length > 0 ? { knownMs: Math.min(...known) } : {}),
  };
}

const acknowledged = (effects: readonly Effect[]): Ledger =>
  new Ledger(effects.flatMap(({ amount, knownMs }) => (knownMs === undefined ? [] : [{ atMs: knownMs, amount }])));
const attempted = (effects: readonly Effect[]): Ledger =>
  new Ledger(effects.map(({ amount, earliestMs }) => ({ atMs: earliestMs, amount })));

function leftUnknown(what: string, calls: ReadonlyMap<string, readonly Entry[]>): Violation[] {
  return [...calls].flatMap(([id, same]) =>
    same.some(({ outcome }) => outcome === 'unknown') && !same.some(happened)
      ? [
          {
            rule: 'settled',
            what: `${what} ${id} was never known to be done, however often it was asked for`,
            atMs: (same.at(-1) as Entry).endedMs,
          },
        ]
      : [],
  );
}

function costsKept(costs: readonly Of<'cost'>[], seen: readonly Of<'shards'>[], facts: Facts): Violation[] {
  const found = leftUnknown(
    'cost',
    grouped(costs, ({ act }) => act.requestId),
  );
  for (const [scope, ofScope] of grouped(seen.filter(happened), ({ act }) => act.scope)) {
    const effects = effectsOfCosts(costs, scope);
    const [least, most] = [acknowledged(effects), attempted(effects)];
    let last = 0;
    for (const { invokedMs, endedMs, told } of ofScope) {
      const micros = told.micros ?? 0;
      last = invokedMs;
      if (micros < least.by(invokedMs) || micros > most.by(endedMs))
        found.push({
          rule: 'conservation of cost',
          what: `${scope} shows ${micros}, with ${least.by(invokedMs)} acknowledged and ${most.by(endedMs)} attempted`,
          atMs: endedMs,
        });
    }
    if (last < facts.settledMs)
      found.push({
        rule: 'conservation of cost',
        what: `${scope} was not looked at after all was settled`,
        atMs: facts.settledMs,
      });
  }
  return found;
}

const effectsOfCosts = (costs: readonly Of<'cost'>[], scope: string): Effect[] =>
  [
    ...grouped(
      costs.filter(({ act }) => act.scope === scope),
      ({ act }) => act.requestId,
    ).values(),
  ].flatMap((same) => effectOf(same, (same[0] as Of<'cost'>).act.micros) ?? []);

/** A total never falls, is never ahead of what was sent, and in the end is all of it. */
function totalsGrow(costs: readonly Of<'cost'>[], seen: readonly Of<'total'>[], facts: Facts): Violation[] {
  const found: Violation[] = [];
  for (const [scope, ofScope] of grouped(seen.filter(happened), ({ act }) => act.scope)) {
    const effects = effectsOfCosts(costs, scope);
    const most = attempted(effects);
    let highest = { micros: 0, endedMs: 0 };
    const waiting: { readonly micros: number; readonly endedMs: number }[] = [];
    for (const { invokedMs, endedMs, told } of [...ofScope].sort((a, b) => a.invokedMs - b.invokedMs)) {
      const micros = told.micros ?? 0;
      // Only answers that had ended before this question was asked say anything about it.
      for (let i = waiting.length - 1; i >= 0; i--) {
        const earlier = waiting[i] as (typeof waiting)[number];
        if (earlier.endedMs > invokedMs) continue;
        if (earlier.micros > highest.micros) highest = earlier;
        waiting.splice(i, 1);
      }
      if (micros < highest.micros)
        found.push({
          rule: 'totals never fall',
          what: `${scope} fell from ${highest.micros} to ${micros}`,
          atMs: endedMs,
        });
      if (micros > most.by(endedMs))
        found.push({
          rule: 'totals never fall',
          what: `${scope} shows ${micros} of ${most.by(endedMs)} attempted`,
          atMs: endedMs,
        });
      waiting.push({ micros, endedMs });
    }
    const last = ofScope.at(-1) as Of<'total'>;
    const whole = most.by(facts.settledMs);
    if (last.told.micros !== whole || last.invokedMs < facts.settledMs)
      found.push({
        rule: 'totals never fall',
        what: `${scope} ended at ${last.told.micros} of ${whole}`,
        atMs: last.endedMs,
      });
  }
  return found;
}

interface Grant {
  readonly amount: number;
  readonly sentMs: number;
  readonly ackedMs: number;
}

/** Each lease once, by the call that was first told of it. */
function grantsOf(acquires: readonly Of<'acquire'>[], bucket: string): Grant[] {
  const granted = acquires.filter(
    ({ act, told, outcome }) => act.bucket === bucket && outcome === 'ok' && told.granted,
  );
  return [...grouped(granted, ({ act }) => act.requestId).values()].map((same) => ({
    amount: (same[0] as Of<'acquire'>).act.amount,
    sentMs: Math.min(...same.map(({ invokedMs }) => invokedMs)),
    ackedMs: Math.min(...same.map(({ endedMs }) => endedMs)),
  }));
}

function grantsBounded(acquires: readonly Of<'acquire'>[], { limits, saturated, skewMs }: Facts): Violation[] {
  return saturated.flatMap((bucket) => {
    const { burst, perSecond } = limits[bucket] as Facts['limits'][string];
    const grants = grantsOf(acquires, bucket);
    const byEnd = [...grants].sort((a, b) => a.ackedMs - b.ackedMs);
    const begins = [...new Set(grants.map(({ sentMs }) => sentMs))].sort((a, b) => a - b);
    const step = Math.max(1, Math.floor(begins.length / windowsTried));
    for (let i = 0; i < begins.length; i += step) {
      const beganMs = begins[i] as number;
      let taken = 0;
      // Only what was surely taken within the window counts: sent after it began and acknowledged before it ended.
      for (const { sentMs, ackedMs, amount } of byEnd) {
        if (sentMs < beganMs) continue;
        taken += amount;
        const bound = burst + (perSecond * (ackedMs - beganMs + skewMs)) / 1000;
        if (taken > bound)
          return [
            {
              rule: 'grants within the bound',
              what: `${bucket} gave ${taken} in ${ackedMs - beganMs} ms, where ${bound} is all`,
              atMs: ackedMs,
            },
          ];
      }
    }
    return [];
  });
}

/** Between two refusals, at both of which it was empty, a bucket has given all that came back in between. */
function grantsDelivered(acquires: readonly Of<'acquire'>[], { limits, saturated, calm }: Facts): Violation[] {
  return saturated.flatMap((bucket) => {
    const { perSecond } = limits[bucket] as Facts['limits'][string];
    const grants = grantsOf(acquires, bucket);
    const refusals = acquires.filter(
      ({ act, outcome, told }) => act.bucket === bucket && outcome === 'ok' && !told.granted,
    );
    return calm.flatMap(({ fromMs, toMs }) => {
      const within = refusals
        .filter(({ invokedMs, endedMs }) => invokedMs >= fromMs && endedMs <= toMs)
        .sort((a, b) => a.invokedMs - b.invokedMs);
      const [first, last] = [within[0], within.at(-1)];
      if (!first || !last) return [];
      const given = grants
        .filter(({ sentMs, ackedMs }) => ackedMs >= first.invokedMs && sentMs <= last.endedMs)
        .reduce((sum, { amount }) => sum + amount, 0);
      const due = (perSecond * (last.invokedMs - first.endedMs)) / 1000;
      return given < leastShare * due - 1
        ? [{ rule: 'grants above 95 %', what: `${bucket} gave ${given} of ${due} in calm`, atMs: last.endedMs }]
        : [];
    });
  });
}

/** What buckets say was consumed, against all that was taken, adjusted and given back. */
function takingsKept(
  acquires: readonly Of<'acquire'>[],
  adjusts: readonly Of<'adjust'>[],
  releases: readonly Of<'release'>[],
  seen: readonly Of<'consumed'>[],
  { settledMs, saturated }: Facts,
): Violation[] {
  // Of a bucket that refuses most, nobody asks twice for the same.
  const acquired = grouped(
    acquires.filter(({ act }) => !saturated.includes(act.bucket)),
    ({ act }) => act.requestId,
  );
  const found = [
    ...leftUnknown('acquire', acquired),
    ...leftUnknown(
      'adjustment',
      grouped(adjusts, ({ act }) => act.key),
    ),
    ...leftUnknown(
      'release',
      grouped(releases, ({ act }) => act.leaseId),
    ),
  ];
  for (const [bucket, ofBucket] of grouped(seen.filter(happened), ({ act }) => act.bucket)) {
    const amounts = [...acquired.values()]
      .filter(
        (same) =>
          (same[0] as Of<'acquire'>).act.bucket === bucket &&
          same.some(({ told, outcome }) => outcome === 'ok' && told.granted),
      )
      .map((same) => (same[0] as Of<'acquire'>).act.amount);
    const changes = [
      ...[
        ...grouped(
          adjusts.filter(({ act }) => act.bucket === bucket),
          ({ act }) => act.key,
        ).values(),
      ].flatMap((same) => (same.some(happened) ? [(same[0] as Of<'adjust'>).act.amount] : [])),
      ...[
        ...grouped(
          releases.filter(({ act }) => act.bucket === bucket),
          ({ act }) => act.leaseId,
        ).values(),
      ].flatMap((same) => (same.some(happened) ? [-(same[0] as Of<'release'>).act.amount] : [])),
    ];
    const due = [...amounts, ...changes].reduce((sum, amount) => sum + amount, 0);
    const last = ofBucket.at(-1) as Of<'consumed'>;
    if (last.invokedMs >= settledMs && last.told.consumed !== due)
      found.push({
        rule: 'conservation of takings',
        what: `${bucket} says ${last.told.consumed} consumed of ${due} taken`,
        atMs: last.endedMs,
      });
  }
  return found;
}

function once<T extends Entry>(calls: readonly T[], id: (call: T) => string, what: string): Violation[] {
  return [...grouped(calls.filter(happened), id)].flatMap(([name, same]) =>
    same.length > 1
      ? [{ rule: 'once', what: `${what} ${name} worked ${same.length} times`, atMs: (same[1] as T).endedMs }]
      : [],
  );
}

function oneSuccessor(refreshes: readonly Of<'refresh'>[]): Violation[] {
  return [...grouped(refreshes.filter(happened), ({ act }) => act.token)].flatMap(([token, same]) =>
    new Set(same.map(({ told }) => told.successor)).size > 1
      ? [{ rule: 'once', what: `refresh token ${token} has several successors`, atMs: (same.at(-1) as Entry).endedMs }]
      : [],
  );
}

function readingsOnce(
  ingests: readonly Of<'ingest'>[],
  seen: readonly Of<'readings'>[],
  { settledMs }: Facts,
): Violation[] {
  const found: Violation[] = [];
  const sent = new Map<
    string,
    { readonly value: number; isStored: boolean; mayBe: boolean; readonly device: string }
  >();
  for (const { act, told, outcome, endedMs } of ingests) {
    if (outcome === 'ok' && told.verdicts?.length !== act.readings.length)
      found.push({
        rule: 'readings once',
        what: `${act.readings.length} readings were sent, and ${told.verdicts?.length} told of`,
        atMs: endedMs,
      });
    act.readings.forEach(({ device, batchId, value }, i) => {
      const id = `${device} ${batchId}`;
      const one = sent.get(id) ?? { value, isStored: false, mayBe: false, device };
      const verdict = outcome === 'ok' ? told.verdicts?.[i] : undefined;
      if (verdict === 'STORED' || verdict === 'DUPLICATE') one.isStored = true;
      if (outcome === 'unknown' || (outcome === 'ok' && verdict !== 'REJECTED')) one.mayBe = true;
      sent.set(id, one);
    });
  }
  for (const [id, { isStored, mayBe }] of sent)
    if (mayBe && !isStored)
      found.push({ rule: 'settled', what: `reading ${id} was never known to be stored`, atMs: settledMs });
  for (const [device, ofDevice] of grouped(seen.filter(happened), ({ act }) => act.device)) {
    const last = ofDevice.at(-1) as Of<'readings'>;
    const report = (what: string) =>
      found.push({ rule: 'readings once', what: `${device}: ${what}`, atMs: last.endedMs });
    if (last.invokedMs < settledMs) report('not looked at after all was settled');
    const stored = grouped(last.told.stored ?? [], ({ batchId }) => batchId);
    for (const [batchId, same] of stored) {
      const one = sent.get(`${device} ${batchId}`);
      if (same.length > 1) report(`${batchId} is stored ${same.length} times`);
      if (!one?.mayBe) report(`${batchId} was never sent`);
      else if (same[0]?.value !== one.value) report(`${batchId} is ${same[0]?.value}, sent as ${one.value}`);
    }
    for (const [id, one] of sent)
      if (one.device === device && one.isStored && !stored.has(id.slice(device.length + 1))) report(`${id} is lost`);
  }
  return found;
}

function nothingAfterRevocation(
  entries: readonly Entry[],
  revokes: readonly Of<'revoke'>[],
  { calm, revocationGraceMs, lagMs }: Facts,
): Violation[] {
  const ends = new Map<string, number>();
  for (const { act, endedMs } of revokes.filter(happened)) {
    const isCalm = calm.some(({ fromMs, toMs }) => endedMs >= fromMs && endedMs + revocationMs < toMs);
    const endMs = endedMs + revocationMs + lagMs + (isCalm ? 0 : revocationGraceMs);
    ends.set(act.credential, Math.min(endMs, ends.get(act.credential) ?? endMs));
  }
  return entries.flatMap(({ credential, outcome, invokedMs, endedMs, act }) =>
    outcome === 'ok' && invokedMs > (ends.get(credential) ?? Number.POSITIVE_INFINITY)
      ? [
          {
            rule: 'nothing after revocation',
            what: `${credential} was served ${act.kind} ${invokedMs - (ends.get(credential) ?? 0)} ms after its end`,
            atMs: endedMs,
          },
        ]
      : [],
  );
}

const tenantsApart = (entries: readonly Entry[]): Violation[] =>
  entries.flatMap(({ tenant, canaries, act, endedMs }) =>
    canaries
      .filter((other) => other !== tenant)
      .map((other) => ({
        rule: 'tenants apart',
        what: `${tenant} was told of ${other} in an answer to ${act.kind}`,
        atMs: endedMs,
      })),
  );

const answersInTime = (entries: readonly Entry[]): Violation[] =>
  entries.flatMap(({ code, act, via, endedMs }) =>
    code === 'no answer'
      ? [{ rule: 'answers in time', what: `${act.kind} had none from gateway ${via}`, atMs: endedMs }]
      : [],
  );

/**
 * A gateway that is told to stop answers whatever it serves. A call that met the closing of an idle connection has no answer
 * either, as with any HTTP/1.1 server, but then it was not served: it can be sent again.
 */
const drainsClean = (entries: readonly Entry[], { drains, served }: Facts): Violation[] =>
  entries.flatMap(({ via, code, invokedMs, endedMs, act, callId }) => {
    const drain = drains.find((one) => one.via === via && endedMs >= one.fromMs && invokedMs <= one.toMs);
    if (code !== 'broken connection' || !drain || !served.has(callId)) return [];
    const when = `sent ${invokedMs - drain.fromMs} ms after it was told to stop, broken ${drain.toMs - endedMs} ms before it had`;
    return [
      {
        rule: 'drains clean',
        what: `${act.kind} was served by gateway ${via} and got no answer: ${when}`,
        atMs: endedMs,
      },
    ];
  });
