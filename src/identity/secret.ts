import { compare, hash } from 'bcrypt';
import { randomToken } from '../lib/id.js';

/** 256 random bits; the prefix lets a log or a scanner tell it for what it is. 47 bytes: bcrypt ignores all past 72. */
export const newSecret = (): string => `tgs_${randomToken(32)}`;

export const looksLikeSecret = (text: string): boolean => /^tgs_[A-Za-z0-9_-]{43}$/.test(text);

export const hashSecret = (secret: string, cost: number): Promise<string> => hash(secret, cost);

export const matchesSecret = (secret: string, hashed: string): Promise<boolean> => compare(secret, hashed);

/** The state of a client's secrets: at most two live hashes, the second only until its grace ends. */
export interface Credentials {
  readonly clientId: string;
  readonly secretCreatedAt?: Date;
  readonly graceExpiresAt?: Date;
  readonly hash?: string;
  readonly previousHash?: string;
  /** Raised by each rotation; a retrieval token is good only for the one it was made for. */
  readonly rotation: number;
  /** Raised when every token issued so far must end at once; each token carries the one it was issued under. */
  readonly generation: number;
}

/** The hashes a presented secret may match now. */
export function liveHashes({ hash: current, previousHash, graceExpiresAt }: Credentials, nowMs: number): string[] {
  const graceIsOpen = graceExpiresAt !== undefined && graceExpiresAt.getTime() > nowMs;
  return [current, graceIsOpen ? previousHash : undefined].filter((live) => live !== undefined);
}

/** Reads the credentials off an org's or app's stored item. */
export function credentialsOf(item: Readonly<Record<string, unknown>>): Credentials {
  const date = (name: string) => (item[name] === undefined ? undefined : new Date((item[name] as number) * 1000));
  return {
    clientId: item.client_id as string,
    ...present('secretCreatedAt', date('client_secret_created_at_epoch')),
    ...present('graceExpiresAt', date('client_secret_rotation_grace_expires_at_epoch')),
    ...present('hash', item.client_secret_hash as string | undefined),
    ...present('previousHash', item.client_secret_previous_hash as string | undefined),
    rotation: item.client_rotation as number,
    generation: item.client_generation as number,
  };
}

const present = <N extends string, T>(name: N, value: T | undefined): { readonly [K in N]?: T } =>
  value === undefined ? {} : ({ [name]: value } as { [K in N]: T });

/** What a new client's item starts with: no secret until the first retrieval. */
export const newClientAttributes = (clientId: string) => ({ client_id: clientId, client_rotation: 1, client_generation: 0 });
