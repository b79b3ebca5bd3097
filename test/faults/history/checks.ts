import { type AdmissionFacts, admissionViolations } from './admissions.js';
import {
  type Act,
  type Entry,
  type EntryOf,
  grouped,
  happened,
  mayHaveHappened,
  ofKind,
  type Violation,
} from './history.js';

/** What the checks cannot read from the history. */
export interface Facts {
  readonly limits: Readonly<Record<string, { readonly burst: number; readonly perSecond: number }>>;
  /** Buckets from which more is requested at all times than they can grant. */
  readonly saturated: readonly string[];
  /** The maximum difference between the clocks of two gateways. */
  readonly skewMs: number;
  /** Spans without faults. */
  readonly calm: readonly Span[];
  /** Gateways that got SIGTERM, from the signal to the exit. */
  readonly drains: readonly (Span & { readonly via: number })[];
  /** The ids of the calls that are in the logs of the gateways. */
  readonly served: ReadonlySet<string>;
  /** From then on no outcome is unknown: every such call was retried until it succeeded. */
  readonly settledMs: number;
  /** The additional time that a revocation may take while DynamoDB fails. */
  readonly revocationGraceMs: number;
  /** The maximum delay of timers on this machine. */
  readonly lagMs: number;
  /** Absent if nothing was admitted. */
  readonly admissions?: AdmissionFacts;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The time after which a revocation holds on every gateway. */
export const revocationMs = 2000;
const minShare = 0.95;
/** The number of grants at which a window starts. Each window is checked up to every later grant. */
const maxWindows = 400;

/** Everything in the history that breaks a promise, in order of time. */
export function violations(entries: readonly Entry[], facts: Facts): Violation[] {
  const pick = <K extends Act['kind']>(kind: K) => ofKind(entries, kind);
  const charges = [...pick('cost'), ...pick('correction'), ...pick('settle')];
  return [
    ...costsConserved(charges, pick('shards'), facts),
    ...totalsGrow(charges, pick('total'), facts),
    ...hoursComplete(pick('hours')),
    ...grantsBounded(pick('acquire'), facts),
    ...grantsDelivered(pick('acquire'), facts),
    ...consumptionConserved(pick('acquire'), pick('adjust'), pick('release'), pick('consumed'), facts),
    ...once(pick('retrieve'), ({ act }) => act.token, 'retrieval token'),
    ...once(
      pick('release').filter(({ data }) => !data.replayed),
      ({ act }) => act.leaseId,
      'lease release',
    ),
    ...oneSuccessor(pick('refresh')),
    ...readingsOnce(pick('ingest'), pick('readings'), facts),
    ...nothingAfterRevocation(entries, pick('revoke'), facts),
    ...tenantsIsolated(entries),
    ...drainsClean(entries, facts),
    ...responsesInTime(entries),
    ...(facts.admissions ? admissionViolations(entries, facts.admissions) : []),
  ].sort((a, b) => a.atMs - b.atMs);
}

/** A sum that grows with time. `by` returns the sum of the amounts up to a moment. */
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
  /** The earliest time at which it can have been applied. */
  readonly earliestMs: number;
  /** The time by which it was certainly applied. Absent if no call succeeded. */
  readonly knownMs?: number;
}

/** The one effect of calls with the same idempotency key. Undefined if it certainly never happened. */
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
            what: `${what} ${id} never succeeded, and its outcome is unknown`,
            atMs: (same.at(-1) as Entry).endedMs,
          },
        ]
      : [],
  );
}

type Charge = EntryOf<'cost'> | EntryOf<'correction'> | EntryOf<'settle'>;
/** Calls with the same name have one effect together. */
const nameOfCharge = ({ act }: Charge): string =>
  act.kind === 'correction' ? `correction ${act.correctionId}` : act.requestId;

/** Debits count as soon as they are acknowledged, and credits as soon as they are attempted; the maximum is reverse. */
function boundsOf(effects: readonly Effect[]) {
  const debits = effects.filter(({ amount }) => amount > 0);
  const credits = effects.filter(({ amount }) => amount < 0);
  const [knownDebits, allDebits] = [acknowledged(debits), attempted(debits)];
  const [knownCredits, allCredits] = [acknowledged(credits), attempted(credits)];
  return {
    min: (invokedMs: number, endedMs: number) => knownDebits.by(invokedMs) + allCredits.by(endedMs),
    max: (invokedMs: number, endedMs: number) => allDebits.by(endedMs) + knownCredits.by(invokedMs),
    /** The most that credits may have taken away. */
    credited: (endedMs: number) => -allCredits.by(endedMs),
  };
}

function costsConserved(charges: readonly Charge[], reads: readonly EntryOf<'shards'>[], facts: Facts): Violation[] {
  const found = leftUnknown('charge', grouped(charges, nameOfCharge));
  for (const [scope, ofScope] of grouped(reads.filter(happened), ({ act }) => act.scope)) {
    const { min, max } = boundsOf(effectsOfCharges(charges, scope));
    let last = 0;
    for (const { invokedMs, endedMs, data } of ofScope) {
      const micros = data.micros ?? 0;
      const [least, greatest] = [min(invokedMs, endedMs), max(invokedMs, endedMs)];
      last = invokedMs;
      if (micros < least || micros > greatest)
        found.push({
          rule: 'conservation of cost',
          what: `${scope} shows ${micros}, which is not from ${least} to ${greatest}`,
          atMs: endedMs,
        });
    }
    if (last < facts.settledMs)
      found.push({
        rule: 'conservation of cost',
        what: `${scope} was not read after the end of the load`,
        atMs: facts.settledMs,
      });
  }
  return found;
}

const effectsOfCharges = (charges: readonly Charge[], scope: string): Effect[] =>
  [
    ...grouped(
      charges.filter(({ act }) => act.scope === scope),
      nameOfCharge,
    ).values(),
  ].flatMap((same) => effectOf(same, (same[0] as Charge).act.micros) ?? []);

/** A total decreases by credits only, never exceeds what was sent, and contains everything in the end. */
function totalsGrow(charges: readonly Charge[], reads: readonly EntryOf<'total'>[], facts: Facts): Violation[] {
  const found: Violation[] = [];
  for (const [scope, ofScope] of grouped(reads.filter(happened), ({ act }) => act.scope)) {
    const effects = effectsOfCharges(charges, scope);
    const { credited } = boundsOf(effects);
    const max = attempted(effects.filter(({ amount }) => amount > 0));
    let highest = { micros: 0, endedMs: 0 };
    const waiting: { readonly micros: number; readonly endedMs: number }[] = [];
    for (const { invokedMs, endedMs, data } of [...ofScope].sort((a, b) => a.invokedMs - b.invokedMs)) {
      const micros = data.micros ?? 0;
      // Only responses that arrived before this request was sent are a lower bound for it.
      for (let i = waiting.length - 1; i >= 0; i--) {
        const earlier = waiting[i] as (typeof waiting)[number];
        if (earlier.endedMs > invokedMs) continue;
        if (earlier.micros > highest.micros) highest = earlier;
        waiting.splice(i, 1);
      }
      if (micros < highest.micros - credited(endedMs))
        found.push({
          rule: 'totals never decrease',
          what: `${scope} decreased from ${highest.micros} to ${micros}`,
          atMs: endedMs,
        });
      if (micros > max.by(endedMs))
        found.push({
          rule: 'totals never decrease',
          what: `${scope} shows ${micros} of ${max.by(endedMs)} attempted`,
          atMs: endedMs,
        });
      waiting.push({ micros, endedMs });
    }
    const last = ofScope.at(-1) as EntryOf<'total'>;
    const whole = attempted(effects).by(facts.settledMs);
    if (last.data.micros !== whole || last.invokedMs < facts.settledMs)
      found.push({
        rule: 'totals never decrease',
        what: `${scope} ended at ${last.data.micros} of ${whole}`,
        atMs: last.endedMs,
      });
  }
  return found;
}

const hoursComplete = (reads: readonly EntryOf<'hours'>[]): Violation[] =>
  reads.filter(happened).flatMap(({ act, data, endedMs }) =>
    data.hourMicros === data.micros
      ? []
      : [
          {
            rule: 'hours sum to the day',
            what: `${act.scope} has ${data.micros} on its day and ${data.hourMicros} in its hours`,
            atMs: endedMs,
          },
        ],
  );

interface Grant {
  readonly amount: number;
  readonly sentMs: number;
  readonly ackedMs: number;
}

/** One grant per lease, by the first call that returned it. */
function grantsOf(acquires: readonly EntryOf<'acquire'>[], bucket: string): Grant[] {
  const granted = acquires.filter(
    ({ act, data, outcome }) => act.bucket === bucket && outcome === 'ok' && data.granted,
  );
  return [...grouped(granted, ({ act }) => act.requestId).values()].map((same) => ({
    amount: (same[0] as EntryOf<'acquire'>).act.amount,
    sentMs: Math.min(...same.map(({ invokedMs }) => invokedMs)),
    ackedMs: Math.min(...same.map(({ endedMs }) => endedMs)),
  }));
}

function grantsBounded(acquires: readonly EntryOf<'acquire'>[], { limits, saturated, skewMs }: Facts): Violation[] {
  return saturated.flatMap((bucket) => {
    const { burst, perSecond } = limits[bucket] as Facts['limits'][string];
    const grants = grantsOf(acquires, bucket);
    const byEnd = [...grants].sort((a, b) => a.ackedMs - b.ackedMs);
    const begins = [...new Set(grants.map(({ sentMs }) => sentMs))].sort((a, b) => a - b);
    const step = Math.max(1, Math.floor(begins.length / maxWindows));
    for (let i = 0; i < begins.length; i += step) {
      const beganMs = begins[i] as number;
      let taken = 0;
      // Only grants certainly within the window count: sent after its start and acknowledged before its end.
      for (const { sentMs, ackedMs, amount } of byEnd) {
        if (sentMs < beganMs) continue;
        taken += amount;
        const bound = burst + (perSecond * (ackedMs - beganMs + skewMs)) / 1000;
        if (taken > bound)
          return [
            {
              rule: 'grants within the bound',
              what: `${bucket} granted ${taken} in ${ackedMs - beganMs} ms; the bound is ${bound}`,
              atMs: ackedMs,
            },
          ];
      }
    }
    return [];
  });
}

/** A bucket is empty at each refusal. Between two refusals it must grant everything that was refilled in between. */
function grantsDelivered(acquires: readonly EntryOf<'acquire'>[], { limits, saturated, calm }: Facts): Violation[] {
  return saturated.flatMap((bucket) => {
    const { perSecond } = limits[bucket] as Facts['limits'][string];
    const grants = grantsOf(acquires, bucket);
    const refusals = acquires.filter(
      ({ act, outcome, data }) => act.bucket === bucket && outcome === 'ok' && !data.granted,
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
      return given < minShare * due - 1
        ? [
            {
              rule: 'grants above 95 %',
              what: `${bucket} granted ${given} of ${due} in a span without faults`,
              atMs: last.endedMs,
            },
          ]
        : [];
    });
  });
}

/** The consumption that buckets report must equal all acquired, adjusted and released amounts. */
function consumptionConserved(
  acquires: readonly EntryOf<'acquire'>[],
  adjusts: readonly EntryOf<'adjust'>[],
  releases: readonly EntryOf<'release'>[],
  reads: readonly EntryOf<'consumed'>[],
  { settledMs, saturated }: Facts,
): Violation[] {
  // Calls on a saturated bucket are not retried.
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
  for (const [bucket, ofBucket] of grouped(reads.filter(happened), ({ act }) => act.bucket)) {
    const amounts = [...acquired.values()]
      .filter(
        (same) =>
          (same[0] as EntryOf<'acquire'>).act.bucket === bucket &&
          same.some(({ data, outcome }) => outcome === 'ok' && data.granted),
      )
      .map((same) => (same[0] as EntryOf<'acquire'>).act.amount);
    const changes = [
      ...[
        ...grouped(
          adjusts.filter(({ act }) => act.bucket === bucket),
          ({ act }) => act.key,
        ).values(),
      ].flatMap((same) => (same.some(happened) ? [(same[0] as EntryOf<'adjust'>).act.amount] : [])),
      ...[
        ...grouped(
          releases.filter(({ act }) => act.bucket === bucket),
          ({ act }) => act.leaseId,
        ).values(),
      ].flatMap((same) => (same.some(happened) ? [-(same[0] as EntryOf<'release'>).act.amount] : [])),
    ];
    const due = [...amounts, ...changes].reduce((sum, amount) => sum + amount, 0);
    const last = ofBucket.at(-1) as EntryOf<'consumed'>;
    if (last.invokedMs >= settledMs && last.data.consumed !== due)
      found.push({
        rule: 'conservation of consumption',
        what: `${bucket} reports ${last.data.consumed} consumed, and ${due} were acquired`,
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

function oneSuccessor(refreshes: readonly EntryOf<'refresh'>[]): Violation[] {
  return [...grouped(refreshes.filter(happened), ({ act }) => act.token)].flatMap(([token, same]) =>
    new Set(same.map(({ data }) => data.successor)).size > 1
      ? [{ rule: 'once', what: `refresh token ${token} has several successors`, atMs: (same.at(-1) as Entry).endedMs }]
      : [],
  );
}

function readingsOnce(
  ingests: readonly EntryOf<'ingest'>[],
  reads: readonly EntryOf<'readings'>[],
  { settledMs }: Facts,
): Violation[] {
  const found: Violation[] = [];
  const sent = new Map<
    string,
    { readonly value: number; isStored: boolean; mayBe: boolean; readonly device: string }
  >();
  for (const { act, data, outcome, endedMs } of ingests) {
    if (outcome === 'ok' && data.verdicts?.length !== act.readings.length)
      found.push({
        rule: 'readings once',
        what: `${act.readings.length} readings were sent, and ${data.verdicts?.length} verdicts returned`,
        atMs: endedMs,
      });
    act.readings.forEach(({ device, batchId, value }, i) => {
      const id = `${device} ${batchId}`;
      const one = sent.get(id) ?? { value, isStored: false, mayBe: false, device };
      const verdict = outcome === 'ok' ? data.verdicts?.[i] : undefined;
      if (verdict === 'STORED' || verdict === 'DUPLICATE') one.isStored = true;
      if (outcome === 'unknown' || (outcome === 'ok' && verdict !== 'REJECTED')) one.mayBe = true;
      sent.set(id, one);
    });
  }
  for (const [id, { isStored, mayBe }] of sent)
    if (mayBe && !isStored)
      found.push({
        rule: 'settled',
        what: `reading ${id} was never stored, and its outcome is unknown`,
        atMs: settledMs,
      });
  for (const [device, ofDevice] of grouped(reads.filter(happened), ({ act }) => act.device)) {
    const last = ofDevice.at(-1) as EntryOf<'readings'>;
    const report = (what: string) =>
      found.push({ rule: 'readings once', what: `${device}: ${what}`, atMs: last.endedMs });
    if (last.invokedMs < settledMs) report('not read after the end of the load');
    const stored = grouped(last.data.stored ?? [], ({ batchId }) => batchId);
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
  revokes: readonly EntryOf<'revoke'>[],
  { calm, revocationGraceMs, lagMs }: Facts,
): Violation[] {
  const ends = new Map<string, number>();
  for (const { act, endedMs } of revokes.filter(happened)) {
    const isCalm = calm.some(({ fromMs, toMs }) => endedMs >= fromMs && endedMs + revocationMs < toMs);
    const endMs = endedMs + revocationMs + lagMs + (isCalm ? 0 : revocationGraceMs);
    ends.set(act.credential, Math.min(endMs, ends.get(act.credential) ?? endMs));
  }
  return entries.flatMap(({ credential, outcome, invokedMs, endedMs, act }) => {
    const lateMs = invokedMs - (ends.get(credential) ?? Number.POSITIVE_INFINITY);
    const what = `${credential} was served ${act.kind} ${lateMs} ms after its revocation had to hold`;
    return outcome === 'ok' && lateMs > 0 ? [{ rule: 'nothing after revocation', what, atMs: endedMs }] : [];
  });
}

const tenantsIsolated = (entries: readonly Entry[]): Violation[] =>
  entries.flatMap(({ tenant, canaries, act, endedMs }) =>
    canaries
      .filter((other) => other !== tenant)
      .map((other) => ({
        rule: 'tenant isolation',
        what: `the response to ${act.kind} of ${tenant} contains data of ${other}`,
        atMs: endedMs,
      })),
  );

const responsesInTime = (entries: readonly Entry[]): Violation[] =>
  entries.flatMap(({ code, act, via, endedMs }) =>
    code === 'no response'
      ? [{ rule: 'responses in time', what: `gateway ${via} sent no response to ${act.kind}`, atMs: endedMs }]
      : [],
  );

/**
 * A gateway that stops responds to every request that it serves. A request that is sent just as the gateway closes an
 * idle connection gets no response either, as with any HTTP/1.1 server. But it was not served, so it can be retried.
 */
const drainsClean = (entries: readonly Entry[], { drains, served }: Facts): Violation[] =>
  entries.flatMap(({ via, code, invokedMs, endedMs, act, callId }) => {
    const drain = drains.find((one) => one.via === via && endedMs >= one.fromMs && invokedMs <= one.toMs);
    if (code !== 'broken connection' || !drain || !served.has(callId)) return [];
    const when = `sent ${invokedMs - drain.fromMs} ms after SIGTERM, broken ${drain.toMs - endedMs} ms before the exit`;
    return [
      {
        rule: 'drains clean',
        what: `${act.kind} was served by gateway ${via} and got no response: ${when}`,
        atMs: endedMs,
      },
    ];
  });
