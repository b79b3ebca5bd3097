import type { StoreClient, Write } from '../dynamo/client.js';
import { absent } from '../dynamo/expression.js';
import { key } from '../dynamo/keys.js';
import { epochSeconds } from '../lib/clock.js';
import type { Draft } from '../lib/draft.js';
import { bucketOf, newUuid } from '../lib/id.js';
import { type AccessClaims, accessTtlSecs, sessionTtlSecs } from './token.js';

const table = 'revoked_tokens';
/** On one item, the acts of one org would keep those of all others waiting: a transaction has its items to itself. */
const slots = [0, 1, 2, 3, 4, 5, 6, 7];
// The first is the one that there was before there were several.
export const versionKey = (slot: number) => ({ PK: slot === 0 ? '#VERSION' : key`#VERSION#${slot}` });
export const versionSlotOf = (orgId: string): number => bucketOf(orgId, slots.length);

/** Change counters per version item. With short names and ten digits each, the item stays below 1 KB. */
export const countersPerSlot = 64;
export const counterCount = slots.length * countersPerSlot;
/** The change counter of a place of an org, such as a level of its limits: one of `counterCount`. Places may share one. */
export const counterOf = (orgId: string, place: string): number =>
  versionSlotOf(orgId) * countersPerSlot + bucketOf(place, countersPerSlot);
export const counterName = (counter: number): string => `c${counter % countersPerSlot}`;
const counterNames = Array.from({ length: countersPerSlot }, (_, i) => counterName(i));

// A revocation outlives all it revokes by this, so that no clock that lags revives a token.
const marginSecs = 300;

export const tokenKey = (tokenId: string) => ({ PK: key`${tokenId}` });
export const familyKey = (family: string) => ({ PK: key`FAM#${family}` });
export const clientKey = (clientId: string) => ({ PK: key`CLIENT#${clientId}` });

/** For a client whose id is never used again: ends its tokens of every generation. */
export const everyGeneration = Number.MAX_SAFE_INTEGER;

/** What every gateway looks at once a second: eight small items, each of an eighth of the orgs. */
export interface Changes {
  /** Goes up with every revocation, in the same transaction: nobody remembers past a change of it. */
  readonly version: number;
  /** Whether it was this process that changed it last. */
  readonly isOwn: boolean;
  /** How often the limiter of one of these orgs was purged, and whose last. */
  readonly purges: number;
  readonly lastPurged?: string;
  /** The change counters of the places of these orgs. Sessions do not depend on them. */
  readonly counters: readonly number[];
}

export class RevocationStore {
  private readonly writer = newUuid();

  constructor(private readonly client: StoreClient) {}

  async changes(): Promise<Changes[]> {
    const items = await this.client.getMany(table, slots.map(versionKey), { consistent: true });
    return items.map(({ version = 0, changed_by, purges = 0, last_purged, ...rest } = {}) => ({
      version: version as number,
      isOwn: changed_by === this.writer,
      purges: purges as number,
      ...(last_purged ? { lastPurged: last_purged as string } : {}),
      counters: counterNames.map((name) => (rest[name] as number | undefined) ?? 0),
    }));
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
  async revokeToken(
    { tokenId, clientId, orgId, expiresAtMs }: AccessClaims,
    nowMs: number,
    audit: Draft,
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
    audit: Draft,
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
  draftClientRevocation(clientId: string, validFromGeneration: number, nowMs: number): Write {
    const expiresAtSecs = epochSeconds(nowMs) + sessionTtlSecs + accessTtlSecs;
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
  draftVersionChange(orgId: string): Write {
    return { table, update: versionKey(versionSlotOf(orgId)), add: { version: 1 }, set: { changed_by: this.writer } };
  }

  /** The same for the transaction that gives an org's limiter another namespace. */
  draftPurge(orgId: string): Write {
    return {
      table,
      update: versionKey(versionSlotOf(orgId)),
      add: { version: 1, purges: 1 },
      set: { changed_by: this.writer, last_purged: orgId },
    };
  }

  /** For the transaction that changes places of an org, after which no gateway may go by what it has cached of them. */
  draftPlaceChange(orgId: string, places: readonly string[]): Write {
    const add = Object.fromEntries(places.map((place) => [counterName(counterOf(orgId, place)), 1]));
    return { table, update: versionKey(versionSlotOf(orgId)), add };
  }

  private async revoke(
    item: { readonly PK: string } & Record<string, string | number>,
    orgId: string,
    audit: Draft,
  ): Promise<void> {
    // A failed condition means that it was revoked before: as wished.
    await this.client.transact('fresh', [
      { table, put: item, condition: absent('PK') },
      this.draftVersionChange(orgId),
      audit as Write,
    ]);
  }
}
