import type { StoreClient } from '../dynamo/client.js';
import { absent, and, equals, greaterThan, type Item } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import { type TransactItem, transactItem } from '../dynamo/transact-item.js';
import { epochSeconds } from '../lib/clock.js';
import { sha256 } from '../lib/id.js';
import type { ConsoleLink } from './console-session.js';
import { clientRoles } from './secret.js';

const table = 'secret_retrieval_tokens';

export const consoleLinkKey = (token: string) => ({ PK: key`LINK#${sha256(token)}` });

/** Links that open one console session each. Only the hash of a token is stored. */
export class ConsoleLinkStore {
  constructor(private readonly client: StoreClient) {}

  async create(token: string, link: ConsoleLink, riders: readonly TransactItem[]): Promise<void> {
    const put = toItem(token, link);
    await this.client.transact('fresh', [{ table, put, condition: absent('PK'), fresh: true }], { riders });
  }

  /** A consistent read. A link that is used or expired may still be found. */
  async load(token: string): Promise<ConsoleLink | undefined> {
    const item = await this.client.get(table, consoleLinkKey(token), { consistent: true });
    return item && toLink(item);
  }

  /** The rider that uses a link up. Its condition fails if the link was used, or has expired at `nowMs`. */
  draftUse(token: string, nowMs: number): TransactItem {
    const nowSecs = epochSeconds(nowMs);
    return transactItem({
      table,
      update: consoleLinkKey(token),
      set: { used: true, used_at_epoch: nowSecs },
      condition: and(equals('used', false), greaterThan('expires_at_epoch', nowSecs)),
    });
  }
}

const toItem = (token: string, { admin, orgId, role, expiresAtMs, used }: ConsoleLink): Item => ({
  ...consoleLinkKey(token),
  admin_name: admin.name,
  admin_key_id: admin.keyId,
  org_id: orgId,
  role,
  expires_at_epoch: epochSeconds(expiresAtMs),
  used,
});

function toLink(item: Item): ConsoleLink {
  const from = fields(table, item);
  const orgId = from.optionalString('org_id');
  return {
    admin: { name: from.string('admin_name'), keyId: from.string('admin_key_id') },
    ...(orgId === undefined ? {} : { orgId }),
    role: from.oneOf('role', clientRoles),
    expiresAtMs: from.number('expires_at_epoch') * 1000,
    used: from.boolean('used'),
  };
}
