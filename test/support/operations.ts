/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** Several requests that are granted together or not at all. */
export type AcquireAllInput = {
  /** The org. Required for an admin; a client of an org may leave it out or name its own org. */
  orgId?: string | null | undefined;
  /** 1–8 requests. */
  requests: Array<AcquireAllRequestInput>;
};

/** One of several requests that are granted together or not at all. */
export type AcquireAllRequestInput = {
  /** The amounts to take. A limit that is left out counts as 0. */
  consume: Array<ConsumeInput>;
  /** The entity: 1–256 of A-Z a-z 0-9 _ . - : @, first a letter or digit. */
  entityId: string;
  /** The resource: 1–64 of A-Z a-z 0-9 _ . - / :, first a letter. */
  resource: string;
  /** Seconds for which the lease holds its slots of concurrency limits unless it is renewed, 1–86,400. Default: 60. */
  ttlSecs?: number | null | undefined;
};

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

/** A correction of the amounts of a lease. */
export type AdjustLeaseInput = {
  /** Positive amounts take more and may leave the bucket in debt. Negative amounts give back, up to what the lease holds. */
  adjust: Array<ConsumeInput>;
  /** Makes a retry safe: the same key on the same lease is applied once. Up to 16 adjustments per lease. Without a key each call is applied. A call without a key that only charges is cheaper, and a release does not give it back. */
  idempotencyKey?: string | null | undefined;
  /** The `leaseId` of a Lease that has not expired and was not released. */
  leaseId: string;
};

/** The actual amounts of a rate limit. */
export type AdmitAdjustInput = {
  /** The amounts that the call used in all. A limit that is left out keeps what `admit` took. */
  consumed: Array<ConsumeInput>;
  /** The `entityId` that was sent to `admit`. */
  entityId: string;
  /** The `resource` that was sent to `admit`. */
  resource: string;
};

/** A model call that asks for permission. */
export type AdmitInput = {
  /** The app that makes the call. Required unless the caller is the app itself. */
  appId?: string | null | undefined;
  /** The expected cost of the call. */
  estimate: EstimateInput;
  /** The labels to try, in this order, at most 10. Default: the model ordering of the app. */
  labels?: Array<string> | null | undefined;
  /** Rate limits that must have enough tokens too, at most 3. All are taken or none. */
  limits?: Array<AdmitLimitInput> | null | undefined;
  /** The org. Required for the platform admin. Default: the org of the caller. */
  orgId?: string | null | undefined;
  /** Idempotency key of the call, unique within its app. Until the call is settled, the same id returns the first admission. The same id with another input is an IDEMPOTENCY_CONFLICT. Also the `requestId` of the cost. */
  requestId: string;
  /** Seconds for which the reservation is meant to last, 1–900. It is returned 5 to 10 minutes after that if the call was not settled. */
  ttlSecs?: number;
  /** Milliseconds to wait for money or tokens, 0–4000. Calls of one scope wait in order of arrival. Default: 0. */
  waitMs?: number;
};

/** Tokens of a rate limit that the call needs. */
export type AdmitLimitInput = {
  /** The amounts to take. A limit that is left out counts as 0. */
  consume: Array<ConsumeInput>;
  /** The entity: 1–256 of A-Z a-z 0-9 _ . - : @, first a letter or digit. */
  entityId: string;
  /** The resource: 1–64 of A-Z a-z 0-9 _ . - / :, first a letter. */
  resource: string;
};

/** What refused a call. */
export type BindingKind =
  /** A budget. */
  | 'BUDGET'
  /** A rate limit. */
  | 'LIMIT'
  /** The daily quota of a label. */
  | 'QUOTA';

/** By what the spend of an org is split up. */
export type BreakdownKind =
  /** By app, deleted apps included. Under quotaScope ORG: needs `Org.attributeApps`. */
  | 'APP'
  /** By the values of one dimension of `Org.dimensions`. */
  | 'DIMENSION'
  /** By model label. */
  | 'LABEL';

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

/** How fresh the figures must be. */
export type Consistency =
  /** The totals of the last aggregation, which are cheap to read. `asOf` says how old they are. */
  | 'AGGREGATED'
  /** All costs acknowledged before the request. Adds complexity: labels × shards, for an org under quotaScope APP × apps. The figures of a day whose aggregation is final come from its total. */
  | 'EXACT';

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

/** Usage of a call beside its input and output tokens, such as tokens read from a cache. */
export type CostComponentInput = {
  /** A name that the price of the model has, such as `cacheRead`, `cacheWrite5m`, `cacheWrite1h`, `reasoning`, `image`, `audioSecond` or `request`. 1–32 letters, digits or `_`, beginning with a lower-case letter. */
  name: string;
  /** Tokens, images, seconds or other units, 0 to 10^12. */
  quantity: number;
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

/** The sensors and features of a device. */
export type DeviceCapabilitiesInput = {
  /** Up to 32 features. */
  features?: Array<DeviceFeatureInput>;
  /** Up to 32 names of 1–32 characters of a-z 0-9 _, each beginning with a letter. */
  sensors: Array<string>;
};

/** A feature of a device, on or off. */
export type DeviceFeatureInput = {
  /** True if the device uses it. */
  enabled: boolean;
  /** 1–32 characters of a-z 0-9 _, beginning with a letter. Unique in the list. */
  name: string;
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

/** The expected cost of a call. The largest of the given figures is reserved, at least 1. */
export type EstimateInput = {
  /** Other usage of the call, such as tokens read from a cache. Each name once, at most 16. */
  components?: Array<CostComponentInput> | null | undefined;
  /** The expected cost in micro-dollars, 0 to 10^12. It counts if it is larger than the computed one. */
  costUsdMicros?: number | null | undefined;
  /** Input tokens of the call, 0 to 10^12. */
  inputTokens?: number | null | undefined;
  /** The largest number of output tokens that the call may return, 0 to 10^12. Send the bound that the model gets. */
  maxOutputTokens?: number | null | undefined;
};

/** Readings of one or more devices to store. */
export type IngestInput = {
  /** 1–100 readings. Each gets its own verdict. */
  readings: Array<ReadingInput | null | undefined>;
};

/** A client and its secret. */
export type IssueTokenInput = {
  /** The id of the client: `Credentials.clientId`. */
  clientId: string;
  /** The current secret of the client, or the previous one during its grace. */
  clientSecret: string;
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

/** Why a cost was not covered by a reservation. */
export type OverrunKind =
  /** The call cost more than was reserved for it. */
  | 'ABOVE_RESERVATION'
  /** The call was settled after its reservation had been returned. */
  | 'LATE_SETTLE'
  /** The cost was submitted without a reservation and exceeds a HARD quota or budget. */
  | 'UNRESERVED';

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

/** The kind of credential that a call presents. */
export type PrincipalKind =
  /** An access token of a client of an app. It may act for that app. */
  | 'APP_CLIENT'
  /** A device key in `X-API-Key`. It may register devices and send readings. */
  | 'DEVICE_KEY'
  /** An access token of a client of an org. It may act for that org and its apps. */
  | 'ORG_CLIENT'
  /** An admin key in `X-Admin-Key`, or its console session. It may act for every org. */
  | 'PLATFORM_ADMIN';

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

/** A reading to store. A field that is missing or not valid rejects this reading only. */
export type ReadingInput = {
  /** Required. 1–256 characters of A-Z a-z 0-9 _ . : -, unique per device. A retry with the same id is a DUPLICATE. */
  batchId?: string | null | undefined;
  /** Required. The id of the current boot, a UUID of version 4. */
  bootId?: string | null | undefined;
  /** Required. 1–64 printable ASCII characters. */
  firmwareVersion?: string | null | undefined;
  /** 1–64 printable ASCII characters. Omit it or send null to use the current name of the device. */
  friendlyName?: string | null | undefined;
  /** Required. MAC address of a registered device, in either case. */
  hardwareId?: string | null | undefined;
  /** Required. An object that maps the sensors bme280, ds18b20, soilMoisture to OK or ERROR (or ok, error). May be {}. */
  sensorStatus?: unknown;
  /** Required. An object that maps sensors to numbers, such as { bme280TempC: 21.5 }. Omit sensors without value. Sensors: bme280TempC, ds18b20TempC, humidityPct, pressureHpa, soilMoisturePct. */
  sensors?: unknown;
  /** Required. Time of measurement as a whole number of epoch milliseconds, from the year 2000 to 2099 and at most 10 minutes ahead of the server. */
  timestampMs?: number | null | undefined;
};

/** The outcome of one reading of an `ingest`. */
export type ReadingVerdictKind =
  /** This device has sent other content under this batch id, and that stays stored. Send the reading under another id, or drop it. */
  | 'CONFLICT'
  /** Stored before, with the same content. The device may drop it. */
  | 'DUPLICATE'
  /** Not valid, so a retry is useless; `error` says why. The device may drop it. */
  | 'REJECTED'
  /** Not stored, because the database was unavailable. Send the same reading again. */
  | 'RETRY'
  /** Stored by this call. The device may drop it. */
  | 'STORED';

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

/** A device and its capabilities. */
export type RegisterDeviceInput = {
  /** The id of this boot: a UUID of version 4, new at each boot. */
  bootId: string;
  /** The sensors and features. They replace those of the last registration. */
  capabilities: DeviceCapabilitiesInput;
  /** 1–64 printable ASCII characters. */
  firmwareVersion: string;
  /** 1–64 printable ASCII characters. Omit it or send null to keep the current name. */
  friendlyName?: string | null | undefined;
  /** MAC address XX:XX:XX:XX:XX:XX, in either case. */
  hardwareId: string;
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

/** The usage of an admitted call. */
export type SettleInput = {
  /** The actual amounts of the rate limits, for those that differ from what `admit` took. */
  adjust?: Array<AdmitAdjustInput> | null | undefined;
  /** The `admissionId` of the call. */
  admissionId: string;
  /** The outcome of the call. */
  callStatus?: CallStatus;
  /** Other usage of the call, each name once, at most 16. */
  components?: Array<CostComponentInput> | null | undefined;
  /** The cost in micro-dollars, 0 to 10^12. Default: computed from the usage and the price. */
  costUsdMicros?: number | null | undefined;
  /** Values that the cost counts under in `spendBreakdown`. At most one per name of `Org.dimensions`. */
  dimensions?: Array<DimensionInput> | null | undefined;
  /** True if the usage is not known exactly, for example of a stream that was aborted. */
  estimated?: boolean;
  /** Input tokens, 0 to 10^12, without those in `components`. */
  inputTokens?: number;
  /** Output tokens, 0 to 10^12, without those in `components`. */
  outputTokens?: number;
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

/** Why a scope uses a label for the rest of its day. */
export type StickyReason =
  /** `overrideModel` set it. */
  | 'MANUAL_OVERRIDE'
  /** The quota of the label before it was used up. */
  | 'QUOTA_EXCEEDED';

/** The usage of one model call. Every token is in exactly one addend. */
export type SubmitCostInput = {
  /** The app that made the call. Required unless the caller is the app itself. */
  appId?: string | null | undefined;
  /** The outcome of the call. */
  callStatus?: CallStatus;
  /** Other usage of the call, each name once, at most 16. Every token is in exactly one addend: `inputTokens`, `outputTokens` or one component. A component without a price is refused, unless `costUsdMicros` is sent. */
  components?: Array<CostComponentInput> | null | undefined;
  /** The cost in micro-dollars, 0 to 10^12. Default: computed from the tokens, the components and the price in force when the call occurred. */
  costUsdMicros?: number | null | undefined;
  /** Values that the cost counts under in `spendBreakdown`. At most one per name of `Org.dimensions`. */
  dimensions?: Array<DimensionInput> | null | undefined;
  /** Input tokens, 0 to 10^12, without those that are in `components`, such as tokens read from a cache. */
  inputTokens: number;
  /** The label of the model that was called. */
  modelLabel: string;
  /** When the call was made, at most 24 hours in the past and 5 minutes in the future. It decides the day, in the time zone of the org. Default: now. */
  occurredAt?: string | null | undefined;
  /** The org. Required for the platform admin. Default: the org of the caller. */
  orgId?: string | null | undefined;
  /** Output tokens, 0 to 10^12, without those that are in `components`, such as priced reasoning tokens. */
  outputTokens: number;
  /** Idempotency key, chosen by the app and unique within it. Within 35 days the same id counts once: a retry with the same payload returns the first receipt, a retry with another payload fails with IDEMPOTENCY_CONFLICT. A retry must repeat every field unchanged: one that adds `occurredAt` conflicts. */
  requestId: string;
};

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

export type TokensFragment = { accessToken: string, refreshToken: string, tokenType: string, expiresInSecs: number, refreshExpiresInSecs: number };

export type OrgSettingsFragment = { id: string, orgId: string, name: string, timezone: string, timezoneEffectiveAt: string | null, quotaScope: QuotaScope, modelOrdering: Array<string>, stickyFallbackEnabled: boolean, shardCount: number, appsMayBringLimits: boolean, attributeApps: boolean, ledger: boolean, dimensions: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, createdAt: string, updatedAt: string, version: number, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } };

export type AppSettingsFragment = { id: string, appId: string, name: string, modelOrdering: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, inheritedFields: Array<string>, createdAt: string, updatedAt: string, version: number, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } };

export type MeQueryVariables = Exact<{ [key: string]: never; }>;


export type MeQuery = { me: { kind: PrincipalKind, clientId: string | null, expiresAt: string | null, org: { orgId: string, name: string } | null, app: { appId: string, name: string } | null } };

export type ModelsQueryVariables = Exact<{ [key: string]: never; }>;


export type ModelsQuery = { models: Array<{ label: string, bedrockModelId: string, tier: string | null, family: string | null, description: string | null, price: { inputUsdMicrosPer1M: number, outputUsdMicrosPer1M: number, source: PriceSource, fetchedAt: string | null } }> };

export type ModelFragment = { label: string, modelId: string, bedrockModelId: string, provider: string | null, tier: string | null, family: string | null, description: string | null, version: number, retiredAt: string | null, price: { source: PriceSource, entries: Array<{ name: string, usdMicrosPer1M: number, above: number }> }, prices: Array<{ effectiveFrom: string | null, source: PriceSource, entries: Array<{ name: string, usdMicrosPer1M: number, above: number }> }> };

export type PriceChangeFragment = { effectiveFrom: string | null, source: PriceSource, entries: Array<{ name: string, usdMicrosPer1M: number, above: number }> };

export type CatalogQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  includeRetired?: boolean | null | undefined;
}>;


export type CatalogQuery = { models: Array<{ label: string, modelId: string, bedrockModelId: string, provider: string | null, tier: string | null, family: string | null, description: string | null, version: number, retiredAt: string | null, price: { source: PriceSource, entries: Array<{ name: string, usdMicrosPer1M: number, above: number }> }, prices: Array<{ effectiveFrom: string | null, source: PriceSource, entries: Array<{ name: string, usdMicrosPer1M: number, above: number }> }> }> };

export type UpsertModelMutationVariables = Exact<{
  input: UpsertModelInput;
}>;


export type UpsertModelMutation = { upsertModel: { label: string, modelId: string, bedrockModelId: string, provider: string | null, tier: string | null, family: string | null, description: string | null, version: number, retiredAt: string | null, price: { source: PriceSource, entries: Array<{ name: string, usdMicrosPer1M: number, above: number }> }, prices: Array<{ effectiveFrom: string | null, source: PriceSource, entries: Array<{ name: string, usdMicrosPer1M: number, above: number }> }> } | null };

export type RetireModelMutationVariables = Exact<{
  label: string;
  expectedVersion?: number | null | undefined;
}>;


export type RetireModelMutation = { retireModel: { label: string, modelId: string, bedrockModelId: string, provider: string | null, tier: string | null, family: string | null, description: string | null, version: number, retiredAt: string | null, price: { source: PriceSource, entries: Array<{ name: string, usdMicrosPer1M: number, above: number }> }, prices: Array<{ effectiveFrom: string | null, source: PriceSource, entries: Array<{ name: string, usdMicrosPer1M: number, above: number }> }> } | null };

export type SetOrgPriceMutationVariables = Exact<{
  input: SetOrgPriceInput;
}>;


export type SetOrgPriceMutation = { setOrgPrice: { label: string, changes: Array<{ effectiveFrom: string | null, source: PriceSource, entries: Array<{ name: string, usdMicrosPer1M: number, above: number }> }> } | null };

export type OrgPricesQueryVariables = Exact<{
  orgId?: string | null | undefined;
}>;


export type OrgPricesQuery = { org: { prices: Array<{ label: string, changes: Array<{ effectiveFrom: string | null, source: PriceSource, entries: Array<{ name: string, usdMicrosPer1M: number, above: number }> }> }> } | null };

export type PlatformAuditQueryVariables = Exact<{
  entityId?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type PlatformAuditQuery = { platformAuditEvents: { nodes: Array<{ id: string, actor: string, action: string, entityId: string, details: Array<{ name: string, value: string, previousValue: string | null }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type OrgQueryVariables = Exact<{
  orgId?: string | null | undefined;
}>;


export type OrgQuery = { org: { id: string, orgId: string, name: string, timezone: string, timezoneEffectiveAt: string | null, quotaScope: QuotaScope, modelOrdering: Array<string>, stickyFallbackEnabled: boolean, shardCount: number, appsMayBringLimits: boolean, attributeApps: boolean, ledger: boolean, dimensions: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, createdAt: string, updatedAt: string, version: number, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } } | null };

export type OrgsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type OrgsQuery = { orgs: { edges: Array<{ cursor: string, node: { orgId: string } }>, nodes: Array<{ orgId: string, name: string }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type AppsQueryVariables = Exact<{
  orgId?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type AppsQuery = { org: { apps: { nodes: Array<{ appId: string }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } } | null };

export type AppEnforcementQueryVariables = Exact<{
  orgId?: string | null | undefined;
  appId: string;
}>;


export type AppEnforcementQuery = { org: { app: { quotas: Array<{ label: string, enforcement: QuotaEnforcement, nextEnforcement: { enforcement: QuotaEnforcement, from: string } | null }> } | null } | null };

export type AppQueryVariables = Exact<{
  orgId?: string | null | undefined;
  appId: string;
}>;


export type AppQuery = { org: { app: { id: string, appId: string, name: string, modelOrdering: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, inheritedFields: Array<string>, createdAt: string, updatedAt: string, version: number, org: { orgId: string }, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } } | null } | null };

export type AuditQueryVariables = Exact<{
  orgId?: string | null | undefined;
  entityId?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type AuditQuery = { org: { auditEvents: { nodes: Array<{ id: string, at: string, actor: string, action: string, entityId: string, resource: string | null, address: string | null, requestId: string | null, details: Array<{ name: string, value: string, previousValue: string | null }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type NodeQueryVariables = Exact<{
  id: string | number;
}>;


export type NodeQuery = { node:
    | { __typename: 'ApiKey', id: string }
    | { __typename: 'App', appId: string, id: string }
    | { __typename: 'AuditEvent', action: string, id: string }
    | { __typename: 'Bucket', id: string }
    | { __typename: 'Device', id: string }
    | { __typename: 'Entity', id: string }
    | { __typename: 'Org', orgId: string, id: string }
    | { __typename: 'QuotaAlert', id: string }
    | { __typename: 'Reading', id: string }
   | null };

export type RegisterOrgMutationVariables = Exact<{
  input: RegisterOrgInput;
}>;


export type RegisterOrgMutation = { registerOrg: { org: { id: string, orgId: string, name: string, timezone: string, timezoneEffectiveAt: string | null, quotaScope: QuotaScope, modelOrdering: Array<string>, stickyFallbackEnabled: boolean, shardCount: number, appsMayBringLimits: boolean, attributeApps: boolean, ledger: boolean, dimensions: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, createdAt: string, updatedAt: string, version: number, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } }, secretRetrieval: { token: string, expiresAt: string } } | null };

export type UpdateOrgMutationVariables = Exact<{
  input: UpdateOrgInput;
}>;


export type UpdateOrgMutation = { updateOrg: { id: string, orgId: string, name: string, timezone: string, timezoneEffectiveAt: string | null, quotaScope: QuotaScope, modelOrdering: Array<string>, stickyFallbackEnabled: boolean, shardCount: number, appsMayBringLimits: boolean, attributeApps: boolean, ledger: boolean, dimensions: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, createdAt: string, updatedAt: string, version: number, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } } | null };

export type RegisterAppMutationVariables = Exact<{
  input: RegisterAppInput;
}>;


export type RegisterAppMutation = { registerApp: { app: { id: string, appId: string, name: string, modelOrdering: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, inheritedFields: Array<string>, createdAt: string, updatedAt: string, version: number, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } }, secretRetrieval: { token: string, expiresAt: string } } | null };

export type UpdateAppMutationVariables = Exact<{
  input: UpdateAppInput;
}>;


export type UpdateAppMutation = { updateApp: { id: string, appId: string, name: string, modelOrdering: Array<string>, tightModeThresholdPct: number, refreshIntervalNormalSecs: number, refreshIntervalTightSecs: number, inheritedFields: Array<string>, createdAt: string, updatedAt: string, version: number, quotas: Array<{ label: string, dailyUsdMicros: number }>, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } } | null };

export type RetrieveSecretMutationVariables = Exact<{
  token: string;
}>;


export type RetrieveSecretMutation = { retrieveSecret: { clientId: string, clientSecret: string } | null };

export type IssueTokenMutationVariables = Exact<{
  input: IssueTokenInput;
}>;


export type IssueTokenMutation = { issueToken: { accessToken: string, refreshToken: string, tokenType: string, expiresInSecs: number, refreshExpiresInSecs: number } | null };

export type RefreshTokenMutationVariables = Exact<{
  refreshToken: string;
}>;


export type RefreshTokenMutation = { refreshToken: { accessToken: string, refreshToken: string, tokenType: string, expiresInSecs: number, refreshExpiresInSecs: number } | null };

export type RevokeTokenMutationVariables = Exact<{
  token: string;
}>;


export type RevokeTokenMutation = { revokeToken: boolean | null };

export type RotateCredentialsMutationVariables = Exact<{
  input: RotateCredentialsInput;
}>;


export type RotateCredentialsMutation = { rotateCredentials: { credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null }, secretRetrieval: { token: string, expiresAt: string } } | null };

export type ClientPartsFragment = { clientId: string, name: string, role: ClientRole, createdAt: string, lastLoginAt: string | null, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } };

export type CreateClientMutationVariables = Exact<{
  input: CreateClientInput;
}>;


export type CreateClientMutation = { createClient: { client: { clientId: string, name: string, role: ClientRole, createdAt: string, lastLoginAt: string | null, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } }, secretRetrieval: { token: string, expiresAt: string } } | null };

export type DeleteClientMutationVariables = Exact<{
  orgId?: string | null | undefined;
  clientId: string;
}>;


export type DeleteClientMutation = { deleteClient: boolean | null };

export type ClientsQueryVariables = Exact<{
  orgId?: string | null | undefined;
  appId?: string | null | undefined;
}>;


export type ClientsQuery = { org: { clients: Array<{ clientId: string, name: string, role: ClientRole, createdAt: string, lastLoginAt: string | null, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } }>, app: { clients: Array<{ clientId: string, name: string, role: ClientRole, createdAt: string, lastLoginAt: string | null, credentials: { clientId: string, secretCreatedAt: string | null, graceExpiresAt: string | null } }> } | null } | null };

export type SuspendOrgMutationVariables = Exact<{
  orgId: string;
}>;


export type SuspendOrgMutation = { suspendOrg: { orgId: string, suspendedAt: string | null } | null };

export type ResumeOrgMutationVariables = Exact<{
  orgId: string;
}>;


export type ResumeOrgMutation = { resumeOrg: { orgId: string, suspendedAt: string | null } | null };

export type SuspendAppMutationVariables = Exact<{
  orgId?: string | null | undefined;
  appId: string;
}>;


export type SuspendAppMutation = { suspendApp: { appId: string, suspendedAt: string | null } | null };

export type ResumeAppMutationVariables = Exact<{
  orgId?: string | null | undefined;
  appId: string;
}>;


export type ResumeAppMutation = { resumeApp: { appId: string, suspendedAt: string | null } | null };

export type DeleteAppMutationVariables = Exact<{
  orgId?: string | null | undefined;
  appId: string;
}>;


export type DeleteAppMutation = { deleteApp: boolean | null };

export type SpendFragment = { label: string, bedrockModelId: string | null, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, quotaUsdMicros: number | null, quotaPct: number | null, mode: SpendMode, asOf: string | null };

export type ReceiptFragment = { requestId: string, replayed: boolean, label: string, day: string, costUsdMicros: number, priceSource: PriceSource };

export type DayFragment = { day: string, scope: QuotaScope, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, mode: SpendMode, resetsAt: string, labels: Array<{ label: string, bedrockModelId: string | null, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, quotaUsdMicros: number | null, quotaPct: number | null, mode: SpendMode, asOf: string | null }>, stickyFallback: { activeLabel: string, previousLabel: string | null, reason: StickyReason, activatedAt: string } | null };

export type SelectionFragment = { allowed: boolean, label: string | null, bedrockModelId: string | null, reason: SelectionReason, mode: SpendMode, budget: string | null, recheckAfterSecs: number, day: string, resetsAt: string, skipped: Array<{ label: string, reason: SkipReason }>, chain: Array<{ label: string, bedrockModelId: string | null, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, quotaUsdMicros: number | null, quotaPct: number | null, mode: SpendMode, asOf: string | null }>, price: { inputUsdMicrosPer1M: number, outputUsdMicrosPer1M: number, source: PriceSource, fetchedAt: string | null } | null };

export type AlertFragment = { id: string, cursor: string, kind: QuotaAlertKind, orgId: string, appId: string | null, label: string, activeLabel: string | null, day: string, costUsdMicros: number, quotaUsdMicros: number, quotaPct: number, thresholdPct: number, raisedAt: string };

export type SubmitCostMutationVariables = Exact<{
  input: SubmitCostInput;
}>;


export type SubmitCostMutation = { submitCost: { requestId: string, replayed: boolean, label: string, day: string, costUsdMicros: number, priceSource: PriceSource } | null };

export type SubmitCostWithSpendMutationVariables = Exact<{
  input: SubmitCostInput;
}>;


export type SubmitCostWithSpendMutation = { submitCost: { requestId: string, replayed: boolean, label: string, day: string, costUsdMicros: number, priceSource: PriceSource, spend: { label: string, bedrockModelId: string | null, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, quotaUsdMicros: number | null, quotaPct: number | null, mode: SpendMode, asOf: string | null } } | null };

export type SubmitCostWithLinesMutationVariables = Exact<{
  input: SubmitCostInput;
}>;


export type SubmitCostWithLinesMutation = { submitCost: { requestId: string, replayed: boolean, label: string, day: string, costUsdMicros: number, priceSource: PriceSource, lines: Array<{ name: string, quantity: number, usdMicrosPer1M: number, costUsdMicros: number }> } | null };

export type SubmitCostsMutationVariables = Exact<{
  inputs: Array<SubmitCostInput> | SubmitCostInput;
}>;


export type SubmitCostsMutation = { submitCosts: Array<{ requestId: string, receipt: { requestId: string, replayed: boolean, label: string, day: string, costUsdMicros: number, priceSource: PriceSource } | null, error: { code: string, message: string } | null }> | null };

export type OverrideModelMutationVariables = Exact<{
  input: OverrideModelInput;
}>;


export type OverrideModelMutation = { overrideModel: { allowed: boolean, label: string | null, bedrockModelId: string | null, reason: SelectionReason, mode: SpendMode, budget: string | null, recheckAfterSecs: number, day: string, resetsAt: string, skipped: Array<{ label: string, reason: SkipReason }>, chain: Array<{ label: string, bedrockModelId: string | null, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, quotaUsdMicros: number | null, quotaPct: number | null, mode: SpendMode, asOf: string | null }>, price: { inputUsdMicrosPer1M: number, outputUsdMicrosPer1M: number, source: PriceSource, fetchedAt: string | null } | null } | null };

export type OrgSpendQueryVariables = Exact<{
  orgId?: string | null | undefined;
  day?: string | null | undefined;
  consistency?: Consistency;
}>;


export type OrgSpendQuery = { org: { spend: { day: string, scope: QuotaScope, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, mode: SpendMode, resetsAt: string, labels: Array<{ label: string, bedrockModelId: string | null, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, quotaUsdMicros: number | null, quotaPct: number | null, mode: SpendMode, asOf: string | null }>, stickyFallback: { activeLabel: string, previousLabel: string | null, reason: StickyReason, activatedAt: string } | null } } | null };

export type AppSpendQueryVariables = Exact<{
  orgId?: string | null | undefined;
  appId: string;
  day?: string | null | undefined;
  consistency?: Consistency;
}>;


export type AppSpendQuery = { org: { app: { spend: { day: string, scope: QuotaScope, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, mode: SpendMode, resetsAt: string, labels: Array<{ label: string, bedrockModelId: string | null, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, quotaUsdMicros: number | null, quotaPct: number | null, mode: SpendMode, asOf: string | null }>, stickyFallback: { activeLabel: string, previousLabel: string | null, reason: StickyReason, activatedAt: string } | null } } | null } | null };

export type AppHistoryQueryVariables = Exact<{
  orgId?: string | null | undefined;
  appId: string;
  from: string;
  to: string;
}>;


export type AppHistoryQuery = { org: { app: { spendHistory: Array<{ day: string, scope: QuotaScope, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, mode: SpendMode, resetsAt: string, labels: Array<{ label: string, bedrockModelId: string | null, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, quotaUsdMicros: number | null, quotaPct: number | null, mode: SpendMode, asOf: string | null }>, stickyFallback: { activeLabel: string, previousLabel: string | null, reason: StickyReason, activatedAt: string } | null }> } | null } | null };

export type OrgHistoryQueryVariables = Exact<{
  orgId?: string | null | undefined;
  from: string;
  to: string;
}>;


export type OrgHistoryQuery = { org: { spendHistory: Array<{ day: string, scope: QuotaScope, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, mode: SpendMode, resetsAt: string, labels: Array<{ label: string, bedrockModelId: string | null, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, quotaUsdMicros: number | null, quotaPct: number | null, mode: SpendMode, asOf: string | null }>, stickyFallback: { activeLabel: string, previousLabel: string | null, reason: StickyReason, activatedAt: string } | null }> } | null };

export type SelectionQueryVariables = Exact<{
  orgId?: string | null | undefined;
  appId: string;
}>;


export type SelectionQuery = { org: { app: { modelSelection: { allowed: boolean, label: string | null, bedrockModelId: string | null, reason: SelectionReason, mode: SpendMode, budget: string | null, recheckAfterSecs: number, day: string, resetsAt: string, skipped: Array<{ label: string, reason: SkipReason }>, chain: Array<{ label: string, bedrockModelId: string | null, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, quotaUsdMicros: number | null, quotaPct: number | null, mode: SpendMode, asOf: string | null }>, price: { inputUsdMicrosPer1M: number, outputUsdMicrosPer1M: number, source: PriceSource, fetchedAt: string | null } | null } } | null } | null };

export type OrgAlertsQueryVariables = Exact<{
  orgId?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type OrgAlertsQuery = { org: { alerts: { nodes: Array<{ id: string, cursor: string, kind: QuotaAlertKind, orgId: string, appId: string | null, label: string, activeLabel: string | null, day: string, costUsdMicros: number, quotaUsdMicros: number, quotaPct: number, thresholdPct: number, raisedAt: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type AppAlertsQueryVariables = Exact<{
  orgId?: string | null | undefined;
  appId: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type AppAlertsQuery = { org: { app: { alerts: { nodes: Array<{ id: string, cursor: string, kind: QuotaAlertKind, orgId: string, appId: string | null, label: string, activeLabel: string | null, day: string, costUsdMicros: number, quotaUsdMicros: number, quotaPct: number, thresholdPct: number, raisedAt: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null } | null };

export type QuotaAlertsSubscriptionVariables = Exact<{
  orgId?: string | null | undefined;
  appId?: string | null | undefined;
  kinds?: Array<QuotaAlertKind> | QuotaAlertKind | null | undefined;
  after?: string | null | undefined;
}>;


export type QuotaAlertsSubscription = { quotaAlerts: { id: string, cursor: string, kind: QuotaAlertKind, orgId: string, appId: string | null, label: string, activeLabel: string | null, day: string, costUsdMicros: number, quotaUsdMicros: number, quotaPct: number, thresholdPct: number, raisedAt: string } };

export type LimitFieldsFragment = { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number };

export type StatusFieldsFragment = { entityId: string, resource: string, requested: number, available: number, exceeded: boolean, retryAfterSecs: number, wouldRefuse: boolean, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } };

export type LimitConfigFieldsFragment = { level: LimitLevel, resource: string | null, entityId: string | null, onUnavailable: OnUnavailable | null, version: number, limits: Array<{ name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number }> };

export type EntityFieldsFragment = { id: string, entityId: string, name: string | null, cascade: boolean, createdAt: string | null, deletedAt: string | null, parent: { entityId: string } | null, metadata: Array<{ name: string, value: string }> };

export type BucketFieldsFragment = { id: string, entityId: string, resource: string, shardCount: number, limits: Array<{ available: number, totalConsumed: number, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } }> };

export type RefusalFieldsFragment = { message: string, retryAfterSecs: number, statuses: Array<{ entityId: string, resource: string, requested: number, available: number, exceeded: boolean, retryAfterSecs: number, wouldRefuse: boolean, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } }>, violations: Array<{ entityId: string, resource: string, requested: number, available: number, exceeded: boolean, retryAfterSecs: number, wouldRefuse: boolean, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } }> };

export type AcquireMutationVariables = Exact<{
  input: AcquireInput;
}>;


export type AcquireMutation = { acquire:
    | { __typename: 'Lease', leaseId: string, entityId: string, resource: string, degraded: boolean, expiresAt: string, renewBy: string | null, replayed: boolean, statuses: Array<{ entityId: string, resource: string, requested: number, available: number, exceeded: boolean, retryAfterSecs: number, wouldRefuse: boolean, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } }> }
    | { __typename: 'RateLimited', message: string, retryAfterSecs: number, statuses: Array<{ entityId: string, resource: string, requested: number, available: number, exceeded: boolean, retryAfterSecs: number, wouldRefuse: boolean, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } }>, violations: Array<{ entityId: string, resource: string, requested: number, available: number, exceeded: boolean, retryAfterSecs: number, wouldRefuse: boolean, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } }> }
   | null };

export type AcquireAllMutationVariables = Exact<{
  input: AcquireAllInput;
}>;


export type AcquireAllMutation = { acquireAll:
    | { __typename: 'Leases', leases: Array<{ leaseId: string, entityId: string, resource: string, renewBy: string | null, statuses: Array<{ entityId: string, resource: string, requested: number, available: number, exceeded: boolean, retryAfterSecs: number, wouldRefuse: boolean, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } }> }> }
    | { __typename: 'RateLimited', message: string, retryAfterSecs: number, statuses: Array<{ entityId: string, resource: string, requested: number, available: number, exceeded: boolean, retryAfterSecs: number, wouldRefuse: boolean, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } }>, violations: Array<{ entityId: string, resource: string, requested: number, available: number, exceeded: boolean, retryAfterSecs: number, wouldRefuse: boolean, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } }> }
   | null };

export type RenewLeaseMutationVariables = Exact<{
  leaseId: string;
  ttlSecs?: number | null | undefined;
}>;


export type RenewLeaseMutation = { renewLease: { leaseId: string, renewBy: string } | null };

export type TopUpMutationVariables = Exact<{
  input: TopUpInput;
}>;


export type TopUpMutation = { topUp: { replayed: boolean, statuses: Array<{ entityId: string, resource: string, requested: number, available: number, exceeded: boolean, retryAfterSecs: number, wouldRefuse: boolean, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } }> } | null };

export type AdjustLeaseMutationVariables = Exact<{
  input: AdjustLeaseInput;
}>;


export type AdjustLeaseMutation = { adjustLease: { leaseId: string, replayed: boolean, unknown: Array<string>, statuses: Array<{ entityId: string, resource: string, requested: number, available: number, exceeded: boolean, retryAfterSecs: number, wouldRefuse: boolean, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } }> } | null };

export type ReleaseLeaseMutationVariables = Exact<{
  leaseId: string;
}>;


export type ReleaseLeaseMutation = { releaseLease: { leaseId: string, replayed: boolean, unknown: Array<string>, statuses: Array<{ entityId: string, resource: string, requested: number, available: number, exceeded: boolean, retryAfterSecs: number, wouldRefuse: boolean, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } }> } | null };

export type AvailabilityQueryVariables = Exact<{
  orgId?: string | null | undefined;
  entityId: string;
  resource: string;
  consume?: Array<ConsumeInput> | ConsumeInput | null | undefined;
}>;


export type AvailabilityQuery = { availability: { retryAfterSecs: number, statuses: Array<{ entityId: string, resource: string, requested: number, available: number, exceeded: boolean, retryAfterSecs: number, wouldRefuse: boolean, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } }> } };

export type SetLimitsMutationVariables = Exact<{
  input: SetLimitsInput;
}>;


export type SetLimitsMutation = { setLimits: { level: LimitLevel, resource: string | null, entityId: string | null, onUnavailable: OnUnavailable | null, version: number, limits: Array<{ name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number }> } | null };

export type DeleteLimitsMutationVariables = Exact<{
  input: DeleteLimitsInput;
}>;


export type DeleteLimitsMutation = { deleteLimits: boolean | null };

export type CreateEntityMutationVariables = Exact<{
  input: CreateEntityInput;
}>;


export type CreateEntityMutation = { createEntity: { id: string, entityId: string, name: string | null, cascade: boolean, createdAt: string | null, deletedAt: string | null, parent: { entityId: string } | null, metadata: Array<{ name: string, value: string }> } | null };

export type UpdateEntityMutationVariables = Exact<{
  input: UpdateEntityInput;
}>;


export type UpdateEntityMutation = { updateEntity: { id: string, entityId: string, name: string | null, cascade: boolean, createdAt: string | null, deletedAt: string | null, parent: { entityId: string } | null, metadata: Array<{ name: string, value: string }> } | null };

export type DeleteEntityMutationVariables = Exact<{
  orgId?: string | null | undefined;
  entityId: string;
}>;


export type DeleteEntityMutation = { deleteEntity: boolean | null };

export type PurgeLimiterMutationVariables = Exact<{
  orgId?: string | null | undefined;
}>;


export type PurgeLimiterMutation = { purgeLimiter: boolean | null };

export type EntityOfQueryVariables = Exact<{
  orgId?: string | null | undefined;
  entityId: string;
}>;


export type EntityOfQuery = { org: { entity: { id: string, entityId: string, name: string | null, cascade: boolean, createdAt: string | null, deletedAt: string | null, buckets: Array<{ id: string, entityId: string, resource: string, shardCount: number, limits: Array<{ available: number, totalConsumed: number, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } }> }>, parent: { entityId: string } | null, metadata: Array<{ name: string, value: string }> } | null } | null };

export type BucketOfQueryVariables = Exact<{
  orgId?: string | null | undefined;
  entityId: string;
  resource: string;
}>;


export type BucketOfQuery = { org: { entity: { bucket: { id: string, entityId: string, resource: string, shardCount: number, limits: Array<{ available: number, totalConsumed: number, limit: { name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number } }> } | null } | null } | null };

export type ChildrenOfQueryVariables = Exact<{
  orgId?: string | null | undefined;
  entityId: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ChildrenOfQuery = { org: { entity: { children: { nodes: Array<{ id: string, entityId: string, name: string | null, cascade: boolean, createdAt: string | null, deletedAt: string | null, parent: { entityId: string } | null, metadata: Array<{ name: string, value: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null } | null };

export type EntitiesQueryVariables = Exact<{
  orgId?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type EntitiesQuery = { org: { entities: { nodes: Array<{ id: string, entityId: string, name: string | null, cascade: boolean, createdAt: string | null, deletedAt: string | null, parent: { entityId: string } | null, metadata: Array<{ name: string, value: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type SearchEntitiesQueryVariables = Exact<{
  orgId?: string | null | undefined;
  prefix: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type SearchEntitiesQuery = { org: { searchEntities: { nodes: Array<{ id: string, entityId: string, name: string | null, cascade: boolean, createdAt: string | null, deletedAt: string | null, parent: { entityId: string } | null, metadata: Array<{ name: string, value: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type EntitiesWithLimitsQueryVariables = Exact<{
  orgId?: string | null | undefined;
  resource: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type EntitiesWithLimitsQuery = { org: { entitiesWithLimits: { nodes: Array<{ id: string, entityId: string, name: string | null, cascade: boolean, createdAt: string | null, deletedAt: string | null, parent: { entityId: string } | null, metadata: Array<{ name: string, value: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type EffectiveLimitsOfQueryVariables = Exact<{
  orgId?: string | null | undefined;
  entityId: string;
  resource: string;
}>;


export type EffectiveLimitsOfQuery = { org: { entity: { effectiveLimits: { source: LimitLevel | null, onUnavailable: OnUnavailable, limits: Array<{ name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number }> } } | null } | null };

export type LimitConfigOfQueryVariables = Exact<{
  orgId?: string | null | undefined;
  level: LimitLevel;
  resource?: string | null | undefined;
  entityId?: string | null | undefined;
}>;


export type LimitConfigOfQuery = { org: { limitConfig: { level: LimitLevel, resource: string | null, entityId: string | null, onUnavailable: OnUnavailable | null, version: number, limits: Array<{ name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number }> } | null } | null };

export type LimitConfigsQueryVariables = Exact<{
  orgId?: string | null | undefined;
}>;


export type LimitConfigsQuery = { org: { limitConfigs: Array<{ level: LimitLevel, resource: string | null, entityId: string | null, onUnavailable: OnUnavailable | null, version: number, limits: Array<{ name: string, capacity: number, burst: number, refillAmount: number, refillPeriodSecs: number }> }> } | null };

export type CapacityOfQueryVariables = Exact<{
  orgId?: string | null | undefined;
  resource: string;
  limit: string;
  parentsOnly?: boolean;
}>;


export type CapacityOfQuery = { org: { resourceCapacity: { resource: string, limit: string, totalCapacity: number, totalAvailable: number, utilizationPct: number, entities: Array<{ entityId: string, capacity: number, available: number, utilizationPct: number }> } } | null };

export type UsageOfQueryVariables = Exact<{
  orgId?: string | null | undefined;
  entityId: string;
  window: UsageWindow;
  resource?: string | null | undefined;
  from?: string | null | undefined;
  to?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type UsageOfQuery = { org: { entity: { usage: { nodes: Array<{ entityId: string, resource: string, window: UsageWindow, windowStart: string, windowEnd: string, totalEvents: number, counters: Array<{ limit: string, consumed: number }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null } | null };

export type ResourceUsageOfQueryVariables = Exact<{
  orgId?: string | null | undefined;
  resource: string;
  window: UsageWindow;
  from: string;
  to: string;
  parentsOnly?: boolean;
}>;


export type ResourceUsageOfQuery = { org: { resourceUsage: Array<{ windowStart: string, windowEnd: string, entities: number, counters: Array<{ limit: string, consumed: number }> }> } | null };

export type RefusalsOfQueryVariables = Exact<{
  orgId?: string | null | undefined;
  entityId: string;
  window: UsageWindow;
  resource: string;
  from: string;
  to: string;
}>;


export type RefusalsOfQuery = { org: { entity: { usage: { nodes: Array<{ windowStart: string, totalEvents: number, counters: Array<{ limit: string, consumed: number, refused: number, wouldRefuse: number }> }> } } | null, resourceUsage: Array<{ windowStart: string, entities: number, counters: Array<{ limit: string, consumed: number, refused: number, wouldRefuse: number }> }> } | null };

export type TopEntitiesQueryVariables = Exact<{
  orgId?: string | null | undefined;
  resource: string;
  window: UsageWindow;
  limit: string;
  by?: TopEntitiesBy;
  first?: number;
}>;


export type TopEntitiesQuery = { org: { topEntities: { windowStart: string, windowEnd: string, truncated: boolean, entities: Array<{ entityId: string, consumed: number, refused: number }> } } | null };

export type ApiKeyFieldsFragment = { hardwareId: string | null, ownerId: string, id: string, keyId: string, description: string | null, active: boolean, createdAt: string, lastUsedAt: string | null };

export type ReadingFieldsFragment = { id: string, hardwareId: string, batchId: string, timestampMs: number, bootId: string, firmwareVersion: string, friendlyName: string | null, sensors: { bme280TempC: number | null, ds18b20TempC: number | null, humidityPct: number | null, pressureHpa: number | null, soilMoisturePct: number | null }, sensorStatus: { bme280: SensorHealth | null, ds18b20: SensorHealth | null, soilMoisture: SensorHealth | null } };

export type DeviceFieldsFragment = { ownerKeyId: string | null, id: string, hardwareId: string, confirmationId: string, friendlyName: string | null, firmwareVersion: string, firstRegisteredAt: string, lastSeenAt: string, lastBootId: string, capabilities: { sensors: Array<string>, features: Array<{ name: string, enabled: boolean }> } };

export type CreateApiKeyMutationVariables = Exact<{
  input: CreateApiKeyInput;
}>;


export type CreateApiKeyMutation = { createApiKey: { secret: string, apiKey: { hardwareId: string | null, ownerId: string, id: string, keyId: string, description: string | null, active: boolean, createdAt: string, lastUsedAt: string | null } } | null };

export type RevokeApiKeyMutationVariables = Exact<{
  orgId?: string | null | undefined;
  keyId: string;
}>;


export type RevokeApiKeyMutation = { revokeApiKey: { hardwareId: string | null, ownerId: string, id: string, keyId: string, description: string | null, active: boolean, createdAt: string, lastUsedAt: string | null } | null };

export type ApiKeysQueryVariables = Exact<{
  orgId?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ApiKeysQuery = { org: { apiKeys: { nodes: Array<{ hardwareId: string | null, ownerId: string, id: string, keyId: string, description: string | null, active: boolean, createdAt: string, lastUsedAt: string | null }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type RegisterDeviceMutationVariables = Exact<{
  input: RegisterDeviceInput;
}>;


export type RegisterDeviceMutation = { registerDevice: { created: boolean, device: { ownerKeyId: string | null, id: string, hardwareId: string, confirmationId: string, friendlyName: string | null, firmwareVersion: string, firstRegisteredAt: string, lastSeenAt: string, lastBootId: string, capabilities: { sensors: Array<string>, features: Array<{ name: string, enabled: boolean }> } } } | null };

export type RenameDeviceMutationVariables = Exact<{
  orgId?: string | null | undefined;
  hardwareId: string;
  friendlyName?: string | null | undefined;
}>;


export type RenameDeviceMutation = { renameDevice: { ownerKeyId: string | null, id: string, hardwareId: string, confirmationId: string, friendlyName: string | null, firmwareVersion: string, firstRegisteredAt: string, lastSeenAt: string, lastBootId: string, capabilities: { sensors: Array<string>, features: Array<{ name: string, enabled: boolean }> } } | null };

export type IngestMutationVariables = Exact<{
  input: IngestInput;
}>;


export type IngestMutation = { ingest: { settledBatchIds: Array<string>, verdicts: Array<{ index: number, batchId: string, kind: ReadingVerdictKind, error: { code: string, message: string } | null }> } | null };

export type AssignDeviceMutationVariables = Exact<{
  orgId?: string | null | undefined;
  hardwareId: string;
  keyId?: string | null | undefined;
}>;


export type AssignDeviceMutation = { assignDevice: { ownerKeyId: string | null, id: string, hardwareId: string, confirmationId: string, friendlyName: string | null, firmwareVersion: string, firstRegisteredAt: string, lastSeenAt: string, lastBootId: string, capabilities: { sensors: Array<string>, features: Array<{ name: string, enabled: boolean }> } } | null };

export type DeleteDeviceMutationVariables = Exact<{
  orgId?: string | null | undefined;
  hardwareId: string;
}>;


export type DeleteDeviceMutation = { deleteDevice: boolean | null };

export type DeviceCountQueryVariables = Exact<{
  orgId?: string | null | undefined;
}>;


export type DeviceCountQuery = { org: { deviceCount: number } | null };

export type DeviceOfQueryVariables = Exact<{
  orgId?: string | null | undefined;
  hardwareId: string;
}>;


export type DeviceOfQuery = { org: { device: { ownerKeyId: string | null, id: string, hardwareId: string, confirmationId: string, friendlyName: string | null, firmwareVersion: string, firstRegisteredAt: string, lastSeenAt: string, lastBootId: string, latestReading: { id: string, hardwareId: string, batchId: string, timestampMs: number, bootId: string, firmwareVersion: string, friendlyName: string | null, sensors: { bme280TempC: number | null, ds18b20TempC: number | null, humidityPct: number | null, pressureHpa: number | null, soilMoisturePct: number | null }, sensorStatus: { bme280: SensorHealth | null, ds18b20: SensorHealth | null, soilMoisture: SensorHealth | null } } | null, capabilities: { sensors: Array<string>, features: Array<{ name: string, enabled: boolean }> } } | null } | null };

export type DevicesQueryVariables = Exact<{
  orgId?: string | null | undefined;
  orderBy?: DeviceOrder | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type DevicesQuery = { org: { devices: { nodes: Array<{ ownerKeyId: string | null, id: string, hardwareId: string, confirmationId: string, friendlyName: string | null, firmwareVersion: string, firstRegisteredAt: string, lastSeenAt: string, lastBootId: string, latestReading: { id: string, hardwareId: string, batchId: string, timestampMs: number, bootId: string, firmwareVersion: string, friendlyName: string | null, sensors: { bme280TempC: number | null, ds18b20TempC: number | null, humidityPct: number | null, pressureHpa: number | null, soilMoisturePct: number | null }, sensorStatus: { bme280: SensorHealth | null, ds18b20: SensorHealth | null, soilMoisture: SensorHealth | null } } | null, capabilities: { sensors: Array<string>, features: Array<{ name: string, enabled: boolean }> } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type ReadingsOfQueryVariables = Exact<{
  orgId?: string | null | undefined;
  hardwareId: string;
  from?: string | null | undefined;
  to?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ReadingsOfQuery = { org: { device: { readings: { nodes: Array<{ batchId: string, timestampMs: number, sensors: { bme280TempC: number | null } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null } | null };

export type SeriesOfQueryVariables = Exact<{
  orgId?: string | null | undefined;
  hardwareId: string;
  metric: SensorMetric;
  from: string;
  to: string;
  stepSecs: number;
}>;


export type SeriesOfQuery = { org: { device: { series: Array<{ at: string, count: number, min: number | null, max: number | null, mean: number | null }> } | null } | null };

export type ReadingsSubscriptionVariables = Exact<{
  orgId?: string | null | undefined;
  hardwareId?: string | null | undefined;
  after?: string | null | undefined;
}>;


export type ReadingsSubscription = { readings: { cursor: string | null, gap: boolean, id: string, hardwareId: string, batchId: string, timestampMs: number, bootId: string, firmwareVersion: string, friendlyName: string | null, sensors: { bme280TempC: number | null, ds18b20TempC: number | null, humidityPct: number | null, pressureHpa: number | null, soilMoisturePct: number | null }, sensorStatus: { bme280: SensorHealth | null, ds18b20: SensorHealth | null, soilMoisture: SensorHealth | null } } };

export type OrgSeriesQueryVariables = Exact<{
  orgId?: string | null | undefined;
  from: string;
  to: string;
  step: SpendStep;
  label?: string | null | undefined;
}>;


export type OrgSeriesQuery = { org: { spendSeries: Array<{ day: string, startsAt: string, endsAt: string, costUsdMicros: number, requests: number, unattributedUsdMicros: number, unattributedRequests: number }> } | null };

export type OrgBreakdownQueryVariables = Exact<{
  orgId?: string | null | undefined;
  from: string;
  to: string;
  by: BreakdownKind;
  name?: string | null | undefined;
  top?: number | null | undefined;
}>;


export type OrgBreakdownQuery = { org: { spendBreakdown: { by: BreakdownKind, total: { costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number }, rows: Array<{ name: string, costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number, labels: Array<{ name: string, costUsdMicros: number, requests: number }> | null }>, rest: { costUsdMicros: number, inputTokens: number, outputTokens: number, requests: number } } } | null };

export type EntryFragment = { requestId: string, appId: string, label: string, day: string, hourStartsAt: string | null, occurredAt: string, receivedAt: string, inputTokens: number, outputTokens: number, costUsdMicros: number, correctedUsdMicros: number, status: CallStatus, priceSource: PriceSource, dimensions: Array<{ name: string, value: string }>, corrections: Array<{ correctionId: string, deltaUsdMicros: number, reason: string, correctedAt: string }> };

export type CostQueryVariables = Exact<{
  orgId?: string | null | undefined;
  appId: string;
  requestId: string;
}>;


export type CostQuery = { org: { cost: { requestId: string, appId: string, label: string, day: string, hourStartsAt: string | null, occurredAt: string, receivedAt: string, inputTokens: number, outputTokens: number, costUsdMicros: number, correctedUsdMicros: number, status: CallStatus, priceSource: PriceSource, dimensions: Array<{ name: string, value: string }>, corrections: Array<{ correctionId: string, deltaUsdMicros: number, reason: string, correctedAt: string }> } | null, app: { cost: { requestId: string, appId: string, label: string, day: string, hourStartsAt: string | null, occurredAt: string, receivedAt: string, inputTokens: number, outputTokens: number, costUsdMicros: number, correctedUsdMicros: number, status: CallStatus, priceSource: PriceSource, dimensions: Array<{ name: string, value: string }>, corrections: Array<{ correctionId: string, deltaUsdMicros: number, reason: string, correctedAt: string }> } | null } | null } | null };

export type CostsQueryVariables = Exact<{
  orgId?: string | null | undefined;
  from: string;
  to: string;
  appId?: string | null | undefined;
  label?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type CostsQuery = { org: { costs: { edges: Array<{ cursor: string }>, nodes: Array<{ requestId: string, appId: string, label: string, day: string, hourStartsAt: string | null, occurredAt: string, receivedAt: string, inputTokens: number, outputTokens: number, costUsdMicros: number, correctedUsdMicros: number, status: CallStatus, priceSource: PriceSource, dimensions: Array<{ name: string, value: string }>, corrections: Array<{ correctionId: string, deltaUsdMicros: number, reason: string, correctedAt: string }> }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null };

export type AppCostsQueryVariables = Exact<{
  orgId?: string | null | undefined;
  appId: string;
  from: string;
  to: string;
  label?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type AppCostsQuery = { org: { app: { costs: { nodes: Array<{ requestId: string, appId: string }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } } | null } | null };

export type CorrectCostMutationVariables = Exact<{
  input: CorrectCostInput;
}>;


export type CorrectCostMutation = { correctCost: { replayed: boolean, correction: { correctionId: string, deltaUsdMicros: number, reason: string, correctedAt: string }, cost: { requestId: string, appId: string, label: string, day: string, hourStartsAt: string | null, occurredAt: string, receivedAt: string, inputTokens: number, outputTokens: number, costUsdMicros: number, correctedUsdMicros: number, status: CallStatus, priceSource: PriceSource, dimensions: Array<{ name: string, value: string }>, corrections: Array<{ correctionId: string, deltaUsdMicros: number, reason: string, correctedAt: string }> } | null } | null };

export type BudgetFragment = { name: string, appId: string | null, label: string | null, period: BudgetPeriod, usdMicros: number, thresholdsPct: Array<number>, enforcement: BudgetEnforcement, version: number, createdAt: string, updatedAt: string, inForceUsdMicros: number, periodStart: string, periodEnd: string, resetsAt: string, spentUsdMicros: number, remainingUsdMicros: number, pct: number, asOf: string | null, dimension: { name: string, value: string } | null, raise: { until: string, usdMicros: number } | null };

export type SetBudgetMutationVariables = Exact<{
  input: SetBudgetInput;
}>;


export type SetBudgetMutation = { setBudget: { name: string, appId: string | null, label: string | null, period: BudgetPeriod, usdMicros: number, thresholdsPct: Array<number>, enforcement: BudgetEnforcement, version: number, createdAt: string, updatedAt: string, inForceUsdMicros: number, periodStart: string, periodEnd: string, resetsAt: string, spentUsdMicros: number, remainingUsdMicros: number, pct: number, asOf: string | null, dimension: { name: string, value: string } | null, raise: { until: string, usdMicros: number } | null } | null };

export type DeleteBudgetMutationVariables = Exact<{
  orgId?: string | null | undefined;
  name: string;
  expectedVersion?: number | null | undefined;
}>;


export type DeleteBudgetMutation = { deleteBudget: boolean | null };

export type BudgetsQueryVariables = Exact<{
  orgId?: string | null | undefined;
}>;


export type BudgetsQuery = { org: { budgets: Array<{ name: string, appId: string | null, label: string | null, period: BudgetPeriod, usdMicros: number, thresholdsPct: Array<number>, enforcement: BudgetEnforcement, version: number, createdAt: string, updatedAt: string, inForceUsdMicros: number, periodStart: string, periodEnd: string, resetsAt: string, spentUsdMicros: number, remainingUsdMicros: number, pct: number, asOf: string | null, dimension: { name: string, value: string } | null, raise: { until: string, usdMicros: number } | null }> } | null };

export type BudgetAlertsQueryVariables = Exact<{
  orgId?: string | null | undefined;
  first?: number | null | undefined;
}>;


export type BudgetAlertsQuery = { org: { alerts: { nodes: Array<{ budget: string | null, periodStart: string | null, periodEnd: string | null, id: string, cursor: string, kind: QuotaAlertKind, orgId: string, appId: string | null, label: string, activeLabel: string | null, day: string, costUsdMicros: number, quotaUsdMicros: number, quotaPct: number, thresholdPct: number, raisedAt: string }> } } | null };

export type BudgetForecastsQueryVariables = Exact<{
  orgId?: string | null | undefined;
}>;


export type BudgetForecastsQuery = { org: { budgets: Array<{ name: string, forecast: { burnUsdMicrosPerHour: number, projectedUsdMicros: number, exhaustsAt: string | null, basis: string } | null }> } | null };

export type AdmittedFragment = { admissionId: string, requestId: string, label: string, modelId: string, reservedUsdMicros: number, expiresAt: string, replayed: boolean, degraded: boolean, statuses: Array<{ entityId: string, available: number, limit: { name: string } }> };

export type AdmitMutationVariables = Exact<{
  input: AdmitInput;
}>;


export type AdmitMutation = { admit:
    | { __typename: 'Admitted', admissionId: string, requestId: string, label: string, modelId: string, reservedUsdMicros: number, expiresAt: string, replayed: boolean, degraded: boolean, statuses: Array<{ entityId: string, available: number, limit: { name: string } }> }
    | { __typename: 'Denied', retryAt: string | null, binding: { kind: BindingKind, name: string, label: string | null, entityId: string | null, missing: number, wouldPass: number }, statuses: Array<{ entityId: string, available: number, limit: { name: string } }> }
   | null };

export type SettleMutationVariables = Exact<{
  input: SettleInput;
}>;


export type SettleMutation = { settle: { requestId: string, replayed: boolean, label: string, day: string, costUsdMicros: number } | null };

export type CancelAdmissionMutationVariables = Exact<{
  admissionId: string;
  sent: boolean;
}>;


export type CancelAdmissionMutation = { cancelAdmission: { requestId: string, replayed: boolean, label: string, day: string, costUsdMicros: number } | null };

export type RenewAdmissionMutationVariables = Exact<{
  admissionId: string;
  ttlSecs: number;
}>;


export type RenewAdmissionMutation = { renewAdmission: { admissionId: string, requestId: string, label: string, modelId: string, reservedUsdMicros: number, expiresAt: string, replayed: boolean, degraded: boolean, statuses: Array<{ entityId: string, available: number, limit: { name: string } }> } | null };

export type OverrunsQueryVariables = Exact<{
  orgId?: string | null | undefined;
  appId?: string | null | undefined;
  from: string;
  to: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type OverrunsQuery = { overruns: { nodes: Array<{ requestId: string, appId: string, label: string, day: string, kind: OverrunKind, overUsdMicros: number }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export const TokensFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Tokens"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TokenPair"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"accessToken"}},{"kind":"Field","name":{"kind":"Name","value":"refreshToken"}},{"kind":"Field","name":{"kind":"Name","value":"tokenType"}},{"kind":"Field","name":{"kind":"Name","value":"expiresInSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshExpiresInSecs"}}]}}]} as unknown as DocumentNode<TokensFragment, unknown>;
export const OrgSettingsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OrgSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Org"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"timezone"}},{"kind":"Field","name":{"kind":"Name","value":"timezoneEffectiveAt"}},{"kind":"Field","name":{"kind":"Name","value":"quotaScope"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"stickyFallbackEnabled"}},{"kind":"Field","name":{"kind":"Name","value":"shardCount"}},{"kind":"Field","name":{"kind":"Name","value":"appsMayBringLimits"}},{"kind":"Field","name":{"kind":"Name","value":"attributeApps"}},{"kind":"Field","name":{"kind":"Name","value":"ledger"}},{"kind":"Field","name":{"kind":"Name","value":"dimensions"}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]} as unknown as DocumentNode<OrgSettingsFragment, unknown>;
export const AppSettingsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AppSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"App"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"inheritedFields"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]} as unknown as DocumentNode<AppSettingsFragment, unknown>;
export const PriceChangeFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PriceChange"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PriceChange"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"effectiveFrom"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"entries"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"above"}}]}}]}}]} as unknown as DocumentNode<PriceChangeFragment, unknown>;
export const ModelFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Model"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Model"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"modelId"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"provider"}},{"kind":"Field","name":{"kind":"Name","value":"tier"}},{"kind":"Field","name":{"kind":"Name","value":"family"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"retiredAt"}},{"kind":"Field","name":{"kind":"Name","value":"price"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"entries"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"above"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"prices"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PriceChange"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PriceChange"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PriceChange"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"effectiveFrom"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"entries"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"above"}}]}}]}}]} as unknown as DocumentNode<ModelFragment, unknown>;
export const ClientPartsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ClientParts"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Client"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"role"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastLoginAt"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}}]}}]} as unknown as DocumentNode<ClientPartsFragment, unknown>;
export const ReceiptFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Receipt"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CostReceipt"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"priceSource"}}]}}]} as unknown as DocumentNode<ReceiptFragment, unknown>;
export const SpendFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Spend"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LabelSpend"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"quotaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaPct"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}}]} as unknown as DocumentNode<SpendFragment, unknown>;
export const DayFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Day"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DaySpend"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"scope"}},{"kind":"Field","name":{"kind":"Name","value":"labels"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Spend"}}]}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"stickyFallback"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activeLabel"}},{"kind":"Field","name":{"kind":"Name","value":"previousLabel"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"activatedAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"resetsAt"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Spend"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LabelSpend"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"quotaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaPct"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}}]} as unknown as DocumentNode<DayFragment, unknown>;
export const SelectionFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Selection"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ModelSelection"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"allowed"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"budget"}},{"kind":"Field","name":{"kind":"Name","value":"skipped"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}},{"kind":"Field","name":{"kind":"Name","value":"chain"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Spend"}}]}},{"kind":"Field","name":{"kind":"Name","value":"price"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"inputUsdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"outputUsdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"fetchedAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"recheckAfterSecs"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"resetsAt"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Spend"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LabelSpend"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"quotaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaPct"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}}]} as unknown as DocumentNode<SelectionFragment, unknown>;
export const AlertFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Alert"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"QuotaAlert"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"activeLabel"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaPct"}},{"kind":"Field","name":{"kind":"Name","value":"thresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"raisedAt"}}]}}]} as unknown as DocumentNode<AlertFragment, unknown>;
export const LimitFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}}]} as unknown as DocumentNode<LimitFieldsFragment, unknown>;
export const LimitConfigFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitConfigFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LimitConfig"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"level"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"limits"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"onUnavailable"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}}]} as unknown as DocumentNode<LimitConfigFieldsFragment, unknown>;
export const EntityFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntityFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Entity"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"parent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"cascade"}},{"kind":"Field","name":{"kind":"Name","value":"metadata"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"deletedAt"}}]}}]} as unknown as DocumentNode<EntityFieldsFragment, unknown>;
export const BucketFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"BucketFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Bucket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"shardCount"}},{"kind":"Field","name":{"kind":"Name","value":"limits"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"limit"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"totalConsumed"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}}]} as unknown as DocumentNode<BucketFieldsFragment, unknown>;
export const StatusFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"StatusFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LimitStatus"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"limit"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"requested"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"exceeded"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSecs"}},{"kind":"Field","name":{"kind":"Name","value":"wouldRefuse"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}}]} as unknown as DocumentNode<StatusFieldsFragment, unknown>;
export const RefusalFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"RefusalFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RateLimited"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSecs"}},{"kind":"Field","name":{"kind":"Name","value":"statuses"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"violations"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"StatusFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LimitStatus"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"limit"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"requested"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"exceeded"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSecs"}},{"kind":"Field","name":{"kind":"Name","value":"wouldRefuse"}}]}}]} as unknown as DocumentNode<RefusalFieldsFragment, unknown>;
export const ApiKeyFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ApiKeyFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiKey"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hardwareId"}},{"kind":"Field","name":{"kind":"Name","value":"ownerId"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"keyId"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"active"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}}]}}]} as unknown as DocumentNode<ApiKeyFieldsFragment, unknown>;
export const ReadingFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ReadingFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Reading"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"hardwareId"}},{"kind":"Field","name":{"kind":"Name","value":"batchId"}},{"kind":"Field","name":{"kind":"Name","value":"timestampMs"}},{"kind":"Field","name":{"kind":"Name","value":"bootId"}},{"kind":"Field","name":{"kind":"Name","value":"firmwareVersion"}},{"kind":"Field","name":{"kind":"Name","value":"friendlyName"}},{"kind":"Field","name":{"kind":"Name","value":"sensors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"bme280TempC"}},{"kind":"Field","name":{"kind":"Name","value":"ds18b20TempC"}},{"kind":"Field","name":{"kind":"Name","value":"humidityPct"}},{"kind":"Field","name":{"kind":"Name","value":"pressureHpa"}},{"kind":"Field","name":{"kind":"Name","value":"soilMoisturePct"}}]}},{"kind":"Field","name":{"kind":"Name","value":"sensorStatus"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"bme280"}},{"kind":"Field","name":{"kind":"Name","value":"ds18b20"}},{"kind":"Field","name":{"kind":"Name","value":"soilMoisture"}}]}}]}}]} as unknown as DocumentNode<ReadingFieldsFragment, unknown>;
export const DeviceFieldsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"DeviceFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Device"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ownerKeyId"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"hardwareId"}},{"kind":"Field","name":{"kind":"Name","value":"confirmationId"}},{"kind":"Field","name":{"kind":"Name","value":"friendlyName"}},{"kind":"Field","name":{"kind":"Name","value":"firmwareVersion"}},{"kind":"Field","name":{"kind":"Name","value":"capabilities"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sensors"}},{"kind":"Field","name":{"kind":"Name","value":"features"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"firstRegisteredAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastSeenAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastBootId"}}]}}]} as unknown as DocumentNode<DeviceFieldsFragment, unknown>;
export const EntryFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Entry"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CostEntry"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"hourStartsAt"}},{"kind":"Field","name":{"kind":"Name","value":"occurredAt"}},{"kind":"Field","name":{"kind":"Name","value":"receivedAt"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"correctedUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"priceSource"}},{"kind":"Field","name":{"kind":"Name","value":"dimensions"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"corrections"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"correctionId"}},{"kind":"Field","name":{"kind":"Name","value":"deltaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"correctedAt"}}]}}]}}]} as unknown as DocumentNode<EntryFragment, unknown>;
export const BudgetFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Budget"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Budget"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dimension"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"period"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"thresholdsPct"}},{"kind":"Field","name":{"kind":"Name","value":"enforcement"}},{"kind":"Field","name":{"kind":"Name","value":"raise"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"until"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"inForceUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"periodStart"}},{"kind":"Field","name":{"kind":"Name","value":"periodEnd"}},{"kind":"Field","name":{"kind":"Name","value":"resetsAt"}},{"kind":"Field","name":{"kind":"Name","value":"spentUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"remainingUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"pct"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}}]} as unknown as DocumentNode<BudgetFragment, unknown>;
export const AdmittedFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Admitted"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Admitted"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"admissionId"}},{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"modelId"}},{"kind":"Field","name":{"kind":"Name","value":"reservedUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"statuses"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"limit"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"degraded"}}]}}]} as unknown as DocumentNode<AdmittedFragment, unknown>;
export const MeDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Me"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"me"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"org"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"app"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]} as unknown as DocumentNode<MeQuery, MeQueryVariables>;
export const ModelsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Models"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"models"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"tier"}},{"kind":"Field","name":{"kind":"Name","value":"family"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"price"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"inputUsdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"outputUsdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"fetchedAt"}}]}}]}}]}}]} as unknown as DocumentNode<ModelsQuery, ModelsQueryVariables>;
export const CatalogDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Catalog"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"includeRetired"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Boolean"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"models"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"includeRetired"},"value":{"kind":"Variable","name":{"kind":"Name","value":"includeRetired"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Model"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PriceChange"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PriceChange"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"effectiveFrom"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"entries"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"above"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Model"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Model"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"modelId"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"provider"}},{"kind":"Field","name":{"kind":"Name","value":"tier"}},{"kind":"Field","name":{"kind":"Name","value":"family"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"retiredAt"}},{"kind":"Field","name":{"kind":"Name","value":"price"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"entries"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"above"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"prices"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PriceChange"}}]}}]}}]} as unknown as DocumentNode<CatalogQuery, CatalogQueryVariables>;
export const UpsertModelDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"UpsertModel"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpsertModelInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"upsertModel"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Model"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PriceChange"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PriceChange"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"effectiveFrom"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"entries"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"above"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Model"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Model"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"modelId"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"provider"}},{"kind":"Field","name":{"kind":"Name","value":"tier"}},{"kind":"Field","name":{"kind":"Name","value":"family"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"retiredAt"}},{"kind":"Field","name":{"kind":"Name","value":"price"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"entries"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"above"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"prices"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PriceChange"}}]}}]}}]} as unknown as DocumentNode<UpsertModelMutation, UpsertModelMutationVariables>;
export const RetireModelDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RetireModel"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"label"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"expectedVersion"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"SafeInt"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"retireModel"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"label"},"value":{"kind":"Variable","name":{"kind":"Name","value":"label"}}},{"kind":"Argument","name":{"kind":"Name","value":"expectedVersion"},"value":{"kind":"Variable","name":{"kind":"Name","value":"expectedVersion"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Model"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PriceChange"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PriceChange"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"effectiveFrom"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"entries"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"above"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Model"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Model"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"modelId"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"provider"}},{"kind":"Field","name":{"kind":"Name","value":"tier"}},{"kind":"Field","name":{"kind":"Name","value":"family"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"retiredAt"}},{"kind":"Field","name":{"kind":"Name","value":"price"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"entries"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"above"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"prices"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PriceChange"}}]}}]}}]} as unknown as DocumentNode<RetireModelMutation, RetireModelMutationVariables>;
export const SetOrgPriceDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SetOrgPrice"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SetOrgPriceInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"setOrgPrice"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"changes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PriceChange"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PriceChange"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PriceChange"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"effectiveFrom"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"entries"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"above"}}]}}]}}]} as unknown as DocumentNode<SetOrgPriceMutation, SetOrgPriceMutationVariables>;
export const OrgPricesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"OrgPrices"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"prices"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"changes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"PriceChange"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"PriceChange"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"PriceChange"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"effectiveFrom"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"entries"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"above"}}]}}]}}]} as unknown as DocumentNode<OrgPricesQuery, OrgPricesQueryVariables>;
export const PlatformAuditDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"PlatformAudit"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"platformAuditEvents"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"entityId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"actor"}},{"kind":"Field","name":{"kind":"Name","value":"action"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"details"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}},{"kind":"Field","name":{"kind":"Name","value":"previousValue"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]} as unknown as DocumentNode<PlatformAuditQuery, PlatformAuditQueryVariables>;
export const OrgDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Org"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"OrgSettings"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OrgSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Org"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"timezone"}},{"kind":"Field","name":{"kind":"Name","value":"timezoneEffectiveAt"}},{"kind":"Field","name":{"kind":"Name","value":"quotaScope"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"stickyFallbackEnabled"}},{"kind":"Field","name":{"kind":"Name","value":"shardCount"}},{"kind":"Field","name":{"kind":"Name","value":"appsMayBringLimits"}},{"kind":"Field","name":{"kind":"Name","value":"attributeApps"}},{"kind":"Field","name":{"kind":"Name","value":"ledger"}},{"kind":"Field","name":{"kind":"Name","value":"dimensions"}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]} as unknown as DocumentNode<OrgQuery, OrgQueryVariables>;
export const OrgsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Orgs"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orgs"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"edges"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"node"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orgId"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"hasPreviousPage"}},{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]} as unknown as DocumentNode<OrgsQuery, OrgsQueryVariables>;
export const AppsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Apps"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"apps"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"appId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"hasPreviousPage"}},{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}}]} as unknown as DocumentNode<AppsQuery, AppsQueryVariables>;
export const AppEnforcementDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"AppEnforcement"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"app"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"enforcement"}},{"kind":"Field","name":{"kind":"Name","value":"nextEnforcement"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"enforcement"}},{"kind":"Field","name":{"kind":"Name","value":"from"}}]}}]}}]}}]}}]}}]} as unknown as DocumentNode<AppEnforcementQuery, AppEnforcementQueryVariables>;
export const AppDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"App"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"app"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AppSettings"}},{"kind":"Field","name":{"kind":"Name","value":"org"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orgId"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AppSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"App"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"inheritedFields"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]} as unknown as DocumentNode<AppQuery, AppQueryVariables>;
export const AuditDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Audit"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"auditEvents"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"entityId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"at"}},{"kind":"Field","name":{"kind":"Name","value":"actor"}},{"kind":"Field","name":{"kind":"Name","value":"action"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"address"}},{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"details"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}},{"kind":"Field","name":{"kind":"Name","value":"previousValue"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}}]} as unknown as DocumentNode<AuditQuery, AuditQueryVariables>;
export const NodeDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Node"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"node"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Org"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orgId"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"App"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"appId"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"AuditEvent"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"action"}}]}}]}}]}}]} as unknown as DocumentNode<NodeQuery, NodeQueryVariables>;
export const RegisterOrgDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RegisterOrg"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RegisterOrgInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"registerOrg"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"OrgSettings"}}]}},{"kind":"Field","name":{"kind":"Name","value":"secretRetrieval"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"token"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OrgSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Org"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"timezone"}},{"kind":"Field","name":{"kind":"Name","value":"timezoneEffectiveAt"}},{"kind":"Field","name":{"kind":"Name","value":"quotaScope"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"stickyFallbackEnabled"}},{"kind":"Field","name":{"kind":"Name","value":"shardCount"}},{"kind":"Field","name":{"kind":"Name","value":"appsMayBringLimits"}},{"kind":"Field","name":{"kind":"Name","value":"attributeApps"}},{"kind":"Field","name":{"kind":"Name","value":"ledger"}},{"kind":"Field","name":{"kind":"Name","value":"dimensions"}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]} as unknown as DocumentNode<RegisterOrgMutation, RegisterOrgMutationVariables>;
export const UpdateOrgDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"UpdateOrg"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateOrgInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateOrg"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"OrgSettings"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"OrgSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Org"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"timezone"}},{"kind":"Field","name":{"kind":"Name","value":"timezoneEffectiveAt"}},{"kind":"Field","name":{"kind":"Name","value":"quotaScope"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"stickyFallbackEnabled"}},{"kind":"Field","name":{"kind":"Name","value":"shardCount"}},{"kind":"Field","name":{"kind":"Name","value":"appsMayBringLimits"}},{"kind":"Field","name":{"kind":"Name","value":"attributeApps"}},{"kind":"Field","name":{"kind":"Name","value":"ledger"}},{"kind":"Field","name":{"kind":"Name","value":"dimensions"}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]} as unknown as DocumentNode<UpdateOrgMutation, UpdateOrgMutationVariables>;
export const RegisterAppDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RegisterApp"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RegisterAppInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"registerApp"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"app"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AppSettings"}}]}},{"kind":"Field","name":{"kind":"Name","value":"secretRetrieval"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"token"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AppSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"App"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"inheritedFields"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]} as unknown as DocumentNode<RegisterAppMutation, RegisterAppMutationVariables>;
export const UpdateAppDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"UpdateApp"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateAppInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateApp"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"AppSettings"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"AppSettings"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"App"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"modelOrdering"}},{"kind":"Field","name":{"kind":"Name","value":"quotas"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dailyUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"tightModeThresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalNormalSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshIntervalTightSecs"}},{"kind":"Field","name":{"kind":"Name","value":"inheritedFields"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]} as unknown as DocumentNode<UpdateAppMutation, UpdateAppMutationVariables>;
export const RetrieveSecretDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RetrieveSecret"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"token"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"retrieveSecret"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"token"},"value":{"kind":"Variable","name":{"kind":"Name","value":"token"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"clientSecret"}}]}}]}}]} as unknown as DocumentNode<RetrieveSecretMutation, RetrieveSecretMutationVariables>;
export const IssueTokenDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"IssueToken"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"IssueTokenInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"issueToken"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Tokens"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Tokens"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TokenPair"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"accessToken"}},{"kind":"Field","name":{"kind":"Name","value":"refreshToken"}},{"kind":"Field","name":{"kind":"Name","value":"tokenType"}},{"kind":"Field","name":{"kind":"Name","value":"expiresInSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshExpiresInSecs"}}]}}]} as unknown as DocumentNode<IssueTokenMutation, IssueTokenMutationVariables>;
export const RefreshTokenDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RefreshToken"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"refreshToken"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"refreshToken"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"refreshToken"},"value":{"kind":"Variable","name":{"kind":"Name","value":"refreshToken"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Tokens"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Tokens"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"TokenPair"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"accessToken"}},{"kind":"Field","name":{"kind":"Name","value":"refreshToken"}},{"kind":"Field","name":{"kind":"Name","value":"tokenType"}},{"kind":"Field","name":{"kind":"Name","value":"expiresInSecs"}},{"kind":"Field","name":{"kind":"Name","value":"refreshExpiresInSecs"}}]}}]} as unknown as DocumentNode<RefreshTokenMutation, RefreshTokenMutationVariables>;
export const RevokeTokenDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RevokeToken"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"token"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"revokeToken"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"token"},"value":{"kind":"Variable","name":{"kind":"Name","value":"token"}}}]}]}}]} as unknown as DocumentNode<RevokeTokenMutation, RevokeTokenMutationVariables>;
export const RotateCredentialsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RotateCredentials"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RotateCredentialsInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rotateCredentials"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"secretRetrieval"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"token"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}}]}}]}}]}}]} as unknown as DocumentNode<RotateCredentialsMutation, RotateCredentialsMutationVariables>;
export const CreateClientDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreateClient"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateClientInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createClient"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"client"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ClientParts"}}]}},{"kind":"Field","name":{"kind":"Name","value":"secretRetrieval"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"token"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ClientParts"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Client"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"role"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastLoginAt"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}}]}}]} as unknown as DocumentNode<CreateClientMutation, CreateClientMutationVariables>;
export const DeleteClientDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DeleteClient"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"clientId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteClient"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}},{"kind":"Argument","name":{"kind":"Name","value":"clientId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"clientId"}}}]}]}}]} as unknown as DocumentNode<DeleteClientMutation, DeleteClientMutationVariables>;
export const ClientsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Clients"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}},"defaultValue":{"kind":"StringValue","value":"chat","block":false}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clients"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ClientParts"}}]}},{"kind":"Field","name":{"kind":"Name","value":"app"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clients"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ClientParts"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ClientParts"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Client"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"role"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastLoginAt"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientId"}},{"kind":"Field","name":{"kind":"Name","value":"secretCreatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"graceExpiresAt"}}]}}]}}]} as unknown as DocumentNode<ClientsQuery, ClientsQueryVariables>;
export const SuspendOrgDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SuspendOrg"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"suspendOrg"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"suspendedAt"}}]}}]}}]} as unknown as DocumentNode<SuspendOrgMutation, SuspendOrgMutationVariables>;
export const ResumeOrgDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"ResumeOrg"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"resumeOrg"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"suspendedAt"}}]}}]}}]} as unknown as DocumentNode<ResumeOrgMutation, ResumeOrgMutationVariables>;
export const SuspendAppDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SuspendApp"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"suspendApp"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}},{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"suspendedAt"}}]}}]}}]} as unknown as DocumentNode<SuspendAppMutation, SuspendAppMutationVariables>;
export const ResumeAppDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"ResumeApp"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"resumeApp"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}},{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"suspendedAt"}}]}}]}}]} as unknown as DocumentNode<ResumeAppMutation, ResumeAppMutationVariables>;
export const DeleteAppDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DeleteApp"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteApp"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}},{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}}]}]}}]} as unknown as DocumentNode<DeleteAppMutation, DeleteAppMutationVariables>;
export const SubmitCostDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SubmitCost"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SubmitCostInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"submitCost"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Receipt"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Receipt"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CostReceipt"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"priceSource"}}]}}]} as unknown as DocumentNode<SubmitCostMutation, SubmitCostMutationVariables>;
export const SubmitCostWithSpendDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SubmitCostWithSpend"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SubmitCostInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"submitCost"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Receipt"}},{"kind":"Field","name":{"kind":"Name","value":"spend"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Spend"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Receipt"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CostReceipt"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"priceSource"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Spend"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LabelSpend"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"quotaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaPct"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}}]} as unknown as DocumentNode<SubmitCostWithSpendMutation, SubmitCostWithSpendMutationVariables>;
export const SubmitCostWithLinesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SubmitCostWithLines"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SubmitCostInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"submitCost"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Receipt"}},{"kind":"Field","name":{"kind":"Name","value":"lines"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"quantity"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Receipt"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CostReceipt"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"priceSource"}}]}}]} as unknown as DocumentNode<SubmitCostWithLinesMutation, SubmitCostWithLinesMutationVariables>;
export const SubmitCostsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SubmitCosts"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"inputs"}},"type":{"kind":"NonNullType","type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SubmitCostInput"}}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"submitCosts"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"inputs"},"value":{"kind":"Variable","name":{"kind":"Name","value":"inputs"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"receipt"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Receipt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Receipt"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CostReceipt"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"priceSource"}}]}}]} as unknown as DocumentNode<SubmitCostsMutation, SubmitCostsMutationVariables>;
export const OverrideModelDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"OverrideModel"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"OverrideModelInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"overrideModel"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Selection"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Spend"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LabelSpend"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"quotaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaPct"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Selection"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ModelSelection"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"allowed"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"budget"}},{"kind":"Field","name":{"kind":"Name","value":"skipped"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}},{"kind":"Field","name":{"kind":"Name","value":"chain"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Spend"}}]}},{"kind":"Field","name":{"kind":"Name","value":"price"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"inputUsdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"outputUsdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"fetchedAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"recheckAfterSecs"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"resetsAt"}}]}}]} as unknown as DocumentNode<OverrideModelMutation, OverrideModelMutationVariables>;
export const OrgSpendDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"OrgSpend"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"day"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"consistency"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Consistency"}}},"defaultValue":{"kind":"EnumValue","value":"AGGREGATED"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"spend"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"day"},"value":{"kind":"Variable","name":{"kind":"Name","value":"day"}}},{"kind":"Argument","name":{"kind":"Name","value":"consistency"},"value":{"kind":"Variable","name":{"kind":"Name","value":"consistency"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Day"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Spend"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LabelSpend"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"quotaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaPct"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Day"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DaySpend"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"scope"}},{"kind":"Field","name":{"kind":"Name","value":"labels"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Spend"}}]}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"stickyFallback"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activeLabel"}},{"kind":"Field","name":{"kind":"Name","value":"previousLabel"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"activatedAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"resetsAt"}}]}}]} as unknown as DocumentNode<OrgSpendQuery, OrgSpendQueryVariables>;
export const AppSpendDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"AppSpend"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"day"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"consistency"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Consistency"}}},"defaultValue":{"kind":"EnumValue","value":"AGGREGATED"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"app"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"spend"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"day"},"value":{"kind":"Variable","name":{"kind":"Name","value":"day"}}},{"kind":"Argument","name":{"kind":"Name","value":"consistency"},"value":{"kind":"Variable","name":{"kind":"Name","value":"consistency"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Day"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Spend"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LabelSpend"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"quotaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaPct"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Day"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DaySpend"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"scope"}},{"kind":"Field","name":{"kind":"Name","value":"labels"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Spend"}}]}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"stickyFallback"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activeLabel"}},{"kind":"Field","name":{"kind":"Name","value":"previousLabel"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"activatedAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"resetsAt"}}]}}]} as unknown as DocumentNode<AppSpendQuery, AppSpendQueryVariables>;
export const AppHistoryDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"AppHistory"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"app"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"spendHistory"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Day"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Spend"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LabelSpend"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"quotaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaPct"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Day"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DaySpend"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"scope"}},{"kind":"Field","name":{"kind":"Name","value":"labels"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Spend"}}]}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"stickyFallback"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activeLabel"}},{"kind":"Field","name":{"kind":"Name","value":"previousLabel"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"activatedAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"resetsAt"}}]}}]} as unknown as DocumentNode<AppHistoryQuery, AppHistoryQueryVariables>;
export const OrgHistoryDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"OrgHistory"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"spendHistory"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Day"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Spend"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LabelSpend"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"quotaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaPct"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Day"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DaySpend"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"scope"}},{"kind":"Field","name":{"kind":"Name","value":"labels"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Spend"}}]}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"stickyFallback"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"activeLabel"}},{"kind":"Field","name":{"kind":"Name","value":"previousLabel"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"activatedAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"resetsAt"}}]}}]} as unknown as DocumentNode<OrgHistoryQuery, OrgHistoryQueryVariables>;
export const SelectionDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Selection"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"app"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"modelSelection"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Selection"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Spend"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LabelSpend"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"quotaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaPct"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Selection"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ModelSelection"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"allowed"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"bedrockModelId"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"mode"}},{"kind":"Field","name":{"kind":"Name","value":"budget"}},{"kind":"Field","name":{"kind":"Name","value":"skipped"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}},{"kind":"Field","name":{"kind":"Name","value":"chain"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Spend"}}]}},{"kind":"Field","name":{"kind":"Name","value":"price"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"inputUsdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"outputUsdMicrosPer1M"}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"fetchedAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"recheckAfterSecs"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"resetsAt"}}]}}]} as unknown as DocumentNode<SelectionQuery, SelectionQueryVariables>;
export const OrgAlertsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"OrgAlerts"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"alerts"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Alert"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Alert"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"QuotaAlert"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"activeLabel"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaPct"}},{"kind":"Field","name":{"kind":"Name","value":"thresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"raisedAt"}}]}}]} as unknown as DocumentNode<OrgAlertsQuery, OrgAlertsQueryVariables>;
export const AppAlertsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"AppAlerts"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"app"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"alerts"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Alert"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Alert"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"QuotaAlert"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"activeLabel"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaPct"}},{"kind":"Field","name":{"kind":"Name","value":"thresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"raisedAt"}}]}}]} as unknown as DocumentNode<AppAlertsQuery, AppAlertsQueryVariables>;
export const QuotaAlertsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"QuotaAlerts"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"kinds"}},"type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"QuotaAlertKind"}}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"quotaAlerts"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}},{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}},{"kind":"Argument","name":{"kind":"Name","value":"kinds"},"value":{"kind":"Variable","name":{"kind":"Name","value":"kinds"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Alert"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Alert"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"QuotaAlert"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"activeLabel"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaPct"}},{"kind":"Field","name":{"kind":"Name","value":"thresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"raisedAt"}}]}}]} as unknown as DocumentNode<QuotaAlertsSubscription, QuotaAlertsSubscriptionVariables>;
export const AcquireDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"Acquire"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"AcquireInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"acquire"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Lease"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"leaseId"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"degraded"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"renewBy"}},{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"statuses"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}}]}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"RefusalFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"StatusFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LimitStatus"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"limit"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"requested"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"exceeded"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSecs"}},{"kind":"Field","name":{"kind":"Name","value":"wouldRefuse"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"RefusalFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RateLimited"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSecs"}},{"kind":"Field","name":{"kind":"Name","value":"statuses"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"violations"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}}]}}]} as unknown as DocumentNode<AcquireMutation, AcquireMutationVariables>;
export const AcquireAllDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"AcquireAll"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"AcquireAllInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"acquireAll"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Leases"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"leases"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"leaseId"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"renewBy"}},{"kind":"Field","name":{"kind":"Name","value":"statuses"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}}]}}]}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"RefusalFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"StatusFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LimitStatus"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"limit"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"requested"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"exceeded"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSecs"}},{"kind":"Field","name":{"kind":"Name","value":"wouldRefuse"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"RefusalFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"RateLimited"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSecs"}},{"kind":"Field","name":{"kind":"Name","value":"statuses"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"violations"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}}]}}]} as unknown as DocumentNode<AcquireAllMutation, AcquireAllMutationVariables>;
export const RenewLeaseDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RenewLease"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"leaseId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"ttlSecs"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"renewLease"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"leaseId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"leaseId"}}},{"kind":"Argument","name":{"kind":"Name","value":"ttlSecs"},"value":{"kind":"Variable","name":{"kind":"Name","value":"ttlSecs"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"leaseId"}},{"kind":"Field","name":{"kind":"Name","value":"renewBy"}}]}}]}}]} as unknown as DocumentNode<RenewLeaseMutation, RenewLeaseMutationVariables>;
export const TopUpDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"TopUp"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"TopUpInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"topUp"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"statuses"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"StatusFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LimitStatus"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"limit"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"requested"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"exceeded"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSecs"}},{"kind":"Field","name":{"kind":"Name","value":"wouldRefuse"}}]}}]} as unknown as DocumentNode<TopUpMutation, TopUpMutationVariables>;
export const AdjustLeaseDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"AdjustLease"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"AdjustLeaseInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"adjustLease"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"leaseId"}},{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"unknown"}},{"kind":"Field","name":{"kind":"Name","value":"statuses"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"StatusFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LimitStatus"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"limit"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"requested"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"exceeded"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSecs"}},{"kind":"Field","name":{"kind":"Name","value":"wouldRefuse"}}]}}]} as unknown as DocumentNode<AdjustLeaseMutation, AdjustLeaseMutationVariables>;
export const ReleaseLeaseDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"ReleaseLease"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"leaseId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"releaseLease"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"leaseId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"leaseId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"leaseId"}},{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"unknown"}},{"kind":"Field","name":{"kind":"Name","value":"statuses"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"StatusFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LimitStatus"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"limit"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"requested"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"exceeded"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSecs"}},{"kind":"Field","name":{"kind":"Name","value":"wouldRefuse"}}]}}]} as unknown as DocumentNode<ReleaseLeaseMutation, ReleaseLeaseMutationVariables>;
export const AvailabilityDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Availability"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"resource"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"consume"}},"type":{"kind":"ListType","type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ConsumeInput"}}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"availability"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}},{"kind":"Argument","name":{"kind":"Name","value":"entityId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}}},{"kind":"Argument","name":{"kind":"Name","value":"resource"},"value":{"kind":"Variable","name":{"kind":"Name","value":"resource"}}},{"kind":"Argument","name":{"kind":"Name","value":"consume"},"value":{"kind":"Variable","name":{"kind":"Name","value":"consume"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"retryAfterSecs"}},{"kind":"Field","name":{"kind":"Name","value":"statuses"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"StatusFields"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"StatusFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LimitStatus"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"limit"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"requested"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"exceeded"}},{"kind":"Field","name":{"kind":"Name","value":"retryAfterSecs"}},{"kind":"Field","name":{"kind":"Name","value":"wouldRefuse"}}]}}]} as unknown as DocumentNode<AvailabilityQuery, AvailabilityQueryVariables>;
export const SetLimitsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SetLimits"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SetLimitsInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"setLimits"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitConfigFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitConfigFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LimitConfig"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"level"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"limits"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"onUnavailable"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]} as unknown as DocumentNode<SetLimitsMutation, SetLimitsMutationVariables>;
export const DeleteLimitsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DeleteLimits"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DeleteLimitsInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteLimits"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}]}]}}]} as unknown as DocumentNode<DeleteLimitsMutation, DeleteLimitsMutationVariables>;
export const CreateEntityDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreateEntity"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateEntityInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createEntity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntityFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntityFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Entity"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"parent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"cascade"}},{"kind":"Field","name":{"kind":"Name","value":"metadata"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"deletedAt"}}]}}]} as unknown as DocumentNode<CreateEntityMutation, CreateEntityMutationVariables>;
export const UpdateEntityDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"UpdateEntity"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UpdateEntityInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"updateEntity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntityFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntityFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Entity"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"parent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"cascade"}},{"kind":"Field","name":{"kind":"Name","value":"metadata"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"deletedAt"}}]}}]} as unknown as DocumentNode<UpdateEntityMutation, UpdateEntityMutationVariables>;
export const DeleteEntityDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DeleteEntity"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteEntity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}},{"kind":"Argument","name":{"kind":"Name","value":"entityId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}}}]}]}}]} as unknown as DocumentNode<DeleteEntityMutation, DeleteEntityMutationVariables>;
export const PurgeLimiterDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"PurgeLimiter"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"purgeLimiter"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}]}]}}]} as unknown as DocumentNode<PurgeLimiterMutation, PurgeLimiterMutationVariables>;
export const EntityOfDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"EntityOf"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"entityId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntityFields"}},{"kind":"Field","name":{"kind":"Name","value":"buckets"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"BucketFields"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntityFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Entity"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"parent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"cascade"}},{"kind":"Field","name":{"kind":"Name","value":"metadata"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"deletedAt"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"BucketFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Bucket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"shardCount"}},{"kind":"Field","name":{"kind":"Name","value":"limits"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"limit"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"totalConsumed"}}]}}]}}]} as unknown as DocumentNode<EntityOfQuery, EntityOfQueryVariables>;
export const BucketOfDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"BucketOf"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"resource"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"entityId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"bucket"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"resource"},"value":{"kind":"Variable","name":{"kind":"Name","value":"resource"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"BucketFields"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"BucketFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Bucket"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"shardCount"}},{"kind":"Field","name":{"kind":"Name","value":"limits"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"limit"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"totalConsumed"}}]}}]}}]} as unknown as DocumentNode<BucketOfQuery, BucketOfQueryVariables>;
export const ChildrenOfDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ChildrenOf"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"entityId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"children"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntityFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntityFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Entity"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"parent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"cascade"}},{"kind":"Field","name":{"kind":"Name","value":"metadata"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"deletedAt"}}]}}]} as unknown as DocumentNode<ChildrenOfQuery, ChildrenOfQueryVariables>;
export const EntitiesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Entities"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entities"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntityFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntityFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Entity"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"parent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"cascade"}},{"kind":"Field","name":{"kind":"Name","value":"metadata"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"deletedAt"}}]}}]} as unknown as DocumentNode<EntitiesQuery, EntitiesQueryVariables>;
export const SearchEntitiesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"SearchEntities"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"prefix"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"searchEntities"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"prefix"},"value":{"kind":"Variable","name":{"kind":"Name","value":"prefix"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntityFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntityFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Entity"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"parent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"cascade"}},{"kind":"Field","name":{"kind":"Name","value":"metadata"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"deletedAt"}}]}}]} as unknown as DocumentNode<SearchEntitiesQuery, SearchEntitiesQueryVariables>;
export const EntitiesWithLimitsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"EntitiesWithLimits"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"resource"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entitiesWithLimits"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"resource"},"value":{"kind":"Variable","name":{"kind":"Name","value":"resource"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"EntityFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"EntityFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Entity"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"parent"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"cascade"}},{"kind":"Field","name":{"kind":"Name","value":"metadata"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"deletedAt"}}]}}]} as unknown as DocumentNode<EntitiesWithLimitsQuery, EntitiesWithLimitsQueryVariables>;
export const EffectiveLimitsOfDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"EffectiveLimitsOf"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"resource"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"entityId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"effectiveLimits"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"resource"},"value":{"kind":"Variable","name":{"kind":"Name","value":"resource"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"limits"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"source"}},{"kind":"Field","name":{"kind":"Name","value":"onUnavailable"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}}]} as unknown as DocumentNode<EffectiveLimitsOfQuery, EffectiveLimitsOfQueryVariables>;
export const LimitConfigOfDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"LimitConfigOf"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"level"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LimitLevel"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"resource"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"limitConfig"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"level"},"value":{"kind":"Variable","name":{"kind":"Name","value":"level"}}},{"kind":"Argument","name":{"kind":"Name","value":"resource"},"value":{"kind":"Variable","name":{"kind":"Name","value":"resource"}}},{"kind":"Argument","name":{"kind":"Name","value":"entityId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitConfigFields"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitConfigFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LimitConfig"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"level"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"limits"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"onUnavailable"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]} as unknown as DocumentNode<LimitConfigOfQuery, LimitConfigOfQueryVariables>;
export const LimitConfigsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"LimitConfigs"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"limitConfigs"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitConfigFields"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Limit"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"burst"}},{"kind":"Field","name":{"kind":"Name","value":"refillAmount"}},{"kind":"Field","name":{"kind":"Name","value":"refillPeriodSecs"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"LimitConfigFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"LimitConfig"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"level"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"limits"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"LimitFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"onUnavailable"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]} as unknown as DocumentNode<LimitConfigsQuery, LimitConfigsQueryVariables>;
export const CapacityOfDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"CapacityOf"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"resource"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"limit"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"parentsOnly"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Boolean"}}},"defaultValue":{"kind":"BooleanValue","value":false}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"resourceCapacity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"resource"},"value":{"kind":"Variable","name":{"kind":"Name","value":"resource"}}},{"kind":"Argument","name":{"kind":"Name","value":"limit"},"value":{"kind":"Variable","name":{"kind":"Name","value":"limit"}}},{"kind":"Argument","name":{"kind":"Name","value":"parentsOnly"},"value":{"kind":"Variable","name":{"kind":"Name","value":"parentsOnly"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"limit"}},{"kind":"Field","name":{"kind":"Name","value":"totalCapacity"}},{"kind":"Field","name":{"kind":"Name","value":"totalAvailable"}},{"kind":"Field","name":{"kind":"Name","value":"utilizationPct"}},{"kind":"Field","name":{"kind":"Name","value":"entities"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"capacity"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"utilizationPct"}}]}}]}}]}}]}}]} as unknown as DocumentNode<CapacityOfQuery, CapacityOfQueryVariables>;
export const UsageOfDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"UsageOf"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"window"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UsageWindow"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"resource"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"entityId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usage"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"window"},"value":{"kind":"Variable","name":{"kind":"Name","value":"window"}}},{"kind":"Argument","name":{"kind":"Name","value":"resource"},"value":{"kind":"Variable","name":{"kind":"Name","value":"resource"}}},{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"resource"}},{"kind":"Field","name":{"kind":"Name","value":"window"}},{"kind":"Field","name":{"kind":"Name","value":"windowStart"}},{"kind":"Field","name":{"kind":"Name","value":"windowEnd"}},{"kind":"Field","name":{"kind":"Name","value":"counters"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"limit"}},{"kind":"Field","name":{"kind":"Name","value":"consumed"}}]}},{"kind":"Field","name":{"kind":"Name","value":"totalEvents"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}}]}}]} as unknown as DocumentNode<UsageOfQuery, UsageOfQueryVariables>;
export const ResourceUsageOfDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ResourceUsageOf"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"resource"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"window"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UsageWindow"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"parentsOnly"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Boolean"}}},"defaultValue":{"kind":"BooleanValue","value":false}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"resourceUsage"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"resource"},"value":{"kind":"Variable","name":{"kind":"Name","value":"resource"}}},{"kind":"Argument","name":{"kind":"Name","value":"window"},"value":{"kind":"Variable","name":{"kind":"Name","value":"window"}}},{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"parentsOnly"},"value":{"kind":"Variable","name":{"kind":"Name","value":"parentsOnly"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"windowStart"}},{"kind":"Field","name":{"kind":"Name","value":"windowEnd"}},{"kind":"Field","name":{"kind":"Name","value":"counters"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"limit"}},{"kind":"Field","name":{"kind":"Name","value":"consumed"}}]}},{"kind":"Field","name":{"kind":"Name","value":"entities"}}]}}]}}]}}]} as unknown as DocumentNode<ResourceUsageOfQuery, ResourceUsageOfQueryVariables>;
export const RefusalsOfDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"RefusalsOf"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"window"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UsageWindow"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"resource"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entity"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"entityId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"entityId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usage"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"window"},"value":{"kind":"Variable","name":{"kind":"Name","value":"window"}}},{"kind":"Argument","name":{"kind":"Name","value":"resource"},"value":{"kind":"Variable","name":{"kind":"Name","value":"resource"}}},{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"windowStart"}},{"kind":"Field","name":{"kind":"Name","value":"totalEvents"}},{"kind":"Field","name":{"kind":"Name","value":"counters"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"limit"}},{"kind":"Field","name":{"kind":"Name","value":"consumed"}},{"kind":"Field","name":{"kind":"Name","value":"refused"}},{"kind":"Field","name":{"kind":"Name","value":"wouldRefuse"}}]}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"resourceUsage"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"resource"},"value":{"kind":"Variable","name":{"kind":"Name","value":"resource"}}},{"kind":"Argument","name":{"kind":"Name","value":"window"},"value":{"kind":"Variable","name":{"kind":"Name","value":"window"}}},{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"windowStart"}},{"kind":"Field","name":{"kind":"Name","value":"entities"}},{"kind":"Field","name":{"kind":"Name","value":"counters"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"limit"}},{"kind":"Field","name":{"kind":"Name","value":"consumed"}},{"kind":"Field","name":{"kind":"Name","value":"refused"}},{"kind":"Field","name":{"kind":"Name","value":"wouldRefuse"}}]}}]}}]}}]}}]} as unknown as DocumentNode<RefusalsOfQuery, RefusalsOfQueryVariables>;
export const TopEntitiesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"TopEntities"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"resource"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"window"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UsageWindow"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"limit"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"by"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"TopEntitiesBy"}}},"defaultValue":{"kind":"EnumValue","value":"CONSUMED"}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},"defaultValue":{"kind":"IntValue","value":"10"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"topEntities"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"resource"},"value":{"kind":"Variable","name":{"kind":"Name","value":"resource"}}},{"kind":"Argument","name":{"kind":"Name","value":"window"},"value":{"kind":"Variable","name":{"kind":"Name","value":"window"}}},{"kind":"Argument","name":{"kind":"Name","value":"limit"},"value":{"kind":"Variable","name":{"kind":"Name","value":"limit"}}},{"kind":"Argument","name":{"kind":"Name","value":"by"},"value":{"kind":"Variable","name":{"kind":"Name","value":"by"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"windowStart"}},{"kind":"Field","name":{"kind":"Name","value":"windowEnd"}},{"kind":"Field","name":{"kind":"Name","value":"entities"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"consumed"}},{"kind":"Field","name":{"kind":"Name","value":"refused"}}]}},{"kind":"Field","name":{"kind":"Name","value":"truncated"}}]}}]}}]}}]} as unknown as DocumentNode<TopEntitiesQuery, TopEntitiesQueryVariables>;
export const CreateApiKeyDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CreateApiKey"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateApiKeyInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createApiKey"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"apiKey"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ApiKeyFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"secret"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ApiKeyFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiKey"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hardwareId"}},{"kind":"Field","name":{"kind":"Name","value":"ownerId"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"keyId"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"active"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}}]}}]} as unknown as DocumentNode<CreateApiKeyMutation, CreateApiKeyMutationVariables>;
export const RevokeApiKeyDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RevokeApiKey"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"keyId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"revokeApiKey"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}},{"kind":"Argument","name":{"kind":"Name","value":"keyId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"keyId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ApiKeyFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ApiKeyFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiKey"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hardwareId"}},{"kind":"Field","name":{"kind":"Name","value":"ownerId"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"keyId"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"active"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}}]}}]} as unknown as DocumentNode<RevokeApiKeyMutation, RevokeApiKeyMutationVariables>;
export const ApiKeysDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ApiKeys"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"apiKeys"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ApiKeyFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ApiKeyFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiKey"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hardwareId"}},{"kind":"Field","name":{"kind":"Name","value":"ownerId"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"keyId"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"active"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}}]}}]} as unknown as DocumentNode<ApiKeysQuery, ApiKeysQueryVariables>;
export const RegisterDeviceDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RegisterDevice"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"RegisterDeviceInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"registerDevice"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"device"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"DeviceFields"}}]}},{"kind":"Field","name":{"kind":"Name","value":"created"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"DeviceFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Device"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ownerKeyId"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"hardwareId"}},{"kind":"Field","name":{"kind":"Name","value":"confirmationId"}},{"kind":"Field","name":{"kind":"Name","value":"friendlyName"}},{"kind":"Field","name":{"kind":"Name","value":"firmwareVersion"}},{"kind":"Field","name":{"kind":"Name","value":"capabilities"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sensors"}},{"kind":"Field","name":{"kind":"Name","value":"features"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"firstRegisteredAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastSeenAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastBootId"}}]}}]} as unknown as DocumentNode<RegisterDeviceMutation, RegisterDeviceMutationVariables>;
export const RenameDeviceDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RenameDevice"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"hardwareId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"friendlyName"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"renameDevice"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}},{"kind":"Argument","name":{"kind":"Name","value":"hardwareId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"hardwareId"}}},{"kind":"Argument","name":{"kind":"Name","value":"friendlyName"},"value":{"kind":"Variable","name":{"kind":"Name","value":"friendlyName"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"DeviceFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"DeviceFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Device"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ownerKeyId"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"hardwareId"}},{"kind":"Field","name":{"kind":"Name","value":"confirmationId"}},{"kind":"Field","name":{"kind":"Name","value":"friendlyName"}},{"kind":"Field","name":{"kind":"Name","value":"firmwareVersion"}},{"kind":"Field","name":{"kind":"Name","value":"capabilities"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sensors"}},{"kind":"Field","name":{"kind":"Name","value":"features"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"firstRegisteredAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastSeenAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastBootId"}}]}}]} as unknown as DocumentNode<RenameDeviceMutation, RenameDeviceMutationVariables>;
export const IngestDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"Ingest"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"IngestInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ingest"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"settledBatchIds"}},{"kind":"Field","name":{"kind":"Name","value":"verdicts"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"index"}},{"kind":"Field","name":{"kind":"Name","value":"batchId"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"error"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]}}]} as unknown as DocumentNode<IngestMutation, IngestMutationVariables>;
export const AssignDeviceDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"AssignDevice"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"hardwareId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"keyId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"assignDevice"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}},{"kind":"Argument","name":{"kind":"Name","value":"hardwareId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"hardwareId"}}},{"kind":"Argument","name":{"kind":"Name","value":"keyId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"keyId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"DeviceFields"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"DeviceFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Device"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ownerKeyId"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"hardwareId"}},{"kind":"Field","name":{"kind":"Name","value":"confirmationId"}},{"kind":"Field","name":{"kind":"Name","value":"friendlyName"}},{"kind":"Field","name":{"kind":"Name","value":"firmwareVersion"}},{"kind":"Field","name":{"kind":"Name","value":"capabilities"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sensors"}},{"kind":"Field","name":{"kind":"Name","value":"features"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"firstRegisteredAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastSeenAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastBootId"}}]}}]} as unknown as DocumentNode<AssignDeviceMutation, AssignDeviceMutationVariables>;
export const DeleteDeviceDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DeleteDevice"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"hardwareId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteDevice"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}},{"kind":"Argument","name":{"kind":"Name","value":"hardwareId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"hardwareId"}}}]}]}}]} as unknown as DocumentNode<DeleteDeviceMutation, DeleteDeviceMutationVariables>;
export const DeviceCountDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"DeviceCount"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deviceCount"}}]}}]}}]} as unknown as DocumentNode<DeviceCountQuery, DeviceCountQueryVariables>;
export const DeviceOfDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"DeviceOf"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"hardwareId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"device"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"hardwareId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"hardwareId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"DeviceFields"}},{"kind":"Field","name":{"kind":"Name","value":"latestReading"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ReadingFields"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"DeviceFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Device"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ownerKeyId"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"hardwareId"}},{"kind":"Field","name":{"kind":"Name","value":"confirmationId"}},{"kind":"Field","name":{"kind":"Name","value":"friendlyName"}},{"kind":"Field","name":{"kind":"Name","value":"firmwareVersion"}},{"kind":"Field","name":{"kind":"Name","value":"capabilities"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sensors"}},{"kind":"Field","name":{"kind":"Name","value":"features"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"firstRegisteredAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastSeenAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastBootId"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ReadingFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Reading"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"hardwareId"}},{"kind":"Field","name":{"kind":"Name","value":"batchId"}},{"kind":"Field","name":{"kind":"Name","value":"timestampMs"}},{"kind":"Field","name":{"kind":"Name","value":"bootId"}},{"kind":"Field","name":{"kind":"Name","value":"firmwareVersion"}},{"kind":"Field","name":{"kind":"Name","value":"friendlyName"}},{"kind":"Field","name":{"kind":"Name","value":"sensors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"bme280TempC"}},{"kind":"Field","name":{"kind":"Name","value":"ds18b20TempC"}},{"kind":"Field","name":{"kind":"Name","value":"humidityPct"}},{"kind":"Field","name":{"kind":"Name","value":"pressureHpa"}},{"kind":"Field","name":{"kind":"Name","value":"soilMoisturePct"}}]}},{"kind":"Field","name":{"kind":"Name","value":"sensorStatus"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"bme280"}},{"kind":"Field","name":{"kind":"Name","value":"ds18b20"}},{"kind":"Field","name":{"kind":"Name","value":"soilMoisture"}}]}}]}}]} as unknown as DocumentNode<DeviceOfQuery, DeviceOfQueryVariables>;
export const DevicesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Devices"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DeviceOrder"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"devices"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orderBy"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orderBy"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"DeviceFields"}},{"kind":"Field","name":{"kind":"Name","value":"latestReading"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ReadingFields"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"DeviceFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Device"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ownerKeyId"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"hardwareId"}},{"kind":"Field","name":{"kind":"Name","value":"confirmationId"}},{"kind":"Field","name":{"kind":"Name","value":"friendlyName"}},{"kind":"Field","name":{"kind":"Name","value":"firmwareVersion"}},{"kind":"Field","name":{"kind":"Name","value":"capabilities"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"sensors"}},{"kind":"Field","name":{"kind":"Name","value":"features"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"enabled"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"firstRegisteredAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastSeenAt"}},{"kind":"Field","name":{"kind":"Name","value":"lastBootId"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ReadingFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Reading"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"hardwareId"}},{"kind":"Field","name":{"kind":"Name","value":"batchId"}},{"kind":"Field","name":{"kind":"Name","value":"timestampMs"}},{"kind":"Field","name":{"kind":"Name","value":"bootId"}},{"kind":"Field","name":{"kind":"Name","value":"firmwareVersion"}},{"kind":"Field","name":{"kind":"Name","value":"friendlyName"}},{"kind":"Field","name":{"kind":"Name","value":"sensors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"bme280TempC"}},{"kind":"Field","name":{"kind":"Name","value":"ds18b20TempC"}},{"kind":"Field","name":{"kind":"Name","value":"humidityPct"}},{"kind":"Field","name":{"kind":"Name","value":"pressureHpa"}},{"kind":"Field","name":{"kind":"Name","value":"soilMoisturePct"}}]}},{"kind":"Field","name":{"kind":"Name","value":"sensorStatus"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"bme280"}},{"kind":"Field","name":{"kind":"Name","value":"ds18b20"}},{"kind":"Field","name":{"kind":"Name","value":"soilMoisture"}}]}}]}}]} as unknown as DocumentNode<DevicesQuery, DevicesQueryVariables>;
export const ReadingsOfDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ReadingsOf"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"hardwareId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"device"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"hardwareId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"hardwareId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"readings"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"batchId"}},{"kind":"Field","name":{"kind":"Name","value":"timestampMs"}},{"kind":"Field","name":{"kind":"Name","value":"sensors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"bme280TempC"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}}]}}]} as unknown as DocumentNode<ReadingsOfQuery, ReadingsOfQueryVariables>;
export const SeriesOfDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"SeriesOf"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"hardwareId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"metric"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SensorMetric"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"DateTime"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"stepSecs"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"device"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"hardwareId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"hardwareId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"series"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"metric"},"value":{"kind":"Variable","name":{"kind":"Name","value":"metric"}}},{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"stepSecs"},"value":{"kind":"Variable","name":{"kind":"Name","value":"stepSecs"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"at"}},{"kind":"Field","name":{"kind":"Name","value":"count"}},{"kind":"Field","name":{"kind":"Name","value":"min"}},{"kind":"Field","name":{"kind":"Name","value":"max"}},{"kind":"Field","name":{"kind":"Name","value":"mean"}}]}}]}}]}}]}}]} as unknown as DocumentNode<SeriesOfQuery, SeriesOfQueryVariables>;
export const ReadingsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"subscription","name":{"kind":"Name","value":"Readings"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"hardwareId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"readings"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}},{"kind":"Argument","name":{"kind":"Name","value":"hardwareId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"hardwareId"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ReadingFields"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"gap"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ReadingFields"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Reading"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"hardwareId"}},{"kind":"Field","name":{"kind":"Name","value":"batchId"}},{"kind":"Field","name":{"kind":"Name","value":"timestampMs"}},{"kind":"Field","name":{"kind":"Name","value":"bootId"}},{"kind":"Field","name":{"kind":"Name","value":"firmwareVersion"}},{"kind":"Field","name":{"kind":"Name","value":"friendlyName"}},{"kind":"Field","name":{"kind":"Name","value":"sensors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"bme280TempC"}},{"kind":"Field","name":{"kind":"Name","value":"ds18b20TempC"}},{"kind":"Field","name":{"kind":"Name","value":"humidityPct"}},{"kind":"Field","name":{"kind":"Name","value":"pressureHpa"}},{"kind":"Field","name":{"kind":"Name","value":"soilMoisturePct"}}]}},{"kind":"Field","name":{"kind":"Name","value":"sensorStatus"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"bme280"}},{"kind":"Field","name":{"kind":"Name","value":"ds18b20"}},{"kind":"Field","name":{"kind":"Name","value":"soilMoisture"}}]}}]}}]} as unknown as DocumentNode<ReadingsSubscription, ReadingsSubscriptionVariables>;
export const OrgSeriesDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"OrgSeries"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"step"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SpendStep"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"label"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"spendSeries"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"step"},"value":{"kind":"Variable","name":{"kind":"Name","value":"step"}}},{"kind":"Argument","name":{"kind":"Name","value":"label"},"value":{"kind":"Variable","name":{"kind":"Name","value":"label"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"startsAt"}},{"kind":"Field","name":{"kind":"Name","value":"endsAt"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"unattributedUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"unattributedRequests"}}]}}]}}]}}]} as unknown as DocumentNode<OrgSeriesQuery, OrgSeriesQueryVariables>;
export const OrgBreakdownDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"OrgBreakdown"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"by"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"BreakdownKind"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"name"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"top"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"spendBreakdown"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"by"},"value":{"kind":"Variable","name":{"kind":"Name","value":"by"}}},{"kind":"Argument","name":{"kind":"Name","value":"name"},"value":{"kind":"Variable","name":{"kind":"Name","value":"name"}}},{"kind":"Argument","name":{"kind":"Name","value":"top"},"value":{"kind":"Variable","name":{"kind":"Name","value":"top"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"by"}},{"kind":"Field","name":{"kind":"Name","value":"total"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}}]}},{"kind":"Field","name":{"kind":"Name","value":"rows"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}},{"kind":"Field","name":{"kind":"Name","value":"labels"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"rest"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"requests"}}]}}]}}]}}]}}]} as unknown as DocumentNode<OrgBreakdownQuery, OrgBreakdownQueryVariables>;
export const CostDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Cost"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"requestId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cost"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"requestId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"requestId"}}},{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Entry"}}]}},{"kind":"Field","name":{"kind":"Name","value":"app"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cost"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"requestId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"requestId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Entry"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Entry"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CostEntry"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"hourStartsAt"}},{"kind":"Field","name":{"kind":"Name","value":"occurredAt"}},{"kind":"Field","name":{"kind":"Name","value":"receivedAt"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"correctedUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"priceSource"}},{"kind":"Field","name":{"kind":"Name","value":"dimensions"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"corrections"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"correctionId"}},{"kind":"Field","name":{"kind":"Name","value":"deltaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"correctedAt"}}]}}]}}]} as unknown as DocumentNode<CostQuery, CostQueryVariables>;
export const CostsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Costs"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"label"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"costs"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}},{"kind":"Argument","name":{"kind":"Name","value":"label"},"value":{"kind":"Variable","name":{"kind":"Name","value":"label"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"edges"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cursor"}}]}},{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Entry"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Entry"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CostEntry"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"hourStartsAt"}},{"kind":"Field","name":{"kind":"Name","value":"occurredAt"}},{"kind":"Field","name":{"kind":"Name","value":"receivedAt"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"correctedUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"priceSource"}},{"kind":"Field","name":{"kind":"Name","value":"dimensions"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"corrections"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"correctionId"}},{"kind":"Field","name":{"kind":"Name","value":"deltaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"correctedAt"}}]}}]}}]} as unknown as DocumentNode<CostsQuery, CostsQueryVariables>;
export const AppCostsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"AppCosts"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"label"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"app"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"costs"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"label"},"value":{"kind":"Variable","name":{"kind":"Name","value":"label"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]}}]}}]} as unknown as DocumentNode<AppCostsQuery, AppCostsQueryVariables>;
export const CorrectCostDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CorrectCost"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CorrectCostInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"correctCost"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"correction"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"correctionId"}},{"kind":"Field","name":{"kind":"Name","value":"deltaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"correctedAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"cost"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Entry"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Entry"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CostEntry"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"hourStartsAt"}},{"kind":"Field","name":{"kind":"Name","value":"occurredAt"}},{"kind":"Field","name":{"kind":"Name","value":"receivedAt"}},{"kind":"Field","name":{"kind":"Name","value":"inputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"outputTokens"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"correctedUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"priceSource"}},{"kind":"Field","name":{"kind":"Name","value":"dimensions"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"corrections"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"correctionId"}},{"kind":"Field","name":{"kind":"Name","value":"deltaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"correctedAt"}}]}}]}}]} as unknown as DocumentNode<CorrectCostMutation, CorrectCostMutationVariables>;
export const SetBudgetDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"SetBudget"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SetBudgetInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"setBudget"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Budget"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Budget"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Budget"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dimension"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"period"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"thresholdsPct"}},{"kind":"Field","name":{"kind":"Name","value":"enforcement"}},{"kind":"Field","name":{"kind":"Name","value":"raise"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"until"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"inForceUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"periodStart"}},{"kind":"Field","name":{"kind":"Name","value":"periodEnd"}},{"kind":"Field","name":{"kind":"Name","value":"resetsAt"}},{"kind":"Field","name":{"kind":"Name","value":"spentUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"remainingUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"pct"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}}]} as unknown as DocumentNode<SetBudgetMutation, SetBudgetMutationVariables>;
export const DeleteBudgetDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"DeleteBudget"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"name"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"expectedVersion"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"SafeInt"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deleteBudget"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}},{"kind":"Argument","name":{"kind":"Name","value":"name"},"value":{"kind":"Variable","name":{"kind":"Name","value":"name"}}},{"kind":"Argument","name":{"kind":"Name","value":"expectedVersion"},"value":{"kind":"Variable","name":{"kind":"Name","value":"expectedVersion"}}}]}]}}]} as unknown as DocumentNode<DeleteBudgetMutation, DeleteBudgetMutationVariables>;
export const BudgetsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Budgets"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"budgets"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Budget"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Budget"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Budget"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"dimension"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"value"}}]}},{"kind":"Field","name":{"kind":"Name","value":"period"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"thresholdsPct"}},{"kind":"Field","name":{"kind":"Name","value":"enforcement"}},{"kind":"Field","name":{"kind":"Name","value":"raise"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"until"}},{"kind":"Field","name":{"kind":"Name","value":"usdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"createdAt"}},{"kind":"Field","name":{"kind":"Name","value":"updatedAt"}},{"kind":"Field","name":{"kind":"Name","value":"inForceUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"periodStart"}},{"kind":"Field","name":{"kind":"Name","value":"periodEnd"}},{"kind":"Field","name":{"kind":"Name","value":"resetsAt"}},{"kind":"Field","name":{"kind":"Name","value":"spentUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"remainingUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"pct"}},{"kind":"Field","name":{"kind":"Name","value":"asOf"}}]}}]} as unknown as DocumentNode<BudgetsQuery, BudgetsQueryVariables>;
export const BudgetAlertsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"BudgetAlerts"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}},"defaultValue":{"kind":"IntValue","value":"100"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"alerts"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Alert"}},{"kind":"Field","name":{"kind":"Name","value":"budget"}},{"kind":"Field","name":{"kind":"Name","value":"periodStart"}},{"kind":"Field","name":{"kind":"Name","value":"periodEnd"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Alert"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"QuotaAlert"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"cursor"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"orgId"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"activeLabel"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"quotaPct"}},{"kind":"Field","name":{"kind":"Name","value":"thresholdPct"}},{"kind":"Field","name":{"kind":"Name","value":"raisedAt"}}]}}]} as unknown as DocumentNode<BudgetAlertsQuery, BudgetAlertsQueryVariables>;
export const BudgetForecastsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"BudgetForecasts"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"org"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"budgets"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"forecast"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"burnUsdMicrosPerHour"}},{"kind":"Field","name":{"kind":"Name","value":"projectedUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"exhaustsAt"}},{"kind":"Field","name":{"kind":"Name","value":"basis"}}]}}]}}]}}]}}]} as unknown as DocumentNode<BudgetForecastsQuery, BudgetForecastsQueryVariables>;
export const AdmitDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"Admit"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"AdmitInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"admit"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Admitted"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Admitted"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Denied"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"binding"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"missing"}},{"kind":"Field","name":{"kind":"Name","value":"wouldPass"}}]}},{"kind":"Field","name":{"kind":"Name","value":"retryAt"}},{"kind":"Field","name":{"kind":"Name","value":"statuses"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"limit"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Admitted"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Admitted"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"admissionId"}},{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"modelId"}},{"kind":"Field","name":{"kind":"Name","value":"reservedUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"statuses"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"limit"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"degraded"}}]}}]} as unknown as DocumentNode<AdmitMutation, AdmitMutationVariables>;
export const SettleDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"Settle"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"SettleInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"settle"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}}]}}]}}]} as unknown as DocumentNode<SettleMutation, SettleMutationVariables>;
export const CancelAdmissionDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"CancelAdmission"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"admissionId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"sent"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Boolean"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cancelAdmission"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"admissionId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"admissionId"}}},{"kind":"Argument","name":{"kind":"Name","value":"sent"},"value":{"kind":"Variable","name":{"kind":"Name","value":"sent"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"costUsdMicros"}}]}}]}}]} as unknown as DocumentNode<CancelAdmissionMutation, CancelAdmissionMutationVariables>;
export const RenewAdmissionDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"RenewAdmission"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"admissionId"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"ttlSecs"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"renewAdmission"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"admissionId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"admissionId"}}},{"kind":"Argument","name":{"kind":"Name","value":"ttlSecs"},"value":{"kind":"Variable","name":{"kind":"Name","value":"ttlSecs"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Admitted"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Admitted"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Admitted"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"admissionId"}},{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"modelId"}},{"kind":"Field","name":{"kind":"Name","value":"reservedUsdMicros"}},{"kind":"Field","name":{"kind":"Name","value":"expiresAt"}},{"kind":"Field","name":{"kind":"Name","value":"statuses"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"entityId"}},{"kind":"Field","name":{"kind":"Name","value":"available"}},{"kind":"Field","name":{"kind":"Name","value":"limit"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"replayed"}},{"kind":"Field","name":{"kind":"Name","value":"degraded"}}]}}]} as unknown as DocumentNode<RenewAdmissionMutation, RenewAdmissionMutationVariables>;
export const OverrunsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Overruns"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"UUID"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"appId"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"from"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"to"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"LocalDate"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"overruns"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"orgId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"orgId"}}},{"kind":"Argument","name":{"kind":"Name","value":"appId"},"value":{"kind":"Variable","name":{"kind":"Name","value":"appId"}}},{"kind":"Argument","name":{"kind":"Name","value":"from"},"value":{"kind":"Variable","name":{"kind":"Name","value":"from"}}},{"kind":"Argument","name":{"kind":"Name","value":"to"},"value":{"kind":"Variable","name":{"kind":"Name","value":"to"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"appId"}},{"kind":"Field","name":{"kind":"Name","value":"label"}},{"kind":"Field","name":{"kind":"Name","value":"day"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"overUsdMicros"}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]} as unknown as DocumentNode<OverrunsQuery, OverrunsQueryVariables>;