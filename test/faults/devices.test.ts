import { randomUUID } from 'node:crypto';
import { sleep } from '../../src/lib/timers.js';
import { Caller, type FullReading, startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type Fault, type FaultProxy, type Rule, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';
import { newTenant, noonClock } from '../worker/costs.js';
import { untilWell } from './harness.js';

const clock = noonClock();
const seed = 0x5eed;
const deviceName = 'Shed';
let proxy: FaultProxy;
let app: TestApp;
/** A second gateway, without the proxy: to send through, and to read what is stored. */
let direct: TestApp;
let orgId: string;
let faulty: Caller;
let sound: Caller;

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ endpoint: proxy.endpoint, clock, config: { principalRps: 0, principalConcurrency: 0 } });
  direct = await app.another({ store: { ...app.config.store, endpoint: testEndpoint() } });
  ({ orgId } = await newTenant(app, {}, []));
  const { createApiKey } = await app.admin.ask(op.CreateApiKeyDocument, { input: { orgId } });
  const key = { 'x-api-key': createApiKey.secret };
  faulty = new Caller(app.url, key);
  sound = new Caller(direct.url, key);
});
beforeEach(() => proxy.clear());
afterEach(() => proxy.clear());
afterAll(async () => {
  await direct.stop();
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

/** Random numbers from 0 to 1, the same in every run (mulberry32). */
function fixedRandom(from = seed): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled<T>(all: readonly T[], random: () => number): T[] {
  const mixed = [...all];
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [mixed[i], mixed[j]] = [mixed[j] as T, mixed[i] as T];
  }
  return mixed;
}

const chunked = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));

async function withInFlight<T>(
  width: number,
  all: readonly T[],
  work: (each: T, at: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < all.length; at = next++) await work(all[at] as T, at);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

let devicesMade = 0;
function newMac(): string {
  const digits = (0xa0_00_00_00_00_00 + ++devicesMade).toString(16).toUpperCase();
  return (digits.match(/../g) as string[]).join(':');
}

const register = (hardwareId: string, caller = sound) =>
  caller.ask(op.RegisterDeviceDocument, {
    input: {
      hardwareId,
      bootId: randomUUID(),
      firmwareVersion: '1.0.0',
      friendlyName: deviceName,
      capabilities: { sensors: ['bme280'], features: [] },
    },
  });

async function newDevices(count: number): Promise<string[]> {
  const macs = Array.from({ length: count }, newMac);
  await withInFlight(16, macs, (mac) => register(mac));
  return macs;
}

const health = (random: () => number): op.SensorHealth | undefined =>
  ([undefined, 'OK', 'ERROR'] as const)[Math.floor(random() * 3)];

/** Values have all digits of a float, so that rounding anywhere is noticed. Some values are missing. */
function newReading(hardwareId: string, nth: number, random: () => number): FullReading {
  const some = (min: number, max: number) => (random() < 0.2 ? undefined : min + random() * (max - min));
  return {
    hardwareId,
    batchId: `${hardwareId}:${nth}_b.-${Math.floor(random() * 1e9)}`,
    timestampMs: clock.nowMs() - 1000 * nth,
    bootId: randomUUID(),
    firmwareVersion: `1.${nth}.0`,
    ...(random() < 0.5 ? { friendlyName: `Own "name" ${nth}` } : {}),
    sensors: {
      bme280TempC: some(-40, 85),
      ds18b20TempC: some(-55, 125),
      humidityPct: some(0, 100),
      pressureHpa: some(300, 1100),
      soilMoisturePct: some(0, 100),
    },
    sensorStatus: { bme280: health(random), ds18b20: health(random), soilMoisture: health(random) },
  };
}

const readingsFor = (macs: readonly string[], each: number, random: () => number) =>
  macs.flatMap((mac) => Array.from({ length: each }, (_, nth) => newReading(mac, nth, random)));

/** Omitted values are read back as null. */
const filled = (values: object) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value ?? null]));
const asStored = (sent: FullReading) => ({
  ...sent,
  friendlyName: sent.friendlyName ?? deviceName,
  sensors: filled(sent.sensors),
  sensorStatus: filled(sent.sensorStatus),
});

const readingFields = `hardwareId batchId timestampMs bootId firmwareVersion friendlyName
  sensors { bme280TempC ds18b20TempC humidityPct pressureHpa soilMoisturePct }
  sensorStatus { bme280 ds18b20 soilMoisture }`;
const rangeOf = `query ($orgId: UUID!, $hardwareId: String!, $after: String) {
  org(orgId: $orgId) { device(hardwareId: $hardwareId) {
    readings(first: 100, after: $after) { nodes { id ${readingFields} } pageInfo { hasNextPage endCursor } }
  } }
}`;
const byId = `query ($id: ID!) { node(id: $id) { ... on Reading { ${readingFields} } } }`;

/** All stored readings of a device, with their ids. */
async function readRange(hardwareId: string): Promise<op.ReadingFieldsFragment[]> {
  const found: op.ReadingFieldsFragment[] = [];
  for (let after: string | null = null; ; ) {
    const { org } = (await direct.admin.ask(rangeOf, { orgId, hardwareId, after })) as {
      org: {
        device: {
          readings: { nodes: op.ReadingFieldsFragment[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };
        };
      };
    };
    const { nodes, pageInfo } = org.device.readings;
    found.push(...nodes);
    if (!pageInfo.hasNextPage) return found;
    after = pageInfo.endCursor;
  }
}

const byBatch = (a: { batchId: string }, b: { batchId: string }) => (a.batchId < b.batchId ? -1 : 1);

/** Expects that exactly these readings of the devices are stored, each once and field by field. */
async function expectExactly(
  sent: readonly FullReading[],
  macs = [...new Set(sent.map(({ hardwareId }) => hardwareId))],
): Promise<void> {
  await withInFlight(8, macs, async (mac, at) => {
    const found = await readRange(mac);
    const expected = sent.filter(({ hardwareId }) => hardwareId === mac).map(asStored);
    expect(found.map(({ id, ...fields }) => fields).sort(byBatch)).toEqual(expected.sort(byBatch));
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
    const [{ id, ...fields } = { id: '' }] = found;
    if (id && at % 10 === 0) expect(await direct.admin.ask(byId, { id })).toEqual({ node: fields });
  });
}

type Kind = op.ReadingVerdictKind;
const unavailable = { code: 'SERVICE_UNAVAILABLE', retryable: true };
const isSettled = (kind: Kind | undefined) => kind === 'STORED' || kind === 'DUPLICATE';

/** The verdicts in order. All are RETRY if the whole call failed because the database is unavailable. */
async function ingest(caller: Caller, readings: readonly FullReading[]): Promise<Kind[]> {
  const { data, errors } = await caller.send(op.IngestDocument, { input: { readings: [...readings] } });
  if (!data) {
    expect(errors?.[0]?.extensions).toMatchObject(unavailable);
    return readings.map(() => 'RETRY');
  }
  const { verdicts, settledBatchIds } = data.ingest;
  expect(verdicts.map(({ index, batchId }) => [index, batchId])).toEqual(
    readings.map(({ batchId }, index) => [index, batchId]),
  );
  const settled = verdicts.filter(({ kind }) => isSettled(kind)).map(({ batchId }) => batchId);
  expect([...settledBatchIds].sort()).toEqual([...new Set(settled)].sort());
  return verdicts.map(({ kind }) => kind);
}

/** Records the verdicts by batch id, and checks each settled reading against what is stored. */
class Ledger {
  private readonly verdicts = new Map<string, Kind[]>();
  private readonly found = new Set<string>();

  async send(caller: Caller, readings: readonly FullReading[]): Promise<Kind[]> {
    const kinds = await ingest(caller, readings);
    // A reading that was found once is not read again, because nothing here deletes.
    const settled = readings.filter((reading, i) => isSettled(kinds[i]) && !this.found.has(reading.batchId));
    for (const mac of new Set(settled.map(({ hardwareId }) => hardwareId))) {
      const stored = new Map((await readRange(mac)).map(({ id, ...fields }) => [fields.batchId, fields]));
      for (const reading of settled.filter(({ hardwareId }) => hardwareId === mac)) {
        expect(stored.get(reading.batchId)).toEqual(asStored(reading));
        this.found.add(reading.batchId);
      }
    }
    for (const [i, { batchId }] of readings.entries())
      this.verdicts.set(batchId, [...(this.verdicts.get(batchId) ?? []), kinds[i] as Kind]);
    return kinds;
  }

  /** Retries every reading that is not settled, as a device does. */
  async settle(caller: Caller, readings: readonly FullReading[]): Promise<void> {
    const isOpen = ({ batchId }: FullReading) => !this.verdicts.get(batchId)?.some(isSettled);
    for (const untilMs = performance.now() + patience * 10_000; ; await sleep(50)) {
      const open = readings.filter(isOpen);
      if (open.length === 0) break;
      if (performance.now() > untilMs) throw new Error(`${open.length} readings were not settled`);
      for (const call of chunked(open, 100)) await this.send(caller, call);
    }
    // No reading may be STORED twice, and none has a verdict that only a mistake of the device would explain.
    for (const kinds of this.verdicts.values()) {
      expect(kinds.filter((kind) => kind === 'STORED').length).toBeLessThanOrEqual(1);
      expect(kinds.filter((kind) => kind === 'CONFLICT' || kind === 'REJECTED')).toEqual([]);
    }
  }
}

/** Each call two to five times, shuffled, each time with its readings in another order. */
const repeated = (calls: readonly FullReading[][], random: () => number) =>
  shuffled(
    calls.flatMap((call) => Array.from({ length: 2 + Math.floor(random() * 4) }, () => shuffled(call, random))),
    random,
  );

const onReads: Fault[] = [
  'throttle',
  'error-before',
  'error-after',
  'drop-reply',
  'no-reply',
  'no-reply-after',
  'partial-batch',
];
const onWrites: Fault[] = [
  'throttle',
  'conflict',
  'error-before',
  'error-after',
  'drop-reply',
  'no-reply',
  'no-reply-after',
];
const cases = [
  ...onReads.map((fault) => ['BatchGetItem', 'devices', fault] as const),
  ...[...onWrites, 'partial-statements' as const].flatMap((fault) =>
    // Markers with feed rows, and segments.
    (['processed_batches', 'device_readings'] as const).map(
      (table) => ['BatchExecuteStatement', table, fault] as const,
    ),
  ),
  ...(['throttle', 'drop-reply', 'no-reply'] as const).map((fault) => ['UpdateItem', 'devices', fault] as const),
];

describe('ingest with a fault of DynamoDB', () => {
  it.each(cases)(
    '(%s on %s, %s) succeeds, and stores each reading of repeated calls once',
    async (operation, table, fault) => {
      const random = fixedRandom();
      const first = fault.startsWith('no-reply') ? 1 : 2;
      const macs = await newDevices(3);
      const ledger = new Ledger();
      clock.advance(61_000); // so that lastSeenAt of each device is due
      const rule = proxy.inject({ operation, table, fault, nth: { first } });
      const alone = readingsFor(macs, 2, random);
      expect(await ledger.send(faulty, alone)).toEqual(alone.map(() => 'STORED'));
      expect(rule.hits).toBe(first);
      const seenAtMs = async () =>
        Promise.all(
          macs.map(async (hardwareId) =>
            Date.parse(
              (await direct.admin.ask(op.DeviceOfDocument, { orgId, hardwareId })).org?.device?.lastSeenAt ?? '',
            ),
          ),
        );
      const seen: number[] = [];
      // The response waits only briefly for the update of lastSeenAt.
      await untilWell(10_000, async () => {
        seen.splice(0, seen.length, ...(await seenAtMs()));
        for (const ms of seen) expect(clock.nowMs() - ms).toBeLessThan(patience * 61_000);
      });

      proxy.clear();
      clock.advance(61_000);
      // A fault without reply is slow, and was tested once above.
      if (!fault.startsWith('no-reply')) for (const nth of [1, 3, 4]) proxy.inject({ operation, table, fault, nth });
      const readings = readingsFor(macs, 6, random).map((reading) => ({ ...reading, batchId: `x${reading.batchId}` }));
      // Split in two ways, so that most calls have both stored and new readings.
      const sends = repeated(
        [...chunked(shuffled(readings, random), 6), ...chunked(shuffled([...alone, ...readings], random), 8)],
        random,
      );
      await withInFlight(8, sends, (call, at) => ledger.send(at % 2 ? sound : faulty, call));
      await ledger.settle(faulty, readings);
      await expectExactly([...alone, ...readings]);
      for (const [i, ms] of (await seenAtMs()).entries()) expect(ms).toBeGreaterThan(seen[i] as number);
    },
  );

  it('(many kinds at once) stores each reading once, through two gateways and with repeats in one call', async () => {
    const random = fixedRandom(seed + 1);
    const macs = await newDevices(10);
    const readings = readingsFor(macs, 20, random);
    const ledger = new Ledger();
    clock.advance(61_000);
    const faults: [string, string, Fault][] = [
      ['BatchExecuteStatement', 'processed_batches', 'drop-reply'],
      ['BatchExecuteStatement', 'processed_batches', 'conflict'],
      ['BatchExecuteStatement', 'device_readings', 'error-after'],
      ['BatchExecuteStatement', 'device_readings', 'throttle'],
      ['BatchExecuteStatement', 'device_readings', 'partial-statements'],
      ['BatchGetItem', 'processed_batches', 'partial-batch'],
      ['BatchGetItem', 'devices', 'partial-batch'],
      ['UpdateItem', 'devices', 'drop-reply'],
    ];
    const rules = faults.map(([operation, table, fault], i) => proxy.inject({ operation, table, fault, nth: 1 + i }));
    for (const nth of [9, 12, 15, 18])
      proxy.inject({ operation: 'BatchExecuteStatement', fault: nth % 2 ? 'error-after' : 'drop-reply', nth });
    const calls = [shuffled(readings, random), shuffled(readings, random)]
      .flatMap((all) => chunked(all, 50))
      .map((call) => [...call, ...call.slice(0, 10)]);
    await withInFlight(8, repeated(calls, random), (call, at) => ledger.send(at % 2 ? sound : faulty, call));
    expect(rules.map(({ hits }) => hits)).toEqual(rules.map(() => 1));
    await ledger.settle(faulty, readings);
    await expectExactly(readings);
  });

  it.each<Fault>(['drop-reply', 'error-after', 'conflict'])(
    '(%s) stores one of two contents under one batch id, and acknowledges only that one',
    async (fault) => {
      const random = fixedRandom();
      const [mac] = (await newDevices(1)) as [string];
      const firsts = readingsFor([mac], 20, random);
      const others = firsts.map((reading) => ({ ...reading, firmwareVersion: 'another' }));
      for (const nth of [1, 2, 4])
        for (const operation of ['BatchExecuteStatement', 'PutItem'])
          proxy.inject({ operation, table: 'device_readings', fault, nth });
      const winners: FullReading[] = [];
      const pairs = firsts.flatMap((reading, i) => [
        { caller: i % 2 ? faulty : sound, reading },
        { caller: i % 2 ? sound : faulty, reading: others[i] as FullReading },
      ]);
      await withInFlight(8, pairs, async ({ caller, reading }) => {
        for (let kind: Kind | undefined = 'RETRY'; kind === 'RETRY'; ) {
          [kind] = await ingest(caller, [reading]);
          if (isSettled(kind)) winners.push(reading);
          else expect(kind === 'CONFLICT' || kind === 'RETRY').toBe(true);
        }
      });
      expect(winners.length).toBe(firsts.length);
      await expectExactly(winners);
    },
  );
});

describe('ingest with a stale read', () => {
  const ofDevices = { operation: 'BatchGetItem', table: 'devices', fault: 'stale-read' } as const;

  it('accepts readings of a device that was registered a moment ago', async () => {
    const random = fixedRandom();
    const [known] = (await newDevices(1)) as [string];
    const fresh = [newMac(), newMac()];
    const readings = readingsFor([known, ...fresh], 3, random);
    const [lone] = readings.slice(-1) as [FullReading];
    expect(await ingest(faulty, [lone])).toEqual(['REJECTED']);
    const isKnown = (reading: FullReading) => reading.hardwareId === known;
    expect(await ingest(faulty, readings)).toEqual(
      readings.map((reading) => (isKnown(reading) ? 'STORED' : 'REJECTED')),
    );
    for (const mac of fresh) await register(mac);
    const rule = proxy.inject(ofDevices);
    expect(await ingest(faulty, [lone])).toEqual(['STORED']);
    expect(rule.hits).toBe(1);
    expect(await ingest(faulty, readings)).toEqual(
      readings.map((reading) => (isKnown(reading) || reading === lone ? 'DUPLICATE' : 'STORED')),
    );
    expect(rule.hits).toBe(2);
    await expectExactly(readings);
  });

  it('does not move lastSeenAt back', async () => {
    const [hardwareId] = (await newDevices(1)) as [string];
    const [one, two, three] = readingsFor([hardwareId], 3, fixedRandom()) as [FullReading, FullReading, FullReading];
    expect(await ingest(faulty, [one])).toEqual(['STORED']);
    clock.advance(120_000);
    expect(await ingest(sound, [two])).toEqual(['STORED']);
    const seenAt = async () =>
      (await direct.admin.ask(op.DeviceOfDocument, { orgId, hardwareId })).org?.device?.lastSeenAt;
    const seen = await seenAt();
    proxy.inject(ofDevices);
    expect(await ingest(faulty, [three])).toEqual(['STORED']);
    expect(proxy.calls.filter(({ operation }) => operation === 'UpdateItem').length).toBeGreaterThan(0);
    expect(await seenAt()).toBe(seen);
    await expectExactly([one, two, three]);
  });
});

it('stores each of 2000 readings of 200 devices once if every fifth is sent twice', async () => {
  const random = fixedRandom();
  const macs = await newDevices(200);
  const readings = readingsFor(macs, 10, random);
  const sent = shuffled([...readings, ...readings.filter((_, i) => i % 5 === 0)], random);
  const verdicts = new Map<string, Kind[]>();
  // Readings that the engine is too busy for are sent again, as a device does.
  let open = chunked(sent, 100);
  for (let inFlight = 16; open.length > 0; inFlight = 2) {
    const again: FullReading[] = [];
    await withInFlight(inFlight, open, async (call, at) => {
      const kinds = await ingest(at % 2 ? faulty : sound, call);
      for (const [i, reading] of call.entries()) {
        verdicts.set(reading.batchId, [...(verdicts.get(reading.batchId) ?? []), kinds[i] as Kind]);
        if (kinds[i] === 'RETRY') again.push(reading);
      }
    });
    open = chunked(again, 100);
  }
  for (const [i, { batchId }] of readings.entries()) {
    const kinds = verdicts.get(batchId) ?? [];
    const settled = kinds.filter((kind) => kind !== 'RETRY').sort();
    // A reading with the verdict RETRY may be stored nevertheless. Then no call returned STORED for it.
    if (kinds.length > settled.length)
      expect(settled.filter((kind) => kind !== 'DUPLICATE').length).toBeLessThanOrEqual(1);
    else expect(settled).toEqual(i % 5 === 0 ? ['DUPLICATE', 'STORED'] : ['STORED']);
  }
  await expectExactly(readings);
});

describe('ingest during an outage', () => {
  it('of reads fails as a whole with SERVICE_UNAVAILABLE, and rejects no device as unknown', async () => {
    const readings = readingsFor(await newDevices(3), 2, fixedRandom());
    const rule = proxy.inject({ operation: 'BatchGetItem', table: 'devices', fault: 'partial-batch' });
    const { data, errors } = await faulty.send(op.IngestDocument, { input: { readings } });
    expect([data, errors?.[0]?.extensions]).toMatchObject([null, unavailable]);
    expect(rule.hits).toBeGreaterThan(2);
    proxy.clear();
    expect(await ingest(faulty, readings)).toEqual(readings.map(() => 'STORED'));
    await expectExactly(readings);
  });

  it('of updates of lastSeenAt stores the readings nevertheless', async () => {
    const readings = readingsFor(await newDevices(20), 2, fixedRandom());
    clock.advance(61_000);
    const rule = proxy.inject({ operation: 'UpdateItem', table: 'devices', fault: 'error-before' });
    expect(await ingest(faulty, readings)).toEqual(readings.map(() => 'STORED'));
    expect(rule.hits).toBeGreaterThanOrEqual(20);
    await expectExactly(readings);
  });

  const markers = { operation: 'BatchExecuteStatement', table: 'processed_batches' };
  const segments = { operation: 'PutItem', table: 'device_readings' };

  it.each<[string, Fault, Kind, Pick<Rule, 'operation' | 'table'>]>([
    ['markers', 'throttle', 'STORED', markers],
    ['markers', 'conflict', 'STORED', markers],
    ['markers', 'error-before', 'STORED', markers],
    ['markers', 'error-after', 'STORED', markers],
    ['markers', 'drop-reply', 'STORED', markers],
    ['segments', 'throttle', 'STORED', segments],
    ['segments', 'conflict', 'STORED', segments],
    ['segments', 'error-before', 'STORED', segments],
    ['segments', 'error-after', 'DUPLICATE', segments],
    ['segments', 'drop-reply', 'DUPLICATE', segments],
  ])('of writes of %s (%s) returns RETRY for each reading, and the retry returns %s', async (_, fault, then, rule) => {
    const macs = await newDevices(5);
    const hourMs = 3_600_000;
    // In the middle of an hour, so that each call below writes one segment, and one after the other, so that segments
    // share no call with the markers of others.
    clock.advance(hourMs - (clock.nowMs() % hourMs) + hourMs / 2);
    const readings = readingsFor(macs, 20, fixedRandom());
    proxy.inject({ ...rule, fault });
    for (const call of chunked(readings, 20)) expect(await ingest(faulty, call)).toEqual(call.map(() => 'RETRY'));
    await expectExactly(then === 'STORED' ? [] : readings, macs);
    proxy.clear();
    expect(await ingest(faulty, readings)).toEqual(readings.map(() => then));
    await expectExactly(readings);
  });

  it('of everything acknowledges nothing that is not stored, and recovers within 10 s', async () => {
    const random = fixedRandom();
    const macs = await newDevices(5);
    const readings = readingsFor(macs, 20, random);
    const ledger = new Ledger();
    const half = readings.filter((_, i) => i % 2 === 0);
    expect(await ledger.send(faulty, half)).toEqual(half.map(() => 'STORED'));
    proxy.inject({ fault: 'refuse' });
    for (const startedMs = performance.now(); performance.now() - startedMs < 2000; await sleep(200)) {
      const kinds = await Promise.all(chunked(shuffled(readings, random), 25).map((call) => ledger.send(faulty, call)));
      expect(new Set(kinds.flat())).toEqual(new Set(['RETRY']));
    }
    await expectExactly(half);
    proxy.clear();
    await untilWell(10_000, async () => expect((await ledger.send(faulty, readings)).every(isSettled)).toBe(true));
    await ledger.settle(faulty, readings);
    await expectExactly(readings);
  });
});
