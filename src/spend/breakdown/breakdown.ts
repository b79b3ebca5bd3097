import { groupBy } from '../../lib/group-by.js';
import { noUsage, sum, type Usage } from '../money.js';

export const breakdownKinds = ['APP', 'LABEL', 'DIMENSION'] as const;
export type BreakdownKind = (typeof breakdownKinds)[number];

/** The spend of one app, label or value. */
export interface SpendShare extends Usage {
  readonly name: string;
  /** The labels of an app, the largest costs first. */
  readonly labels?: readonly SpendShare[];
}

/** The spend of an org in a range of days, split up. The rows and the rest always add up to the total. */
export interface SpendBreakdown {
  readonly by: BreakdownKind;
  readonly total: Usage;
  /** The largest costs first. */
  readonly rows: readonly SpendShare[];
  /** Everything that no row has: smaller rows, and costs that carry no value or were not attributed. */
  readonly rest: Usage;
}

/** Adds shares with the same name up. */
export const addShares = (all: readonly SpendShare[]): SpendShare[] =>
  [...groupBy(all, ({ name }) => name)].map(([name, same]) => ({ name, ...sum(same) }));

/** The shares with the largest costs. Shares without any call are left out. */
export const topShares = (shares: readonly SpendShare[], count: number): SpendShare[] =>
  shares
    .filter(({ requests }) => requests > 0)
    .sort((a, b) => b.costUsdMicros - a.costUsdMicros || (a.name < b.name ? -1 : 1))
    .slice(0, count);

/**
 * `whole` is the spend of the org. Its parts may have been summed a moment later and be larger, so the total is at
 * least the sum of the rows.
 */
export function breakdownOf(
  by: BreakdownKind,
  whole: Usage,
  shares: readonly SpendShare[],
  count: number,
): SpendBreakdown {
  const rows = topShares(shares, count);
  const shown = sum(rows);
  const total = figures((name) => Math.max(whole[name], shown[name]));
  return { by, total, rows, rest: figures((name) => total[name] - shown[name]) };
}

const figureNames = Object.keys(noUsage) as (keyof Usage)[];
const figures = (of: (name: keyof Usage) => number): Usage =>
  Object.fromEntries(figureNames.map((name) => [name, of(name)])) as unknown as Usage;
