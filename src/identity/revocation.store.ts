import type { ChangeStore } from '../changes/change.store.js';
import type { StoreClient } from '../dynamo/client.js';
import { absent } from '../dynamo/expression.js';
import { key } from '../dynamo/keys.js';
import { type TransactItem, transactItem } from '../dynamo/transact-item.js';
import { epochSeconds } from '../lib/clock.js';
import { type AccessClaims, accessTtlSecs, sessionTtlSecs } from './token.js';

const table = 'revoked_tokens';
// A revocation outlives all it revokes by this, so that no clock that lags revives a token.
const marginSecs = 300;

export const tokenKey = (tokenId: string) => ({ PK: key`${tokenId}` });
export const familyKey = (family: string) => ({ PK: key`FAM#${family}` });
export const clientKey = (clientId: string) => ({ PK: key`CLIENT#${clientId}` });

/** For a client whose id is never used again: ends its tokens of every generation. */
export const everyGeneration = Number.MAX_SAFE_INTEGER;

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
    const [ofFamily, ofClient, ofToken] = await this.client.getMany(table, keys, { consistent: true });
    const endedGenerations = (ofClient?.valid_from_generation as number | undefined) ?? 0;
    return ofFamily !== undefined || ofToken !== undefined || generation < endedGenerations;
  }

  /** Ends one access token. Revoking it again changes nothing. */
  async revokeToken(
    { tokenId, clientId, orgId, expiresAtMs }: AccessClaims,
    nowMs: number,
    audit: TransactItem,
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
      audit,
    );
  }

  /** Ends a refresh token, its predecessors and successors, and every access token issued along the way. */
  async revokeFamily(
    { family, clientId, orgId }: Pick<AccessClaims, 'family' | 'clientId' | 'orgId'>,
    nowMs: number,
    audit: TransactItem,
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
      audit,
    );
  }

  /** For the transaction that ends all tokens of a client up to a generation. */
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
    audit: TransactItem,
  ): Promise<void> {
    // If the condition fails, the token was revoked before: nothing is left to do.
    await this.client.transact('fresh', [{ table, put: item, condition: absent('PK') }], {
      riders: [this.changes.draftChange(orgId), audit],
    });
  }
}
