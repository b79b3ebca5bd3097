import type { Item } from '../../dynamo/client.js';
import { type Fields, fields } from '../../dynamo/fields.js';
import { type ShardId, shardKey } from '../limiter-keys.js';
import { type Amounts, identityOf, type LimitState, slotMilli } from './bucket.js';
import { parseSpec, specText } from './limit-spec.item.js';
import type { Shard } from './shard.js';

export const table = 'limiter';

/**
 * Attribute suffixes of a limit: sp its parameters as one text, because only a conversion changes them; fa fullAt, tc
 * and th total consumed now and at the start of the hour, we window end. The suffix comes last, so that a limit's name
 * may contain any character that names may contain.
 */
type LimitField = 'sp' | 'fa' | 'tc' | 'th' | 'we';

/** The prefix of a limit's attributes. A retired limit has its identity there, because its name may be in use again. */
export const prefixOf = (limit: LimitState, isRetired: boolean): string =>
  isRetired ? `k_${identityOf(limit)}_` : `b_${limit.name}_`;
export const attribute = (prefix: string, field: LimitField): string => prefix + field;
/** The attribute of a slot of a concurrency limit. Names of limits never contain a `#`. */
export const slotAttribute = (prefix: string, lease: string): string => `e${prefix}#${lease}`;
const usagePrefix = 'u_';
export const usageAttribute = (limit: string): string => usagePrefix + limit;

const fencePrefix = 'p:';
/** The version of all shards of a bucket during a conversion. */
export const fenceVersion = (nonce: string): string => fencePrefix + nonce;
export const isFenced = ({ version }: Shard): boolean => version.startsWith(fencePrefix);

function toLimit(item: Item, read: Fields, prefix: string, name: string): LimitState {
  const { isConcurrency, ...spec } = read.text(attribute(prefix, 'sp'), parseSpec, 'the parameters of a limit');
  const state = {
    name,
    ...spec,
    fullAt: read.bigint(attribute(prefix, 'fa')),
    consumedMilli: read.bigint(attribute(prefix, 'tc')),
    consumedBeforeMilli: read.bigint(attribute(prefix, 'th')),
    ...(spec.calendar ? { windowEndMs: read.number(attribute(prefix, 'we')) } : {}),
  };
  if (!isConcurrency) return state;
  const slotPrefix = slotAttribute(prefix, '');
  const slots = Object.keys(item).flatMap((key) =>
    key.startsWith(slotPrefix) ? [[key.slice(slotPrefix.length), read.number(key)] as const] : [],
  );
  return { ...state, isConcurrency: true, slots: Object.fromEntries(slots) };
}

/** The names of the limits of an item, sorted: the part between the prefix and `_fa`. */
function limitNames(item: Item, prefix: string): string[] {
  return Object.keys(item)
    .flatMap((key) => (key.startsWith(prefix) && key.endsWith('_fa') ? [key.slice(prefix.length, -3)] : []))
    .sort();
}

export function toShard(item: Item): Shard {
  const read = fields(table, item);
  const levels = read.optionalString('lv');
  const expiresAtSecs = read.optionalNumber('ttl');
  const fence = read.optionalString('fx');
  return {
    limits: limitNames(item, 'b_').map((name) => toLimit(item, read, `b_${name}_`, name)),
    retired: limitNames(item, 'k_').map((identity) =>
      toLimit(item, read, `k_${identity}_`, identity.slice(identity.indexOf(' ') + 1)),
    ),
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

const stateAttributes = (limit: LimitState, prefix: string): Item => ({
  [attribute(prefix, 'sp')]: specText(limit),
  [attribute(prefix, 'fa')]: limit.isConcurrency
    ? BigInt(Object.keys(limit.slots ?? {}).length) * slotMilli
    : limit.fullAt,
  [attribute(prefix, 'tc')]: limit.consumedMilli,
  [attribute(prefix, 'th')]: limit.consumedBeforeMilli,
  [attribute(prefix, 'we')]: limit.windowEndMs,
  ...Object.fromEntries(
    Object.entries(limit.slots ?? {}).map(([lease, untilMs]) => [slotAttribute(prefix, lease), untilMs]),
  ),
});

export const levelsText = (levels: readonly number[]): string | undefined =>
  levels.length > 0 ? levels.join('.') : undefined;

/** The complete item of a shard. */
export const shardItem = (id: ShardId, shard: Shard): Item => ({
  ...shardKey(id),
  ...Object.assign({}, ...shard.limits.map((limit) => stateAttributes(limit, prefixOf(limit, false)))),
  ...Object.assign({}, ...shard.retired.map((limit) => stateAttributes(limit, prefixOf(limit, true)))),
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
    limits: after.limits.map((limit) => {
      const prefix = prefixOf(limit, false);
      return {
        ...limit,
        fullAt: read.bigint(attribute(prefix, 'fa')),
        consumedMilli: read.bigint(attribute(prefix, 'tc')),
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
