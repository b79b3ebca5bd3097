import type { Key, StoreClient } from '../dynamo/client.js';
import { absent, and, beginsWith, equals, type Item, present } from '../dynamo/expression.js';
import { key } from '../dynamo/keys.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import { configKey, newClientAttributes } from '../identity/client.item.js';
import { clientIdOf } from '../identity/client-id.js';
import { appPrefix, orgTable, settingAttributes, timestamps, toApp, toLiveApp, updateTimestamps } from './org.item.js';
import type { AppRecord, AppRef } from './settings.js';

export type NewApp = Omit<AppRecord, 'credentials' | 'version' | 'suspendedAt' | 'deletedAt'>;

/** The settings of apps. Each app is an item in the partition of its org. */
export class AppStore {
  constructor(private readonly client: StoreClient) {}

  /**
   * Registers an app. Undefined if the id is taken. `deleted` is the deleted app that had the id before, if any:
   * rotation, generation and version continue from its values, so that none of its tokens and sessions works for the
   * new app.
   */
  async createApp(app: NewApp, riders: readonly TransactItem[], deleted?: AppRecord): Promise<AppRecord | undefined> {
    const previous = deleted?.credentials;
    const continued = previous && { rotation: previous.rotation + 1, generation: previous.generation };
    const put = {
      ...configKey(app),
      ...newClientAttributes(clientIdOf(app), continued),
      app_name: app.name,
      ...settingAttributes(app.own),
      ...timestamps(app),
      settings_version: (deleted?.version ?? 0) + 1,
    };
    const condition = deleted
      ? and(present('deleted_at_ms'), equals('settings_version', deleted.version))
      : absent('PK');
    const { done } = await this.client.transact('fresh', [{ table: orgTable, put, condition }], { riders });
    return done ? toApp(put) : undefined;
  }

  /** Saves settings by a conditional write on the version that was read. False if another change came between. */
  async saveApp(app: AppRecord, riders: readonly TransactItem[]): Promise<boolean> {
    const own = settingAttributes(app.own);
    const set = { app_name: app.name, ...own, ...updateTimestamps(app), settings_version: app.version + 1 };
    const remove = Object.keys(own).filter((name) => own[name] === undefined);
    const condition = equals('settings_version', app.version);
    const write = { table: orgTable, update: configKey(app), set, remove, condition } as const;
    const { done } = await this.client.transact('fresh', [write], { riders });
    return done;
  }

  /** A consistent read, because the result is cached. Deleted apps are undefined. */
  async loadApps(apps: readonly AppRef[]): Promise<(AppRecord | undefined)[]> {
    const items = await this.client.getMany(orgTable, apps.map(configKey), { consistent: true });
    return items.map((item) => item && toLiveApp(item));
  }

  /** A consistent read, because a change starts from the result. */
  async readApp(app: AppRef): Promise<AppRecord | undefined> {
    const found = await this.readAppOrDeleted(app);
    return found?.deletedAt ? undefined : found;
  }

  async readAppOrDeleted(app: AppRef): Promise<AppRecord | undefined> {
    const item = await this.client.get(orgTable, configKey(app), { consistent: true });
    return item && toApp(item);
  }

  /** Apps by id, up to `limit` after an app id. */
  listApps(orgId: string, limit: number, afterAppId?: string): Promise<AppRecord[]> {
    return this.list(orgId, limit, toLiveApp, afterAppId);
  }

  /** All apps, deleted ones included, because the sums of the org include their costs. */
  listAllApps(orgId: string): Promise<AppRecord[]> {
    return this.list(orgId, Number.POSITIVE_INFINITY, toApp);
  }

  private async list(
    orgId: string,
    limit: number,
    read: (item: Item) => AppRecord | undefined,
    afterAppId?: string,
  ): Promise<AppRecord[]> {
    const apps: AppRecord[] = [];
    let after: Key | undefined = afterAppId === undefined ? undefined : configKey({ orgId, appId: afterAppId });
    do {
      const page = await this.client.query({
        table: orgTable,
        where: and(equals('PK', key`ORG#${orgId}`), beginsWith('SK', appPrefix)),
        ...(Number.isFinite(limit) ? { limit: limit - apps.length } : {}),
        ...(after ? { after } : {}),
      });
      apps.push(...page.items.map(read).filter((app) => app !== undefined));
      after = page.next;
    } while (after && apps.length < limit);
    return apps;
  }
}
