import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { type Background, buildBackground } from '../../src/app.js';
import { silentLog } from '../../src/lib/log.js';
import { slotMs } from '../../src/spend/held/held.js';
import { admittedBy, bindingOf, estimateOf, type HardApp, newHardApp, settle } from '../support/admissions.js';
import { startTestApp, type TestApp, testEndpoint } from '../support/app.js';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import * as op from '../support/operations.js';
import { until } from '../support/until.js';
import { ended, killAll, startGatewayProcess } from './processes.js';

const quota = 1_000_000;
// The processes use the real time, so the org is in a time zone where the day does not end within an hour.
const timezone = new Date().getUTCHours() >= 22 ? 'Etc/GMT+6' : 'UTC';
let proxy: FaultProxy;
/** Not behind the proxy, and with a clock that can be moved. */
let app: TestApp;
let worker: Background;

beforeAll(async () => {
  proxy = await startFaultProxy(testEndpoint());
  app = await startTestApp();
  worker = buildBackground(app.config, { clock: app.clock, log: silentLog });
});
beforeEach(() => proxy.clear());
afterEach(killAll);
afterAll(async () => {
  worker.close();
  await app.stop();
  app.tableAdmin.client.destroy();
  await proxy.stop();
});

const newPlace = () => newHardApp(app, { premium: quota }, { org: { timezone } });
/** The amount of the quota that is held. */
const heldOf = async (place: HardApp) => quota - (await bindingOf(app.admin, estimateOf(place, quota))).wouldPass;
const costOf = async (place: HardApp) =>
  (await app.admin.ask(op.AppSpendDocument, { ...place, consistency: 'EXACT' })).org?.app?.spend.costUsdMicros;

/** Kills a gateway at the moment when its next transaction meets the fault. */
async function killDuring<T, V>(document: TypedDocumentNode<T, V>, variables: V, fault: Fault): Promise<void> {
  const gateway = await startGatewayProcess(app.config, proxy.endpoint);
  const rule = proxy.inject({ operation: 'TransactWriteItems', table: 'cost_requests', fault, ms: 200, nth: 1 });
  let answer: unknown;
  const calling = gateway.admin.send(document, variables).then(
    (answered) => {
      answer = answered;
    },
    () => {
      answer = 'no response';
    },
  );
  await until('the transaction meets the fault', () => rule.hits > 0 || answer !== undefined);
  gateway.child.kill('SIGKILL');
  await calling;
  expect([answer, await ended(gateway.child)]).toEqual(['no response', 'SIGKILL']);
  // A request that it had sent is still processed after it was killed.
  await proxy.quiet();
}
const killDuringAdmit = (input: op.AdmitInput, fault: Fault) => killDuring(op.AdmitDocument, { input }, fault);

describe('a gateway that is killed during an admission', () => {
  it.each<Fault>(['no-reply', 'no-reply-after', 'slow'])(
    'leaves at most one reservation, which a retry through another gateway gets (%s)',
    async (fault) => {
      const place = await newPlace();
      const input = estimateOf(place, 300_000);
      await killDuringAdmit(input, fault);
      const { admissionId, replayed } = await admittedBy(app.admin, input);
      expect(replayed).toBe(fault !== 'no-reply');
      expect(await heldOf(place)).toBe(300_000);
      await settle(app.admin, { admissionId, costUsdMicros: 1000 });
      await until('the denial is forgotten', async () => (await heldOf(place)) === 1000);
      expect(await costOf(place)).toBe(1000);
    },
  );

  it('between reserve and settle: the worker returns the reservation in its first round after the slot', async () => {
    const place = await newPlace();
    const input = estimateOf(place, 300_000, { ttlSecs: 60 });
    await killDuringAdmit(input, 'no-reply-after');
    await worker.spend.sumAll();
    expect(await heldOf(place)).toBe(300_000);
    app.clock.advance(3 * slotMs);
    await worker.spend.sumAll();
    expect(await storedHeld(place)).toBe(0);
    app.clock.age(2000);
    // The whole quota is free again, and the client that comes back does not get the lost reservation.
    expect(await app.admin.codeOf(op.AdmitDocument, { input })).toBe('LEASE_EXPIRED');
    const { admissionId } = await admittedBy(app.admin, estimateOf(place, quota));
    await settle(app.admin, { admissionId, costUsdMicros: 5 });
    expect(await costOf(place)).toBe(5);
  });
});

describe('a gateway that is killed during a settlement', () => {
  it.each<Fault>(['no-reply', 'no-reply-after', 'slow'])('settles once after a retry (%s)', async (fault) => {
    const place = await newPlace();
    const { admissionId } = await admittedBy(app.admin, estimateOf(place, 300_000));
    const input = { admissionId, costUsdMicros: 200_000 };
    await killDuring(op.SettleDocument, { input }, fault);
    const receipt = await settle(app.admin, input);
    expect(receipt).toMatchObject({ costUsdMicros: 200_000, replayed: fault !== 'no-reply' });
    expect([await heldOf(place), await costOf(place)]).toEqual([200_000, 200_000]);
  });
});

/** The stored amount, read without a gateway, because a gateway would return the reservation itself. */
async function storedHeld({ orgId }: HardApp): Promise<unknown> {
  for (let page = await app.gateway.services.store.scan('usage_agg_sharded'); ; ) {
    const item = page.items.find((one) => String(one.PK).includes(orgId) && one.held !== undefined);
    if (item) return item.held;
    if (!page.next) return undefined;
    page = await app.gateway.services.store.scan('usage_agg_sharded', page.next);
  }
}
