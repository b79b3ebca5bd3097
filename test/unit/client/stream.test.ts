import { BadInput, type QuotaAlert, type ReadingInput, type ReadingVerdict, Tollgate } from '@tollgate/client';
import { TestTollgate } from '@tollgate/client/testing';
import fc from 'fast-check';
import { eventsOf } from '../../../client/src/stream.js';
import { virtualTime } from '../../support/virtual-time.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const reader = (all: readonly Uint8Array[]) => {
  const left = [...all];
  return async () => ({ done: left.length === 0, value: left.shift() });
};

it('reads events however the stream is cut', async () => {
  const text =
    ':\n\nevent: next\ndata: {"a":"é"}\nid: 1\n\n:\n\nevent: next\r\ndata: 1\r\ndata: 2\r\n\r\nevent: complete\n\n';
  const whole = bytes(text);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 10 }), async (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
      const chunks = places.slice(1).map((end, i) => whole.slice(places[i], end));
      const events: object[] = [];
      for await (const event of eventsOf(reader(chunks))) events.push(event);
      expect(events).toEqual([
        { event: 'next', data: '{"a":"é"}' },
        { event: 'next', data: '1\n2' },
        { event: 'complete', data: '' },
      ]);
    }),
  );
});

describe('alerts', () => {
  it('come in order, resume by cursor after a disconnect, and end on abort', async () => {
    const time = virtualTime();
    const server = new TestTollgate({ clock: time.clock });
    const abort = new AbortController();
    const labels: string[] = [];
    const following = (async () => {
      for await (const { label } of server.tollgate.alerts({ after: '0', signal: abort.signal })) labels.push(label);
      return 'ended';
    })();
    server.raise({ label: 'a' });
    await time.pass(1);
    server.disconnect();
    server.raise({ label: 'b' });
    server.goDown(7);
    await time.pass(60_000);
    server.raise({ label: 'c' });
    await time.pass(1);
    expect(labels).toEqual(['a', 'b', 'c']);
    abort.abort();
    expect(await time.run(following)).toBe('ended');
  });

  it('reconnect when the stream is silent', async () => {
    const time = virtualTime();
    let connections = 0;
    const silent: typeof fetch = async (_, init) => {
      connections++;
      const body = new ReadableStream({
        start: (controller) => init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason)),
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    };
    const tollgate = new Tollgate({ url: 'http://tollgate.test/', clock: time.clock, fetch: silent });
    const abort = new AbortController();
    const next = tollgate.alerts({ signal: abort.signal }).next();
    await time.pass(70_000);
    expect(connections).toBe(3);
    abort.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('throw what cannot be mended by a new connection', async () => {
    const time = virtualTime();
    const refuse: typeof fetch = async () =>
      Response.json({ errors: [{ message: 'after: must be a cursor', extensions: { code: 'BAD_USER_INPUT' } }] });
    const tollgate = new Tollgate({ url: 'http://tollgate.test/', clock: time.clock, fetch: time.fetch(refuse) });
    const next: Promise<IteratorResult<QuotaAlert, void>> = tollgate.alerts({ after: '?' }).next();
    await expect(time.run(next)).rejects.toBeInstanceOf(BadInput);
  });
});

describe('ingest', () => {
  const reading = (i: number): ReadingInput => ({
    hardwareId: 'AA:BB:CC:DD:EE:FF',
    batchId: `b${i}`,
    timestampMs: i,
    bootId: '5b0e7a54-9e5e-4f0c-8a4b-6a3b1d2c7e90',
    firmwareVersion: '1.0',
    sensors: { bme280TempC: 20 },
    sensorStatus: { bme280: 'OK' },
  });

  it('sends 100 readings per call, and those again whose verdict is RETRY', async () => {
    const time = virtualTime();
    const calls: number[] = [];
    const seen = new Set<string>();
    const ingest = ({ input }: Readonly<Record<string, unknown>>) => {
      const { readings } = input as { readonly readings: readonly ReadingInput[] };
      calls.push(readings.length);
      const verdicts = readings.map(({ batchId, timestampMs }, index): ReadingVerdict => {
        const kind = timestampMs % 10 === 0 && !seen.has(batchId) ? 'RETRY' : timestampMs === 7 ? 'REJECTED' : 'STORED';
        seen.add(batchId);
        return { index, batchId, kind, error: null };
      });
      return { ingest: { verdicts } };
    };
    const { tollgate } = new TestTollgate({ clock: time.clock, operations: { Ingest: ingest } });
    const readings = Array.from({ length: 250 }, (_, i) => reading(i));
    const { verdicts, settledBatchIds } = await time.run(tollgate.devices.ingest(readings));
    expect(calls).toEqual([100, 100, 50, 25]);
    expect(verdicts.map(({ index, batchId }) => [index, batchId])).toEqual(
      readings.map(({ batchId }, i) => [i, batchId]),
    );
    expect(verdicts.filter(({ kind }) => kind !== 'STORED').map(({ batchId }) => batchId)).toEqual(['b7']);
    expect(settledBatchIds).toHaveLength(249);
  });

  it('gives up after the retries, and says which readings are open', async () => {
    const time = virtualTime();
    const ingest = () => ({ ingest: { verdicts: [{ index: 0, batchId: 'b1', kind: 'RETRY', error: null }] } });
    const { tollgate } = new TestTollgate({ clock: time.clock, retries: 2, operations: { Ingest: ingest } });
    const result = await time.run(tollgate.devices.ingest([reading(1)]));
    expect(result).toEqual({
      settledBatchIds: [],
      verdicts: [{ index: 0, batchId: 'b1', kind: 'RETRY', error: null }],
    });
  });
});
