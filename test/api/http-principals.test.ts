import { type Client, newOrg, startTestApp, type TestApp } from '../support/app.js';
import { expectPublicErrors } from '../support/http.js';
import * as op from '../support/operations.js';
import { startRelay } from '../support/relay.js';
import { until } from '../support/until.js';

let app: TestApp;
let org: Client & { readonly orgId: string };
beforeAll(async () => {
  app = await startTestApp();
  org = await newOrg(app);
});
afterAll(() => app.stop());

describe('a principal', () => {
  it('is refused above its rate with the time to retry, and others are served', async () => {
    const limited = await app.another({ principalRps: 5 });
    try {
      const answers = await Promise.all(Array.from({ length: 30 }, () => limited.admin.send('{ __typename }')));
      const served = answers.filter(({ status }) => status === 200);
      const refused = answers.filter(({ errors }) => errors?.[0]?.extensions.code === 'RATE_LIMITED');
      expect(served.length).toBeGreaterThanOrEqual(5);
      expect(refused.length).toBeGreaterThan(0);
      expect(served.length + refused.length).toBe(30);
      for (const answer of refused) {
        expect(answer.status).toBe(429);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        expect(answer.errors?.[0]?.extensions.retryAfterSecs).toBe(Number(answer.headers.get('retry-after')));
        expectPublicErrors(answer);
      }
      expect((await limited.as(org.accessToken).send('{ me { kind } }')).status).toBe(200);
      expect((await limited.anonymous.send('{ __typename }')).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });

  it('gets its limit in the headers of the IETF draft', async () => {
    const limited = await app.another({ principalRps: 1 });
    try {
      const answers = await Promise.all(Array.from({ length: 10 }, () => limited.admin.send('{ __typename }')));
      const refused = answers.find(({ status }) => status === 429);
      expect(refused?.headers.get('ratelimit-policy')).toMatch(/;\s*q=1\b/);
      expect(refused?.headers.get('ratelimit')).toMatch(/;\s*r=0\b/);
    } finally {
      await limited.stop();
    }
  });

  it('has a maximum of concurrent requests, which a response frees again, and others are served', async () => {
    const relay = await startRelay();
    const narrow = await startTestApp({ config: { principalConcurrency: 1 }, endpoint: relay.endpoint });
    try {
      const { orgId, caller } = await newOrg(narrow);
      await caller.ask('{ me { kind } }');
      relay.hold(/\.Query\b/);
      const inFlight = narrow.admin.send(op.OrgsDocument, {});
      await until('the request waits for the store', () => relay.held() > 0);
      const others = await Promise.all(Array.from({ length: 4 }, () => narrow.admin.send('{ __typename }')));
      expect(others.map(({ status, errors }) => [status, errors?.[0]?.extensions.code])).toEqual(
        Array(4).fill([429, 'RATE_LIMITED']),
      );
      expect(others[0]?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect((await caller.send('{ me { kind } }')).status).toBe(200);
      relay.letGo();
      expect((await inFlight).data?.orgs.nodes.map((node) => node.orgId)).toEqual([orgId]);
      expect((await narrow.admin.send('{ __typename }')).status).toBe(200);
    } finally {
      relay.letGo();
      await narrow.stop();
      await relay.stop();
    }
  });
});
