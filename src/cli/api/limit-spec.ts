import type { LimitRequest } from '../../limits/limit.js';

const secsPer = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
const form = 'must have the form name=capacity[:burst=N][:refill=N][:concurrent][:shadow][/60s|/day|/week|/month]';

/**
 * A limit of the command line: `rpm=100`, `tpm=40000:burst=60000/60s`, `calls=1000/day`, `jobs=5:concurrent`. Without a
 * period the tokens come back within 60 s.
 */
export function parseLimit(text: string): LimitRequest {
  const [, name = '', capacity = '', flags = '', period] =
    /^([^=:/]+)=(\d{1,16})((?::[a-z]+(?:=\d{1,16})?)*)(?:\/([a-z0-9]+))?$/.exec(text) ?? [];
  if (name === '') throw new Error(`${form}, for example tpm=40000:burst=60000/60s`);
  return {
    name,
    capacity: Number(capacity),
    ...periodOf(period),
    ...Object.assign({}, ...flags.split(':').slice(1).map(flagOf)),
  };
}

function flagOf(flag: string): Partial<LimitRequest> {
  const [name = '', value] = flag.split('=');
  if (name === 'burst' && value !== undefined) return { burst: Number(value) };
  if (name === 'refill' && value !== undefined) return { refillAmount: Number(value) };
  if (name === 'concurrent' && value === undefined) return { kind: 'CONCURRENCY' };
  if (name === 'shadow' && value === undefined) return { enforce: false };
  throw new Error(`":${flag}" is unknown; ${form}`);
}

function periodOf(period: string | undefined): Pick<LimitRequest, 'refillPeriodSecs' | 'window'> {
  if (period === undefined) return { refillPeriodSecs: 60 };
  if (period === 'day' || period === 'week' || period === 'month')
    return { refillPeriodSecs: 60, window: period.toUpperCase() as 'DAY' | 'WEEK' | 'MONTH' };
  const [, count = '', unit = ''] = /^(\d{1,7})([smhd])$/.exec(period) ?? [];
  if (count === '') throw new Error(`"/${period}" is unknown; ${form}`);
  return { refillPeriodSecs: Number(count) * secsPer[unit as keyof typeof secsPer] };
}

interface ShownLimit extends LimitRequest {
  readonly burst: number;
  readonly refillAmount: number;
}

/** A limit in the form of the command line. The defaults are left out. */
export function limitText({ name, capacity, burst, refillAmount, refillPeriodSecs, ...limit }: ShownLimit): string {
  const shadow = limit.enforce === false ? ':shadow' : '';
  if (limit.kind === 'CONCURRENCY') return `${name}=${capacity}:concurrent${shadow}`;
  if (limit.window) return `${name}=${capacity}${shadow}/${limit.window.toLowerCase()}`;
  const ownBurst = burst === capacity ? '' : `:burst=${burst}`;
  const ownRefill = refillAmount === capacity ? '' : `:refill=${refillAmount}`;
  return `${name}=${capacity}${ownBurst}${ownRefill}${shadow}/${refillPeriodSecs}s`;
}
