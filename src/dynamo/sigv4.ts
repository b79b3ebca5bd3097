import crypto, { createHash, createHmac } from 'node:crypto';
import type { Clock } from '../lib/clock.js';

export interface UnsignedRequest {
  readonly host: string;
  readonly path: string;
  readonly region: string;
  readonly target: string;
  readonly body: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

// `crypto.hash` (Node 20.12 and later) avoids a hash object, which costs more than the hashing.
const hash: (text: string) => string =
  typeof crypto.hash === 'function'
    ? (text) => crypto.hash('sha256', text)
    : (text) => createHash('sha256').update(text).digest('hex');
const mac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Signs requests with AWS Signature Version 4. The signing key changes once per day, so it is derived once per day. */
export class Signer {
  private cachedKey: { readonly name: string; readonly key: Buffer } | undefined;
  private second = Number.NaN;
  private stamp = '';

  /** `clock` must be the machine's own time, because DynamoDB compares the signature with its own. */
  constructor(private readonly clock: Clock) {}

  /** The headers of the request, with its signature. */
  sign(request: UnsignedRequest): Record<string, string> {
    const { host, path, region, target, body, accessKeyId, secretAccessKey, sessionToken } = request;
    const stamp = this.currentStamp();
    const date = stamp.slice(0, 8);
    const scope = `${date}/${region}/dynamodb/aws4_request`;
    const headers: Record<string, string> = {
      'content-type': 'application/x-amz-json-1.0',
      host,
      'x-amz-date': stamp,
      ...(sessionToken ? { 'x-amz-security-token': sessionToken } : {}),
      'x-amz-target': target,
    };
    const names = Object.keys(headers).join(';');
    const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
    const canonical = `POST\n${path}\n\n${lines.join('')}\n${names}\n${hash(body)}`;
    const text = `AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${hash(canonical)}`;
    const signature = mac(this.keyFor(date, region, secretAccessKey), text).toString('hex');
    const credential = `${accessKeyId}/${scope}`;
    headers.authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`;
    return headers;
  }

  private currentStamp(): string {
    const second = Math.floor(this.clock.nowMs() / 1000);
    if (second !== this.second) {
      this.second = second;
      this.stamp = new Date(second * 1000).toISOString().replace(/[-:]|\.\d{3}/g, '');
    }
    return this.stamp;
  }

  private keyFor(date: string, region: string, secret: string): Buffer {
    const name = `${date} ${region} ${secret}`;
    if (this.cachedKey?.name === name) return this.cachedKey.key;
    const ofRegion = mac(mac(`AWS4${secret}`, date), region);
    const key = mac(mac(ofRegion, 'dynamodb'), 'aws4_request');
    this.cachedKey = { name, key };
    return key;
  }
}
