import { clientIdOf } from '../../../src/identity/client-id.js';
import type { AccessClaims } from '../../../src/identity/token.js';
import {
  actorName,
  adminViewer,
  anonymous,
  clientViewer,
  maySeeAllOf,
  maySeeApp,
  maySeeOrg,
  orgIdFor,
  type Policy,
  requirePolicy,
  requireWrite,
  type Viewer,
} from '../../../src/identity/viewer.js';
import { GatewayError } from '../../../src/lib/errors.js';

const orgId = '00000000-0000-4000-8000-000000000000';
const otherOrgId = '11111111-1111-4111-8111-111111111111';

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return error instanceof GatewayError ? error.code : `unexpected: ${error}`;
  }
  return 'none';
}

describe('a viewer', () => {
  const claims = (client: { orgId: string; appId?: string }): AccessClaims => ({
    ...client,
    clientId: clientIdOf(client),
    role: 'FULL',
    tokenId: 't',
    family: 'f',
    generation: 0,
    expiresAtMs: 0,
  });
  const orgClient = clientViewer(claims({ orgId }));
  const appClient = clientViewer(claims({ orgId, appId: 'web' }));
  const platformAdmin = adminViewer('ops');
  const viewers = { anonymous, platformAdmin, orgClient, appClient };
  type Name = keyof typeof viewers;

  it('is an org client or an app client, as its token says', () => {
    expect(orgClient).toMatchObject({ kind: 'ORG_CLIENT', orgId });
    expect(appClient).toMatchObject({ kind: 'APP_CLIENT', orgId, appId: 'web' });
  });

  // One row per policy. A new policy does not compile without a row.
  const codesByPolicy: Record<Policy, [anonymous: string, admin: string, org: string, app: string]> = {
    public: ['none', 'none', 'none', 'none'],
    'signed-in': ['UNAUTHENTICATED', 'none', 'none', 'none'],
    'platform:manage': ['UNAUTHENTICATED', 'none', 'FORBIDDEN', 'FORBIDDEN'],
    'org:manage': ['UNAUTHENTICATED', 'none', 'none', 'FORBIDDEN'],
    'org:read': ['UNAUTHENTICATED', 'none', 'none', 'FORBIDDEN'],
    'app:read': ['UNAUTHENTICATED', 'none', 'none', 'none'],
    'credentials:manage': ['UNAUTHENTICATED', 'none', 'none', 'none'],
    'spend:submit': ['UNAUTHENTICATED', 'none', 'none', 'none'],
    'devices:serve': ['UNAUTHENTICATED', 'FORBIDDEN', 'none', 'FORBIDDEN'],
    'limits:use': ['UNAUTHENTICATED', 'none', 'none', 'none'],
    'alerts:follow': ['UNAUTHENTICATED', 'none', 'none', 'none'],
    'tokens:revoke': ['UNAUTHENTICATED', 'none', 'none', 'none'],
  };
  it.each(Object.entries(codesByPolicy) as [Policy, string[]][])(
    'gets under policy %s as anonymous, admin, org and app: %j',
    (policy, codes) => {
      expect(Object.values<Viewer>(viewers).map((viewer) => codeOf(() => requirePolicy(viewer, policy)))).toEqual(
        codes,
      );
    },
  );

  it('may with the role READ send only mutations about its own tokens', () => {
    const reader = clientViewer({ ...claims({ orgId }), role: 'READ' });
    const allowed = (Object.keys(codesByPolicy) as Policy[]).filter(
      (policy) => codeOf(() => requireWrite(reader, policy)) === 'none',
    );
    expect(allowed).toEqual(['public', 'tokens:revoke']);
    for (const viewer of Object.values<Viewer>(viewers))
      expect(codeOf(() => requireWrite(viewer, 'org:manage'))).toBe('none');
  });

  it.each<[Name, string | null | undefined, string]>([
    ['platformAdmin', orgId, orgId],
    ['platformAdmin', undefined, 'BAD_USER_INPUT'],
    ['platformAdmin', null, 'BAD_USER_INPUT'],
    ['platformAdmin', '', 'BAD_USER_INPUT'],
    ['orgClient', undefined, orgId],
    ['orgClient', null, orgId],
    ['orgClient', orgId, orgId],
    ['orgClient', otherOrgId, 'NOT_FOUND'],
    ['appClient', undefined, orgId],
    ['appClient', orgId, orgId],
    ['appClient', otherOrgId, 'NOT_FOUND'],
    ['anonymous', undefined, 'BAD_USER_INPUT'],
  ])('gets as %s that names the org %p: %s', (name, named, expected) => {
    let found = '';
    const code = codeOf(() => {
      found = orgIdFor(viewers[name], named);
    });
    expect(code === 'none' ? found : code).toBe(expected);
  });

  it('gets an error with the path of the missing org', () => {
    expect(() => orgIdFor(platformAdmin, undefined, 'input.orgId')).toThrow('input.orgId: ');
  });

  it.each<[Name, string, string, { org: boolean; all: boolean; app: boolean }]>([
    ['anonymous', orgId, 'web', { org: false, all: false, app: false }],
    ['platformAdmin', orgId, 'web', { org: true, all: true, app: true }],
    ['platformAdmin', otherOrgId, 'other', { org: true, all: true, app: true }],
    ['orgClient', orgId, 'web', { org: true, all: true, app: true }],
    ['orgClient', orgId, 'other', { org: true, all: true, app: true }],
    ['orgClient', otherOrgId, 'web', { org: false, all: false, app: false }],
    ['appClient', orgId, 'web', { org: true, all: false, app: true }],
    ['appClient', orgId, 'other', { org: true, all: false, app: false }],
    ['appClient', otherOrgId, 'web', { org: false, all: false, app: false }],
  ])('may as %s see of org %s and app %s: %j', (name, org, app, expected) => {
    const viewer = viewers[name];
    expect({ org: maySeeOrg(viewer, org), all: maySeeAllOf(viewer, org), app: maySeeApp(viewer, org, app) }).toEqual(
      expected,
    );
  });

  it('has the client id as its name, never the token', () => {
    expect(Object.values<Viewer>(viewers).map(actorName)).toEqual([
      'anonymous',
      'platform-admin:ops',
      `org-${orgId}`,
      `org-${orgId}-app-web`,
    ]);
  });
});
