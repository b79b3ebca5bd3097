// The data that callers hand over and get back. Names and units are those of the GraphQL schema.

/** Amounts by the name of a limit, for example `{ rpm: 1, tpm: 500 }`. */
export type Amounts = Readonly<Record<string, number>>;

/** Credentials of a caller. At most one kind; without any, only a few operations are open. */
export type Credentials =
  | { readonly clientId: string; readonly clientSecret: string }
  /** Called for each request. `rejected` is the token that the gateway has just refused. */
  | { readonly token: (rejected?: string) => string | Promise<string> }
  /** The key of a fleet of devices. */
  | { readonly apiKey: string }
  /** The key of the platform admin. */
  | { readonly adminKey: string };

/** Usage of a model call. Each token is in exactly one of the figures. */
export interface Usage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** Other usage by the name of its price, for example `{ cacheRead: 20000 }`. */
  readonly components?: Amounts | undefined;
  /** The cost in micro-dollars, if the provider tells it. Default: computed by Tollgate. */
  readonly costUsdMicros?: number | undefined;
  /** The figures are not known exactly, for example after an aborted stream. */
  readonly estimated?: boolean | undefined;
}

/** What a call may use at most. `inputTokens` and `maxOutputTokens`, or `costUsdMicros`. */
export interface Estimate {
  readonly inputTokens?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly components?: Amounts | undefined;
  readonly costUsdMicros?: number | undefined;
}

/** Amounts of the rate limits of one entity and resource. */
export interface LimitAmounts {
  readonly entityId: string;
  readonly resource: string;
  readonly consume: Amounts;
}

/** Names the tenant. A client of an app needs neither; a client of an org names the app; the admin names both. */
export interface Scope {
  readonly orgId?: string | undefined;
  readonly appId?: string | undefined;
}

export interface AdmitRequest extends Scope {
  /** A UUID, the idempotency key of the call. Default: a new one. */
  readonly requestId?: string | undefined;
  readonly estimate: Estimate;
  /** The labels to try, in order. Default: the chain of the app. */
  readonly labels?: readonly string[] | undefined;
  /** Rate limits that the call takes too, at most 3. */
  readonly limits?: readonly LimitAmounts[] | undefined;
  /** Values that the cost counts under in breakdowns. */
  readonly dimensions?: Readonly<Record<string, string>> | undefined;
  /** Seconds for which the amount stays reserved, 1–900. Renewed while the call runs. Default: 120. */
  readonly ttlSecs?: number | undefined;
  /** Milliseconds to wait in the gateway for money or tokens, 0–4000. Default: 0. */
  readonly waitMs?: number | undefined;
  /** Ends the wait for the admission. It does not stop the settling of a call that was made. */
  readonly signal?: AbortSignal | undefined;
}

export type CallStatus = 'OK' | 'ERROR';

/** The end of a call: its usage and outcome. */
export interface Settlement extends Usage {
  /** Default: `OK`. */
  readonly status?: CallStatus | undefined;
  /** The amounts of the rate limits that were really used. Default: those of the request. */
  readonly adjust?: readonly LimitAmounts[] | undefined;
}

export interface PriceEntry {
  readonly name: string;
  readonly usdMicrosPer1M: number;
  readonly above: number;
}

export interface ModelPrice {
  readonly inputUsdMicrosPer1M: number;
  readonly outputUsdMicrosPer1M: number;
  readonly entries: readonly PriceEntry[];
}

export interface LabelSpend {
  readonly label: string;
  readonly costUsdMicros: number;
  readonly quotaUsdMicros: number | null;
  readonly quotaPct: number | null;
  readonly mode: 'NORMAL' | 'TIGHT' | 'EXCEEDED';
}

export interface Limit {
  readonly name: string;
  readonly capacity: number;
  readonly burst: number;
  readonly refillAmount: number;
  readonly refillPeriodSecs: number;
  readonly kind: 'RATE' | 'CONCURRENCY';
  readonly window: 'DAY' | 'WEEK' | 'MONTH' | null;
}

export interface LimitStatus {
  readonly entityId: string;
  readonly resource: string;
  readonly limit: Limit;
  readonly requested: number;
  readonly available: number;
  readonly exceeded: boolean;
  readonly retryAfterSecs: number;
}

/** What refused a call, and the amount that would pass. Micro-dollars, or tokens of a limit. */
export interface Binding {
  readonly kind: 'BUDGET' | 'QUOTA' | 'LIMIT';
  /** The name of the budget or limit, or the label of the quota. */
  readonly name: string;
  readonly label: string | null;
  readonly entityId: string | null;
  readonly missing: number;
  readonly wouldPass: number;
}

/** An admitted call: call `modelId`, then settle. */
export interface Admission {
  readonly requestId: string;
  /** Absent if Tollgate was unavailable and `onUnavailable` let the call through. */
  readonly admissionId?: string | undefined;
  readonly label: string;
  readonly modelId: string;
  readonly price?: ModelPrice | null | undefined;
  /** 0 if no quota or budget of the call is enforced. */
  readonly reservedUsdMicros: number;
  readonly statuses: readonly LimitStatus[];
  readonly chain: readonly LabelSpend[];
  /** The request id had been admitted before. */
  readonly replayed: boolean;
  /** Decided without all figures, or without Tollgate. */
  readonly degraded: boolean;
}

/** A call that was admitted and is not settled yet. Settle or cancel it exactly once; later ones are ignored. */
export interface OpenCall extends Admission {
  /** Tells the usage known so far. It is settled, as estimated, if the call fails. */
  report(usage: Usage): void;
  /** Resolves once the cost cannot be lost: it is in a durable outbox, or was sent once. Ignores abort signals. */
  settle(settlement: Settlement): Promise<void>;
  /** Settles what was reported, or else the estimated input, as an estimated cost with status ERROR. */
  fail(): Promise<void>;
  /** The call was not made: it costs nothing, and its rate limits are given back. */
  cancel(): Promise<void>;
}

/** What the function of `meter` gets. */
export interface MeterContext extends Admission {
  readonly signal: AbortSignal | undefined;
  /** Tells the usage known so far. It is settled, as estimated, if the function throws. */
  report(usage: Usage): void;
}

/** What the function of `meter` returns. */
export interface Metered<T> extends Omit<Settlement, keyof Usage> {
  readonly value: T;
  readonly usage: Usage;
}

export interface CostInput extends Scope, Usage {
  /** Default: a new UUID. */
  readonly requestId?: string | undefined;
  readonly modelLabel: string;
  /** Default: `OK`. */
  readonly status?: CallStatus | undefined;
  /** When the call was made, at most 24 hours ago. Default: when Tollgate receives the cost. */
  readonly occurredAt?: Date | string | undefined;
  readonly dimensions?: Readonly<Record<string, string>> | undefined;
}

export interface CostReceipt {
  readonly requestId: string;
  readonly replayed: boolean;
  readonly label: string;
  readonly day: string;
  readonly costUsdMicros: number;
}

export interface ModelSelection {
  readonly allowed: boolean;
  readonly label: string | null;
  readonly bedrockModelId: string | null;
  readonly reason: string;
  readonly mode: 'NORMAL' | 'TIGHT' | 'EXCEEDED';
  readonly budget: string | null;
  readonly chain: readonly LabelSpend[];
  readonly price: ModelPrice | null;
  readonly recheckAfterSecs: number;
  readonly day: string;
  readonly resetsAt: string;
}

/** A limit that the caller brings, in place of the stored ones. */
export interface LimitInput {
  readonly name: string;
  readonly capacity: number;
  readonly burst?: number | undefined;
  readonly refillAmount?: number | undefined;
  readonly refillPeriodSecs?: number | undefined;
  readonly kind?: 'RATE' | 'CONCURRENCY' | undefined;
  readonly window?: 'DAY' | 'WEEK' | 'MONTH' | undefined;
  readonly enforce?: boolean | undefined;
}

export interface AcquireRequest extends LimitAmounts {
  readonly orgId?: string | undefined;
  readonly limits?: readonly LimitInput[] | undefined;
  /** Seconds for which the lease holds slots of concurrency limits. `withLease` renews it. Default: 60. */
  readonly ttlSecs?: number | undefined;
  /** Sends a request id: every retry is safe, for 4 write units instead of 1. */
  readonly exact?: boolean | undefined;
  /** How long to wait for tokens, in order of arrival. Default: 0, which fails at once with `RateLimited`. */
  readonly waitMs?: number | undefined;
  /** Ends the wait at once. */
  readonly signal?: AbortSignal | undefined;
}

export interface LeaseAdjustment {
  readonly leaseId: string;
  readonly replayed: boolean;
  readonly statuses: readonly LimitStatus[];
  readonly unknown: readonly string[];
}

export interface Lease {
  /** Empty if Tollgate was unavailable and `onUnavailable` let the request through. */
  readonly leaseId: string;
  readonly entityId: string;
  readonly resource: string;
  readonly consumed: Amounts;
  readonly statuses: readonly LimitStatus[];
  readonly degraded: boolean;
  readonly replayed: boolean;
  readonly expiresAt: string | null;
  readonly renewBy: string | null;
  /** Charges (positive) or gives back (negative) the differences. Safe to retry. */
  adjust(differences: Amounts): Promise<void>;
  /** Gives back all tokens and slots. Idempotent. */
  release(): Promise<void>;
  /** Holds the slots of concurrency limits for `ttlSecs` more. */
  renew(ttlSecs?: number): Promise<void>;
}

/** What the function of `withLease` gets. */
export interface HeldLease extends Lease {
  /** Tells the amounts that were really used. They are adjusted when the function ends. */
  actual(amounts: Amounts): void;
}
