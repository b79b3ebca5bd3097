import type { StoreClient, Write } from '../dynamo/client.js';
import { absent } from '../dynamo/expression.js';
import { key } from '../dynamo/keys.js';
import { epochSeconds } from '../lib/clock.js';
import type { Draft } from '../lib/draft.js';
import { type AccessClaims, accessTtlSecs, refreshTtlSecs } from './token.js';

const table = 'revoked_tokens';
const versionKey = { PK: '#VERSION' };
// A revocation outlives all it revokes by this, so that no clock that lags revives a token.
const marginSecs = 300;

export const tokenKey = (tokenId: string) => ({ PK: key`${tokenId}` });
export const familyKey = (family: string) => ({ PK: key`FAM#${family}` });
export const clientKey = (clientId: string) => ({ PK: key`CLIENT#${clientId}` });

/** What every gateway looks at once a second: one small item. */
export interface Changes {
  /** Goes up with every revocation, in the same transaction: nobody remembers past a change of it. */
  readonly version: number;
  /** Goes up with every purge of an org's limiter. */
  readonly purges: number;
  readonly lastPurged?: string;
}

export class RevocationStore {
  constructor(private readonly client: StoreClient) {}

  async changes(): Promise<Changes> {
    const { version = 0, purges = 0, last_purged } = (await this.client.get(table, versionKey, { consistent: true })) ?? {};
    return { version: version as number, purges: purges as number, ...(last_purged ? { lastPurged: last_purged as string } : {}) };
  }

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
  async revokeToken({ tokenId, clientId, expiresAtMs }: AccessClaims, nowMs: number, audit: Draft): Promise<void> {
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
      audit,
    );
  }

  /** Ends a refresh token, its predecessors and successors, and every access token issued along the way. */
  async revokeFamily(family: string, clientId: string, nowMs: number, audit: Draft): Promise<void> {
    const expiresAtSecs = epochSeconds(nowMs) + refreshTtlSecs + accessTtlSecs;
    await this.revoke(
      {
        ...familyKey(family),
        token_type: 'refresh',
        client_id: clientId,
        revoked_at_epoch: epochSeconds(nowMs),
        original_expiry_epoch: expiresAtSecs,
        expires_at_epoch: expiresAtSecs + marginSecs,
      },
      audit,
    );
  }

  /** For the transaction that ends all tokens of a client up to a generation. */
  draftClientRevocation(clientId: string, validFromGeneration: number, nowMs: number): Write {
    const expiresAtSecs = epochSeconds(nowMs) + refreshTtlSecs + accessTtlSecs;
    return {
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
    };
  }

  /** For any transaction after which remembered tokens, secrets or keys must be looked at anew. Counting it twice is harmless. */
  draftVersionChange(): Write {
    return { table, update: versionKey, add: { version: 1 } };
  }

  /** The same for the transaction that gives an org's limiter another namespace. */
  draftPurge(orgId: string): Write {
    return { table, update: versionKey, add: { version: 1, purges: 1 }, set: { last_purged: orgId } };
  }

  private async revoke(item: { readonly PK: string } & Record<string, string | number>, audit: Draft): Promise<void> {
    // A failed condition means that it was revoked before: as wished.
    await this.client.transact([{ table, put: item, condition: absent('PK') }, this.draftVersionChange(), audit as Write]);
  }
}
