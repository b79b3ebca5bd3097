import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { type DeviceRef, type Registration, registrationIssues } from '../../src/devices/device.js';
import { readingKey, readingRange, readingSortKey } from '../../src/devices/device-keys.js';
import { ReadingFeed } from '../../src/devices/reading.feed.js';
import {
  batchIdPattern,
  type Health,
  healths,
  type Metric,
  metricNames,
  metrics,
  parseReading,
  type Reading,
  type RejectionCode,
  type SensorName,
  type SentReading,
  sensorNames,
} from '../../src/devices/reading.js';
import type { ReadingPosition, ReadingStore } from '../../src/devices/reading.store.js';
import { addTo, emptySums, pointsOf, type SeriesRange, seriesIssues } from '../../src/devices/series.js';
import { conflict, rejected, retry, verdictAfter } from '../../src/devices/verdict.js';
import { descriptionIssues, formatApiKey, hashApiKey, keyIdIn } from '../../src/identity/api-key.js';
import { silentLog } from '../../src/lib/log.js';
import { sleep } from '../../src/lib/timers.js';

interface Measured {
  readonly atMs: number;
  readonly value: number;
}

function seriesOf(range: SeriesRange, measured: readonly Measured[]) {
  const sums = emptySums(range);
  for (const { atMs, value } of measured) addTo(sums, range, atMs, value);
  return pointsOf(range, sums);
}

const orgId = '00000000-0000-4000-8000-000000000000';
const mac = 'AA:BB:CC:DD:EE:FF';
const bootId = '7b1f7a52-41d3-4c59-9e7c-3f6f9a0c2f11';
const nowMs = Date.UTC(2026, 5, 1, 12);
const minuteMs = 60_000;
const paths = (issues: readonly { readonly path: string }[]) => issues.map(({ path }) => path);
const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);
const features = (...named: string[]) => named.map((name) => ({ name, enabled: true }));

describe('registrationIssues', () => {
  const sound: Registration = {
    hardwareId: mac,
    bootId,
    firmwareVersion: '1.0.0',
    capabilities: { sensors: ['bme280'], features: [] },
  };
  const sensors = (...named: string[]): Partial<Registration> => ({ capabilities: { sensors: named, features: [] } });
  const withFeatures = (...named: string[]): Partial<Registration> => ({
    capabilities: { sensors: [], features: features(...named) },
  });

  it.each<[string, Partial<Registration>, string[]]>([
    ['a sound one', {}, []],
    ['one of nothing but a board', { capabilities: { sensors: [], features: [] } }, []],
    ['the least address', { hardwareId: '00:00:00:00:00:00' }, []],
    ['an address in lower case', { hardwareId: mac.toLowerCase() }, []],
    [
      'an address with a ligature that becomes FF in upper case',
      { hardwareId: 'AA:BB:CC:DD:EE:\uFB00' },
      ['input.hardwareId'],
    ],
    ['an address with dashes', { hardwareId: mac.replaceAll(':', '-') }, ['input.hardwareId']],
    ['an address of five', { hardwareId: mac.slice(3) }, ['input.hardwareId']],
    ['an address of seven', { hardwareId: `${mac}:00` }, ['input.hardwareId']],
    ['an address and a newline', { hardwareId: `${mac}\n` }, ['input.hardwareId']],
    ['an address that is no hex', { hardwareId: 'GG:BB:CC:DD:EE:FF' }, ['input.hardwareId']],
    ['no address', { hardwareId: '' }, ['input.hardwareId']],
    ['a boot id in upper case', { bootId: bootId.toUpperCase() }, []],
    ['a boot id of version 1', { bootId: bootId.replace('-4c', '-1c') }, ['input.bootId']],
    ['a boot id of another variant', { bootId: bootId.replace('-9', '-c') }, ['input.bootId']],
    ['no boot id', { bootId: '' }, ['input.bootId']],
    ['a firmware of one character', { firmwareVersion: '1' }, []],
    ['a firmware of 64', { firmwareVersion: 'v'.repeat(64) }, []],
    ['a firmware of 65', { firmwareVersion: 'v'.repeat(65) }, ['input.firmwareVersion']],
    ['no firmware', { firmwareVersion: '' }, ['input.firmwareVersion']],
    ['a firmware with a newline', { firmwareVersion: '1.0\n' }, ['input.firmwareVersion']],
    ['no name', { friendlyName: undefined }, []],
    ['the name null', { friendlyName: null }, []],
    ['a name of every kind of character', { friendlyName: ' Bed #1 ~ "x"' }, []],
    ['a name of 64', { friendlyName: 'x'.repeat(64) }, []],
    ['a name of 65', { friendlyName: 'x'.repeat(65) }, ['input.friendlyName']],
    ['an empty name', { friendlyName: '' }, ['input.friendlyName']],
    ['a name of spaces', { friendlyName: '  ' }, ['input.friendlyName']],
    ['a name that is not ASCII', { friendlyName: 'Gewächshaus' }, ['input.friendlyName']],
    ['a name with a delete character', { friendlyName: 'a\u007f' }, ['input.friendlyName']],
    ['32 sensors', sensors(...names(32)), []],
    ['33 sensors', sensors(...names(33)), ['input.capabilities.sensors']],
    ['32 features', withFeatures(...names(32)), []],
    ['33 features', withFeatures(...names(33)), ['input.capabilities.features']],
    ['names of 32', sensors('a'.repeat(32)), []],
    ['names of 33', sensors('a'.repeat(33)), ['input.capabilities.sensors.0']],
    ['a name that begins with a digit', sensors('ok', '1a'), ['input.capabilities.sensors.1']],
    ['a name that begins with an underscore', withFeatures('__proto__'), ['input.capabilities.features.0']],
    ['a name in upper case', withFeatures('Deep'), ['input.capabilities.features.0']],
    ['a name of nothing', sensors(''), ['input.capabilities.sensors.0']],
    ['names of objects', withFeatures('constructor', 'valueof'), []],
    ['a sensor named twice', sensors('a', 'b', 'a'), ['input.capabilities.sensors.2']],
    ['a feature named twice', withFeatures('a', 'a'), ['input.capabilities.features.1']],
    ['a sensor and a feature of one name', { capabilities: { sensors: ['a'], features: features('a') } }, []],
    [
      'everything wrong',
      {
        hardwareId: '',
        bootId: '',
        firmwareVersion: '',
        friendlyName: '',
        capabilities: { sensors: ['A'], features: features('A') },
      },
      [
        'hardwareId',
        'bootId',
        'firmwareVersion',
        'friendlyName',
        'capabilities.sensors.0',
        'capabilities.features.0',
      ].map((field) => `input.${field}`),
    ],
  ])('finds of %s what is wrong with it', (_, change, expected) => {
    expect(paths(registrationIssues({ ...sound, ...change }))).toEqual(expected);
  });
});

const sent = {
  hardwareId: mac,
  batchId: 'boot-1:0001',
  timestampMs: nowMs - minuteMs,
  bootId,
  firmwareVersion: '1.0.0',
  sensors: { bme280TempC: 21.5, humidityPct: 40 },
  sensorStatus: { bme280: 'OK' },
};
const judge = (change: Partial<SentReading>, at = nowMs): RejectionCode | 'ok' => {
  const parsed = parseReading(orgId, { ...sent, ...change }, at);
  return 'rejection' in parsed ? parsed.rejection.code : 'ok';
};
function accepted(reading: SentReading, at = nowMs) {
  const parsed = parseReading(orgId, reading, at);
  if ('rejection' in parsed) throw new Error(parsed.rejection.message);
  return parsed;
}
const hashOf = (change: Partial<SentReading>) => accepted({ ...sent, ...change }).hash;

describe('parseReading', () => {
  it.each<[string, string, RejectionCode | 'ok']>([
    ['one character', 'a', 'ok'],
    ['256 characters', 'a'.repeat(256), 'ok'],
    ['257 characters', 'a'.repeat(257), 'INVALID_BATCH_ID'],
    ['nothing', '', 'INVALID_BATCH_ID'],
    ['every kind of character', 'AZaz09_.:-', 'ok'],
    ['colons alone', '::', 'ok'],
    ['a hash', 'a#b', 'INVALID_BATCH_ID'],
    ['a slash', 'a/b', 'INVALID_BATCH_ID'],
    ['a tilde', 'a~', 'INVALID_BATCH_ID'],
    ['a space', 'a b', 'INVALID_BATCH_ID'],
    ['a newline at its end', 'a\n', 'INVALID_BATCH_ID'],
    ['what is not ASCII', 'é', 'INVALID_BATCH_ID'],
  ])('judges a batch id of %s', (_, batchId, expected) => {
    expect(judge({ batchId })).toBe(expected);
  });

  it.each(['', mac.slice(1), `${mac}\n`, 'not a device'])('has no device under the address %j', (hardwareId) => {
    expect(judge({ hardwareId })).toBe('DEVICE_NOT_FOUND');
  });

  const first = Date.UTC(2000, 0, 1);
  const end = Date.UTC(2100, 0, 1);
  it.each<[string, number, RejectionCode | 'ok', number]>([
    ['the first of 2000', first, 'ok', nowMs],
    ['a millisecond before it', first - 1, 'INVALID_TIMESTAMP', nowMs],
    ['zero', 0, 'INVALID_TIMESTAMP', nowMs],
    ['a negative one', -first, 'INVALID_TIMESTAMP', nowMs],
    ['seconds for milliseconds', Math.floor(nowMs / 1000), 'INVALID_TIMESTAMP', nowMs],
    ['microseconds for milliseconds', nowMs * 1000, 'INVALID_TIMESTAMP', nowMs],
    ['ten minutes ahead', nowMs + 10 * minuteMs, 'ok', nowMs],
    ['a millisecond more', nowMs + 10 * minuteMs + 1, 'INVALID_TIMESTAMP', nowMs],
    ['the last of 2099', end - 1, 'ok', end],
    ['the first of 2100', end, 'INVALID_TIMESTAMP', end],
    ['half a millisecond', nowMs - 0.5, 'INVALID_TIMESTAMP', nowMs],
    ['no number', Number.NaN, 'INVALID_TIMESTAMP', nowMs],
    ['no end', Number.POSITIVE_INFINITY, 'INVALID_TIMESTAMP', nowMs],
    ['a negative infinity', Number.NEGATIVE_INFINITY, 'INVALID_TIMESTAMP', nowMs],
  ])('judges the time of %s', (_, timestampMs, expected, at) => {
    expect(judge({ timestampMs }, at)).toBe(expected);
  });

  it.each<[string, string, RejectionCode | 'ok']>([
    ['of version 4', bootId, 'ok'],
    ['in upper case', bootId.toUpperCase(), 'ok'],
    ['of version 7', bootId.replace('-4c', '-7c'), 'INVALID_UUID'],
    ['of all zeros', '00000000-0000-0000-0000-000000000000', 'INVALID_UUID'],
    ['of another variant', bootId.replace('-9', '-7'), 'INVALID_UUID'],
    ['without dashes', bootId.replaceAll('-', ''), 'INVALID_UUID'],
    ['in braces', `{${bootId}}`, 'INVALID_UUID'],
    ['with a newline', `${bootId}\n`, 'INVALID_UUID'],
    ['of nothing', '', 'INVALID_UUID'],
  ])('judges a boot id %s', (_, id, expected) => {
    expect(judge({ bootId: id })).toBe(expected);
  });

  it.each<[string, Partial<SentReading>, RejectionCode | 'ok']>([
    ['a firmware of 64', { firmwareVersion: 'v'.repeat(64) }, 'ok'],
    ['a firmware of 65', { firmwareVersion: 'v'.repeat(65) }, 'INVALID_VALUE'],
    ['no firmware', { firmwareVersion: '' }, 'INVALID_VALUE'],
    ['the name null', { friendlyName: null }, 'ok'],
    ['a name', { friendlyName: 'Bed 1' }, 'ok'],
    ['an empty name', { friendlyName: '' }, 'INVALID_VALUE'],
    ['a name that is not ASCII', { friendlyName: 'é' }, 'INVALID_VALUE'],
    ['no sensor at all', { sensors: {}, sensorStatus: {} }, 'ok'],
  ])('judges %s', (_, change, expected) => {
    expect(judge(change)).toBe(expected);
  });

  // As the design page has them.
  const ranges: [Metric, number, number][] = [
    ['bme280TempC', -40, 85],
    ['ds18b20TempC', -55, 125],
    ['humidityPct', 0, 100],
    ['pressureHpa', 300, 1100],
    ['soilMoisturePct', 0, 100],
  ];

  it('has a range for every metric', () => {
    expect(ranges.map(([metric]) => metric).sort()).toEqual([...metricNames].sort());
    expect(metricNames.map((metric) => metrics[metric].enumName.toLowerCase())).toEqual(
      metricNames.map((metric) => metrics[metric].attribute),
    );
  });

  it.each(ranges)(
    'takes %s from %d to %d, both included, and says of anything else what it may be',
    (metric, min, max) => {
      const verdict = (value: unknown) => judge({ sensors: { [metric]: value } });
      for (const value of [min, max, min + 0.001, max - 0.001, (min + max) / 2])
        expect([value, verdict(value)]).toEqual([value, 'ok']);
      for (const value of [
        null,
        undefined,
        String(max),
        [max],
        {},
        true,
        min - 0.001,
        max + 0.001,
        min - 1,
        max + 1,
        Number.NaN,
        Number.POSITIVE_INFINITY,
        Number.NEGATIVE_INFINITY,
        1e308,
      ]) {
        expect([value, verdict(value)]).toEqual([value, 'INVALID_VALUE']);
      }
      expect(parseReading(orgId, { ...sent, sensors: { [metric]: max + 1 } }, nowMs)).toMatchObject({
        rejection: { message: expect.stringContaining(`sensors.${metric}: must be from ${min} to ${max}`) },
      });
    },
  );

  it('names the first rule broken, in the order of the rules', () => {
    const broken: [Partial<SentReading>, RejectionCode, string][] = [
      [{ batchId: '#' }, 'INVALID_BATCH_ID', 'batchId'],
      [{ hardwareId: 'x' }, 'DEVICE_NOT_FOUND', 'hardwareId'],
      [{ timestampMs: 0.5 }, 'INVALID_TIMESTAMP', 'timestampMs'],
      [{ bootId: 'x' }, 'INVALID_UUID', 'bootId'],
      [{ firmwareVersion: '' }, 'INVALID_VALUE', 'firmwareVersion'],
      [{ friendlyName: '' }, 'INVALID_VALUE', 'friendlyName'],
      [{ sensors: { bme280TempC: 86, humidityPct: 101 } }, 'INVALID_VALUE', 'sensors.bme280TempC'],
    ];
    broken.forEach(([, code, field], i) => {
      const worse: SentReading = Object.assign({}, sent, ...broken.slice(i).map(([change]) => change));
      expect(parseReading(orgId, worse, nowMs)).toEqual({
        rejection: { code, message: expect.stringMatching(`^${field}: `) },
      });
    });
  });

  it('gives what was sent, with the address in upper case and the boot id in lower case', () => {
    const { reading } = accepted({
      ...sent,
      hardwareId: mac.toLowerCase(),
      bootId: bootId.toUpperCase(),
      friendlyName: null,
      sensors: { bme280TempC: 0, pressureHpa: 1013 },
      sensorStatus: { bme280: 'ok', ds18b20: 'ERROR' },
    });
    const { batchId, timestampMs, firmwareVersion } = sent;
    expect(reading).toStrictEqual({
      nodeType: 'Reading',
      orgId,
      hardwareId: mac,
      batchId,
      timestampMs,
      bootId,
      firmwareVersion,
      sensors: { bme280TempC: 0, pressureHpa: 1013 },
      sensorStatus: { bme280: 'OK', ds18b20: 'ERROR' },
    });
    expect(accepted({ ...sent, friendlyName: 'Bed 1' }).reading.friendlyName).toBe('Bed 1');
  });
});

it.each([5e-324, 1e-200, -1e-131, 9e-10])(
  'a value of %p, which no store would keep, is rejected and spoils nothing else',
  (bme280TempC) => {
    const sent = {
      hardwareId: mac,
      batchId: 'b',
      timestampMs: nowMs,
      bootId,
      firmwareVersion: '1',
      sensors: { bme280TempC },
      sensorStatus: {},
    };
    expect(parseReading(orgId, sent, nowMs)).toMatchObject({ rejection: { code: 'INVALID_VALUE' } });
  },
);

describe('the hash of a content', () => {
  const value = (metric: Metric) =>
    fc
      .double({ min: metrics[metric].min, max: metrics[metric].max, noNaN: true })
      .map((value) => (Math.abs(value) < 1e-9 ? 0 : value));
  const health = fc.constantFrom<Health>(...healths);
  const anyReading = fc.record({
    hardwareId: fc.constant(mac),
    batchId: fc.stringMatching(batchIdPattern),
    timestampMs: fc.integer({ min: Date.UTC(2000, 0, 1), max: nowMs }),
    bootId: fc.uuid({ version: 4 }),
    firmwareVersion: fc.stringMatching(/^[!-~]{1,8}$/),
    friendlyName: fc.option(fc.stringMatching(/^[!-~]{1,8}$/), { nil: null }),
    sensors: fc.record(Object.fromEntries(metricNames.map((metric) => [metric, value(metric)])), { requiredKeys: [] }),
    sensorStatus: fc.record({ bme280: health, ds18b20: health, soilMoisture: health }, { requiredKeys: [] }),
  });
  const reversed = <T extends object>(given: T): T => Object.fromEntries(Object.entries(given).reverse()) as T;

  it('is the same in any order, in either case of the state, whoever asks and whenever', () => {
    fc.assert(
      fc.property(anyReading, (given) => {
        const { hash } = accepted(given);
        expect(
          accepted(reversed({ ...given, sensors: reversed(given.sensors), sensorStatus: reversed(given.sensorStatus) }))
            .hash,
        ).toBe(hash);
        const inLowerCase = Object.fromEntries(
          Object.entries(given.sensorStatus).map(([sensor, state]) => [sensor, state?.toLowerCase()]),
        );
        expect(accepted({ ...given, sensorStatus: inLowerCase }).hash).toBe(hash);
        expect(accepted({ ...given, bootId: given.bootId.toUpperCase() }, nowMs + minuteMs).hash).toBe(hash);
      }),
    );
  });

  it('is the same only for the same content', () => {
    const content = ({ reading: { batchId: _, ...rest } }: ReturnType<typeof accepted>) =>
      JSON.stringify(rest, Object.keys(allNames).sort());
    const allNames = Object.fromEntries(
      [
        'timestampMs',
        'bootId',
        'firmwareVersion',
        'friendlyName',
        'sensors',
        'sensorStatus',
        ...metricNames,
        ...Object.keys(sensorNames),
      ].map((name) => [name, true]),
    );
    // Few values, so that two often agree in all but one.
    const few = fc.record({
      timestampMs: fc.constantFrom(nowMs, nowMs - 1),
      firmwareVersion: fc.constantFrom('1', '2'),
      friendlyName: fc.constantFrom(null, '1', 'null'),
      sensors: fc.record(Object.fromEntries(metricNames.map((metric) => [metric, fc.constant(metrics[metric].max)])), {
        requiredKeys: [],
      }),
      sensorStatus: fc.record({ bme280: health, ds18b20: health }, { requiredKeys: [] }),
    });
    fc.assert(
      fc.property(few, few, (a, b) => {
        const [one, two] = [a, b].map((change) => accepted({ ...sent, ...change } as SentReading)) as [
          ReturnType<typeof accepted>,
          ReturnType<typeof accepted>,
        ];
        return (one.hash === two.hash) === (content(one) === content(two));
      }),
      { numRuns: 1000 },
    );
  });

  it.each<[string, Partial<SentReading>]>([
    ['time', { timestampMs: sent.timestampMs + 1 }],
    ['boot', { bootId: bootId.replace('7b', '7c') }],
    ['firmware', { firmwareVersion: '1.0.1' }],
    ['name', { friendlyName: 'Bed 1' }],
    ['value', { sensors: { ...sent.sensors, bme280TempC: 21.6 } }],
    ['value by the least there is', { sensors: { ...sent.sensors, bme280TempC: 21.500000000000004 } }],
    ['value less', { sensors: { bme280TempC: 21.5 } }],
    ['value more', { sensors: { ...sent.sensors, soilMoisturePct: 0 } }],
    ['sensor with the value', { sensors: { ds18b20TempC: 21.5, humidityPct: 40 } }],
    ['state', { sensorStatus: { bme280: 'ERROR' } }],
    ['state less', { sensorStatus: {} }],
    ['sensor with the state', { sensorStatus: { ds18b20: 'OK' } }],
  ])('is another with another %s', (_, change) => {
    expect(hashOf(change)).not.toBe(hashOf({}));
  });

  it('is of what was sent, not of the id it was sent under', () => {
    expect(hashOf({ batchId: 'another' })).toBe(hashOf({}));
    expect(hashOf({ hardwareId: '00:00:00:00:00:01' })).toBe(hashOf({}));
  });

  it('does not tell minus zero from zero, nor a whole number from its float', () => {
    expect(hashOf({ sensors: { humidityPct: -0 } })).toBe(hashOf({ sensors: { humidityPct: 0 } }));
    expect(hashOf({ sensors: { humidityPct: Number('4.0e1') } })).toBe(hashOf({ sensors: { humidityPct: 40 } }));
    expect(judge({ sensors: { humidityPct: -0 } })).toBe('ok');
  });
});

describe('verdictAfter', () => {
  const bad = rejected({ code: 'INVALID_VALUE', message: 'x' });
  it.each([
    ['STORED', { kind: 'STORED' } as const, { kind: 'DUPLICATE' }, conflict],
    ['DUPLICATE', { kind: 'DUPLICATE' } as const, { kind: 'DUPLICATE' }, conflict],
    ['RETRY', retry, retry, retry],
    ['REJECTED', bad, 'undecided', 'undecided'],
    ['CONFLICT', conflict, 'undecided', 'undecided'],
  ])('judges the second of an id by a first that was %s', (_, first, same, other) => {
    expect([verdictAfter(first, true), verdictAfter(first, false)]).toEqual([same, other]);
  });
});

describe('a series', () => {
  const range: SeriesRange = { fromMs: nowMs, toMs: nowMs + 3_600_000, stepSecs: 60 };
  const yearSecs = 366 * 86_400;

  it.each<[string, Partial<SeriesRange>, string[]]>([
    ['a sound one', {}, []],
    ['the shortest step', { stepSecs: 1, toMs: nowMs + 1000 }, []],
    ['no step', { stepSecs: 0 }, ['stepSecs']],
    ['a step back', { stepSecs: -60 }, ['stepSecs']],
    ['a fraction of a step', { stepSecs: 1.5 }, ['stepSecs']],
    ['no number', { stepSecs: Number.NaN }, ['stepSecs']],
    ['a year', { stepSecs: yearSecs }, []],
    ['a year and a second', { stepSecs: yearSecs + 1 }, ['stepSecs']],
    ['no time at all', { toMs: nowMs }, ['from']],
    ['the end before the start', { toMs: nowMs - 1 }, ['from']],
    ['a millisecond', { toMs: nowMs + 1 }, []],
    ['1000 points', { stepSecs: 1, toMs: nowMs + 1_000_000 }, []],
    ['1000 points and a millisecond', { stepSecs: 1, toMs: nowMs + 1_000_001 }, ['stepSecs']],
  ])('of %s is allowed, or says what to change', (_, change, expected) => {
    expect(paths(seriesIssues({ ...range, ...change }))).toEqual(expected);
  });

  it('says how many points there would be', () => {
    expect(seriesIssues({ ...range, stepSecs: 1 })[0]?.message).toContain('3600 points');
  });

  const ranges = fc
    .record({
      fromMs: fc.integer({ min: 0, max: 5000 }),
      lengthMs: fc.integer({ min: 1, max: 60_000 }),
      stepSecs: fc.integer({ min: 1, max: 20 }),
    })
    .map(({ fromMs, lengthMs, stepSecs }): SeriesRange => ({ fromMs, toMs: fromMs + lengthMs, stepSecs }));
  const measuredIn = ({ fromMs, toMs }: SeriesRange): fc.Arbitrary<Measured[]> =>
    fc.array(
      fc.record({ atMs: fc.integer({ min: fromMs, max: toMs - 1 }), value: fc.integer({ min: -40, max: 1100 }) }),
      { maxLength: 60 },
    );

  it('puts each value into the one point whose time it falls into, and leaves none out', () => {
    fc.assert(
      fc.property(
        ranges.chain((given) => fc.tuple(fc.constant(given), measuredIn(given))),
        ([given, measured]) => {
          expect(seriesIssues(given)).toEqual([]);
          const points = seriesOf(given, measured);
          const stepMs = given.stepSecs * 1000;
          expect(points.map(({ at }) => at.getTime())).toEqual(
            Array.from(
              { length: Math.ceil((given.toMs - given.fromMs) / stepMs) },
              (_, i) => given.fromMs + i * stepMs,
            ),
          );
          expect(points.reduce((sum, { count }) => sum + count, 0)).toBe(measured.length);
          for (const { at, count, min, max, mean } of points) {
            const within = measured
              .filter(({ atMs }) => atMs >= at.getTime() && atMs < at.getTime() + stepMs)
              .map(({ value }) => value);
            const expected =
              within.length === 0
                ? { min: null, max: null, mean: null }
                : {
                    min: Math.min(...within),
                    max: Math.max(...within),
                    mean: within.reduce((sum, value) => sum + value, 0) / within.length,
                  };
            expect({ count, min, max, mean }).toEqual({ count: within.length, ...expected });
          }
        },
      ),
    );
  });

  it('is allowed exactly while it has 1000 points or fewer', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_000_000 }), fc.integer({ min: 1, max: 5 }), (lengthMs, stepSecs) => {
        const given = { fromMs: nowMs, toMs: nowMs + lengthMs, stepSecs };
        return (seriesIssues(given).length === 0) === seriesOf(given, []).length <= 1000;
      }),
    );
  });

  it('leaves out what was measured outside of it', () => {
    const short = { fromMs: 10_000, toMs: 20_000, stepSecs: 10 };
    const outside = [9999, 20_000, -5, 1e15].map((atMs) => ({ atMs, value: 1 }));
    expect(seriesOf(short, outside)).toEqual([{ at: new Date(10_000), count: 0, min: null, max: null, mean: null }]);
  });

  it('has a mean between its least and its largest, of floats too', () => {
    const value = fc.double({ min: -55, max: 1100, noNaN: true });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 50 }), (values) => {
        const [point] = seriesOf(
          { fromMs: 0, toMs: 1000, stepSecs: 1 },
          values.map((each) => ({ atMs: 0, value: each })),
        );
        const { min, max, mean } = point as { min: number; max: number; mean: number };
        expect([min, max]).toEqual([Math.min(...values), Math.max(...values)]);
        expect(mean).toBeGreaterThanOrEqual(min - 1e-9);
        expect(mean).toBeLessThanOrEqual(max + 1e-9);
      }),
    );
  });
});

describe('an API key', () => {
  const secretHex = fc.stringMatching(/^[0-9a-f]{64}$/);
  const pepper = Buffer.from('the key of a root, 32 bytes and more');
  const some = formatApiKey('01234567-89ab-4cde-8f01-23456789abcd', 'ab'.repeat(32));

  it('holds its id, and gives it back', () => {
    expect(some).toBe(`tgk_0123456789ab4cde8f0123456789abcd_${'ab'.repeat(32)}`);
    fc.assert(fc.property(fc.uuid(), secretHex, (keyId, secret) => keyIdIn(formatApiKey(keyId, secret)) === keyId));
  });

  it.each([
    ['nothing', ''],
    ['one in upper case', some.toUpperCase()],
    ['one with its hex in upper case', some.replaceAll('a', 'A')],
    ['one cut short', some.slice(0, -1)],
    ['one grown long', `${some}0`],
    ['one with a newline', `${some}\n`],
    ['one after a space', ` ${some}`],
    ['one without its prefix', some.slice(4)],
    ['a client secret', some.replace('tgk', 'tgs')],
    ['one with dashes', some.replace(/^tgk_.{32}/, 'tgk_01234567-89ab-4cde-8f01-23456789abcd')],
    ['one that is no hex', some.replace(/.$/, 'g')],
    ['one without its secret', some.slice(0, 36)],
    ['two', some + some],
  ])('is not found in %s', (_, text) => {
    expect(keyIdIn(text)).toBeUndefined();
  });

  it('is kept as HMAC-SHA-256 under the key of a root, in which it cannot be found', () => {
    const hash = hashApiKey(pepper, some);
    expect(hash).toBe(createHmac('sha256', pepper).update(some).digest('hex'));
    expect(hashApiKey(Buffer.concat([pepper, Buffer.from('x')]), some)).not.toBe(hash);
    fc.assert(
      fc.property(secretHex, secretHex, (a, b) => {
        const [one, two] = [a, b].map((secret) =>
          hashApiKey(pepper, formatApiKey('01234567-89ab-4cde-8f01-23456789abcd', secret)),
        );
        expect(one).not.toContain(a);
        return (one === two) === (a === b);
      }),
    );
  });

  it.each<[string, string, boolean]>([
    ['one character', 'x', true],
    ['256', 'x'.repeat(256), true],
    ['257', 'x'.repeat(257), false],
    ['nothing', '', false],
    ['spaces', '   ', false],
    ['tabs and newlines', '\t\n', false],
    ['a word among spaces', ' greenhouse ', true],
    ['what is not ASCII', 'Gewächshaus 🌱', true],
    ['half a character', '\ud83c', false],
  ])('may be described by %s: or not', (_, description, sound) => {
    expect(paths(descriptionIssues(description))).toEqual(sound ? [] : ['input.description']);
  });
});

describe('the keys of readings', () => {
  const batch = fc.oneof(
    fc.constantFrom('a', 'A', '-', ':', '.', '_', 'z', 'zz', '0'),
    fc.stringMatching(/^[A-Za-z0-9_.:-]{1,12}$/),
  );
  // Twelve digits until September 2001, thirteen from then on.
  const turn = 1_000_000_000_000;
  const moment = fc.oneof(
    fc.integer({ min: turn - 3, max: turn + 3 }),
    fc.integer({ min: Date.UTC(2000, 0, 1), max: turn - 1 }),
    fc.integer({ min: turn, max: Date.UTC(2100, 0, 1) - 1 }),
  );
  // As the store compares: by bytes.
  const compare = (a: string | number, b: string | number): number =>
    typeof a === 'number' ? Math.sign(a - Number(b)) : Buffer.compare(Buffer.from(a), Buffer.from(String(b)));

  it('sort by time, then by batch id', () => {
    fc.assert(
      fc.property(moment, batch, fc.option(moment), batch, (atMs, a, other, b) => {
        const otherMs = other ?? atMs;
        return (
          compare(readingSortKey(atMs, a), readingSortKey(otherMs, b)) === (compare(atMs, otherMs) || compare(a, b))
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('lie in a range from its start, included, to its end, excluded', () => {
    const near = fc.tuple(moment, fc.integer({ min: -2, max: 2 }), fc.integer({ min: 1, max: 3 }), batch);
    fc.assert(
      fc.property(near, ([atMs, shift, length, batchId]) => {
        const [fromMs, toMs] = [atMs + shift, atMs + shift + length];
        const [least, most] = readingRange(fromMs, toMs);
        const sortKey = readingSortKey(atMs, batchId);
        expect(compare(least, most)).toBe(-1);
        return (compare(sortKey, least) >= 0 && compare(sortKey, most) <= 0) === (atMs >= fromMs && atMs < toMs);
      }),
      { numRuns: 1000 },
    );
  });

  it.each<[string, number, number, number, boolean]>([
    ['the start', turn - 1, turn - 1, turn, true],
    ['the end', turn, turn - 1, turn, false],
    ['before the start', turn - 2, turn - 1, turn, false],
    ['all of time', Date.UTC(2000, 0, 1), 0, Date.UTC(2100, 0, 1), true],
    ['the last moment of all', Date.UTC(2100, 0, 1) - 1, 0, Date.UTC(2100, 0, 1), true],
  ])('at %s of a range', (_, atMs, fromMs, toMs, inside) => {
    const [least, most] = readingRange(fromMs, toMs);
    for (const batchId of ['-', '0', 'Z', '_', 'z'.repeat(256)]) {
      const sortKey = readingSortKey(atMs, batchId);
      expect(sortKey >= least && sortKey <= most).toBe(inside);
    }
  });

  it('begin with the org, and have room for the longest batch id', () => {
    const longest = readingKey({ orgId, hardwareId: mac, generation: '0123456789ab' }, nowMs, 'z'.repeat(256));
    expect(longest).toEqual({ hardware_id: `${orgId}/${mac}/0123456789ab`, ts_batch: `${nowMs}#${'z'.repeat(256)}` });
  });

  it('cannot be made of what could forge another', () => {
    for (const batchId of ['a#b', 'a/b', '', 'a\n'])
      expect(() => readingSortKey(nowMs, batchId)).toThrow('unfit for a key');
  });
});

it('names every sensor that has a state', () => {
  expect(Object.keys(sensorNames) as SensorName[]).toEqual(['bme280', 'ds18b20', 'soilMoisture']);
});

describe('the feed of readings', () => {
  let feed: ReadingFeed;
  afterEach(() => feed.stop());
  const ref = (hardwareId: string) => ({ orgId, hardwareId, generation: 'g' });
  const reading = (hardwareId: string, timestampMs: number) =>
    ({ hardwareId, timestampMs, batchId: String(timestampMs) }) as Reading;

  it('of a device that sends without end does not keep the others waiting', async () => {
    const quiet: Reading[] = [];
    const store = {
      latest: async () => undefined,
      listAfter: async ({ hardwareId }: DeviceRef, after: ReadingPosition | undefined, limit: number) => {
        if (hardwareId === 'quiet') return quiet.filter(({ timestampMs }) => timestampMs > (after?.timestampMs ?? 0));
        return Array.from({ length: limit }, (_, i) => reading('busy', (after?.timestampMs ?? 0) + i + 1));
      },
    } as unknown as ReadingStore;
    feed = new ReadingFeed(store, silentLog);
    feed.start();
    const [busy, other] = [await feed.subscribe(ref('busy')), await feed.subscribe(ref('quiet'))];
    const seen: number[] = [];
    void (async () => {
      for await (const { timestampMs } of busy) seen.push(timestampMs);
    })();
    while (seen.length < 600) await sleep(5);
    quiet.push(reading('quiet', 1));
    expect((await other.next()).value).toMatchObject({ hardwareId: 'quiet', timestampMs: 1 });
    expect(seen).toEqual(seen.map((_, i) => i + 1));
  });
});
