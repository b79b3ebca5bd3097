import { timingSafeEqual } from 'node:crypto';
import { compare, hash } from 'bcrypt';
import { randomToken, sha256 } from '../lib/id.js';

/** 256 random bits with a prefix that secret scanners recognise. 47 bytes, because bcrypt ignores all past 72. */
export const newSecret = (): string => `tgs_${randomToken(32)}`;

export const looksLikeSecret = (text: string): boolean => /^tgs_[A-Za-z0-9_-]{43}$/.test(text);

export const hashSecret = (secret: string, cost: number): Promise<string> => hash(secret, cost);

export const matchesSecret = (secret: string, hashed: string): Promise<boolean> => compare(secret, hashed);

const checkBytes = 16;

/**
 * The first 16 bytes of SHA-256. A secret has 256 random bits, so a fast hash does not reveal it. Only a secret that
 * passes this check is compared with bcrypt, which is slow.
 */
export const secretCheck = (secret: string): string =>
  Buffer.from(sha256(secret), 'base64url').subarray(0, checkBytes).toString('base64url');

export const clientRoles = ['FULL', 'READ'] as const;
/** READ allows queries, subscriptions, and mutations of the client's own tokens. */
export type ClientRole = (typeof clientRoles)[number];

/** The secrets of a client: at most two are live, the previous one only until its grace ends. */
export interface Credentials {
  readonly clientId: string;
  readonly role: ClientRole;
  readonly secretCreatedAt?: Date;
  readonly graceExpiresAt?: Date;
  readonly current?: StoredSecret;
  readonly previous?: StoredSecret;
  /** Incremented by each rotation. A retrieval token is valid only for the rotation it was made for. */
  readonly rotation: number;
  /** Incremented to end every token issued so far. Each token carries the generation it was issued under. */
  readonly generation: number;
}

/** The stored hashes of a secret. */
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

/** The live secret that passes the fast check. Takes the same time for zero, one and two live secrets. */
export function matchingSecret(live: readonly LiveSecret[], presented: string): LiveSecret | undefined {
  const wanted = Buffer.from(secretCheck(presented), 'base64url');
  const matches = [0, 1].map((i) =>
    timingSafeEqual(wanted, live[i] ? Buffer.from(live[i].check, 'base64url') : noCheck),
  );
  return live[matches.indexOf(true)];
}
