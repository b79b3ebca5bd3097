import type { StoreClient } from '../dynamo/client.js';
import { absent, and, beginsWith, equals, type Item, lessThan, or, present } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import type { TransactItem } from '../dynamo/transact-item.js';
import { clientsPrefix, configKey, credentialsOf, newClientAttributes } from './client.item.js';
import { type Client, type ClientOwner, maxClients } from './client.js';
import { type ClientRef, clientIdOf, parseClientId } from './client-id.js';

const table = 'config';

export type NewClient = Omit<Client, 'credentials' | 'clientId' | 'lastLoginAt'>;

/** Further clients of orgs and apps, each an item beside its owner. The owner's item counts them. */
export class ClientStore {
  constructor(private readonly client: StoreClient) {}

  /** Creates a client. 'no owner' if its org or app does not exist, 'too many' if that has the maximum of clients. */
  async create(client: NewClient, riders: readonly TransactItem[]): Promise<Client | 'no owner' | 'too many'> {
    const item = toItem(client);
    const outcome = await this.client.transact(
      'fresh',
      [
        { table, update: configKey(client.owner), add: { client_count: 1 }, condition: hasRoom },
        { table, put: item, condition: absent('PK') },
      ],
      { riders },
    );
    if (outcome.done) return toClient(item);
    const [first] = outcome.reasons;
    const owner = first?.kind === 'condition' ? first.old : undefined;
    return owner && owner.deleted_at_ms === undefined ? 'too many' : 'no owner';
  }

  /** All further clients of an org or app, oldest first. There are at most 20. */
  async list({ orgId, appId }: ClientOwner, { consistent = false } = {}): Promise<Client[]> {
    const where = and(equals('PK', key`ORG#${orgId}`), beginsWith('SK', clientsPrefix(appId)));
    const items = await this.client.queryAll({ table, where, consistent });
    return items.map(toClient).sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
  }

  async load(ref: ClientRef): Promise<Client | undefined> {
    const item =
      ref.clientKey === undefined ? undefined : await this.client.get(table, configKey(ref), { consistent: true });
    return item && toClient(item);
  }

  /** False if it does not exist. */
  async delete({ ref, owner }: Client, riders: readonly TransactItem[]): Promise<boolean> {
    const { done } = await this.client.transact(
      'fresh',
      [
        { table, delete: configKey(ref), condition: present('PK') },
        { table, update: configKey(owner), add: { client_count: -1 }, condition: present('PK') },
      ],
      { riders },
    );
    return done;
  }
}

const hasRoom = and(
  present('PK'),
  absent('deleted_at_ms'),
  or(absent('client_count'), lessThan('client_count', maxClients)),
);

const toItem = ({ ref, name, role, createdAt }: NewClient): Item => ({
  ...configKey(ref),
  ...newClientAttributes(clientIdOf(ref), { role }),
  client_name: name,
  created_at_ms: createdAt.getTime(),
});

function toClient(item: Item): Client {
  const from = fields(table, item);
  const clientId = from.string('client_id');
  const ref = parseClientId(clientId) ?? from.corrupt('client_id', 'a client id');
  const { orgId, appId } = ref;
  const credentials = credentialsOf(item);
  const lastLoginAt = from.optionalDate('client_last_login_at_ms');
  return {
    ref,
    owner: { orgId, ...(appId === undefined ? {} : { appId }) },
    clientId,
    name: from.string('client_name'),
    role: credentials.role,
    createdAt: from.date('created_at_ms'),
    ...(lastLoginAt === undefined ? {} : { lastLoginAt }),
    credentials,
  };
}
