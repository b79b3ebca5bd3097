import { addressBucket } from '../lib/address.js';
import { type GatewayError, rateLimited } from '../lib/errors.js';
import type { Throttle } from '../lib/throttle.js';

/**
 * The error of a failed attempt: `error`, or RATE_LIMITED if the address has failed too often. Only failures count,
 * after the credential was checked: a correct one is accepted from any address at any time.
 */
export function failedAttempt(throttle: Throttle, address: string, error: GatewayError): GatewayError {
  const waitMs = throttle.take(addressBucket(address));
  if (waitMs === 0) return error;
  return rateLimited('too many failed attempts from this address; retry after retryAfterSecs', waitMs, {
    name: 'failed-attempts',
    quota: throttle.burst,
    windowSecs: 60,
  });
}
