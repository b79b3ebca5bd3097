import type { Server } from 'node:http';
import type { GraphQLSchema } from 'graphql';
import { buildServices, type Overrides, type Services } from './app.js';
import type { Config } from './config.js';
import { createSchema } from './graphql/schema.js';
import { graphqlPath } from './http/paths.js';
import { createHttpServer } from './http/server.js';
import { sleep, within } from './lib/timers.js';

export interface Gateway {
  readonly url: string;
  readonly services: Services;
  /** Finishes running operations, writes what is pending and closes all connections. Takes at most 10 s. */
  stop(): Promise<void>;
}

export interface GatewayOptions extends Overrides {
  readonly schema?: GraphQLSchema;
  /** How long to go on serving after /readyz has failed, so that load balancers stop sending requests first. */
  readonly noticeMs?: number;
}

/** How long open connections may still send a request after the notice. */
const maxLingerMs = 1000;
/**
 * Max time of a stop for running requests: notice (2 s in production), linger (1 s) and the 5 s that an operation may
 * take, with 0.5 s to spare. So the last request that was accepted still gets its response.
 */
const maxDrainMs = 8500;
/**
 * Max time of a stop for pending writes. Drain and release take less than the 10 s after which a process is usually
 * killed.
 */
const maxReleaseMs = 1400;

/** Starts the API process: builds the services, starts their loops, then listens. */
export async function startGateway(
  config: Config,
  { schema, noticeMs = 0, ...overrides }: GatewayOptions = {},
): Promise<Gateway> {
  const services = await buildServices(config, overrides);
  await startLoops(services);
  const http = await createHttpServer(services, schema ?? (await createSchema()));
  await listen(http.server, config);
  return {
    url: urlOf(http.server, config),
    services,
    async stop() {
      // 1. /readyz fails from now on. Requests are still served until load balancers have noticed.
      http.drain();
      await sleep(noticeMs);
      // 2. No new connections. Running operations finish; those that take too long are cut off.
      await within(maxDrainMs - noticeMs, http.close(Math.min(noticeMs, maxLingerMs)), () => http.cut());
      // 3. Now nothing adds work: write what is pending and stop the loops. What is not done in time is given up.
      await within(maxReleaseMs, release(services), () => undefined);
      // 4. Last, because everything above may need DynamoDB.
      services.store.close();
    },
  };
}

async function startLoops(services: Services): Promise<void> {
  const { changeFeed, catalogSync, alertFeed, readingFeed, refusals, labelCheck } = services;
  // Awaited, because the gateway must know the current change counter before it accepts a credential.
  await changeFeed.start();
  // Awaited, because a request that names a label must find it.
  await catalogSync.start();
  alertFeed.start();
  readingFeed.start();
  refusals.start();
  labelCheck.start();
}

/** Writes what is pending and stops the loops. */
async function release(services: Services): Promise<void> {
  const { costStore, reserves, buckets, pendingWrites, changeFeed, catalogSync, labelCheck } = services;
  const { alertFeed, readingFeed, refusals } = services;
  await Promise.all([
    costStore.flush(),
    reserves.flush(),
    buckets.flush(),
    pendingWrites.flush(),
    changeFeed.stop().then(() => catalogSync.stop()),
    labelCheck.stop(),
    alertFeed.stop(),
    readingFeed.stop(),
    refusals.stop(),
  ]);
}

function listen(server: Server, config: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, config)));
    server.listen(config.port, config.host, resolve);
  });
}

function urlOf(server: Server, config: Config): string {
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : config.port;
  const host = config.host === '0.0.0.0' || config.host === '::' ? 'localhost' : config.host;
  return `http://${host}:${port}${graphqlPath}`;
}

function listenError(error: NodeJS.ErrnoException, { host, port }: Config): Error {
  if (error.code === 'EADDRINUSE')
    return new Error(`port ${port} is in use; stop the program that uses it, or set PORT to another port`, {
      cause: error,
    });
  if (error.code === 'EACCES')
    return new Error(`this user may not open port ${port}; set PORT to a port above 1023`, { cause: error });
  if (error.code === 'EADDRNOTAVAIL')
    return new Error(`${host} is not an address of this machine; set HOST to one of its addresses`, { cause: error });
  return error;
}
