import { pacedTransport } from '../../../src/dynamo/paced-transport.js';
import type { Transport } from '../../../src/dynamo/transport.js';
import { EventLoopScheduler } from '../../../src/lib/event-loop-scheduler.js';

/** A transport that records its calls and returns its input, or throws it if it is an error. */
function echo() {
  const calls: string[] = [];
  const transport: Transport = {
    async send(call, input) {
      calls.push(call);
      if (input instanceof Error) throw input;
      return { input };
    },
    decode: (item) => ({ decoded: String(item) }),
    close: () => void calls.push('close'),
  };
  return { calls, transport };
}

class CountingScheduler extends EventLoopScheduler {
  readonly turns: string[] = [];

  override turn(which: 'begun' | 'fresh'): Promise<void> | undefined {
    this.turns.push(which);
    return super.turn(which);
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('pacedTransport', () => {
  it('returns the response of the transport', async () => {
    const { transport, calls } = echo();
    const paced = pacedTransport(transport, new EventLoopScheduler());
    expect(await paced.send('get', { a: 1 })).toEqual({ input: { a: 1 } });
    expect(calls).toEqual(['get']);
  });

  it('sends at once, and resumes its callers over several turns of the event loop', async () => {
    let nowMs = 0;
    const { transport, calls } = echo();
    // One millisecond passes between two looks at the clock.
    const paced = pacedTransport(transport, new EventLoopScheduler({ monotonicMs: () => nowMs++ }));
    const resumed: number[] = [];
    const all = Array.from({ length: 40 }, async (_, i) => {
      await paced.send('get', {});
      resumed.push(i);
    });
    expect(calls).toHaveLength(40);
    const perTurn: number[] = [];
    while (resumed.length < 40) {
      const before = resumed.length;
      await turn();
      perTurn.push(resumed.length - before);
    }
    await Promise.all(all);
    expect(resumed).toEqual(Array.from({ length: 40 }, (_, i) => i));
    expect(Math.max(...perTurn)).toBeLessThan(20);
  });

  it('throws the error of the transport without waiting for the scheduler', async () => {
    const { transport } = echo();
    const scheduler = new CountingScheduler();
    const error = new Error('throttled');
    await expect(pacedTransport(transport, scheduler).send('put', error)).rejects.toBe(error);
    expect(scheduler.turns).toEqual([]);
    await pacedTransport(transport, scheduler).send('put', {});
    expect(scheduler.turns).toEqual(['begun']);
  });

  it('decodes and closes with the transport', () => {
    const { transport, calls } = echo();
    const paced = pacedTransport(transport, new EventLoopScheduler());
    expect(paced.decode(1)).toEqual({ decoded: '1' });
    paced.close();
    expect(calls).toEqual(['close']);
  });
});
