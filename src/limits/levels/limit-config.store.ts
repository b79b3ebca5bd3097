import type { Item, Key, StoreClient } from '../../dynamo/client.js';
import { absent, type Condition, equals } from '../../dynamo/expression.js';
import type { TransactItem } from '../../dynamo/transact-item.js';
import type { Charge } from '../../lib/units.js';
import type { CalendarWindow } from '../buckets/calendar-window.js';
import type { Limit, LimitKind } from '../limit.js';
import {
  configIndexKeys,
  configKey,
  entityConfigsIndexKey,
  namespaceIndexKeys,
  resourceConfigsIndexKey,
} from '../limiter-keys.js';
import type { ConfigPlace, Level, LimitConfig, OnUnavailable } from './resolution.js';

const table = 'limiter';

export interface NamespacePlace {
  readonly namespace: string;
  readonly place: ConfigPlace;
}

export class LimitConfigStore {
  constructor(private readonly client: StoreClient) {}

  /** A level with its version, even if nothing is set there any more. */
  async loadLevel(namespace: string, place: ConfigPlace): Promise<Level> {
    return toLevel(await this.client.get(table, configKey(namespace, place), { consistent: true }), place);
  }

  async load(namespace: string, place: ConfigPlace): Promise<LimitConfig | undefined> {
    return (await this.loadLevel(namespace, place)).config;
  }

  /** One answer a place, in their order. */
  async loadMany(places: readonly NamespacePlace[]): Promise<(LimitConfig | undefined)[]> {
    const items = await this.client.getMany(
      table,
      places.map(({ namespace, place }) => configKey(namespace, place)),
      { consistent: true },
    );
    return items.map((item, i) => toLevel(item, (places[i] as NamespacePlace).place).config);
  }

  /** Writes a level whole, on condition that it is still the version it follows; false where it is not. */
  async save(namespace: string, config: LimitConfig, drafts: readonly TransactItem[]): Promise<boolean> {
    return this.replace(toItem(namespace, config), config.version - 1, drafts);
  }

  /** Deletes a level, of which only a next version is left; false where it is not this version any more. */
  async delete(namespace: string, { place, version }: LimitConfig, drafts: readonly TransactItem[]): Promise<boolean> {
    const keys = configKey(namespace, place);
    return this.replace(
      { ...keys, ...namespaceIndexKeys(namespace, keys.PK), ...deletedLevel(version) },
      version,
      drafts,
    );
  }

  private async replace(item: Item, seenVersion: number, drafts: readonly TransactItem[]): Promise<boolean> {
    const { done } = await this.client.transact('fresh', [{ table, put: item, condition: isVersion(seenVersion) }], {
      riders: drafts,
    });
    return done;
  }

  /** Every resource's limits. */
  async listResources(namespace: string, charge: Charge): Promise<LimitConfig[]> {
    const rows = await this.client.queryAll({
      table,
      index: 'GSI3',
      where: equals('GSI3PK', resourceConfigsIndexKey(namespace)),
    });
    const resources = rows.map(({ GSI3SK }) => GSI3SK as string);
    charge(resources.length);
    const found = await this.loadMany(
      resources.map((resource) => ({ namespace, place: { level: 'RESOURCE', resource } })),
    );
    return found.filter((config) => config !== undefined);
  }

  /** The entities with limits of their own for the resource, by id, after the one named. */
  async listEntities(namespace: string, resource: string, limit: number, after?: string): Promise<string[]> {
    const start = (entityId: string): Key => {
      const place = { level: 'ENTITY', entityId, resource } as const;
      return { ...configKey(namespace, place), GSI3PK: entityConfigsIndexKey(namespace, resource), GSI3SK: entityId };
    };
    const where = equals('GSI3PK', entityConfigsIndexKey(namespace, resource));
    const { items } = await this.client.query({
      table,
      index: 'GSI3',
      where,
      limit,
      ...(after === undefined ? {} : { after: start(after) }),
    });
    return items.map(({ GSI3SK }) => GSI3SK as string);
  }
}

const isVersion = (version: number): Condition => (version === 0 ? absent('PK') : equals('config_version', version));

/** What is left of a level that had this version. */
export const deletedLevel = (version: number): Item => ({ deleted: true, config_version: version + 1 });

/** Whether nothing is left of a level but its version. */
export const isDeletedLevel = ({ deleted }: Item): boolean => deleted === true;

export function toLevel(item: Item | undefined, place: ConfigPlace): Level {
  if (!item) return { version: 0 };
  return { version: item.config_version as number, ...(isDeletedLevel(item) ? {} : { config: toConfig(item, place) }) };
}

const toItem = (namespace: string, { place, limits, onUnavailable, version }: LimitConfig): Item => ({
  ...configKey(namespace, place),
  ...configIndexKeys(namespace, place),
  ...Object.assign(
    {},
    ...limits.map(({ name, capacity, burst, refillAmount, refillPeriodSecs, kind, window, enforce }) => ({
      [`l_${name}_cp`]: capacity,
      [`l_${name}_bx`]: burst,
      [`l_${name}_ra`]: refillAmount,
      [`l_${name}_rp`]: refillPeriodSecs,
      [`l_${name}_kd`]: kind === 'RATE' ? undefined : kind,
      [`l_${name}_cw`]: window,
      [`l_${name}_en`]: enforce ? undefined : false,
    })),
  ),
  on_unavailable: onUnavailable,
  config_version: version,
});

function toConfig(item: Item, place: ConfigPlace): LimitConfig {
  const names = Object.keys(item).flatMap((name) =>
    name.startsWith('l_') && name.endsWith('_cp') ? [name.slice(2, -3)] : [],
  );
  return {
    place,
    limits: names.sort().map(
      (name): Limit => ({
        name,
        capacity: item[`l_${name}_cp`] as number,
        burst: item[`l_${name}_bx`] as number,
        refillAmount: item[`l_${name}_ra`] as number,
        refillPeriodSecs: item[`l_${name}_rp`] as number,
        kind: (item[`l_${name}_kd`] as LimitKind | undefined) ?? 'RATE',
        ...(item[`l_${name}_cw`] ? { window: item[`l_${name}_cw`] as CalendarWindow } : {}),
        enforce: item[`l_${name}_en`] !== false,
      }),
    ),
    ...(item.on_unavailable ? { onUnavailable: item.on_unavailable as OnUnavailable } : {}),
    version: item.config_version as number,
  };
}
