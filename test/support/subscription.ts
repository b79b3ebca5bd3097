import { Arg, Authorized, Ctx, Int, Resolver, Root, Subscription } from 'type-graphql';
import type { Context } from '../../src/graphql/context.js';
import { createSchema } from '../../src/graphql/schema.js';
import type { Policy } from '../../src/identity/viewer.js';
import { GatewayError } from '../../src/lib/errors.js';
import { sleep } from '../../src/lib/timers.js';

/** Subscriptions for the tests of the transports. */
@Resolver()
export class TickResolver {
  @Authorized<Policy>('org:read')
  @Subscription(() => Int, { subscribe: ({ args }) => ticks(args.to as number, args.everyMs as number) })
  ticks(
    @Root() tick: number,
    @Arg('to', () => Int) _to: number,
    @Arg('everyMs', () => Int, { defaultValue: 10 }) _everyMs: number,
  ): number {
    return tick;
  }

  @Authorized<Policy>('signed-in')
  @Subscription(() => String, { subscribe: () => bulk() })
  bulk(@Root() text: string, @Ctx() _context: Context): string {
    return text;
  }

  @Authorized<Policy>('signed-in')
  @Subscription(() => Int, { subscribe: ({ args }) => ticks(1, 0, args.fault as string) })
  failing(@Root() _tick: number, @Arg('fault', () => String) fault: string): number {
    if (fault === 'known') throw new GatewayError('NOT_FOUND', 'no such thing');
    throw new Error('secret detail of the inside');
  }
}

async function* ticks(to: number, everyMs: number, _fault?: string): AsyncGenerator<number> {
  for (let tick = 1; tick <= to; tick++) {
    await sleep(everyMs);
    yield tick;
  }
}

async function* bulk(): AsyncGenerator<string> {
  for (let i = 0; i < 400; i++) {
    await sleep(0);
    yield 'x'.repeat(64 * 1024);
  }
}

export const schemaWithTicks = () => createSchema([TickResolver]);
