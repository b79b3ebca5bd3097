import { createHash, randomBytes, randomUUID } from 'node:crypto';

export const newUuid = (): string => randomUUID();

/** A URL-safe, unguessable token. 32 bytes make 43 characters. */
export const randomToken = (bytes: number): string => randomBytes(bytes).toString('base64url');

export const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex');

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** A random fraction in [0, 1) for jitter. Not for secrets. */
export const randomFraction = (): number => Math.random();

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A ULID: sorts by its millisecond, and 80 random bits make it unique within the millisecond. */
export function ulid(nowMs: number): string {
  let time = '';
  for (let rest = nowMs, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) time = crockford.charAt(rest % 32) + time;
  let tail = '';
  for (const byte of randomBytes(16)) tail += crockford.charAt(byte % 32);
  return time + tail;
}

/** The millisecond of a ULID. */
export function ulidMs(id: string): number {
  let ms = 0;
  for (let i = 0; i < 10; i++) ms = ms * 32 + crockford.indexOf(id.charAt(i));
  return ms;
}

/** The last digit of a ULID: 0 to 31, at random. */
export const ulidDigit = (id: string): number => crockford.indexOf(id.slice(-1));

/** Sorts before every ULID of this millisecond, and after every one of the milliseconds before. */
export const ulidFloor = (atMs: number): string => ulid(atMs).slice(0, 10);

/** Hashes a text to one of `count` slots. The result is the same in every process and version. */
export const hashSlot = (text: string, count: number): number =>
  createHash('sha256').update(text).digest().readUInt32BE(0) % count;
