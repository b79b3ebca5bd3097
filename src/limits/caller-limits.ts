import type { Viewer } from '../identity/viewer.js';
import { GatewayError } from '../lib/errors.js';
import type { Org } from '../orgs/settings.js';

/** Throws FORBIDDEN if an app client sends limits and its org does not allow that. Loads the org only in that case. */
export async function requireMayBringLimits(
  viewer: Viewer,
  limits: object | null | undefined,
  loadOrg: () => Promise<Org | undefined>,
): Promise<void> {
  if (!limits || viewer.kind !== 'APP_CLIENT' || (await loadOrg())?.appsMayBringLimits) return;
  throw new GatewayError(
    'FORBIDDEN',
    'input.limits: this app may not send limits; leave them out, or let a client of its org or the platform admin ' +
      'allow it with updateOrg(appsMayBringLimits: true)',
  );
}
