import type { Item, StoreClient } from '../../dynamo/client.js';
import { absent, and, atMost, equals, or, present } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { taskKey } from '../limiter-keys.js';

const table = 'limiter';

export interface TaskTimes {
  readonly nowMs: number;
  /** From the start of one run to the start of the next. */
  readonly everyMs: number;
  /** A run without progress for this long counts as dead. */
  readonly claimMs: number;
}

/** A run of a task that this worker has claimed. */
export interface TaskRun {
  readonly beganMs: number;
  /** The last part that a worker finished before it died. */
  readonly after?: string;
}

/** Lets one of several workers run a task once per period, and lets another worker resume a dead run. */
export class TaskStore {
  constructor(
    private readonly client: StoreClient,
    private readonly worker: string,
  ) {}

  /** Claims the run that is due or a dead run. Undefined if there is neither. */
  async claim(task: string, { nowMs, everyMs, claimMs }: TaskTimes): Promise<TaskRun | undefined> {
    const isDue = or(absent('began_ms'), and(present('finished_ms'), atMost('began_ms', nowMs - everyMs)));
    const { worker } = this;
    const begun = await this.client.write(
      {
        table,
        update: taskKey(task),
        set: { worker, began_ms: nowMs, heard_ms: nowMs },
        remove: ['finished_ms', 'after'],
        condition: isDue,
      },
      { repeat: (old) => old.worker === worker && old.began_ms === nowMs },
    );
    if (begun.done) return { beganMs: nowMs };
    const { old } = begun;
    const isDead = old && old.finished_ms === undefined && fields(table, old).number('heard_ms') <= nowMs - claimMs;
    return isDead ? this.resume(task, old, nowMs) : undefined;
  }

  /** Stores the last finished part. False if another worker has claimed the run. */
  saveProgress(task: string, { beganMs }: TaskRun, after: string, nowMs: number): Promise<boolean> {
    return this.change(task, beganMs, { after, heard_ms: nowMs });
  }

  finish(task: string, { beganMs }: TaskRun, nowMs: number): Promise<boolean> {
    return this.change(task, beganMs, { finished_ms: nowMs });
  }

  private async resume(task: string, old: Item, nowMs: number): Promise<TaskRun | undefined> {
    const { worker } = this;
    const read = fields(table, old);
    const [beganMs, heardMs, after] = [read.number('began_ms'), read.number('heard_ms'), read.optionalString('after')];
    const { done } = await this.client.write(
      {
        table,
        update: taskKey(task),
        set: { worker, heard_ms: nowMs },
        condition: and(equals('began_ms', beganMs), equals('heard_ms', heardMs), absent('finished_ms')),
      },
      { repeat: (current) => current.worker === worker && current.heard_ms === nowMs },
    );
    return done ? { beganMs, ...(after === undefined ? {} : { after }) } : undefined;
  }

  private async change(task: string, beganMs: number, set: Item): Promise<boolean> {
    const condition = and(equals('worker', this.worker), equals('began_ms', beganMs));
    return (await this.client.write({ table, update: taskKey(task), set, condition }, { repeat: 'idempotent' })).done;
  }
}
