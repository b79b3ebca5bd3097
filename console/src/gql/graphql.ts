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
  /** The forecast expects that the budget will be exceeded in this period. See `Budget.forecast`. */
  | 'PROJECTED'
  /** The daily quota of a label is used up. */
  | 'QUOTA_EXCEEDED'
  /** A budget that was used up in this period no longer is: it was raised or changed, or a cost was credited. */
  | 'RECOVERED'
  /** The spend of a budget has reached a threshold, or the budget itself (`thresholdPct` 100). A jump over several thresholds raises only the highest one. */
  | 'THRESHOLD'
  /** The spend of a label has reached the tight-mode threshold of its quota. */
  | 'TIGHT_MODE';

/** What the daily quotas of an org apply to. */
export type QuotaScope =
  /** Each app has the quotas to itself. */
  | 'APP'
  /** One set of quotas that all apps of the org share. */
  | 'ORG';

/** Why a selection recommends its label, or none. */
export type SelectionReason =
  /** No label is recommended: the quotas of all labels that have a model are used up. */
  | 'ALL_QUOTAS_EXCEEDED'
  /** A budget is used up, see `budget`. With a label: the labels before it were skipped because of budgets. Without one: no label is recommended, because budgets exclude every label that its quota would allow. */
  | 'BUDGET_EXCEEDED'
  /** `overrideModel` set it for the rest of the day, even if its quota is used up. */
  | 'MANUAL_OVERRIDE'
  /** No label is recommended: this gateway has no model for any label of the chain. See `skipped`. */
  | 'NO_USABLE_MODEL'
  /** The quotas of the labels before it are used up. */
  | 'QUOTA_EXCEEDED'
  /** An earlier selection of the day fell back to it, and its quota is not used up. */
  | 'STICKY_FALLBACK'
  /** It is the first label of the chain that has a model, and its quota is not used up. */
  | 'WITHIN_QUOTA';

/** The state of a label’s spend relative to its daily quota. */
export type SpendMode =
  /** At or above the quota. */
  | 'EXCEEDED'
  /** Below the tight-mode threshold, or without a quota. */
  | 'NORMAL'
  /** At or above the tight-mode threshold. */
  | 'TIGHT';

/** The length of the intervals of a series. */
export type SpendStep =
  /** Days in the time zone of the org. */
  | 'DAY'
  /** Hours since the local day began. The last hour of a day may be shorter, when clocks are changed. */
  | 'HOUR';

export type OverviewQueryVariables = Exact<{
  orgId: string;
  from: string;
  to: string;
  byApp: boolean;
}>;


export type OverviewQuery = { org: { deviceCount: number, spend: { costUsdMicros: number, requests: number, mode: SpendMode, labels: Array<{ label: string, costUsdMicros: number, quotaUsdMicros: number | null, quotaPct: number | null, mode: SpendMode, asOf: string | null }> }, spendHistory: Array<{ day: string, costUsdMicros: number, requests: number, mode: SpendMode }>, spendBreakdown?: { rows: Array<{ name: string, costUsdMicros: number }> }, apps: { nodes: Array<{ appId: string, name: string, suspendedAt: string | null, spend: { costUsdMicros: number, mode: SpendMode, labels: Array<{ label: string, costUsdMicros: number, quotaUsdMicros: number | null, quotaPct: number | null, mode: SpendMode }> }, modelSelection: { label: string | null, reason: SelectionReason } }>, pageInfo: { hasNextPage: boolean } }, alerts: { nodes: Array<{ id: string, kind: QuotaAlertKind, appId: string | null, label: string, activeLabel: string | null, quotaPct: number, raisedAt: string }> }, devices: { nodes: Array<{ lastSeenAt: string, firmwareVersion: string }> }, limitConfigs: Array<{ resource: string | null, limits: Array<{ name: string }> }> } | null };

export type AlertLineFragment = { id: string, kind: QuotaAlertKind, appId: string | null, label: string, activeLabel: string | null, quotaPct: number, raisedAt: string };

export type MostRefusedQueryVariables = Exact<{
  orgId: string;
  r0?: string;
  l0?: string;
  on0?: boolean;
  r1?: string;
  l1?: string;
  on1?: boolean;
  r2?: string;
  l2?: string;
  on2?: boolean;
  r3?: string;
  l3?: string;
  on3?: boolean;
  r4?: string;
  l4?: string;
  on4?: boolean;
  r5?: string;
  l5?: string;
  on5?: boolean;
}>;


export type MostRefusedQuery = { org: { t0?: { entities: Array<{ entityId: string, consumed: number, refused: number }> }, t1?: { entities: Array<{ entityId: string, consumed: number, refused: number }> }, t2?: { entities: Array<{ entityId: string, consumed: number, refused: number }> }, t3?: { entities: Array<{ entityId: string, consumed: number, refused: number }> }, t4?: { entities: Array<{ entityId: string, consumed: number, refused: number }> }, t5?: { entities: Array<{ entityId: string, consumed: number, refused: number }> } } | null };

export type RefusedFragment = { entities: Array<{ entityId: string, consumed: number, refused: number }> };

export type SpendReportQueryVariables = Exact<{
  orgId: string;
  from: string;
  to: string;
  byApp: boolean;
  byDimension: boolean;
  dimension?: string | null | undefined;
}>;


export type SpendReportQuery = { org: { spend: { labels: Array<{ asOf: string | null }> }, byLabel: { total: { costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number }, rows: Array<{ name: string, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, labels: Array<{ name: string, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number }> | null }>, rest: { costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number } }, byApp?: { total: { costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number }, rows: Array<{ name: string, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, labels: Array<{ name: string, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number }> | null }>, rest: { costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number } }, byDimension?: { total: { costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number }, rows: Array<{ name: string, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, labels: Array<{ name: string, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number }> | null }>, rest: { costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number } } } | null };

export type FiguresFragment = { costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number };

export type ShareFragment = { name: string, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number };

export type BreakdownFragment = { total: { costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number }, rows: Array<{ name: string, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, labels: Array<{ name: string, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number }> | null }>, rest: { costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number } };

export type PointFragment = { day: string, startsAt: string, costUsdMicros: number, requests: number, unattributedUsdMicros: number };

export type SeriesByAppQueryVariables = Exact<{
  orgId: string;
  from: string;
  to: string;
  step: SpendStep;
}>;


export type SeriesByAppQuery = { org: { total: Array<{ day: string, startsAt: string, costUsdMicros: number, requests: number, unattributedUsdMicros: number }>, apps: { nodes: Array<{ appId: string, name: string, spendSeries: Array<{ costUsdMicros: number }> }> } } | null };

export type SeriesByLabelQueryVariables = Exact<{
  orgId: string;
  from: string;
  to: string;
  step: SpendStep;
  l0?: string | null | undefined;
  on0?: boolean;
  l1?: string | null | undefined;
  on1?: boolean;
  l2?: string | null | undefined;
  on2?: boolean;
  l3?: string | null | undefined;
  on3?: boolean;
  l4?: string | null | undefined;
  on4?: boolean;
  l5?: string | null | undefined;
  on5?: boolean;
  l6?: string | null | undefined;
  on6?: boolean;
}>;


export type SeriesByLabelQuery = { org: { total: Array<{ day: string, startsAt: string, costUsdMicros: number, requests: number, unattributedUsdMicros: number }>, s0?: Array<{ costUsdMicros: number }>, s1?: Array<{ costUsdMicros: number }>, s2?: Array<{ costUsdMicros: number }>, s3?: Array<{ costUsdMicros: number }>, s4?: Array<{ costUsdMicros: number }>, s5?: Array<{ costUsdMicros: number }>, s6?: Array<{ costUsdMicros: number }> } | null };

export type ExactTodayQueryVariables = Exact<{
  orgId: string;
}>;


export type ExactTodayQuery = { org: { spend: { costUsdMicros: number, requests: number, labels: Array<{ label: string, costUsdMicros: number, asOf: string | null }> } } | null };

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
export const AlertLineFragmentDoc = new TypedDocumentString(`
    fragment AlertLine on QuotaAlert {
  id
  kind
  appId
  label
  activeLabel
  quotaPct
  raisedAt
}
    `, {"fragmentName":"AlertLine"}) as unknown as TypedDocumentString<AlertLineFragment, unknown>;
export const RefusedFragmentDoc = new TypedDocumentString(`
    fragment Refused on TopEntities {
  entities {
    entityId
    consumed
    refused
  }
}
    `, {"fragmentName":"Refused"}) as unknown as TypedDocumentString<RefusedFragment, unknown>;
export const FiguresFragmentDoc = new TypedDocumentString(`
    fragment Figures on SpendFigures {
  costUsdMicros
  inputTokens
  outputTokens
  requests
}
    `, {"fragmentName":"Figures"}) as unknown as TypedDocumentString<FiguresFragment, unknown>;
export const ShareFragmentDoc = new TypedDocumentString(`
    fragment Share on SpendShare {
  name
  costUsdMicros
  inputTokens
  outputTokens
  requests
}
    `, {"fragmentName":"Share"}) as unknown as TypedDocumentString<ShareFragment, unknown>;
export const BreakdownFragmentDoc = new TypedDocumentString(`
    fragment Breakdown on SpendBreakdown {
  total {
    ...Figures
  }
  rows {
    ...Share
    labels {
      ...Share
    }
  }
  rest {
    ...Figures
  }
}
    fragment Figures on SpendFigures {
  costUsdMicros
  inputTokens
  outputTokens
  requests
}
fragment Share on SpendShare {
  name
  costUsdMicros
  inputTokens
  outputTokens
  requests
}`, {"fragmentName":"Breakdown"}) as unknown as TypedDocumentString<BreakdownFragment, unknown>;
export const PointFragmentDoc = new TypedDocumentString(`
    fragment Point on SpendPoint {
  day
  startsAt
  costUsdMicros
  requests
  unattributedUsdMicros
}
    `, {"fragmentName":"Point"}) as unknown as TypedDocumentString<PointFragment, unknown>;
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
export const OverviewDocument = {"__meta__":{"hash":"sha256:dda400030f44fef70d06a5a89f694bdb090de2bd5a2213d5eb8480401bb04d2a"}} as unknown as TypedDocumentString<OverviewQuery, OverviewQueryVariables>;
export const MostRefusedDocument = {"__meta__":{"hash":"sha256:b66189e1679b18f3b9f8a1d68235bf6656f0da5fb1552b9b4e889450a58dee0b"}} as unknown as TypedDocumentString<MostRefusedQuery, MostRefusedQueryVariables>;
export const SpendReportDocument = {"__meta__":{"hash":"sha256:1fc90b63ab5e1b3783bf8386c8d941afad514d4c215c24f625aef651a543a5bc"}} as unknown as TypedDocumentString<SpendReportQuery, SpendReportQueryVariables>;
export const SeriesByAppDocument = {"__meta__":{"hash":"sha256:cb9a61b4a9af5b590f4719a64698283803c94b2c7873b66bf2b763cc4f0012c3"}} as unknown as TypedDocumentString<SeriesByAppQuery, SeriesByAppQueryVariables>;
export const SeriesByLabelDocument = {"__meta__":{"hash":"sha256:77264db8f53838f38ad4ffd30f0b206dd5700a7a4c193428cccf0382f0f31d95"}} as unknown as TypedDocumentString<SeriesByLabelQuery, SeriesByLabelQueryVariables>;
export const ExactTodayDocument = {"__meta__":{"hash":"sha256:e7c9cdc4f98c711661ec40f76632ad33ed34b818bea123932c7042f4b9d469ae"}} as unknown as TypedDocumentString<ExactTodayQuery, ExactTodayQueryVariables>;
export const FrameDocument = {"__meta__":{"hash":"sha256:7641c0517df3844a9f2beb15e507693b6ae73e3cfd7e567246447ba8b5af4b22"}} as unknown as TypedDocumentString<FrameQuery, FrameQueryVariables>;
export const AppFrameDocument = {"__meta__":{"hash":"sha256:82acaae661a51cd535a4c12a8276d40a1d397ba094da65b9690e231c81eac291"}} as unknown as TypedDocumentString<AppFrameQuery, AppFrameQueryVariables>;
export const OrgNamesDocument = {"__meta__":{"hash":"sha256:407c95239ef7afa78d7e78e73dbd0392a9f478951622ecea36657550fbb50734"}} as unknown as TypedDocumentString<OrgNamesQuery, OrgNamesQueryVariables>;
export const LiveAlertsDocument = {"__meta__":{"hash":"sha256:987b90da5f1808ec755d386d317c70a6b7a2b58315f8a8a13585956e9e6816ce"}} as unknown as TypedDocumentString<LiveAlertsSubscription, LiveAlertsSubscriptionVariables>;