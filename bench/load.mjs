// The load: so many calls in flight for so long, each begun when another has ended, and what came of them.
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';

/** Keeps `inFlight` calls of `send` going for `seconds`, or `most` of them. A call that throws has failed. */
export async function drive({ inFlight, seconds, most = Number.POSITIVE_INFINITY, send }) {
  const latencies = [];
  const failures = [];
  let begun = 0;
  const startedMs = performance.now();
  const untilMs = startedMs + seconds * 1000;
  const caller = async () => {
    for (let atMs = performance.now(); atMs < untilMs && begun < most; ) {
      begun++;
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

/** Several runs of one phase taken together. */
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

const answerMs = 10_000;

/** POSTs JSON over connections that stay open, for as little as possible of the CPU that is measured. */
export class Client {
  constructor(url) {
    const { hostname, port, pathname } = new URL(url);
    this.target = { host: hostname, port: Number(port), noDelay: true };
    this.start = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\n`;
    this.heads = new WeakMap();
    this.idle = [];
    this.all = new Set();
  }

  /** The data of an operation; whatever else comes back is an error. */
  async ask(headers, query, variables) {
    const { status, text } = await this.post(headers, JSON.stringify({ query, variables }));
    const { data, errors } = parsed(status, text);
    if (errors || !data) throw new Error(`refused: ${JSON.stringify(errors)}`);
    return data;
  }

  /** The answer as it came: `{ status, text }`. */
  post(headers, body) {
    const line = this.idle.pop() ?? this.open();
    return new Promise((resolve, reject) => {
      line.waiting = { resolve, reject };
      line.socket.write(`${this.headOf(headers)}${Buffer.byteLength(body)}\r\n\r\n${body}`);
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

  /** Callers under load have their connections open; opening them is not what is measured. */
  async widen(count) {
    while (this.all.size < count) {
      const line = this.open();
      await new Promise((resolve) => line.socket.once('connect', resolve));
      this.idle.push(line);
    }
  }

  open() {
    const socket = connect(this.target);
    const line = { socket, waiting: undefined, got: undefined };
    this.all.add(line);
    socket.setTimeout(answerMs, () => line.waiting && socket.destroy(new Error(`no answer within ${answerMs} ms`)));
    socket.on('data', (chunk) => {
      if (!line.waiting) return; // told that it was idle for too long
      line.got = line.got ? Buffer.concat([line.got, chunk]) : chunk;
      const answer = answerIn(line.got);
      if (!answer) return;
      const { resolve } = line.waiting;
      line.got = undefined;
      line.waiting = undefined;
      this.idle.push(line);
      resolve(answer);
    });
    let why = new Error('the connection broke');
    socket.on('error', (error) => {
      why = error;
    });
    socket.on('close', () => {
      this.all.delete(line);
      this.idle = this.idle.filter((other) => other !== line);
      line.waiting?.reject(why);
    });
    return line;
  }

  close() {
    for (const { socket } of this.all) socket.destroy();
  }
}

function parsed(status, text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`status ${status}, no JSON: ${text.slice(0, 200)}`);
  }
}

/** The whole answer, once it is there: by its length, or in chunks. */
function answerIn(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = bytes.latin1Slice(0, end);
  const status = Number(head.slice(9, 12));
  const length = /content-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) {
    const until = end + 4 + Number(length);
    return bytes.length < until ? undefined : { status, text: bytes.utf8Slice(end + 4, until) };
  }
  if (!bytes.subarray(-7).equals(lastChunk)) return undefined;
  let text = '';
  for (let at = end + 4; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.latin1Slice(at, lineEnd), 16);
    if (size === 0) return { status, text };
    text += bytes.utf8Slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 4 + size;
  }
}
const lastChunk = Buffer.from('\r\n0\r\n\r\n');
