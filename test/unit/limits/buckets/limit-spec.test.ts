import * as fc from 'fast-check';
import { parseSpec, specText } from '../../../../src/limits/buckets/limit-spec.item.js';

const amount = fc.bigInt(0n, 10n ** 20n);
const optional = (name: string, value: fc.Arbitrary<unknown>) =>
  fc.option(value, { nil: undefined }).map((given) => (given === undefined ? {} : { [name]: given }));
const spec = fc
  .tuple(
    fc.record({
      name: fc.stringMatching(/^[A-Za-z][A-Za-z0-9._-]{0,30}$/),
      capacityMilli: amount,
      burstMilli: amount,
      refillMilli: amount,
      refillPeriodMs: amount,
    }),
    optional('isConcurrency', fc.constant(true)),
    optional('isShadow', fc.constant(true)),
    optional('sinceConversion', fc.nat()),
    optional(
      'calendar',
      fc.record({
        window: fc.constantFrom('DAY', 'WEEK', 'MONTH'),
        zone: fc.constantFrom('UTC', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'),
      }),
    ),
  )
  .map((parts) => Object.assign({}, ...parts) as Parameters<typeof specText>[0]);

describe('the text of the parameters of a limit', () => {
  it('is read back as it was written', () => {
    fc.assert(fc.property(spec, (given) => expect(parseSpec(specText(given))).toEqual(given)));
  });

  it.each([
    '',
    'tokens',
    'tokens 1 2 3',
    'tokens 1 2 3 x',
    'tokens 1 2 3 4 z',
    'tokens 1 2 3 4 wYEAR:UTC',
    ' 1 2 3 4 5',
  ])('is refused if it is %j', (text) => {
    expect(parseSpec(text)).toBeUndefined();
  });
});
