import { timingSafeEqual } from 'node:crypto';
import { compare, hash } from 'bcrypt';
import { randomToken, sha256 } from '../lib/id.js';

/** 256 random bits; the prefix lets a log or a scanner tell it for what it is. 47 bytes: bcrypt ignores all past 72. */
export const newSecret = (): string => `tgs_${randomToken(32)}`;

export const looksLikeSecret = (text: string): boolean => /^tgs_[A-Za-z0-9_-]{43}$/.test(text);

export const hashSecret = (secret: string, cost: number): Promise<string> => hash(secret, cost);

export const matchesSecret = (secret: string, hashed: string): Promise<boolean> => compare(secret, hashed);

const checkBytes = 16;

/**
 * The first 16 bytes of SHA-256. A secret is 256 random bits, so nobody finds it from a fast hash; and only a secret that
 * passes this check is worth a slow one.
 */
export const secretCheck = (secret: string): string =>
  Buffer.from(sha256(secret), 'base64url').subarray(0, checkBytes).toString('base64url');

export const clientRoles = ['FULL', 'READ'] as const;
/** READ: queries, subscriptions, and the client's own tokens. */
export type ClientRole = (typeof clientRoles)[number];

/** The state of a client's secrets: at most two live ones, the second only until its grace ends. */
export interface Credentials {
  readonly clientId: string;
  readonly role: ClientRole;
  readonly secretCreatedAt?: Date;
  readonly graceExpiresAt?: Date;
  readonly current?: StoredSecret;
  readonly previous?: StoredSecret;
  /** Raised by each rotation; a retrieval token is good only for the one it was made for. */
  readonly rotation: number;
  /** Raised when every token issued so far must end at once; each token carries the one it was issued under. */
  readonly generation: number;
}

/** What a secret is checked by. */
export interface StoredSecret {
  readonly hash: string;
  readonly check: string;
  /** The rotation that made it. */
  readonly rotation: number;
}

export interface LiveSecret extends StoredSecret {
  /** When the grace of a previous secret ends; absent for the current one. */
  readonly endsAtMs?: number;
}

/** The secrets that work now. */
export function liveSecrets({ current, previous, graceExpiresAt }: Credentials, nowMs: number): LiveSecret[] {
  const endsAtMs = graceExpiresAt?.getTime() ?? 0;
  return [...(current ? [current] : []), ...(previous && endsAtMs > nowMs ? [{ ...previous, endsAtMs }] : [])];
}

const noCheck = Buffer.alloc(checkBytes);

/** The live secret that passes the fast check. Takes the same time for no secret, one and two. */
export function matchingSecret(live: readonly LiveSecret[], presented: string): LiveSecret | undefined {
  const wanted = Buffer.from(secretCheck(presented), 'base64url');
  const matches = [0, 1].map((i) =>
    timingSafeEqual(wanted, live[i] ? Buffer.from(live[i].check, 'base64url') : noCheck),
  );
  return live[matches.indexOf(true)];
}

/** Reads the credentials off the stored item of an org, an app or a further client. */
export function credentialsOf(item: Readonly<Record<string, unknown>>): Credentials {
  const date = (name: string) => (item[name] === undefined ? undefined : new Date((item[name] as number) * 1000));
  const secret = (prefix: string): StoredSecret | undefined =>
    item[`${prefix}_hash`] === undefined
      ? undefined
      : {
          hash: item[`${prefix}_hash`] as string,
          check: item[`${prefix}_check`] as string,
          rotation: item[`${prefix}_rotation`] as number,
        };
  return {
    clientId: item.client_id as string,
    role: (item.client_role as ClientRole | undefined) ?? 'FULL',
    ...present('secretCreatedAt', date('client_secret_created_at_epoch')),
    ...present('graceExpiresAt', date('client_secret_rotation_grace_expires_at_epoch')),
    ...present('current', secret('client_secret')),
    ...present('previous', secret('client_secret_previous')),
    rotation: item.client_rotation as number,
    generation: item.client_generation as number,
  };
}

const present = <N extends string, T>(name: N, value: T | undefined): { readonly [K in N]?: T } =>
  value === undefined ? {} : ({ [name]: value } as { [K in N]: T });

/** What a new client's item starts with: no secret until the first retrieval. */
export const newClientAttributes = (
  clientId: string,
  { rotation = 1, generation = 0, role }: { rotation?: number; generation?: number; role?: ClientRole } = {},
) => ({
  client_id: clientId,
  client_rotation: rotation,
  client_generation: generation,
  client_role: role,
});
