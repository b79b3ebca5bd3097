import { type Credentials, Tollgate, TollgateError } from '@tollgate/client';
import { sleep } from '../../lib/timers.js';

/** A person waits for the response, so it may take longer than one that a program waits for. */
const timeoutMs = 15_000;
const retries = 2;
const reconnectMs = 1000;

/** One gateway, as one caller. */
export class GatewayApi {
  private readonly client: Tollgate;

  constructor(
    readonly url: string,
    private readonly credentials?: Credentials,
  ) {
    const endpoint = new URL('/graphql', url).href;
    this.client = new Tollgate({ url: endpoint, timeoutMs, retries, ...(credentials ? { credentials } : {}) });
  }

  /** The data of an operation. Throws a `TollgateError` if the gateway refuses it or does not respond. */
  async query<T>(document: string, variables: object = {}): Promise<T> {
    try {
      return await this.client.query<T>(document, variables);
    } catch (error) {
      throw error instanceof TollgateError && error.requestId === undefined ? this.unreachable(error) : error;
    }
  }

  /**
   * The events of a subscription until `signal`. After a disconnect it resumes: `variables` is asked again, and may
   * then name the cursor of the last event.
   */
  async *follow<T>(document: string, variables: () => object, signal: AbortSignal): AsyncGenerator<T> {
    while (!signal.aborted) {
      try {
        yield* this.client.subscribe<T>(document, variables(), { signal });
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof TollgateError && !error.retryable) throw error;
      }
      await sleep(reconnectMs);
    }
  }

  /** A file that the gateway streams. */
  async download(path: string, body: object): Promise<ReadableStream<Uint8Array>> {
    const response = await fetch(new URL(path, this.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(await this.headers()) },
      body: JSON.stringify(body),
    }).catch((cause: unknown) => {
      throw this.unreachable(cause);
    });
    if (response.ok && response.body) return response.body;
    const { code, message } = (await response.json().catch(() => ({}))) as { code?: string; message?: string };
    throw new TollgateError(code ?? 'ERROR', message ?? `${this.url} responded with status ${response.status}`);
  }

  /** An error that did not come from a gateway. */
  private unreachable(cause: unknown): TollgateError {
    const { code = 'SERVICE_UNAVAILABLE', message = '' } = cause as Partial<TollgateError>;
    const advice = 'check the URL (tollgate context list, TOLLGATE_URL), or start Tollgate (npm start)';
    return new TollgateError(code, `no response from a Tollgate at ${this.url} (${message}); ${advice}`, { cause });
  }

  private async headers(): Promise<Record<string, string>> {
    const { credentials } = this;
    if (credentials && 'adminKey' in credentials) return { 'x-admin-key': credentials.adminKey };
    if (credentials && 'token' in credentials) return { authorization: `Bearer ${await credentials.token()}` };
    return {};
  }
}
