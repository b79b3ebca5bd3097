// A long mixed load that shows whether memory or file descriptors grow.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import WebSocket from 'ws';
import { drive } from './load.mjs';
import { openStage } from './stage.mjs';
import { acquireAll, newOrg } from './tenant.mjs';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
const usage = `usage: npm run soak -- [--minutes N]

Runs a mixed load and prints heap, resident memory and file descriptors over time.

  --minutes N   duration, up to 600 (default 10)
  --help        show this text`;
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, help: { type: 'boolean', default: false } },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const minutes = Number(values.minutes);
if (!(minutes > 0 && minutes <= 600)) {
  console.error(`--minutes must be from 0 to 600\n\n${usage}`);
  process.exit(2);
}
const callers = 16;
const pauseMs = 5;
const sampleMs = 1000;
/** The heap rises and falls between collections. The minimum per window shows a leak. */
const windowSamples = 30;
/** Small enough for a collection in each window, and for a leak to exhaust it. */
const heapMb = 320;
/** More buckets than a gateway caches, so that its cache is full from the start. */
const buckets = 60_000;
const acquiresPerRequest = 5;

const stage = await openStage({ env: { NODE_OPTIONS: `--max-old-space-size=${heapMb}` } });
try {
  const orgs = [];
  for (let i = 0; i < 20; i++) orgs.push(await newOrg(stage));
  const any = (all) => all[Math.floor(Math.random() * all.length)];
  const operations = [
    () =>
      stage.client.request(
        any(orgs).headers,
        'mutation ($input: SubmitCostInput!) { submitCost(input: $input) { requestId } }',
        {
          input: { requestId: randomUUID(), modelLabel: 'premium', inputTokens: 10, outputTokens: 10 },
        },
      ),
    () =>
      stage.client.request(
        any(orgs).headers,
        'mutation ($input: AcquireInput!) { acquire(input: $input) { __typename } }',
        {
          input: acquireBy(Math.floor(Math.random() * 1e6)),
        },
      ),
    // A document that was never sent before, because the document cache must be bounded too.
    () => stage.client.request(any(orgs).headers, `{ me { kind } a${randomUUID().replaceAll('-', '')}: me { kind } }`),
    () =>
      stage.client.request(
        any(orgs).headers,
        '{ org { app(appId: "chat") { spend { labels { label costUsdMicros asOf } } modelSelection { label } } } }',
      ),
    () => subscribeOnce(any(orgs)),
  ];
  function acquireBy(user) {
    const limits = [{ name: 'rpm', capacity: 100, refillPeriodSecs: 60 }];
    return { entityId: `user-${user}`, resource: 'api', consume: [{ limit: 'rpm', amount: 1 }], limits };
  }
  /** Opens a subscription and closes it. */
  function subscribeOnce({ headers }) {
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
    maxCalls: buckets / acquiresPerRequest,
    send: () =>
      acquireAll(
        stage,
        orgs[0].headers,
        Array.from({ length: acquiresPerRequest }, () => acquireBy(next++)),
      ),
  });
  console.log(`created ${next} buckets in ${filled.seconds.toFixed(0)} s; ${filled.failures.length} calls failed`);

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
    const metric = (name) => Number(new RegExp(`^${name}(?:{[^}]*})? (\\S+)`, 'm').exec(page)?.[1] ?? Number.NaN);
    samples.push({
      atMs: Date.now(),
      heapMb: metric('nodejs_heap_size_used_bytes') / 2 ** 20,
      descriptors: metric('process_open_fds'),
      residentMb: metric('process_resident_memory_bytes') / 2 ** 20,
    });
  }
  await callersDone;

  const windows = [];
  for (let i = 0; i + windowSamples <= samples.length; i += windowSamples)
    windows.push(samples.slice(i, i + windowSamples));
  console.log('minute  heap MB (minimum)  resident MB  descriptors');
  const lows = windows.map((all) => ({
    minute: (all[0].atMs - samples[0].atMs) / 60_000,
    heapMb: Math.min(...all.map(({ heapMb }) => heapMb)),
    residentMb: all.at(-1).residentMb,
    descriptors: all.at(-1).descriptors,
  }));
  for (const { minute, heapMb, residentMb, descriptors } of lows)
    console.log(
      `${minute.toFixed(1).padStart(6)}  ${heapMb.toFixed(1).padStart(17)}  ` +
        `${residentMb.toFixed(0).padStart(11)}  ${String(descriptors).padStart(11)}`,
    );
  // The first third is warm-up, in which the bounded caches fill.
  const late = lows.slice(Math.floor(lows.length / 3));
  console.log(`requests: ${served} served, ${failed} failed`);
  const mbPerMinute = slope(late.map(({ minute, heapMb }) => [minute, heapMb]));
  console.log(`heap growth over the last ${late.length} windows: ${(60 * mbPerMinute).toFixed(1)} MB per hour,`);
  console.log(`  ${((1000 * mbPerMinute * minutes) / served).toFixed(4)} MB per 1,000 requests`);
  console.log(
    `descriptors: ${late[0]?.descriptors} in the first of these windows, ${late.at(-1)?.descriptors} in the last`,
  );
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  await stage.close();
}

/** The slope of the least-squares line through the points. */
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
