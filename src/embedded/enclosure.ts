// Runs inside a network namespace of its own, where nothing but the engine and this program exists. It starts the engine,
// opens connections to it on demand, and hands each one over to Tollgate outside. No byte of a request passes through here.
import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { sleep } from '../lib/timers.js';
import { guarded } from './guard.js';

const [port = 0, command = '', ...args] = process.argv
  .slice(2)
  .map((value, i) => (i === 0 ? Number(value) : value)) as [number, string, ...string[]];

/** What is said over the channel between the two: a number asks for a connection, and is answered with it or with an error. */
export type EnclosureMessage = { readonly ready: true } | { readonly id: number; readonly error?: string };

const engine = spawn(...guarded(command, args), { env: {}, stdio: ['inherit', 'ignore', 'inherit'] });
engine.once('error', () => process.exit(1));
engine.once('exit', () => process.exit(1));
// The input is Tollgate's pipe, which the guard watches. Node does not always report that the other end of a channel was killed.
process.once('SIGTERM', () => engine.kill('SIGTERM'));

const tell = (message: EnclosureMessage, socket?: Socket): void => {
  if (process.connected) process.send?.(message, socket);
};

process.on('message', (id: number) => {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const fail = (error: Error): void => tell({ id, error: error.message });
  socket.once('error', fail);
  socket.once('connect', () => {
    socket.off('error', fail);
    tell({ id }, socket);
  });
});

const accepts = (): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
while (!(await accepts())) await sleep(20);
tell({ ready: true });
