/** The entries by name, each group in the order of the entries. */
export function groupBy<T>(all: readonly T[], name: (entry: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const entry of all) {
    const group = groups.get(name(entry));
    if (group) group.push(entry);
    else groups.set(name(entry), [entry]);
  }
  return groups;
}
