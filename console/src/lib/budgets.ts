/** What a budget counts. */
export interface BudgetScope {
  readonly appId: string | null;
  readonly label: string | null;
  readonly dimension: { readonly name: string; readonly value: string } | null;
}

/** What a budget counts, in words: `app chat, label premium`. */
export function scopeText({ appId, label, dimension }: BudgetScope): string {
  if (dimension) return `${dimension.name} ${dimension.value}`;
  const parts = [appId === null ? 'the whole org' : `app ${appId}`, ...(label === null ? [] : [`label ${label}`])];
  return parts.join(', ');
}

/** The whole numbers of a list that a person typed; throws a sentence if one is none. */
export function parsePercentages(text: string): number[] {
  return text
    .split(/[\s,;%]+/)
    .filter(Boolean)
    .map((part) => {
      const value = Number(part);
      if (!Number.isInteger(value) || value < 1 || value > 100)
        throw new Error('The thresholds must be whole percentages from 1 to 100, such as 50, 80, 95');
      return value;
    })
    .sort((a, b) => a - b);
}

const periods = { DAY: 'day', WEEK: 'week', MONTH: 'month' } as const;
export type Period = keyof typeof periods;
export const periodName = (period: Period): string => periods[period];
