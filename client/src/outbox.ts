import { TollgateError } from './errors.js';

/** The mutation that records a cost, with its variables. */
export type CostMutation =
  | { readonly kind: 'settle'; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: 'cancel'; readonly admissionId: string }
  | { readonly kind: 'submit'; readonly input: Readonly<Record<string, unknown>> };

/** A cost that is not acknowledged yet. Plain data, so that it can be stored as JSON. */
export interface OutboxEntry {
  /** The request id of the call. Unique in the outbox. */
  readonly id: string;
  readonly startedAtMs: number;
  /** The call has begun and its end is not known. `mutation` records what it was estimated to use. */
  readonly isRunning?: true;
  readonly mutation: CostMutation;
}

/** Keeps costs until Tollgate has acknowledged them. */
export interface Outbox {
  /** True if entries survive the end of the process. */
  readonly isDurable: boolean;
  /** Called once, before anything else. Returns the entries that an earlier process has left. */
  open(): Promise<readonly OutboxEntry[]>;
  /** Stores an entry, or replaces the entry with the same id. Resolves once it is stored. */
  put(entry: OutboxEntry): Promise<void>;
  /** Called right before the call of a stored entry is made. After a crash, a call without it is cancelled. */
  start?(id: string): void;
  /** Removes an acknowledged entry. It may come back after a crash, because it can be sent again safely. */
  remove(id: string): Promise<void>;
  /** Moves an entry to the dead letters. */
  bury(entry: OutboxEntry, error: TollgateError): Promise<void>;
  close(): Promise<void>;
}

/** An outbox that is lost with the process. A call that would be entry `max + 1` fails before it is made. */
export function memoryOutbox({ max = 10_000 }: { readonly max?: number } = {}): Outbox {
  const entries = new Set<string>();
  return {
    isDurable: false,
    open: async () => [],
    async put({ id }) {
      if (entries.size >= max && !entries.has(id))
        throw new TollgateError('OUTBOX_FULL', 'the outbox is full', {
          retryable: true,
        });
      entries.add(id);
    },
    async remove(id) {
      entries.delete(id);
    },
    async bury({ id }) {
      entries.delete(id);
    },
    close: async () => undefined,
  };
}
