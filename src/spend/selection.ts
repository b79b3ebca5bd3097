import { modeOf, type SpendMode } from './money.js';

export const stickyReasons = ['QUOTA_EXCEEDED', 'MANUAL_OVERRIDE'] as const;
export type StickyReason = (typeof stickyReasons)[number];

/** The label a scope has fallen back to, or was put on, for the rest of its day. */
export interface Sticky {
  readonly activeLabel: string;
  readonly previousLabel?: string;
  readonly reason: StickyReason;
  readonly activatedAt: Date;
}

export const selectionReasons = [
  'WITHIN_QUOTA',
  'QUOTA_EXCEEDED',
  'STICKY_FALLBACK',
  'MANUAL_OVERRIDE',
  'ALL_QUOTAS_EXCEEDED',
  'NO_USABLE_MODEL',
] as const;
export type SelectionReason = (typeof selectionReasons)[number];

export const skipReasons = ['UNKNOWN_LABEL'] as const;
export type SkipReason = (typeof skipReasons)[number];

/** One label of the chain, with what it has used today. */
export interface ChainLink {
  readonly label: string;
  readonly costUsdMicros: number;
  /** A label without a quota has a quota of 0: spend must have a bound. */
  readonly quotaUsdMicros: number;
  /** False: the catalog has no model for it, so it cannot be recommended. */
  readonly hasModel: boolean;
}

export interface Choice {
  /** Undefined: no label from here on can be called. */
  readonly label: string | undefined;
  readonly reason: SelectionReason;
  readonly mode: SpendMode;
  /** Set if the sticky state has to move: from which label to which. */
  readonly move?: { readonly from: string; readonly to: string };
}

/**
 * Walks the chain from the sticky label, or the start, to the first label that has a model and is under its quota. The
 * sticky label itself is checked too; an override is obeyed as it stands, if its label has a model.
 */
export function choose(
  chain: readonly ChainLink[],
  sticky: Sticky | undefined,
  stickyEnabled: boolean,
  thresholdPct: number,
): Choice {
  const modeAt = ({ costUsdMicros, quotaUsdMicros }: ChainLink) => modeOf(costUsdMicros, quotaUsdMicros, thresholdPct);
  const stuckAt = sticky ? chain.findIndex(({ label }) => label === sticky.activeLabel) : -1;
  const stuck = chain[stuckAt];
  if (sticky?.reason === 'MANUAL_OVERRIDE' && stuck?.hasModel)
    return { label: stuck.label, reason: 'MANUAL_OVERRIDE', mode: modeAt(stuck) };

  // A label that has left the ordering binds nobody.
  const start = stickyEnabled && stuck ? stuckAt : 0;
  const found = chain.findIndex((link, i) => i >= start && link.hasModel && modeAt(link) !== 'EXCEEDED');
  const chosen = chain[found];
  if (!chosen) return nothingToCall(chain.slice(start));
  const passed = chain.slice(start, found);
  const mode = modeAt(chosen);
  if (!passed.some((link) => modeAt(link) === 'EXCEEDED'))
    return { label: chosen.label, reason: start > 0 ? 'STICKY_FALLBACK' : 'WITHIN_QUOTA', mode };
  // Another gateway may know the label that was skipped here, so only used-up labels move the state that all gateways share.
  const [from] = passed;
  const moves = stickyEnabled && from && passed.every((link) => modeAt(link) === 'EXCEEDED');
  return {
    label: chosen.label,
    reason: 'QUOTA_EXCEEDED',
    mode,
    ...(moves ? { move: { from: from.label, to: chosen.label } } : {}),
  };
}

const nothingToCall = (rest: readonly ChainLink[]): Choice => ({
  label: undefined,
  reason: rest.length > 0 && rest.every(({ hasModel }) => !hasModel) ? 'NO_USABLE_MODEL' : 'ALL_QUOTAS_EXCEEDED',
  mode: 'EXCEEDED',
});

/** How long an answer may be relied on: the interval of its mode, and never past the end of the day. Nothing to call: until then. */
export function recheckAfterSecs(
  intervalSecs: number,
  nowMs: number,
  resetsAtMs: number,
  isAllUsedUp: boolean,
): number {
  const untilResetSecs = Math.max(1, Math.ceil((resetsAtMs - nowMs) / 1000));
  return isAllUsedUp ? untilResetSecs : Math.min(intervalSecs, untilResetSecs);
}
