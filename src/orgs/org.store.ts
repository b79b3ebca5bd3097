import type { StoreClient } from '../dynamo/client.js';
import { absent, equals } from '../dynamo/expression.js';
import { key } from '../dynamo/keys.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import { configKey, newClientAttributes } from '../identity/client.item.js';
import { clientIdOf } from '../identity/client-id.js';
import { orgAttributes, orgTable, settingAttributes, timestamps, toOrg, updateTimestamps } from './org.item.js';
import type { Org } from './settings.js';

const allOrgs = 'ORGS';

export type NewOrg = Omit<Org, 'credentials' | 'nodeType' | 'version' | 'budgetsVersion' | 'suspendedAt'>;

export interface OrgPosition {
  readonly orgId: string;
  readonly createdAt: Date;
}

const listingKey = ({ orgId, createdAt }: OrgPosition) => ({
  gsi1pk: allOrgs,
  gsi1sk: key`${createdAt.toISOString()}#${orgId}`,
});

/** The settings of orgs. */
export class OrgStore {
  constructor(private readonly client: StoreClient) {}

  /** Registers an org. Undefined if the id is taken. */
  async createOrg(org: NewOrg, riders: readonly TransactItem[]): Promise<Org | undefined> {
    const put = {
      ...configKey(org),
      ...listingKey(org),
      ...newClientAttributes(clientIdOf({ orgId: org.orgId })),
      org_name: org.name,
      ...orgAttributes(org),
      ...settingAttributes(org),
      ...timestamps(org),
      settings_version: 1,
    };
    const write = { table: orgTable, put, condition: absent('PK') } as const;
    const { done } = await this.client.transact('fresh', [write], { riders });
    return done ? toOrg(put) : undefined;
  }

  /** Saves settings by a conditional write on the version that was read. False if another change came between. */
  async saveOrg(org: Org, riders: readonly TransactItem[]): Promise<boolean> {
    const set = {
      org_name: org.name,
      ...orgAttributes(org),
      ...settingAttributes(org),
      ...updateTimestamps(org),
      settings_version: org.version + 1,
    };
    const condition = equals('settings_version', org.version);
    const write = { table: orgTable, update: configKey(org), set, condition } as const;
    const { done } = await this.client.transact('fresh', [write], { riders });
    return done;
  }

  /** A consistent read, because the result is cached. */
  async loadOrgs(orgIds: readonly string[]): Promise<(Org | undefined)[]> {
    const keys = orgIds.map((orgId) => configKey({ orgId }));
    const items = await this.client.getMany(orgTable, keys, { consistent: true });
    return items.map((item) => item && toOrg(item));
  }

  /** A consistent read, because a change starts from the result. */
  async readOrg(orgId: string): Promise<Org | undefined> {
    const item = await this.client.get(orgTable, configKey({ orgId }), { consistent: true });
    return item && toOrg(item);
  }

  /** Orgs in the order of their registration, up to `limit` after a position. */
  async listOrgs(limit: number, after?: OrgPosition): Promise<Org[]> {
    const start = after ? { after: { ...configKey(after), ...listingKey(after) } } : {};
    const orgs = await this.client.queryIndexed({
      table: orgTable,
      index: 'gsi1',
      where: equals('gsi1pk', allOrgs),
      limit,
      ...start,
    });
    return orgs.map(({ item }) => toOrg(item));
  }
}
