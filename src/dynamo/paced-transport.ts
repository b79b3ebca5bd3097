import type { EventLoopScheduler } from '../lib/event-loop-scheduler.js';
import type { Transport } from './transport.js';

/** Resumes the caller of each successful call when the scheduler lets it, instead of in the tick of the response. */
export const pacedTransport = (transport: Transport, scheduler: EventLoopScheduler): Transport => ({
  async send(call, input) {
    const output = await transport.send(call, input);
    await scheduler.turn('begun');
    return output;
  },
  decode: (item) => transport.decode(item),
  close: () => transport.close(),
});
