import { SharedCalls } from '../../../src/lib/shared-calls.js';
import { endOfTurn } from '../../../src/lib/timers.js';
import { stoppedClock } from '../../support/clock.js';

const options = { minSize: 2, maxSize: 20, clock: stoppedClock(0) };

/** Calls whose responses wait until they are released. */
function heldCalls() {
  const calls: { readonly writes: readonly string[]; release(): void; fail(error: Error): void }[] = [];
  const send = (writes: readonly string[]) =>
    new Promise<string[]>((resolve, reject) => {
      calls.push({ writes, release: () => resolve(writes.map((each) => each.toUpperCase())), fail: reject });
    });
  return { calls, send, sent: () => calls.map(({ writes }) => writes.join('')) };
}

/** Lets the writes that were submitted be sent, as far as they are not held back. */
async function turns(): Promise<void> {
  for (let i = 0; i < 3; i++) await endOfTurn();
}

const letters = (count: number) => Array.from({ length: count }, (_, i) => String.fromCharCode(97 + i));

it('sends the writes of one turn in one call, and gives each its own result', async () => {
  const { calls, send, sent } = heldCalls();
  const shared = new SharedCalls<string, string>({ ...options, send });
  const results = Promise.all(['a', 'b', 'c'].map((write) => shared.submit(write)));
  await turns();
  expect(sent()).toEqual(['abc']);
  calls[0]?.release();
  expect(await results).toEqual(['A', 'B', 'C']);
});

it('sends a write of an idle process at once, alone', async () => {
  const { calls, send, sent } = heldCalls();
  const shared = new SharedCalls<string, string>({ ...options, send });
  const result = shared.submit('a');
  await turns();
  expect(sent()).toEqual(['a']);
  calls[0]?.release();
  expect(await result).toBe('A');
});

it('sends fewer writes than minSize by calls of their own', async () => {
  const { send, sent } = heldCalls();
  const shared = new SharedCalls<string, string>({ ...options, minSize: 3, send });
  for (const write of ['a', 'b']) void shared.submit(write);
  await turns();
  expect(sent()).toEqual(['a', 'b']);
});

it('never has two writes of one item in a call, and sends them in their order', async () => {
  const { send, sent } = heldCalls();
  const identity = (write: string) => write.slice(0, 1);
  const shared = new SharedCalls<string, string>({ ...options, identity, send });
  for (const write of ['a1', 'b1', 'a2', 'c1', 'a3']) void shared.submit(write);
  await turns();
  expect(sent()).toEqual(['a1b1c1', 'a2', 'a3']);
});

it('holds writes back while four calls are in flight, until one of them ends', async () => {
  const { calls, send, sent } = heldCalls();
  const shared = new SharedCalls<string, string>({ ...options, send });
  for (const write of ['a', 'b', 'c', 'd']) {
    void shared.submit(write);
    await turns();
  }
  for (const write of ['e', 'f']) void shared.submit(write);
  // No timer can fire before the next line.
  await endOfTurn();
  const held = sent();
  calls[0]?.release();
  await turns();
  expect([held, sent()]).toEqual([
    ['a', 'b', 'c', 'd'],
    ['a', 'b', 'c', 'd', 'ef'],
  ]);
});

it('holds no write back for longer than a few milliseconds, whatever is in flight', async () => {
  const { send, sent } = heldCalls();
  const shared = new SharedCalls<string, string>({ ...options, send });
  for (const write of ['a', 'b', 'c', 'd']) {
    void shared.submit(write);
    await turns();
  }
  void shared.submit('e');
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(sent()).toEqual(['a', 'b', 'c', 'd', 'e']);
});

it('fails every write of a call that throws, and goes on', async () => {
  const { calls, send } = heldCalls();
  const shared = new SharedCalls<string, string>({ ...options, send });
  const results = Promise.allSettled(['a', 'b'].map((write) => shared.submit(write)));
  await turns();
  calls[0]?.fail(new Error('lost'));
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const next = shared.submit('c');
  await turns();
  calls[1]?.release();
  expect(await next).toBe('C');
});

it('doubles its calls while they are full, up to maxSize, and halves them after a slow one', async () => {
  const clock = stoppedClock(0);
  const sizes: number[] = [];
  let tookMs = 0;
  const send = async (writes: readonly string[]) => {
    sizes.push(writes.length);
    clock.advance(tookMs);
    return writes;
  };
  const shared = new SharedCalls<string, string>({ ...options, clock, send });
  const submitAll = (count: number) => Promise.all(letters(count).map((write) => shared.submit(write)));
  for (const count of [8, 16, 20]) await submitAll(count);
  tookMs = 501;
  await submitAll(20);
  tookMs = 0;
  await submitAll(20);
  expect(sizes).toEqual([8, 16, 20, 20, 10, 10]);
});
