// npm run soak -- [--minutes N]: a mixed load for long, and whether memory or descriptors grow with it.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import WebSocket from 'ws';
import { drive } from './load.mjs';
import { openStage } from './stage.mjs';
import { acquireAll, newOrg } from './tenant.mjs';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0 && minutes <= 600)) {
  console.error('usage: npm run soak -- [--minutes 1..600]');
  process.exit(2);
}
const callers = 16;
const pauseMs = 5;
const sampleMs = 1000;
/** Heaps rise and fall between collections: what counts is how low they still fall. */
const windowSamples = 30;
/** So little that there is a collection in each window, and that whatever grows for ever runs into it. */
const heapMb = 320;
/** More buckets than a gateway remembers: its memory of them is full from the start. */
const buckets = 60_000;
const acquiresARequest = 5;

const stage = await openStage({ env: { NODE_OPTIONS: `--max-old-space-size=${heapMb}` } });
try {
  const orgs = [];
  for (let i = 0; i < 20; i++) orgs.push(await newOrg(stage));
  const any = (all) => all[Math.floor(Math.random() * all.length)];
  const operations = [
    () =>
      stage.client.ask(
        any(orgs).headers,
        'mutation ($input: SubmitCostInput!) { submitCost(input: $input) { requestId } }',
        {
          input: { requestId: randomUUID(), modelLabel: 'premium', inputTokens: 10, outputTokens: 10 },
        },
      ),
    () =>
      stage.client.ask(
        any(orgs).headers,
        'mutation ($input: AcquireInput!) { acquire(input: $input) { __typename } }',
        {
          input: acquireBy(Math.floor(Math.random() * 1e6)),
        },
      ),
    // A document that no one has sent before: what is remembered of documents must be bounded too.
    () => stage.client.ask(any(orgs).headers, `{ me { kind } a${randomUUID().replaceAll('-', '')}: me { kind } }`),
    () =>
      stage.client.ask(
        any(orgs).headers,
        '{ org { app(appId: "chat") { spend { labels { label costUsdMicros asOf } } modelSelection { label } } } }',
      ),
    () => comeAndGo(any(orgs)),
  ];
  function acquireBy(user) {
    const limits = [{ name: 'rpm', capacity: 100, refillPeriodSecs: 60 }];
    return { entityId: `user-${user}`, resource: 'api', consume: [{ limit: 'rpm', amount: 1 }], limits };
  }
  /** A subscription that is opened and left. */
  function comeAndGo({ headers }) {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(stage.url.replace('http', 'ws'), 'graphql-transport-ws');
      socket.on('error', reject);
      socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: headers })));
      socket.on('message', () => {
        socket.send(
          JSON.stringify({ id: '1', type: 'subscribe', payload: { query: 'subscription { quotaAlerts { id } }' } }),
        );
        setTimeout(() => socket.close(), 20);
      });
      socket.on('close', resolve);
    });
  }

  let next = 0;
  const filled = await drive({
    inFlight: 32,
    seconds: 300,
    most: buckets / acquiresARequest,
    send: () =>
      acquireAll(
        stage,
        orgs[0].headers,
        Array.from({ length: acquiresARequest }, () => acquireBy(next++)),
      ),
  });
  console.log(`${next} buckets made in ${filled.seconds.toFixed(0)} s, ${filled.failures.length} calls failed`);

  const untilMs = Date.now() + minutes * 60_000;
  let served = 0;
  let failed = filled.failures.length;
  const samples = [];
  const callersDone = Promise.all(
    Array.from({ length: callers }, async () => {
      while (Date.now() < untilMs) {
        await any(operations)().then(
          () => served++,
          (error) => {
            if (failed++ < 3) console.log(`failed: ${error.message}`);
          },
        );
        await sleep(pauseMs);
      }
    }),
  );
  while (Date.now() < untilMs) {
    await sleep(sampleMs);
    const page = await (await fetch(new URL('/metrics', stage.url))).text();
    const of = (name) => Number(new RegExp(`^${name}(?:{[^}]*})? (\\S+)`, 'm').exec(page)?.[1] ?? Number.NaN);
    samples.push({
      atMs: Date.now(),
      heapMb: of('nodejs_heap_size_used_bytes') / 2 ** 20,
      descriptors: of('process_open_fds'),
      residentMb: of('process_resident_memory_bytes') / 2 ** 20,
    });
  }
  await callersDone;

  const windows = [];
  for (let i = 0; i + windowSamples <= samples.length; i += windowSamples)
    windows.push(samples.slice(i, i + windowSamples));
  console.log('minute  heap MB (lowest)  resident MB  descriptors');
  const lows = windows.map((all) => ({
    minute: (all[0].atMs - samples[0].atMs) / 60_000,
    heapMb: Math.min(...all.map(({ heapMb }) => heapMb)),
    residentMb: all.at(-1).residentMb,
    descriptors: all.at(-1).descriptors,
  }));
  for (const { minute, heapMb, residentMb, descriptors } of lows)
    console.log(
      `${minute.toFixed(1).padStart(6)}  ${heapMb.toFixed(1).padStart(16)}  ${residentMb.toFixed(0).padStart(11)}  ${String(descriptors).padStart(11)}`,
    );
  // The first third is warming up: caches that are bounded fill.
  const late = lows.slice(Math.floor(lows.length / 3));
  console.log(`served ${served}, failed ${failed}`);
  console.log(
    `heap slope: ${(60 * slope(late.map(({ minute, heapMb }) => [minute, heapMb]))).toFixed(1)} MB an hour over the last ${late.length} windows; per 1,000 requests ${((1000 * slope(late.map(({ minute, heapMb }) => [minute, heapMb])) * minutes) / served).toFixed(4)} MB`,
  );
  console.log(`descriptors: ${late[0]?.descriptors} at first, ${late.at(-1)?.descriptors} at last`);
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  await stage.close();
}

/** Of the line through the points that fits best. */
function slope(points) {
  const mean = (pick) => points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [x, y] = [mean(([a]) => a), mean(([, b]) => b)];
  return (
    points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0) /
    Math.max(
      1e-9,
      points.reduce((sum, [a]) => sum + (a - x) ** 2, 0),
    )
  );
}
