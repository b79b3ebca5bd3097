import { count, short } from './numbers.js';

/** A limit as the gateway describes it. */
export interface LimitShape {
  readonly name: string;
  readonly capacity: number;
  readonly burst: number;
  readonly refillAmount: number;
  readonly refillPeriodSecs: number;
  readonly kind: 'RATE' | 'CONCURRENCY';
  readonly window: 'DAY' | 'WEEK' | 'MONTH' | null;
  readonly enforce: boolean;
}

const units: readonly (readonly [number, string])[] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
];

/** `minute`, `15 minutes`, `90 seconds`. */
export function periodText(secs: number): string {
  const [size, unit] = units.find(([each]) => secs % each === 0) ?? [1, 'second'];
  const many = secs / size;
  return many === 1 ? unit : `${count(many)} ${unit}s`;
}

/** What a limit allows, in words: `60 per minute, up to 90 at once`. */
export function limitText({ capacity, burst, refillAmount, refillPeriodSecs, kind, window }: LimitShape): string {
  if (kind === 'CONCURRENCY') return `${count(capacity)} at the same time`;
  if (window !== null) return `${short(capacity)} per ${window.toLowerCase()}`;
  const rate = `${short(refillAmount)} per ${periodText(refillPeriodSecs)}`;
  return burst > refillAmount ? `${rate}, up to ${short(burst)} at once` : rate;
}

export const draftKinds = ['RATE', 'DAY', 'WEEK', 'MONTH', 'CONCURRENCY'] as const;
export type DraftKind = (typeof draftKinds)[number];

/** A limit as it is typed into a form. */
export interface LimitDraft {
  readonly id: number;
  readonly name: string;
  readonly kind: DraftKind;
  readonly capacity: string;
  readonly burst: string;
  readonly refillAmount: string;
  readonly refillPeriodSecs: string;
  readonly enforce: boolean;
}

export const newDraft = (id: number): LimitDraft => ({
  id,
  name: '',
  kind: 'RATE',
  capacity: '',
  burst: '',
  refillAmount: '',
  refillPeriodSecs: '60',
  enforce: true,
});

/** The form of a limit. Values that are the default stay empty. */
export function draftOf(limit: LimitShape, id: number): LimitDraft {
  const isRate = limit.kind === 'RATE' && limit.window === null;
  const unless = (value: number, usual: number) => (isRate && value !== usual ? String(value) : '');
  return {
    id,
    name: limit.name,
    kind: limit.kind === 'CONCURRENCY' ? 'CONCURRENCY' : (limit.window ?? 'RATE'),
    capacity: String(limit.capacity),
    burst: unless(limit.burst, limit.capacity),
    refillAmount: unless(limit.refillAmount, limit.capacity),
    refillPeriodSecs: isRate ? String(limit.refillPeriodSecs) : '60',
    enforce: limit.enforce,
  };
}

export interface LimitInputShape {
  name: string;
  capacity: number;
  burst?: number;
  refillAmount?: number;
  refillPeriodSecs?: number;
  kind: 'RATE' | 'CONCURRENCY';
  window?: 'DAY' | 'WEEK' | 'MONTH';
  enforce: boolean;
}

/** The input that a form describes. The gateway checks the ranges. */
export function inputOf(draft: LimitDraft): LimitInputShape {
  const { name, kind, capacity, burst, refillAmount, refillPeriodSecs, enforce } = draft;
  const common = { name: name.trim(), capacity: whole(capacity, `The capacity of ${name}`), enforce };
  if (kind === 'CONCURRENCY') return { ...common, kind };
  if (kind !== 'RATE') return { ...common, kind: 'RATE', window: kind };
  return {
    ...common,
    kind,
    ...(burst.trim() ? { burst: whole(burst, `The burst of ${name}`) } : {}),
    ...(refillAmount.trim() ? { refillAmount: whole(refillAmount, `The refill of ${name}`) } : {}),
    refillPeriodSecs: whole(refillPeriodSecs, `The period of ${name}`),
  };
}

function whole(text: string, what: string): number {
  const value = Number(text.replaceAll(/[,_ ]/g, ''));
  if (!Number.isSafeInteger(value) || text.trim() === '') throw new Error(`${what} must be a whole number`);
  return value;
}
