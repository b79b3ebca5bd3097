import {
  type Admission,
  type Entry,
  type EntryOf,
  grouped,
  happened,
  mayHaveHappened,
  ofKind,
  type Violation,
} from './history.js';

/** What the checks of admissions cannot read from the history. */
export interface AdmissionFacts {
  /** The quota of each scope, and the amount of the budget. They do not change during the load. */
  readonly quotas: Readonly<Record<string, number>>;
  /** The scope of the budget, in which every cost counts. */
  readonly budget: string;
  /** How far the fastest clock of all processes is ahead of the clock of the history, from each moment on. */
  readonly clocks: readonly { readonly fromMs: number; readonly aheadMs: number }[];
  /** The maximum age of the figures in a denial. */
  readonly denialMs: number;
  /** Ascending times from which no gateway repeats a denial of before, because there was a pause. */
  readonly pausedMs: readonly number[];
  /** From then on no reservation is left, because the slot of each has ended and a worker has made its round. */
  readonly sweptMs: number;
}

/** Everything that is known about one request id. */
interface Story {
  readonly requestId: string;
  /** The scopes on which the amount may be reserved. */
  readonly scopes: readonly string[];
  readonly micros: number;
  /** Absent if no response says that it was admitted. */
  readonly admission?: Admission;
  /** The earliest time at which it can be reserved, and the time by which it certainly is. */
  readonly reservableMs: number;
  readonly reservedMs: number;
  /** The earliest time at which it can be returned because it has expired. */
  readonly expiredMs: number;
  /** The earliest time at which it can be settled, and the time by which it certainly is. */
  readonly settleableMs: number;
  readonly settledMs: number;
  /** The end of the last call that may have settled it. */
  readonly lastSettleMs: number;
  readonly costMicros: number;
}

const never = Number.POSITIVE_INFINITY;
const min = (all: readonly number[]): number => Math.min(never, ...all);

/**
 * Checks reservations: settled + reserved ≤ quota at every moment, except for listed overruns; each denial shows a
 * figure that is possible; nothing is reserved or settled twice; no reservation is left after its slot.
 */
export function admissionViolations(entries: readonly Entry[], facts: AdmissionFacts): Violation[] {
  const stories = storiesOf(entries, facts);
  const overruns = overrunsOf(entries);
  return [
    ...once(entries),
    ...overrunsJustified(overruns, stories),
    ...Object.keys(facts.quotas).flatMap((scope) => {
      const ofScope = stories.filter(({ scopes }) => scopes.includes(scope));
      return [...withinQuota(scope, ofScope, overruns, facts), ...figuresPossible(scope, ofScope, entries, facts)];
    }),
  ];
}

function storiesOf(entries: readonly Entry[], { clocks, budget }: AdmissionFacts): Story[] {
  const admits = grouped(ofKind(entries, 'admit'), ({ act }) => act.requestId);
  const renews = grouped(ofKind(entries, 'renew').filter(happened), ({ act }) => act.requestId);
  const costs = [...ofKind(entries, 'settle'), ...ofKind(entries, 'cost')];
  const endings = grouped(costs.filter(mayHaveHappened), ({ act }) => act.requestId);
  return [...new Set([...admits.keys(), ...endings.keys()])].flatMap((requestId) => {
    const attempts = (admits.get(requestId) ?? []).filter(
      ({ outcome, data }) => outcome === 'unknown' || data.admission,
    );
    const ends = endings.get(requestId) ?? [];
    const admitted = attempts.filter(({ data }) => data.admission);
    const admission = admitted[0]?.data.admission;
    const cost = ends[0]?.act;
    const scopes = admission ? [admission.scope] : cost ? [cost.scope] : (attempts[0]?.act.scopes ?? []);
    if (scopes.length === 0) return [];
    const expiries = [...admitted, ...(renews.get(requestId) ?? [])].map(
      ({ data }) => data.admission?.expiresAtMs ?? 0,
    );
    return [
      {
        requestId,
        scopes: [...scopes, budget],
        micros: attempts[0]?.act.micros ?? 0,
        ...(admission ? { admission } : {}),
        reservableMs: min(attempts.map(({ invokedMs }) => invokedMs)),
        reservedMs: min(admitted.map(({ endedMs }) => endedMs)),
        // A renewal succeeds only before the reservation is returned, so the last expiry counts.
        expiredMs: admission ? reached(clocks, Math.max(...expiries)) : never,
        settleableMs: min(ends.map(({ invokedMs }) => invokedMs)),
        settledMs: min(ends.filter(happened).map(({ endedMs }) => endedMs)),
        lastSettleMs: Math.max(0, ...ends.map(({ endedMs }) => endedMs)),
        costMicros: cost?.micros ?? 0,
      },
    ];
  });
}

/** The earliest time at which the fastest clock can show `serverMs`. */
function reached(clocks: AdmissionFacts['clocks'], serverMs: number): number {
  for (const [i, { fromMs, aheadMs }] of clocks.entries()) {
    const atMs = Math.max(fromMs, serverMs - aheadMs);
    if (atMs < (clocks[i + 1]?.fromMs ?? never)) return atMs;
  }
  return never;
}

/** A sum that changes at certain times. */
class Level {
  private readonly steps: { readonly atMs: number; readonly sum: number }[] = [];

  /** Of changes at the same time, those in `order` come first: 1 for increases, −1 for decreases. */
  constructor(changes: readonly { readonly atMs: number; readonly by: number }[], order: 1 | -1) {
    let sum = 0;
    const finite = changes.filter(({ atMs, by }) => atMs < never && by !== 0);
    for (const { atMs, by } of finite.sort((a, b) => a.atMs - b.atMs || order * (b.by - a.by))) {
      sum += by;
      this.steps.push({ atMs, sum });
    }
  }

  all(): readonly { readonly atMs: number; readonly sum: number }[] {
    return this.steps;
  }

  /** Every value that it has in a span, including that at its start. */
  within(fromMs: number, toMs: number): number[] {
    let low = 0;
    let high = this.steps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.steps[middle] as { atMs: number }).atMs < fromMs) low = middle + 1;
      else high = middle;
    }
    const values = [this.steps[low - 1]?.sum ?? 0];
    for (let step = this.steps[low]; step && step.atMs <= toMs; step = this.steps[++low]) values.push(step.sum);
    return values;
  }
}

/** The amount that is certainly held: from the response to an admission until it may be returned, and settled costs. */
const certain = (stories: readonly Story[]): Level =>
  new Level(
    stories.flatMap(({ micros, reservedMs, expiredMs, settleableMs, settledMs, costMicros }) => {
      const returnableMs = Math.min(expiredMs, settleableMs);
      return [
        ...(reservedMs < returnableMs
          ? [
              { atMs: reservedMs, by: micros },
              { atMs: returnableMs, by: -micros },
            ]
          : []),
        { atMs: settledMs, by: costMicros },
      ];
    }),
    -1,
  );

/** The amount that may be held: from the first attempt until the cost is known, or until nothing can be reserved. */
const possible = (stories: readonly Story[], { sweptMs }: AdmissionFacts): Level =>
  new Level(
    stories.flatMap(({ micros, reservableMs, settleableMs, settledMs, costMicros }) => {
      const isSettled = settleableMs < never;
      const more = Math.max(0, costMicros - (reservableMs < never ? micros : 0));
      return [
        ...(reservableMs < never
          ? [
              { atMs: reservableMs, by: micros },
              { atMs: settledMs < never ? settledMs : sweptMs, by: -micros },
            ]
          : []),
        ...(isSettled
          ? [
              { atMs: settleableMs, by: more },
              { atMs: settledMs, by: costMicros - more },
            ]
          : []),
      ];
    }),
    1,
  );

interface Overrun {
  readonly requestId: string;
  readonly kind: string;
  readonly overMicros: number;
  readonly atMs: number;
}

/** The overruns of the last list of each scope. */
const overrunsOf = (entries: readonly Entry[]): Overrun[] =>
  [...grouped(ofKind(entries, 'overruns').filter(happened), ({ act }) => act.scope).values()].flatMap((lists) => {
    const last = lists.at(-1) as EntryOf<'overruns'>;
    return (last.data.overruns ?? []).map((overrun) => ({ ...overrun, atMs: last.endedMs }));
  });

/** A listed overrun must be a cost above its reservation, after its expiry, or without one. */
function overrunsJustified(overruns: readonly Overrun[], stories: readonly Story[]): Violation[] {
  const byId = new Map(stories.map((story) => [story.requestId, story]));
  const seen = new Set<string>();
  return overruns.flatMap(({ requestId, kind, overMicros, atMs }) => {
    const story = byId.get(requestId);
    const isTwice = seen.has(requestId);
    seen.add(requestId);
    if (!isTwice && story && overMicros <= maxOver(kind, story)) return [];
    const what = `${kind} ${requestId} of ${overMicros} is listed ${isTwice ? 'twice' : 'without a reason'}`;
    return [{ rule: 'overruns are justified', what, atMs }];
  });
}

function maxOver(kind: string, { admission, micros, costMicros, expiredMs, lastSettleMs }: Story): number {
  if (!admission) return kind === 'UNRESERVED' ? costMicros : -1;
  if (kind === 'ABOVE_RESERVATION') return costMicros - micros;
  return kind === 'LATE_SETTLE' && lastSettleMs >= expiredMs ? costMicros : -1;
}

/** Settled + reserved ≤ quota at every moment, except for overruns that may have happened by then. */
function withinQuota(
  scope: string,
  stories: readonly Story[],
  overruns: readonly Overrun[],
  { quotas }: AdmissionFacts,
): Violation[] {
  const quota = quotas[scope] as number;
  const overs = stories.flatMap(({ requestId, settleableMs }) =>
    overruns
      .filter((overrun) => overrun.requestId === requestId)
      .map(({ overMicros }) => ({ atMs: settleableMs, overMicros })),
  );
  const first = certain(stories)
    .all()
    .find(({ atMs, sum }) => sum > quota + total(overs.filter((over) => over.atMs <= atMs)));
  if (!first) return [];
  const listed = total(overs.filter((over) => over.atMs <= first.atMs));
  const what = `${scope} holds ${first.sum}; its quota is ${quota}, and overruns of ${listed} are listed`;
  return [{ rule: 'settled + reserved within the quota', what, atMs: first.atMs }];
}

const total = (overs: readonly { readonly overMicros: number }[]): number =>
  overs.reduce((sum, { overMicros }) => sum + overMicros, 0);

/** The time of the oldest figures that a denial may have. */
const oldest = (invokedMs: number, { denialMs, pausedMs }: AdmissionFacts): number =>
  Math.max(invokedMs - denialMs, ...pausedMs.filter((ms) => ms <= invokedMs));

/** A denial shows how much is held. That must be possible by all other calls, and a denied amount must not fit. */
function figuresPossible(
  scope: string,
  stories: readonly Story[],
  entries: readonly Entry[],
  facts: AdmissionFacts,
): Violation[] {
  const rule = 'held as reserved and settled';
  const quota = facts.quotas[scope] as number;
  const [least, greatest] = [certain(stories), possible(stories, facts)];
  const denials = ofKind(entries, 'admit').filter(({ data }) => data.room?.scope === scope);
  const found = denials.flatMap(({ act, data, invokedMs, endedMs }) => {
    const room = data.room?.micros ?? 0;
    const fromMs = oldest(invokedMs, facts);
    const [low, high] = [Math.min(...least.within(fromMs, endedMs)), Math.max(...greatest.within(fromMs, endedMs))];
    const held = quota - room;
    // A scope that holds more than its quota has no room either, and denies even an amount of 0.
    const isPossible = held <= high && (room === 0 || held >= low);
    const isOver = room === 0 && high > quota;
    if (isPossible && (act.micros > room || isOver)) return [];
    const what = isPossible
      ? `${scope} denied ${act.micros} with room for ${room}`
      : `${scope} shows ${held} held, which is not from ${low} to ${high}`;
    return [{ rule, what, atMs: endedMs }];
  });
  if (denials.some(({ invokedMs }) => oldest(invokedMs, facts) >= facts.sweptMs)) return found;
  return [...found, { rule, what: `${scope} was not read after the last slot`, atMs: facts.sweptMs }];
}

/** The same request id is admitted once, with the requested amount, and settled once, with the submitted cost. */
function once(entries: readonly Entry[]): Violation[] {
  const report = ({ endedMs }: Entry, what: string): Violation => ({ rule: 'once', what, atMs: endedMs });
  const admits = grouped(
    ofKind(entries, 'admit').filter(({ data }) => data.admission),
    ({ act }) => act.requestId,
  );
  const settles = grouped(ofKind(entries, 'settle').filter(happened), ({ act }) => act.requestId);
  const repeated = [...admits, ...settles].flatMap(([requestId, same]) => {
    const first = (same as readonly Entry[]).filter(({ data }) => !data.replayed);
    const what = `${same[0]?.act.kind} of ${requestId} worked ${first.length} times`;
    return first.length > 1 ? [report(first[1] as Entry, what)] : [];
  });
  const wrong = [
    ...[...admits.values()].flat().map((entry) => {
      const { id, scope, reservedMicros } = entry.data.admission as Admission;
      const [{ data }] = admits.get(entry.act.requestId) as [Entry];
      const isSame = id === data.admission?.id && scope === data.admission.scope;
      return isSame && reservedMicros === entry.act.micros ? [] : [report(entry, `another admission ${id}`)];
    }),
    ...[...settles.values()].flat().map((entry) => {
      const what = `${entry.act.requestId} settled ${entry.data.micros} instead of ${entry.act.micros}`;
      return entry.data.micros === entry.act.micros ? [] : [report(entry, what)];
    }),
  ];
  return [...repeated, ...wrong.flat()];
}
