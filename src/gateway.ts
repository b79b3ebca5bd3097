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
  /** Finishes what is under way, within 10 s, and lets go of everything. */
  stop(): Promise<void>;
}

export interface GatewayOptions extends Overrides {
  readonly schema?: GraphQLSchema;
  /** How long to go on answering after readiness has gone, so that load balancers notice first. */
  readonly noticeMs?: number;
}

const lingerMs = 1000;
// The notice of production, the linger and the 5 s that an operation may take, with some time to spare: the last request that
// is taken on is still answered. With what follows it is less than the 10 s after which a process is commonly killed.
const drainMs = 8500;
const lettingGoMs = 1400;

/** The API process: services, http, listen. */
export async function startGateway(
  config: Config,
  { schema, noticeMs = 0, ...overrides }: GatewayOptions = {},
): Promise<Gateway> {
  const services = await buildServices(config, overrides);
  await services.changeFeed.start();
  services.alertFeed.start();
  services.readingFeed.start();
  services.refusals.start();
  // In the background: what it finds changes nothing that is served.
  services.labelCheck
    .run()
    .catch((error: unknown) => services.log.warn({ err: error }, 'failed to check the labels of the orgs'));
  const http = await createHttpServer(services, schema ?? (await createSchema()));
  const { server } = http;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenFault(error, config)));
    server.listen(config.port, config.host, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : config.port;
  const host = config.host === '0.0.0.0' || config.host === '::' ? 'localhost' : config.host;
  return {
    url: `http://${host}:${port}${graphqlPath}`,
    services,
    async stop() {
      http.drain();
      await sleep(noticeMs);
      await within(drainMs - noticeMs, http.close(Math.min(noticeMs, lingerMs)), () => http.cut());
      await within(lettingGoMs, letGo(services), () => undefined);
      services.store.close();
    },
  };
}

async function letGo({
  spend,
  buckets,
  pendingWrites,
  changeFeed,
  alertFeed,
  readingFeed,
  refusals,
}: Services): Promise<void> {
  await Promise.all([
    spend.flush(),
    buckets.flush(),
    pendingWrites.flush(),
    changeFeed.stop(),
    alertFeed.stop(),
    readingFeed.stop(),
    refusals.stop(),
  ]);
}

function listenFault(error: NodeJS.ErrnoException, { host, port }: Config): Error {
  if (error.code === 'EADDRINUSE')
    return new Error(`port ${port} is in use: stop what uses it, or set PORT to another`, { cause: error });
  if (error.code === 'EACCES')
    return new Error(`port ${port} may not be opened by this user: set PORT to one above 1023`, { cause: error });
  if (error.code === 'EADDRNOTAVAIL')
    return new Error(`${host} is no address of this machine: set HOST to one that is`, { cause: error });
  return error;
}
