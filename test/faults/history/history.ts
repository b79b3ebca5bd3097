import { randomUUID } from 'node:crypto';

/** What a client requested, with everything that the checks need afterwards. */
export type Act =
  | { readonly kind: 'cost'; readonly scope: string; readonly requestId: string; readonly micros: number }
  /** Changes a recorded cost by `micros`, which are negative for a credit. */
  | { readonly kind: 'correction'; readonly scope: string; readonly correctionId: string; readonly micros: number }
  /** The sum of the shards, by strongly consistent reads. */
  | { readonly kind: 'shards'; readonly scope: string }
  /** The total that the worker has written last. */
  | { readonly kind: 'total'; readonly scope: string }
  /** The total of a day beside the sum of its hours. */
  | { readonly kind: 'hours'; readonly scope: string }
  | { readonly kind: 'acquire'; readonly bucket: string; readonly amount: number; readonly requestId: string }
  | {
      readonly kind: 'adjust';
      readonly bucket: string;
      readonly leaseId: string;
      readonly amount: number;
      readonly key: string;
    }
  /** `amount`: everything that the lease holds, including adjustments. */
  | { readonly kind: 'release'; readonly bucket: string; readonly leaseId: string; readonly amount: number }
  | { readonly kind: 'consumed'; readonly bucket: string }
  | { readonly kind: 'ingest'; readonly readings: readonly SentReading[] }
  /** All stored readings of a device. */
  | { readonly kind: 'readings'; readonly device: string }
  | { readonly kind: 'retrieve'; readonly token: string }
  | { readonly kind: 'refresh'; readonly token: string }
  | { readonly kind: 'revoke'; readonly credential: string }
  /** Any other operation with a credential. */
  | { readonly kind: 'other' };

export interface SentReading {
  readonly device: string;
  readonly batchId: string;
  readonly value: number;
}

/** The data of a successful response. The fields depend on the act. */
export interface ResponseData {
  readonly micros?: number;
  readonly hourMicros?: number;
  readonly day?: string;
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

/** ok: applied. failed: rejected or never sent, so nothing was changed. unknown: it may have been applied. */
export type Outcome = 'ok' | 'failed' | 'unknown';

export interface Entry {
  /** Sent as the request id, which a gateway writes into its log. */
  readonly callId: string;
  readonly tenant: string;
  /** The name of the credential, not the secret. */
  readonly credential: string;
  /** The index of the gateway. */
  readonly via: number;
  readonly act: Act;
  readonly invokedMs: number;
  readonly endedMs: number;
  readonly outcome: Outcome;
  readonly data: ResponseData;
  /** The code of the error, or the failure of the connection. */
  readonly code?: string;
  /** The tenants whose canaries are in the response. */
  readonly canaries: readonly string[];
}

/** The result of a call. */
export type Result = Pick<Entry, 'outcome' | 'data' | 'code' | 'canaries'>;

/** Who calls, with which credential, through which gateway. */
export type Caller = Pick<Entry, 'tenant' | 'credential' | 'via'>;

/** Every call of every client with its result, in the order in which the calls ended. */
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
