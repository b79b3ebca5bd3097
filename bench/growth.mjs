// npm run bench:growth: the cost of an operation as the tables grow 1x, 10x, 100x, and the duration of an aggregation
// round. Prints both tables in full, writes docs/growth.svg, and writes short tables into docs/growth.md. Exits
// with status 1 if a request failed or the bar was missed.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { buildBackground } from '../dist/app.js';
import { loadConfig } from '../dist/config.js';
import { generationOf } from '../dist/devices/device.js';
import { deviceKey, segmentSortKey } from '../dist/devices/device-keys.js';
import { segmentItem } from '../dist/devices/segment.item.js';
import { configKey } from '../dist/identity/client.item.js';
import { newSigningKeys } from '../dist/identity/token.js';
import { silentLog } from '../dist/lib/log.js';
import { sliceOf } from '../dist/orgs/scope.js';
import { toCostItem } from '../dist/spend/cost.item.js';
import { activeKey, shardKey, totalKey } from '../dist/spend/spend.item.js';
import { drive, together } from './load.mjs';
import { table, writeBetween } from './report.mjs';
import { difference, openStage } from './stage.mjs';
import { newOrg } from './tenant.mjs';

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

/** Less than the number of orgs or devices at the smallest size, so that no two calls in flight share a write. */
const inFlight = 8;
const roundSeconds = 0.9;
// The first is longer, because the JIT compilers need some time.
const warmUpSeconds = [1.5, 0.1];
const maxCallsPerRound = 100_000;
const sizes = [1, 10, 100].map((times) => ({
  times,
  orgs: 10 * times,
  buckets: 100 * times,
  devices: 10 * times,
  history: 1000 * times,
}));
const limitedOrgs = 10;
const resources = ['a', 'b', 'c', 'd', 'e'];
const scopeCounts = [100, 300, 1000];
const shards = 8;
const roundsPerSize = 3;
const barSeconds = 30;

const today = new Date().toISOString().slice(0, 10);
const dayBefore = (days) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
const inDays = (days) => Math.floor(Date.now() / 1000) + days * 86_400;
const document = new URL('../docs/growth.md', import.meta.url);
const picture = new URL('../docs/growth.svg', import.meta.url);

const maxPerBatch = 25;

/** Writes items directly to the engine, in the layout of the gateway. */
async function putAll({ docs, tableName }, table, items) {
  const batches = Array.from({ length: Math.ceil(items.length / maxPerBatch) }, (_, i) =>
    items.slice(i * maxPerBatch, (i + 1) * maxPerBatch),
  );
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let batch = batches.pop(); batch; batch = batches.pop()) {
        const { UnprocessedItems } = await docs.send(
          new BatchWriteCommand({
            RequestItems: { [tableName(table)]: batch.map((Item) => ({ PutRequest: { Item } })) },
          }),
        );
        if (Object.keys(UnprocessedItems ?? {}).length > 0) throw new Error('the engine left items unprocessed');
      }
    }),
  );
}

const read = async ({ docs, tableName }, table, Key) =>
  (await docs.send(new GetCommand({ TableName: tableName(table), Key, ConsistentRead: true }))).Item;

/** A copy of the item with every occurrence of a name replaced. */
const renamed = (item, from, to) => JSON.parse(JSON.stringify(item).replaceAll(from, to));

/** Copies a registered org and its app `count` times. */
async function cloneOrgs(stage, orgId, count) {
  const [org, app] = await Promise.all([
    read(stage, 'config', configKey({ orgId })),
    read(stage, 'config', configKey({ orgId, appId: 'chat' })),
  ]);
  const ids = Array.from({ length: count }, () => randomUUID());
  await putAll(
    stage,
    'config',
    ids.flatMap((id) => [renamed(org, orgId, id), renamed(app, orgId, id)]),
  );
  return ids;
}

const macOf = (i) =>
  `02:00:00:00:${[i >> 8, i & 255].map((byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join(':')}`;
const bootId = randomUUID();
const figures = (requests) => ({
  cost_usd_micros: 16_500 * requests,
  input_tokens: 1500 * requests,
  output_tokens: 800 * requests,
  requests,
});
const spendId = (orgId, day = today) => ({ orgId, appId: 'chat', label: 'premium', day });

/** A segment of one reading: the device sends each reading by itself. */
function storedReading(device, i) {
  const timestampMs = Date.now() - 3_600_000 - i * 1000;
  const reading = {
    ...device,
    batchId: `old:${i}`,
    timestampMs,
    bootId,
    firmwareVersion: '1.4.2',
    friendlyName: 'Bench',
    sensors: { bme280TempC: 21.5, ds18b20TempC: 20.25, humidityPct: 40, pressureHpa: 1013.25, soilMoisturePct: 33.3 },
    sensorStatus: { bme280: 'OK', ds18b20: 'OK', soilMoisture: 'OK' },
  };
  return segmentItem({ device, sortKey: segmentSortKey(timestampMs, randomUUID()) }, [reading], inDays(90));
}

const storedCost = (orgId) => {
  const record = {
    orgId,
    appId: 'chat',
    requestId: randomUUID(),
    label: 'premium',
    day: today,
    payloadHash: 'x'.repeat(43),
    usage: { costUsdMicros: 1, inputTokens: 1, outputTokens: 1, requests: 1 },
    priceSource: 'DEFAULT',
    callStatus: 'OK',
    occurredAtMs: Date.now(),
    receivedAtMs: Date.now(),
  };
  return { ...toCostItem(record, { shard: 0, nonce: randomUUID() }), expires_at_epoch: inDays(35) };
};

const storedTotal = (orgId, day) => ({
  ...totalKey(spendId(orgId, day)),
  ...figures(100),
  as_of_ms: Date.now(),
  expires_at_epoch: inDays(400),
});
const times = (count, make) => Array.from({ length: count }, (_, i) => make(i));

async function fill(stage, { orgs, buckets, devices, history }) {
  const { client, asAdmin } = stage;
  const tenants = [];
  for (let i = 0; i < limitedOrgs; i++) tenants.push(await newOrg(stage));
  const [{ orgId }] = tenants;
  const orgIds = [...tenants.map((tenant) => tenant.orgId), ...(await cloneOrgs(stage, orgId, orgs - limitedOrgs))];
  const limits = [{ name: 'requests', capacity: 1e12, refillPeriodSecs: 1 }];
  for (const tenant of tenants)
    await client.request(asAdmin, setLimits, { input: { orgId: tenant.orgId, level: 'SYSTEM', limits } });
  const { createApiKey } = await client.request(asAdmin, createKey, { input: { orgId } });
  const byKey = { 'x-api-key': createApiKey.secret };
  const macs = times(devices, macOf);
  const capabilities = { sensors: ['bme280', 'ds18b20'], features: [] };
  await client.request(byKey, registerDevice, {
    input: { hardwareId: macs[0], bootId, firmwareVersion: '1.4.2', friendlyName: 'Bench', capabilities },
  });
  const device = await read(stage, 'devices', deviceKey({ orgId, hardwareId: macs[0] }));
  await putAll(
    stage,
    'devices',
    macs.slice(1).map((mac) => renamed(device, macs[0], mac)),
  );
  // The copies share a confirmation id, and with it the generation in the keys of their readings.
  const generation = generationOf(device.confirmation_id);
  const share = (part) => Math.round(history * part);
  await putAll(
    stage,
    'device_readings',
    times(share(0.4), (i) => storedReading({ orgId, hardwareId: macs[0], generation }, i)),
  );
  await putAll(
    stage,
    'device_readings',
    times(share(0.2), (i) => storedReading({ orgId, hardwareId: macs[1 + (i % (devices - 1))], generation }, i)),
  );
  await putAll(
    stage,
    'cost_requests',
    times(share(0.25), (i) => storedCost(orgIds[i % orgs])),
  );
  await putAll(
    stage,
    'daily_total',
    times(share(0.15), (i) => storedTotal(orgIds[i % orgs], dayBefore(Math.floor(i / orgs)))),
  );
  // Five buckets per entity; the entities are spread over ten orgs.
  const entities = times(buckets / resources.length, (i) => ({ ...tenants[i % limitedOrgs], entityId: `e-${i}` }));
  return { orgIds, entities, macs, byKey, orgId };
}

const setLimits = 'mutation ($input: SetLimitsInput!) { setLimits(input: $input) { version } }';
const createKey = 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }';
const registerDevice = 'mutation ($input: RegisterDeviceInput!) { registerDevice(input: $input) { created } }';
const submitCost =
  'mutation SubmitCost($input: SubmitCostInput!) { submitCost(input: $input) { requestId replayed costUsdMicros } }';
const submitCosts = 'mutation ($inputs: [SubmitCostInput!]!) { submitCosts(inputs: $inputs) { error { code } } }';
const acquire =
  'mutation Acquire($input: AcquireInput!) { acquire(input: $input) { __typename ' +
  '... on Lease { leaseId statuses { available } } } }';
const acquireFields = resources.map((r) => `${r}: acquire(input: $${r}) { __typename }`).join(' ');
const acquireAll = `mutation (${resources.map((r) => `$${r}: AcquireInput!`)}) { ${acquireFields} }`;
const ingest = 'mutation Ingest($input: IngestInput!) { ingest(input: $input) { settledBatchIds verdicts { kind } } }';
const spendOf =
  'query Spend($orgId: UUID!) { org(orgId: $orgId) { app(appId: "chat") { ' +
  'spend { day costUsdMicros requests labels { label costUsdMicros asOf } } } } }';
const readingsOf = `query Readings($orgId: UUID!, $mac: String!) {
  org(orgId: $orgId) { device(hardwareId: $mac) {
    readings(first: 50) { nodes { batchId timestampMs sensors { bme280TempC humidityPct } } pageInfo { endCursor } }
  } }
}`;
const bucketsOf = `query Buckets($orgId: UUID!, $entityId: String!) {
  org(orgId: $orgId) { entity(entityId: $entityId) {
    buckets { resource shardCount limits { available totalConsumed } }
  } }
}`;
const capacityOf =
  'query Capacity($orgId: UUID!) { org(orgId: $orgId) { ' +
  'resourceCapacity(resource: "a", limit: "requests") { totalCapacity totalAvailable } } }';

const inHundreds = (all) => times(Math.ceil(all.length / 100), (i) => all.slice(i * 100, (i + 1) * 100));
const inTurn = (all, send) => {
  let next = 0;
  return () => send(all[next++ % all.length]);
};
const check = (isTrue, fault) => {
  if (!isTrue) throw new Error(fault);
};

/** Each operation with a call that fills the caches first: the cost is that of a key used within the last minute. */
function operations(stage, { orgIds, entities, macs, byKey, orgId }) {
  const { client, asAdmin } = stage;
  const acquireInput = ({ entityId }, resource) => ({
    entityId,
    resource,
    consume: [{ limit: 'requests', amount: 1 }],
  });
  const buckets = entities.flatMap((entity) => resources.map((resource) => ({ entity, resource })));
  const newReading = (hardwareId) => ({
    hardwareId,
    batchId: randomUUID(),
    timestampMs: Date.now(),
    bootId,
    firmwareVersion: '1.4.2',
    sensors: { bme280TempC: 21.5, humidityPct: 40 },
    sensorStatus: { bme280: 'OK' },
  });
  const newCost = (id) => ({
    orgId: id,
    appId: 'chat',
    requestId: randomUUID(),
    modelLabel: 'premium',
    inputTokens: 1500,
    outputTokens: 800,
  });
  const send = async (readings) => {
    const { settledBatchIds } = (await client.request(byKey, ingest, { input: { readings } })).ingest;
    check(settledBatchIds.length === readings.length, 'a reading was not stored');
  };
  return {
    submitCost: {
      // The first cost of a day creates the shard item, which costs one more unit.
      warm: inTurn(inHundreds(orgIds), async (some) => {
        const { submitCosts: outcomes } = await client.request(asAdmin, submitCosts, { inputs: some.map(newCost) });
        check(
          outcomes.every(({ error }) => error === null),
          'not recorded',
        );
      }),
      warmCalls: Math.ceil(orgIds.length / 100),
      send: inTurn(orgIds, async (id) =>
        check(
          (await client.request(asAdmin, submitCost, { input: newCost(id) })).submitCost.costUsdMicros === 16_500,
          'wrong receipt',
        ),
      ),
    },
    acquire: {
      warm: inTurn(entities, async (entity) => {
        const inputs = Object.fromEntries(resources.map((resource) => [resource, acquireInput(entity, resource)]));
        const leases = Object.values(await client.request(entity.headers, acquireAll, inputs));
        check(
          leases.every(({ __typename }) => __typename === 'Lease'),
          'not granted',
        );
      }),
      // The same number at the small sizes, because the JIT compilers optimise by the number of calls.
      warmCalls: Math.max(entities.length, 800),
      send: inTurn(buckets, async ({ entity, resource }) => {
        const { acquire: lease } = await client.request(entity.headers, acquire, {
          input: acquireInput(entity, resource),
        });
        check(lease.__typename === 'Lease', 'not granted');
      }),
    },
    ingest: {
      // The gateway updates last_seen_at once per minute: this does it for all devices.
      warm: inTurn(inHundreds(macs), (some) => send(some.map(newReading))),
      warmCalls: Math.ceil(macs.length / 100),
      send: inTurn(macs, (mac) => send([newReading(mac)])),
    },
    'spend of an app': {
      send: inTurn(orgIds, async (id) =>
        check((await client.request(asAdmin, spendOf, { orgId: id })).org.app.spend.requests > 0, 'no total'),
      ),
    },
    'readings, first page': {
      send: async () =>
        check(
          (await client.request(asAdmin, readingsOf, { orgId, mac: macs[0] })).org.device.readings.nodes.length === 50,
          'incomplete page',
        ),
    },
    'buckets of an entity': {
      send: inTurn(entities, async (entity) => {
        const found = (await client.request(asAdmin, bucketsOf, { orgId: entity.orgId, entityId: entity.entityId })).org
          .entity.buckets;
        check(found.length === resources.length, 'missing buckets');
      }),
    },
    'resourceCapacity (all buckets)': {
      isWhole: true,
      send: async () =>
        check(
          (await client.request(asAdmin, capacityOf, { orgId })).org.resourceCapacity.totalCapacity > 0,
          'no capacity',
        ),
    },
  };
}

async function openSized() {
  const stage = await openStage();
  return { ...stage, docs: DynamoDBDocumentClient.from(new DynamoDBClient(stage.store)) };
}

async function measureRound({ stage, ops }, name, round, runs, failures) {
  const { send, warm, warmCalls, isWhole } = ops[name];
  const at = isWhole ? 1 : inFlight;
  if (warm && round === 0)
    failures.push(...(await drive({ inFlight, seconds: 60, maxCalls: warmCalls, send: warm })).failures);
  failures.push(
    ...(await drive({ inFlight: at, seconds: warmUpSeconds[round], maxCalls: maxCallsPerRound, send })).failures,
  );
  const [counts, cpu] = [await stage.counts(), stage.cpu()];
  const run = await drive({ inFlight: at, seconds: roundSeconds, maxCalls: maxCallsPerRound, send });
  runs.push({ ...run, used: { ...difference(stage.cpu(), cpu), ...difference(await stage.counts(), counts) } });
}

async function measureGrowth(failures) {
  const places = [];
  try {
    for (const size of sizes) {
      const stage = await openSized();
      places.push({ size, stage });
      const startedMs = Date.now();
      places.at(-1).ops = operations(stage, await fill(stage, size));
      console.log(
        `${size.times}x: ${size.orgs} orgs, ${size.buckets} buckets, ${size.devices} devices, ` +
          `${size.history} items of history, created in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`,
      );
    }
    const names = Object.keys(places[0].ops);
    const runs = new Map(names.flatMap((name) => sizes.map(({ times: size }) => [`${name} ${size}`, []])));
    // All sizes of one operation one after the other, so that a disturbance of the machine affects them alike.
    for (const name of names)
      for (const round of warmUpSeconds.keys())
        for (const place of places)
          await measureRound(place, name, round, runs.get(`${name} ${place.size.times}`), failures);
    return names.map((name) => ({
      name,
      isWhole: places[0].ops[name].isWhole,
      sizes: sizes.map(({ times: size }) => summed(size, runs.get(`${name} ${size}`), failures)),
    }));
  } finally {
    for (const { stage } of places) {
      stage.docs.destroy();
      await stage.close();
    }
  }
}

function summed(size, runs, failures) {
  const { count, perSecond, p50, failures: failed } = together(runs);
  failures.push(...failed);
  const each = (key) => runs.reduce((sum, { used }) => sum + used[key], 0) / count;
  const cost = {
    gatewayMs: each('gatewayMs'),
    engineMs: each('engineMs'),
    calls: each('calls'),
    read: each('read'),
    write: each('write'),
  };
  return { size, perSecond, p50, ...cost, cpu: cost.gatewayMs + cost.engineMs };
}

async function measureAggregation() {
  const stage = await openSized();
  const worker = await newWorker(stage);
  try {
    const { orgId } = await newOrg(stage);
    const orgIds = await cloneOrgs(stage, orgId, Math.max(...scopeCounts));
    await worker.spend.sumAll();
    const results = [];
    let requests = 0;
    for (const scopes of scopeCounts) {
      const roundsMs = [];
      for (let i = 0; i < roundsPerSize; i++) {
        requests += 10;
        await putAll(
          stage,
          'usage_agg_sharded',
          orgIds.slice(0, scopes).flatMap((id) => times(shards, (shard) => storedShard(id, shard, requests))),
        );
        roundsMs.push(await timed(worker, scopes));
      }
      const [, changedMs] = [...roundsMs].sort((a, b) => a - b);
      results.push({ scopes, changedMs, idleMs: await timed(worker, scopes) });
    }
    return results;
  } finally {
    worker.close();
    stage.docs.destroy();
    await stage.close();
  }
}

function storedShard(orgId, shard, requests) {
  const { PK, SK } = shardKey(spendId(orgId), shard);
  return {
    PK,
    SK,
    ...figures(requests),
    updated_at_epoch: inDays(0),
    gsi1pk: activeKey(today, sliceOf(orgId), shard),
    gsi1sk: PK,
    expires_at_epoch: inDays(35),
  };
}

async function timed({ spend }, scopes) {
  const startedMs = performance.now();
  const round = await spend.sumAll();
  if (round.scopes !== scopes || round.failed > 0)
    throw new Error(`a round summed ${JSON.stringify(round)}, expected ${scopes} scopes`);
  return performance.now() - startedMs;
}

async function newWorker({ store, tableName }) {
  const config = loadConfig({
    NODE_ENV: 'test',
    DYNAMODB_ENDPOINT: store.endpoint,
    AWS_REGION: store.region,
    TABLE_PREFIX: tableName(''),
    TOLLGATE_ADMIN_KEY: 'admin-key-of-the-benchmarks-0123456789',
    API_KEY_PEPPER: 'a pepper of the benchmarks, 32 bytes and more',
    TOLLGATE_SIGNING_KEYS: JSON.stringify({ keys: await newSigningKeys() }),
  });
  return buildBackground(config, { log: silentLog });
}

const growthHead = [
  'operation',
  'size',
  'req/s',
  'p50 ms',
  'gateway CPU ms',
  'engine CPU ms',
  'store calls',
  'read units',
  'write units',
  'CPU vs 1x',
];
const growthRows = (results) =>
  results.flatMap(({ name, sizes: measured }) =>
    measured.map((at, i) => [
      i === 0 ? name : '',
      `${at.size}x`,
      at.perSecond.toFixed(0),
      at.p50.toFixed(1),
      at.gatewayMs.toFixed(2),
      at.engineMs.toFixed(2),
      at.calls.toFixed(2),
      at.read.toFixed(2),
      at.write.toFixed(2),
      (at.cpu / measured[0].cpu).toFixed(2),
    ]),
  );
/** One row per operation. Units are the same in every run. CPU is relative to the smallest size. */
const shortHead = ['operation', 'store calls', 'read units', 'write units', 'CPU at 10x', 'CPU at 100x'];
const shortRows = (results) =>
  results.map(({ name, sizes: measured }) => {
    const [smallest, , largest] = measured;
    const span = (pick) => {
      const [from, to] = [pick(smallest), pick(largest)].map((value) => Number(value.toFixed(1)).toString());
      return from === to ? from : `${from} → ${to}`;
    };
    const cpu = (at) => (at.cpu / smallest.cpu).toFixed(2);
    const units = [({ calls }) => calls, ({ read }) => read, ({ write }) => write].map(span);
    return [name, ...units, ...measured.slice(1).map(cpu)];
  });
const roundHead = [
  'scopes',
  'shard items',
  'round, all changed (s)',
  'ms per scope',
  'round, nothing changed (s)',
  `goal: 1,000 in under ${barSeconds} s`,
];
const roundRows = (results) =>
  results.map(({ scopes, changedMs, idleMs }) => [
    String(scopes),
    String(scopes * shards),
    (changedMs / 1000).toFixed(2),
    (changedMs / scopes).toFixed(2),
    (idleMs / 1000).toFixed(2),
    scopes < 1000 ? '' : isFast({ changedMs }) ? 'met' : 'MISSED',
  ]);
const isFast = ({ changedMs }) => changedMs < barSeconds * 1000;

/** The cost by size as SVG, with a light background, so that it is readable on a dark page too. */
function draw(results) {
  const [width, height, left, right, top, bottom] = [860, 430, 64, 230, 56, 62];
  const colours = ['#1f6fb2', '#c8541a', '#2f8f4e', '#8a4fb5', '#b3333d', '#7a6a12'];
  const lines = results.map(({ name, sizes: at }, i) => ({
    name,
    colour: colours[i % colours.length],
    values: at.map(({ cpu }) => cpu / at[0].cpu),
  }));
  const maxRatio = Math.max(2, Math.ceil(2 * Math.max(...lines.flatMap(({ values }) => values)) + 0.01) / 2);
  const x = (i) => left + (i * (width - left - right)) / (sizes.length - 1);
  const y = (value) => height - bottom - (value * (height - top - bottom)) / maxRatio;
  const label = ({ times: size, orgs, buckets }) => [
    `${size}x`,
    `${orgs.toLocaleString('en')} orgs, ${buckets.toLocaleString('en')} buckets`,
  ];
  // Names are next to the ends of their lines, moved apart if they would overlap.
  const ends = lines.map((line) => ({ ...line, at: y(line.values.at(-1)) })).sort((a, b) => a.at - b.at);
  for (const [i, end] of ends.entries()) if (i > 0) end.at = Math.max(end.at, ends[i - 1].at + 19);
  const over = Math.max(0, ends.at(-1).at - (height - bottom));
  for (const end of ends) end.at -= over;
  const marks = times(Math.round(maxRatio / 0.5) + 1, (i) => i * 0.5);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
      'font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#24292f">',
    '<title>Cost of an operation as the store grows</title>',
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="6" fill="#ffffff" stroke="#c9ced6"/>`,
    `<text x="${left}" y="26" font-size="15" font-weight="bold">` +
      'CPU of gateway and engine per operation, relative to the smallest store</text>',
    `<text x="${left}" y="44" fill="#57606a">ratios of one run; flat is good</text>`,
    ...marks.flatMap((mark) => [
      `<line x1="${left}" x2="${width - right}" y1="${y(mark).toFixed(1)}" y2="${y(mark).toFixed(1)}" ` +
        `stroke="${mark === 1 ? '#8c959f' : '#e4e8ed'}"${mark === 1 ? ' stroke-dasharray="4 4"' : ''}/>`,
      `<text x="${left - 8}" y="${(y(mark) + 4.5).toFixed(1)}" text-anchor="end">${mark.toFixed(1)}</text>`,
    ]),
    ...sizes.flatMap((size, i) => {
      const anchor = i === 0 ? 'start' : i === sizes.length - 1 ? 'end' : 'middle';
      return label(size).map(
        (text, row) =>
          `<text x="${x(i)}" y="${height - bottom + 22 + 17 * row}" text-anchor="${anchor}"` +
          `${row ? ' fill="#57606a"' : ''}>${text}</text>`,
      );
    }),
    ...lines.flatMap(({ colour, values }) => [
      `<polyline fill="none" stroke="${colour}" stroke-width="2.2" ` +
        `points="${values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(' ')}"/>`,
      ...values.map(
        (value, i) => `<circle cx="${x(i).toFixed(1)}" cy="${y(value).toFixed(1)}" r="3.2" fill="${colour}"/>`,
      ),
    ]),
    ...ends.map(({ name, colour, values, at }) => {
      const endX = width - right;
      const endY = y(values.at(-1)).toFixed(1);
      return (
        `<line x1="${endX + 5}" y1="${endY}" x2="${endX + 22}" y2="${at.toFixed(1)}" stroke="${colour}" ` +
        `stroke-width="0.8"/><text x="${endX + 26}" y="${(at + 4.5).toFixed(1)}" fill="${colour}">` +
        `${name}: ${values.at(-1).toFixed(2)}</text>`
      );
    }),
    '</svg>',
    '',
  ].join('\n');
}

process.once('SIGINT', () => process.exit(1)).once('SIGTERM', () => process.exit(1));
const startedMs = Date.now();
const failures = [];
const growth = await measureGrowth(failures);
console.log(`\n${table(growthHead, growthRows(growth))}\n`);
await sleep(200);
const rounds = await measureAggregation();
console.log(`${table(roundHead, roundRows(rounds))}\n`);
for (const failure of failures.slice(0, 3)) console.log(`failed: ${failure?.stack ?? failure}`);
console.log(`failed requests: ${failures.length}; total time ${((Date.now() - startedMs) / 1000).toFixed(0)} s`);
if (failures.length === 0) {
  writeFileSync(picture, draw(growth.filter(({ isWhole }) => !isWhole)));
  const measuredOn = `Measured on ${today}, Node ${process.version}, 2 shared cores.`;
  writeBetween(document, 'growth', `${table(shortHead, shortRows(growth))}\n\n${measuredOn}`);
  writeBetween(document, 'aggregation', `${table(roundHead, roundRows(rounds))}\n\n${measuredOn}`);
}
process.exit(failures.length > 0 || !isFast(rounds.at(-1)) ? 1 : 0);
