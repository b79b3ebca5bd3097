import { added, noUsage, type Usage } from './money.js';

/** The spend of one hour of a local day. */
export interface HourFigures {
  /** With corrections, so one shard may have a negative amount. The sum over all shards never has. */
  readonly costUsdMicros: number;
  readonly requests: number;
}

/** By the number of whole hours since the local day began. Hours without a cost are absent. */
export type Hours = ReadonlyMap<number, HourFigures>;

/** A day has up to 25 hours, and up to 47 if the time zone of the org changes. */
export const maxHours = 50;

/** The figures that a shard or a total stores. All of them only grow, except the cost of an hour. */
export interface Counters {
  /** The cost without corrections. */
  readonly grossUsdMicros: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly requests: number;
  readonly debitUsdMicros: number;
  readonly creditUsdMicros: number;
  readonly corrections: number;
  readonly hours: Hours;
}

export const noCounters: Counters = {
  grossUsdMicros: 0,
  inputTokens: 0,
  outputTokens: 0,
  requests: 0,
  debitUsdMicros: 0,
  creditUsdMicros: 0,
  corrections: 0,
  hours: new Map(),
};

/** The counters of one cost. A cost without an hour is from before hours were counted. */
export const countersOf = (
  { costUsdMicros, inputTokens, outputTokens, requests }: Usage,
  hour: number | undefined,
): Counters => ({
  ...noCounters,
  grossUsdMicros: costUsdMicros,
  inputTokens,
  outputTokens,
  requests,
  hours: new Map(hour === undefined ? [] : [[hour, { costUsdMicros, requests }]]),
});

/** The figures as callers see them, corrections included. */
export const usageOf = (counters: Counters): Usage => ({
  costUsdMicros: Math.max(0, added(counters.grossUsdMicros, counters.debitUsdMicros) - counters.creditUsdMicros),
  inputTokens: counters.inputTokens,
  outputTokens: counters.outputTokens,
  requests: counters.requests,
});

/** The part of a day that no hour has, because it was recorded before hours were counted. */
export function unattributed(counters: Counters): HourFigures {
  const { costUsdMicros, requests } = usageOf(counters);
  const hours = [...counters.hours.values()];
  return {
    costUsdMicros: Math.max(0, costUsdMicros - hours.reduce((sum, hour) => added(sum, hour.costUsdMicros), 0)),
    requests: Math.max(0, requests - hours.reduce((sum, hour) => added(sum, hour.requests), 0)),
  };
}

export const sumCounters = (all: readonly Counters[]): Counters => all.reduce(plusCounters, noCounters);

function plusCounters(a: Counters, b: Counters): Counters {
  return {
    grossUsdMicros: added(a.grossUsdMicros, b.grossUsdMicros),
    inputTokens: added(a.inputTokens, b.inputTokens),
    outputTokens: added(a.outputTokens, b.outputTokens),
    requests: added(a.requests, b.requests),
    debitUsdMicros: added(a.debitUsdMicros, b.debitUsdMicros),
    creditUsdMicros: added(a.creditUsdMicros, b.creditUsdMicros),
    corrections: added(a.corrections, b.corrections),
    hours: plusHours(a.hours, b.hours),
  };
}

function plusHours(a: Hours, b: Hours): Hours {
  if (a.size === 0 || b.size === 0) return a.size === 0 ? b : a;
  const sum = new Map(a);
  for (const [hour, { costUsdMicros, requests }] of b) {
    const other = sum.get(hour) ?? noUsage;
    sum.set(hour, {
      costUsdMicros: added(other.costUsdMicros, costUsdMicros),
      requests: added(other.requests, requests),
    });
  }
  return sum;
}
