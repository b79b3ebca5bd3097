// rate-limiter-flexible on a Redis server of this machine: the rate of a limiter that keeps its counts in memory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import rateLimiterFlexible from 'rate-limiter-flexible';

const maxStartMs = 5000;

/**
 * Starts Redis on a Unix socket, without persistence. Undefined if it is not installed (Debian: redis-server).
 */
export async function redisLimiter({ points, durationSecs }) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-redis-'));
  const path = join(folder, 'redis.sock');
  const options = ['--port', '0', '--unixsocket', path, '--save', '', '--appendonly', 'no', '--dir', folder];
  const server = spawn('redis-server', options, { stdio: 'ignore' });
  const started = await once(server, 'spawn').then(
    () => true,
    () => false,
  );
  if (!started) {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  const client = new Redis({ path, retryStrategy: (attempt) => (attempt * 20 < maxStartMs ? 20 : null) });
  // Without a listener, ioredis prints each failed attempt to connect.
  client.on('error', () => undefined);
  await client.ping();
  const limiter = new rateLimiterFlexible.RateLimiterRedis({
    storeClient: client,
    keyPrefix: 'bench',
    points,
    duration: durationSecs,
  });
  return {
    take: (name) => limiter.consume(name, 1),
    async close() {
      client.disconnect();
      const ended = once(server, 'exit');
      server.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
