import type { Item, StoreClient } from '../../dynamo/client.js';
import { absent, and, atMost, equals, or, present } from '../../dynamo/expression.js';
import { taskKey } from '../limiter-keys.js';

const table = 'limiter';

export interface TaskTimes {
  readonly nowMs: number;
  /** From the beginning of one run to the next. */
  readonly everyMs: number;
  /** A run that has not been heard of for so long has died. */
  readonly claimMs: number;
}

/** A run of a task that this worker has taken. */
export interface TaskRun {
  readonly beganMs: number;
  /** The last part that is done already, by a worker that died. */
  readonly after?: string;
}

/** Lets one of several workers run a task once a period, and take up a run that has died. */
export class TaskStore {
  constructor(
    private readonly client: StoreClient,
    private readonly worker: string,
  ) {}

  /** Takes the run that is due, or one that has died; undefined where there is none. */
  async take(task: string, { nowMs, everyMs, claimMs }: TaskTimes): Promise<TaskRun | undefined> {
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
    return old && old.finished_ms === undefined && (old.heard_ms as number) <= nowMs - claimMs
      ? this.takeUp(task, old, nowMs)
      : undefined;
  }

  /** Notes how far the run has come; false where another worker has taken it. */
  note(task: string, { beganMs }: TaskRun, after: string, nowMs: number): Promise<boolean> {
    return this.change(task, beganMs, { after, heard_ms: nowMs });
  }

  finish(task: string, { beganMs }: TaskRun, nowMs: number): Promise<boolean> {
    return this.change(task, beganMs, { finished_ms: nowMs });
  }

  private async takeUp(task: string, { began_ms, heard_ms, after }: Item, nowMs: number): Promise<TaskRun | undefined> {
    const { worker } = this;
    const { done } = await this.client.write(
      {
        table,
        update: taskKey(task),
        set: { worker, heard_ms: nowMs },
        condition: and(
          equals('began_ms', began_ms as number),
          equals('heard_ms', heard_ms as number),
          absent('finished_ms'),
        ),
      },
      { repeat: (old) => old.worker === worker && old.heard_ms === nowMs },
    );
    return done
      ? { beganMs: began_ms as number, ...(after === undefined ? {} : { after: after as string }) }
      : undefined;
  }

  private async change(task: string, beganMs: number, set: Item): Promise<boolean> {
    const condition = and(equals('worker', this.worker), equals('began_ms', beganMs));
    return (await this.client.write({ table, update: taskKey(task), set, condition }, { repeat: 'idempotent' })).done;
  }
}
