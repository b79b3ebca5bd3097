import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { bounds } from '../graphql/bounds.js';
import type { Clock } from '../lib/clock.js';
import { type Repeating, repeat } from '../lib/timers.js';

const sweepMs = 1000;
const maxUnreadMs = 30_000;
/** A peer with more unsent than the bound must read at least this much between two sweeps. */
const minProgressBytes = 64 * 1024;

interface Exchange {
  readonly whenDone: (() => void)[];
  /** Since when the response has waited to be read, and how much of it did at the last sweep. */
  unread?: { readonly sinceMs: number; readonly bytes: number };
}

/**
 * The open connections and the responses under way on each. A response is under way until it is flushed. A peer that does
 * not read its responses is disconnected: what waits for it takes memory.
 */
export class Connections {
  private readonly open = new Map<Socket, Map<ServerResponse, Exchange>>();
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
      const exchanges = this.open.get(socket);
      this.open.delete(socket);
      // A response that waits behind another on its connection is not told when that closes.
      for (const exchange of exchanges?.values() ?? []) finish(exchange);
    });
  }

  begin({ socket }: IncomingMessage, response: ServerResponse): void {
    const exchanges = this.open.get(socket);
    if (!exchanges) return;
    const exchange: Exchange = { whenDone: [] };
    exchanges.set(response, exchange);
    response.once('close', () => {
      exchanges.delete(response);
      finish(exchange);
    });
  }

  /** Calls `done` once: when the response has been flushed, or its connection is gone. */
  whenFlushed(response: ServerResponse, done: () => void): void {
    const exchange = this.open.get(response.req.socket)?.get(response);
    if (exchange) exchange.whenDone.push(done);
    else done();
  }

  *responses(): Iterable<ServerResponse> {
    for (const exchanges of this.open.values()) yield* exchanges.keys();
  }

  /** Disconnects every peer that has left a finished response unread for too long. */
  sweep(): void {
    const nowMs = this.clock.monotonicMs();
    for (const [socket, exchanges] of this.open) {
      for (const [response, exchange] of exchanges) {
        if (!response.writableEnded || response.writableFinished) continue;
        if (isStuck(exchange, unsentBytes(socket, response), nowMs)) socket.destroy();
      }
    }
  }

  stop(): void {
    void this.sweeping.stop();
  }
}

function isStuck(exchange: Exchange, bytes: number, nowMs: number): boolean {
  const { unread } = exchange;
  const isLarge = bytes > bounds.bufferedBytes;
  if (unread && isLarge && unread.bytes - bytes < minProgressBytes) return true;
  if (unread && !isLarge && nowMs - unread.sinceMs > maxUnreadMs) return true;
  exchange.unread = { sinceMs: unread && !isLarge ? unread.sinceMs : nowMs, bytes };
  return false;
}

/** Node counts a body as waiting until all of it is sent; only the handle of the socket knows how much is left. */
function unsentBytes(socket: Socket, response: ServerResponse): number {
  const { _handle: handle } = socket as { readonly _handle?: { readonly writeQueueSize: number } | null };
  return handle
    ? handle.writeQueueSize + Math.max(0, response.writableLength - socket.writableLength)
    : response.writableLength;
}

function finish({ whenDone }: Exchange): void {
  for (const done of whenDone.splice(0)) done();
}
