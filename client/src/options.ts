import type { Clock } from './clock.js';
import type { TollgateError } from './errors.js';
import type { Outbox, OutboxEntry } from './outbox.js';
import type { AcquireRequest, AdmitRequest, CostReceipt, Credentials } from './types.js';

/** A call that needs a decision because Tollgate is unavailable. */
export type UndecidedCall =
  | { readonly kind: 'admit'; readonly request: AdmitRequest }
  | { readonly kind: 'acquire'; readonly request: AcquireRequest };

/**
 * `throw` throws the error. `allow` lets an acquire through without tokens, and a metered call with the model that was
 * admitted last. A model lets a metered call through with that one. Its cost is recorded when Tollgate is back.
 */
export type UnavailableDecision = 'throw' | 'allow' | { readonly label: string; readonly modelId: string };

/** Called as things happen, for traces and metrics. An error that a hook throws is ignored. */
export interface Hooks {
  /** After each attempt of each request. */
  request?(event: {
    readonly operation: string;
    /** From 1. */
    readonly attempt: number;
    readonly ms: number;
    readonly error?: TollgateError | undefined;
  }): void;
  /** Before the wait for the next attempt. */
  retry?(event: {
    readonly operation: string;
    readonly attempt: number;
    readonly delayMs: number;
    readonly error: TollgateError;
  }): void;
  /** A cost of the outbox was acknowledged. */
  settled?(event: { readonly requestId: string; readonly receipt: CostReceipt }): void;
  /** A cost of the outbox was refused for good, or is older than 24 hours. It is in the dead letters. */
  dead?(event: { readonly entry: OutboxEntry; readonly error: TollgateError }): void;
  /** Something failed that no caller waits for: a renewal, a release, an adjustment after the work was done. */
  failed?(event: { readonly operation: string; readonly error: unknown }): void;
}

export interface TollgateOptions {
  /** The GraphQL endpoint, for example `https://tollgate.internal/graphql`. */
  readonly url: string;
  readonly credentials?: Credentials | undefined;
  /** Time per attempt. Default: 2000. */
  readonly timeoutMs?: number | undefined;
  /** Attempts after the first one, of requests that are safe to repeat. Default: 4. */
  readonly retries?: number | undefined;
  /** Decides calls that Tollgate cannot decide. Default: `throw`. */
  readonly onUnavailable?:
    | 'throw'
    | 'allow'
    | ((call: UndecidedCall, error: TollgateError) => UnavailableDecision | Promise<UnavailableDecision>);
  /** Costs that are not acknowledged yet. Default: `memoryOutbox()`. */
  readonly outbox?: Outbox | undefined;
  readonly hooks?: Hooks | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Time and chance, for tests. */
  readonly clock?: Clock | undefined;
}
