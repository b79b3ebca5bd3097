import fc from 'fast-check';
import { deriveKey, equalInConstantTime, RootKeys, Sealer, TokenMint } from '../../../src/lib/seal.js';

const anyText = fc.string({ unit: 'grapheme' });

describe('Sealer', () => {
  const sealer = new Sealer(new RootKeys(['a root secret of the deployment'], 'cursors'));

  it('opens what it sealed for the same context', () => {
    fc.assert(
      fc.property(
        anyText,
        anyText,
        (context, payload) => sealer.open(context, sealer.seal(context, payload)) === payload,
      ),
    );
  });

  it('returns URL-safe text', () => {
    fc.assert(fc.property(anyText, (payload) => /^[A-Za-z0-9_-]+$/.test(sealer.seal('c', payload))));
  });

  it('does not open a text with any one byte changed', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), fc.integer({ min: 1, max: 255 }), (payload, where, flip) => {
        const bytes = Buffer.from(sealer.seal('c', payload), 'base64url');
        const at = where % bytes.length;
        bytes[at] = (bytes[at] as number) ^ flip;
        return sealer.open('c', bytes.toString('base64url')) === undefined;
      }),
    );
  });

  it('does not open a truncated or extended text', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 8 }), (payload, where, more) => {
        const bytes = Buffer.from(sealer.seal('c', payload), 'base64url');
        const cut = bytes.subarray(0, where % bytes.length).toString('base64url');
        return (
          sealer.open('c', cut) === undefined &&
          sealer.open('c', Buffer.concat([bytes, more]).toString('base64url')) === undefined
        );
      }),
    );
  });

  it('does not open for another context, nor if text moves between context and payload', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (context, other, payload) => {
        fc.pre(context !== other);
        return sealer.open(other, sealer.seal(context, payload)) === undefined;
      }),
    );
    fc.assert(
      fc.property(anyText, fc.string({ minLength: 1 }), anyText, (context, moved, payload) => {
        const bytes = Buffer.from(sealer.seal(context, moved + payload), 'base64url');
        const forged = Buffer.concat([bytes.subarray(0, 20), Buffer.from(payload)]).toString('base64url');
        return sealer.open(context + moved, forged) === undefined;
      }),
    );
  });

  it('does not open what another key sealed', () => {
    const other = new Sealer(new RootKeys(['another root secret altogether!'], 'cursors'));
    fc.assert(fc.property(anyText, (payload) => sealer.open('c', other.seal('c', payload)) === undefined));
  });

  it('opens what was sealed under any of its root secrets, and seals under the first', () => {
    const [older, newer] = ['an older root secret of the tests', 'a newer root secret of the tests'];
    const sealers = [[older], [older, newer], [newer, older], [newer]].map(
      (roots) => new Sealer(new RootKeys(roots, 'cursors')),
    );
    const opened = sealers.map((from) => sealers.map((by) => by.open('c', from.seal('c', 'x')) === 'x'));
    expect(opened).toEqual([
      [true, true, true, false],
      [true, true, true, false],
      [false, true, true, true],
      [false, true, true, true],
    ]);
  });

  it('opens only canonical base64url: no stray characters, padding, other alphabet or spare bits', () => {
    const stray = fc.constantFrom('=', ' ', '\n', '!', '.', '~', '%', '\u0000', 'é');
    fc.assert(
      fc.property(anyText, fc.nat(), stray, (payload, where, extra) => {
        const sealed = sealer.seal('c', payload);
        const at = where % (sealed.length + 1);
        return sealer.open('c', sealed.slice(0, at) + extra + sealed.slice(at)) === undefined;
      }),
    );
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    // 22 bytes end in a character with four spare bits, 23 in one with two.
    for (const payload of ['ab', 'abc']) {
      const sealed = sealer.seal('c', payload);
      const last = alphabet.indexOf(sealed.at(-1) as string);
      expect(sealer.open('c', sealed.slice(0, -1) + alphabet[last + 1])).toBeUndefined();
    }
    fc.assert(
      fc.property(anyText, (payload) => {
        const sealed = sealer.seal('c', payload);
        const other = sealed.replaceAll('-', '+').replaceAll('_', '/');
        return other === sealed || sealer.open('c', other) === undefined;
      }),
    );
  });

  it('returns undefined for invalid text and never throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => sealer.open('c', text) === undefined));
    expect(sealer.open('c', '')).toBeUndefined();
  });
});

describe('TokenMint', () => {
  const mint = new TokenMint('tgt_', new RootKeys(['a root secret of the deployment'], 'tokens'));

  it('makes distinct tokens of 43 characters that it recognises', () => {
    const tokens = Array.from({ length: 200 }, () => mint.make());
    expect(new Set(tokens).size).toBe(200);
    for (const token of tokens)
      expect([/^tgt_[A-Za-z0-9_-]{43}$/.test(token), mint.isGenuine(token)]).toEqual([true, true]);
  });

  it('makes the same token from the same bytes', () => {
    const bytes = Buffer.alloc(24, 7);
    expect(mint.make(bytes)).toBe(mint.make(bytes));
  });

  it('recognises no token that was changed, invented, or made for another purpose or root secret', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    fc.assert(
      fc.property(fc.nat({ max: 42 }), fc.constantFrom(...alphabet), (at, character) => {
        const token = mint.make();
        fc.pre(token[4 + at] !== character);
        return !mint.isGenuine(token.slice(0, 4 + at) + character + token.slice(5 + at));
      }),
    );
    fc.assert(fc.property(anyText, (text) => !mint.isGenuine(text) && !mint.isGenuine(`tgt_${text}`)));
    for (const other of [
      new RootKeys(['a root secret of the deployment'], 'others'),
      new RootKeys(['another root secret altogether!'], 'tokens'),
    ])
      expect(mint.isGenuine(new TokenMint('tgt_', other).make())).toBe(false);
    expect(mint.isGenuine(`${mint.make()}\n`)).toBe(false);
  });
});

describe('deriveKey', () => {
  it('returns a different key per purpose and per root secret', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (root, purpose, other) => {
        fc.pre(purpose !== other && root !== '');
        const key = deriveKey(root, purpose);
        return (
          key.length === 32 &&
          key.equals(deriveKey(root, purpose)) &&
          !key.equals(deriveKey(root, other)) &&
          !key.equals(deriveKey(`${root}x`, purpose))
        );
      }),
    );
  });
});

describe('equalInConstantTime', () => {
  it('compares texts of equal and of different length', () => {
    fc.assert(
      fc.property(
        anyText,
        anyText,
        (a, b) =>
          equalInConstantTime(a, a) && equalInConstantTime(a, b) === (a === b) && !equalInConstantTime(a, `${a}x`),
      ),
    );
  });
});
