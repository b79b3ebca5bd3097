import { sha256 } from '../lib/id.js';
import type { SubmittedAmounts } from './money.js';

/** What a caller sends with a cost. */
export interface CostPayload extends SubmittedAmounts {
  readonly modelLabel: string;
  readonly callStatus: string;
  readonly occurredAt?: Date | null | undefined;
  /** True if the usage is not known exactly. */
  readonly estimated?: boolean | undefined;
  readonly dimensions?: readonly { readonly name: string; readonly value: string }[] | null | undefined;
}

/**
 * A hash of the input only, because values computed from it may differ between attempts. What a later version added is
 * part of it only if it was sent, so that a retry matches the hash that an earlier version has stored.
 */
export function payloadHashOf(appId: string, payload: CostPayload): string {
  const { modelLabel, inputTokens, outputTokens, costUsdMicros, callStatus, occurredAt } = payload;
  const { dimensions, components, estimated } = payload;
  return sha256(
    JSON.stringify([
      appId,
      modelLabel,
      inputTokens,
      outputTokens,
      costUsdMicros ?? null,
      callStatus,
      occurredAt?.getTime() ?? null,
      ...(dimensions?.length ? [dimensions.map(({ name, value }) => [name, value])] : []),
      ...(components?.length ? [{ components: components.map(({ name, quantity }) => [name, quantity]) }] : []),
      ...(estimated ? [{ estimated }] : []),
    ]),
  );
}
