import fc from 'fast-check';
import { addressBucket, parseAddress } from '../../../src/lib/address.js';

describe('parseAddress', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:4711', '192.0.2.7'],
    ['[2001:db8::1]:4711', '2001:db8:0:0:0:0:0:1'],
    ['[2001:db8::1]', '2001:db8:0:0:0:0:0:1'],
    ['2001:DB8:0:0::1', '2001:db8:0:0:0:0:0:1'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8:0:0:0:0:0:1'],
    ['fe80::1%eth0', 'fe80:0:0:0:0:0:0:1'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['::', '0:0:0:0:0:0:0:0'],
    ['::1', '0:0:0:0:0:0:0:1'],
  ])('reads %s as %s', (text, address) => {
    expect(parseAddress(text)).toBe(address);
  });

  it.each([
    '',
    'unknown',
    'example.com',
    '300.1.1.1',
    '1.2.3',
    '[2001:db8::1',
    '1.2.3.4:5:6',
    'x'.repeat(1000),
    '2001:db8::1::2',
  ])('finds no address in %p', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it('returns the same form for every spelling of an IPv6 address', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const address = parseAddress(text);
        expect(address).toBeDefined();
        expect(parseAddress(address as string)).toBe(address);
        expect(parseAddress(text.toUpperCase())).toBe(address);
        expect(parseAddress(`[${text}]:80`)).toBe(address);
      }),
    );
  });
});

describe('addressBucket', () => {
  it('counts an IPv4 address by itself and an IPv6 address by its /64', () => {
    expect(addressBucket('192.0.2.7')).toBe('192.0.2.7');
    expect(addressBucket('unknown')).toBe('unknown');
    expect(addressBucket(parseAddress('2001:db8:1:2:3:4:5:6') as string)).toBe('2001:db8:1:2::/64');
    expect(addressBucket(parseAddress('2001:db8:1:2::9') as string)).toBe('2001:db8:1:2::/64');
    expect(addressBucket(parseAddress('2001:db8:1:3::9') as string)).toBe('2001:db8:1:3::/64');
  });
});
