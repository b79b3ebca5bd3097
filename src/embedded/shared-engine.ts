import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join, relative, resolve } from 'node:path';
import type { Engine } from './engine.js';
import { type Dial, enclosedPort } from './isolation.js';

/** The max length of the path of a Unix socket is 103 bytes on macOS and 107 on Linux. */
const maxPathBytes = 103;
const maxConnections = 256;

/** The engine of a running `tollgate dev`, as another process of the same user reaches it. */
export interface SharedEngine {
  readonly endpoint: string;
  readonly dial: Dial;
}

/** The path of the socket, absolute or relative, whichever is shorter. Undefined if both are too long for a socket. */
function socketPath(dataDir: string): string | undefined {
  const path = join(resolve(dataDir), 'engine.sock');
  const shorter = [relative(process.cwd(), path), path].find((each) => Buffer.byteLength(each) <= maxPathBytes);
  return process.platform === 'win32' ? undefined : shorter;
}

/**
 * Lets other processes of the same user use the engine, by a Unix socket in the data folder. Only the owner can enter
 * the folder and open the socket, and a web page cannot open a Unix socket at all. So the socket gives access only to
 * those who can read the files of the engine anyway. Returns undefined where there are no such sockets.
 */
export async function shareEngine(
  dataDir: string,
  engine: Pick<Engine, 'dial' | 'endpoint'>,
): Promise<{ close(): void } | undefined> {
  const path = socketPath(dataDir);
  if (!path) return undefined;
  const { hostname, port } = new URL(engine.endpoint);
  const dial = engine.dial ?? (() => opened(connect({ host: hostname, port: Number(port), noDelay: true })));
  const server = createServer((socket) => void forward(socket, dial));
  server.maxConnections = maxConnections;
  // A process that was killed leaves its socket behind. This process has claimed the data folder, so nobody uses it.
  rmSync(path, { force: true });
  try {
    await new Promise<void>((resolveListening, reject) => {
      server.once('error', reject);
      server.listen(path, resolveListening);
    });
    chmodSync(path, 0o600);
  } catch {
    // Some file systems have no sockets. Then `tollgate seed` asks to stop this process first.
    server.close();
    return undefined;
  }
  // The engine ends with this process, whoever is still connected.
  server.unref();
  return { close: () => void server.close() };
}

/** The engine that a running `tollgate dev` shares. Undefined if there is none. */
export async function findSharedEngine(dataDir: string): Promise<SharedEngine | undefined> {
  const path = socketPath(dataDir);
  if (!path) return undefined;
  const dial = (): Promise<Socket> => opened(connect({ path }));
  const probe = await dial().catch(() => undefined);
  if (!probe) return undefined;
  probe.destroy();
  // The address is not used: `dial` opens all connections.
  return { endpoint: `http://127.0.0.1:${enclosedPort}`, dial };
}

/** Connects a process to the engine. Either end closes both. */
async function forward(socket: Socket, dial: Dial): Promise<void> {
  socket.on('error', () => socket.destroy());
  try {
    const engine = await dial();
    const end = (): void => {
      socket.destroy();
      engine.destroy();
    };
    for (const each of [socket, engine]) each.once('error', end).once('close', end);
    if (socket.destroyed) return end();
    socket.pipe(engine);
    engine.pipe(socket);
  } catch {
    socket.destroy();
  }
}

function opened(socket: Socket): Promise<Socket> {
  return new Promise((resolveOpened, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolveOpened(socket);
    });
  });
}
