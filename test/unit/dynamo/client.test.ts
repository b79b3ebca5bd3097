import { AsyncResource } from 'node:async_hooks';
import { StoreClient } from '../../../src/dynamo/client.js';
import { absent, type Item } from '../../../src/dynamo/expression.js';
import { type TransactItem, transactItem } from '../../../src/dynamo/transact-item.js';
import type { Transport } from '../../../src/dynamo/transport.js';

const table = 'daily_total';

interface Reason {
  readonly Code: string;
  readonly Item?: Item;
}

/** A transport that cancels every transaction with the given reasons, or applies it if there are none. */
class FakeTransport implements Transport {
  readonly sent: { TransactItems: Record<string, { Item?: Item; Key?: Item }>[] }[] = [];

  constructor(private readonly reasons?: readonly Reason[]) {}

  async send(_call: string, input: object): Promise<Record<string, unknown>> {
    this.sent.push(input as (typeof this.sent)[number]);
    if (!this.reasons) return {};
    throw Object.assign(new Error('cancelled'), {
      name: 'TransactionCanceledException',
      $fault: 'client',
      CancellationReasons: this.reasons,
    });
  }

  decode(item: unknown): Item {
    return item as Item;
  }

  close(): void {}
}

const put = (name: string) => ({ table, put: { PK: name, SK: '1' }, condition: absent('PK') }) as const;
const rider = (name: string): TransactItem => transactItem(put(name));
const applied = { Code: 'None' };
const failed = (name: string): Reason => ({ Code: 'ConditionalCheckFailed', Item: { PK: name } });

describe('StoreClient.transact with riders', () => {
  it('sends the writes and then the riders as one transaction', async () => {
    const transport = new FakeTransport();
    const outcome = await new StoreClient(transport, 't_').transact('judged', [put('a'), put('b')], {
      riders: [rider('audit'), transactItem({ table, check: { PK: 'lease', SK: '1' }, condition: absent('done') })],
    });
    expect(outcome).toEqual({ done: true });
    const [{ TransactItems }] = transport.sent as [(typeof transport.sent)[number]];
    expect(transport.sent).toHaveLength(1);
    expect(TransactItems.map((item) => Object.keys(item)[0])).toEqual(['Put', 'Put', 'Put', 'ConditionCheck']);
    expect(TransactItems.map((item) => Object.values(item)[0]).map((item) => (item?.Item ?? item?.Key)?.PK)).toEqual([
      'a',
      'b',
      'audit',
      'lease',
    ]);
  });

  it('returns the reasons of the writes apart from those of the riders', async () => {
    const transport = new FakeTransport([applied, failed('b'), applied, failed('lease')]);
    const outcome = await new StoreClient(transport, 't_').transact('judged', [put('a'), put('b')], {
      riders: [rider('audit'), rider('lease')],
    });
    expect(outcome).toEqual({
      done: false,
      reasons: [{ kind: 'none' }, { kind: 'condition', old: { PK: 'b' } }],
      riderReasons: [{ kind: 'none' }, { kind: 'condition', old: { PK: 'lease' } }],
    });
  });

  it('returns no failed write if only a rider failed', async () => {
    const transport = new FakeTransport([applied, failed('lease')]);
    const outcome = await new StoreClient(transport, 't_').transact('judged', [put('a')], { riders: [rider('lease')] });
    expect(outcome).toMatchObject({ reasons: [{ kind: 'none' }], riderReasons: [{ kind: 'condition' }] });
  });

  it('returns an empty list of rider reasons if there are no riders', async () => {
    const outcome = await new StoreClient(new FakeTransport([failed('a')]), 't_').transact('judged', [put('a')]);
    expect(outcome).toEqual({
      done: false,
      reasons: [{ kind: 'condition', old: { PK: 'a' } }],
      riderReasons: [],
    });
  });

  it('recognises its own success by a fresh put among the riders', async () => {
    const riders = [rider('lease'), transactItem({ ...put('event'), fresh: true })];
    const own = new FakeTransport([failed('a'), applied, failed('event')]);
    expect(await new StoreClient(own, 't_').transact('fresh', [put('a')], { riders })).toEqual({ done: true });
    const foreign = new FakeTransport([failed('a'), failed('lease'), applied]);
    expect(await new StoreClient(foreign, 't_').transact('fresh', [put('a')], { riders })).toMatchObject({
      done: false,
    });
  });

  it('passes all reasons, those of the riders last, to a function that recognises its own success', async () => {
    const kinds: string[][] = [];
    const transport = new FakeTransport([applied, failed('lease')]);
    const outcome = await new StoreClient(transport, 't_').transact(
      (reasons) => {
        kinds.push(reasons.map(({ kind }) => kind));
        return true;
      },
      [put('a')],
      { riders: [rider('lease')] },
    );
    expect(outcome).toEqual({ done: true });
    expect(kinds).toEqual([['none', 'condition']]);
  });

  it('accepts a transaction whose only condition is that of a rider, and rejects one without any', async () => {
    const transport = new FakeTransport();
    const client = new StoreClient(transport, 't_');
    const unconditional = { table, put: { PK: 'a', SK: '1' } } as const;
    expect(await client.transact('judged', [unconditional], { riders: [rider('audit')] })).toEqual({ done: true });
    await expect(client.transact('judged', [unconditional], { riders: [transactItem(unconditional)] })).rejects.toThrow(
      'without a condition',
    );
    expect(transport.sent).toHaveLength(1);
  });
});

describe('StoreClient.close', () => {
  it('leaves nothing behind that every later promise of the process would have to carry', () => {
    const units = { read: 0, write: 0, calls: 0 };
    /** Node 20 copies the value of each AsyncLocalStorage that is not disabled to every new resource. */
    const isCarried = () => {
      const resource = new AsyncResource('test');
      return Reflect.ownKeys(resource).some((key) => Reflect.get(resource, key) === units);
    };
    const client = new StoreClient(new FakeTransport(), 't_');
    client.metered(units, () => {
      client.close();
      expect(isCarried()).toBe(false);
    });
  });
});
