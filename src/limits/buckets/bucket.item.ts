import type { Item } from '../../dynamo/client.js';
import { type ShardId, shardIndexKeys, shardKey } from '../limiter-keys.js';
import { type Amounts, identityOf, type LimitState, slotMilli } from './bucket.js';
import type { CalendarWindow } from './calendar-window.js';
import type { Shard } from './shard.js';

/** Two letters last, so that a limit's name may hold whatever a name may hold. */
type Field = 'cp' | 'bx' | 'ra' | 'rp' | 'fa' | 'tc' | 'th' | 'cw' | 'tz' | 'we' | 'cc' | 'sh' | 'bn';

/** What the attributes of a limit begin with: of one that is only kept, its kind stands before its name. */
export const prefixOf = (limit: LimitState, isKept: boolean): string =>
  isKept ? `k_${identityOf(limit)}_` : `b_${limit.name}_`;
export const attribute = (prefix: string, field: Field): string => prefix + field;
/** A slot of a concurrency limit. No name of a limit has a `#`. */
export const slotAttribute = (prefix: string, lease: string): string => `e${prefix}#${lease}`;
const usagePrefix = 'u_';
export const usageAttribute = (limit: string): string => usagePrefix + limit;

/** The version of a bucket that is being changed. */
const fencePrefix = 'p:';
export const fenceVersion = (nonce: string): string => fencePrefix + nonce;
export const isFenced = ({ version }: Shard): boolean => version.startsWith(fencePrefix);

function toLimit(item: Item, prefix: string, name: string): LimitState {
  const of = (field: Field) => item[attribute(prefix, field)];
  const number = (field: Field): bigint => BigInt((of(field) as number | bigint | undefined) ?? 0);
  const slotPrefix = slotAttribute(prefix, '');
  const state = {
    name,
    capacityMilli: number('cp'),
    burstMilli: number('bx'),
    refillMilli: number('ra'),
    refillPeriodMs: number('rp'),
    fullAt: number('fa'),
    consumedMilli: number('tc'),
    consumedBeforeMilli: number('th'),
    ...(of('sh') ? { isShadow: true as const } : {}),
    ...(of('bn') === undefined ? {} : { born: of('bn') as number }),
    ...(of('cw')
      ? { calendar: { window: of('cw') as CalendarWindow, zone: of('tz') as string }, windowEndMs: of('we') as number }
      : {}),
  };
  if (!of('cc')) return state;
  const slots = Object.keys(item).flatMap((key) =>
    key.startsWith(slotPrefix) ? [[key.slice(slotPrefix.length), item[key] as number] as const] : [],
  );
  return { ...state, isConcurrency: true, slots: Object.fromEntries(slots) };
}

/** The names of the limits that an item has, in their order. */
function limitNames(item: Item, prefix: string): string[] {
  return Object.keys(item)
    .flatMap((key) => (key.startsWith(prefix) && key.endsWith('_fa') ? [key.slice(prefix.length, -3)] : []))
    .sort();
}

export function toShard(item: Item): Shard {
  return {
    limits: limitNames(item, 'b_').map((name) => toLimit(item, `b_${name}_`, name)),
    kept: limitNames(item, 'k_').map((identity) =>
      toLimit(item, `k_${identity}_`, identity.slice(identity.indexOf(' ') + 1)),
    ),
    version: item.cv as string,
    levels: item.lv === undefined ? [] : (item.lv as string).split('.').map(Number),
    birth: (item.bi as string | undefined) ?? '',
    conversions: Number(item.rs ?? 0),
    shardCount: item.shard_count as number,
    hour: item.hw as number,
    booked: (item.un as string[] | undefined) ?? [],
    events: Number(item.ec ?? 0),
    eventsBefore: Number(item.eb ?? 0),
    writes: Number(item.wc ?? 0),
    ...(item.ttl === undefined ? {} : { expiresAtSecs: item.ttl as number }),
    ...(item.fx === undefined ? {} : { fence: item.fx as string }),
  };
}

/** What of a limit never changes but by a conversion. */
export const specAttributes = (limit: LimitState, prefix: string): Item => ({
  [attribute(prefix, 'cp')]: limit.capacityMilli,
  [attribute(prefix, 'bx')]: limit.burstMilli,
  [attribute(prefix, 'ra')]: limit.refillMilli,
  [attribute(prefix, 'rp')]: limit.refillPeriodMs,
  [attribute(prefix, 'cw')]: limit.calendar?.window,
  [attribute(prefix, 'tz')]: limit.calendar?.zone,
  [attribute(prefix, 'cc')]: limit.isConcurrency,
  [attribute(prefix, 'sh')]: limit.isShadow,
  [attribute(prefix, 'bn')]: limit.born,
});

const stateAttributes = (limit: LimitState, prefix: string): Item => ({
  ...specAttributes(limit, prefix),
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

/** A complete item: a shard never exists in part. */
export const shardItem = (id: ShardId, shard: Shard): Item => ({
  ...shardKey(id),
  ...shardIndexKeys(id),
  ...Object.assign({}, ...shard.limits.map((limit) => stateAttributes(limit, prefixOf(limit, false)))),
  ...Object.assign({}, ...shard.kept.map((limit) => stateAttributes(limit, prefixOf(limit, true)))),
  cv: shard.version,
  lv: levelsText(shard.levels),
  bi: shard.birth,
  rs: shard.conversions,
  shard_count: shard.shardCount,
  hw: shard.hour,
  un: shard.booked.length > 0 ? shard.booked : undefined,
  ec: shard.events,
  eb: shard.eventsBefore,
  wc: shard.writes,
  ttl: shard.expiresAtSecs,
});

/** The shard after its planned write, with the figures that the store says it now has. */
export function toldBy(after: Shard, changed: Item): Shard {
  return {
    ...after,
    limits: after.limits.map((limit) => {
      const number = (field: Field): bigint =>
        BigInt(changed[attribute(prefixOf(limit, false), field)] as number | bigint);
      return { ...limit, fullAt: number('fa'), consumedMilli: number('tc') };
    }),
    events: Number(changed.ec ?? after.events),
    writes: Number(changed.wc),
  };
}

export function usageOf(item: Item): { readonly consumed: Amounts; readonly events: number } {
  const consumed = Object.entries(item).flatMap(([name, value]) =>
    name.startsWith(usagePrefix) ? [[name.slice(usagePrefix.length), BigInt(value as number)] as const] : [],
  );
  return { consumed: Object.fromEntries(consumed), events: Number(item.events ?? 0) };
}
