import { createHash } from 'node:crypto';
import {
  type Credentials,
  hashSecret,
  liveSecrets,
  looksLikeSecret,
  matchesSecret,
  matchingSecret,
  newSecret,
  secretCheck,
} from '../../../src/identity/secret.js';

const nowMs = Date.parse('2026-05-05T12:00:00Z');

describe('client secrets', () => {
  it('have the right format and 47 bytes, and are never equal', () => {
    const many = Array.from({ length: 1000 }, newSecret);
    expect(new Set(many).size).toBe(many.length);
    for (const secret of many) {
      expect(looksLikeSecret(secret)).toBe(true);
      expect(Buffer.byteLength(secret)).toBe(47);
    }
  });

  it.each([
    ['an empty string', ''],
    ['another prefix', `tgr_${'a'.repeat(43)}`],
    ['no prefix', 'a'.repeat(47)],
    ['one character too few', `tgs_${'a'.repeat(42)}`],
    ['one character too many', `tgs_${'a'.repeat(44)}`],
    ['a character of another alphabet', `tgs_${'a'.repeat(42)}+`],
    ['a newline at the end', `tgs_${'a'.repeat(43)}\n`],
    ['more characters than bcrypt reads', `tgs_${'a'.repeat(100)}`],
  ])('are distinguished from %s', (_, text) => {
    expect(looksLikeSecret(text)).toBe(false);
  });

  it('match their own hash and no other', async () => {
    const [secret, other] = [newSecret(), newSecret()];
    const hashed = await hashSecret(secret, 4);
    expect(hashed).not.toContain(secret);
    expect(await matchesSecret(secret, hashed)).toBe(true);
    expect(await matchesSecret(other, hashed)).toBe(false);
    expect(await matchesSecret(secret.slice(0, -1), hashed)).toBe(false);
  });

  const base = { clientId: 'c', role: 'FULL' as const, rotation: 1, generation: 0 };
  const stored = (hash: string) => ({ hash, check: secretCheck(hash), rotation: 1 });
  const both = { current: stored('new'), previous: stored('old') };
  const grace = (offsetMs: number) => ({ graceExpiresAt: new Date(nowMs + offsetMs) });
  it.each<[string, Credentials, string[]]>([
    ['no secret yet', base, []],
    ['one secret', { ...base, current: stored('new') }, ['new']],
    ['a grace that has not ended', { ...base, ...both, ...grace(1) }, ['new', 'old']],
    ['a grace that ends now', { ...base, ...both, ...grace(0) }, ['new']],
    ['a grace that has ended', { ...base, ...both, ...grace(-1) }, ['new']],
    ['a previous hash without a grace', { ...base, ...both }, ['new']],
    ['a grace without a previous hash', { ...base, current: stored('new'), ...grace(1) }, ['new']],
  ])('work with %s as the rules of the grace say', (_, credentials, live) => {
    expect(liveSecrets(credentials, nowMs).map(({ hash }) => hash)).toEqual(live);
    for (const secret of ['new', 'old'])
      expect(matchingSecret(liveSecrets(credentials, nowMs), secret)?.hash).toBe(
        live.includes(secret) ? secret : undefined,
      );
  });

  it('have the first half of their SHA-256 as fast check', () => {
    const secret = newSecret();
    expect(Buffer.from(secretCheck(secret), 'base64url')).toEqual(
      createHash('sha256').update(secret).digest().subarray(0, 16),
    );
  });
});
