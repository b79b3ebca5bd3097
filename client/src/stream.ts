import { backoffMs, type Clock } from './clock.js';
import { errorOf, TollgateError, Unauthenticated, type WireError } from './errors.js';
import type { Operation, Transport } from './transport.js';

export interface StreamDeps {
  readonly transport: Transport;
  readonly clock: Clock;
}

/** The gateway sends a comment every 10 s. A stream that is silent for longer is dead. */
const maxSilenceMs = 30_000;

/** The results of a subscription over server-sent events, until the gateway or the signal ends it. */
export async function* resultsOf<T>(
  { transport, clock }: StreamDeps,
  operation: Operation,
): AsyncGenerator<T, void, undefined> {
  const end = new AbortController();
  const signal = operation.signal ? AbortSignal.any([operation.signal, end.signal]) : end.signal;
  /** The result of the work. Ends the stream if it takes too long. */
  const bounded = async <R>(work: Promise<R>): Promise<R> => {
    const timer = new AbortController();
    const late = () => end.abort();
    clock.sleep(maxSilenceMs, timer.signal).then(late, () => undefined);
    return work.finally(() => timer.abort());
  };
  try {
    const { body } = await bounded(transport.open({ ...operation, signal }));
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    for await (const { event, data } of eventsOf(() => bounded(reader.read()))) {
      if (event === 'complete') return;
      if (event !== 'next') continue;
      const { data: result, errors } = JSON.parse(data) as { data?: T | null; errors?: readonly WireError[] };
      if (errors?.[0]) throw errorOf(errors[0]);
      if (result) yield result;
    }
  } finally {
    end.abort();
  }
}

/** Repeats a subscription after each disconnect, from where `next` says. Ends quietly on abort. */
export async function* resumed<T>(
  deps: StreamDeps,
  signal: AbortSignal | undefined,
  next: () => Operation,
): AsyncGenerator<T, void, undefined> {
  for (let failures = 0; !signal?.aborted; failures++) {
    try {
      for await (const result of resultsOf<T>(deps, { ...next(), signal })) {
        failures = 0;
        yield result;
      }
    } catch (error) {
      // A stream ends with its token. A new one gets a new token, unless the credentials themselves are refused.
      const isRefused = error instanceof TollgateError && !error.retryable;
      if (isRefused && !(error instanceof Unauthenticated && failures === 0)) throw error;
    }
    await deps.clock.sleep(backoffMs(failures, deps.clock.random()), signal).catch(() => undefined);
  }
}

/** The events of a stream of bytes. Comments, ids and unnamed events are left out. */
export async function* eventsOf(
  read: () => Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>,
): AsyncGenerator<{ readonly event: string; readonly data: string }, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for (let chunk = await read(); !chunk.done; chunk = await read()) {
    rest += decoder.decode(chunk.value, { stream: true });
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = /^event: ?(.*)$/m.exec(block)?.[1] ?? '';
      const data = [...block.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line).join('\n');
      if (event) yield { event, data };
    }
  }
}
