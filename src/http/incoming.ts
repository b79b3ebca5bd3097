import { IncomingMessage } from 'node:http';

/**
 * Node treats every offer of another protocol as a WebSocket upgrade. Other offers may be ignored (RFC 9110), and must
 * be: the HTTP client of Java offers HTTP/2 with each request.
 */
export class Incoming extends IncomingMessage {
  declare private isOffered: boolean;

  get upgrade(): boolean {
    return this.isOffered && (this.method === 'CONNECT' || (this.headers.upgrade ?? '').toLowerCase() === 'websocket');
  }

  set upgrade(isOffered: boolean) {
    this.isOffered = isOffered;
  }
}
