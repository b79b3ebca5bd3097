import type { LimitState } from './bucket.js';
import { calendarWindows } from './calendar-window.js';

type StoredSpec = Pick<
  LimitState,
  | 'name'
  | 'capacityMilli'
  | 'burstMilli'
  | 'refillMilli'
  | 'refillPeriodMs'
  | 'calendar'
  | 'isConcurrency'
  | 'isShadow'
  | 'sinceConversion'
>;

/**
 * The parameters of a limit as one text: name, capacity, burst, refill and refill period, then by letter what few
 * limits have: c concurrency, s shadow, b the conversion that added it, w calendar window and zone. One attribute
 * instead of four, because an engine decodes and encodes every attribute of an item with each write.
 */
export const specText = ({ calendar, isConcurrency, isShadow, sinceConversion, ...spec }: StoredSpec): string =>
  [
    spec.name,
    spec.capacityMilli,
    spec.burstMilli,
    spec.refillMilli,
    spec.refillPeriodMs,
    ...(isConcurrency ? ['c'] : []),
    ...(isShadow ? ['s'] : []),
    ...(sinceConversion === undefined ? [] : [`b${sinceConversion}`]),
    ...(calendar ? [`w${calendar.window}:${calendar.zone}`] : []),
  ].join(' ');

const pattern = /^(\S+) (\d+) (\d+) (\d+) (\d+)( c)?( s)?(?: b(\d+))?(?: w([A-Z]+):(\S+))?$/;

/** Undefined if the text is not that of a limit. */
export function parseSpec(text: string): StoredSpec | undefined {
  const found = pattern.exec(text);
  if (!found) return undefined;
  const [, name, capacity, burst, refill, period, concurrency, shadow, conversion, windowName, zone] = found;
  const window = calendarWindows.find((each) => each === windowName);
  if (windowName !== undefined && !window) return undefined;
  return {
    name: name as string,
    capacityMilli: BigInt(capacity as string),
    burstMilli: BigInt(burst as string),
    refillMilli: BigInt(refill as string),
    refillPeriodMs: BigInt(period as string),
    ...(concurrency ? { isConcurrency: true } : {}),
    ...(shadow ? { isShadow: true } : {}),
    ...(conversion === undefined ? {} : { sinceConversion: Number(conversion) }),
    ...(window && zone !== undefined ? { calendar: { window, zone } } : {}),
  };
}
