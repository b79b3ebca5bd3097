import { randomUUID } from 'node:crypto';
import type { Config } from '../../src/config.js';
import { StoreClient } from '../../src/dynamo/client.js';
import { StoreUnavailable } from '../../src/dynamo/faults.js';
import { leanTransport } from '../../src/dynamo/lean-transport.js';
import { createTables, type TableAdmin } from '../../src/dynamo/table-admin.js';
import { adminClient, sdkTransport } from '../../src/dynamo/transport.js';
import { systemClock } from '../../src/lib/clock.js';
import { sleep } from '../../src/lib/timers.js';
import { startTestApp, type TestApp, testConfig, testEndpoint } from '../support/app.js';
import type { ManualClock } from '../support/clock.js';
import { type Call, type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import { patience } from '../support/patience.js';
import { deniedBy } from '../support/policy.js';

/** A store client without a gateway. A fault proxy is between it and its own tables. */
export interface StoreBench {
  readonly config: Config;
  readonly proxy: FaultProxy;
  /** Bypasses the proxy, so it reads what is really stored. */
  readonly truth: StoreClient;
  /** A client that uses the proxy, with its own retry budget. */
  client(endpoint?: string): StoreClient;
  sent(operation: string): readonly Call[];
  stop(): Promise<void>;
}

export async function startStoreBench(): Promise<StoreBench> {
  const config = await testConfig();
  const { endpoint: engine, tablePrefix } = config.store as Config['store'] & { endpoint: string };
  const tableAdmin = adminOf(config, tablePrefix);
  await createTables(tableAdmin);
  const proxy = await startFaultProxy(engine);
  const client = (endpoint = proxy.endpoint) => {
    const store = { ...config.store, endpoint };
    return new StoreClient(
      config.store.client === 'sdk' ? sdkTransport(store) : leanTransport(store, systemClock),
      tablePrefix,
    );
  };
  const truth = client(engine);
  return {
    config,
    proxy,
    truth,
    client,
    sent: (operation) => proxy.calls.filter((call) => call.operation === operation),
    async stop() {
      truth.close();
      tableAdmin.client.destroy();
      await proxy.stop();
    },
  };
}

/** A gateway, and an endpoint for workers, each behind a fault proxy of its own. */
export interface ProxiedApp {
  readonly app: TestApp;
  readonly gatewayProxy: FaultProxy;
  readonly workerProxy: FaultProxy;
  /** Not behind a proxy: reads the real state. */
  readonly truth: StoreClient;
  /** Removes all faults. Returns the calls that the policies of gateway and worker do not allow. */
  clear(): string[];
  stop(): Promise<void>;
}

export async function startProxiedApp(clock: ManualClock): Promise<ProxiedApp> {
  const proxies = await Promise.all([startFaultProxy(testEndpoint()), startFaultProxy(testEndpoint())]);
  const [gatewayProxy, workerProxy] = proxies;
  const app = await startTestApp({ endpoint: gatewayProxy.endpoint, clock });
  const { store } = app.config;
  const truth = new StoreClient(sdkTransport({ ...store, endpoint: testEndpoint() }), store.tablePrefix);
  return {
    app,
    gatewayProxy,
    workerProxy,
    truth,
    clear() {
      const denied = [...deniedBy('GatewayPolicy', gatewayProxy.calls), ...deniedBy('WorkerPolicy', workerProxy.calls)];
      for (const proxy of proxies) proxy.clear();
      return denied;
    },
    async stop() {
      await app.stop();
      truth.close();
      app.tableAdmin.client.destroy();
      await Promise.all(proxies.map((proxy) => proxy.stop()));
    },
  };
}

export const adminOf = (config: Config, prefix: string): TableAdmin => ({
  client: adminClient(config.store),
  prefix,
  protect: false,
});

export const newKey = () => ({ PK: `TEST#${randomUUID()}`, SK: '1' });

/** The StoreUnavailable error that the call must throw, and the time until then. */
export async function failureOf(
  call: Promise<unknown>,
): Promise<{ readonly error: StoreUnavailable; readonly ms: number }> {
  const startedMs = performance.now();
  const error = await call.then(
    (value) => new Error(`expected StoreUnavailable, got ${JSON.stringify(value)}`),
    (thrown: Error) => thrown,
  );
  if (!(error instanceof StoreUnavailable)) throw error;
  return { error, ms: performance.now() - startedMs };
}

/** Retries until `attempt` no longer throws. Gives up after `maxMs` times `patience`. */
export async function untilWell(maxMs: number, attempt: () => Promise<unknown>): Promise<void> {
  const untilMs = performance.now() + patience * maxMs;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (performance.now() > untilMs) throw error;
      await sleep(100);
    }
  }
}
