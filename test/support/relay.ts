import { connect, createServer, type Socket } from 'node:net';
import { testEndpoint } from './app.js';

export interface Relay {
  readonly endpoint: string;
  /** From now on, requests that match are held, and everything after them on the same connection. */
  hold(matching: RegExp): void;
  held(): number;
  letGo(): void;
  stop(): Promise<void>;
}

/** A proxy in front of the database engine that keeps requests in flight for as long as a test needs them. */
export async function startRelay(): Promise<Relay> {
  const { hostname, port } = new URL(testEndpoint());
  const sockets = new Set<Socket>();
  const waiting: (() => void)[] = [];
  let matching: RegExp | undefined;
  const server = createServer((client) => {
    const engine = connect(Number(port), hostname);
    let holding = false;
    for (const [socket, other] of [
      [client, engine],
      [engine, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
    engine.on('data', (chunk) => client.write(chunk));
    client.on('data', (chunk) => {
      holding ||= matching?.test(chunk.toString('latin1')) ?? false;
      if (!holding) engine.write(chunk);
      else
        waiting.push(() => {
          holding = false;
          engine.write(chunk);
        });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    endpoint: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    hold: (pattern) => {
      matching = pattern;
    },
    held: () => waiting.length,
    letGo() {
      matching = undefined;
      for (const go of waiting.splice(0)) go();
    },
    stop() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
