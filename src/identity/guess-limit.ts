import { addressBucket } from '../lib/address.js';
import { type GatewayError, rateLimited } from '../lib/errors.js';
import type { Throttle } from '../lib/throttle.js';

/**
 * The error of a failed attempt: its own, or RATE_LIMITED once the address has failed too often. Only failures count, and only
 * after the credential was checked: a right one is accepted from any address at any time.
 */
export function failedAttempt(throttle: Throttle, address: string, error: GatewayError): GatewayError {
  const waitMs = throttle.take(addressBucket(address));
  if (waitMs === 0) return error;
  return rateLimited('too many failed attempts from this address: wait and try again', waitMs, {
    name: 'failed-attempts',
    quota: throttle.burst,
    windowSecs: 60,
  });
}
