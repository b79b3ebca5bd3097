import type { GatewayError } from '../lib/errors.js';
import type { ClientRef } from './client-id.js';

/** Whether the credentials of an org or app work at all. */
export interface Tenants {
  /** The error for a credential of an org or app that is suspended or deleted; undefined if it works. Costs no read if nothing has changed. */
  refusal(of: Pick<ClientRef, 'orgId' | 'appId'>): Promise<GatewayError | undefined>;
  /** The same as last known to this process, however old. Never reads. */
  lastRefusal(of: Pick<ClientRef, 'orgId' | 'appId'>): GatewayError | undefined;
}
