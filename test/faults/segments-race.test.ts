import { randomUUID } from 'node:crypto';
import type { ReadingsRef } from '../../src/devices/device.js';
import { readingsKey } from '../../src/devices/device-keys.js';
import type { Reading } from '../../src/devices/reading.js';
import { ReadingStore } from '../../src/devices/reading.store.js';
import { readingsIn } from '../../src/devices/segment.item.js';
import type { NewReading } from '../../src/devices/segment.js';
import { SegmentStore } from '../../src/devices/segment.store.js';
import type { Verdict } from '../../src/devices/verdict.js';
import { StoreClient } from '../../src/dynamo/client.js';
import { leanTransport } from '../../src/dynamo/lean-transport.js';
import { sdkTransport, type Transport } from '../../src/dynamo/transport.js';
import { systemClock } from '../../src/lib/clock.js';
import { sleep } from '../../src/lib/timers.js';
import { Chance, testSeed } from '../support/chance.js';
import { type StoreBench, startStoreBench } from './harness.js';

const callCount = 160;
const inFlight = 20;
const idCount = 40;
const hourMs = 3_600_000;
const startMs = Math.floor(Date.now() / hourMs) * hourMs - 5 * hourMs;
const retentionDays = { readings: 90, batches: 30 };
let device: ReadingsRef;
beforeEach(() => {
  device = { orgId: randomUUID(), hardwareId: 'AA:BB:CC:DD:EE:FF', generation: '0123456789ab' };
});

class Crash extends Error {}

/** What happens to one call: it crashes before or after a step, or it stalls before one. */
interface Plan {
  readonly crashAt?: number;
  readonly isAfter?: boolean;
  readonly stallAt?: number;
  readonly stalled?: () => Promise<void>;
}

let bench: StoreBench;
let engine: Transport;
beforeAll(async () => {
  bench = await startStoreBench();
  const { store } = bench.config;
  engine = store.client === 'sdk' ? sdkTransport(store) : leanTransport(store, systemClock);
});
afterAll(async () => {
  engine.close();
  await bench.stop();
});

/** A gateway that makes one call. It executes nothing more after it has crashed. */
function gatewayWith({ crashAt, isAfter, stallAt, stalled }: Plan) {
  let step = 0;
  let isDown = false;
  const transport: Transport = {
    decode: (item) => engine.decode(item),
    close: () => undefined,
    async send(call, input) {
      const nth = step++;
      if (nth === stallAt) await stalled?.();
      if (isDown || (nth === crashAt && !isAfter)) {
        isDown = true;
        throw new Crash('before a call');
      }
      const output = await engine.send(call, input);
      if (isDown || nth === crashAt) {
        isDown = true;
        throw new Crash('after a call');
      }
      return output;
    },
  };
  const client = new StoreClient(transport, bench.config.store.tablePrefix);
  return {
    store: new SegmentStore(client, systemClock, retentionDays, async () => 1),
    isDown: () => isDown,
    close: () => client.close(),
  };
}

/** One of two contents under a batch id. The other one has another time, mostly in another hour. */
function newReading(id: number, content: number): NewReading {
  const reading: Reading = {
    nodeType: 'Reading',
    orgId: device.orgId,
    hardwareId: device.hardwareId,
    batchId: `b${id}`,
    timestampMs: startMs + (id % 3) * hourMs + id * 1000 + content * (hourMs / 2 + 7),
    bootId: randomUUID(),
    firmwareVersion: `content ${content}`,
    sensors: { humidityPct: id },
    sensorStatus: {},
  };
  return { reading, generation: device.generation, hash: `hash ${content}` };
}

const segmentsOf = async () =>
  (await bench.truth.scan('device_readings')).items.filter(
    ({ hardware_id, readings }) => hardware_id === readingsKey(device).hardware_id && readings !== undefined,
  );

async function readBack(): Promise<Reading[]> {
  const range = { fromMs: startMs - hourMs, toMs: startMs + 10 * hourMs };
  return new ReadingStore(bench.truth, systemClock).list(device, range, 1000);
}

it('does not let a gateway that stalled before its segment store a reading that another has taken over', async () => {
  const readings = [1000, 1001, 1002].map((id) => newReading(id, 0));
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let markStalled: () => void = () => undefined;
  const isStalled = new Promise<void>((resolve) => {
    markStalled = resolve;
  });
  const stalled = async () => {
    markStalled();
    await released;
  };
  const late = gatewayWith({ stallAt: 1, stalled }).store.put(readings);
  await isStalled;
  const kinds = async (verdicts: Promise<readonly Verdict[]>) => (await verdicts).map(({ kind }) => kind);
  // Only two of them: the third stays with the stalled gateway, which must store it in another segment.
  expect(await kinds(gatewayWith({}).store.put(readings.slice(0, 2)))).toEqual(['STORED', 'STORED']);
  release();
  expect(await kinds(late)).toEqual(['DUPLICATE', 'DUPLICATE', 'STORED']);
  const ids = (await segmentsOf()).flatMap(readingsIn).map(({ batchId }) => batchId);
  expect(ids.filter((id) => /^b100\d$/.test(id)).toSorted()).toEqual(['b1000', 'b1001', 'b1002']);
});

it('loses nothing acknowledged, and stores nothing twice and no second content, with crashes and stalls', async () => {
  const chance = new Chance(testSeed);
  const acknowledged = new Map<string, string>();
  let [storedVerdicts, crashes, retries, conflicts] = [0, 0, 0, 0];

  const planOf = (): Plan => {
    const kind = chance.fraction();
    if (kind < 0.5) return { crashAt: chance.below(5), isAfter: chance.fraction() < 0.5 };
    if (kind > 0.8) return {};
    // Mostly before the segment is written, for longer than others wait for it.
    return { stallAt: chance.one([0, 1, 1, 1, 2, 3]), stalled: () => sleep(chance.below(900)) };
  };
  const put = async (plan: Plan, readings: readonly NewReading[]): Promise<void> => {
    const { store, isDown, close } = gatewayWith(plan);
    const verdicts = await store.put(readings).catch((error: unknown) => {
      if (!(error instanceof Crash)) throw error;
      return [];
    });
    close();
    // A gateway that crashed does not respond.
    if (isDown()) return void crashes++;
    for (const [i, { kind }] of verdicts.entries()) {
      const { reading, hash } = readings[i] as NewReading;
      if (kind === 'STORED') storedVerdicts++;
      if (kind === 'RETRY') retries++;
      if (kind === 'CONFLICT') conflicts++;
      if (kind !== 'STORED' && kind !== 'DUPLICATE') continue;
      expect(acknowledged.get(reading.batchId) ?? hash).toBe(hash);
      acknowledged.set(reading.batchId, hash);
    }
  };
  const newCall = (): NewReading[] => {
    const ids = new Set(Array.from({ length: 1 + chance.below(6) }, () => chance.below(idCount)));
    return [...ids].map((id) => newReading(id, chance.fraction() < 0.7 ? 0 : 1));
  };

  const calls = Array.from({ length: callCount }, () => ({ plan: planOf(), readings: newCall() }));
  const worker = async (): Promise<void> => {
    for (let call = calls.shift(); call; call = calls.shift()) await put(call.plan, call.readings);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  expect([crashes, retries + conflicts].every((count) => count > 20)).toBe(true);

  // What is acknowledged can be read, and is a duplicate when it is sent again.
  const contents = new Map((await readBack()).map((reading) => [reading.batchId, reading]));
  for (const [batchId, hash] of acknowledged)
    expect(`hash ${contents.get(batchId)?.firmwareVersion.slice(-1)}`).toBe(hash);
  // Every other batch id can still be stored, with one of its contents.
  for (let id = 0; id < idCount; id++) {
    for (const content of [0, 1]) await put({}, [newReading(id, content)]);
    expect(acknowledged.has(`b${id}`)).toBe(true);
  }
  const found = await readBack();
  expect(found.map(({ batchId }) => batchId).toSorted()).toEqual([...acknowledged.keys()].toSorted());
  expect(storedVerdicts).toBeLessThanOrEqual(idCount);

  // Not only the readers: the segments themselves have each reading once. And each of them has a feed row.
  const { items } = await bench.truth.scan('device_readings');
  const segments = await segmentsOf();
  expect(segments.flatMap(readingsIn)).toHaveLength(idCount);
  const rows = new Set(items.map(({ segment }) => segment));
  expect(segments.filter(({ ts_batch }) => !rows.has(ts_batch))).toEqual([]);
});
