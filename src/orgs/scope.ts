import { key } from '../dynamo/keys.js';
import { hashSlot } from '../lib/id.js';
import type { App, Org } from './settings.js';

/** The org or app whose quota a cost counts against. */
export interface Scope {
  readonly orgId: string;
  readonly appId?: string;
}

/** The prefix of all keys that belong to a scope. */
export const scopeKey = ({ orgId, appId }: Scope): string =>
  appId === undefined ? key`ORG#${orgId}` : key`ORG#${orgId}#APP#${appId}`;

/** Identifies one counter of spend: a label of a scope on one local day. */
export interface SpendId extends Scope {
  readonly label: string;
  /** YYYY-MM-DD in the time zone of the org. */
  readonly day: string;
}

/** The scope of an app's costs. Under quotaScope ORG all apps share one count. */
export const scopeOf = ({ orgId, appId, org }: App): Scope => (org.quotaScope === 'ORG' ? { orgId } : { orgId, appId });

export const orgScope = ({ orgId }: Org): Scope => ({ orgId });

/**
 * Slices of the active index. All scopes of an org are in one slice, so that a roll-up finds the apps beside the org.
 */
export const sliceCount = 16;
export const sliceOf = (orgId: string): number => hashSlot(orgId, sliceCount);
