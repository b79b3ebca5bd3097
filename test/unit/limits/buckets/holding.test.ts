import { shardsOfHolding } from '../../../../src/limits/buckets/holding.js';

describe('the state of a holding', () => {
  it.each<[number, number, number, number[]]>([
    [0, 1, 1, [0]],
    [3, 4, 4, [3]],
    [1, 2, 4, [1, 3]],
    [0, 1, 8, [0, 1, 2, 3, 4, 5, 6, 7]],
    [5, 8, 2, [1]],
    [31, 32, 1, [0]],
  ])('(shard %d of %d) is on these of %d shards: %j', (shard, shards, count, expected) => {
    expect(shardsOfHolding({ shard, shards }, count)).toEqual(expected);
  });
});
