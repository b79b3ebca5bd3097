import { ExportLimiter, maxExportsPerOrg } from '../../../src/load/export-limiter.js';

it('admits a bounded number of exports per org, and another one when one has ended', () => {
  const limiter = new ExportLimiter();
  const ends = Array.from({ length: maxExportsPerOrg }, () => limiter.admit('a'));
  expect(() => limiter.admit('a')).toThrow('more than 4 concurrent exports');
  limiter.admit('b')();
  ends[0]?.();
  limiter.admit('a');
  expect(() => limiter.admit('a')).toThrow('more than 4 concurrent exports');
});
