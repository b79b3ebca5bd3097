import type { Item, StoreClient } from '../dynamo/client.js';
import { absent } from '../dynamo/expression.js';
import type { CancellationReason } from '../dynamo/faults.js';
import { key } from '../dynamo/keys.js';
import { epochSeconds } from '../lib/clock.js';
import { newUuid, sha256 } from '../lib/id.js';
import { refreshTtlSecs } from './token.js';

const table = 'refresh_tokens';

export const refreshKey = (token: string) => ({ PK: key`${sha256(token)}` });

/** What a refresh token stands for. Only its hash is stored. */
export interface Session {
  readonly clientId: string;
  readonly family: string;
  readonly generation: number;
  readonly expiresAtMs: number;
  /** Set once it has been exchanged for its successor. */
  readonly usedAtMs?: number;
}

export class SessionStore {
  constructor(private readonly client: StoreClient) {}

  async open(token: string, session: Omit<Session, 'expiresAtMs'>, nowMs: number): Promise<void> {
    // The key is random and new, so writing it twice is writing it once.
    await this.client.write({ table, put: toItem(token, session, nowMs) }, { repeat: 'idempotent' });
  }

  async load(token: string): Promise<Session | undefined> {
    const item = await this.client.get(table, refreshKey(token), { consistent: true });
    return item && toSession(item);
  }

  /** Exchanges a token for its successor, once. Lost to another exchange of the same token: when that one was. */
  async exchange(token: string, successor: string, session: Session, nowMs: number): Promise<{ readonly usedAtMs: number } | 'exchanged'> {
    const { clientId, family, generation } = session;
    // An exchanged token is never changed again, so the nonce in it shows for good who exchanged it.
    const nonce = newUuid();
    const isOwn = ([used]: readonly CancellationReason[]): boolean => used?.kind === 'condition' && used.old?.nonce === nonce;
    const outcome = await this.client.transact(isOwn, [
      { table, update: refreshKey(token), set: { used_at_ms: nowMs, nonce }, condition: absent('used_at_ms') },
      { table, put: toItem(successor, { clientId, family, generation }, nowMs), condition: absent('PK') },
    ]);
    if (outcome.done) return 'exchanged';
    const [first] = outcome.reasons;
    return { usedAtMs: first?.kind === 'condition' ? ((first.old?.used_at_ms as number | undefined) ?? nowMs) : nowMs };
  }
}

const toItem = (token: string, { clientId, family, generation }: Omit<Session, 'expiresAtMs'>, nowMs: number): Item => ({
  ...refreshKey(token),
  client_id: clientId,
  family,
  generation,
  issued_at_epoch: epochSeconds(nowMs),
  expires_at_epoch: epochSeconds(nowMs) + refreshTtlSecs,
});

const toSession = (item: Item): Session => ({
  clientId: item.client_id as string,
  family: item.family as string,
  generation: item.generation as number,
  expiresAtMs: (item.expires_at_epoch as number) * 1000,
  ...(item.used_at_ms === undefined ? {} : { usedAtMs: item.used_at_ms as number }),
});
