import type { ChangeStore } from '../changes/change.store.js';
import type { StoreClient } from '../dynamo/client.js';
import { absent } from '../dynamo/expression.js';
import { fields } from '../dynamo/fields.js';
import { key } from '../dynamo/keys.js';
import { type TransactItem, transactItem } from '../dynamo/transact-item.js';
import { epochSeconds } from '../lib/clock.js';
import { type AccessClaims, accessTtlSecs, sessionTtlSecs } from './token.js';

const table = 'revoked_tokens';
// A revocation is kept this much longer than the tokens it revokes, because clocks of gateways may lag.
const marginSecs = 300;

export const tokenKey = (tokenId: string) => ({ PK: key`${tokenId}` });
export const familyKey = (family: string) => ({ PK: key`FAM#${family}` });
export const clientKey = (clientId: string) => ({ PK: key`CLIENT#${clientId}` });

/** Ends the tokens of every generation, for a client whose id is never used again. */
export const everyGeneration = Number.MAX_SAFE_INTEGER;

/** Revoked access tokens, token families and generations of a client's tokens. */
export class RevocationStore {
  constructor(
    private readonly client: StoreClient,
    private readonly changes: ChangeStore,
  ) {}

  async isRevoked({
    tokenId,
    family,
    clientId,
    generation,
  }: Pick<AccessClaims, 'family' | 'clientId' | 'generation'> & { readonly tokenId?: string }): Promise<boolean> {
    const keys = [familyKey(family), clientKey(clientId), ...(tokenId === undefined ? [] : [tokenKey(tokenId)])];
    const [familyItem, clientItem = {}, tokenItem] = await this.client.getMany(table, keys, { consistent: true });
    const validFromGeneration = fields(table, clientItem).optionalNumber('valid_from_generation') ?? 0;
    return familyItem !== undefined || tokenItem !== undefined || generation < validFromGeneration;
  }

  /** Ends one access token. Idempotent. */
  async revokeToken(
    { tokenId, clientId, orgId, expiresAtMs }: AccessClaims,
    nowMs: number,
    event: TransactItem,
  ): Promise<void> {
    const expiresAtSecs = epochSeconds(expiresAtMs);
    await this.revoke(
      {
        ...tokenKey(tokenId),
        token_type: 'access',
        client_id: clientId,
        revoked_at_epoch: epochSeconds(nowMs),
        original_expiry_epoch: expiresAtSecs,
        expires_at_epoch: expiresAtSecs + marginSecs,
      },
      orgId,
      event,
    );
  }

  /** Ends a refresh token, its predecessors and successors, and every access token of the family. Idempotent. */
  async revokeFamily(
    { family, clientId, orgId }: Pick<AccessClaims, 'family' | 'clientId' | 'orgId'>,
    nowMs: number,
    event: TransactItem,
  ): Promise<void> {
    const expiresAtSecs = epochSeconds(nowMs) + sessionTtlSecs + accessTtlSecs;
    await this.revoke(
      {
        ...familyKey(family),
        token_type: 'refresh',
        client_id: clientId,
        revoked_at_epoch: epochSeconds(nowMs),
        original_expiry_epoch: expiresAtSecs,
        expires_at_epoch: expiresAtSecs + marginSecs,
      },
      orgId,
      event,
    );
  }

  /** The rider that ends all tokens of a client below a generation. */
  draftClientRevocation(clientId: string, validFromGeneration: number, nowMs: number): TransactItem {
    const expiresAtSecs = epochSeconds(nowMs) + sessionTtlSecs + accessTtlSecs;
    return transactItem({
      table,
      put: {
        ...clientKey(clientId),
        token_type: 'client',
        client_id: clientId,
        valid_from_generation: validFromGeneration,
        revoked_at_epoch: epochSeconds(nowMs),
        original_expiry_epoch: expiresAtSecs,
        expires_at_epoch: expiresAtSecs + marginSecs,
      },
    });
  }

  private async revoke(
    item: { readonly PK: string } & Record<string, string | number>,
    orgId: string,
    event: TransactItem,
  ): Promise<void> {
    // If the condition fails, it is already revoked.
    await this.client.transact('fresh', [{ table, put: item, condition: absent('PK') }], {
      riders: [this.changes.draftChange(orgId), event],
    });
  }
}
