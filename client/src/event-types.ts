// Alerts and readings of devices.
import type { Scope } from './types.js';

export type AlertKind =
  | 'TIGHT_MODE'
  | 'QUOTA_EXCEEDED'
  | 'FALLBACK_ACTIVATED'
  | 'THRESHOLD'
  | 'RECOVERED'
  | 'PROJECTED'
  | 'GAP';

export interface QuotaAlert {
  readonly kind: AlertKind;
  readonly orgId: string;
  readonly appId: string | null;
  readonly label: string;
  readonly activeLabel: string | null;
  readonly day: string;
  readonly costUsdMicros: number;
  readonly quotaUsdMicros: number;
  readonly quotaPct: number;
  readonly thresholdPct: number;
  readonly budget: string | null;
  readonly raisedAt: string;
  /** Resumes after this alert. */
  readonly cursor: string;
}

export interface AlertsRequest extends Scope {
  readonly kinds?: readonly AlertKind[] | undefined;
  /** The `cursor` of the last alert that was handled. Default: only new alerts. */
  readonly after?: string | undefined;
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
}

export interface ReadingInput {
  readonly hardwareId: string;
  /** Unique per device. The same id with the same content is stored once. */
  readonly batchId: string;
  readonly timestampMs: number;
  readonly bootId: string;
  readonly firmwareVersion: string;
  readonly friendlyName?: string | undefined;
  readonly sensors: Readonly<Record<string, number | null>>;
  readonly sensorStatus: Readonly<Record<string, 'OK' | 'ERROR'>>;
}

export interface ReadingVerdict {
  /** The place of the reading in the list that was passed. */
  readonly index: number;
  readonly batchId: string;
  readonly kind: 'STORED' | 'DUPLICATE' | 'CONFLICT' | 'REJECTED' | 'RETRY';
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface IngestResult {
  /** Batch ids that are stored. The device can drop them. */
  readonly settledBatchIds: readonly string[];
  /** One per reading, in order. `RETRY` only if the retries were used up. */
  readonly verdicts: readonly ReadingVerdict[];
}
