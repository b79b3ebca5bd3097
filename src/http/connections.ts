import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { bounds } from '../graphql/bounds.js';
import type { Clock } from '../lib/clock.js';
import { type Repeating, repeat } from '../lib/timers.js';

const sweepMs = 1000;
const maxUnreadMs = 30_000;
/** A peer with more unsent than the bound must read at least this much between two sweeps. */
const minProgressBytes = 64 * 1024;

/** A response that has not been flushed. */
interface PendingResponse {
  readonly whenDone: (() => void)[];
  /** When the response began to wait for its reader, and the bytes that waited at the last sweep. */
  unread?: { readonly sinceMs: number; readonly bytes: number };
}

/**
 * The open connections, with the responses on each that have not been flushed. A peer that does not read its responses
 * is disconnected, because they occupy memory.
 */
export class Connections {
  private readonly open = new Map<Socket, Map<ServerResponse, PendingResponse>>();
  private readonly sweeping: Repeating;

  constructor(private readonly clock: Pick<Clock, 'monotonicMs'>) {
    this.sweeping = repeat(
      sweepMs,
      async () => this.sweep(),
      () => undefined,
    );
  }

  accept(socket: Socket): void {
    this.open.set(socket, new Map());
    socket.once('close', () => {
      const responses = this.open.get(socket);
      this.open.delete(socket);
      // A response that waits behind another one on its connection emits no `close`.
      for (const pending of responses?.values() ?? []) finish(pending);
    });
  }

  begin({ socket }: IncomingMessage, response: ServerResponse): void {
    const responses = this.open.get(socket);
    if (!responses) return;
    const pending: PendingResponse = { whenDone: [] };
    responses.set(response, pending);
    response.once('close', () => {
      responses.delete(response);
      finish(pending);
    });
  }

  /** Calls `done` once, when the response has been flushed or its connection is closed. */
  whenFlushed(response: ServerResponse, done: () => void): void {
    const pending = this.open.get(response.req.socket)?.get(response);
    if (pending) pending.whenDone.push(done);
    else done();
  }

  *responses(): Iterable<ServerResponse> {
    for (const responses of this.open.values()) yield* responses.keys();
  }

  /** Disconnects every peer that has left a finished response unread for too long. */
  sweep(): void {
    const nowMs = this.clock.monotonicMs();
    for (const [socket, responses] of this.open) {
      for (const [response, pending] of responses) {
        if (!response.writableEnded || response.writableFinished) continue;
        if (isStuck(pending, unsentBytes(socket, response), nowMs)) socket.destroy();
      }
    }
  }

  stop(): void {
    void this.sweeping.stop();
  }
}

function isStuck(pending: PendingResponse, bytes: number, nowMs: number): boolean {
  const { unread } = pending;
  const isLarge = bytes > bounds.bufferedBytes;
  if (unread && isLarge && unread.bytes - bytes < minProgressBytes) return true;
  if (unread && !isLarge && nowMs - unread.sinceMs > maxUnreadMs) return true;
  pending.unread = { sinceMs: unread && !isLarge ? unread.sinceMs : nowMs, bytes };
  return false;
}

/** Node counts a whole body as unsent until all of it is sent. Only the handle of the socket knows how much is left. */
function unsentBytes(socket: Socket, response: ServerResponse): number {
  const { _handle: handle } = socket as { readonly _handle?: { readonly writeQueueSize: number } | null };
  return handle
    ? handle.writeQueueSize + Math.max(0, response.writableLength - socket.writableLength)
    : response.writableLength;
}

function finish({ whenDone }: PendingResponse): void {
  for (const done of whenDone.splice(0)) done();
}
