import { type Registration, registrationIssues } from '../../../src/devices/device.js';

const mac = 'AA:BB:CC:DD:EE:FF';
const bootId = '7b1f7a52-41d3-4c59-9e7c-3f6f9a0c2f11';
const paths = (issues: readonly { readonly path: string }[]) => issues.map(({ path }) => path);
const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);
const features = (...named: string[]) => named.map((name) => ({ name, enabled: true }));

describe('registrationIssues', () => {
  const valid: Registration = {
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
    ['a valid registration', {}, []],
    ['no sensors and features', { capabilities: { sensors: [], features: [] } }, []],
    ['the lowest MAC address', { hardwareId: '00:00:00:00:00:00' }, []],
    ['a MAC address in lower case', { hardwareId: mac.toLowerCase() }, []],
    [
      'a MAC address with a ligature that becomes FF in upper case',
      { hardwareId: 'AA:BB:CC:DD:EE:\uFB00' },
      ['input.hardwareId'],
    ],
    ['a MAC address with dashes', { hardwareId: mac.replaceAll(':', '-') }, ['input.hardwareId']],
    ['a MAC address of five bytes', { hardwareId: mac.slice(3) }, ['input.hardwareId']],
    ['a MAC address of seven bytes', { hardwareId: `${mac}:00` }, ['input.hardwareId']],
    ['a MAC address and a newline', { hardwareId: `${mac}\n` }, ['input.hardwareId']],
    ['a MAC address that is not hexadecimal', { hardwareId: 'GG:BB:CC:DD:EE:FF' }, ['input.hardwareId']],
    ['an empty MAC address', { hardwareId: '' }, ['input.hardwareId']],
    ['a boot id in upper case', { bootId: bootId.toUpperCase() }, []],
    ['a boot id of version 1', { bootId: bootId.replace('-4c', '-1c') }, ['input.bootId']],
    ['a boot id of another variant', { bootId: bootId.replace('-9', '-c') }, ['input.bootId']],
    ['an empty boot id', { bootId: '' }, ['input.bootId']],
    ['a firmware version of 1 character', { firmwareVersion: '1' }, []],
    ['a firmware version of 64 characters', { firmwareVersion: 'v'.repeat(64) }, []],
    ['a firmware version of 65 characters', { firmwareVersion: 'v'.repeat(65) }, ['input.firmwareVersion']],
    ['an empty firmware version', { firmwareVersion: '' }, ['input.firmwareVersion']],
    ['a firmware version with a newline', { firmwareVersion: '1.0\n' }, ['input.firmwareVersion']],
    ['no name', { friendlyName: undefined }, []],
    ['null as the name', { friendlyName: null }, []],
    ['a name with every kind of printable character', { friendlyName: ' Bed #1 ~ "x"' }, []],
    ['a name of 64 characters', { friendlyName: 'x'.repeat(64) }, []],
    ['a name of 65 characters', { friendlyName: 'x'.repeat(65) }, ['input.friendlyName']],
    ['an empty name', { friendlyName: '' }, ['input.friendlyName']],
    ['a name of only spaces', { friendlyName: '  ' }, ['input.friendlyName']],
    ['a name that is not ASCII', { friendlyName: 'Gewächshaus' }, ['input.friendlyName']],
    ['a name with a delete character', { friendlyName: 'a\u007f' }, ['input.friendlyName']],
    ['32 sensors', sensors(...names(32)), []],
    ['33 sensors', sensors(...names(33)), ['input.capabilities.sensors']],
    ['32 features', withFeatures(...names(32)), []],
    ['33 features', withFeatures(...names(33)), ['input.capabilities.features']],
    ['a sensor name of 32 characters', sensors('a'.repeat(32)), []],
    ['a sensor name of 33 characters', sensors('a'.repeat(33)), ['input.capabilities.sensors.0']],
    ['a sensor name that begins with a digit', sensors('ok', '1a'), ['input.capabilities.sensors.1']],
    ['a feature name that begins with an underscore', withFeatures('__proto__'), ['input.capabilities.features.0']],
    ['a feature name in upper case', withFeatures('Deep'), ['input.capabilities.features.0']],
    ['an empty sensor name', sensors(''), ['input.capabilities.sensors.0']],
    ['feature names that are properties of Object', withFeatures('constructor', 'valueof'), []],
    ['a sensor named twice', sensors('a', 'b', 'a'), ['input.capabilities.sensors.2']],
    ['a feature named twice', withFeatures('a', 'a'), ['input.capabilities.features.1']],
    ['a sensor and a feature with the same name', { capabilities: { sensors: ['a'], features: features('a') } }, []],
    [
      'every field invalid',
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
  ])('reports the invalid fields of a registration with %s', (_, change, expected) => {
    expect(paths(registrationIssues({ ...valid, ...change }))).toEqual(expected);
  });
});
