import fc from 'fast-check';
import {
  batchIdPattern,
  type Health,
  healths,
  type Metric,
  metricNames,
  metrics,
  parseReading,
  type RejectionCode,
  type SensorName,
  type SentReading,
  sensorNames,
} from '../../../src/devices/reading.js';

const orgId = '00000000-0000-4000-8000-000000000000';
const mac = 'AA:BB:CC:DD:EE:FF';
const bootId = '7b1f7a52-41d3-4c59-9e7c-3f6f9a0c2f11';
const nowMs = Date.UTC(2026, 5, 1, 12);
const minuteMs = 60_000;

const sent = {
  hardwareId: mac,
  batchId: 'boot-1:0001',
  timestampMs: nowMs - minuteMs,
  bootId,
  firmwareVersion: '1.0.0',
  sensors: { bme280TempC: 21.5, humidityPct: 40 },
  sensorStatus: { bme280: 'OK' },
};
const codeOf = (change: Partial<SentReading>, at = nowMs): RejectionCode | 'ok' => {
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
    ['no characters', '', 'INVALID_BATCH_ID'],
    ['every kind of character', 'AZaz09_.:-', 'ok'],
    ['only colons', '::', 'ok'],
    ['a hash', 'a#b', 'INVALID_BATCH_ID'],
    ['a slash', 'a/b', 'INVALID_BATCH_ID'],
    ['a tilde', 'a~', 'INVALID_BATCH_ID'],
    ['a space', 'a b', 'INVALID_BATCH_ID'],
    ['a trailing newline', 'a\n', 'INVALID_BATCH_ID'],
    ['non-ASCII characters', 'é', 'INVALID_BATCH_ID'],
  ])('accepts or rejects a batch id of %s', (_, batchId, expected) => {
    expect(codeOf({ batchId })).toBe(expected);
  });

  it.each(['', mac.slice(1), `${mac}\n`, 'not a device'])(
    'rejects the invalid hardware id %j as DEVICE_NOT_FOUND',
    (hardwareId) => {
      expect(codeOf({ hardwareId })).toBe('DEVICE_NOT_FOUND');
    },
  );

  const first = Date.UTC(2000, 0, 1);
  const end = Date.UTC(2100, 0, 1);
  it.each<[string, number, RejectionCode | 'ok', number]>([
    ['the first millisecond of 2000', first, 'ok', nowMs],
    ['one millisecond before 2000', first - 1, 'INVALID_TIMESTAMP', nowMs],
    ['zero', 0, 'INVALID_TIMESTAMP', nowMs],
    ['a negative number', -first, 'INVALID_TIMESTAMP', nowMs],
    ['seconds for milliseconds', Math.floor(nowMs / 1000), 'INVALID_TIMESTAMP', nowMs],
    ['microseconds for milliseconds', nowMs * 1000, 'INVALID_TIMESTAMP', nowMs],
    ['ten minutes ahead', nowMs + 10 * minuteMs, 'ok', nowMs],
    ['ten minutes and a millisecond ahead', nowMs + 10 * minuteMs + 1, 'INVALID_TIMESTAMP', nowMs],
    ['the last millisecond of 2099', end - 1, 'ok', end],
    ['the first millisecond of 2100', end, 'INVALID_TIMESTAMP', end],
    ['half a millisecond', nowMs - 0.5, 'INVALID_TIMESTAMP', nowMs],
    ['NaN', Number.NaN, 'INVALID_TIMESTAMP', nowMs],
    ['infinity', Number.POSITIVE_INFINITY, 'INVALID_TIMESTAMP', nowMs],
    ['negative infinity', Number.NEGATIVE_INFINITY, 'INVALID_TIMESTAMP', nowMs],
  ])('accepts or rejects a timestamp of %s', (_, timestampMs, expected, at) => {
    expect(codeOf({ timestampMs }, at)).toBe(expected);
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
    ['that is empty', '', 'INVALID_UUID'],
  ])('accepts or rejects a boot id %s', (_, id, expected) => {
    expect(codeOf({ bootId: id })).toBe(expected);
  });

  it.each<[string, Partial<SentReading>, RejectionCode | 'ok']>([
    ['a firmware version of 64 characters', { firmwareVersion: 'v'.repeat(64) }, 'ok'],
    ['a firmware version of 65 characters', { firmwareVersion: 'v'.repeat(65) }, 'INVALID_VALUE'],
    ['an empty firmware version', { firmwareVersion: '' }, 'INVALID_VALUE'],
    ['null as the name', { friendlyName: null }, 'ok'],
    ['a name', { friendlyName: 'Bed 1' }, 'ok'],
    ['an empty name', { friendlyName: '' }, 'INVALID_VALUE'],
    ['a name that is not ASCII', { friendlyName: 'é' }, 'INVALID_VALUE'],
    ['no sensors and no status', { sensors: {}, sensorStatus: {} }, 'ok'],
  ])('accepts or rejects a reading with %s', (_, change, expected) => {
    expect(codeOf(change)).toBe(expected);
  });

  // Stated again here, so that a change of a range in the source is noticed.
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
    'accepts %s from %d to %d, both inclusive, and names that range in the rejection of anything else',
    (metric, min, max) => {
      const verdict = (value: unknown) => codeOf({ sensors: { [metric]: value } });
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

  it('names the first broken rule, in the order of the rules', () => {
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

  it('returns what was sent, with the hardware id in upper case and the boot id in lower case', () => {
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

  it.each([5e-324, 1e-200, -1e-131, 9e-10])(
    'rejects the value %p, because DynamoDB cannot store it and would refuse the whole transaction',
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
});

describe('the content hash of a reading', () => {
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

  it('is the same for any order of the fields, either case of status and boot id, and any time of arrival', () => {
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

  it('is equal exactly if the content is equal', () => {
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
    // Few possible values, so that two readings often differ in one field only.
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
    ['timestamp', { timestampMs: sent.timestampMs + 1 }],
    ['boot id', { bootId: bootId.replace('7b', '7c') }],
    ['firmware version', { firmwareVersion: '1.0.1' }],
    ['name', { friendlyName: 'Bed 1' }],
    ['value', { sensors: { ...sent.sensors, bme280TempC: 21.6 } }],
    ['value, by the smallest difference of a float', { sensors: { ...sent.sensors, bme280TempC: 21.500000000000004 } }],
    ['number of values (fewer)', { sensors: { bme280TempC: 21.5 } }],
    ['number of values (more)', { sensors: { ...sent.sensors, soilMoisturePct: 0 } }],
    ['sensor for the same value', { sensors: { ds18b20TempC: 21.5, humidityPct: 40 } }],
    ['status', { sensorStatus: { bme280: 'ERROR' } }],
    ['number of statuses', { sensorStatus: {} }],
    ['sensor for the same status', { sensorStatus: { ds18b20: 'OK' } }],
  ])('differs for another %s', (_, change) => {
    expect(hashOf(change)).not.toBe(hashOf({}));
  });

  it('does not depend on batch id and hardware id', () => {
    expect(hashOf({ batchId: 'another' })).toBe(hashOf({}));
    expect(hashOf({ hardwareId: '00:00:00:00:00:01' })).toBe(hashOf({}));
  });

  it('is the same for -0 and 0, and for a whole number and its float', () => {
    expect(hashOf({ sensors: { humidityPct: -0 } })).toBe(hashOf({ sensors: { humidityPct: 0 } }));
    expect(hashOf({ sensors: { humidityPct: Number('4.0e1') } })).toBe(hashOf({ sensors: { humidityPct: 40 } }));
    expect(codeOf({ sensors: { humidityPct: -0 } })).toBe('ok');
  });
});

it('knows every sensor that has a status', () => {
  expect(Object.keys(sensorNames) as SensorName[]).toEqual(['bme280', 'ds18b20', 'soilMoisture']);
});
