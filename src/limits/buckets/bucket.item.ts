import type { Item } from '../../dynamo/client.js';
import { type Fields, fields } from '../../dynamo/fields.js';
import { type ShardId, shardKey } from '../limiter-keys.js';
import { type Amounts, type LimitState, slotMilli } from './bucket.js';
import { parseSpec, specText } from './limit-spec.item.js';
import type { Shard } from './shard.js';

export const table = 'limiter';

/**
 * The attributes of a limit: s its parameters as one text, because only a conversion changes them; f fullAt, c and h
 * total consumed now and at the start of the hour, w window end. The place of the limit in its list follows, not its
 * name: short, and allowed in every PartiQL statement.
 */
type LimitField = 's' | 'f' | 'c' | 'h' | 'w';

/** The place of a limit among the limits, or among the retired limits, of its item. Only a conversion changes it. */
export const placeOf = (index: number, isRetired: boolean): string => (isRetired ? `r${index}` : String(index));
export const attribute = (place: string, field: LimitField): string => `${field}_${place}`;
/** The attribute of a slot of a concurrency limit. */
export const slotAttribute = (place: string, lease: string): string => `e_${place}#${lease}`;
const usagePrefix = 'u_';
export const usageAttribute = (limit: string): string => usagePrefix + limit;

const fencePrefix = 'p:';
/** The version of all shards of a bucket during a conversion. */
export const fenceVersion = (nonce: string): string => fencePrefix + nonce;
export const isFenced = ({ version }: Shard): boolean => version.startsWith(fencePrefix);

function toLimit(item: Item, read: Fields, place: string): LimitState {
  const { isConcurrency, ...spec } = read.text(attribute(place, 's'), parseSpec, 'the parameters of a limit');
  const state = {
    ...spec,
    fullAt: read.bigint(attribute(place, 'f')),
    consumedMilli: read.bigint(attribute(place, 'c')),
    consumedBeforeMilli: read.bigint(attribute(place, 'h')),
    ...(spec.calendar ? { windowEndMs: read.number(attribute(place, 'w')) } : {}),
  };
  if (!isConcurrency) return state;
  const slotPrefix = slotAttribute(place, '');
  const slots = Object.keys(item).flatMap((key) =>
    key.startsWith(slotPrefix) ? [[key.slice(slotPrefix.length), read.number(key)] as const] : [],
  );
  return { ...state, isConcurrency: true, slots: Object.fromEntries(slots) };
}

function toLimits(item: Item, read: Fields, isRetired: boolean): LimitState[] {
  const limits: LimitState[] = [];
  for (;;) {
    const place = placeOf(limits.length, isRetired);
    if (!read.has(attribute(place, 's'))) return limits;
    limits.push(toLimit(item, read, place));
  }
}

export function toShard(item: Item): Shard {
  const read = fields(table, item);
  const levels = read.optionalString('lv');
  const expiresAtSecs = read.optionalNumber('ttl');
  const fence = read.optionalString('fx');
  return {
    limits: toLimits(item, read, false),
    retired: toLimits(item, read, true),
    version: read.string('cv'),
    levels: levels === undefined ? [] : levels.split('.').map(Number),
    incarnation: read.optionalString('bi') ?? '',
    conversions: read.optionalNumber('rs') ?? 0,
    shardCount: read.number('sc'),
    hour: read.number('hw'),
    booked: read.optionalStrings('un') ?? [],
    events: read.optionalNumber('ec') ?? 0,
    eventsBefore: read.optionalNumber('eb') ?? 0,
    writes: read.optionalNumber('wc') ?? 0,
    ...(expiresAtSecs === undefined ? {} : { expiresAtSecs }),
    ...(fence === undefined ? {} : { fence }),
  };
}

const stateAttributes = (limit: LimitState, place: string): Item => ({
  [attribute(place, 's')]: specText(limit),
  [attribute(place, 'f')]: limit.isConcurrency
    ? BigInt(Object.keys(limit.slots ?? {}).length) * slotMilli
    : limit.fullAt,
  [attribute(place, 'c')]: limit.consumedMilli,
  [attribute(place, 'h')]: limit.consumedBeforeMilli,
  [attribute(place, 'w')]: limit.windowEndMs,
  ...Object.fromEntries(
    Object.entries(limit.slots ?? {}).map(([lease, untilMs]) => [slotAttribute(place, lease), untilMs]),
  ),
});

export const levelsText = (levels: readonly number[]): string | undefined =>
  levels.length > 0 ? levels.join('.') : undefined;

/** The complete item of a shard. */
export const shardItem = (id: ShardId, shard: Shard): Item => ({
  ...shardKey(id),
  ...Object.assign({}, ...shard.limits.map((limit, i) => stateAttributes(limit, placeOf(i, false)))),
  ...Object.assign({}, ...shard.retired.map((limit, i) => stateAttributes(limit, placeOf(i, true)))),
  cv: shard.version,
  lv: levelsText(shard.levels),
  bi: shard.incarnation,
  rs: shard.conversions,
  sc: shard.shardCount,
  hw: shard.hour,
  un: shard.booked.length > 0 ? shard.booked : undefined,
  ec: shard.events,
  eb: shard.eventsBefore,
  wc: shard.writes,
  ttl: shard.expiresAtSecs,
});

/** The shard after a planned write, with the values that DynamoDB returned for the changed attributes. */
export function withReturnedValues(after: Shard, returned: Item): Shard {
  const read = fields(table, returned);
  return {
    ...after,
    limits: after.limits.map((limit, i) => {
      const place = placeOf(i, false);
      return {
        ...limit,
        fullAt: read.bigint(attribute(place, 'f')),
        consumedMilli: read.bigint(attribute(place, 'c')),
      };
    }),
    events: read.optionalNumber('ec') ?? after.events,
    writes: read.number('wc'),
  };
}

/** The figures of a usage item. */
export function usageOf(item: Item): { readonly consumed: Amounts; readonly events: number } {
  const read = fields(table, item);
  const consumed = Object.keys(item).flatMap((name) =>
    name.startsWith(usagePrefix) ? [[name.slice(usagePrefix.length), read.bigint(name)] as const] : [],
  );
  return { consumed: Object.fromEntries(consumed), events: read.optionalNumber('events') ?? 0 };
}
