// The entry of the package. Read `spend.ts` or `limits.ts` next, then `settler.ts` and `transport.ts`.
import { type Clock, systemClock } from './clock.js';
import { Devices } from './devices.js';
import * as documents from './documents.js';
import type { TollgateError } from './errors.js';
import type { AlertsRequest, QuotaAlert } from './event-types.js';
import { Limits } from './limits.js';
import type { TollgateOptions, UnavailableDecision, UndecidedCall } from './options.js';
import { memoryOutbox } from './outbox.js';
import { Settler } from './settler.js';
import { Spend } from './spend.js';
import { resultsOf, resumed } from './stream.js';
import { notify, Transport } from './transport.js';

export type { Clock } from './clock.js';
export {
  BadInput,
  type ErrorDetails,
  IdempotencyConflict,
  type Issue,
  LeaseExpired,
  QuotaExceeded,
  RateLimited,
  TollgateError,
  Unauthenticated,
  Unavailable,
  VersionConflict,
} from './errors.js';
export type * from './event-types.js';
export type * from './options.js';
export { type CostMutation, memoryOutbox, type Outbox, type OutboxEntry } from './outbox.js';
export type * from './types.js';
export type { Devices, Limits, Spend };

const defaultTimeoutMs = 2_000;
const defaultRetries = 4;
const defaultCloseMs = 5_000;

export interface QueryOptions {
  readonly signal?: AbortSignal;
  /** Repeats a mutation whose outcome is unknown. Set it if the mutation is idempotent. Queries always repeat. */
  readonly isIdempotent?: boolean;
}

/** A client of one Tollgate with one credential. Make one per process and share it. */
export class Tollgate {
  readonly spend: Spend;
  readonly limits: Limits;
  readonly devices: Devices;
  readonly #deps: { readonly transport: Transport; readonly settler: Settler; readonly clock: Clock };

  constructor(options: TollgateOptions) {
    const { timeoutMs = defaultTimeoutMs, retries = defaultRetries, hooks = {}, clock = systemClock } = options;
    const { credentials, outbox = memoryOutbox() } = options;
    const send = options.fetch ?? fetch;
    const transport = new Transport({
      url: urlOf(options.url),
      credentials,
      timeoutMs,
      retries,
      fetch: send,
      clock,
      hooks,
    });
    const settler = new Settler({ outbox, transport, clock, hooks });
    const decide = async (call: UndecidedCall, error: TollgateError): Promise<UnavailableDecision> => {
      const { onUnavailable = 'throw' } = options;
      if (typeof onUnavailable === 'function') return onUnavailable(call, error);
      // Overload is no outage: otherwise a flood of requests would lift the limits that bound it.
      return error.retryAfterMs === undefined ? onUnavailable : 'throw';
    };
    const failed = (operation: string, error: unknown) => notify(hooks, 'failed', { operation, error });
    const deps = { transport, settler, clock, retries, decide, failed };
    this.spend = new Spend(deps);
    this.limits = new Limits(deps);
    this.devices = new Devices(deps);
    this.#deps = deps;
  }

  /** Sends any operation. Throws the first error of the response. */
  async query<T = Record<string, unknown>>(
    document: string,
    variables?: object,
    { signal, isIdempotent = false }: QueryOptions = {},
  ): Promise<T> {
    const isOnce = !isIdempotent && /\bmutation\b/.test(document);
    return this.#deps.transport.send<T>({ document, variables, isOnce, signal });
  }

  /** The results of a subscription, until the gateway or the signal ends it. It does not resume. */
  subscribe<T = Record<string, unknown>>(
    document: string,
    variables?: object,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<T, void, undefined> {
    return resultsOf<T>(this.#deps, { document, variables, signal });
  }

  /** Alerts as they are raised. Resumes after a disconnect without gap or repeat, and ends when `signal` is aborted. */
  async *alerts({ signal, ...filter }: AlertsRequest = {}): AsyncGenerator<QuotaAlert, void, undefined> {
    let { after } = filter;
    const next = () => ({ document: documents.alerts, variables: { ...filter, after } });
    for await (const { quotaAlerts } of resumed<{ readonly quotaAlerts: QuotaAlert }>(this.#deps, signal, next)) {
      after = quotaAlerts.cursor;
      yield quotaAlerts;
    }
  }

  /** Opens the outbox and begins to send what an earlier process has left. The first metered call does it too. */
  async open(): Promise<void> {
    await this.#deps.settler.open();
  }

  /** Resolves once the cost of every ended call is acknowledged or in the dead letters. */
  async flush(): Promise<void> {
    await this.#deps.settler.flush();
  }

  /** Waits up to `waitMs` (default 5000) for costs, then closes the outbox. A durable one keeps the rest. */
  async close({ waitMs = defaultCloseMs }: { readonly waitMs?: number } = {}): Promise<void> {
    await this.#deps.settler.close(waitMs);
  }
}

function urlOf(text: string): string {
  const url = new URL(text);
  if (url.username || url.password) throw new TypeError('url: contains credentials');
  return url.href;
}
