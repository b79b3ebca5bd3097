import type { IncomingMessage } from 'node:http';
import { CloseCode, type Server } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { bounds } from '../graphql/bounds.js';
import type { Log } from '../lib/log.js';
import { type Repeating, repeat } from '../lib/timers.js';

// A peer that does not respond to a ping before the next one is gone, or reads too slowly.
const pingMs = 5000;
/** Rejected operations count until their rejection has been sent. A peer with this many does not read at all. */
const maxUnsent = 10 * bounds.socketOperations;
const maxReasonBytes = 120;
/** The id of an operation is repeated in every message about it. */
const maxIdChars = 128;

/** A socket, as the hooks of the protocol see it. */
export interface SocketContext {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  /** Counts an operation as accepted. False if the socket already has as many as it may. */
  accept(id: string): boolean;
}

/** Runs the protocol over one socket, and disconnects a peer that leaves too much unread. */
export class SocketConnection implements SocketContext {
  /** Operations by id, each until it has ended and its last message has been sent. */
  private readonly running = new Map<string, Promise<void>>();
  /** The running operations that their peer has completed. It must get no more messages about them. */
  private readonly ending = new Map<string, Promise<void>>();
  /** Operations that were accepted and have not ended. Rejected operations do not count against the limit. */
  private readonly accepted = new Set<string>();
  private receive: (text: string) => Promise<void> = async () => undefined;
  private readonly pinging: Repeating;
  private isAlive = true;

  constructor(
    protocol: Server<SocketContext>,
    readonly socket: WebSocket,
    readonly request: IncomingMessage,
    private readonly log: Log,
  ) {
    socket.on('message', (data) => this.onMessage(String(data)));
    socket.on('ping', (data) => {
      if (!this.isSlowOrClosed()) socket.pong(data);
    });
    socket.on('pong', () => {
      this.isAlive = true;
    });
    // Violations of the WebSocket protocol: ws closes the socket with the right code.
    socket.on('error', () => undefined);
    this.pinging = repeat(
      pingMs,
      async () => this.ping(),
      () => undefined,
    );
    const closed = this.open(protocol);
    socket.once('close', (code, reason) => {
      void this.pinging.stop();
      void closed(code, String(reason));
    });
  }

  accept(id: string): boolean {
    if (this.accepted.size >= bounds.socketOperations) return false;
    this.accepted.add(id);
    return true;
  }

  private open(protocol: Server<SocketContext>): ReturnType<Server<SocketContext>['opened']> {
    return protocol.opened(
      {
        protocol: this.socket.protocol,
        send: (text) => this.send(text),
        close: (code, reason) => this.close(code, reason),
        onMessage: (handler) => {
          this.receive = handler;
        },
      },
      this,
    );
  }

  private send(text: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.isSlowOrClosed() || (this.ending.size > 0 && this.ending.has(outline(text).id))) resolve();
      // Resolves on failure too, because a message that can no longer be sent must not block its operation.
      else this.socket.send(text, () => resolve());
    });
  }

  private onMessage(text: string): void {
    if (this.isSlowOrClosed()) return;
    this.take(text).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith('Unexpected message')) {
        this.close(CloseCode.BadRequest, error.message);
        return;
      }
      this.log.error({ err: error }, 'unexpected error on a socket');
      this.close(CloseCode.InternalServerError, 'Internal server error');
    });
  }

  private async take(text: string): Promise<void> {
    const { type, id } = outline(text);
    if (id.length > maxIdChars) {
      this.close(CloseCode.BadRequest, `the id of an operation must have at most ${maxIdChars} characters`);
      return;
    }
    const current = this.running.get(id);
    if (type === 'complete' && current) {
      this.ending.set(id, current);
      this.accepted.delete(id);
    }
    if (type !== 'subscribe') return this.receive(text);
    if (this.running.size - this.ending.size >= maxUnsent) return this.socket.terminate();
    return this.subscribe(id, text);
  }

  /** An id that is reused before its first operation has ended would end both, so the second waits for that. */
  private subscribe(id: string, text: string): Promise<void> {
    const { socket, running, ending } = this;
    const operation: Promise<void> = (ending.get(id) ?? Promise.resolve())
      // The operation may have been completed meanwhile, or the socket closed. Nothing would end it then.
      .then(() => (socket.readyState === socket.OPEN && ending.get(id) !== operation ? this.receive(text) : undefined))
      .finally(() => {
        if (running.get(id) === operation) {
          running.delete(id);
          this.accepted.delete(id);
        }
        if (ending.get(id) === operation) ending.delete(id);
      });
    running.set(id, operation);
    return operation;
  }

  private ping(): void {
    if (!this.isAlive) {
      this.socket.terminate();
      return;
    }
    this.isAlive = false;
    if (!this.isSlowOrClosed()) this.socket.ping();
  }

  /** Disconnects a peer that leaves too much unread. It gets no close frame, which would wait behind all that. */
  private isSlowOrClosed(): boolean {
    const { socket } = this;
    if (socket.bufferedAmount > bounds.bufferedBytes) socket.terminate();
    return socket.readyState !== socket.OPEN;
  }

  private close(code: number | undefined, reason = ''): void {
    this.socket.close(code, closeReason(reason));
  }
}

/** Truncates a reason to the bytes that WebSocket allows. */
export function closeReason(text: string): string {
  const bytes = Buffer.from(text);
  let end = Math.min(bytes.length, maxReasonBytes);
  // Not in the middle of a character: its later bytes begin with the bits 10.
  while (end < bytes.length && end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}

/** The type and id of a message, as far as they can be read. The protocol itself validates the message. */
function outline(text: string): { readonly type: unknown; readonly id: string } {
  try {
    const { type, id } = JSON.parse(text) as { type?: unknown; id?: unknown };
    return { type, id: String(id) };
  } catch {
    return { type: undefined, id: '' };
  }
}
