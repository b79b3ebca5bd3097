import { GatewayError } from '../../lib/errors.js';

/** The request item of an admitted call has expired. */
export const admissionGone = () =>
  new GatewayError('LEASE_EXPIRED', 'this admission no longer exists; submit the cost with submitCost');
