import fc from 'fast-check';
import { clientIdOf, parseClientId } from '../../../src/identity/client-id.js';
import { slug, uuidPattern } from '../../../src/lib/patterns.js';

const orgId = '00000000-0000-4000-8000-000000000000';

describe('parseClientId', () => {
  const appId = fc.oneof(
    fc.stringMatching(slug),
    fc.constantFrom('a-app-b', 'app', 'app-app-app', '0-app-', `x-app-org-${orgId}`.slice(0, 64)),
  );

  it('returns the client that clientIdOf was given, app ids that contain -app- included', () => {
    fc.assert(
      fc.property(
        fc.record(
          { orgId: fc.uuid(), appId, clientKey: fc.stringMatching(/^[0-9a-f]{12}$/) },
          { requiredKeys: ['orgId'] },
        ),
        (client) => {
          expect(parseClientId(clientIdOf(client))).toEqual(client);
        },
      ),
    );
  });

  it.each([
    ['an empty string', ''],
    ['only a prefix', 'org-'],
    ['no prefix', orgId],
    ['a prefix in upper case', `ORG-${orgId}`],
    ['a UUID in upper case', `org-${'A'.repeat(8)}-0000-4000-8000-000000000000`],
    ['a UUID without its last character', `org-${orgId.slice(0, -1)}`],
    ['a UUID with one character more', `org-${orgId}0`],
    ['an empty app id', `org-${orgId}-app-`],
    ['half the infix', `org-${orgId}-app`],
    ['another infix', `org-${orgId}-key-web`],
    ['an app id with a hash', `org-${orgId}-app-a#b`],
    ['an app id in upper case', `org-${orgId}-app-Web`],
    ['an app id of 65 characters', `org-${orgId}-app-${'a'.repeat(65)}`],
    ['a newline at the end', `org-${orgId}\n`],
    ['a newline after the app id', `org-${orgId}-app-web\n`],
    ['a leading space', ` org-${orgId}`],
    ['an empty key', `org-${orgId}~`],
    ['a key of 11 characters', `org-${orgId}~0123456789a`],
    ['a key in upper case', `org-${orgId}~0123456789AB`],
    ['two keys', `org-${orgId}~0123456789ab~0123456789ab`],
    ['a newline after the key', `org-${orgId}-app-web~0123456789ab\n`],
    ['a key before the app', `org-${orgId}~0123456789ab-app-web`],
  ])('returns undefined for %s', (_, text) => {
    expect(parseClientId(text)).toBeUndefined();
  });

  it('returns a client only for its exact client id', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((rest) => `org-${orgId}${rest}`),
        ),
        (text) => {
          const client = parseClientId(text);
          return client === undefined || clientIdOf(client) === text;
        },
      ),
    );
  });

  it('accepts a UUID only in lower case and without other characters', () => {
    expect(uuidPattern.test(orgId)).toBe(true);
    for (const text of [
      orgId.replace(/0/g, 'g'),
      `${orgId}\n`,
      `{${orgId}}`,
      orgId.replaceAll('-', ''),
      'ABCDEF00-0000-4000-8000-000000000000',
    ]) {
      expect(uuidPattern.test(text)).toBe(false);
    }
  });
});
