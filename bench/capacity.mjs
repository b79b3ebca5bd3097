// node bench/capacity.mjs [--write]: replays a skewed load against the limits of a partition, with the key layout of src, and prints
// the bill, the hottest keys and what group commit does. Exits 1 if a claim of docs/capacity.md does not hold, or its tables are old.
import { parseArgs } from 'node:util';
import { deviceIndexKey, deviceKey } from '../dist/devices/device-keys.js';
import { configKey } from '../dist/identity/client.item.js';
import { maxShards } from '../dist/limits/buckets/shard.js';
import { shardKey as bucketKey, entityPartition, resourceIndexKey } from '../dist/limits/limiter-keys.js';
import { sliceOf } from '../dist/orgs/scope.js';
import { activeKey, shardKey, totalKey } from '../dist/spend/spend.item.js';
import { table, writeBetween } from './report.mjs';

const { values: options } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    /** Gateway CPU of a mixed request, and how busy a core may be. */
    'cpu-ms': { type: 'string', default: '1.1' },
    utilisation: { type: 'string', default: '0.6' },
    'latency-ms': { type: 'string', default: '5' },
    /** us-east-1, on demand, Standard class, a million request units; a GB-month. */
    'write-usd': { type: 'string', default: '0.625' },
    'read-usd': { type: 'string', default: '0.125' },
    'storage-usd': { type: 'string', default: '0.25' },
  },
});
const number = (name) => Number(options[name]);
const latencyMs = number('latency-ms');
const mostWrites = 1000;
const mostReads = 3000;
const monthSeconds = 30.4 * 86_400;
const memorySeconds = 60; // of limits, and of when a device was seen
const hotWritesASecond = 800; // as in src/limits/buckets/cached-bucket.service.ts
/** In the first two seconds hot buckets get their shards; then an hour (and with it the day) changes, and something is revoked. */
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
const appsAnOrg = 5;
const entitiesAnOrg = 1000;
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

/** An org that expects more costs a second than this is registered with 64 shards instead of 8; it cannot be changed later. */
const manyCosts = 100;
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

/** Ranks by Zipf: the share of each, and one drawn at random. `most` bounds a share; what is over is spread over the rest. */
function zipf(count, most = 1) {
  const weights = Float64Array.from({ length: count }, (_, i) => (i + 1) ** -s);
  const share = (scale) => weights.reduce((sum, weight) => sum + Math.min(most, weight * scale), 0);
  let [low, high] = [0, 1];
  while (most * count > 1 && share(high) < 1 && high < 1e12) high *= 2;
  for (let i = 0; i < 60; i++)
    if (share((low + high) / 2) < 1) low = (low + high) / 2;
    else high = (low + high) / 2;
  const shares = most * count > 1 ? weights.map((weight) => Math.min(most, weight * high)) : weights.fill(1 / count);
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

/** Units a second by partition key, and the hottest second of the hottest key of each kind. */
class Meter {
  channels = new Map();
  second = 0;

  /** What one kind of key is asked for: a function that counts units for a key. */
  of(kind, side) {
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

  /** Units a second while it is steady. */
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
 * Group commit of one gateway on one key: a write under way, and perhaps one that waits for it. Says when the write begins that
 * this arrival needs; undefined: it shares one that waits.
 */
function writeFor(lanes, lane, atMs) {
  const state = lanes.get(lane);
  if (!state || atMs >= state.busyUntil) {
    lanes.set(lane, { busyUntil: atMs + latencyMs, queuedAt: Number.NEGATIVE_INFINITY });
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

function newOrgs({ rate, orgs: count }, random, { shards, mostCallsADevice }) {
  return Array.from(zipf(count).shares, (share) => {
    const orgId = `${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-8${hex(random, 3)}-${hex(random, 12)}`;
    const calls = rate * 0.1 * share;
    // On average a call a minute each; none makes more than so many a second.
    const ofDevices = zipf(Math.max(2, Math.round(calls * 60)), mostCallsADevice / calls);
    const shardCount = shards ?? (rate * 0.3 * share > manyCosts ? manyShards : fewShards);
    return { orgId, share, calls, slice: sliceOf(orgId), namespace: orgId.slice(0, 11), shardCount, ofDevices };
  });
}

function simulate(load, { shards, mostCallsADevice = 1, lasts = seconds } = {}) {
  const { rate, orgs: orgCount, gateways: gatewayCount } = load;
  const random = generator(number('seed'));
  const [ofOrgs, ofApps, ofEntities] = [zipf(orgCount), zipf(appsAnOrg), zipf(entitiesAnOrg)];
  const orgs = newOrgs(load, random, { shards, mostCallsADevice });
  const gateways = Array.from({ length: gatewayCount }, () => ({ lane: Math.floor(random() * 64), chosen: random() }));
  const meter = new Meter();
  const bucketWrites = meter.of('bucket: `{ns}/BUCKET#{entity}#{resource}#{shard}`', 'write');
  const bucketReads = meter.of('bucket: `{ns}/BUCKET#{entity}#{resource}#{shard}`', 'read');
  const entityReads = meter.of('entity and its limits: `{ns}/ENTITY#{entity}`', 'read');
  const entityWrites = meter.of('usage of an entity: `{ns}/ENTITY#{entity}`', 'write');
  const limitReads = meter.of('limits of an org: `{ns}/SYSTEM#`, `{ns}/RESOURCE#{r}`', 'read');
  const resourceIndex = meter.of('index GSI2: `{ns}/RESOURCE#{r}`', 'write');
  const namespaceIndex = meter.of('index GSI4: `{ns}`', 'write');
  const registryReads = meter.of('namespace registry: `_/SYSTEM#`', 'read');
  const settingReads = meter.of('settings: `ORG#{org}`', 'read');
  const requestWrites = meter.of('request item', 'write');
  const shardWrites = meter.of('cost shard: `ORG#{org}#APP#{app}#LABEL#{l}#SH#{n}`', 'write');
  const activeIndex = meter.of('index of active shards: `ACTIVE#{day}#{slice}#{part}`', 'write');
  const totalReads = meter.of('total: `ORG#{org}#APP#{app}#LABEL#{l}`', 'read');
  const readingWrites = meter.of('readings: `{org}/{MAC}`', 'write');
  const readingReads = meter.of('readings: `{org}/{MAC}`', 'read');
  const markerWrites = meter.of('batch marker', 'write');
  const deviceReads = meter.of('device: `{org}/{MAC}`', 'read');
  const deviceWrites = meter.of('device: `{org}/{MAC}`', 'write');
  const deviceIndex = meter.of('index of devices: `{org}/devices`', 'write');
  const versionReads = meter.of('revocation version: `#VERSION#{slot}`', 'read');
  const laneReads = meter.of('alert lane: `LOG#{lane}`', 'read');

  const [bucketLanes, costLanes, shardBusy, shardCounts] = [new Map(), new Map(), new Map(), new Map()];
  const [pathsKnown, orgsKnown, devicesSeen] = [new Map(), new Map(), new Map()];
  const [hoursClosed, daysOpened, settingsRead, registryRead] = [new Set(), new Set(), new Set(), new Set()];
  const hot = { bucket: { arrivals: 0, writes: 0 }, cost: { arrivals: 0, writes: 0, conflicts: 0 } };
  const all = { commits: 0, conflicts: 0 };
  /** Whether what is remembered for a minute has to be read; at the first sight here by how often it is asked for. */
  const isForgotten = (memory, id, nowS, perSecond) => {
    const until =
      memory.get(id) ?? (random() < 1 / (1 + perSecond * memorySeconds) ? 0 : nowS + 0.01 + random() * memorySeconds);
    if (until > nowS) memory.set(id, until);
    else memory.set(id, nowS + memorySeconds);
    return until <= nowS;
  };
  const isFirst = (set, id) => !set.has(id) && set.add(id) !== undefined;

  const acquire = (o, g, nowMs, second) => {
    const { namespace, share } = orgs[o];
    const e = ofEntities.draw(random());
    const entityId = `e${e}`;
    const name = o * entitiesAnOrg + e;
    const perSecond = (rate * 0.5 * share) / gatewayCount;
    if (isForgotten(pathsKnown, name * gatewayCount + g, second, perSecond * ofEntities.shares[e]))
      entityReads(entityPartition(namespace, entityId), 3);
    if (isForgotten(orgsKnown, o * gatewayCount + g, second, perSecond)) {
      limitReads(`${namespace}/SYSTEM#`, 1);
      limitReads(resourceIndexKey(namespace, resource), 1);
    }
    if (name === 0) hot.bucket.arrivals++;
    if (writeFor(bucketLanes, name * gatewayCount + g, nowMs) === undefined) return;
    if (name === 0) hot.bucket.writes++;
    const shard = Math.floor(gateways[g].chosen * (shardCounts.get(name) ?? 1));
    const { PK } = bucketKey({ namespace, entityId, resource, shard });
    bucketWrites(PK, 1);
    if (bucketWrites.channel.now.get(PK) === hotWritesASecond) spreading.add(name);
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
    const scope = (o * appsAnOrg + a) * labels.length + l;
    if (scope === 0) hot.cost.arrivals++;
    requestWrites(undefined, 2);
    const beginsMs = writeFor(costLanes, scope * gatewayCount + g, nowMs);
    if (beginsMs === undefined) return;
    const shard = gateways[g].lane % shardCount;
    const { PK } = shardKey({ orgId, appId: `app${a}`, label: labels[l][0], day }, shard);
    shardWrites(PK, 2);
    // Two transactions on one item at once: the later is refused, and goes again with a jitter.
    const meets = (shardBusy.get(PK) ?? 0) > beginsMs ? 1 : 0;
    shardBusy.set(PK, Math.max(shardBusy.get(PK) ?? 0, beginsMs + latencyMs));
    all.commits++;
    all.conflicts += meets;
    if (scope === 0) {
      hot.cost.writes++;
      hot.cost.conflicts += meets;
    }
    if (second >= hourAt && isFirst(daysOpened, PK)) activeIndex(activeKey(day, slice, shard), 1);
  };
  const ingest = (o, second) => {
    const { orgId, calls, ofDevices } = orgs[o];
    const d = ofDevices.draw(random());
    const { hardware_id: device } = deviceKey({ orgId, hardwareId: macOf(d) });
    deviceReads(device, 0.5);
    readingWrites(device, 10 * 2);
    markerWrites(undefined, 10 * 2);
    if (!isForgotten(devicesSeen, device, second, calls * ofDevices.shares[d])) return;
    deviceWrites(device, 1);
    deviceIndex(deviceIndexKey(orgId), 2);
  };
  const dashboard = (o, a, u) => {
    const { orgId, namespace, ofDevices } = orgs[o];
    if (u < 0.4) for (const [label] of labels) totalReads(totalKey({ orgId, appId: `app${a}`, label, day }).PK, 0.5);
    else if (u < 0.7) {
      const { hardware_id: device } = deviceKey({ orgId, hardwareId: macOf(ofDevices.draw(random())) });
      deviceReads(device, 1);
      readingReads(device, 6);
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
        // Nobody remembers settings past a revocation: the org and its app are read again, by each gateway. In the same second the
        // limiter of the largest org is purged, and its namespace read again.
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
    // What each gateway follows once a second, a consistent read each.
    for (let slot = 0; slot < 8; slot++) versionReads(`#VERSION#${slot}`, gatewayCount);
    for (let lane = 0; lane < 16; lane++) laneReads(`LOG#${lane}`, gatewayCount);
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

// --- what it comes to ----------------------------------------------------------------------------------------------------

const limitOf = (side) => (side === 'write' ? mostWrites : mostReads);
const exceeding = ({ meter }) => [...meter.channels.values()].filter(({ side, worst }) => worst.units > limitOf(side));

/** How many of the buckets are used within an hour. */
const bucketsAnHour = ({ rate, tenants, ofEntities }) =>
  tenants.reduce(
    (sum, { share }) =>
      sum + ofEntities.shares.reduce((of, entity) => of + 1 - Math.exp(-rate * 0.5 * share * entity * 3600), 0),
    0,
  );

const itemBytes = { request: 420, reading: 480, marker: 260, usage: 350, overhead: 100 };

function bill(result) {
  const { rate, meter, tenants, gateways } = result;
  const hourly = bucketsAnHour(result);
  const shardItems = tenants.reduce(
    (sum, { shardCount }) => sum + appsAnOrg * labels.length * Math.min(shardCount, gateways),
    0,
  );
  const scopes = tenants.length * (appsAnOrg + 1) * labels.length;
  // Beside what was replayed: the closing of hours, and the worker's rounds, once a minute over every shard item and total, for
  // which it asks 16 slices of 4 keys about 4 days.
  const writes = meter.unitsOf('write') + (6 * hourly) / 3600 + scopes / 60;
  const reads = meter.unitsOf('read') + (shardItems + 16 * 4 * 4 * 0.5) / 60;
  const daily = (count, days, bytes) => count * 86_400 * days * (bytes + itemBytes.overhead);
  const bytes =
    daily(rate * 0.3, 35, itemBytes.request) +
    daily(rate * 0.1 * 10, 90, itemBytes.reading) +
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
      '$ a month',
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
  // A key that is always as hot has its worst second anywhere.
  if (worst.units < 2 * steady.units) return 'always';
  return worst.second >= revokedAt ? 'after a revocation' : 'as the day begins';
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

/** Arrivals that share a write, where so many a second come to one key of one gateway: those of one latency, at least the one that waits for none. */
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
      'of one gateway',
      'a write, by formula',
      'a write, replayed',
      'shards',
      'meet another gateway',
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
      'arrivals a write',
      'writes/s',
      'write units an acquire',
      'write units a cost',
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

// --- the claims of docs/capacity.md ---------------------------------------------------------------------------------------

const readings = 'readings: `{org}/{MAC}`';
const wrong = [];
const results = rates.map((load) => simulate(load));
for (const result of results)
  for (const { kind } of exceeding(result)) wrong.push(`${result.rate}/s: ${kind} does not hold`);
const largest = rates.at(-1);
const careless = simulate(largest, {
  shards: fewShards,
  mostCallsADevice: Number.POSITIVE_INFINITY,
  lasts: steadyAt + 1,
});
const conflictsOf = ({ hot: { cost } }) => cost.conflicts / cost.writes;
const hottestOf = (result, kind) => result.meter.channels.get(`${kind} write`).steady.units;
if (hottestOf(careless, readings) <= mostWrites) wrong.push('a device without a bound holds, other than is said');
if (conflictsOf(results.at(-1)) > 0.15)
  wrong.push('with 64 shards more than 15 % of the commits of the hottest scope meet another');
if (conflictsOf(careless) < 0.3)
  wrong.push('with 8 shards less than 30 % of the commits of the hottest scope meet another');

const text = [
  '### The bill',
  billTable(results),
  '### The hottest keys',
  keyTable(results),
  '### Group commit',
  groupTable(results),
  floodTable(),
  '### Without the two precautions, at 100,000 requests a second',
  table(
    ['what', 'with', 'without'],
    [
      [
        '64 cost shards for orgs above 100 costs/s: commits of the hottest scope that meet another',
        `${(100 * conflictsOf(results.at(-1))).toFixed(0)} %`,
        `${(100 * conflictsOf(careless)).toFixed(0)} %`,
      ],
      [
        'at most one call a second of a device: write units/s on the hottest device',
        short(hottestOf(results.at(-1), readings)),
        short(hottestOf(careless, readings)),
      ],
    ],
  ),
].join('\n\n');
console.log(`${text}\n`);

const isOther = writeBetween(new URL('../docs/capacity.md', import.meta.url), 'capacity', text, {
  isDry: !options.write,
});
if (isOther && !options.write) wrong.push('the tables in docs/capacity.md are not these: run it with --write');
for (const fault of wrong) console.log(`claim: ${fault}`);
console.log(wrong.length === 0 ? 'every claim of docs/capacity.md holds' : `${wrong.length} claims do not hold`);
process.exit(wrong.length > 0 ? 1 : 0);
