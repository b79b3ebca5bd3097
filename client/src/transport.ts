import { Auth, type Credential } from './auth.js';
import { backoffMs, type Clock, unlessAborted } from './clock.js';
import { errorOf, TollgateError, Unauthenticated, Unavailable, type WireError } from './errors.js';
import type { Hooks } from './options.js';
import type { Credentials } from './types.js';

/** One operation, and when a failed attempt of it may be repeated. */
export interface Operation {
  readonly document: string;
  readonly variables?: object | undefined;
  /** It is not idempotent, so it is repeated only if the gateway has surely not executed it. */
  readonly isOnce?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Time that the gateway may wait before it responds. */
  readonly waitMs?: number | undefined;
  /** In place of that of the client. */
  readonly credential?: Credential;
}

export interface TransportDeps {
  readonly url: string;
  readonly credentials: Credentials | undefined;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly hooks: Hooks;
}

/** A longer Retry-After is left to the caller. */
const maxRetryAfterMs = 30_000;
/** Spreads callers that got the same Retry-After. */
const retryAfterJitterMs = 100;
/** The connection was not made, so no request was sent. */
const unsentCodes = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/;

/** Sends operations: a timeout per attempt, and retries with full jitter of what is safe to repeat. */
export class Transport {
  readonly #deps: TransportDeps;
  readonly #auth: Auth;

  constructor(deps: TransportDeps) {
    this.#deps = deps;
    this.#auth = new Auth({ ...deps, send: (operation) => this.send(operation) });
  }

  /** The data of the operation. Throws a TollgateError, or the reason of the signal. */
  async send<T>(operation: Operation): Promise<T> {
    return this.#withRetries(operation, async (headers) => {
      const timeout = AbortSignal.timeout(this.#deps.timeoutMs + (operation.waitMs ?? 0));
      const signal = operation.signal ? AbortSignal.any([operation.signal, timeout]) : timeout;
      return dataOf<T>(await this.#post(operation, headers, signal));
    });
  }

  /** The response of a subscription, as a stream of events. It has no timeout; `signal` ends it. */
  async open(operation: Operation): Promise<Response> {
    return this.#withRetries(operation, async (headers) => {
      const response = await this.#post(
        operation,
        { ...headers, accept: 'text/event-stream' },
        operation.signal ?? null,
      );
      // Any other response is an error.
      if (!response.headers.get('content-type')?.includes('event-stream')) await dataOf(response);
      return response;
    });
  }

  async #withRetries<T>(operation: Operation, attempt: (headers: Record<string, string>) => Promise<T>): Promise<T> {
    const { clock, hooks, retries } = this.#deps;
    const name = nameOf(operation.document);
    let hasLoggedInAgain = false;
    for (let nth = 1; ; nth++) {
      const startedMs = clock.nowMs();
      const ended = (error?: TollgateError) =>
        notify(hooks, 'request', { operation: name, attempt: nth, ms: clock.nowMs() - startedMs, error });
      operation.signal?.throwIfAborted();
      // A failed login has used up its own retries.
      const credential = operation.credential ?? (await unlessAborted(this.#auth.current(), operation.signal));
      try {
        const result = await attempt(credential.headers);
        ended();
        return result;
      } catch (cause) {
        operation.signal?.throwIfAborted();
        const error = cause instanceof TollgateError ? cause : failureOf(cause);
        ended(error);
        if (error instanceof Unauthenticated && !hasLoggedInAgain && this.#auth.reject(credential)) {
          hasLoggedInAgain = true;
          continue;
        }
        const mayRepeat = error.retryable && (error.isUnsent || !operation.isOnce);
        const waitMs = error.retryAfterMs;
        if (!mayRepeat || nth > retries || (waitMs ?? 0) > maxRetryAfterMs) throw error;
        const delayMs =
          waitMs === undefined ? backoffMs(nth - 1, clock.random()) : waitMs + retryAfterJitterMs * clock.random();
        notify(hooks, 'retry', { operation: name, attempt: nth, delayMs, error });
        await clock.sleep(delayMs, operation.signal);
      }
    }
  }

  async #post(
    { document, variables }: Operation,
    headers: Record<string, string>,
    signal: AbortSignal | null,
  ): Promise<Response> {
    const { fetch, url } = this.#deps;
    return fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: JSON.stringify({ query: document, variables }),
      signal,
      // A redirect would send the credentials to another place.
      redirect: 'error',
    });
  }
}

const unavailable = (message: string, cause?: unknown, isUnsent = false) =>
  new Unavailable('SERVICE_UNAVAILABLE', message, { retryable: true, cause, isUnsent });

/** What a request without a response means. */
function failureOf(error: unknown): TollgateError {
  const { name, cause } = error as { readonly name?: string; readonly cause?: { readonly code?: string } };
  if (name === 'TimeoutError') return unavailable('no response in time', error);
  // Not the error itself: the one of a header that is not valid quotes the header, which is a secret.
  const code = cause?.code ?? '';
  return unavailable(`request failed${code && `: ${code}`}`, cause, unsentCodes.test(code));
}

interface ResponseBody<T> {
  readonly data?: T | null;
  readonly errors?: readonly WireError[];
}

/** The data of a response. A response that does not come from Tollgate, such as one of a proxy, is `Unavailable`. */
async function dataOf<T>(response: Response): Promise<T> {
  const { headers, status } = response;
  const body = (await response.json().catch(() => undefined)) as ResponseBody<T> | undefined;
  const [error] = body?.errors ?? [];
  if (error) throw errorOf(error);
  if (body?.data) return body.data;
  throw new Unavailable('SERVICE_UNAVAILABLE', `HTTP status ${status}`, {
    // Other responses of status 4xx say that the url is wrong.
    retryable: status < 400 || status >= 429,
    retryAfterMs: Number(headers.get('retry-after')) * 1000 || undefined,
  });
}

/** The name of the operation of a document. */
export const nameOf = (document: string): string => /^\s*\w+\s+(\w+)/.exec(document)?.[1] ?? 'anonymous';

/** Calls a hook. An error of a hook must not change the outcome of a call. */
export function notify<K extends keyof Hooks>(
  hooks: Hooks,
  name: K,
  event: Parameters<NonNullable<Hooks[K]>>[0],
): void {
  try {
    (hooks as Record<string, ((event: unknown) => void) | undefined>)[name]?.(event);
  } catch {}
}
