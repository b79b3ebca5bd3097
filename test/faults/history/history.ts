import { randomUUID } from 'node:crypto';

/** What a client asked for, with all that is needed to judge the answers afterwards. */
export type Act =
  | { readonly kind: 'cost'; readonly scope: string; readonly requestId: string; readonly micros: number }
  /** The sum of the shards, read consistently. */
  | { readonly kind: 'shards'; readonly scope: string }
  /** The total as the worker last summed it. */
  | { readonly kind: 'total'; readonly scope: string }
  | { readonly kind: 'acquire'; readonly bucket: string; readonly amount: number; readonly requestId: string }
  | {
      readonly kind: 'adjust';
      readonly bucket: string;
      readonly leaseId: string;
      readonly amount: number;
      readonly key: string;
    }
  /** `amount`: all that the lease holds, its adjustments included. */
  | { readonly kind: 'release'; readonly bucket: string; readonly leaseId: string; readonly amount: number }
  | { readonly kind: 'consumed'; readonly bucket: string }
  | { readonly kind: 'ingest'; readonly readings: readonly SentReading[] }
  /** All that is stored of a device. */
  | { readonly kind: 'readings'; readonly device: string }
  | { readonly kind: 'retrieve'; readonly token: string }
  | { readonly kind: 'refresh'; readonly token: string }
  | { readonly kind: 'revoke'; readonly credential: string }
  /** Anything that a credential opens. */
  | { readonly kind: 'ask' };

export interface SentReading {
  readonly device: string;
  readonly batchId: string;
  readonly value: number;
}

/** What came back of a call that was answered with data; which fields there are depends on the act. */
export interface Told {
  readonly micros?: number;
  readonly asOfMs?: number;
  readonly granted?: boolean;
  readonly leaseId?: string;
  readonly replayed?: boolean;
  readonly consumed?: number;
  readonly verdicts?: readonly string[];
  readonly stored?: readonly { readonly batchId: string; readonly value: number }[];
  readonly secret?: string;
  readonly successor?: string;
}

/** ok: done. failed: refused, or never sent: nothing was changed. unknown: it may have been done. */
export type Outcome = 'ok' | 'failed' | 'unknown';

export interface Entry {
  /** Sent as its request id, by which a gateway's log names it. */
  readonly callId: string;
  readonly tenant: string;
  /** The name of what was presented, not the secret itself. */
  readonly credential: string;
  /** Which gateway was asked. */
  readonly via: number;
  readonly act: Act;
  readonly invokedMs: number;
  readonly endedMs: number;
  readonly outcome: Outcome;
  readonly told: Told;
  /** The code of the error, or what became of the connection. */
  readonly code?: string;
  /** The tenants whose canaries stand in the bytes that came back. */
  readonly canaries: readonly string[];
}

/** What a call came to, before it is put on record. */
export type Result = Pick<Entry, 'outcome' | 'told' | 'code' | 'canaries'>;

/** Who calls, by what. */
export type Caller = Pick<Entry, 'tenant' | 'credential' | 'via'>;

/** Everything that clients did and saw, in the order in which it ended. */
export class History {
  readonly entries: Entry[] = [];

  async record(caller: Caller, act: Act, call: (callId: string) => Promise<Result>): Promise<Entry> {
    const invokedMs = Date.now();
    const callId = randomUUID();
    const result = await call(callId);
    const { tenant, credential, via } = caller;
    const entry: Entry = { callId, tenant, credential, via, act, invokedMs, endedMs: Date.now(), ...result };
    this.entries.push(entry);
    return entry;
  }
}
