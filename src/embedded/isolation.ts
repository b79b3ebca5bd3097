import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { within } from '../lib/timers.js';
import type { EnclosureMessage } from './enclosure.js';

/** Opens a connection to the engine. */
export type Dial = () => Promise<Socket>;

export interface Enclosed {
  readonly child: ChildProcess;
  readonly dial: Dial;
  /** Resolves when the engine accepts connections. Rejects if it does not within 30 s, or ends. */
  readonly ready: Promise<void>;
}

/** The engine is alone in its network namespace, so every port is free. */
export const enclosedPort = 8000;
const maxStartMs = 30_000;
const maxDialMs = 1000;
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const unshare = ['--user', '--map-root-user', '--net', '--', '/bin/sh', '-c'];
/** A new network namespace has its loopback interface down. */
const loopbackUp = '{ ip link set lo up || ifconfig lo up; } 2>/dev/null';

/** Has the code of a refused connection, because nothing was sent, so the caller may retry. */
const unreachable = (reason = 'it refused a connection'): Error =>
  Object.assign(new Error(`cannot connect to the embedded engine: ${reason}`), { code: 'ECONNREFUSED' });

/** True if this user may create a network namespace. Linux only, and an administrator or a container may forbid it. */
export async function canIsolate(): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const probe = spawn('unshare', [...unshare, loopbackUp], { env: { PATH: path }, stdio: 'ignore' });
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.once('exit', (code) => resolve(code === 0));
  });
}

/** Starts an engine that no other process can reach: neither other users of the machine nor web pages in a browser. */
export function startEnclosed(command: string, args: readonly string[]): Enclosed {
  const enclosure = fileURLToPath(new URL('./enclosure.js', import.meta.url));
  const enclosed = [process.execPath, enclosure, String(enclosedPort), command, ...args];
  const child = spawn('unshare', [...unshare, `${loopbackUp} && exec "$0" "$@"`, ...enclosed], {
    env: { PATH: path },
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    detached: true,
  });
  const dialer = new Dialer(child);
  const ready = within(maxStartMs, dialer.ready, () => {
    throw new Error(`it did not accept connections within ${maxStartMs / 1000} s`);
  });
  return { child, dial: () => dialer.dial(), ready };
}

/** Requests connections from the enclosure and receives their sockets over the channel to it. */
class Dialer {
  readonly ready: Promise<void>;
  private readonly waiting = new Map<number, { resolve(socket: Socket): void; reject(error: Error): void }>();
  private lastId = 0;

  constructor(private readonly child: ChildProcess) {
    this.ready = new Promise((resolve, reject) => {
      const fail = (): void => {
        const error = unreachable('it has ended');
        reject(error);
        for (const request of this.waiting.values()) request.reject(error);
        this.waiting.clear();
      };
      child.once('error', fail);
      child.once('exit', fail);
      child.on('message', (message: EnclosureMessage, socket) => {
        if ('ready' in message) resolve();
        else this.receive(message, socket as Socket | undefined);
      });
    });
  }

  dial(): Promise<Socket> {
    const id = ++this.lastId;
    const opened = new Promise<Socket>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.child.send(id, (error) => {
        if (error && this.waiting.delete(id)) reject(unreachable(error.message));
      });
    });
    return within(maxDialMs, opened, () => {
      this.waiting.delete(id);
      throw unreachable(`no connection within ${maxDialMs / 1000} s`);
    });
  }

  private receive({ id, error }: { readonly id: number; readonly error?: string }, socket: Socket | undefined): void {
    const request = this.waiting.get(id);
    this.waiting.delete(id);
    if (!socket) request?.reject(unreachable(error));
    else if (request) request.resolve(socket);
    else socket.destroy();
  }
}
