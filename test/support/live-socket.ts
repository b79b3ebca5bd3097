import WebSocket from 'ws';
import { until } from './until.js';

export interface Message {
  readonly type: string;
  readonly id?: string;
  readonly payload?: unknown;
}

/** Ends what a test has opened, and left open by failing. */
export const opened = new Set<() => void>();
export function endAll(): void {
  for (const end of opened) end();
  opened.clear();
}

/** An operation; named `S` if the document has a subscription of that name, so that it may have others beside it. */
export const operation = (query: string, variables?: unknown) => ({
  query,
  variables,
  ...(/\bsubscription S\b/.test(query) ? { operationName: 'S' } : {}),
});

/** A graphql-transport-ws socket without a client library, so that a test sees every message. */
export class LiveSocket {
  readonly messages: Message[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  readonly socket: WebSocket;

  constructor(
    url: string,
    protocols: string | string[] = 'graphql-transport-ws',
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.socket = new WebSocket(url, protocols, { headers });
    this.socket.on('message', (data) => this.messages.push(JSON.parse(String(data)) as Message));
    this.socket.on('close', (code, reason) => {
      this.closed = { code, reason: String(reason) };
    });
    this.socket.on('error', () => {});
    opened.add(() => this.end());
  }

  static async open(
    url: string,
    protocols?: string | string[],
    headers?: Readonly<Record<string, string>>,
  ): Promise<LiveSocket> {
    const live = new LiveSocket(url, protocols, headers);
    await until('the socket opens', () => live.socket.readyState === WebSocket.OPEN);
    return live;
  }

  /** Opens a socket and waits for its connection_ack. */
  static async connect(url: string, payload?: unknown): Promise<LiveSocket> {
    const live = await LiveSocket.open(url);
    live.send({ type: 'connection_init', payload });
    await until('the socket is accepted', () => live.messages.some(({ type }) => type === 'connection_ack'));
    return live;
  }

  send(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  subscribe(id: string, query: string, variables?: unknown): void {
    this.send({ type: 'subscribe', id, payload: operation(query, variables) });
  }

  /** The messages of one operation. */
  of(id: string): Message[] {
    return this.messages.filter((message) => message.id === id);
  }

  async closeCode(withinMs = 10_000): Promise<number> {
    await until('the socket is closed', () => this.closed !== undefined, withinMs);
    return this.closed?.code ?? 0;
  }

  end(): void {
    this.socket.terminate();
  }
}
