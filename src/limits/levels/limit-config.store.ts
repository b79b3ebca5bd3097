import type { Item, Key, StoreClient } from '../../dynamo/client.js';
import { absent, type Condition, equals } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import type { TransactItem } from '../../dynamo/transact-item.js';
import type { Charge } from '../../lib/units.js';
import { calendarWindows } from '../buckets/calendar-window.js';
import { type Limit, limitKinds } from '../limit.js';
import {
  configIndexKeys,
  configKey,
  entityConfigsIndexKey,
  namespaceIndexKeys,
  resourceConfigsIndexKey,
} from '../limiter-keys.js';
import { type ConfigPlace, type Level, type LimitConfig, unavailablePolicies } from './resolution.js';

const table = 'limiter';

export interface NamespacePlace {
  readonly namespace: string;
  readonly place: ConfigPlace;
}

/** Stores the limits of each level. A change is a conditional write on the version of the level. */
export class LimitConfigStore {
  constructor(private readonly client: StoreClient) {}

  /** The level with its version, even if its config was deleted. */
  async loadLevel(namespace: string, place: ConfigPlace): Promise<Level> {
    return toLevel(await this.client.get(table, configKey(namespace, place), { consistent: true }), place);
  }

  async load(namespace: string, place: ConfigPlace): Promise<LimitConfig | undefined> {
    return (await this.loadLevel(namespace, place)).config;
  }

  /** One result per place, in the same order. */
  async loadMany(places: readonly NamespacePlace[]): Promise<(LimitConfig | undefined)[]> {
    const items = await this.client.getMany(
      table,
      places.map(({ namespace, place }) => configKey(namespace, place)),
      { consistent: true },
    );
    return items.map((item, i) => toLevel(item, (places[i] as NamespacePlace).place).config);
  }

  /** Replaces a level. False if its stored version is not the previous one. */
  async save(namespace: string, config: LimitConfig, riders: readonly TransactItem[]): Promise<boolean> {
    return this.replace(toItem(namespace, config), config.version - 1, riders);
  }

  /** Deletes the config of a level and keeps its next version. False if the stored version is another. */
  async delete(namespace: string, { place, version }: LimitConfig, riders: readonly TransactItem[]): Promise<boolean> {
    const keys = configKey(namespace, place);
    return this.replace(
      { ...keys, ...namespaceIndexKeys(namespace, keys.PK), ...deletedLevel(version) },
      version,
      riders,
    );
  }

  private async replace(item: Item, storedVersion: number, riders: readonly TransactItem[]): Promise<boolean> {
    const { done } = await this.client.transact('fresh', [{ table, put: item, condition: isVersion(storedVersion) }], {
      riders,
    });
    return done;
  }

  /** The limits of all resources. */
  async listResources(namespace: string, charge: Charge): Promise<LimitConfig[]> {
    const rows = await this.client.queryAll({
      table,
      index: 'GSI3',
      where: equals('GSI3PK', resourceConfigsIndexKey(namespace)),
    });
    const resources = rows.map((row) => fields(table, row).string('GSI3SK'));
    charge(resources.length);
    const found = await this.loadMany(
      resources.map((resource) => ({ namespace, place: { level: 'RESOURCE', resource } })),
    );
    return found.filter((config) => config !== undefined);
  }

  /** The ids of entities with limits of level ENTITY for the resource, sorted, after `after`. */
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
    return items.map((item) => fields(table, item).string('GSI3SK'));
  }
}

const isVersion = (version: number): Condition => (version === 0 ? absent('PK') : equals('config_version', version));

/** The attributes of a deleted level that had this version. */
export const deletedLevel = (version: number): Item => ({ deleted: true, config_version: version + 1 });

/** True if only the version of a level is left. */
export const isDeletedLevel = ({ deleted }: Item): boolean => deleted === true;

export function toLevel(item: Item | undefined, place: ConfigPlace): Level {
  if (!item) return { version: 0 };
  const version = fields(table, item).number('config_version');
  return { version, ...(isDeletedLevel(item) ? {} : { config: toConfig(item, place) }) };
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
  const read = fields(table, item);
  const names = Object.keys(item).flatMap((name) =>
    name.startsWith('l_') && name.endsWith('_cp') ? [name.slice(2, -3)] : [],
  );
  const limits = names.sort().map((name): Limit => {
    const window = read.optionalOneOf(`l_${name}_cw`, calendarWindows);
    return {
      name,
      capacity: read.number(`l_${name}_cp`),
      burst: read.number(`l_${name}_bx`),
      refillAmount: read.number(`l_${name}_ra`),
      refillPeriodSecs: read.number(`l_${name}_rp`),
      kind: read.optionalOneOf(`l_${name}_kd`, limitKinds) ?? 'RATE',
      ...(window ? { window } : {}),
      enforce: read.optionalBoolean(`l_${name}_en`) !== false,
    };
  });
  const onUnavailable = read.optionalOneOf('on_unavailable', unavailablePolicies);
  return { place, limits, ...(onUnavailable ? { onUnavailable } : {}), version: read.number('config_version') };
}
