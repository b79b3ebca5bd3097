import { sha256 } from '../lib/id.js';
import { smaller } from '../lib/int.js';
import { type Amounts, slotMilli, unitsOf } from './buckets/bucket.js';
import type { Holding, OutAmount } from './buckets/holding.js';
import type { HoldingMove, Settlement } from './buckets/operation.js';
import type { Shard } from './buckets/shard.js';

/** What a lease's id says: everything that its first adjust or release needs to know. */
export interface LeaseHandle {
  readonly orgId: string;
  readonly namespace: string;
  readonly name: string;
  readonly entityId: string;
  readonly resource: string;
  readonly holdings: readonly Holding[];
  readonly expiresAtMs: number;
  /** Let through because the store did not answer: it holds nothing. */
  readonly degraded: boolean;
}

/** How a lease stands; `version` counts its changes. */
export interface LeaseState {
  readonly version: number;
  readonly holdings: readonly Holding[];
  /** By idempotency key: what was adjusted, and by which call. */
  readonly adjusted: Readonly<Record<string, Adjustment>>;
  /** The nonce of the call that released it. */
  readonly releasedBy?: string;
}

export interface Adjustment {
  readonly hash: string;
  /** Of the call that made it, so that a success whose reply was lost is not taken for an earlier one's. */
  readonly nonce: string;
}

/** What an acquire with a request id leaves for a repeat of it. */
export interface FirstLease {
  readonly handle: LeaseHandle;
  /** Of what was asked: a repeat asks the same. */
  readonly requestHash: string;
  /** Of the attempt that made it. */
  readonly nonce: string;
  readonly isReleased: boolean;
}

/** What lease ids are sealed for. */
export const leaseContext = 'lease';
export const leaseMs = 24 * 3_600_000;
export const maxAdjusts = 16;

export const firstState = ({ holdings }: Pick<LeaseHandle, 'holdings'>): LeaseState => ({
  version: 0,
  holdings,
  adjusted: {},
});

/**
 * The name under which a lease holds its slots: short, because a bucket may have a hundred of them. With its end, because
 * a request id may be used again while the slot of its last lease is not dropped yet.
 */
export const slotName = ({ name, expiresAtMs }: Pick<LeaseHandle, 'name' | 'expiresAtMs'>): string =>
  sha256(`${name} ${expiresAtMs}`).slice(0, 11);

const isSlotMark = -1;
type EncodedOut = [
  limit: number,
  milli: string,
  period: string,
  sinceConversion: number,
  windowEndMs: number,
  units: string,
];
/** Names once, then numbers for them: a lease may be split over many shards, and its id carries all of it. */
type Encoded = [
  entities: string[],
  limits: string[],
  holdings: [
    entity: number,
    isOwn: number,
    shard: number,
    shards: number,
    incarnation: string,
    ...outs: Partial<EncodedOut>[],
  ][],
];

export function encodeHoldings(holdings: readonly Holding[]): Encoded {
  const entities = [...new Set(holdings.map(({ entityId }) => entityId))];
  const limits = [...new Set(holdings.flatMap(({ out }) => Object.keys(out)))];
  const encoded = holdings.map(({ entityId, isOwn, shard, shards, incarnation = '', out }): Encoded[2][number] => [
    entities.indexOf(entityId),
    isOwn ? 1 : 0,
    shard,
    shards,
    incarnation,
    ...Object.entries(out).map(([name, of]) => encodeOut(limits.indexOf(name), of, shards)),
  ]);
  return [entities, limits, encoded];
}

/** What goes without saying at the end is left out. */
function encodeOut(
  limit: number,
  { milli, units, period, sinceConversion = 0, windowEndMs = 0, isSlot }: OutAmount,
  shards: number,
): Partial<EncodedOut> {
  const isWhole = units === unitsOf({ refillPeriodMs: period }, milli, shards);
  const all: EncodedOut = [
    limit,
    String(milli),
    String(period),
    sinceConversion,
    isSlot ? isSlotMark : windowEndMs,
    String(units),
  ];
  const said = isWhole ? all.slice(0, 5) : all;
  while (said.at(-1) === 0 && said.length > 3) said.pop();
  return said as Partial<EncodedOut>;
}

export const decodeHoldings = ([entities, limits, holdings]: Encoded): Holding[] =>
  holdings.map(([entity, isOwn, shard, shards, incarnation, ...outs]) => ({
    entityId: entities[entity] as string,
    ...(isOwn ? { isOwn: true as const } : {}),
    shard,
    shards,
    incarnation,
    out: Object.fromEntries(outs.map((out) => [limits[out[0] as number] as string, decodeOut(out, shards)])),
  }));

function decodeOut(
  [, milliText = '0', periodText = '1', sinceConversion = 0, windowEndMs = 0, units]: Partial<EncodedOut>,
  shards: number,
): OutAmount {
  const [milli, period] = [BigInt(milliText), BigInt(periodText)];
  return {
    milli,
    units: units === undefined ? unitsOf({ refillPeriodMs: period }, milli, shards) : BigInt(units),
    period,
    sinceConversion,
    ...(windowEndMs > 0 ? { windowEndMs } : {}),
    ...(windowEndMs === isSlotMark ? { isSlot: true } : {}),
  };
}

export const encodeHandle = ({
  orgId,
  namespace,
  name,
  entityId,
  resource,
  holdings,
  expiresAtMs,
  degraded,
}: LeaseHandle): string =>
  JSON.stringify([orgId, namespace, name, entityId, resource, encodeHoldings(holdings), expiresAtMs, degraded ? 1 : 0]);

/** Of a text that this deployment has signed, and nobody else can have made. */
export function decodeHandle(text: string): LeaseHandle {
  const [orgId, namespace, name, entityId, resource, holdings, expiresAtMs, degraded] = JSON.parse(text) as [
    string,
    string,
    string,
    string,
    string,
    Encoded,
    number,
    number,
  ];
  return {
    orgId,
    namespace,
    name,
    entityId,
    resource,
    holdings: decodeHoldings(holdings),
    expiresAtMs,
    degraded: degraded === 1,
  };
}

/** The limit of which more would be given back than is out. */
export interface Excess {
  readonly excess: string;
  readonly outMilli: bigint;
}

/** How a lease's holdings change by these amounts on each of its buckets: more is charged to the first, and given back from the last on. */
export function movesBy(holdings: readonly Holding[], deltas: Amounts): HoldingMove[] | Excess {
  const moves = holdings.map((): Record<string, OutAmount> => ({}));
  for (const bucket of new Set(holdings.map(bucketOf))) {
    const own = holdings.flatMap((holding, at) => (bucketOf(holding) === bucket ? [{ at, holding }] : []));
    for (const [name, delta] of Object.entries(deltas)) {
      const having = own.filter(({ holding }) => holding.out[name] !== undefined);
      const [first] = having;
      if (!first || delta === 0n) continue;
      if (delta > 0n) (moves[first.at] as Record<string, OutAmount>)[name] = moved(first.holding, name, delta);
      else {
        const left = giveBack(having.reverse(), name, -delta, moves);
        if (left > 0n) return { excess: name, outMilli: -delta - left };
      }
    }
  }
  return holdings.map((holding, at) => ({ ...holding, out: moves[at] as Record<string, OutAmount> }));
}

/** Returns what could not be given back. */
function giveBack(
  having: readonly { readonly at: number; readonly holding: Holding }[],
  name: string,
  milli: bigint,
  moves: Record<string, OutAmount>[],
): bigint {
  let left = milli;
  for (const { at, holding } of having) {
    const back = smaller(holding.out[name]?.milli ?? 0n, left);
    if (back > 0n) (moves[at] as Record<string, OutAmount>)[name] = moved(holding, name, -back);
    left -= back;
  }
  return left;
}

const bucketOf = ({ entityId, isOwn }: Holding): string => `${entityId}${isOwn ? ' own' : ''}`;

/** A change of one limit of a holding. All of it goes back in the very units it was taken in. */
function moved({ out, shards }: Holding, name: string, milli: bigint): OutAmount {
  const of = out[name] as OutAmount;
  const units = unitsOf({ refillPeriodMs: of.period }, milli, shards);
  return { ...of, milli, units: -milli === of.milli || -units > of.units ? -of.units : units };
}

/** All that is out, given back. */
export const movesAll = (holdings: readonly Holding[], slot: string): HoldingMove[] =>
  holdings.map((holding) => ({
    ...holding,
    out: Object.fromEntries(
      Object.entries(holding.out).flatMap(([name, of]) =>
        of.milli === 0n && of.units === 0n ? [] : [[name, moved(holding, name, -of.milli)] as const],
      ),
    ),
    slot: { lease: slot },
  }));

/** The slots that a lease holds, kept until a later moment. */
export const movesRenewed = (holdings: readonly Holding[], slot: string, untilMs: number): HoldingMove[] =>
  holdings.flatMap((holding) => {
    const slots = Object.entries(holding.out).filter(([, { isSlot, milli }]) => isSlot && milli > 0n);
    const out = Object.fromEntries(slots.map(([name, of]) => [name, { ...of, milli: 0n, units: 0n }]));
    return slots.length > 0 ? [{ ...holding, out, slot: { lease: slot, untilMs } }] : [];
  });

/** What is out after the moves: what was not charged is not out, what is given back is out no more, whatever became of its bucket. */
export function afterMoves(
  holdings: readonly Holding[],
  moves: readonly HoldingMove[],
  applied: Settlement['applied'],
): Holding[] {
  const after = holdings.map((holding, at) => {
    const out = Object.entries(holding.out).map(([name, of]) => {
      const move = moves[at]?.out[name];
      const window = applied[at]?.[name];
      if (!move || (move.milli > 0n && (!window || window.split))) return [name, of] as const;
      // More charged in another window: of what was taken before nothing can be given back any more.
      const isNewWindow = window?.windowEndMs !== undefined && window.windowEndMs !== of.windowEndMs && move.milli > 0n;
      const base = isNewWindow ? { ...of, milli: 0n, units: 0n, windowEndMs: window.windowEndMs as number } : of;
      return [name, { ...base, milli: base.milli + move.milli, units: base.units + move.units }] as const;
    });
    return { ...holding, out: Object.fromEntries(out) };
  });
  return [...after, ...moves.flatMap((move, at) => splitHoldings(move, applied[at] ?? {}))];
}

/** What was charged to other shards than the one it was taken from are holdings of their own. */
const splitHoldings = ({ slot: _, out, ...move }: HoldingMove, applied: Settlement['applied'][number]): Holding[] =>
  Object.entries(applied).flatMap(([name, { split, windowEndMs }]) =>
    (split?.parts ?? []).map(({ index, milli, units }) => {
      const { period, shards } = split as NonNullable<typeof split>;
      return {
        ...move,
        shard: index,
        shards,
        out: {
          [name]: {
            ...(out[name] as OutAmount),
            milli,
            units,
            period,
            ...(windowEndMs === undefined ? {} : { windowEndMs }),
          },
        },
      };
    }),
  );

/** What the moves add up to on one entity, in millitokens. */
export function sumFor(entityId: string, holdings: readonly Pick<Holding, 'entityId' | 'out'>[]): Amounts {
  const sum: Record<string, bigint> = {};
  for (const { entityId: of, out } of holdings) {
    if (of !== entityId) continue;
    for (const [name, { milli }] of Object.entries(out)) sum[name] = (sum[name] ?? 0n) + milli;
  }
  return sum;
}

/** Until when a lease holds its slots, as its buckets have it; undefined where it holds none. */
export function slotsUntilMs(handle: LeaseHandle, shards: readonly Shard[]): number | undefined {
  const slot = slotName(handle);
  const ends = shards.flatMap(({ limits, retired }) =>
    [...limits, ...retired].flatMap(({ slots }) => slots?.[slot] ?? []),
  );
  return ends.length > 0 ? Math.min(...ends) : undefined;
}

/** Whether any slot of a concurrency limit is held. */
export const holdsSlots = (holdings: readonly Holding[]): boolean =>
  holdings.some(({ out }) => Object.values(out).some(({ isSlot, milli }) => isSlot && milli >= slotMilli));
