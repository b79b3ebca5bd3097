import type { StoreClient } from '../dynamo/client.js';
import { absent, type Item } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import { epochSeconds } from '../lib/clock.js';
import { sha256 } from '../lib/id.js';

const table = 'refresh_tokens';

export const refreshKey = (token: string) => ({ PK: key`${sha256(token)}` });

/** The session that a refresh token belongs to. Only the hash of the token is stored. */
export interface RefreshSession {
  readonly clientId: string;
  readonly family: string;
  readonly generation: number;
  /** The rotation that made the secret of the login. The session ends with that secret. */
  readonly secretRotation: number;
  /** The end of the whole family, fixed at the login. */
  readonly expiresAtMs: number;
  /** Set if the token was exchanged for its successor. */
  readonly used?: TokenExchange;
}

/** When a token was exchanged, and the root that its successor is derived under. */
export interface TokenExchange {
  readonly atMs: number;
  readonly rootId: string;
}

export class SessionStore {
  constructor(private readonly client: StoreClient) {}

  async open(token: string, session: RefreshSession, nowMs: number): Promise<void> {
    // The key is random and new, so a retry writes the same item.
    await this.client.write({ table, put: toItem(token, session, nowMs) }, { repeat: 'idempotent' });
  }

  async load(token: string): Promise<RefreshSession | undefined> {
    const item = await this.client.get(table, refreshKey(token), { consistent: true });
    return item && toSession(item);
  }

  /**
   * Exchanges a token for its successor, once. Returns the exchange in force: this one, or an earlier one of the same
   * token. A retry after a lost response finds its own exchange in the item and returns it.
   */
  async exchange(
    token: string,
    successor: string,
    session: RefreshSession,
    exchange: TokenExchange,
  ): Promise<TokenExchange> {
    const outcome = await this.client.transact('judged', [
      {
        table,
        update: refreshKey(token),
        set: { used_at_ms: exchange.atMs, successor_root: exchange.rootId },
        condition: absent('used_at_ms'),
      },
      { table, put: toItem(successor, session, exchange.atMs), condition: absent('PK') },
    ]);
    if (outcome.done) return exchange;
    const [first] = outcome.reasons;
    return (first?.kind === 'condition' && first.old && toSession(first.old).used) || exchange;
  }
}

const toItem = (
  token: string,
  { clientId, family, generation, secretRotation, expiresAtMs }: RefreshSession,
  nowMs: number,
): Item => ({
  ...refreshKey(token),
  client_id: clientId,
  family,
  generation,
  secret_rotation: secretRotation,
  issued_at_epoch: epochSeconds(nowMs),
  expires_at_epoch: epochSeconds(expiresAtMs),
});

function toSession(item: Item): RefreshSession {
  const from = fields(table, item);
  const usedAtMs = from.optionalNumber('used_at_ms');
  return {
    clientId: from.string('client_id'),
    family: from.string('family'),
    generation: from.number('generation'),
    secretRotation: from.number('secret_rotation'),
    expiresAtMs: from.number('expires_at_epoch') * 1000,
    ...(usedAtMs === undefined ? {} : { used: { atMs: usedAtMs, rootId: from.string('successor_root') } }),
  };
}
