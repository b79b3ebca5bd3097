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
  /** Resolves when the engine answers; rejects if it does not within 30 s, or ends. */
  readonly ready: Promise<void>;
}

/** Any port is free in a namespace of its own. */
export const enclosedPort = 8000;
const startMs = 30_000;
const dialMs = 1000;
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const unshare = ['--user', '--map-root-user', '--net', '--', '/bin/sh', '-c'];
const loopbackUp = '{ ip link set lo up || ifconfig lo up; } 2>/dev/null';

/** With the code of a refused connection, because nothing was sent. */
const unreachable = (why = 'it refused a connection'): Error =>
  Object.assign(new Error(`the embedded engine cannot be reached: ${why}`), { code: 'ECONNREFUSED' });

/** Can this user have a network namespace of its own? Linux only, and not where an administrator or container forbids it. */
export async function canIsolate(): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const probe = spawn('unshare', [...unshare, loopbackUp], { env: { PATH: path }, stdio: 'ignore' });
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.once('exit', (code) => resolve(code === 0));
  });
}

/** Starts an engine where no other process can reach it: neither another user of the machine nor a web page in a browser. */
export function startEnclosed(command: string, args: readonly string[]): Enclosed {
  const enclosure = fileURLToPath(new URL('./enclosure.js', import.meta.url));
  const inside = [
    `${loopbackUp} && exec "$0" "$@"`,
    process.execPath,
    enclosure,
    String(enclosedPort),
    command,
    ...args,
  ];
  const child = spawn('unshare', [...unshare, ...inside], {
    env: { PATH: path },
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
    detached: true,
  });
  const waiting = new Map<number, { resolve(socket: Socket): void; reject(error: Error): void }>();
  let dialled = 0;
  const ready = new Promise<void>((resolve, reject) => {
    const failed = (): void => {
      const error = unreachable('it has ended');
      reject(error);
      for (const { reject: refuse } of waiting.values()) refuse(error);
      waiting.clear();
    };
    child.once('error', failed);
    child.once('exit', failed);
    child.on('message', (message: EnclosureMessage, socket) => {
      if ('ready' in message) return resolve();
      const asked = waiting.get(message.id);
      waiting.delete(message.id);
      if (!socket) asked?.reject(unreachable(message.error));
      else if (asked) asked.resolve(socket as Socket);
      else (socket as Socket).destroy();
    });
  });
  const dial: Dial = () => {
    const id = ++dialled;
    const opened = new Promise<Socket>((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      child.send(id, (error) => {
        if (error && waiting.delete(id)) reject(unreachable(error.message));
      });
    });
    return within(dialMs, opened, () => {
      waiting.delete(id);
      throw unreachable('no connection within 1 s');
    });
  };
  const inTime = within(startMs, ready, () => {
    throw new Error('it did not answer within 30 s');
  });
  return { child, dial, ready: inTime };
}
