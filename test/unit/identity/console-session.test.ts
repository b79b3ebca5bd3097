import fc from 'fast-check';
import { adminKeyId } from '../../../src/identity/admin-key.js';
import {
  auditedObject,
  type ConsoleSession,
  endsAtMs,
  isOpen,
  linkUrl,
  makerOf,
  maxIdleMs,
  maxSessionMs,
  maxSessionsPerMaker,
  roomFor,
  sessionViewer,
  tenantOf,
} from '../../../src/identity/console-session.js';
import { actorName, requireWrite, roleOf } from '../../../src/identity/viewer.js';

const orgId = '00000000-0000-4000-8000-000000000000';
const startMs = 1_000_000_000;
const session: ConsoleSession = {
  sessionId: 's',
  role: 'FULL',
  client: { clientId: `org-${orgId}`, generation: 3, secretRotation: 1 },
  activeAtMs: startMs,
  expiresAtMs: startMs + maxSessionMs,
};
const admin = { name: 'ops', keyId: '01234567' };
const { client: _client, ...rest } = session;
const platform: ConsoleSession = { ...rest, admin };

describe('a console session', () => {
  it.each<[string, Partial<ConsoleSession>, number, boolean]>([
    ['is open when it begins', {}, startMs, true],
    ['is open just before it was idle for too long', {}, startMs + maxIdleMs - 1, true],
    ['ends after 30 minutes without activity', {}, startMs + maxIdleMs, false],
    ['is extended by activity', { activeAtMs: startMs + maxIdleMs }, startMs + 2 * maxIdleMs - 1, true],
    ['ends at its expiry despite activity', { activeAtMs: startMs + maxSessionMs }, startMs + maxSessionMs, false],
    ['ends early with its secret', { expiresAtMs: startMs + 5 }, startMs + 5, false],
  ])('%s', (_what, change, nowMs, expected) => {
    const changed = { ...session, ...change };
    expect(isOpen(changed, nowMs)).toBe(expected);
    expect(nowMs < endsAtMs(changed)).toBe(expected);
  });

  it('belongs to its client, or to the admin who has opened it', () => {
    const ownerOf = (each: ConsoleSession) => [makerOf(each), tenantOf(each), auditedObject(each)];
    const clientId = `org-${orgId}`;
    expect(ownerOf(session)).toEqual([clientId, orgId, `$CLIENT:${clientId}`]);
    expect(ownerOf({ ...session, admin })).toEqual(['platform-admin:ops', orgId, `$CLIENT:${clientId}`]);
    expect(ownerOf(platform)).toEqual(['platform-admin:ops', 'platform', '$ADMIN:ops']);
    expect(() => makerOf({})).toThrow('a client or an admin');
  });

  it('has the viewer of its client, with the admin as the actor if there is one', () => {
    const own = sessionViewer(session, session);
    expect(own).toMatchObject({ kind: 'ORG_CLIENT', orgId, token: { role: 'FULL', generation: 3, tokenId: 's' } });
    expect(actorName(own)).toBe(`org-${orgId}`);
    const opened = sessionViewer({ ...session, admin }, { role: 'READ', expiresAtMs: 7 });
    expect(opened).toMatchObject({ kind: 'ORG_CLIENT', orgId, token: { role: 'READ', expiresAtMs: 7 } });
    expect([actorName(opened), roleOf(opened)]).toEqual(['platform-admin:ops', 'READ']);
    const app = sessionViewer({ ...session, client: { clientId: `org-${orgId}-app-chat`, generation: 0 } }, session);
    expect(app).toMatchObject({ kind: 'APP_CLIENT', orgId, appId: 'chat' });
  });

  it('of an admin may write unless its role is READ', () => {
    const [full, read] = (['FULL', 'READ'] as const).map((role) => sessionViewer(platform, { ...platform, role }));
    expect([full && roleOf(full), read && roleOf(read)]).toEqual(['FULL', 'READ']);
    expect(() => full && requireWrite(full, 'platform:manage')).not.toThrow();
    expect(() => read && requireWrite(read, 'platform:manage')).toThrow('role READ');
    expect(() => read && requireWrite(read, 'tokens:revoke')).not.toThrow();
  });

  it('gets room: the sessions that are over, and the oldest open ones above the maximum', () => {
    const expiries = fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 3 * maxSessionsPerMaker });
    fc.assert(
      fc.property(expiries, (all) => {
        const known = new Map(all.map((expiresAtMs, i) => [`h${i}`, expiresAtMs]));
        const { over, evicted } = roomFor(known, 50);
        const kept = [...known.keys()].filter((hash) => !over.includes(hash) && !evicted.includes(hash));
        const expiryOf = (hash: string) => known.get(hash) ?? Number.NaN;
        expect(over.every((hash) => expiryOf(hash) <= 50)).toBe(true);
        expect([...evicted, ...kept].every((hash) => expiryOf(hash) > 50)).toBe(true);
        expect(kept.length).toBeLessThan(maxSessionsPerMaker);
        if (evicted.length > 0) expect(kept.length).toBe(maxSessionsPerMaker - 1);
        expect(Math.max(0, ...evicted.map(expiryOf))).toBeLessThanOrEqual(Math.min(1000, ...kept.map(expiryOf)));
      }),
    );
  });
});

it('names an admin key by an id that is the same on every gateway and says nothing of the key', () => {
  const key = 'k'.repeat(32);
  expect(adminKeyId(key)).toMatch(/^[0-9a-f]{8}$/);
  expect(adminKeyId(key)).toBe(adminKeyId(key));
  expect(adminKeyId(key)).not.toBe(adminKeyId(`${key}k`));
});

it('puts the token of a link behind the #, where no server sees it', () => {
  const { pathname, search, hash } = new URL(linkUrl('https://tollgate.example.com', 'tgl_x'));
  expect([pathname, search, hash]).toEqual(['/console/', '', '#token=tgl_x']);
});
