import {
  leaseKey,
  leasePartitions,
  refusalIndexKeys,
  refusalKey,
  resourceUsageRange,
  usageRange,
} from '../../../src/limits/limiter-keys.js';

const bucket = (entityId: string) => ({ namespace: 'n', entityId, resource: 'api' });

describe('limiter keys', () => {
  it('of refusals are in the range of their hour, for the entity and for the resource', () => {
    const { SK } = refusalKey(bucket('a'), 490_000, 'x-_9');
    const { GSI2SK } = refusalIndexKeys(bucket('a'), 490_000, 'x-_9');
    for (const [from, inside] of [
      [490_000, true],
      [489_999, false],
      [490_001, false],
    ] as const) {
      const within = (name: string, [first, last]: [string, string]) => name >= first && name <= last;
      expect(within(SK, usageRange('api', from, from + 1))).toBe(inside);
      expect(within(GSI2SK, resourceUsageRange(from, from + 1))).toBe(inside);
    }
  });

  it('of leases are spread evenly over 64 partitions of the namespace', () => {
    const partitions = leasePartitions('n');
    expect(new Set(partitions).size).toBe(64);
    const counts = new Map(partitions.map((partition) => [partition, 0]));
    for (let i = 0; i < 6400; i++) {
      const { PK } = leaseKey('n', `r-${i}`);
      counts.set(PK, (counts.get(PK) as number) + 1);
    }
    expect(counts.size).toBe(64);
    for (const count of counts.values()) expect(Math.abs(count - 100)).toBeLessThan(50);
  });
});
