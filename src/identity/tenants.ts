import type { GatewayError } from '../lib/errors.js';
import type { ClientRef } from './client-id.js';

/** Says if the credentials of an org or app are refused because it is suspended or deleted. */
export interface Tenants {
  /**
   * The error for a credential of a suspended or deleted org or app; undefined if it works. No read if nothing has
   * changed.
   */
  refusal(tenant: Pick<ClientRef, 'orgId' | 'appId'>): Promise<GatewayError | undefined>;
  /** The same from the cache of this process, however old. Never reads. */
  lastRefusal(tenant: Pick<ClientRef, 'orgId' | 'appId'>): GatewayError | undefined;
}
