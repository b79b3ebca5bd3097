import type { Issue } from '../../lib/errors.js';
import { isOneLine } from '../../lib/text.js';
import { type Counters, noCounters } from '../counters.js';
import { maxAmountPerCall } from '../money.js';
import { firstOpenDay, firstShardDay } from '../open-days.js';

export const maxCorrectionsPerCost = 20;
/** A cost can be corrected for this long after its call. */
export const maxCorrectionDays = 30;
export const maxReasonChars = 500;
const dayMs = 86_400_000;
/** More than the difference between two clocks and the time that a correction may be on its way. */
const closingMs = 2 * 3_600_000;

/** A change of one recorded cost. */
export interface Correction {
  readonly correctionId: string;
  readonly deltaUsdMicros: number;
  readonly reason: string;
  readonly correctedAt: Date;
}

export interface CorrectionRequest {
  readonly appId: string;
  readonly requestId: string;
  readonly correctionId: string;
  readonly deltaUsdMicros: number;
  readonly reason: string;
}

/** The state of a cost that decides if a correction is allowed. */
export interface Correctable {
  readonly costUsdMicros: number;
  /** The sum of its corrections. */
  readonly deltaUsdMicros: number;
  readonly corrections: number;
  readonly day: string;
  readonly occurredAtMs: number;
}

/** The issues of a request, each with its path below `input`. */
export function correctionIssues({ deltaUsdMicros, reason }: CorrectionRequest): Issue[] {
  const isAmount =
    Number.isInteger(deltaUsdMicros) && deltaUsdMicros !== 0 && Math.abs(deltaUsdMicros) <= maxAmountPerCall;
  const isReason = reason.trim().length > 0 && [...reason].length <= maxReasonChars && isOneLine(reason);
  return [
    ...(isAmount
      ? []
      : [
          {
            path: 'input.deltaUsdMicros',
            message: `must be a whole number from -${maxAmountPerCall} to ${maxAmountPerCall} and not 0`,
          },
        ]),
    ...(isReason
      ? []
      : [
          {
            path: 'input.reason',
            message:
              `must have 1 to ${maxReasonChars} characters, not be blank, ` +
              'and have no control or text-direction characters',
          },
        ]),
  ];
}

/** Why a cost cannot be corrected by this amount at `nowMs`. Empty if it can. */
export function correctableIssues(
  cost: Correctable,
  deltaUsdMicros: number,
  nowMs: number,
  shardDays: number,
): Issue[] {
  const left = cost.costUsdMicros + cost.deltaUsdMicros;
  const isOld = cost.occurredAtMs < nowMs - maxCorrectionDays * dayMs || cost.day < firstShardDay(nowMs, shardDays);
  return [
    ...(isOld
      ? [{ path: 'input.requestId', message: `a cost can be corrected for ${maxCorrectionDays} days after its call` }]
      : []),
    ...(cost.corrections >= maxCorrectionsPerCost
      ? [
          {
            path: 'input.requestId',
            message: `this cost has ${cost.corrections} corrections; the maximum is ${maxCorrectionsPerCost}`,
          },
        ]
      : []),
    ...(left + deltaUsdMicros < 0
      ? [
          {
            path: 'input.deltaUsdMicros',
            message: `the cost with its corrections is ${left} micro-dollars; a credit can be at most that`,
          },
        ]
      : []),
  ];
}

/** What a correction adds to each counter of its cost. A cost without an hour is from before hours were counted. */
export const correctionCounters = (deltaUsdMicros: number, hour: number | undefined): Counters => ({
  ...noCounters,
  debitUsdMicros: Math.max(0, deltaUsdMicros),
  creditUsdMicros: Math.max(0, -deltaUsdMicros),
  corrections: 1,
  hours: new Map(hour === undefined ? [] : [[hour, { costUsdMicros: deltaUsdMicros, requests: 0 }]]),
});

/** True if the aggregator may have closed a day before a correction that is made now is stored. */
export const mayBeClosed = (day: string, nowMs: number): boolean => day < firstOpenDay(nowMs + closingMs);
