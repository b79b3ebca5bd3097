/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { DocumentTypeDecoration } from '@graphql-typed-document-node/core';
/** The tokens to take and the entity to take them for. */
export type AcquireInput = {
  /** The amounts to take. All of them are taken or none. A limit that is left out counts as 0. */
  consume: Array<ConsumeInput>;
  /** The entity: 1–256 of A-Z a-z 0-9 _ . - : @, first a letter or digit. */
  entityId: string;
  /** Limits to use instead of the stored ones. All callers that share a bucket must send the same. FORBIDDEN for an app client unless `Org.appsMayBringLimits`. */
  limits?: Array<LimitInput> | null | undefined;
  /** The org. Required for an admin; a client of an org may leave it out or name its own org. */
  orgId?: string | null | undefined;
  /** Makes a retry safe: within 24 hours the same id returns the first lease and takes nothing more. The same id with another request is an IDEMPOTENCY_CONFLICT. */
  requestId?: string | null | undefined;
  /** The resource: 1–64 of A-Z a-z 0-9 _ . - / :, first a letter. */
  resource: string;
  /** Seconds for which the lease holds its slots of concurrency limits unless it is renewed, 1–86,400. Default: 60. */
  ttlSecs?: number | null | undefined;
};

/** What happens when a budget is used up. */
export type BudgetEnforcement =
  /** Alerts, and selections do not recommend the labels of the budget. Costs are still recorded. */
  | 'ADVISORY'
  /** Alerts only. Selections ignore the budget. */
  | 'ALERT'
  /** The same as ADVISORY, and `admit` reserves the estimated cost before a call, so that settled and reserved costs together never exceed the budget, except for overruns. Takes effect on a coming day, and is ADVISORY until then. Not for a budget of a dimension value. At most 2 HARD budgets may apply to one cost. */
  | 'HARD';

/** How long a budget lasts, in local days of the org. */
export type BudgetPeriod =
  /** One local day. */
  | 'DAY'
  /** A calendar month, from the 1st to its last day. */
  | 'MONTH'
  /** Seven local days, from Monday to Sunday. */
  | 'WEEK';

/** A larger amount that is in force until a point in time. */
export type BudgetRaiseInput = {
  /** When the raise ends: in the future, at most 31 days from now. */
  until: string;
  /** The amount that replaces `usdMicros` until the raise ends, in micro-dollars. At least `usdMicros`, at most 10^15. */
  usdMicros: number;
};

/** A window of the calendar of the org, in its time zone. All tokens of the limit come back when the window ends. */
export type CalendarWindow =
  /** Until the end of the local day. */
  | 'DAY'
  /** Until the end of the local month. */
  | 'MONTH'
  /** Until the end of the local ISO week, which begins on Monday. */
  | 'WEEK';

/** The outcome of the model call. It is stored with the cost and does not change how the cost counts. */
export type CallStatus =
  /** The call failed. Its cost counts too. */
  | 'ERROR'
  /** The call succeeded. */
  | 'OK';

/** What a client may do within its org or app. */
export type ClientRole =
  /** Queries, subscriptions and mutations. */
  | 'FULL'
  /** Queries and subscriptions, and issuing, refreshing and revoking its own tokens. Other mutations are FORBIDDEN. */
  | 'READ';

/** An amount of one limit. */
export type ConsumeInput = {
  /** Whole tokens, up to 10^15. Negative only in `adjust`, where it gives tokens back. */
  amount: number;
  /** The name of the limit. */
  limit: string;
};

/** A correction of one recorded cost. */
export type CorrectCostInput = {
  /** The app that submitted the cost. */
  appId: string;
  /** Idempotency key, unique within its cost. The same id counts once: a retry with the same payload returns the first correction, a retry with another payload fails with IDEMPOTENCY_CONFLICT. */
  correctionId: string;
  /** Micro-dollars to add to the cost, -10^12 to 10^12 and not 0. Negative for a credit, which can be at most the cost with its earlier corrections. */
  deltaUsdMicros: number;
  /** The org. Required for the platform admin. Default: the org of the caller. */
  orgId?: string | null | undefined;
  /** Why the cost is corrected, 1–500 characters. */
  reason: string;
  /** The `requestId` of the cost. */
  requestId: string;
};

/** The properties of a new API key. */
export type CreateApiKeyInput = {
  /** A note for people, 1–256 characters. */
  description?: string | null | undefined;
  /** Binds the key to the device with this MAC address. The key may then serve this device, whoever owned it, and no other. */
  hardwareId?: string | null | undefined;
  /** The org. Required if the caller is the platform admin. Default: the caller's own org. */
  orgId?: string | null | undefined;
  /** An active key that the new one replaces. Both serve the same devices until one is revoked, so that a fleet can change keys device by device. */
  replaces?: string | null | undefined;
};

/** A client to create. An org, and each of its apps, may have up to 20. */
export type CreateClientInput = {
  /** The app that the client acts for. Omit for a client of the org itself. */
  appId?: string | null | undefined;
  /** The caller's own current secret. Required if an org client creates a client of the org itself. */
  currentSecret?: string | null | undefined;
  /** What the client is for, 1–128 characters. */
  name: string;
  /** The org. Required if the caller is the platform admin. Default: the caller's own org. */
  orgId?: string | null | undefined;
  /** What the client may do. */
  role?: ClientRole;
};

/** An entity to create. */
export type CreateEntityInput = {
  /** If true, each acquire for this entity also takes from its parent. */
  cascade?: boolean;
  /** The entity: 1–256 of A-Z a-z 0-9 _ . - : @, first a letter or digit. Unique within the org. */
  entityId: string;
  /** Up to 32 pairs. */
  metadata?: Array<MetadataInput>;
  /** Display name. */
  name?: string | null | undefined;
  /** The org. Required for an admin; a client of an org may leave it out or name its own org. */
  orgId?: string | null | undefined;
  /** The parent, which must exist. */
  parentId?: string | null | undefined;
};

/** The level whose limits are deleted. */
export type DeleteLimitsInput = {
  /** The entity. Required at levels ENTITY_DEFAULT and ENTITY; leave it out at the others. */
  entityId?: string | null | undefined;
  /** Makes the change only if this is the current `version`. Otherwise nothing is changed, and VERSION_CONFLICT has the `currentVersion`. Default: any version. 0 means that it must not exist. */
  expectedVersion?: number | null | undefined;
  /** The level to delete. */
  level: LimitLevel;
  /** The org. Required for an admin; a client of an org may leave it out or name its own org. */
  orgId?: string | null | undefined;
  /** The resource. Required at levels RESOURCE and ENTITY; leave it out at the others. */
  resource?: string | null | undefined;
};

/** The order of a list of devices. */
export type DeviceOrder =
  /** By MAC address. Activity does not move a device, so the pages together have every device once. */
  | 'HARDWARE_ID'
  /** Most recently seen first. A device that is seen while you page moves to the front, so a listing may miss it. */
  | 'LAST_SEEN';

/** A value that a cost counts under, beside its app and label. */
export type DimensionInput = {
  /** A name of `Org.dimensions`. */
  name: string;
  /** 1–128 characters without # and control characters, for example the id of a user. Beyond about 10,000 different values per day, new ones count as `other`. */
  value: string;
};

/** A limit to set, or to send with an acquire. */
export type LimitInput = {
  /** Maximum number of tokens that the bucket holds. At least `capacity`. Default: `capacity`. */
  burst?: number | null | undefined;
  /** Tokens that the limit sustains per refill period, 1–10^15. */
  capacity: number;
  /** If false, the limit refuses nothing: an acquire that fits is charged, others count as `wouldRefuse`. */
  enforce?: boolean;
  /** The quantity that the limit counts. With CONCURRENCY the capacity is 1–100, and there is no burst, refill or window. */
  kind?: LimitKind;
  /** 1–64 of A-Z a-z 0-9 _ . -, first a letter. Unique among the limits of a level. */
  name: string;
  /** Tokens that come back per refill period, 1–10^15. Default: `capacity`. */
  refillAmount?: number | null | undefined;
  /** Length of the refill period in seconds, 1–10^9. */
  refillPeriodSecs?: number;
  /** Makes it a calendar limit: `capacity` tokens per window, all of which come back when the window ends. It has no burst or refill then. */
  window?: CalendarWindow | null | undefined;
};

/** The quantity that a limit counts. */
export type LimitKind =
  /** Leases held at the same time. An acquire takes 0 or 1; a release or the end of `ttlSecs` frees it. */
  | 'CONCURRENCY'
  /** Tokens taken over time. */
  | 'RATE';

/** The place where limits are set, from the weakest to the strongest. The strongest level that has any limits applies; levels are not merged. */
export type LimitLevel =
  /** One entity, for one resource. */
  | 'ENTITY'
  /** One entity, for all resources. */
  | 'ENTITY_DEFAULT'
  /** All entities, for one resource. */
  | 'RESOURCE'
  /** All entities and resources of the org. */
  | 'SYSTEM';

/** A name and a value to store with an entity. */
export type MetadataInput = {
  /** The name. Unique within an entity. */
  name: string;
  /** The value. */
  value: string;
};

/** The daily quota of one model label. */
export type ModelQuotaInput = {
  /** The quota per local day in micro-dollars, 0 to 10^15. */
  dailyUsdMicros: number;
  /** What the quota does when it is used up. A change takes effect on the next local day, or on the day after it if that day begins in less than 310 seconds; for an org or app that is being registered, at once. Absent or null: unchanged, and ADVISORY for a new quota. */
  enforcement?: QuotaEnforcement | null | undefined;
  /** The model label, as in `models`. */
  label: string;
};

/** The behavior of an acquire while the database is unavailable. */
export type OnUnavailable =
  /** Grants a lease with `degraded: true`, which takes nothing. */
  | 'ALLOW'
  /** Fails with SERVICE_UNAVAILABLE. */
  | 'BLOCK';

/** The label that a scope uses for the rest of its day. */
export type OverrideModelInput = {
  /** The app. Required under quotaScope APP. Under quotaScope ORG the override applies to all apps. */
  appId?: string | null | undefined;
  /** A label of the model ordering. Null clears the override and the fallback of the day. Required: send null explicitly to clear. */
  label?: string | null | undefined;
  /** The org. Required for the platform admin. Default: the org of the caller. */
  orgId?: string | null | undefined;
};

/** The price of one part of the usage of a call. */
export type PriceEntryInput = {
  /** The price applies to calls with more than this many tokens of input, those from and to a cache included. It then applies to the whole quantity. 0 is the base price. 0 to 10^12. */
  above?: number;
  /** What is priced: `input` or `output` for the tokens of a call, or the name of a component such as `cacheRead`. 1–32 letters, digits or `_`, beginning with a lower-case letter. */
  name: string;
  /** Micro-dollars per million tokens, or per million units of the component. 0 to 10^15. */
  usdMicrosPer1M: number;
};

/** Where a price or cost comes from. The first of these that has a price in force decides: ORG_OVERRIDE, CATALOG, PRICING_CACHE, CONFIG_DEFAULT. */
export type PriceSource =
  /** A price that `upsertModel` has set. */
  | 'CATALOG'
  /** The default price in the configuration of the platform, because no price list has had a price for this model. */
  | 'CONFIG_DEFAULT'
  /** A price that `setOrgPrice` has set for the org. */
  | 'ORG_OVERRIDE'
  /** The price list that the platform fetches: the price of the day, or the last one known before it. */
  | 'PRICING_CACHE'
  /** The caller submitted the cost itself. */
  | 'SUBMITTED';

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

/** What a quota does when it is used up. */
export type QuotaEnforcement =
  /** Selections and `admit` fall back to the next label. Calls in flight may overshoot it. */
  | 'ADVISORY'
  /** `admit` reserves the estimated cost before the call, so that settled and reserved costs together never exceed the quota, except for overruns. */
  | 'HARD';

/** What the daily quotas of an org apply to. */
export type QuotaScope =
  /** Each app has the quotas to itself. */
  | 'APP'
  /** One set of quotas that all apps of the org share. */
  | 'ORG';

/** An app to register. A setting that is absent or null is inherited from the org. */
export type RegisterAppInput = {
  /** The id of the app within its org: 1–64 characters of a-z 0-9 . _ - that begin with a letter or digit. */
  appId: string;
  /** The fallback chain of model labels. The first label whose quota is not used up is selected. */
  modelOrdering?: Array<string> | null | undefined;
  /** The name of the app, 1–128 characters. */
  name: string;
  /** The org. Required if the caller is the platform admin. Default: the caller's own org. */
  orgId?: string | null | undefined;
  /** The daily quota of each label, in micro-dollars. Replaces all of them. */
  quotas?: Array<ModelQuotaInput> | null | undefined;
  /** Seconds, 1–86400, after which to query the model selection again in mode NORMAL. */
  refreshIntervalNormalSecs?: number | null | undefined;
  /** Seconds, 1–86400, after which to query the model selection again in mode TIGHT. */
  refreshIntervalTightSecs?: number | null | undefined;
  /** Percentage of a quota, 1–100, from which the mode is TIGHT. */
  tightModeThresholdPct?: number | null | undefined;
};

/** An org to register. */
export type RegisterOrgInput = {
  /** Whether app clients of the org may send `limits` with `acquire`. Org clients and the admin always may. */
  appsMayBringLimits?: boolean;
  /** Whether costs are also counted per app, for `spendBreakdown`. Adds 2 write units to a cost that is recorded alone. Has no effect under quotaScope APP, where they always are. A change applies to later costs. */
  attributeApps?: boolean;
  /** Up to 2 names under which a cost may carry a value, for example `user` or `feature`, each 1–32 characters of a-z 0-9 _. `spendBreakdown` lists the values. Each adds 2 write units to a cost that is recorded alone. */
  dimensions?: Array<string>;
  /** Whether the costs of the org can be listed (`costs`). Adds 1 write unit to each cost. A change applies to later costs. */
  ledger?: boolean;
  /** The largest share of a HARD quota or budget that one `admit` may reserve, in percent, 1–100. A larger estimate is denied. */
  maxReservationPct?: number;
  /** The fallback chain of model labels. The first label whose quota is not used up is selected. */
  modelOrdering: Array<string>;
  /** The name of the org, 1–128 characters. */
  name: string;
  /** Default: a random UUID. Choose one to make a retry safe: it cannot register a second org. */
  orgId?: string | null | undefined;
  /** What the quotas apply to. It cannot be changed later. */
  quotaScope: QuotaScope;
  /** The daily quota of each label, in micro-dollars. Each label of the chain needs one. */
  quotas: Array<ModelQuotaInput>;
  /** Seconds, 1–86400, after which to query the model selection again in mode NORMAL. */
  refreshIntervalNormalSecs?: number;
  /** Seconds, 1–86400, after which to query the model selection again in mode TIGHT. */
  refreshIntervalTightSecs?: number;
  /** 8, 16, 32 or 64: how many counters the writes of one scope are spread over. It cannot be changed later. */
  shardCount?: number;
  /** Whether a scope that has fallen back to the next label stays there for the rest of the day. */
  stickyFallbackEnabled?: boolean;
  /** Percentage of a quota, 1–100, from which the mode is TIGHT. */
  tightModeThresholdPct?: number;
  /** The IANA time zone that the days of the org follow. */
  timezone: string;
};

/** The client that gets a new secret. Default: the caller itself, or the first client of the org for an admin. */
export type RotateCredentialsInput = {
  /** Rotate the first client of this app. */
  appId?: string | null | undefined;
  /** Rotate this client, for instance one from `Org.clients` or `App.clients`. */
  clientId?: string | null | undefined;
  /** The caller's own current secret. Required if a client rotates itself, or if an org client rotates another client of the org. Not needed by an org client for an app, or by an admin. */
  currentSecret?: string | null | undefined;
  /** Hours, 0–168, that the old secret works beside the new one. Sessions of the old secret end with it. With 0, the old secret and all its tokens end when the new secret is retrieved. Default 24. */
  graceHours?: number;
  /** The org. Required if the caller is the platform admin. Default: the caller's own org. */
  orgId?: string | null | undefined;
};

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

/** The health of a sensor, as the device reports it. */
export type SensorHealth =
  /** The sensor failed or is missing. */
  | 'ERROR'
  /** The sensor works. */
  | 'OK';

/** A value that a sensor measures. */
export type SensorMetric =
  /** Temperature of the BME280 in °C, -40 to 85. */
  | 'BME280_TEMP_C'
  /** Temperature of the DS18B20 in °C, -55 to 125. */
  | 'DS18B20_TEMP_C'
  /** Relative humidity in %, 0 to 100. */
  | 'HUMIDITY_PCT'
  /** Air pressure in hPa, 300 to 1100. */
  | 'PRESSURE_HPA'
  /** Soil moisture in %, 0 to 100. */
  | 'SOIL_MOISTURE_PCT';

/** A budget to create or to replace. It replaces all settings: absent ones are not kept. */
export type SetBudgetInput = {
  /** A budget of an app counts the costs of the app, a budget without one the costs of the whole org. Under quotaScope ORG, a budget of an app needs `attributeApps`. */
  appId?: string | null | undefined;
  /** Counts only costs with this value of a dimension. Selections ignore such a budget. Not with `appId` or `label`. */
  dimension?: DimensionInput | null | undefined;
  /** What happens when the budget is used up. A change from or to HARD takes effect on the next local day, or on the day after it if that day begins in less than 310 seconds. */
  enforcement?: BudgetEnforcement;
  /** Makes the change only if this is the current `version`. Otherwise nothing is changed, and VERSION_CONFLICT has the `currentVersion`. Default: any version. 0 means that it must not exist. */
  expectedVersion?: number | null | undefined;
  /** Counts only this label. Null: all labels. The day of one label has a quota instead of a budget. Not with `period: DAY`. */
  label?: string | null | undefined;
  /** The name of the budget, unique within its org: 1–64 characters of a-z 0-9 . _ - that begin with a letter or digit. An org has at most 50 budgets. */
  name: string;
  /** The org. Required if the caller is the platform admin. Default: the caller's own org. */
  orgId?: string | null | undefined;
  /** How long the budget lasts. */
  period: BudgetPeriod;
  /** A larger amount for a limited time. A raise makes a new version, so its thresholds alert again. */
  raise?: BudgetRaiseInput | null | undefined;
  /** Percentages of the budget that raise an alert. 100 always does. Up to 10 ascending whole numbers from 1 to 100. */
  thresholdsPct?: Array<number>;
  /** The amount per period in micro-dollars, 1 to 10^15. */
  usdMicros: number;
};

/** The limits of one level, which replace all limits of that level. */
export type SetLimitsInput = {
  /** The entity. Required at levels ENTITY_DEFAULT and ENTITY; leave it out at the others. */
  entityId?: string | null | undefined;
  /** Makes the change only if this is the current `version`. Otherwise nothing is changed, and VERSION_CONFLICT has the `currentVersion`. Default: any version. 0 means that it must not exist. */
  expectedVersion?: number | null | undefined;
  /** The level to set. */
  level: LimitLevel;
  /** 1–10 limits. They replace all limits of the level. */
  limits: Array<LimitInput>;
  /** The behavior of an acquire while the database is unavailable. Allowed at level SYSTEM only. Default: BLOCK. */
  onUnavailable?: OnUnavailable | null | undefined;
  /** The org. Required for an admin; a client of an org may leave it out or name its own org. */
  orgId?: string | null | undefined;
  /** The resource. Required at levels RESOURCE and ENTITY; leave it out at the others. */
  resource?: string | null | undefined;
};

/** A price that an org has instead of the one of the catalog. */
export type SetOrgPriceInput = {
  /** When the price takes effect: at most 35 days in the past and 365 days ahead. Costs that are already recorded keep their price. Default: now. */
  effectiveFrom?: string | null | undefined;
  /** Makes the change only if this is the current `version`. Otherwise nothing is changed, and VERSION_CONFLICT has the `currentVersion`. Default: any version. 0 means that it must not exist. */
  expectedVersion?: number | null | undefined;
  /** The label of a model. */
  label: string;
  /** The org. */
  orgId: string;
  /** The price, 1–64 entries. It replaces the whole price of the label. Null or empty: from then on, the org has the price of the catalog. */
  prices?: Array<PriceEntryInput> | null | undefined;
};

/** Why a selection skipped a label without checking its quota. */
export type SkipReason =
  /** The configuration of this gateway has no model for the label. It was removed, or is still being rolled out. */
  | 'UNKNOWN_LABEL';

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

/** The measure by which the top entities are ranked. */
export type TopEntitiesBy =
  /** Tokens taken, minus tokens given back. */
  | 'CONSUMED'
  /** Acquires that the limit refused. */
  | 'REFUSED';

/** Tokens to give to a bucket. */
export type TopUpInput = {
  /** Whole tokens, 1–10^15. Tokens above the burst are lost. */
  amount: number;
  /** The id of the entity. */
  entityId: string;
  /** The name of the limit. A concurrency limit is not allowed. */
  limit: string;
  /** Makes a retry safe: the same id is applied once within 24 hours. With another input it is an IDEMPOTENCY_CONFLICT. */
  operationId: string;
  /** The org. Required for an admin; a client of an org may leave it out or name its own org. */
  orgId?: string | null | undefined;
  /** The name of the resource. */
  resource: string;
};

/** Changes of an app. An absent setting stays unchanged. With null, the app inherits the setting from its org. */
export type UpdateAppInput = {
  /** The app to change. */
  appId: string;
  /** Makes the change only if this is the current `version`. Otherwise nothing is changed, and VERSION_CONFLICT has the `currentVersion`. Default: any version. */
  expectedVersion?: number | null | undefined;
  /** The fallback chain of model labels. The first label whose quota is not used up is selected. */
  modelOrdering?: Array<string> | null | undefined;
  /** The name of the app, 1–128 characters. Null leaves it unchanged. */
  name?: string | null | undefined;
  /** The org. Required if the caller is the platform admin. Default: the caller's own org. */
  orgId?: string | null | undefined;
  /** The daily quota of each label, in micro-dollars. Replaces all of them. */
  quotas?: Array<ModelQuotaInput> | null | undefined;
  /** Seconds, 1–86400, after which to query the model selection again in mode NORMAL. */
  refreshIntervalNormalSecs?: number | null | undefined;
  /** Seconds, 1–86400, after which to query the model selection again in mode TIGHT. */
  refreshIntervalTightSecs?: number | null | undefined;
  /** Percentage of a quota, 1–100, from which the mode is TIGHT. */
  tightModeThresholdPct?: number | null | undefined;
};

/** Changes of an entity. An absent field stays unchanged. */
export type UpdateEntityInput = {
  /** If true, each acquire for this entity also takes from its parent. Null leaves it unchanged. */
  cascade?: boolean | null | undefined;
  /** The entity, which must have been created. */
  entityId: string;
  /** Up to 32 pairs. Replaces all of them. Null leaves them unchanged. */
  metadata?: Array<MetadataInput> | null | undefined;
  /** Display name. Null removes it. */
  name?: string | null | undefined;
  /** The org. Required for an admin; a client of an org may leave it out or name its own org. */
  orgId?: string | null | undefined;
  /** The parent, which must exist. Null removes it. */
  parentId?: string | null | undefined;
};

/** Changes of an org. A setting that is absent or null stays unchanged. */
export type UpdateOrgInput = {
  /** Whether app clients of the org may send `limits` with `acquire`. Org clients and the admin always may. */
  appsMayBringLimits?: boolean | null | undefined;
  /** Whether costs are also counted per app, for `spendBreakdown`. Adds 2 write units to a cost that is recorded alone. Has no effect under quotaScope APP, where they always are. A change applies to later costs. */
  attributeApps?: boolean | null | undefined;
  /** Up to 2 names under which a cost may carry a value, for example `user` or `feature`, each 1–32 characters of a-z 0-9 _. `spendBreakdown` lists the values. Each adds 2 write units to a cost that is recorded alone. Replaces all of them. */
  dimensions?: Array<string> | null | undefined;
  /** Makes the change only if this is the current `version`. Otherwise nothing is changed, and VERSION_CONFLICT has the `currentVersion`. Default: any version. */
  expectedVersion?: number | null | undefined;
  /** Whether the costs of the org can be listed (`costs`). Adds 1 write unit to each cost. A change applies to later costs. */
  ledger?: boolean | null | undefined;
  /** The largest share of a HARD quota or budget that one `admit` may reserve, in percent, 1–100. A larger estimate is denied. */
  maxReservationPct?: number | null | undefined;
  /** The fallback chain of model labels. The first label whose quota is not used up is selected. */
  modelOrdering?: Array<string> | null | undefined;
  /** The name of the org, 1–128 characters. */
  name?: string | null | undefined;
  /** The org. Required if the caller is the platform admin. Default: the caller's own org. */
  orgId?: string | null | undefined;
  /** The daily quota of each label, in micro-dollars. Replaces all of them. */
  quotas?: Array<ModelQuotaInput> | null | undefined;
  /** Seconds, 1–86400, after which to query the model selection again in mode NORMAL. */
  refreshIntervalNormalSecs?: number | null | undefined;
  /** Seconds, 1–86400, after which to query the model selection again in mode TIGHT. */
  refreshIntervalTightSecs?: number | null | undefined;
  /** Whether a scope that has fallen back to the next label stays there for the rest of the day. */
  stickyFallbackEnabled?: boolean | null | undefined;
  /** Percentage of a quota, 1–100, from which the mode is TIGHT. */
  tightModeThresholdPct?: number | null | undefined;
  /** Takes effect at the end of the current local day. */
  timezone?: string | null | undefined;
};

/** A model to add or change. A field that is absent or null stays unchanged. */
export type UpsertModelInput = {
  /** A description for people. 1–500 characters. */
  description?: string | null | undefined;
  /** When the price takes effect: at most 35 days in the past and 365 days ahead. Costs that are already recorded keep their price. Default: now. Needs `prices`. */
  effectiveFrom?: string | null | undefined;
  /** Makes the change only if this is the current `version`. Otherwise nothing is changed, and VERSION_CONFLICT has the `currentVersion`. Default: any version. 0 means that it must not exist. */
  expectedVersion?: number | null | undefined;
  /** The model family it belongs to. 1–64 characters. */
  family?: string | null | undefined;
  /** The label: 1–64 of `a-z 0-9 . _ -`, beginning with a letter or digit. The catalog has at most 500. */
  label: string;
  /** The id of the model at its provider, such as a Bedrock model id, an inference profile or an ARN. 1–256 characters without control characters. The price list is keyed by it. */
  modelId: string;
  /** The price, 1–64 entries. It applies before a price of the price list. Null or absent: unchanged. Empty: from then on, the price list or the default of `config.yaml` applies again. */
  prices?: Array<PriceEntryInput> | null | undefined;
  /** The provider of the model, such as `bedrock` or `openai`. 1–64 characters. */
  provider?: string | null | undefined;
  /** The tier that the platform assigns to it, such as `premium`. 1–64 characters. */
  tier?: string | null | undefined;
};

/** The length of a window of time. Windows begin at full hours, days and months of UTC. */
export type UsageWindow =
  /** One day. */
  | 'DAILY'
  /** One hour. */
  | 'HOURLY'
  /** One month. */
  | 'MONTHLY';

export type AlertRowFragment = { id: string, kind: QuotaAlertKind, appId: string | null, label: string, activeLabel: string | null, day: string, costUsdMicros: number, quotaUsdMicros: number, quotaPct: number, thresholdPct: number, budget: string | null, raisedAt: string };

export type AlertsQueryVariables = Exact<{
  orgId: string;
  after?: string | null | undefined;
}>;


export type AlertsQuery = { org: { alerts: { nodes: Array<{ id: string, kind: QuotaAlertKind, appId: string | null, label: string, activeLabel: string | null, day: string, costUsdMicros: number, quotaUsdMicros: number, quotaPct: number, thresholdPct: number, budget: string | null, raisedAt: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type AppAlertsQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type AppAlertsQuery = { me: { app: { alerts: { nodes: Array<{ id: string, kind: QuotaAlertKind, appId: string | null, label: string, activeLabel: string | null, day: string, costUsdMicros: number, quotaUsdMicros: number, quotaPct: number, thresholdPct: number, budget: string | null, raisedAt: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null } };

export type AppsQueryVariables = Exact<{
  orgId: string;
  after?: string | null | undefined;
}>;


export type AppsQuery = { org: { apps: { nodes: Array<{ appId: string, name: string, suspendedAt: string | null, updatedAt: string, inheritedFields: Array<string>, spend: { costUsdMicros: number, requests: number, mode: SpendMode }, modelSelection: { label: string | null, reason: SelectionReason } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type RegisterAppMutationVariables = Exact<{
  input: RegisterAppInput;
}>;


export type RegisterAppMutation = { registerApp: { app: { appId: string }, secretRetrieval: { token: string, expiresAt: string } } | null };

export type AppPageQueryVariables = Exact<{
  orgId: string;
  appId: string;
  from: string;
  to: string;
  isOrg: boolean;
}>;


export type AppPageQuery = { org: { app: { suspendedAt: string | null, createdAt: string, updatedAt: string, appId: string, name: string, modelOrdering: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, inheritedFields: Array<string>, version: number, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null }, clients?: Array<{ clientId: string, name: string, role: ClientRole, lastLoginAt: string | null }>, modelSelection: { allowed: boolean, label: string | null, reason: SelectionReason, mode: SpendMode, recheckAfterSecs: number, chain: Array<{ label: string, bedrockModelId: string | null, costUsdMicros: number, requests: number, quotaUsdMicros: number | null, quotaPct: number | null, mode: SpendMode, asOf: string | null }>, skipped: Array<{ label: string, reason: SkipReason }> }, spendHistory: Array<{ day: string, costUsdMicros: number, requests: number, mode: SpendMode }>, alerts: { nodes: Array<{ id: string, kind: QuotaAlertKind, appId: string | null, label: string, activeLabel: string | null, quotaPct: number, thresholdPct: number, budget: string | null, raisedAt: string }> }, quotas: Array<{ label: string, dailyUsdMicros: number, enforcement: QuotaEnforcement, nextEnforcement: { enforcement: QuotaEnforcement, from: string } | null }> } | null } | null, models: Array<{ label: string, price: { inputUsdMicrosPer1M: number, outputUsdMicrosPer1M: number, source: PriceSource } }> };

export type AppFieldsFragment = { appId: string, name: string, modelOrdering: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, inheritedFields: Array<string>, version: number, quotas: Array<{ label: string, dailyUsdMicros: number, enforcement: QuotaEnforcement, nextEnforcement: { enforcement: QuotaEnforcement, from: string } | null }> };

export type UpdateAppMutationVariables = Exact<{
  input: UpdateAppInput;
}>;


export type UpdateAppMutation = { updateApp: { appId: string, version: number } | null };

export type OverrideModelMutationVariables = Exact<{
  input: OverrideModelInput;
}>;


export type OverrideModelMutation = { overrideModel: { label: string | null, reason: SelectionReason } | null };

export type SuspendAppMutationVariables = Exact<{
  orgId: string;
  appId: string;
}>;


export type SuspendAppMutation = { suspendApp: { appId: string } | null };

export type ResumeAppMutationVariables = Exact<{
  orgId: string;
  appId: string;
}>;


export type ResumeAppMutation = { resumeApp: { appId: string } | null };

export type DeleteAppMutationVariables = Exact<{
  orgId: string;
  appId: string;
}>;


export type DeleteAppMutation = { deleteApp: boolean | null };

export type AuditLineFragment = { id: string, at: string, actor: string, action: string, entityId: string, resource: string | null, address: string | null, requestId: string | null, details: Array<{ name: string, value: string, previousValue: string | null }> };

export type PlatformAuditQueryVariables = Exact<{
  entityId?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type PlatformAuditQuery = { platformAuditEvents: { nodes: Array<{ id: string, at: string, actor: string, action: string, entityId: string, resource: string | null, address: string | null, requestId: string | null, details: Array<{ name: string, value: string, previousValue: string | null }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type AuditQueryVariables = Exact<{
  orgId: string;
  entityId?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type AuditQuery = { org: { auditEvents: { nodes: Array<{ id: string, at: string, actor: string, action: string, entityId: string, resource: string | null, address: string | null, requestId: string | null, details: Array<{ name: string, value: string, previousValue: string | null }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type BudgetLineFragment = { name: string, appId: string | null, label: string | null, period: BudgetPeriod, inForceUsdMicros: number, spentUsdMicros: number, pct: number, resetsAt: string, asOf: string | null, dimension: { name: string, value: string } | null };

export type ProjectionFragment = { burnUsdMicrosPerHour: number, projectedUsdMicros: number, exhaustsAt: string | null, basis: string };

export type BudgetsQueryVariables = Exact<{
  orgId: string;
}>;


export type BudgetsQuery = { org: { budgets: Array<{ usdMicros: number, thresholdsPct: Array<number>, enforcement: BudgetEnforcement, version: number, remainingUsdMicros: number, periodStart: string, periodEnd: string, name: string, appId: string | null, label: string | null, period: BudgetPeriod, inForceUsdMicros: number, spentUsdMicros: number, pct: number, resetsAt: string, asOf: string | null, nextEnforcement: { enforcement: BudgetEnforcement, from: string } | null, raise: { until: string, usdMicros: number } | null, forecast: { burnUsdMicrosPerHour: number, projectedUsdMicros: number, exhaustsAt: string | null, basis: string } | null, dimension: { name: string, value: string } | null }>, apps: { nodes: Array<{ appId: string, name: string }> } } | null };

export type SetBudgetMutationVariables = Exact<{
  input: SetBudgetInput;
}>;


export type SetBudgetMutation = { setBudget: { version: number } | null };

export type DeleteBudgetMutationVariables = Exact<{
  orgId: string;
  name: string;
  expectedVersion: number;
}>;


export type DeleteBudgetMutation = { deleteBudget: boolean | null };

export type CallLineFragment = { requestId: string, appId: string, label: string, occurredAt: string, inputTokens: number, outputTokens: number, costUsdMicros: number, correctedUsdMicros: number, status: CallStatus, estimated: boolean, dimensions: Array<{ name: string, value: string }> };

export type CallsQueryVariables = Exact<{
  orgId: string;
  from: string;
  to: string;
  label?: string | null | undefined;
  appId?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type CallsQuery = { org: { costs: { nodes: Array<{ requestId: string, appId: string, label: string, occurredAt: string, inputTokens: number, outputTokens: number, costUsdMicros: number, correctedUsdMicros: number, status: CallStatus, estimated: boolean, dimensions: Array<{ name: string, value: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type CallAppsQueryVariables = Exact<{
  orgId: string;
}>;


export type CallAppsQuery = { org: { apps: { nodes: Array<{ appId: string, name: string }> } } | null };

export type CallQueryVariables = Exact<{
  orgId: string;
  appId: string;
  requestId: string;
}>;


export type CallQuery = { org: { cost: { day: string, receivedAt: string, priceSource: PriceSource, requestId: string, appId: string, label: string, occurredAt: string, inputTokens: number, outputTokens: number, costUsdMicros: number, correctedUsdMicros: number, status: CallStatus, estimated: boolean, components: Array<{ name: string, quantity: number }>, lines: Array<{ name: string, quantity: number, usdMicrosPer1M: number, costUsdMicros: number }>, corrections: Array<{ correctionId: string, deltaUsdMicros: number, reason: string, correctedAt: string }>, dimensions: Array<{ name: string, value: string }> } | null } | null };

export type CorrectCostMutationVariables = Exact<{
  input: CorrectCostInput;
}>;


export type CorrectCostMutation = { correctCost: { replayed: boolean } | null };

export type SwitchLedgerMutationVariables = Exact<{
  orgId: string;
}>;


export type SwitchLedgerMutation = { updateOrg: { orgId: string } | null };

export type SensorValuesFragment = { bme280TempC: number | null, ds18b20TempC: number | null, humidityPct: number | null, pressureHpa: number | null, soilMoisturePct: number | null };

export type DevicesQueryVariables = Exact<{
  orgId: string;
  orderBy: DeviceOrder;
  after?: string | null | undefined;
}>;


export type DevicesQuery = { org: { deviceCount: number, devices: { nodes: Array<{ hardwareId: string, friendlyName: string | null, firmwareVersion: string, lastSeenAt: string, latestReading: { timestampMs: number, sensors: { bme280TempC: number | null, ds18b20TempC: number | null, humidityPct: number | null, pressureHpa: number | null, soilMoisturePct: number | null }, sensorStatus: { bme280: SensorHealth | null, ds18b20: SensorHealth | null, soilMoisture: SensorHealth | null } } | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type ReadingLineFragment = { id: string, timestampMs: number, firmwareVersion: string, sensors: { bme280TempC: number | null, ds18b20TempC: number | null, humidityPct: number | null, pressureHpa: number | null, soilMoisturePct: number | null }, sensorStatus: { bme280: SensorHealth | null, ds18b20: SensorHealth | null, soilMoisture: SensorHealth | null } };

export type DevicePageQueryVariables = Exact<{
  orgId: string;
  hardwareId: string;
  metric: SensorMetric;
  from: string;
  to: string;
  stepSecs: number;
}>;


export type DevicePageQuery = { org: { device: { hardwareId: string, friendlyName: string | null, firmwareVersion: string, confirmationId: string, ownerKeyId: string | null, firstRegisteredAt: string, lastSeenAt: string, lastBootId: string, capabilities: { sensors: Array<string>, features: Array<{ name: string, enabled: boolean }> }, readings: { nodes: Array<{ id: string, timestampMs: number, firmwareVersion: string, sensors: { bme280TempC: number | null, ds18b20TempC: number | null, humidityPct: number | null, pressureHpa: number | null, soilMoisturePct: number | null }, sensorStatus: { bme280: SensorHealth | null, ds18b20: SensorHealth | null, soilMoisture: SensorHealth | null } }> }, series: Array<{ at: string, count: number, min: number | null, max: number | null, mean: number | null }> } | null } | null };

export type LiveReadingsSubscriptionVariables = Exact<{
  orgId: string;
  hardwareId: string;
  after?: string | null | undefined;
}>;


export type LiveReadingsSubscription = { readings: { cursor: string | null, gap: boolean, id: string, timestampMs: number, firmwareVersion: string, sensors: { bme280TempC: number | null, ds18b20TempC: number | null, humidityPct: number | null, pressureHpa: number | null, soilMoisturePct: number | null }, sensorStatus: { bme280: SensorHealth | null, ds18b20: SensorHealth | null, soilMoisture: SensorHealth | null } } };

export type RenameDeviceMutationVariables = Exact<{
  orgId: string;
  hardwareId: string;
  friendlyName?: string | null | undefined;
}>;


export type RenameDeviceMutation = { renameDevice: { hardwareId: string } | null };

export type AssignDeviceMutationVariables = Exact<{
  orgId: string;
  hardwareId: string;
  keyId?: string | null | undefined;
}>;


export type AssignDeviceMutation = { assignDevice: { hardwareId: string } | null };

export type DeleteDeviceMutationVariables = Exact<{
  orgId: string;
  hardwareId: string;
}>;


export type DeleteDeviceMutation = { deleteDevice: boolean | null };

export type KeysQueryVariables = Exact<{
  orgId: string;
  after?: string | null | undefined;
}>;


export type KeysQuery = { org: { apiKeys: { nodes: Array<{ keyId: string, description: string | null, hardwareId: string | null, ownerId: string, active: boolean, createdAt: string, lastUsedAt: string | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type ClientsQueryVariables = Exact<{
  orgId: string;
}>;


export type ClientsQuery = { org: { credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null }, clients: Array<{ clientId: string, name: string, role: ClientRole, createdAt: string, lastLoginAt: string | null, credentials: { secretCreatedAt: string | null } }>, apps: { nodes: Array<{ appId: string, name: string }> } } | null };

export type CreateApiKeyMutationVariables = Exact<{
  input: CreateApiKeyInput;
}>;


export type CreateApiKeyMutation = { createApiKey: { secret: string, apiKey: { keyId: string } } | null };

export type RevokeApiKeyMutationVariables = Exact<{
  orgId: string;
  keyId: string;
}>;


export type RevokeApiKeyMutation = { revokeApiKey: { keyId: string } | null };

export type CreateClientMutationVariables = Exact<{
  input: CreateClientInput;
}>;


export type CreateClientMutation = { createClient: { client: { clientId: string }, secretRetrieval: { token: string, expiresAt: string } } | null };

export type DeleteClientMutationVariables = Exact<{
  orgId: string;
  clientId: string;
}>;


export type DeleteClientMutation = { deleteClient: boolean | null };

export type EntityPageQueryVariables = Exact<{
  orgId: string;
  entityId: string;
}>;


export type EntityPageQuery = { org: { entity: { entityId: string, name: string | null, cascade: boolean, createdAt: string | null, deletedAt: string | null, metadata: Array<{ name: string, value: string }>, parent: { entityId: string, name: string | null } | null, children: { nodes: Array<{ entityId: string, name: string | null, cascade: boolean, createdAt: string | null }>, pageInfo: { hasNextPage: boolean } }, buckets: Array<{ resource: string, shardCount: number, limits: Array<{ available: number, totalConsumed: number, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number, kind: LimitKind, window: CalendarWindow | null, enforce: boolean } }> }> } | null, entityDefault: { level: LimitLevel, resource: string | null, entityId: string | null, onUnavailable: OnUnavailable | null, version: number, limits: Array<{ name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number, kind: LimitKind, window: CalendarWindow | null, enforce: boolean }> } | null, limitConfigs: Array<{ resource: string | null }> } | null };

export type EntityResourceQueryVariables = Exact<{
  orgId: string;
  entityId: string;
  resource: string;
  window: UsageWindow;
  from: string;
}>;


export type EntityResourceQuery = { org: { entity: { effectiveLimits: { source: LimitLevel | null, limits: Array<{ name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number, kind: LimitKind, window: CalendarWindow | null, enforce: boolean }> }, usage: { nodes: Array<{ windowStart: string, totalEvents: number, counters: Array<{ limit: string, consumed: number, refused: number }> }> } } | null, own: { level: LimitLevel, resource: string | null, entityId: string | null, onUnavailable: OnUnavailable | null, version: number, limits: Array<{ name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number, kind: LimitKind, window: CalendarWindow | null, enforce: boolean }> } | null } | null };

export type UpdateEntityMutationVariables = Exact<{
  input: UpdateEntityInput;
}>;


export type UpdateEntityMutation = { updateEntity: { entityId: string } | null };

export type DeleteEntityMutationVariables = Exact<{
  orgId: string;
  entityId: string;
}>;


export type DeleteEntityMutation = { deleteEntity: boolean | null };

export type TopUpMutationVariables = Exact<{
  input: TopUpInput;
}>;


export type TopUpMutation = { topUp: { replayed: boolean, statuses: Array<{ entityId: string, requested: number, available: number, exceeded: boolean, wouldRefuse: boolean, limit: { name: string, burst: number } }> } | null };

export type LimitShapeFragment = { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number, kind: LimitKind, window: CalendarWindow | null, enforce: boolean };

export type ConfigFragment = { level: LimitLevel, resource: string | null, entityId: string | null, onUnavailable: OnUnavailable | null, version: number, limits: Array<{ name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number, kind: LimitKind, window: CalendarWindow | null, enforce: boolean }> };

export type LimitsQueryVariables = Exact<{
  orgId: string;
}>;


export type LimitsQuery = { org: { limitConfigs: Array<{ level: LimitLevel, resource: string | null, entityId: string | null, onUnavailable: OnUnavailable | null, version: number, limits: Array<{ name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number, kind: LimitKind, window: CalendarWindow | null, enforce: boolean }> }>, entities: { nodes: Array<{ entityId: string, name: string | null, cascade: boolean, createdAt: string | null }>, pageInfo: { hasNextPage: boolean } } } | null };

export type ResourceDetailQueryVariables = Exact<{
  orgId: string;
  resource: string;
  limit: string;
  by: TopEntitiesBy;
  window: UsageWindow;
  first: number;
}>;


export type ResourceDetailQuery = { org: { resourceCapacity: { totalCapacity: number, totalAvailable: number, utilizationPct: number, entities: Array<{ entityId: string, capacity: number, available: number, utilizationPct: number }> }, topEntities: { windowStart: string, windowEnd: string, truncated: boolean, entities: Array<{ entityId: string, consumed: number, refused: number }> }, entitiesWithLimits: { nodes: Array<{ entityId: string }>, pageInfo: { hasNextPage: boolean } } } | null };

export type SearchEntitiesQueryVariables = Exact<{
  orgId: string;
  prefix: string;
  after?: string | null | undefined;
}>;


export type SearchEntitiesQuery = { org: { searchEntities: { nodes: Array<{ entityId: string, name: string | null, cascade: boolean, createdAt: string | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type EntityLineFragment = { entityId: string, name: string | null, cascade: boolean, createdAt: string | null };

export type SetLimitsMutationVariables = Exact<{
  input: SetLimitsInput;
}>;


export type SetLimitsMutation = { setLimits: { version: number } | null };

export type DeleteLimitsMutationVariables = Exact<{
  input: DeleteLimitsInput;
}>;


export type DeleteLimitsMutation = { deleteLimits: boolean | null };

export type AvailabilityQueryVariables = Exact<{
  orgId: string;
  entityId: string;
  resource: string;
  consume?: Array<ConsumeInput> | ConsumeInput | null | undefined;
}>;


export type AvailabilityQuery = { availability: { retryAfterSecs: number, statuses: Array<{ entityId: string, requested: number, available: number, exceeded: boolean, wouldRefuse: boolean, limit: { name: string, burst: number } }> } };

export type AcquireMutationVariables = Exact<{
  input: AcquireInput;
}>;


export type AcquireMutation = { acquire:
    | { __typename: 'Lease', leaseId: string, statuses: Array<{ entityId: string, requested: number, available: number, exceeded: boolean, wouldRefuse: boolean, limit: { name: string, burst: number } }> }
    | { __typename: 'RateLimited', message: string, retryAfterSecs: number, statuses: Array<{ entityId: string, requested: number, available: number, exceeded: boolean, wouldRefuse: boolean, limit: { name: string, burst: number } }> }
   | null };

export type ReleaseLeaseMutationVariables = Exact<{
  leaseId: string;
}>;


export type ReleaseLeaseMutation = { releaseLease: { replayed: boolean } | null };

export type StatusFragment = { entityId: string, requested: number, available: number, exceeded: boolean, wouldRefuse: boolean, limit: { name: string, burst: number } };

export type CreateEntityMutationVariables = Exact<{
  input: CreateEntityInput;
}>;


export type CreateEntityMutation = { createEntity: { entityId: string } | null };

export type ModelsQueryVariables = Exact<{
  includeRetired: boolean;
  first: number;
  after?: string | null | undefined;
}>;


export type ModelsQuery = { models: Array<{ label: string, modelId: string, provider: string | null, tier: string | null, family: string | null, description: string | null, version: number, retiredAt: string | null, price: { inputUsdMicrosPer1M: number, outputUsdMicrosPer1M: number, source: PriceSource, fetchedAt: string | null, entries: Array<{ name: string, usdMicrosPer1M: number, above: number }> } }> };

export type UpsertModelMutationVariables = Exact<{
  input: UpsertModelInput;
}>;


export type UpsertModelMutation = { upsertModel: { version: number } | null };

export type RetireModelMutationVariables = Exact<{
  label: string;
  expectedVersion: number;
}>;


export type RetireModelMutation = { retireModel: { version: number } | null };

export type OrgPricesQueryVariables = Exact<{
  orgId: string;
}>;


export type OrgPricesQuery = { org: { prices: Array<{ label: string, changes: Array<{ effectiveFrom: string | null, entries: Array<{ name: string, usdMicrosPer1M: number, above: number }> }> }> } | null };

export type SetOrgPriceMutationVariables = Exact<{
  input: SetOrgPriceInput;
}>;


export type SetOrgPriceMutation = { setOrgPrice: { label: string } | null };

export type OrgsQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type OrgsQuery = { orgs: { nodes: Array<{ orgId: string, name: string, timezone: string, quotaScope: QuotaScope, modelOrdering: Array<string>, suspendedAt: string | null, createdAt: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type RegisterOrgMutationVariables = Exact<{
  input: RegisterOrgInput;
}>;


export type RegisterOrgMutation = { registerOrg: { org: { orgId: string }, secretRetrieval: { token: string, expiresAt: string } } | null };

export type SuspendOrgMutationVariables = Exact<{
  orgId: string;
}>;


export type SuspendOrgMutation = { suspendOrg: { orgId: string } | null };

export type ResumeOrgMutationVariables = Exact<{
  orgId: string;
}>;


export type ResumeOrgMutation = { resumeOrg: { orgId: string } | null };

export type OrgLabelsQueryVariables = Exact<{ [key: string]: never; }>;


export type OrgLabelsQuery = { models: Array<{ label: string }> };

export type OverviewQueryVariables = Exact<{
  orgId: string;
  from: string;
  to: string;
  byApp: boolean;
}>;


export type OverviewQuery = { org: { deviceCount: number, spend: { costUsdMicros: number, requests: number, mode: SpendMode, labels: Array<{ label: string, costUsdMicros: number, quotaUsdMicros: number | null, quotaPct: number | null, mode: SpendMode, asOf: string | null }> }, spendHistory: Array<{ day: string, costUsdMicros: number, requests: number, mode: SpendMode }>, spendBreakdown?: { rows: Array<{ name: string, costUsdMicros: number }> }, apps: { nodes: Array<{ appId: string, name: string, suspendedAt: string | null, spend: { costUsdMicros: number, mode: SpendMode, labels: Array<{ label: string, costUsdMicros: number, quotaUsdMicros: number | null, quotaPct: number | null, mode: SpendMode }> }, modelSelection: { label: string | null, reason: SelectionReason } }>, pageInfo: { hasNextPage: boolean } }, alerts: { nodes: Array<{ id: string, kind: QuotaAlertKind, appId: string | null, label: string, activeLabel: string | null, quotaPct: number, thresholdPct: number, budget: string | null, raisedAt: string }> }, budgets: Array<{ name: string, appId: string | null, label: string | null, period: BudgetPeriod, inForceUsdMicros: number, spentUsdMicros: number, pct: number, resetsAt: string, asOf: string | null, dimension: { name: string, value: string } | null }>, devices: { nodes: Array<{ lastSeenAt: string, firmwareVersion: string }> }, limitConfigs: Array<{ resource: string | null, limits: Array<{ name: string }> }> } | null };

export type AlertLineFragment = { id: string, kind: QuotaAlertKind, appId: string | null, label: string, activeLabel: string | null, quotaPct: number, thresholdPct: number, budget: string | null, raisedAt: string };

export type OverviewDetailQueryVariables = Exact<{
  orgId: string;
  forecast: boolean;
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


export type OverviewDetailQuery = { org: { budgets?: Array<{ name: string, forecast: { burnUsdMicrosPerHour: number, projectedUsdMicros: number, exhaustsAt: string | null, basis: string } | null }>, t0?: { entities: Array<{ entityId: string, consumed: number, refused: number }> }, t1?: { entities: Array<{ entityId: string, consumed: number, refused: number }> }, t2?: { entities: Array<{ entityId: string, consumed: number, refused: number }> }, t3?: { entities: Array<{ entityId: string, consumed: number, refused: number }> }, t4?: { entities: Array<{ entityId: string, consumed: number, refused: number }> }, t5?: { entities: Array<{ entityId: string, consumed: number, refused: number }> } } | null };

export type RefusedFragment = { entities: Array<{ entityId: string, consumed: number, refused: number }> };

export type OrgSettingsQueryVariables = Exact<{
  orgId: string;
}>;


export type OrgSettingsQuery = { org: { timezoneEffectiveAt: string | null, quotaScope: QuotaScope, shardCount: number, suspendedAt: string | null, createdAt: string, updatedAt: string, orgId: string, name: string, timezone: string, modelOrdering: Array<string>, stickyFallbackEnabled: boolean, appsMayBringLimits: boolean, attributeApps: boolean, ledger: boolean, dimensions: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, version: number, quotas: Array<{ label: string, dailyUsdMicros: number, enforcement: QuotaEnforcement, nextEnforcement: { enforcement: QuotaEnforcement, from: string } | null }> } | null, models: Array<{ label: string }> };

export type OrgSettingsFieldsFragment = { orgId: string, name: string, timezone: string, modelOrdering: Array<string>, stickyFallbackEnabled: boolean, appsMayBringLimits: boolean, attributeApps: boolean, ledger: boolean, dimensions: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, version: number, quotas: Array<{ label: string, dailyUsdMicros: number, enforcement: QuotaEnforcement, nextEnforcement: { enforcement: QuotaEnforcement, from: string } | null }> };

export type UpdateOrgMutationVariables = Exact<{
  input: UpdateOrgInput;
}>;


export type UpdateOrgMutation = { updateOrg: { orgId: string, version: number } | null };

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

export type RetrieveSecretMutationVariables = Exact<{
  token: string;
}>;


export type RetrieveSecretMutation = { retrieveSecret: { clientId: string, clientSecret: string } | null };

export type RotateCredentialsMutationVariables = Exact<{
  input: RotateCredentialsInput;
}>;


export type RotateCredentialsMutation = { rotateCredentials: { secretRetrieval: { token: string, expiresAt: string } } | null };

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


export type LiveAlertsSubscription = { quotaAlerts: { id: string, cursor: string, kind: QuotaAlertKind, appId: string | null, label: string, activeLabel: string | null, quotaPct: number, thresholdPct: number, budget: string | null, raisedAt: string } };

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
export const AlertRowFragmentDoc = new TypedDocumentString(`
    fragment AlertRow on QuotaAlert {
  id
  kind
  appId
  label
  activeLabel
  day
  costUsdMicros
  quotaUsdMicros
  quotaPct
  thresholdPct
  budget
  raisedAt
}
    `, {"fragmentName":"AlertRow"}) as unknown as TypedDocumentString<AlertRowFragment, unknown>;
export const AppFieldsFragmentDoc = new TypedDocumentString(`
    fragment AppFields on App {
  appId
  name
  modelOrdering
  quotas {
    label
    dailyUsdMicros
    enforcement
    nextEnforcement {
      enforcement
      from
    }
  }
  tightModeThresholdPct
  refreshIntervalNormalSecs
  refreshIntervalTightSecs
  inheritedFields
  version
}
    `, {"fragmentName":"AppFields"}) as unknown as TypedDocumentString<AppFieldsFragment, unknown>;
export const AuditLineFragmentDoc = new TypedDocumentString(`
    fragment AuditLine on AuditEvent {
  id
  at
  actor
  action
  entityId
  resource
  address
  requestId
  details {
    name
    value
    previousValue
  }
}
    `, {"fragmentName":"AuditLine"}) as unknown as TypedDocumentString<AuditLineFragment, unknown>;
export const BudgetLineFragmentDoc = new TypedDocumentString(`
    fragment BudgetLine on Budget {
  name
  appId
  label
  dimension {
    name
    value
  }
  period
  inForceUsdMicros
  spentUsdMicros
  pct
  resetsAt
  asOf
}
    `, {"fragmentName":"BudgetLine"}) as unknown as TypedDocumentString<BudgetLineFragment, unknown>;
export const ProjectionFragmentDoc = new TypedDocumentString(`
    fragment Projection on BudgetForecast {
  burnUsdMicrosPerHour
  projectedUsdMicros
  exhaustsAt
  basis
}
    `, {"fragmentName":"Projection"}) as unknown as TypedDocumentString<ProjectionFragment, unknown>;
export const CallLineFragmentDoc = new TypedDocumentString(`
    fragment CallLine on CostEntry {
  requestId
  appId
  label
  occurredAt
  inputTokens
  outputTokens
  costUsdMicros
  correctedUsdMicros
  status
  estimated
  dimensions {
    name
    value
  }
}
    `, {"fragmentName":"CallLine"}) as unknown as TypedDocumentString<CallLineFragment, unknown>;
export const SensorValuesFragmentDoc = new TypedDocumentString(`
    fragment SensorValues on Sensors {
  bme280TempC
  ds18b20TempC
  humidityPct
  pressureHpa
  soilMoisturePct
}
    `, {"fragmentName":"SensorValues"}) as unknown as TypedDocumentString<SensorValuesFragment, unknown>;
export const ReadingLineFragmentDoc = new TypedDocumentString(`
    fragment ReadingLine on Reading {
  id
  timestampMs
  firmwareVersion
  sensors {
    ...SensorValues
  }
  sensorStatus {
    bme280
    ds18b20
    soilMoisture
  }
}
    fragment SensorValues on Sensors {
  bme280TempC
  ds18b20TempC
  humidityPct
  pressureHpa
  soilMoisturePct
}`, {"fragmentName":"ReadingLine"}) as unknown as TypedDocumentString<ReadingLineFragment, unknown>;
export const LimitShapeFragmentDoc = new TypedDocumentString(`
    fragment LimitShape on Limit {
  name
  capacity
  burst
  refillAmount
  refillPeriodSecs
  kind
  window
  enforce
}
    `, {"fragmentName":"LimitShape"}) as unknown as TypedDocumentString<LimitShapeFragment, unknown>;
export const ConfigFragmentDoc = new TypedDocumentString(`
    fragment Config on LimitConfig {
  level
  resource
  entityId
  limits {
    ...LimitShape
  }
  onUnavailable
  version
}
    fragment LimitShape on Limit {
  name
  capacity
  burst
  refillAmount
  refillPeriodSecs
  kind
  window
  enforce
}`, {"fragmentName":"Config"}) as unknown as TypedDocumentString<ConfigFragment, unknown>;
export const EntityLineFragmentDoc = new TypedDocumentString(`
    fragment EntityLine on Entity {
  entityId
  name
  cascade
  createdAt
}
    `, {"fragmentName":"EntityLine"}) as unknown as TypedDocumentString<EntityLineFragment, unknown>;
export const StatusFragmentDoc = new TypedDocumentString(`
    fragment Status on LimitStatus {
  entityId
  limit {
    name
    burst
  }
  requested
  available
  exceeded
  wouldRefuse
}
    `, {"fragmentName":"Status"}) as unknown as TypedDocumentString<StatusFragment, unknown>;
export const AlertLineFragmentDoc = new TypedDocumentString(`
    fragment AlertLine on QuotaAlert {
  id
  kind
  appId
  label
  activeLabel
  quotaPct
  thresholdPct
  budget
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
export const OrgSettingsFieldsFragmentDoc = new TypedDocumentString(`
    fragment OrgSettingsFields on Org {
  orgId
  name
  timezone
  modelOrdering
  quotas {
    label
    dailyUsdMicros
    enforcement
    nextEnforcement {
      enforcement
      from
    }
  }
  stickyFallbackEnabled
  appsMayBringLimits
  attributeApps
  ledger
  dimensions
  tightModeThresholdPct
  refreshIntervalNormalSecs
  refreshIntervalTightSecs
  version
}
    `, {"fragmentName":"OrgSettingsFields"}) as unknown as TypedDocumentString<OrgSettingsFieldsFragment, unknown>;
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
export const AlertsDocument = {"__meta__":{"hash":"sha256:e4f0c1d493f38c30f5b4cd66a3187364ae6ee4d80f40f41dad42980ca8300f6d"}} as unknown as TypedDocumentString<AlertsQuery, AlertsQueryVariables>;
export const AppAlertsDocument = {"__meta__":{"hash":"sha256:5fd052de0f4c36391a7a177930ca1b8926eecf16b8ee7188fec3bc55ea29be17"}} as unknown as TypedDocumentString<AppAlertsQuery, AppAlertsQueryVariables>;
export const AppsDocument = {"__meta__":{"hash":"sha256:e1acbcc9a13f736946a60a33d2c405478f811cb8e8f2eff56ebb84b706bab528"}} as unknown as TypedDocumentString<AppsQuery, AppsQueryVariables>;
export const RegisterAppDocument = {"__meta__":{"hash":"sha256:d5acd23b0461285ecfbc2446e1f2de9a898aae3f2be823beb30b94dd30b2685b"}} as unknown as TypedDocumentString<RegisterAppMutation, RegisterAppMutationVariables>;
export const AppPageDocument = {"__meta__":{"hash":"sha256:1298568ec22f96d08a126228efbcd081981a56aecda0dba163d78fcd312c2b76"}} as unknown as TypedDocumentString<AppPageQuery, AppPageQueryVariables>;
export const UpdateAppDocument = {"__meta__":{"hash":"sha256:4e3a78ffb85c7b215244c210124ecf516bbe125b7573dd58992b73da5f66ea9f"}} as unknown as TypedDocumentString<UpdateAppMutation, UpdateAppMutationVariables>;
export const OverrideModelDocument = {"__meta__":{"hash":"sha256:5ede6a63f81d68e5d6256f8bcbe1281b42f3fa49518f67bc1aaae7c79fe38120"}} as unknown as TypedDocumentString<OverrideModelMutation, OverrideModelMutationVariables>;
export const SuspendAppDocument = {"__meta__":{"hash":"sha256:bb3af156d67cc85247bac2535895b6e3b4e801e965f220d0f89eece572cb8499"}} as unknown as TypedDocumentString<SuspendAppMutation, SuspendAppMutationVariables>;
export const ResumeAppDocument = {"__meta__":{"hash":"sha256:385660d7f507ca275c41bb77bfa61eaafd8956609ba58c97b1332649bb0e2738"}} as unknown as TypedDocumentString<ResumeAppMutation, ResumeAppMutationVariables>;
export const DeleteAppDocument = {"__meta__":{"hash":"sha256:07866932858293d3d39691e402136d38738863c778299a7fa25e710e95256780"}} as unknown as TypedDocumentString<DeleteAppMutation, DeleteAppMutationVariables>;
export const PlatformAuditDocument = {"__meta__":{"hash":"sha256:c5c28203a0ed9305ba79e444fc5875637be1034f96c9eaba5f09631dcb622563"}} as unknown as TypedDocumentString<PlatformAuditQuery, PlatformAuditQueryVariables>;
export const AuditDocument = {"__meta__":{"hash":"sha256:36ef2c7397b782bcd85f45043aea92e06de9f76ba7dd103bc06e67b34e37aad2"}} as unknown as TypedDocumentString<AuditQuery, AuditQueryVariables>;
export const BudgetsDocument = {"__meta__":{"hash":"sha256:43c632bc9877aa8fd868849dd63fcf06ceeda8aafd3d4dba486dd7c5ef31c48d"}} as unknown as TypedDocumentString<BudgetsQuery, BudgetsQueryVariables>;
export const SetBudgetDocument = {"__meta__":{"hash":"sha256:ef4e9664228f6a4b03d72b1275ff1d713207d49b5ef33179be2c8df39739f5af"}} as unknown as TypedDocumentString<SetBudgetMutation, SetBudgetMutationVariables>;
export const DeleteBudgetDocument = {"__meta__":{"hash":"sha256:e5ecda8e78893b50e6fb2093e11c8ab67b22cd751d29f911f1bea8e560521bfc"}} as unknown as TypedDocumentString<DeleteBudgetMutation, DeleteBudgetMutationVariables>;
export const CallsDocument = {"__meta__":{"hash":"sha256:ad1221e2dc85dbcc421b71c25328a763480b4dd86aa5fa44e7eae9f787e02a83"}} as unknown as TypedDocumentString<CallsQuery, CallsQueryVariables>;
export const CallAppsDocument = {"__meta__":{"hash":"sha256:29c79a06905486fbcfc4aebc609be01cd1ebebbcd60514898e7e7a78863adaf3"}} as unknown as TypedDocumentString<CallAppsQuery, CallAppsQueryVariables>;
export const CallDocument = {"__meta__":{"hash":"sha256:b8ef45cc5f2b7a9d3a823c562375acd6ef51774352cc06b44ddc4c82e6af069a"}} as unknown as TypedDocumentString<CallQuery, CallQueryVariables>;
export const CorrectCostDocument = {"__meta__":{"hash":"sha256:28bc9ff5310615407968976def6cce7305e180a6301c10574a5db75bbd738fae"}} as unknown as TypedDocumentString<CorrectCostMutation, CorrectCostMutationVariables>;
export const SwitchLedgerDocument = {"__meta__":{"hash":"sha256:33e8767e0f4f0c45f31544b9b6ec6418e3ec1f40939648d4f5d3c2871ced141c"}} as unknown as TypedDocumentString<SwitchLedgerMutation, SwitchLedgerMutationVariables>;
export const DevicesDocument = {"__meta__":{"hash":"sha256:bdbfa99c49e0434720c40d3bdc5cbe94ec95b9e97d511dc2430644db55cb408b"}} as unknown as TypedDocumentString<DevicesQuery, DevicesQueryVariables>;
export const DevicePageDocument = {"__meta__":{"hash":"sha256:9963b9e1a6a00c483a250bd168bfc666fddd5b14a14b78d28149e7e531fb25e4"}} as unknown as TypedDocumentString<DevicePageQuery, DevicePageQueryVariables>;
export const LiveReadingsDocument = {"__meta__":{"hash":"sha256:b692d30392d0e496624bc2da6a0b79bee870a62f497cf25568b57141aaf0951d"}} as unknown as TypedDocumentString<LiveReadingsSubscription, LiveReadingsSubscriptionVariables>;
export const RenameDeviceDocument = {"__meta__":{"hash":"sha256:9d30f60daca0126ae03ae5b97590707fd44b2752e946155222d6d4b7f90029ba"}} as unknown as TypedDocumentString<RenameDeviceMutation, RenameDeviceMutationVariables>;
export const AssignDeviceDocument = {"__meta__":{"hash":"sha256:a29ed4f46fb95679fb333659ef04da2957d21f09f311e8bee993f6011c513127"}} as unknown as TypedDocumentString<AssignDeviceMutation, AssignDeviceMutationVariables>;
export const DeleteDeviceDocument = {"__meta__":{"hash":"sha256:bd82267c20830ab6813aaa237900b875a145b741d59804f5a2dc882b6de8fb35"}} as unknown as TypedDocumentString<DeleteDeviceMutation, DeleteDeviceMutationVariables>;
export const KeysDocument = {"__meta__":{"hash":"sha256:af723e83819e7516cd7930eb2b5cd03bf29ac151bc7772b6ad08b95258afb6fb"}} as unknown as TypedDocumentString<KeysQuery, KeysQueryVariables>;
export const ClientsDocument = {"__meta__":{"hash":"sha256:53f8482c87a147b8ad62dc2999288b171b53bdbcd9b4bcb89db00124e4147703"}} as unknown as TypedDocumentString<ClientsQuery, ClientsQueryVariables>;
export const CreateApiKeyDocument = {"__meta__":{"hash":"sha256:72ee5b6ff81e807985e56c4507b2f073f01bf40bf076c92b4d08edda0b5fb21f"}} as unknown as TypedDocumentString<CreateApiKeyMutation, CreateApiKeyMutationVariables>;
export const RevokeApiKeyDocument = {"__meta__":{"hash":"sha256:1b8ff066bbb9de003ecf453d6ebbdb0df07413bcc5a2571c1779ab2b73fed003"}} as unknown as TypedDocumentString<RevokeApiKeyMutation, RevokeApiKeyMutationVariables>;
export const CreateClientDocument = {"__meta__":{"hash":"sha256:916dcb17454db2ceb91e1506dedb09ce87002f55ac47984ec83127cbaea60e4f"}} as unknown as TypedDocumentString<CreateClientMutation, CreateClientMutationVariables>;
export const DeleteClientDocument = {"__meta__":{"hash":"sha256:26e69ba2b193c2f2b8bdc32e0d66973382cfb17c293d9c85e90ff451d0bd2422"}} as unknown as TypedDocumentString<DeleteClientMutation, DeleteClientMutationVariables>;
export const EntityPageDocument = {"__meta__":{"hash":"sha256:c7fafce003523fc38556ae1bc6203cd7fb9fa698c1e3ecda6149b132706abadd"}} as unknown as TypedDocumentString<EntityPageQuery, EntityPageQueryVariables>;
export const EntityResourceDocument = {"__meta__":{"hash":"sha256:24263ad2eb1ff76fa93d35521c135d911ec0cfaedd54552156fd57fc444119c2"}} as unknown as TypedDocumentString<EntityResourceQuery, EntityResourceQueryVariables>;
export const UpdateEntityDocument = {"__meta__":{"hash":"sha256:b71651e29da6aba592da49342ea7cc355c0a0e6f5269f8f52bd02a6c5a288843"}} as unknown as TypedDocumentString<UpdateEntityMutation, UpdateEntityMutationVariables>;
export const DeleteEntityDocument = {"__meta__":{"hash":"sha256:64dea4394d0dad7774f57c8ec01666be64d2f4734759d1770b143ba1d59c2bab"}} as unknown as TypedDocumentString<DeleteEntityMutation, DeleteEntityMutationVariables>;
export const TopUpDocument = {"__meta__":{"hash":"sha256:a9498941f9c78d7f4cfa3b4c68de740dd09cdbc63876b4f10150e1ee69acd206"}} as unknown as TypedDocumentString<TopUpMutation, TopUpMutationVariables>;
export const LimitsDocument = {"__meta__":{"hash":"sha256:4b58e89e38b3b4fdc39fbaed14c7036bbb18098894142f2ad26dfd68d721580c"}} as unknown as TypedDocumentString<LimitsQuery, LimitsQueryVariables>;
export const ResourceDetailDocument = {"__meta__":{"hash":"sha256:2ea731d5a061239ad054215428b931de7444ef5556f77b8b0396494719c69e2f"}} as unknown as TypedDocumentString<ResourceDetailQuery, ResourceDetailQueryVariables>;
export const SearchEntitiesDocument = {"__meta__":{"hash":"sha256:188de24cc972ef7218b0358c6549dcab5557573e633271a1f206ac767a34c1a0"}} as unknown as TypedDocumentString<SearchEntitiesQuery, SearchEntitiesQueryVariables>;
export const SetLimitsDocument = {"__meta__":{"hash":"sha256:ca8840ad282aa9220c1180da645acfb54f6fb0e90e7acbb11dca01ee2881cd3a"}} as unknown as TypedDocumentString<SetLimitsMutation, SetLimitsMutationVariables>;
export const DeleteLimitsDocument = {"__meta__":{"hash":"sha256:ae4bff06a6d107791c9ed9f130f853daf63c3f644d00b8a98b1b4cb43d60b638"}} as unknown as TypedDocumentString<DeleteLimitsMutation, DeleteLimitsMutationVariables>;
export const AvailabilityDocument = {"__meta__":{"hash":"sha256:46e0e90df85b4d5ab8a2288ac4b52d8ba1aedb2e285a8a2c115ba504cdab3385"}} as unknown as TypedDocumentString<AvailabilityQuery, AvailabilityQueryVariables>;
export const AcquireDocument = {"__meta__":{"hash":"sha256:36d5bd687aa2db3a63df5a9cf97f55e978628233c712c6d3b4c27d9076fbb48e"}} as unknown as TypedDocumentString<AcquireMutation, AcquireMutationVariables>;
export const ReleaseLeaseDocument = {"__meta__":{"hash":"sha256:a78e30d6f5fd22e1fa6f1d77a9f67a7ac8c20cc70e62a3a75be6920c94e2214a"}} as unknown as TypedDocumentString<ReleaseLeaseMutation, ReleaseLeaseMutationVariables>;
export const CreateEntityDocument = {"__meta__":{"hash":"sha256:65a4f9043ce7c71999f3e8acba5e8fb0cb030a947a65c0097f70fec8cf0aeb98"}} as unknown as TypedDocumentString<CreateEntityMutation, CreateEntityMutationVariables>;
export const ModelsDocument = {"__meta__":{"hash":"sha256:ba886ac6f7be8e8ebfbff68b7138b4123bb9696a9d0e1f761b5071817e4611cd"}} as unknown as TypedDocumentString<ModelsQuery, ModelsQueryVariables>;
export const UpsertModelDocument = {"__meta__":{"hash":"sha256:ee3cabfc5c672b582ff8cb1f8658685268c062266fb1bb6e78e6bb5543bae880"}} as unknown as TypedDocumentString<UpsertModelMutation, UpsertModelMutationVariables>;
export const RetireModelDocument = {"__meta__":{"hash":"sha256:6f0170521344b5ea731a284943810622df34a34471c40a974d9f7da2be0725a5"}} as unknown as TypedDocumentString<RetireModelMutation, RetireModelMutationVariables>;
export const OrgPricesDocument = {"__meta__":{"hash":"sha256:17f4c23ff0602520fc14a7f26279a2155a18692a3526f4c08746cbc4d71f5998"}} as unknown as TypedDocumentString<OrgPricesQuery, OrgPricesQueryVariables>;
export const SetOrgPriceDocument = {"__meta__":{"hash":"sha256:c829b3f7ec0b00b0a78e2df70e0a56c74f5295566e38b6ece697cbdd060bccb1"}} as unknown as TypedDocumentString<SetOrgPriceMutation, SetOrgPriceMutationVariables>;
export const OrgsDocument = {"__meta__":{"hash":"sha256:d0ac9365c7426a124d8bc38c4ea893f1370b68841adad943deb3e8f0fe8d0105"}} as unknown as TypedDocumentString<OrgsQuery, OrgsQueryVariables>;
export const RegisterOrgDocument = {"__meta__":{"hash":"sha256:98ffd6daf7977d715d8543095ec86c50eef1cd5caee35bad09bb86e0f9f67851"}} as unknown as TypedDocumentString<RegisterOrgMutation, RegisterOrgMutationVariables>;
export const SuspendOrgDocument = {"__meta__":{"hash":"sha256:96d43ced2a39fe0a112e4327228e5d51cd22f3bf04d27771eb1521d0dd8c935a"}} as unknown as TypedDocumentString<SuspendOrgMutation, SuspendOrgMutationVariables>;
export const ResumeOrgDocument = {"__meta__":{"hash":"sha256:954160d69a6e7d387758a85bedf3cf2546b160bd2cf93f802d9bf5ba98859e2a"}} as unknown as TypedDocumentString<ResumeOrgMutation, ResumeOrgMutationVariables>;
export const OrgLabelsDocument = {"__meta__":{"hash":"sha256:e8c23eab8bdc3833a32eb295c2a70219595934183246e34e3c3e240b140c8875"}} as unknown as TypedDocumentString<OrgLabelsQuery, OrgLabelsQueryVariables>;
export const OverviewDocument = {"__meta__":{"hash":"sha256:eb0d6cc68d20d463d10324831ad0cd11f7bc1212da45ef46ecbf52644129ca10"}} as unknown as TypedDocumentString<OverviewQuery, OverviewQueryVariables>;
export const OverviewDetailDocument = {"__meta__":{"hash":"sha256:323db8e6c8dfca2207f3636a2a76c9b88fbd3474924921744925a65b63cf6c5c"}} as unknown as TypedDocumentString<OverviewDetailQuery, OverviewDetailQueryVariables>;
export const OrgSettingsDocument = {"__meta__":{"hash":"sha256:7bdbc465337d1061a67191c386210d72cfcc8480922cda8c5d9550c6f65fefd7"}} as unknown as TypedDocumentString<OrgSettingsQuery, OrgSettingsQueryVariables>;
export const UpdateOrgDocument = {"__meta__":{"hash":"sha256:3a47a5a1af5e29a6e36c003b6d8af0b6e22fc24da100f26cc9d6f21ba4ffcb92"}} as unknown as TypedDocumentString<UpdateOrgMutation, UpdateOrgMutationVariables>;
export const SpendReportDocument = {"__meta__":{"hash":"sha256:1fc90b63ab5e1b3783bf8386c8d941afad514d4c215c24f625aef651a543a5bc"}} as unknown as TypedDocumentString<SpendReportQuery, SpendReportQueryVariables>;
export const SeriesByAppDocument = {"__meta__":{"hash":"sha256:cb9a61b4a9af5b590f4719a64698283803c94b2c7873b66bf2b763cc4f0012c3"}} as unknown as TypedDocumentString<SeriesByAppQuery, SeriesByAppQueryVariables>;
export const SeriesByLabelDocument = {"__meta__":{"hash":"sha256:77264db8f53838f38ad4ffd30f0b206dd5700a7a4c193428cccf0382f0f31d95"}} as unknown as TypedDocumentString<SeriesByLabelQuery, SeriesByLabelQueryVariables>;
export const ExactTodayDocument = {"__meta__":{"hash":"sha256:e7c9cdc4f98c711661ec40f76632ad33ed34b818bea123932c7042f4b9d469ae"}} as unknown as TypedDocumentString<ExactTodayQuery, ExactTodayQueryVariables>;
export const RetrieveSecretDocument = {"__meta__":{"hash":"sha256:73b9ef3d7ea0ebb863f3eb71203fd560e6b3108f13ff3d08c298c40afa3096a1"}} as unknown as TypedDocumentString<RetrieveSecretMutation, RetrieveSecretMutationVariables>;
export const RotateCredentialsDocument = {"__meta__":{"hash":"sha256:ebb03ddf621b79ef3a20adb7a99af1f9c830c609d6c509c7dbb54a1d58d0b761"}} as unknown as TypedDocumentString<RotateCredentialsMutation, RotateCredentialsMutationVariables>;
export const FrameDocument = {"__meta__":{"hash":"sha256:7641c0517df3844a9f2beb15e507693b6ae73e3cfd7e567246447ba8b5af4b22"}} as unknown as TypedDocumentString<FrameQuery, FrameQueryVariables>;
export const AppFrameDocument = {"__meta__":{"hash":"sha256:82acaae661a51cd535a4c12a8276d40a1d397ba094da65b9690e231c81eac291"}} as unknown as TypedDocumentString<AppFrameQuery, AppFrameQueryVariables>;
export const OrgNamesDocument = {"__meta__":{"hash":"sha256:407c95239ef7afa78d7e78e73dbd0392a9f478951622ecea36657550fbb50734"}} as unknown as TypedDocumentString<OrgNamesQuery, OrgNamesQueryVariables>;
export const LiveAlertsDocument = {"__meta__":{"hash":"sha256:dce319266a9d8d0055a30530c25d6b464c5ed91249d1cc9659f36c3770f5902e"}} as unknown as TypedDocumentString<LiveAlertsSubscription, LiveAlertsSubscriptionVariables>;