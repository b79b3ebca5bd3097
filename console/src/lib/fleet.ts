export type DeviceState = 'online' | 'stale' | 'missing';

export const onlineWithinMs = 60 * 60_000;
export const staleWithinMs = 24 * 60 * 60_000;

/** Online if it was seen within an hour, stale within a day, else missing. */
export function deviceState(lastSeenAt: string, nowMs: number): DeviceState {
  const age = nowMs - Date.parse(lastSeenAt);
  if (age <= onlineWithinMs) return 'online';
  return age <= staleWithinMs ? 'stale' : 'missing';
}

export interface Share {
  readonly name: string;
  readonly count: number;
}

/** How many items have each value, the largest first. */
export function sharesOf(values: readonly string[]): Share[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}
