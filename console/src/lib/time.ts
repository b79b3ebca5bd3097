/** Moments in time, shown in a named time zone. The clock is that of the gateway, as its responses tell it. */

let aheadMs = 0;

/** Notes the time in a response of the gateway, because the clock of a browser may be wrong. */
export function noteServerTime(header: string | null): void {
  const at = header === null ? Number.NaN : Date.parse(header);
  // The header has whole seconds. A smaller difference is not a difference.
  if (!Number.isNaN(at) && Math.abs(at - Date.now() - aheadMs) > 2000) aheadMs = at - Date.now();
}

/** The time by the clock of the gateway, exact to about two seconds. */
export const serverNow = (): number => Date.now() + aheadMs;

/** The moment this long ago, at the beginning of a step, so that it stays the same for a while. */
export const momentAgo = (ms: number, stepMs: number): string =>
  new Date(Math.floor((serverNow() - ms) / stepMs) * stepMs).toISOString();

/** The moment this long from now. */
export const momentIn = (ms: number): string => new Date(serverNow() + ms).toISOString();

/** The moment that a field for a date and a time has, in UTC. Undefined if the field is empty. */
export const utcMoment = (text: string): string | undefined =>
  text === '' ? undefined : new Date(`${text}Z`).toISOString();

/** The moments from the first one until now, one per step. */
export function momentsSince(from: string, stepMs: number): string[] {
  const startMs = Date.parse(from);
  const count = Math.max(0, Math.floor((serverNow() - startMs) / stepMs) + 1);
  return Array.from({ length: count }, (_, i) => new Date(startMs + i * stepMs).toISOString());
}

const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: string, options: Intl.DateTimeFormatOptions, at: string | number): string {
  const key = `${zone} ${JSON.stringify(options)}`;
  let known = formats.get(key);
  if (!known) {
    known = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hourCycle: 'h23', ...options });
    formats.set(key, known);
  }
  return known.format(typeof at === 'string' ? Date.parse(at) : at);
}

const minutes = { hour: '2-digit', minute: '2-digit' } as const;

/** `14:05`. */
export const clock = (at: string | number, zone: string): string => format(zone, minutes, at);

/** `17 Nov, 14:05`. */
export const dateAndTime = (at: string | number, zone: string): string =>
  format(zone, { day: 'numeric', month: 'short', ...minutes }, at);

/** `17 Nov 2026, 14:05:33 GMT-5`: a whole moment, with its zone. */
export const fullTime = (at: string | number, zone: string): string =>
  format(
    zone,
    { day: 'numeric', month: 'short', year: 'numeric', ...minutes, second: '2-digit', timeZoneName: 'short' },
    at,
  );

const steps = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const;

/** A length of time in its largest unit: `3 min`, `2 d`. */
export function duration(ms: number): string {
  const [size, unit] = steps.find(([step]) => ms >= step) ?? [1000, 's'];
  return `${Math.max(0, Math.floor(ms / size))} ${unit}`;
}

/** `3 min ago`. */
export function age(at: string | number): string {
  const ms = serverNow() - (typeof at === 'string' ? Date.parse(at) : at);
  return ms < 5000 ? 'just now' : `${duration(ms)} ago`;
}

/** The time until a moment: `4 h 12 min`; `now` once it has come. */
export function until(at: string): string {
  const ms = Date.parse(at) - serverNow();
  if (ms <= 0) return 'now';
  const minutesLeft = Math.ceil(ms / 60_000);
  const hours = Math.floor(minutesLeft / 60);
  return hours > 0 ? `${hours} h ${minutesLeft % 60} min` : `${minutesLeft} min`;
}
