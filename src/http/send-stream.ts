import type { ServerResponse } from 'node:http';
import { onStall } from '../lib/timers.js';

/** A reader that takes nothing for this long is disconnected, because its response occupies a place. */
const maxStalledMs = 30_000;

/** `aborted`: the client has left or may not continue. It can see that its response is not complete. */
export type StreamOutcome = 'complete' | 'aborted';

/**
 * Sends chunks as fast as the client reads them, so that at most one chunk waits in memory. The head of the response
 * must have been written. Stops the source when the client has left, or when `mayContinue` resolves to false. If the
 * source throws, the connection is closed without the end of the response, and the error is thrown.
 */
export async function sendStream(
  response: ServerResponse,
  first: IteratorResult<string>,
  source: AsyncGenerator<string>,
  mayContinue: () => Promise<boolean>,
): Promise<StreamOutcome> {
  onStall(response, maxStalledMs, () => response.destroy());
  try {
    for (let next = first; !next.done; next = await source.next()) {
      if (!(await mayContinue()) || isGone(response)) return abort(response, source);
      if (!response.write(next.value)) await drained(response);
    }
  } catch (error) {
    response.destroy();
    throw error;
  }
  if (isGone(response)) return 'aborted';
  response.end();
  return 'complete';
}

async function abort(response: ServerResponse, source: AsyncGenerator<string>): Promise<StreamOutcome> {
  response.destroy();
  await source.return(undefined);
  return 'aborted';
}

const isGone = (response: ServerResponse): boolean => response.destroyed || response.req.socket.destroyed;

/** Resolves when the client has read what was written, or has left. */
function drained(response: ServerResponse): Promise<void> {
  const { socket } = response.req;
  if (isGone(response)) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      socket.off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
    // A response that waits behind another one on its connection emits no `close`.
    socket.once('close', done);
  });
}
