import { useEffect, useRef, useState } from 'preact/hooks';
import type { TypedDocumentString } from '../gql/graphql.js';
import { documentId } from './client.js';
import { isUnauthenticated, jsonOf, post } from './http.js';
import { problemOf } from './problem.js';
import { sessionEnded } from './session.js';
import { EventParser } from './sse.js';

const minWaitMs = 1000;
const maxWaitMs = 30_000;

export interface Stream<T, V> {
  readonly document: TypedDocumentString<T, V>;
  /** The variables of the next connection, so that a subscription resumes after its last event. */
  readonly variables: () => V;
  readonly onData: (data: T) => void;
}

/**
 * Follows a subscription over server-sent events while the tab is visible. A browser opens only six connections per
 * site, so a hidden tab gives its connection back. Returns true while it is connected.
 */
export function useStream<T, V>(stream: Stream<T, V> | undefined, key: string): boolean {
  const [connected, setConnected] = useState(false);
  const latest = useRef(stream);
  latest.current = stream;
  const isOn = stream !== undefined;
  useEffect(() => {
    if (!isOn) return;
    let current: AbortController | undefined;
    const start = () => {
      current?.abort();
      current = new AbortController();
      const { signal } = current;
      if (document.visibilityState === 'visible') void follow(() => latest.current, setConnected, signal);
      else setConnected(false);
    };
    start();
    document.addEventListener('visibilitychange', start);
    return () => {
      document.removeEventListener('visibilitychange', start);
      current?.abort();
      setConnected(false);
    };
  }, [isOn, key]);
  return connected;
}

/** Connects again and again until the signal is aborted or the session has ended. */
async function follow<T, V>(
  streamOf: () => Stream<T, V> | undefined,
  onConnected: (connected: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  let waitMs = minWaitMs;
  while (!signal.aborted) {
    try {
      const stream = streamOf();
      if (!stream) return;
      await connect(
        stream,
        () => {
          waitMs = minWaitMs;
          onConnected(true);
        },
        signal,
      );
    } catch (error) {
      if (signal.aborted) return;
      if (isUnauthenticated(error)) return sessionEnded();
    }
    if (signal.aborted) return;
    onConnected(false);
    await new Promise((resolve) => setTimeout(resolve, waitMs * (0.5 + Math.random() / 2)));
    waitMs = Math.min(waitMs * 2, maxWaitMs);
  }
}

async function connect<T, V>(stream: Stream<T, V>, onOpen: () => void, signal: AbortSignal): Promise<void> {
  const id = documentId(stream.document as TypedDocumentString<unknown, unknown>);
  const body = { documentId: id, variables: stream.variables() };
  const response = await post('/graphql', body, { accept: 'text/event-stream', signal });
  if (!response.ok || !response.body || !response.headers.get('content-type')?.startsWith('text/event-stream'))
    throw problemOf(await jsonOf(response), response.status);
  onOpen();
  const parser = new EventParser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    for (const { event, data } of parser.push(chunk.value)) {
      if (event !== 'next') continue;
      const result = JSON.parse(data) as { data?: T; errors?: unknown[] };
      if (result.errors) throw problemOf(result, 200);
      if (result.data) stream.onData(result.data);
    }
  }
}
