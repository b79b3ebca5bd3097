import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** A key for one purpose, derived from the deployment's root secret: knowing one gives away no other. */
export function deriveKey(rootSecret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', rootSecret, '', `tollgate ${purpose}`, 32));
}

export const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

export function equalInConstantTime(a: string, b: string): boolean {
  // Compared as digests of equal length, so that not even the length of the secret shows in the time taken.
  const key = Buffer.alloc(32);
  return timingSafeEqual(hmac(key, a), hmac(key, b));
}

const signatureBytes = 16;

/** Opaque text that only this deployment can have made: signed, and bound to a context such as tenant and field. */
export class Sealer {
  constructor(private readonly key: Buffer) {}

  seal(context: string, payload: string): string {
    const body = Buffer.from(payload);
    return Buffer.concat([this.sign(context, body), body]).toString('base64url');
  }

  /** The payload, or undefined where the text was edited, made elsewhere, or sealed for another context. */
  open(context: string, sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    // Decoding skips stray characters; only the one canonical text of a cursor is accepted.
    if (bytes.length < signatureBytes || bytes.toString('base64url') !== sealed) return undefined;
    const body = bytes.subarray(signatureBytes);
    return timingSafeEqual(bytes.subarray(0, signatureBytes), this.sign(context, body)) ? body.toString() : undefined;
  }

  private sign(context: string, body: Buffer): Buffer {
    return createHmac('sha256', this.key).update(`${context.length}:${context}`).update(body).digest().subarray(0, signatureBytes);
  }
}
