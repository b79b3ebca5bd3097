import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EventStreamCodec } from '@smithy/core/event-streams';

/** A request that a fake has received. */
export interface ModelRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a fake answers: a body, or the events of a stream. */
export interface ModelReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Events of an event stream (`{ type: payload }`), or data of server-sent events. */
  readonly events?: readonly unknown[];
  /** After the events: ends the response (default), keeps it open, or breaks the connection. */
  readonly after?: 'end' | 'hang' | 'break';
}

export interface FakeModels {
  readonly url: string;
  readonly requests: ModelRequest[];
  /** The number of streams that the caller has closed before their end. */
  readonly aborted: number;
  /** Replies to all requests from now on. */
  reply(reply: ModelReply): void;
  stop(): Promise<void>;
}

type WriteEvents = (response: ServerResponse, events: readonly unknown[]) => void;

/** A local server in the place of Bedrock, over HTTP/1 with Amazon's event stream. */
export const startFakeBedrock = (): Promise<FakeModels> => startFake('application/vnd.amazon.eventstream', writeAmazon);

/** A local server in the place of OpenAI, with server-sent events. */
export const startFakeOpenAi = (): Promise<FakeModels> => startFake('text/event-stream', writeSse);

async function startFake(streamType: string, write: WriteEvents): Promise<FakeModels> {
  const requests: ModelRequest[] = [];
  let reply: ModelReply = {};
  let aborted = 0;
  const server = createServer(async (request, response) => {
    requests.push({ path: decodeURIComponent(request.url ?? ''), body: await bodyOf(request) });
    response.on('close', () => {
      if (!response.writableFinished) aborted++;
    });
    const { status = 200, headers = {}, body, events, after = 'end' } = reply;
    response.writeHead(status, { 'content-type': events ? streamType : 'application/json', ...headers });
    if (!events) return response.end(JSON.stringify(body));
    write(response, events);
    if (after === 'end') response.end(streamType === 'text/event-stream' ? 'data: [DONE]\n\n' : undefined);
    if (after === 'break') setImmediate(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get aborted() {
      return aborted;
    },
    reply: (next) => {
      reply = next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<ModelRequest['body']> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString() || '{}');
}

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString(),
  (text) => Buffer.from(text),
);

function writeAmazon(response: ServerResponse, events: readonly unknown[]): void {
  for (const event of events) {
    const [[type, payload] = ['', {}]] = Object.entries(event as object);
    const string = (value: string) => ({ type: 'string', value }) as const;
    const headers = {
      ':message-type': string('event'),
      ':event-type': string(type),
      ':content-type': string('application/json'),
    };
    response.write(codec.encode({ headers, body: Buffer.from(JSON.stringify(payload)) }));
  }
}

function writeSse(response: ServerResponse, events: readonly unknown[]): void {
  for (const event of events) {
    const { type } = event as { type?: string };
    response.write(`${type ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
  }
}

/** A chunk of InvokeModelWithResponseStream. */
export const chunkOf = (payload: object) => ({
  chunk: { bytes: Buffer.from(JSON.stringify(payload)).toString('base64') },
});
