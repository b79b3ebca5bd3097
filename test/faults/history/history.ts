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
  /** Reserves `micros` on the first of these scopes that has room for it, and on the scope of a budget. */
  | {
      readonly kind: 'admit';
      readonly scopes: readonly string[];
      readonly budget: string;
      readonly requestId: string;
      readonly micros: number;
    }
  | { readonly kind: 'renew'; readonly requestId: string }
  /** Ends an admission with a cost: `settle`, `cancelAdmission`, or `submitCost` with the id of the admission. */
  | { readonly kind: 'settle'; readonly scope: string; readonly requestId: string; readonly micros: number }
  | { readonly kind: 'overruns'; readonly scope: string }
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
  readonly admission?: Admission;
  /** The scope that denied an admission, and the amount that it had room for. */
  readonly room?: { readonly scope: string; readonly micros: number };
  readonly overruns?: readonly { readonly requestId: string; readonly kind: string; readonly overMicros: number }[];
}

export interface Admission {
  readonly id: string;
  readonly scope: string;
  readonly reservedMicros: number;
  readonly expiresAtMs: number;
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

/** The entries of one kind of act. */
export type EntryOf<K extends Act['kind']> = Entry & { readonly act: Extract<Act, { kind: K }> };

export const ofKind = <K extends Act['kind']>(entries: readonly Entry[], kind: K): EntryOf<K>[] =>
  entries.filter((entry): entry is EntryOf<K> => entry.act.kind === kind);

export const mayHaveHappened = ({ outcome }: Entry): boolean => outcome !== 'failed';
export const happened = ({ outcome }: Entry): boolean => outcome === 'ok';

export interface Violation {
  readonly rule: string;
  readonly what: string;
  readonly atMs: number;
}

export function grouped<T>(all: readonly T[], key: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const name = key(one);
    const group = groups.get(name);
    if (group) group.push(one);
    else groups.set(name, [one]);
  }
  return groups;
}
