import type { Write, WriteOptions, WriteOutcome } from './client.js';
import { absent } from './expression.js';
import { type EachOutcome, type Fault, type StatementResponse, StoreUnavailable, statementOutcome } from './faults.js';
import { type EachWrite, type Statement, statementOf } from './statement.js';
import { definitionOf, type TableName } from './tables.js';

/** The limit of DynamoDB. */
export const maxStatementsPerCall = 25;

/** The result of one attempt of a call. */
export type Sent =
  | { readonly output: Record<string, unknown>; readonly fault?: undefined; readonly error?: undefined }
  | { readonly output?: undefined; readonly fault: Fault; readonly error: unknown };

export interface EachWriterDeps {
  write(write: Write, options: WriteOptions): Promise<WriteOutcome>;
  send(input: { readonly Statements: readonly Statement[] }): Promise<Sent>;
  tableName(table: TableName): string;
}

/**
 * Writes that do not depend on each other, of distinct items, each with its own condition and outcome. They share
 * calls, 25 in each. One attempt: the caller decides what to repeat.
 */
export class EachWriter {
  constructor(private readonly deps: EachWriterDeps) {}

  /** The outcomes are in the order of the writes. Throws only if a call is malformed, not for one statement. */
  async write(writes: readonly EachWrite[]): Promise<EachOutcome[]> {
    const outcomes = new Map<EachWrite, EachOutcome>();
    const batched: { readonly write: EachWrite; readonly statement: Statement }[] = [];
    const alone: EachWrite[] = [];
    for (const write of writes) {
      const statement = writes.length > 1 ? statementOf(write, this.deps.tableName(write.table)) : undefined;
      if (statement) batched.push({ write, statement });
      else alone.push(write);
    }
    const sendAlone = async (write: EachWrite): Promise<void> => {
      outcomes.set(write, await this.writeAlone(write));
    };
    const sendBatch = async (chunk: typeof batched): Promise<void> => {
      const found = await this.sendBatch(chunk.map(({ statement }) => statement));
      for (const [i, { write }] of chunk.entries()) outcomes.set(write, found[i] as EachOutcome);
    };
    const sending = alone.map(sendAlone);
    for (let i = 0; i < batched.length; i += maxStatementsPerCall)
      sending.push(sendBatch(batched.slice(i, i + maxStatementsPerCall)));
    await Promise.all(sending);
    return writes.map((write) => outcomes.get(write) as EachOutcome);
  }

  private async sendBatch(Statements: readonly Statement[]): Promise<EachOutcome[]> {
    const { output, fault } = await this.deps.send({ Statements });
    if (output) return (output.Responses as readonly StatementResponse[]).map(statementOutcome);
    const applied = fault.kind === 'unknown' ? 'unknown' : 'no';
    return Statements.map(() => ({ kind: 'failed', applied, isThrottled: fault.kind === 'throttled' }));
  }

  private async writeAlone(write: EachWrite): Promise<EachOutcome> {
    let isThrottled = false;
    const onThrottled = (): void => {
      isThrottled = true;
    };
    try {
      const outcome = await this.deps.write(plainWrite(write), { maxAttempts: 1, onThrottled, ...returnOption(write) });
      if (outcome.done) return outcome.item ? { kind: 'done', item: outcome.item } : { kind: 'done' };
      return outcome.old ? { kind: 'condition', old: outcome.old } : { kind: 'condition' };
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return { kind: 'failed', applied: error.applied === 'unknown' ? 'unknown' : 'no', isThrottled };
    }
  }
}

const plainWrite = (write: EachWrite): Write =>
  'insert' in write
    ? { table: write.table, put: write.insert, condition: absent(definitionOf(write.table).partitionKey) }
    : write;

const returnOption = (write: EachWrite): Pick<WriteOptions, 'returnNew'> =>
  'insert' in write || !write.returnNew ? {} : { returnNew: write.returnNew };
