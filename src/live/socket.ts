import type { IncomingMessage } from 'node:http';
import { CloseCode, type Server } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { bounds } from '../graphql/bounds.js';
import type { Log } from '../lib/log.js';
import { repeat } from '../lib/timers.js';

// A peer that does not answer a ping before the next is gone, or reads too slowly to be worth keeping.
const pingMs = 5000;
/** Operations that were refused count until their refusal has been sent: so many, and the peer does not read at all. */
const mostUnsent = 10 * bounds.socketOperations;
const maxReasonBytes = 120;
/** An operation's id is repeated in every message about it. */
const maxIdChars = 128;

/** What the protocol's hooks know of a socket. */
export interface Wire {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  /** Counts an operation as accepted; false if the socket already has as many as it may. */
  accept(id: string): boolean;
}

/** Carries the protocol over one socket, and cuts off a peer that lets more wait to be sent than is fair. */
export function carry(protocol: Server<Wire>, socket: WebSocket, request: IncomingMessage, log: Log): void {
  /** Operations by their ids, each until it has ended and its peer was told so. */
  const running = new Map<string, Promise<void>>();
  /** Those of them that their peer has ended: it is to hear no more of them. */
  const ending = new Map<string, Promise<void>>();
  const live = () => running.size - ending.size;
  /** Those that were accepted and have not ended: refused ones do not count against the bound. */
  const accepted = new Set<string>();
  const accept = (id: string): boolean => accepted.size < bounds.socketOperations && Boolean(accepted.add(id));
  let receive: (text: string) => Promise<void> = async () => undefined;
  const close = (code: number, reason: string) => socket.close(code, closeReason(reason));

  const isSlow = (): boolean => {
    // A farewell would wait behind all that is not read.
    if (socket.bufferedAmount > bounds.bufferedBytes) socket.terminate();
    return socket.readyState !== socket.OPEN;
  };

  async function take(text: string): Promise<void> {
    const { type, id } = outline(text);
    if (id.length > maxIdChars)
      return close(CloseCode.BadRequest, `the id of an operation must have at most ${maxIdChars} characters`);
    const current = running.get(id);
    if (type === 'complete' && current) {
      ending.set(id, current);
      accepted.delete(id);
    }
    if (type !== 'subscribe') return receive(text);
    if (live() >= mostUnsent) return socket.terminate();
    // An id that is used again before its first operation has quite ended would end both.
    const turn: Promise<void> = (ending.get(id) ?? Promise.resolve())
      // It may have been completed meanwhile, or its socket closed: nobody would end it then.
      .then(() => (socket.readyState === socket.OPEN && ending.get(id) !== turn ? receive(text) : undefined))
      .finally(() => {
        if (running.get(id) === turn) {
          running.delete(id);
          accepted.delete(id);
        }
        if (ending.get(id) === turn) ending.delete(id);
      });
    running.set(id, turn);
    return turn;
  }

  socket.on('message', (data) => {
    if (isSlow()) return;
    take(String(data)).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith('Unexpected message'))
        return close(CloseCode.BadRequest, error.message);
      log.error({ err: error }, 'unexpected error on a socket');
      return close(CloseCode.InternalServerError, 'Internal server error');
    });
  });
  socket.on('ping', (data) => {
    if (!isSlow()) socket.pong(data);
  });
  // What breaks the rules of WebSocket itself, ws answers with the right code and closes.
  socket.on('error', () => undefined);

  let isAlive = true;
  socket.on('pong', () => {
    isAlive = true;
  });
  const pinging = repeat(
    pingMs,
    async () => {
      if (!isAlive) return socket.terminate();
      isAlive = false;
      if (!isSlow()) socket.ping();
    },
    () => undefined,
  );

  const closed = protocol.opened(
    {
      protocol: socket.protocol,
      send: (text) =>
        new Promise((resolve) => {
          if (isSlow() || (ending.size > 0 && ending.has(outline(text).id))) resolve();
          // What cannot be sent any more, nobody waits for.
          else socket.send(text, () => resolve());
        }),
      close,
      onMessage: (handler) => {
        receive = handler;
      },
    },
    { socket, request, accept },
  );
  socket.once('close', (code, reason) => {
    void pinging.stop();
    void closed(code, String(reason));
  });
}

/** As long as WebSocket lets it be, which counts bytes. */
export function closeReason(text: string): string {
  const bytes = Buffer.from(text);
  let end = Math.min(bytes.length, maxReasonBytes);
  // Not in the middle of a character: its later bytes begin with the bits 10.
  while (end < bytes.length && end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString();
}

/** What a message is about, as far as it can be told; the protocol itself judges it. */
function outline(text: string): { readonly type: unknown; readonly id: string } {
  try {
    const { type, id } = JSON.parse(text) as { type?: unknown; id?: unknown };
    return { type, id: String(id) };
  } catch {
    return { type: undefined, id: '' };
  }
}
