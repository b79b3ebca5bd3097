/** Runs a task for each entry, at most `maxConcurrent` at the same time. */
export async function forEachLimited<T>(
  all: readonly T[],
  maxConcurrent: number,
  task: (entry: T) => Promise<void>,
): Promise<void> {
  const rest = [...all];
  await Promise.all(
    Array.from({ length: maxConcurrent }, async () => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) await task(next);
    }),
  );
}
