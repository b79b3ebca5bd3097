import { connect, type Socket } from 'node:net';
import { decent, type Reply, typename, world } from './abuse.js';
import { opened } from './live-socket.js';
import { asAdmin } from './live-transports.js';
import { until } from './until.js';

/** A plain TCP connection: a test sends bytes and sees the bytes that come back. */
export class Wire {
  received = '';
  closed = false;

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk) => {
      this.received += chunk.toString('latin1');
    });
    socket
      .on('error', () => {})
      .on('close', () => {
        this.closed = true;
      });
    opened.add(() => socket.destroy());
  }

  static async open(url = world.app.url): Promise<Wire> {
    const { hostname, port } = new URL(url);
    const wire = new Wire(connect(Number(port), hostname));
    await until('the connection opens', () => wire.socket.readyState === 'open');
    return wire;
  }

  write(bytes: string | Buffer): this {
    if (!this.closed) this.socket.write(bytes);
    return this;
  }

  /** The complete responses so far. Expects each of them to be decent. */
  replies(bodyless = false): Reply[] {
    const replies: Reply[] = [];
    for (let rest = this.received; rest !== ''; ) {
      const end = rest.indexOf('\r\n\r\n');
      if (end < 0) break;
      const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
      );
      // Only refusals by Node itself are chunked, and they have no chunks.
      const size = bodyless
        ? 0
        : headers['transfer-encoding'] === 'chunked'
          ? '0\r\n\r\n'.length
          : Number(headers['content-length'] ?? 0);
      if (rest.length < end + 4 + size) break;
      const text = Buffer.from(rest.slice(end + 4, end + 4 + size), 'latin1')
        .toString()
        .replace(/^0\r\n\r\n$/, '');
      rest = rest.slice(end + 4 + size);
      const status = Number(first.split(' ')[1]);
      replies.push(status === 100 ? { status, headers, text } : decent({ status, headers, text }, bodyless));
    }
    return replies;
  }

  async responses(count: number, bodyless = false): Promise<Reply[]> {
    await until(`${count} responses`, () => this.closed || this.replies(bodyless).length >= count);
    const replies = this.replies(bodyless);
    if (replies.length < count) throw new Error(`closed after ${replies.length} of ${count} responses`);
    return replies;
  }

  async end(): Promise<void> {
    await until('the gateway ends the connection', () => this.closed);
  }
}

/** A request as text. Its content-length is right unless `headers` have another. */
export function request(
  body = typename,
  headers: Record<string, string | number> = {},
  first = 'POST /graphql HTTP/1.1',
): string {
  const all: Record<string, string | number> = {
    host: 'x',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  };
  return `${first}\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${body}`;
}

/** The head of a request with these header lines. */
export const head = (...lines: readonly string[]): string =>
  ['POST /graphql HTTP/1.1', 'host: x', 'content-type: application/json', ...lines, '', ''].join('\r\n');

/** The bytes of one frame of a client, masked with zeros. */
export function frame(opcode: number, payload: Buffer | string = '', last = true): Buffer {
  const bytes = Buffer.from(payload);
  const size =
    bytes.length < 126
      ? Buffer.from([0x80 | bytes.length])
      : Buffer.from([0xfe, bytes.length >> 8, bytes.length & 0xff]);
  return Buffer.concat([Buffer.from([(last ? 0x80 : 0) | opcode]), size, Buffer.alloc(4), bytes]);
}
export const text = 1;
export const binary = 2;
export const ping = 9;
export const pong = 10;

export const upgradeLines = [
  'host: x',
  'connection: upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  `sec-websocket-key: ${'A'.repeat(22)}==`,
];
export const protocolLine = 'sec-websocket-protocol: graphql-transport-ws';

/** A WebSocket without a library. It is accepted, and then a test may send any bytes. */
export async function bareSocket(url = world.app.url): Promise<Wire> {
  const wire = await Wire.open(url);
  wire.write(['GET /graphql HTTP/1.1', ...upgradeLines, protocolLine, '', ''].join('\r\n'));
  await until('the upgrade is accepted', () => wire.received.includes('101 Switching'));
  wire.write(frame(text, JSON.stringify({ type: 'connection_init', payload: asAdmin })));
  await until('the socket is accepted', () => wire.received.includes('connection_ack'));
  return wire;
}
