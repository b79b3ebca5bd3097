import type { Item } from '../../dynamo/expression.js';
import { fields } from '../../dynamo/fields.js';
import { key } from '../../dynamo/keys.js';
import { costTable, type RequestRef } from '../cost.item.js';
import type { Correction } from './correction.js';

/** Each correction of a cost adds an attribute with its id and time, so that a reader finds the items. */
const prefix = 'cor_';

export const correctionKey = ({ orgId, appId, requestId }: RequestRef, correctionId: string) => ({
  PK: key`ORG#${orgId}#APP#${appId}#REQ#${requestId}#COR#${correctionId}`,
});

/** A correction as stored. The hash of the caller's input tells a retry from another correction. */
export interface StoredCorrection {
  readonly correction: Correction;
  readonly payloadHash: string;
  /** Identifies the attempt that stored it. */
  readonly nonce: string;
}

export const toCorrectionItem = (ref: RequestRef, { correction, payloadHash, nonce }: StoredCorrection): Item => ({
  ...correctionKey(ref, correction.correctionId),
  correction_id: correction.correctionId,
  delta_usd_micros: correction.deltaUsdMicros,
  reason: correction.reason,
  corrected_at_ms: correction.correctedAt.getTime(),
  payload_hash: payloadHash,
  nonce,
});

export function toStoredCorrection(item: Item): StoredCorrection {
  const read = fields(costTable, item);
  return {
    correction: {
      correctionId: read.string('correction_id'),
      deltaUsdMicros: read.number('delta_usd_micros'),
      reason: read.string('reason'),
      correctedAt: read.date('corrected_at_ms'),
    },
    payloadHash: read.string('payload_hash'),
    nonce: read.string('nonce'),
  };
}

/** The attribute of the cost item that names a correction. */
export const correctionMark = (correctionId: string): string => prefix + correctionId;

/** What the item of a cost says about its corrections. */
export function correctionsIn(item: Item): { readonly deltaUsdMicros: number; readonly correctionIds: string[] } {
  const read = fields(costTable, item);
  const names = Object.keys(item).filter((name) => name.startsWith(prefix));
  const byTime = names.sort((a, b) => read.number(a) - read.number(b) || (a < b ? -1 : 1));
  return {
    deltaUsdMicros: read.optionalNumber('corrected_usd_micros') ?? 0,
    correctionIds: byTime.map((name) => name.slice(prefix.length)),
  };
}
