import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { descriptionIssues, formatApiKey, hashApiKey, keyIdIn } from '../../../src/identity/api-key.js';

const paths = (issues: readonly { readonly path: string }[]) => issues.map(({ path }) => path);

describe('an API key', () => {
  const secretHex = fc.stringMatching(/^[0-9a-f]{64}$/);
  const pepper = Buffer.from('the key of a root, 32 bytes and more');
  const some = formatApiKey('01234567-89ab-4cde-8f01-23456789abcd', 'ab'.repeat(32));

  it('contains its id, and keyIdIn returns it', () => {
    expect(some).toBe(`tgk_0123456789ab4cde8f0123456789abcd_${'ab'.repeat(32)}`);
    fc.assert(fc.property(fc.uuid(), secretHex, (keyId, secret) => keyIdIn(formatApiKey(keyId, secret)) === keyId));
  });

  it.each([
    ['an empty text', ''],
    ['a key in upper case', some.toUpperCase()],
    ['a key with its hexadecimal digits in upper case', some.replaceAll('a', 'A')],
    ['a key without its last character', some.slice(0, -1)],
    ['a key with one more character', `${some}0`],
    ['a key with a newline', `${some}\n`],
    ['a key after a space', ` ${some}`],
    ['a key without its prefix', some.slice(4)],
    ['a client secret', some.replace('tgk', 'tgs')],
    ['a key with dashes in its id', some.replace(/^tgk_.{32}/, 'tgk_01234567-89ab-4cde-8f01-23456789abcd')],
    ['a key that is not hexadecimal', some.replace(/.$/, 'g')],
    ['a key without its secret', some.slice(0, 36)],
    ['two keys', some + some],
  ])('is not found in %s', (_, text) => {
    expect(keyIdIn(text)).toBeUndefined();
  });

  it('is stored as its HMAC-SHA-256 under a key of a root secret, which does not contain the secret', () => {
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
    ['256 characters', 'x'.repeat(256), true],
    ['257 characters', 'x'.repeat(257), false],
    ['no characters', '', false],
    ['only spaces', '   ', false],
    ['only tabs and newlines', '\t\n', false],
    ['a word between spaces', ' greenhouse ', true],
    ['non-ASCII characters', 'Gewächshaus 🌱', true],
    ['half a surrogate pair', '\ud83c', false],
  ])('accepts or refuses a description of %s', (_, description, isValid) => {
    expect(paths(descriptionIssues(description))).toEqual(isValid ? [] : ['input.description']);
  });
});
