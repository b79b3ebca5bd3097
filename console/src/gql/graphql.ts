/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** The event that an alert reports. */
export type QuotaAlertKind =
  /** The quota of a label is used up and selections now recommend `activeLabel`. */
  | 'FALLBACK_ACTIVATED'
  /** Only in the subscription, whatever `kinds` it asked for. Alerts after the given cursor have expired, so some may have been missed. Read `Org.spend` for the state of today. `label` is empty and all figures are 0. `cursor` continues after the gap. */
  | 'GAP'
  /** The daily quota of a label is used up. */
  | 'QUOTA_EXCEEDED'
  /** The spend of a label has reached the tight-mode threshold of its quota. */
  | 'TIGHT_MODE';

/** What the daily quotas of an org apply to. */
export type QuotaScope =
  /** Each app has the quotas to itself. */
  | 'APP'
  /** One set of quotas that all apps of the org share. */
  | 'ORG';

export type OrgFrameFragment = { orgId: string, name: string, timezone: string, timezoneEffectiveAt: string | null, quotaScope: QuotaScope, modelOrdering: Array<string>, dimensions: Array<string>, attributeApps: boolean, ledger: boolean, suspendedAt: string | null };

export type FrameQueryVariables = Exact<{
  orgId: string;
}>;


export type FrameQuery = { org: { orgId: string, name: string, timezone: string, timezoneEffectiveAt: string | null, quotaScope: QuotaScope, modelOrdering: Array<string>, dimensions: Array<string>, attributeApps: boolean, ledger: boolean, suspendedAt: string | null, spend: { day: string, resetsAt: string } } | null };

export type AppFrameQueryVariables = Exact<{ [key: string]: never; }>;


export type AppFrameQuery = { me: { org: { orgId: string, name: string, timezone: string, timezoneEffectiveAt: string | null, quotaScope: QuotaScope, modelOrdering: Array<string>, dimensions: Array<string>, attributeApps: boolean, ledger: boolean, suspendedAt: string | null } | null, app: { spend: { day: string, resetsAt: string } } | null } };

export type OrgNamesQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type OrgNamesQuery = { orgs: { nodes: Array<{ orgId: string, name: string, suspendedAt: string | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type LiveAlertsSubscriptionVariables = Exact<{
  orgId: string;
  after?: string | null | undefined;
}>;


export type LiveAlertsSubscription = { quotaAlerts: { id: string, cursor: string, kind: QuotaAlertKind, appId: string | null, label: string, activeLabel: string | null, quotaPct: number, raisedAt: string } };

export class TypedDocumentString<TResult, TVariables>
  extends String
  implements DocumentTypeDecoration<TResult, TVariables>
{
  __apiType?: NonNullable<DocumentTypeDecoration<TResult, TVariables>['__apiType']>;
  private value: string;
  public __meta__?: Record<string, any> | undefined;

  constructor(value: string, __meta__?: Record<string, any> | undefined) {
    super(value);
    this.value = value;
    this.__meta__ = __meta__;
  }

  override toString(): string & DocumentTypeDecoration<TResult, TVariables> {
    return this.value;
  }
}
export const OrgFrameFragmentDoc = new TypedDocumentString(`
    fragment OrgFrame on Org {
  orgId
  name
  timezone
  timezoneEffectiveAt
  quotaScope
  modelOrdering
  dimensions
  attributeApps
  ledger
  suspendedAt
}
    `, {"fragmentName":"OrgFrame"}) as unknown as TypedDocumentString<OrgFrameFragment, unknown>;
export const FrameDocument = {"__meta__":{"hash":"sha256:7641c0517df3844a9f2beb15e507693b6ae73e3cfd7e567246447ba8b5af4b22"}} as unknown as TypedDocumentString<FrameQuery, FrameQueryVariables>;
export const AppFrameDocument = {"__meta__":{"hash":"sha256:82acaae661a51cd535a4c12a8276d40a1d397ba094da65b9690e231c81eac291"}} as unknown as TypedDocumentString<AppFrameQuery, AppFrameQueryVariables>;
export const OrgNamesDocument = {"__meta__":{"hash":"sha256:407c95239ef7afa78d7e78e73dbd0392a9f478951622ecea36657550fbb50734"}} as unknown as TypedDocumentString<OrgNamesQuery, OrgNamesQueryVariables>;
export const LiveAlertsDocument = {"__meta__":{"hash":"sha256:987b90da5f1808ec755d386d317c70a6b7a2b58315f8a8a13585956e9e6816ce"}} as unknown as TypedDocumentString<LiveAlertsSubscription, LiveAlertsSubscriptionVariables>;