import fc from 'fast-check';
import { metricNames, type Reading, sensorsWithStatus } from '../../../src/devices/reading.js';
import {
  type BatchClaim,
  maxSegmentLength,
  newestFirst,
  packReadings,
  segmentGroups,
  unpack,
  unpackedReadings,
  unpackedSamples,
} from '../../../src/devices/segment.js';

const device = { orgId: '00000000-0000-4000-8000-000000000000', hardwareId: 'AA:BB:CC:DD:EE:FF' };
const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 5, 1, 12);

const printable = fc.stringMatching(/^[\x20-\x7e]{1,64}$/);
const value = fc.option(fc.double({ min: -55, max: 1100, noNaN: true }), { nil: undefined });
const health = fc.constantFrom(undefined, 'OK', 'ERROR');
const reading: fc.Arbitrary<Reading> = fc
  .record({
    batchId: fc.stringMatching(/^[A-Za-z0-9_.:-]{1,256}$/),
    timestampMs: fc.integer({ min: startMs, max: startMs + hourMs - 1 }),
    bootId: fc.uuid({ version: 4 }),
    firmwareVersion: printable,
    friendlyName: fc.option(printable, { nil: undefined }),
    sensors: fc.record(Object.fromEntries(metricNames.map((metric) => [metric, value]))),
    sensorStatus: fc.record(Object.fromEntries(sensorsWithStatus.map((sensor) => [sensor, health]))),
  })
  .map((each) => ({ nodeType: 'Reading', ...device, ...each }) as Reading);
const claimOf = (each: Reading, generation = 'g'): BatchClaim => ({
  reading: { reading: each, generation, hash: 'h' },
});
const withoutMinusZero = (each: Reading): unknown => JSON.parse(JSON.stringify(each));

describe('packed readings', () => {
  it('are unpacked as they were, oldest first', () => {
    fc.assert(
      fc.property(fc.array(reading, { minLength: 1, maxLength: 20 }), (readings) => {
        const packed = unpack(packReadings(readings, startMs));
        if (!packed) throw new Error('not unpacked');
        const sorted = readings.toSorted((a, b) => newestFirst(b, a));
        expect(unpackedReadings(packed, device, startMs).map(withoutMinusZero)).toEqual(sorted.map(withoutMinusZero));
        expect(unpackedSamples(packed, startMs).map(({ timestampMs, batchId }) => [timestampMs, batchId])).toEqual(
          sorted.map(({ timestampMs, batchId }) => [timestampMs, batchId]),
        );
      }),
    );
  });

  it('name what their readings share once', () => {
    const [one] = fc.sample(reading, 1) as [Reading];
    const many = Array.from({ length: 100 }, (_, i) => ({ ...one, batchId: String(i) }));
    expect(packReadings(many, startMs).split(one.bootId)).toHaveLength(2);
  });

  it.each(['', 'x', '{}', '[]', '[[],{}]', '[[],[[1,"b",0,0]]]', '[[["b","f",null]],[["1","b",0,0]]]', '[[],[7]]'])(
    'are not found in %j',
    (text) => expect(unpack(text)).toBeUndefined(),
  );
});

describe('the groups of a segment', () => {
  it('have readings of one device generation and one hour, in all each once', () => {
    const [one] = fc.sample(reading, 1) as [Reading];
    const claims = [
      claimOf({ ...one, timestampMs: startMs }),
      claimOf({ ...one, timestampMs: startMs + hourMs }),
      claimOf({ ...one, timestampMs: startMs + hourMs - 1 }),
      claimOf({ ...one, timestampMs: startMs }, 'other'),
      claimOf({ ...one, timestampMs: startMs, hardwareId: 'AA:BB:CC:DD:EE:00' }),
    ];
    expect(segmentGroups(claims)).toEqual([[claims[0], claims[2]], [claims[1]], [claims[3]], [claims[4]]]);
  });

  it('are split so that no packed text is too long', () => {
    fc.assert(
      fc.property(fc.array(reading, { minLength: 1, maxLength: 5 }), (some) => {
        const claims = Array.from({ length: 1200 }, (_, i) => claimOf(some[i % some.length] as Reading));
        const groups = segmentGroups(claims);
        expect(groups.flat()).toHaveLength(claims.length);
        for (const group of groups) {
          const text = packReadings(
            group.map(({ reading: each }) => each.reading),
            startMs,
          );
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxSegmentLength);
        }
      }),
      { numRuns: 10 },
    );
  });
});
