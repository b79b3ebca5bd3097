// Runs inside a network namespace in which only the engine and this program exist. It starts the engine, opens
// connections to it on request, and passes each socket to Tollgate outside. No data of a connection passes through this
// program.
import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { sleep } from '../lib/timers.js';
import { guarded } from './guard.js';

const [port = 0, command = '', ...args] = process.argv
  .slice(2)
  .map((value, i) => (i === 0 ? Number(value) : value)) as [number, string, ...string[]];

/**
 * A message to Tollgate. Tollgate sends a number to request a connection. The response has the same number as `id`, and
 * either a socket or an error.
 */
export type EnclosureMessage = { readonly ready: true } | { readonly id: number; readonly error?: string };

const engine = spawn(...guarded(command, args), { env: {}, stdio: ['inherit', 'ignore', 'inherit'] });
engine.once('error', () => process.exit(1));
engine.once('exit', () => process.exit(1));
// The stdin of the engine is the pipe from Tollgate, which the guard watches: Node does not always report that the
// other end of a channel was killed.
process.once('SIGTERM', () => engine.kill('SIGTERM'));

const send = (message: EnclosureMessage, socket?: Socket): void => {
  if (process.connected) process.send?.(message, socket);
};

process.on('message', (id: number) => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const fail = (error: Error): void => send({ id, error: error.message });
  socket.once('error', fail);
  socket.once('connect', () => {
    socket.off('error', fail);
    send({ id }, socket);
  });
});

const acceptsConnections = (): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
while (!(await acceptsConnections())) await sleep(20);
send({ ready: true });
