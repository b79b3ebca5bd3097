// A closed-loop load: a fixed number of calls in flight. A call starts when another one has ended.
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';

/** Keeps `inFlight` calls of `send` running for `seconds`, up to `maxCalls`. A call that throws has failed. */
export async function drive({ inFlight, seconds, maxCalls = Number.POSITIVE_INFINITY, send }) {
  const latencies = [];
  const failures = [];
  let started = 0;
  const startedMs = performance.now();
  const untilMs = startedMs + seconds * 1000;
  const caller = async () => {
    for (let atMs = performance.now(); atMs < untilMs && started < maxCalls; ) {
      started++;
      try {
        await send();
      } catch (error) {
        failures.push(error);
      }
      const endedMs = performance.now();
      latencies.push(endedMs - atMs);
      atMs = endedMs;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return { latencies, failures, seconds: (performance.now() - startedMs) / 1000 };
}

/** The combined figures of several runs of one phase. */
export function together(runs) {
  const latencies = Float64Array.from(runs.flatMap((run) => run.latencies)).sort();
  const seconds = runs.reduce((sum, run) => sum + run.seconds, 0);
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    count: latencies.length,
    perSecond: latencies.length / seconds,
    p50: at(0.5),
    p99: at(0.99),
    failures: runs.flatMap((run) => run.failures),
  };
}

const responseMs = 10_000;

/** Sends JSON over persistent connections with as little CPU as possible, because the load shares the cores. */
export class Client {
  constructor(url) {
    const { hostname, port, pathname } = new URL(url);
    this.target = { host: hostname, port: Number(port), noDelay: true };
    this.start = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\n`;
    this.heads = new WeakMap();
    this.idle = [];
    this.all = new Set();
  }

  /** Returns the data of an operation, and throws if it failed. */
  async request(headers, query, variables) {
    const { status, text } = await this.post(headers, JSON.stringify({ query, variables }));
    const { data, errors } = parsed(status, text);
    if (errors || !data) throw new Error(`the operation failed: ${JSON.stringify(errors)}`);
    return data;
  }

  /** Returns the response as `{ status, retryAfterSecs, text }`. */
  post(headers, body) {
    const connection = this.idle.pop() ?? this.open();
    return new Promise((resolve, reject) => {
      connection.waiting = { resolve, reject };
      connection.socket.write(`${this.headOf(headers)}${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
  }

  headOf(headers) {
    let head = this.heads.get(headers);
    if (head === undefined) {
      const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      head = `${this.start}${fields.join('')}content-length: `;
      this.heads.set(headers, head);
    }
    return head;
  }

  /** Opens connections in advance, so that a measurement does not include it. */
  async openConnections(count) {
    while (this.all.size < count) {
      const connection = this.open();
      await new Promise((resolve) => connection.socket.once('connect', resolve));
      this.idle.push(connection);
    }
  }

  open() {
    const socket = connect(this.target);
    const connection = { socket, waiting: undefined, received: undefined };
    this.all.add(connection);
    socket.setTimeout(
      responseMs,
      () => connection.waiting && socket.destroy(new Error(`no response within ${responseMs} ms`)),
    );
    socket.on('data', (chunk) => {
      if (!connection.waiting) return; // a 408, because the connection was idle for too long
      connection.received = connection.received ? Buffer.concat([connection.received, chunk]) : chunk;
      const response = responseIn(connection.received);
      if (!response) return;
      const { resolve } = connection.waiting;
      connection.received = undefined;
      connection.waiting = undefined;
      this.idle.push(connection);
      resolve(response);
    });
    let reason = new Error('the connection was closed');
    socket.on('error', (error) => {
      reason = error;
    });
    socket.on('close', () => {
      this.all.delete(connection);
      this.idle = this.idle.filter((other) => other !== connection);
      connection.waiting?.reject(reason);
    });
    return connection;
  }

  close() {
    for (const { socket } of this.all) socket.destroy();
  }
}

function parsed(status, text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`status ${status}, not JSON: ${text.slice(0, 200)}`);
  }
}

/** The response if it is complete, by its length or as chunks; undefined before. */
function responseIn(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = bytes.latin1Slice(0, end);
  const status = Number(head.slice(9, 12));
  const retryAfterSecs = Number(/retry-after: *(\d+)/i.exec(head)?.[1] ?? 0);
  const length = /content-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) {
    const until = end + 4 + Number(length);
    return bytes.length < until ? undefined : { status, retryAfterSecs, text: bytes.utf8Slice(end + 4, until) };
  }
  if (!bytes.subarray(-7).equals(lastChunk)) return undefined;
  let text = '';
  for (let at = end + 4; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.latin1Slice(at, lineEnd), 16);
    if (size === 0) return { status, retryAfterSecs, text };
    text += bytes.utf8Slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 4 + size;
  }
}
const lastChunk = Buffer.from('\r\n0\r\n\r\n');
