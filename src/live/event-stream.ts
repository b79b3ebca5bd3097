import type { ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import { bounds } from '../graphql/bounds.js';
import { type Repeating, repeat } from '../lib/timers.js';

const heartbeatMs = 10_000;

export interface StreamEvent {
  readonly result: ExecutionResult;
  /** The caller sends it as `Last-Event-ID` to resume after this event. */
  readonly id?: string;
}

/** The server-sent events of one client. A client that leaves more than 1 MB unread is disconnected. */
export class EventStream {
  private source: AsyncIterator<unknown> | undefined;
  private heartbeat: Repeating | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly requestId: string,
    private readonly masked: (result: ExecutionResult) => unknown,
  ) {}

  /** Sends the reason why there are no events, and ends. */
  refuse(result: ExecutionResult): void {
    this.begin();
    this.sendResult(result);
    this.complete();
  }

  /** Sends each event of the source until it ends or the client is gone. */
  async forward(source: AsyncIterator<unknown>, resultOf: (event: unknown) => Promise<StreamEvent>): Promise<void> {
    const { response } = this;
    this.source = source;
    this.begin();
    try {
      // The client may have left before the stream began. Nothing else would stop the source then.
      if (this.isGone) return void source.return?.();
      for (let next = await source.next(); !next.done && !this.isGone; next = await source.next()) {
        const { result, id } = await resultOf(next.value);
        this.sendResult(result, id);
        if (response.writableLength > bounds.bufferedBytes) response.destroy();
      }
    } catch (error) {
      // The source failed. Without an event the client would wait for ever on a stream that looks alive.
      this.sendResult({ errors: [error as never] });
    } finally {
      this.complete();
    }
  }

  end(): void {
    this.response.req.socket.off('close', this.onGone);
    void this.heartbeat?.stop();
    void this.source?.return?.();
    this.response.end();
  }

  private get isGone(): boolean {
    return this.response.destroyed || this.response.writableEnded || this.response.req.socket.destroyed;
  }

  private begin(): void {
    const { response } = this;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
      'x-request-id': this.requestId,
    });
    response.write(':\n\n');
    // Proxies close streams that seem to be dead.
    this.heartbeat = repeat(
      heartbeatMs,
      async () => void response.write(':\n\n'),
      () => undefined,
    );
    response.once('close', this.onGone);
    // A response that waits behind another one on its connection emits no `close`.
    response.req.socket.once('close', this.onGone);
  }

  private readonly onGone = (): void => this.end();

  private complete(): void {
    if (!this.isGone) this.send('complete', '');
    this.end();
  }

  private sendResult(result: ExecutionResult, id?: string): void {
    this.send('next', JSON.stringify(this.masked(result)), id);
  }

  private send(name: string, data: string, id?: string): void {
    if (!this.response.writableEnded)
      this.response.write(`event: ${name}\ndata: ${data}\n${id === undefined ? '' : `id: ${id}\n`}\n`);
  }
}
