// node bench/capacity.mjs [--write]: replays a skewed load against the limits of a partition, with the key layout of
// src. Prints the bill, the hottest keys and the effect of group commit. Exits with status 1 if a claim of
// docs/capacity.md does not hold, or its tables are stale.
import { parseArgs } from 'node:util';
import { deviceIndexKey, deviceKey, feedKey } from '../dist/devices/device-keys.js';
import { feedPartitions } from '../dist/devices/feed-position.js';
import { configKey } from '../dist/identity/client.item.js';
import { ulid } from '../dist/lib/id.js';
import { maxShards } from '../dist/limits/buckets/shard.js';
import { shardKey as bucketKey, entityPartition, resourceIndexKey } from '../dist/limits/limiter-keys.js';
import { sliceOf } from '../dist/orgs/scope.js';
import { activeKey, shardKey, totalKey } from '../dist/spend/spend.item.js';
import { table, writeBetween } from './report.mjs';

const { values: options } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    /** Gateway CPU per mixed request, and the maximum utilisation of a core. */
    'cpu-ms': { type: 'string', default: '1.1' },
    utilisation: { type: 'string', default: '0.6' },
    'latency-ms': { type: 'string', default: '5' },
    /** us-east-1, on-demand, Standard class: per million request units; per GB-month. */
    'write-usd': { type: 'string', default: '0.625' },
    'read-usd': { type: 'string', default: '0.125' },
    'storage-usd': { type: 'string', default: '0.25' },
  },
});
const number = (name) => Number(options[name]);
const latencyMs = number('latency-ms');
const maxWritesPerSecond = 1000;
const maxReadsPerSecond = 3000;
const monthSeconds = 30.4 * 86_400;
const cacheSeconds = 60; // of limits, and of last_seen_at of a device
const hotWritesPerSecond = 800; // as in src/limits/buckets/cached-bucket.service.ts
/** First hot buckets get their shards. Later an hour and a day begin, and then there is a revocation. */
const steadyAt = 2;
const hourAt = 5;
const revokedAt = 6;
const seconds = 7;
const isSteady = (second) => second >= steadyAt && second < hourAt;
const s = 1.1;
const labels = [
  ['premium', 0.6],
  ['standard', 0.9],
  ['economy', 1],
];
const appsPerOrg = 5;
const entitiesPerOrg = 1000;
const day = '2026-01-02';

const rates = [
  { rate: 10, orgs: 10 },
  { rate: 1000, orgs: 300 },
  { rate: 10_000, orgs: 1000 },
  { rate: 100_000, orgs: 3000 },
].map((load) => ({
  ...load,
  gateways: Math.max(2, Math.ceil((load.rate * number('cpu-ms')) / 1000 / number('utilisation'))),
}));

/** An org that expects more costs per second is registered with 64 shards instead of 8. The number is fixed. */
const manyCostsPerSecond = 100;
const fewShards = 8;
const manyShards = 64;

function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A Zipf distribution: the share of each rank, and a random draw. The excess over `maxShare` goes to the rest. */
function zipf(count, maxShare = 1) {
  const weights = Float64Array.from({ length: count }, (_, i) => (i + 1) ** -s);
  const share = (scale) => weights.reduce((sum, weight) => sum + Math.min(maxShare, weight * scale), 0);
  let [low, high] = [0, 1];
  while (maxShare * count > 1 && share(high) < 1 && high < 1e12) high *= 2;
  for (let i = 0; i < 60; i++)
    if (share((low + high) / 2) < 1) low = (low + high) / 2;
    else high = (low + high) / 2;
  const shares =
    maxShare * count > 1 ? weights.map((weight) => Math.min(maxShare, weight * high)) : weights.fill(1 / count);
  const upTo = new Float64Array(count);
  shares.reduce((sum, value, i) => {
    upTo[i] = sum + value;
    return upTo[i];
  }, 0);
  const draw = (u) => {
    let [from, to] = [0, count - 1];
    for (const wanted = u * upTo[count - 1]; from < to; ) {
      const middle = (from + to) >> 1;
      if (upTo[middle] < wanted) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  return { shares, draw };
}

/** Units per second by partition key, and the hottest second of the hottest key of each kind. */
class Meter {
  channels = new Map();
  second = 0;

  /** Returns a function that counts the units of a key of this kind. */
  channel(kind, side) {
    const channel = { kind, side, now: new Map(), sum: 0, steady: { units: 0 }, worst: { units: 0 } };
    this.channels.set(`${kind} ${side}`, channel);
    const count = (key, units) => {
      if (isSteady(this.second)) channel.sum += units;
      if (key !== undefined) channel.now.set(key, (channel.now.get(key) ?? 0) + units);
    };
    return Object.assign(count, { channel });
  }

  /** Ends a second. */
  tick() {
    for (const channel of this.channels.values()) {
      for (const [key, units] of channel.now) {
        if (this.second >= steadyAt && units > channel.worst.units) channel.worst = { key, units, second: this.second };
        if (isSteady(this.second) && units > channel.steady.units) channel.steady = { key, units };
      }
      channel.now.clear();
    }
    this.second++;
  }

  /** Units per second in the steady state. */
  unitsOf(side) {
    return (
      [...this.channels.values()]
        .filter((channel) => channel.side === side)
        .reduce((sum, channel) => sum + channel.sum, 0) /
      (hourAt - steadyAt)
    );
  }
}

/**
 * Group commit of one gateway on one key: one write is running, and at most one waits for it. Returns the start of the
 * write that this arrival needs; undefined if it shares the waiting one.
 */
function writeFor(queues, key, atMs) {
  const state = queues.get(key);
  if (!state || atMs >= state.busyUntil) {
    queues.set(key, { busyUntil: atMs + latencyMs, queuedAt: Number.NEGATIVE_INFINITY });
    return atMs;
  }
  if (state.queuedAt > atMs) return undefined;
  state.queuedAt = state.busyUntil;
  state.busyUntil += latencyMs;
  return state.queuedAt;
}

const hex = (random, length) => Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('');
const macOf = (d) =>
  `02:${(d + 2 ** 36)
    .toString(16)
    .padStart(10, '0')
    .replace(/..(?!$)/g, '$&:')
    .toUpperCase()}`;
const resource = 'chat';

function newOrgs({ rate, orgs: count }, random, { shards, maxCallsPerDevice }) {
  return Array.from(zipf(count).shares, (share) => {
    const orgId = `${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-8${hex(random, 3)}-${hex(random, 12)}`;
    const calls = rate * 0.1 * share;
    // One call per minute and device on average, at most `maxCallsPerDevice` per second.
    const ofDevices = zipf(Math.max(2, Math.round(calls * 60)), maxCallsPerDevice / calls);
    const shardCount = shards ?? (rate * 0.3 * share > manyCostsPerSecond ? manyShards : fewShards);
    return { orgId, share, calls, slice: sliceOf(orgId), namespace: orgId.slice(0, 11), shardCount, ofDevices };
  });
}

function simulate(load, { shards, maxCallsPerDevice = 1, lasts = seconds } = {}) {
  const { rate, orgs: orgCount, gateways: gatewayCount } = load;
  const random = generator(number('seed'));
  const [ofOrgs, ofApps, ofEntities] = [zipf(orgCount), zipf(appsPerOrg), zipf(entitiesPerOrg)];
  const orgs = newOrgs(load, random, { shards, maxCallsPerDevice });
  const gateways = Array.from({ length: gatewayCount }, () => ({
    homeShard: Math.floor(random() * 64),
    bucketShard: random(),
  }));
  const meter = new Meter();
  const bucketWrites = meter.channel('bucket: `{ns}/BUCKET#{entity}#{resource}#{shard}`', 'write');
  const bucketReads = meter.channel('bucket: `{ns}/BUCKET#{entity}#{resource}#{shard}`', 'read');
  const entityReads = meter.channel('entity and its limits: `{ns}/ENTITY#{entity}`', 'read');
  const entityWrites = meter.channel('usage of an entity: `{ns}/ENTITY#{entity}`', 'write');
  const limitReads = meter.channel('limits of an org: `{ns}/SYSTEM#`, `{ns}/RESOURCE#{r}`', 'read');
  const resourceIndex = meter.channel('index GSI2: `{ns}/RESOURCE#{r}`', 'write');
  const namespaceIndex = meter.channel('index GSI4: `{ns}`', 'write');
  const registryReads = meter.channel('namespace registry: `_/SYSTEM#`', 'read');
  const settingReads = meter.channel('settings: `ORG#{org}`', 'read');
  const requestWrites = meter.channel('request item', 'write');
  const shardWrites = meter.channel('cost shard: `ORG#{org}#APP#{app}#LABEL#{l}#SH#{n}`', 'write');
  const activeIndex = meter.channel('index of active shards: `ACTIVE#{day}#{slice}#{part}`', 'write');
  const totalReads = meter.channel('total: `ORG#{org}#APP#{app}#LABEL#{l}`', 'read');
  const readingWrites = meter.channel('readings: `{org}/{MAC}`', 'write');
  const readingReads = meter.channel('readings: `{org}/{MAC}`', 'read');
  const feedWrites = meter.channel('feed of readings: `{org}#{minute}#{n}`', 'write');
  const markerWrites = meter.channel('batch marker', 'write');
  const deviceReads = meter.channel('device: `{org}/{MAC}`', 'read');
  const deviceWrites = meter.channel('device: `{org}/{MAC}`', 'write');
  const deviceIndex = meter.channel('index of devices: `{org}/devices`', 'write');
  const versionReads = meter.channel('change counter: `#CHANGES`', 'read');
  const alertReads = meter.channel('alert partition: `LOG#{partition}`', 'read');

  const [bucketQueues, costQueues, shardBusy, shardCounts] = [new Map(), new Map(), new Map(), new Map()];
  const [pathCache, orgCache, deviceCache] = [new Map(), new Map(), new Map()];
  const [hoursClosed, daysOpened, settingsRead, registryRead] = [new Set(), new Set(), new Set(), new Set()];
  const hot = { bucket: { arrivals: 0, writes: 0 }, cost: { arrivals: 0, writes: 0, conflicts: 0 } };
  const all = { commits: 0, conflicts: 0 };
  /** True if a cache entry has to be read again. The age of an entry at the start depends on how often it is used. */
  const isExpired = (cache, id, nowS, perSecond) => {
    const until =
      cache.get(id) ?? (random() < 1 / (1 + perSecond * cacheSeconds) ? 0 : nowS + 0.01 + random() * cacheSeconds);
    if (until > nowS) cache.set(id, until);
    else cache.set(id, nowS + cacheSeconds);
    return until <= nowS;
  };
  const isFirst = (set, id) => !set.has(id) && set.add(id) !== undefined;

  const acquire = (o, g, nowMs, second) => {
    const { namespace, share } = orgs[o];
    const e = ofEntities.draw(random());
    const entityId = `e${e}`;
    const name = o * entitiesPerOrg + e;
    const perSecond = (rate * 0.5 * share) / gatewayCount;
    if (isExpired(pathCache, name * gatewayCount + g, second, perSecond * ofEntities.shares[e]))
      entityReads(entityPartition(namespace, entityId), 3);
    if (isExpired(orgCache, o * gatewayCount + g, second, perSecond)) {
      limitReads(`${namespace}/SYSTEM#`, 1);
      limitReads(resourceIndexKey(namespace, resource), 1);
    }
    if (name === 0) hot.bucket.arrivals++;
    if (writeFor(bucketQueues, name * gatewayCount + g, nowMs) === undefined) return;
    if (name === 0) hot.bucket.writes++;
    const shard = Math.floor(gateways[g].bucketShard * (shardCounts.get(name) ?? 1));
    const { PK } = bucketKey({ namespace, entityId, resource, shard });
    bucketWrites(PK, 1);
    if (bucketWrites.channel.now.get(PK) === hotWritesPerSecond) spreading.add(name);
    if (second < hourAt || !isFirst(hoursClosed, PK)) return;
    bucketWrites(PK, 2);
    entityWrites(entityPartition(namespace, entityId), 2);
    resourceIndex(resourceIndexKey(namespace, resource), 1);
    namespaceIndex(namespace, 1);
  };
  const submitCost = (o, a, g, nowMs, second) => {
    const { orgId, slice, shardCount } = orgs[o];
    const u = random();
    const l = labels.findIndex(([, upTo]) => u < upTo);
    const scope = (o * appsPerOrg + a) * labels.length + l;
    if (scope === 0) hot.cost.arrivals++;
    requestWrites(undefined, 2);
    const beginsMs = writeFor(costQueues, scope * gatewayCount + g, nowMs);
    if (beginsMs === undefined) return;
    const shard = gateways[g].homeShard % shardCount;
    const { PK } = shardKey({ orgId, appId: `app${a}`, label: labels[l][0], day }, shard);
    shardWrites(PK, 2);
    // Of two concurrent transactions on one item the later one is rejected, and retried with jitter.
    const conflicts = (shardBusy.get(PK) ?? 0) > beginsMs ? 1 : 0;
    shardBusy.set(PK, Math.max(shardBusy.get(PK) ?? 0, beginsMs + latencyMs));
    all.commits++;
    all.conflicts += conflicts;
    if (scope === 0) {
      hot.cost.writes++;
      hot.cost.conflicts += conflicts;
    }
    if (second >= hourAt && isFirst(daysOpened, PK)) activeIndex(activeKey(day, slice, shard), 1);
  };
  const ingest = (o, second) => {
    const { orgId, calls, ofDevices, shardCount } = orgs[o];
    const d = ofDevices.draw(random());
    const { hardware_id: device } = deviceKey({ orgId, hardwareId: macOf(d) });
    deviceReads(device, 0.5);
    // A segment of ten readings has up to 2 KB.
    readingWrites(device, 2);
    feedWrites(feedKey(orgId, ulid(second * 1000), feedPartitions(shardCount)).hardware_id, 1);
    markerWrites(undefined, 10);
    if (!isExpired(deviceCache, device, second, calls * ofDevices.shares[d])) return;
    deviceWrites(device, 1);
    deviceIndex(deviceIndexKey(orgId), 2);
  };
  const dashboard = (o, a, u) => {
    const { orgId, namespace, ofDevices } = orgs[o];
    if (u < 0.4) for (const [label] of labels) totalReads(totalKey({ orgId, appId: `app${a}`, label, day }).PK, 0.5);
    else if (u < 0.7) {
      const { hardware_id: device } = deviceKey({ orgId, hardwareId: macOf(ofDevices.draw(random())) });
      deviceReads(device, 1);
      readingReads(device, 3);
    } else {
      const entityId = `e${ofEntities.draw(random())}`;
      entityReads(entityPartition(namespace, entityId), 8);
      bucketReads(bucketKey({ namespace, entityId, resource, shard: 0 }).PK, 5);
    }
  };

  const spreading = new Set();
  for (let second = 0; second < lasts; second++) {
    for (let i = 0; i < rate; i++) {
      const nowMs = second * 1000 + (i * 1000) / rate;
      const u = random();
      const o = ofOrgs.draw(random());
      const a = ofApps.draw(random());
      const g = Math.floor(random() * gatewayCount);
      if (second >= revokedAt) {
        // A revocation invalidates the settings cache: each gateway reads the org and its app again. In the same second
        // the limiter of the largest org is purged, so each gateway reads its namespace again.
        if (isFirst(settingsRead, (o * gatewayCount + g) * 8)) settingReads(configKey({ orgId: orgs[o].orgId }).PK, 1);
        if (isFirst(settingsRead, (o * gatewayCount + g) * 8 + 1 + a))
          settingReads(configKey({ orgId: orgs[o].orgId }).PK, 1);
        if (u < 0.5 && o === 0 && isFirst(registryRead, g)) registryReads('_/SYSTEM#', 1);
      }
      if (u < 0.5) acquire(o, g, nowMs, second);
      else if (u < 0.8) submitCost(o, a, g, nowMs, second);
      else if (u < 0.9) ingest(o, second);
      else dashboard(o, a, (u - 0.9) * 10);
    }
    // Each gateway reads these items once per second with a consistent read.
    versionReads('#CHANGES', gatewayCount);
    for (let partition = 0; partition < 16; partition++) alertReads(`LOG#${partition}`, gatewayCount);
    for (const name of spreading) shardCounts.set(name, Math.min(maxShards, 2 * (shardCounts.get(name) ?? 1)));
    spreading.clear();
    meter.tick();
  }
  const devices = orgs.reduce((sum, { ofDevices }) => sum + ofDevices.shares.length, 0);
  return {
    ...load,
    lasts,
    meter,
    hot,
    all,
    devices,
    tenants: orgs,
    ofEntities,
    shardsOfHottest: shardCounts.get(0) ?? 1,
  };
}

const limitOf = (side) => (side === 'write' ? maxWritesPerSecond : maxReadsPerSecond);
const exceeding = ({ meter }) => [...meter.channels.values()].filter(({ side, worst }) => worst.units > limitOf(side));

/** The number of buckets that are used within an hour. */
const bucketsPerHour = ({ rate, tenants, ofEntities }) =>
  tenants.reduce(
    (sum, { share }) =>
      sum + ofEntities.shares.reduce((used, entity) => used + 1 - Math.exp(-rate * 0.5 * share * entity * 3600), 0),
    0,
  );

const itemBytes = { request: 420, segment: 1200, feedRow: 200, marker: 300, usage: 350, overhead: 100 };

function bill(result) {
  const { rate, meter, tenants, gateways } = result;
  const hourly = bucketsPerHour(result);
  const shardItems = tenants.reduce(
    (sum, { shardCount }) => sum + appsPerOrg * labels.length * Math.min(shardCount, gateways),
    0,
  );
  const scopes = tenants.length * (appsPerOrg + 1) * labels.length;
  // In addition to the replay: the closing of hours, and one round of the worker per minute over every shard item and
  // total, which queries 16 slices of 4 keys for 4 days.
  const writes = meter.unitsOf('write') + (6 * hourly) / 3600 + scopes / 60;
  const reads = meter.unitsOf('read') + (shardItems + 16 * 4 * 4 * 0.5) / 60;
  const daily = (count, days, bytes) => count * 86_400 * days * (bytes + itemBytes.overhead);
  const bytes =
    daily(rate * 0.3, 35, itemBytes.request) +
    daily(rate * 0.1, 90, itemBytes.segment) +
    daily(rate * 0.1, 25 / 24, itemBytes.feedRow) +
    daily(rate * 0.1 * 10, 90, itemBytes.marker) +
    daily(hourly / 3600, 90, itemBytes.usage);
  const monthly = (units, name) => (units * monthSeconds * number(name)) / 1e6;
  const gb = bytes / 1e9;
  const usd = {
    writes: monthly(writes, 'write-usd'),
    reads: monthly(reads, 'read-usd'),
    storage: gb * number('storage-usd'),
  };
  return { writes, reads, gb, usd, total: usd.writes + usd.reads + usd.storage };
}

const whole = (value) => Math.round(value).toLocaleString('en');
const short = (value) => (value >= 1000 ? whole(value) : String(Number(value.toPrecision(3))));

const billTable = (results) =>
  table(
    [
      'requests/s',
      'gateways',
      'orgs',
      'devices',
      'write units/s',
      'read units/s',
      'writes $',
      'reads $',
      'stored GB',
      'storage $',
      '$ per month',
    ],
    results.map((result) => {
      const { writes, reads, gb, usd, total } = bill(result);
      return [
        whole(result.rate),
        String(result.gateways),
        whole(result.orgs),
        whole(result.devices),
        short(writes),
        short(reads),
        whole(usd.writes),
        whole(usd.reads),
        whole(gb),
        whole(usd.storage),
        whole(total),
      ];
    }),
  );

const whenOf = ({ steady, worst }) => {
  // The worst second of a constantly hot key has no cause.
  if (worst.units < 2 * steady.units) return 'always';
  return worst.second >= revokedAt ? 'after a revocation' : 'start of the day';
};
const keyTable = (results) =>
  table(
    ['key', 'requests/s', 'units', 'steady', 'worst second', 'when', 'limit', ''],
    results.flatMap(({ rate, meter }) =>
      [...meter.channels.values()]
        .sort((a, b) => b.worst.units / limitOf(b.side) - a.worst.units / limitOf(a.side))
        .slice(0, 7)
        .map(({ kind, side, steady, worst }) => [
          kind,
          whole(rate),
          side,
          short(steady.units),
          short(worst.units),
          whenOf({ steady, worst }),
          whole(limitOf(side)),
          worst.units <= limitOf(side) ? 'holds' : 'EXCEEDED',
        ]),
    ),
  );

/** The number of arrivals per write, by the arrivals per second at one key of one gateway: those within one latency. */
const groupOf = (perSecond) => {
  const during = (perSecond * latencyMs) / 1000;
  return during + Math.exp(-during);
};

const groupTable = (results) =>
  table(
    [
      'hottest key',
      'requests/s',
      'arrivals/s',
      'per gateway',
      'arrivals per write, by formula',
      'arrivals per write, replayed',
      'shards',
      'conflicts',
    ],
    results.flatMap(({ rate, lasts, gateways, hot, tenants: [first], shardsOfHottest }) =>
      ['bucket', 'cost'].map((name) => {
        const { arrivals, writes, conflicts } = hot[name];
        const perSecond = arrivals / lasts;
        return [
          name === 'bucket' ? 'bucket' : 'cost shard',
          whole(rate),
          short(perSecond),
          short(perSecond / gateways),
          groupOf(perSecond / gateways).toFixed(3),
          (arrivals / writes).toFixed(3),
          String(name === 'bucket' ? shardsOfHottest : first.shardCount),
          conflicts === undefined ? '' : `${((100 * conflicts) / writes).toFixed(1)} %`,
        ];
      }),
    ),
  );

const floodTable = () =>
  table(
    [
      'arrivals/s at one gateway on one key',
      'arrivals per write',
      'writes/s',
      'write units per acquire',
      'write units per cost',
    ],
    [10, 100, 200, 1000, 5000].map((perSecond) => {
      const group = groupOf(perSecond);
      return [
        whole(perSecond),
        group.toFixed(2),
        whole(perSecond / group),
        (1 / group).toFixed(2),
        (2 + 2 / Math.min(group, 99)).toFixed(2),
      ];
    }),
  );

// The claims of docs/capacity.md.
const readings = 'readings: `{org}/{MAC}`';
const wrong = [];
const results = rates.map((load) => simulate(load));
for (const result of results)
  for (const { kind } of exceeding(result)) wrong.push(`${result.rate}/s: ${kind} exceeds its limit`);
const largest = rates.at(-1);
const unprotected = simulate(largest, {
  shards: fewShards,
  maxCallsPerDevice: Number.POSITIVE_INFINITY,
  lasts: steadyAt + 1,
});
const conflictsOf = ({ hot: { cost } }) => cost.conflicts / cost.writes;
const hottestOf = (result, kind) => result.meter.channels.get(`${kind} write`).steady.units;
if (hottestOf(unprotected, readings) > maxWritesPerSecond)
  wrong.push('a device without a limit on its calls exceeds the limit of its key');
if (conflictsOf(results.at(-1)) > 0.15)
  wrong.push('with 64 shards more than 15 % of the commits of the hottest scope conflict');
if (conflictsOf(unprotected) < 0.3)
  wrong.push('with 8 shards less than 30 % of the commits of the hottest scope conflict');

const text = [
  '### The bill',
  billTable(results),
  '### The hottest keys',
  keyTable(results),
  '### Group commit',
  groupTable(results),
  floodTable(),
  '### Without the two precautions, at 100,000 requests per second',
  table(
    ['precaution', 'with', 'without'],
    [
      [
        '64 cost shards for orgs above 100 costs/s: conflicts of the hottest scope',
        `${(100 * conflictsOf(results.at(-1))).toFixed(0)} %`,
        `${(100 * conflictsOf(unprotected)).toFixed(0)} %`,
      ],
      [
        'at most one call per second and device: write units/s of the hottest device',
        short(hottestOf(results.at(-1), readings)),
        short(hottestOf(unprotected, readings)),
      ],
    ],
  ),
].join('\n\n');
console.log(`${text}\n`);

const isStale = writeBetween(new URL('../docs/capacity.md', import.meta.url), 'capacity', text, {
  isDry: !options.write,
});
if (isStale && !options.write)
  wrong.push('the tables in docs/capacity.md are stale; run `node bench/capacity.mjs --write`');
for (const fault of wrong) console.log(`claim does not hold: ${fault}`);
console.log(
  wrong.length === 0
    ? 'every claim of docs/capacity.md holds'
    : `${wrong.length} claims of docs/capacity.md do not hold`,
);
process.exit(wrong.length > 0 ? 1 : 0);
