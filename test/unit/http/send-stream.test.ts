import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sendStream } from '../../../src/http/send-stream.js';
import { endOfTurn } from '../../../src/lib/timers.js';
import { type ExportFormat, type ExportRow, exportChunks, exportWriter } from '../../../src/spend/ledger/export.js';
import { until } from '../../support/until.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const million = 1_000_000;
/** A million rows are about 50 MB. A stream that buffers them exceeds this several times over. */
const maxGrowthBytes = 24 * 1024 * 1024;

let respond: (response: ServerResponse) => Promise<unknown>;
let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((_request, response) => void respond(response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** The rows of a large org, made as they are read. */
async function* rows(count: number, onRow: (n: number) => void = () => undefined): AsyncGenerator<ExportRow> {
  for (let n = 1; n <= count; n++) {
    onRow(n);
    yield { day: '2026-11-17', label: 'premium', costUsdMicros: n, inputTokens: 10, outputTokens: 20, requests: 1 };
  }
}

const send = async (response: ServerResponse, source: AsyncGenerator<ExportRow>, format: ExportFormat = 'csv') => {
  const chunks = exportChunks(source, exportWriter({ format, by: 'label' }));
  const first = await chunks.next();
  response.writeHead(200, { 'content-type': 'text/plain' });
  const mayContinue = async () => {
    await endOfTurn();
    return true;
  };
  return sendStream(response, first, chunks, mayContinue);
};

/** Adds up a column without keeping the body. */
async function sumOf(format: ExportFormat): Promise<{ readonly sum: number; readonly lines: number }> {
  const reply = await fetch(url);
  let [rest, sum, lines] = ['', 0, 0];
  for await (const chunk of reply.body as unknown as AsyncIterable<Uint8Array>) {
    const parts = (rest + Buffer.from(chunk).toString()).split('\n');
    rest = parts.pop() as string;
    for (const line of parts) {
      lines++;
      const cost = format === 'csv' ? line.split(',')[2] : /"costUsdMicros":(\d+)/.exec(line)?.[1];
      if (Number.isFinite(Number(cost))) sum += Number(cost);
    }
  }
  return { sum, lines };
}

describe('a stream', () => {
  it.each([
    ['csv', million],
    ['jsonl', million / 10],
  ] as const)('of %s rows, up to a million, needs constant memory and loses no row', async (format, count) => {
    const usedBytes = () => {
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const startBytes = usedBytes();
    let maxBytes = 0;
    const measured = rows(count, (n) => {
      if (n % (count / 10) === 0) maxBytes = Math.max(maxBytes, usedBytes());
    });
    let outcome: unknown;
    respond = async (response) => {
      outcome = await send(response, measured, format);
    };
    // One line more: the header of CSV, the end of JSON lines.
    expect(await sumOf(format)).toEqual({ sum: (count * (count + 1)) / 2, lines: count + 1 });
    expect(outcome).toBe('complete');
    expect(maxBytes - startBytes).toBeLessThan(maxGrowthBytes);
  });

  it('waits for a client that does not read, and stops when it leaves', async () => {
    let made = 0;
    let outcome: unknown;
    respond = async (response) => {
      outcome = await send(
        response,
        rows(million, (n) => {
          made = n;
        }),
      );
    };
    const outgoing = request(url);
    outgoing.on('error', () => undefined).end();
    const incoming = await new Promise<IncomingMessage>((resolve) => outgoing.on('response', resolve));
    incoming.on('error', () => undefined);
    let before = -1;
    await until('the stream to wait', async () => {
      const isWaiting = made === before;
      before = made;
      return isWaiting;
    });
    expect(made).toBeLessThan(million / 2);
    outgoing.destroy();
    await until('the stream to end', () => outcome !== undefined);
    expect(outcome).toBe('aborted');
    expect(made).toBeLessThan(million / 2);
  });

  it('that fails in the middle does not look complete', async () => {
    respond = async (response) =>
      send(
        response,
        rows(million, (n) => {
          if (n === 50_000) throw new Error('the database did not respond');
        }),
      );
    await expect(sumOf('csv')).rejects.toThrow();
  });
});
