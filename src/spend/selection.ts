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

export const selectionReasons = ['WITHIN_QUOTA', 'QUOTA_EXCEEDED', 'STICKY_FALLBACK', 'MANUAL_OVERRIDE', 'ALL_QUOTAS_EXCEEDED'] as const;
export type SelectionReason = (typeof selectionReasons)[number];

/** One label of the chain, with what it has used today. */
export interface ChainLink {
  readonly label: string;
  readonly costUsdMicros: number;
  /** A label without a quota has a quota of 0: spend without a bound is not to be had. */
  readonly quotaUsdMicros: number;
}

export interface Choice {
  /** Undefined: every quota from here on is used up. */
  readonly label: string | undefined;
  readonly reason: SelectionReason;
  readonly mode: SpendMode;
  /** Set where the sticky state has to move: from which label to which. */
  readonly move?: { readonly from: string; readonly to: string };
}

/**
 * Walks the chain from the sticky label, or the start, to the first label under its quota. The sticky label itself is
 * checked too; an override is obeyed as it stands.
 */
export function choose(chain: readonly ChainLink[], sticky: Sticky | undefined, stickyEnabled: boolean, thresholdPct: number): Choice {
  const modeAt = ({ costUsdMicros, quotaUsdMicros }: ChainLink) => modeOf(costUsdMicros, quotaUsdMicros, thresholdPct);
  const stuckAt = sticky ? chain.findIndex(({ label }) => label === sticky.activeLabel) : -1;
  const stuck = chain[stuckAt];
  if (sticky?.reason === 'MANUAL_OVERRIDE' && stuck) return { label: stuck.label, reason: 'MANUAL_OVERRIDE', mode: modeAt(stuck) };

  // A label that has left the ordering binds nobody.
  const start = stickyEnabled && stuck ? stuckAt : 0;
  const found = chain.findIndex((link, i) => i >= start && modeAt(link) !== 'EXCEEDED');
  const chosen = chain[found];
  if (!chosen) return { label: undefined, reason: 'ALL_QUOTAS_EXCEEDED', mode: 'EXCEEDED' };
  const mode = modeAt(chosen);
  const from = chain[start];
  if (found > start && from) {
    return { label: chosen.label, reason: 'QUOTA_EXCEEDED', mode, ...(stickyEnabled ? { move: { from: from.label, to: chosen.label } } : {}) };
  }
  return { label: chosen.label, reason: start > 0 ? 'STICKY_FALLBACK' : 'WITHIN_QUOTA', mode };
}
