import { deviceProfiles, isReporting, storyOf, valuesAt } from '../../../src/demo/fleet-plan.js';
import { type DemoHour, dayStartMs, HistoryClock, hourMs, hoursOf } from '../../../src/demo/history.js';
import { acquiresOf, entityProfiles } from '../../../src/demo/limits-plan.js';
import { SeededRandom } from '../../../src/demo/random.js';
import { appProfiles, callsOf, incident, incidentDaysAgo, isIncident, quotaFor } from '../../../src/demo/traffic.js';
import { parseReading } from '../../../src/devices/reading.js';

const zone = 'America/New_York';
const nowMs = Date.parse('2026-11-17T20:25:00Z');
const hours = hoursOf(zone, 30, nowMs);
const callsPerDay = (from: readonly DemoHour[], seed = 1): Map<string, number> => {
  const random = new SeededRandom(seed);
  const counts = new Map<string, number>();
  for (const hour of from)
    for (const app of appProfiles)
      counts.set(hour.day, (counts.get(hour.day) ?? 0) + callsOf(app, hour, 30, random).length);
  return counts;
};

describe('the hours of a history', () => {
  it('begin with the local day so many days ago and end now, without a gap', () => {
    expect(new Date(hours[0]?.fromMs ?? 0).toISOString()).toBe('2026-10-18T04:00:00.000Z');
    expect(hours.at(-1)).toMatchObject({ toMs: nowMs, day: '2026-11-17', daysAgo: 0, isEndOfDay: true });
    for (const [i, hour] of hours.entries()) if (i > 0) expect(hour.fromMs).toBe(hours[i - 1]?.toMs);
  });

  it('have 25 hours on the day that clocks are set back', () => {
    const lengths = new Map<string, number>();
    for (const { day } of hours) lengths.set(day, (lengths.get(day) ?? 0) + 1);
    expect(lengths.get('2026-11-01')).toBe(25);
    expect(lengths.get('2026-10-31')).toBe(24);
    expect(lengths.size).toBe(31);
  });

  it.each([
    ['in the first second of a day', '2026-11-17T05:00:01Z', '2026-11-17'],
    ['in the last second of a day', '2026-11-17T04:59:59Z', '2026-11-16'],
  ])('end today %s', (_, at, today) => {
    expect(hoursOf(zone, 1, Date.parse(at)).at(-1)).toMatchObject({ day: today, daysAgo: 0 });
  });

  it.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Kathmandu', 'UTC'])('work in %s', (name) => {
    const found = hoursOf(name, 3, nowMs);
    expect(new Set(found.map(({ day }) => day)).size).toBe(4);
    expect(found[0]?.fromMs).toBe(dayStartMs(name, nowMs, 3));
  });
});

it('moves its clock forward only, and lets it run at the end', () => {
  const clock = new HistoryClock(1000);
  clock.moveTo(5000);
  clock.moveTo(3000);
  expect(clock.nowMs()).toBe(5000);
  clock.release();
  expect(clock.nowMs()).toBeGreaterThan(Date.UTC(2026, 0, 1));
});

describe('the traffic of the demo', () => {
  it('is the same for the same seed', () => {
    expect(callsPerDay(hours)).toEqual(callsPerDay(hours));
    expect(callsPerDay(hours)).not.toEqual(callsPerDay(hours, 2));
  });

  it('has quiet weekends and grows', () => {
    const counts = callsPerDay(hours);
    expect(counts.get('2026-10-25')).toBeLessThan((counts.get('2026-10-26') ?? 0) * 0.7);
    expect(counts.get('2026-11-13')).toBeGreaterThan((counts.get('2026-10-23') ?? 0) * 1.05);
  });

  it('stays below its quotas on usual days, and exceeds one at the incident', () => {
    const price = { inputUsdMicrosPer1M: 3_000_000, outputUsdMicrosPer1M: 15_000_000 };
    const chat = appProfiles.find(({ appId }) => appId === incident.appId) as (typeof appProfiles)[number];
    const random = new SeededRandom(3);
    const costs = new Map<number, number>();
    for (const hour of hours)
      for (const call of callsOf(chat, hour, 30, random).filter(({ isMain }) => isMain))
        costs.set(hour.daysAgo, (costs.get(hour.daysAgo) ?? 0) + call.inputTokens * 3 + call.outputTokens * 15);
    const quota = quotaFor(chat, 0, price);
    expect([...costs].filter(([, cost]) => cost >= quota).map(([daysAgo]) => daysAgo)).toEqual([incidentDaysAgo(30)]);
  });

  it.each([1, 2, 5, 30, 90])('has its incident in a history of %i days', (days) => {
    const found = hoursOf(zone, days, nowMs).filter((hour) => isIncident(hour, days));
    expect(found).toHaveLength(incident.toHour - incident.fromHour);
  });

  it('uses every entity within each two days, because an idle bucket expires after three', () => {
    const members = entityProfiles.filter(({ parentId }) => parentId !== undefined);
    const random = new SeededRandom(4);
    for (const entity of members) {
      let lastMs = hours[0]?.fromMs ?? 0;
      for (const hour of hours) {
        if (acquiresOf(entity, hour, 30, random).length === 0) continue;
        expect(hour.fromMs - lastMs).toBeLessThan(60 * hourMs);
        lastMs = hour.fromMs;
      }
    }
  });
});

describe('the fleet of the demo', () => {
  const story = storyOf(30, nowMs);

  it('measures only values that the API accepts', () => {
    const random = new SeededRandom(5);
    for (const device of deviceProfiles)
      for (let atMs = nowMs - 4 * 24 * hourMs; atMs < nowMs; atMs += 3 * hourMs) {
        const sent = {
          hardwareId: device.hardwareId,
          batchId: `${device.name}.${atMs}`,
          timestampMs: atMs,
          bootId: '7a8e60a5-0a6f-4288-af1c-7f1fd22f3459',
          firmwareVersion: '1.0.0',
          ...valuesAt(device, atMs, story, random),
        };
        expect(parseReading('org', sent, nowMs)).toHaveProperty('reading');
      }
  });

  it.each([1, 3, 30])('has one device offline and one out of reach at the end of %i days', (days) => {
    const { offlineSinceMs, staleSinceMs, ...later } = storyOf(days, nowMs);
    const silent = deviceProfiles.filter((device) => !isReporting(device, nowMs, storyOf(days, nowMs)));
    expect(silent.map(({ name }) => name)).toEqual(['coldroom-03', 'office-04']);
    expect(offlineSinceMs).toBeLessThan(staleSinceMs);
    for (const atMs of Object.values(later)) expect(atMs).toBeGreaterThanOrEqual(dayStartMs(zone, nowMs, days));
  });
});
