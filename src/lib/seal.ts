import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/** A key for one purpose, derived from a root secret. Knowledge of one key reveals no other. */
export function deriveKey(rootSecret: string, purpose: string, bytes = 32): Buffer {
  return Buffer.from(hkdfSync('sha256', rootSecret, '', `tollgate ${purpose}`, bytes));
}

const rootIdBytes = 4;

/** A short name of a root secret for stored items, metrics and logs. It reveals nothing of the secret. */
export const rootIdOf = (rootSecret: string): string => deriveKey(rootSecret, 'root id', rootIdBytes).toString('hex');

/** The key of one purpose under one root secret. */
export interface RootKey {
  readonly rootId: string;
  readonly key: Buffer;
}

/** The keys of one purpose, one per root secret. The first creates, all verify. */
export class RootKeys {
  readonly all: readonly RootKey[];

  constructor(rootSecrets: readonly string[], purpose: string) {
    this.all = rootSecrets.map((secret) => ({ rootId: rootIdOf(secret), key: deriveKey(secret, purpose) }));
  }

  get first(): RootKey {
    return this.all[0] as RootKey;
  }

  byId(rootId: string | undefined): RootKey | undefined {
    return this.all.find((each) => each.rootId === rootId);
  }
}

export const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

export function equalInConstantTime(a: string, b: string): boolean {
  // Digests have equal length, so that the time does not even reveal the length of the secret.
  const key = Buffer.alloc(32);
  return timingSafeEqual(hmac(key, a), hmac(key, b));
}

const signatureBytes = 16;

/** Makes and opens opaque texts, such as cursors. They are signed and bound to a context such as tenant and field. */
export class Sealer {
  constructor(private readonly keys: RootKeys) {}

  seal(context: string, payload: string): string {
    const body = Buffer.from(payload);
    const { rootId, key } = this.keys.first;
    return Buffer.concat([Buffer.from(rootId, 'hex'), sign(key, context, body), body]).toString('base64url');
  }

  /** The payload, or undefined if the text was changed, made elsewhere, or sealed for another context. */
  open(context: string, sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    // The decoder ignores invalid characters, so only the canonical text is accepted.
    if (bytes.length < rootIdBytes + signatureBytes || bytes.toString('base64url') !== sealed) return undefined;
    const root = this.keys.byId(bytes.subarray(0, rootIdBytes).toString('hex'));
    const body = bytes.subarray(rootIdBytes + signatureBytes);
    if (!root) return undefined;
    return timingSafeEqual(bytes.subarray(rootIdBytes, rootIdBytes + signatureBytes), sign(root.key, context, body))
      ? body.toString()
      : undefined;
  }
}

const sign = (key: Buffer, context: string, body: Buffer): Buffer =>
  createHmac('sha256', key).update(`${context.length}:${context}`).update(body).digest().subarray(0, signatureBytes);

export const mintedBytes = 24;
const markBytes = 8;

/**
 * Tokens of 192 random bits and a short signature, so that an invented token is refused without a read of the store.
 */
export class TokenMint {
  constructor(
    private readonly prefix: string,
    private readonly keys: RootKeys,
  ) {}

  /** The same bytes under the same root secret make the same token. */
  make(bytes: Buffer = randomBytes(mintedBytes), rootId: string = this.keys.first.rootId): string {
    const { key } = this.keys.byId(rootId) ?? this.keys.first;
    return this.prefix + Buffer.concat([bytes, this.mark(key, bytes)]).toString('base64url');
  }

  isGenuine(token: string): boolean {
    if (!token.startsWith(this.prefix)) return false;
    const text = token.slice(this.prefix.length);
    const bytes = Buffer.from(text, 'base64url');
    if (bytes.length !== mintedBytes + markBytes || bytes.toString('base64url') !== text) return false;
    const [body, mark] = [bytes.subarray(0, mintedBytes), bytes.subarray(mintedBytes)];
    return this.keys.all.some(({ key }) => timingSafeEqual(mark, this.mark(key, body)));
  }

  private mark(key: Buffer, body: Buffer): Buffer {
    return createHmac('sha256', key).update(this.prefix).update(body).digest().subarray(0, markBytes);
  }
}
