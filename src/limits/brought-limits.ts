import type { Viewer } from '../identity/viewer.js';
import { GatewayError } from '../lib/errors.js';
import type { Org } from '../orgs/settings.js';

/** Throws FORBIDDEN if an app client brings limits along and its org does not allow that. Asks for the org only then. */
export async function requireMayBringLimits(
  viewer: Viewer,
  limits: object | null | undefined,
  org: () => Promise<Org | undefined>,
): Promise<void> {
  if (!limits || viewer.kind !== 'APP_CLIENT' || (await org())?.appsMayBringLimits) return;
  throw new GatewayError(
    'FORBIDDEN',
    'input.limits: this app may not send limits; leave them out, or let a client of its org or the platform admin allow it with updateOrg(appsMayBringLimits: true)',
  );
}
