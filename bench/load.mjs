// The load: so many calls in flight for so long, each begun when another has ended, and what came of them.
import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';

/** Keeps `inFlight` calls of `send` going for `seconds`, or `most` of them. A call that throws has failed. */
export async function drive({ inFlight, seconds, most, send }) {
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
  return { count: latencies.length, perSecond: latencies.length / seconds, p50: at(0.5), p99: at(0.99), failures: runs.flatMap((run) => run.failures) };
}

/** POSTs JSON over connections that stay open. */
export class JsonClient {
  constructor(url, sockets) {
    const { hostname, port, pathname } = new URL(url);
    this.agent = new Agent({ keepAlive: true, maxSockets: sockets });
    this.target = { agent: this.agent, host: hostname, port, path: pathname, method: 'POST' };
  }

  post(headers, body) {
    return new Promise((resolve, reject) => {
      const text = JSON.stringify(body);
      const sent = request(
        { ...this.target, headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers } },
        (response) => {
          let answer = '';
          response.setEncoding('utf8');
          response.on('data', (chunk) => {
            answer += chunk;
          });
          response.on('error', reject);
          response.on('end', () => {
            try {
              resolve(JSON.parse(answer));
            } catch {
              reject(new Error(`status ${response.statusCode}, no JSON: ${answer.slice(0, 200)}`));
            }
          });
        },
      );
      sent.on('error', reject);
      sent.setTimeout(10_000, () => sent.destroy(new Error('no answer within 10 s')));
      sent.end(text);
    });
  }

  /** The data of an operation; whatever else comes back is an error. */
  async ask(headers, query, variables) {
    const { data, errors } = await this.post(headers, { query, variables });
    if (errors || !data) throw new Error(`refused: ${JSON.stringify(errors)}`);
    return data;
  }

  close() {
    this.agent.destroy();
  }
}
