import type { Item, StoreClient } from '../dynamo/client.js';
import { absent } from '../dynamo/expression.js';
import { key } from '../dynamo/keys.js';
import { epochSeconds } from '../lib/clock.js';
import { sha256 } from '../lib/id.js';

const table = 'refresh_tokens';

export const refreshKey = (token: string) => ({ PK: key`${sha256(token)}` });

/** What a refresh token stands for. Only its hash is stored. */
export interface Session {
  readonly clientId: string;
  readonly family: string;
  readonly generation: number;
  /** The rotation that made the secret of the login: the session ends with that secret. */
  readonly secretRotation: number;
  /** The end of the whole family, fixed at the login. */
  readonly expiresAtMs: number;
  /** Set once it has been exchanged for its successor. */
  readonly used?: Exchange;
}

/** When a token was exchanged, and the root that its successor is derived under. */
export interface Exchange {
  readonly atMs: number;
  readonly rootId: string;
}

export class SessionStore {
  constructor(private readonly client: StoreClient) {}

  async open(token: string, session: Session, nowMs: number): Promise<void> {
    // The key is random and new, so writing it twice is writing it once.
    await this.client.write({ table, put: toItem(token, session, nowMs) }, { repeat: 'idempotent' });
  }

  async load(token: string): Promise<Session | undefined> {
    const item = await this.client.get(table, refreshKey(token), { consistent: true });
    return item && toSession(item);
  }

  /**
   * Exchanges a token for its successor, once. Returns the exchange that counts: this one, or an earlier one of the same token.
   * A repeat after a lost reply finds its own exchange in the item, which is the same answer.
   */
  async exchange(token: string, successor: string, session: Session, exchange: Exchange): Promise<Exchange> {
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
  { clientId, family, generation, secretRotation, expiresAtMs }: Session,
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

const toSession = (item: Item): Session => ({
  clientId: item.client_id as string,
  family: item.family as string,
  generation: item.generation as number,
  secretRotation: item.secret_rotation as number,
  expiresAtMs: (item.expires_at_epoch as number) * 1000,
  ...(item.used_at_ms === undefined
    ? {}
    : { used: { atMs: item.used_at_ms as number, rootId: item.successor_root as string } }),
});
