import { randomUUID } from 'node:crypto';
import { sleep } from '../../src/lib/timers.js';
import { startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { patience } from '../support/patience.js';
import { newTenant } from '../worker/costs.js';
import { ended, type GatewayProcess, killAll, startGatewayProcess } from './processes.js';

const resource = 'api';
let proxy: FaultProxy;
let app: TestApp;
let orgId: string;

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp({ config: { principalRps: 0, principalConcurrency: 0 } });
  ({ orgId } = await newTenant(app, {}, []));
});
afterEach(() => {
  proxy.clear();
  killAll();
});
afterAll(async () => {
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

const inputOf = (entityId: string, overrides: Partial<op.AcquireInput>): op.AcquireInput => ({
  orgId,
  entityId,
  resource,
  consume: [{ limit: 'tokens', amount: 1 }],
  ...overrides,
});

async function storedBucket(entityId: string): Promise<{ readonly totalConsumed: number; readonly available: number }> {
  const { org } = await app.admin.ask(op.BucketOfDocument, { orgId, entityId, resource });
  const { totalConsumed = 0, available = 0 } = org?.entity?.bucket?.limits[0] ?? {};
  return { totalConsumed, available };
}

interface Tally {
  acknowledged: number;
  refused: number;
}

/** Takes one token at a time until `isOver`, or until the gateway does not respond any more. */
async function keepTaking(
  { admin }: GatewayProcess,
  entityId: string,
  tally: Tally,
  isOver: () => boolean,
): Promise<void> {
  for (let i = 0; !isOver(); i++) {
    try {
      const { data } = await admin.send(op.AcquireDocument, {
        input: inputOf(entityId, i % 3 === 0 ? { requestId: randomUUID() } : {}),
      });
      if (data?.acquire.__typename === 'Lease') tally.acknowledged++;
      if (data?.acquire.__typename === 'RateLimited') tally.refused++;
    } catch {
      return;
    }
  }
}

it('grants no more than there is and serves on if a gateway is killed at any of its first database calls', async () => {
  const capacity = 400;
  const entityId = `e-${randomUUID()}`;
  await app.admin.ask(op.SetLimitsDocument, {
    input: {
      orgId,
      level: 'ENTITY',
      entityId,
      resource,
      limits: [{ name: 'tokens', capacity, refillAmount: 1, refillPeriodSecs: 86_400 }],
    },
  });
  const tally: Tally = { acknowledged: 0, refused: 0 };
  const [survivor, ...victims] = await Promise.all(
    [testEndpoint(), ...Array(6).fill(proxy.endpoint)].map((endpoint) => startGatewayProcess(app.config, endpoint)),
  );
  if (!survivor) throw new Error('no process was started');
  for (const [i, victim] of victims.entries()) {
    const nth = i + 1;
    proxy.clear();
    const rule = proxy.inject({ table: 'limiter', fault: nth % 2 ? 'no-reply-after' : 'no-reply', nth });
    let isOver = false;
    const callers = [victim, victim, survivor, survivor].map((gateway) =>
      keepTaking(gateway, entityId, tally, () => isOver),
    );
    for (const untilMs = performance.now() + patience * 10_000; rule.hits === 0; await sleep(2))
      if (performance.now() > untilMs) throw new Error('no call met the fault');
    victim.child.kill('SIGKILL');
    expect(await ended(victim.child)).toBe('SIGKILL');
    isOver = true;
    await Promise.all(callers);
    await proxy.quiet();
    expect(tally.acknowledged).toBeLessThanOrEqual(capacity);
    expect((await storedBucket(entityId)).totalConsumed).toBeGreaterThanOrEqual(tally.acknowledged);
  }
  await keepTaking(survivor, entityId, tally, () => tally.refused > 3);
  const { totalConsumed, available } = await storedBucket(entityId);
  // All is taken. Takes without a response are lost: per kill, a group of at most two callers.
  expect([totalConsumed, available]).toEqual([capacity, 0]);
  expect(tally.acknowledged).toBeLessThanOrEqual(capacity);
  expect(tally.acknowledged).toBeGreaterThanOrEqual(capacity - victims.length * 2);
  survivor.child.kill('SIGKILL');
});
