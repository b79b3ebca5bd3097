import { key } from '../dynamo/keys.js';
import { hashSlot } from '../lib/id.js';
import type { App, Org } from './settings.js';

/** Whose quota a cost counts against: the org's, or one app's. */
export interface Scope {
  readonly orgId: string;
  readonly appId?: string;
}

/** What the keys of everything that belongs to a scope begin with. */
export const scopeKey = ({ orgId, appId }: Scope): string =>
  appId === undefined ? key`ORG#${orgId}` : key`ORG#${orgId}#APP#${appId}`;

/** Where spend is counted: a scope's label on one local day. */
export interface SpendId extends Scope {
  readonly label: string;
  /** YYYY-MM-DD in the org's zone. */
  readonly day: string;
}

/** Under quotaScope ORG all apps share one count. */
export const scopeOf = ({ orgId, appId, org }: App): Scope => (org.quotaScope === 'ORG' ? { orgId } : { orgId, appId });

export const orgScope = ({ orgId }: Org): Scope => ({ orgId });

/** Slices of the active index. All scopes of an org are in one, so that a roll-up finds its apps beside it. */
export const sliceCount = 16;
export const sliceOf = (orgId: string): number => hashSlot(orgId, sliceCount);
