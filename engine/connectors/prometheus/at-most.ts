/**
 * Runs a task for each entry, so many side by side.
 * @returns the results in the order of the entries. @throws what the first task to fail throws.
 */
export async function atMost<T, R>(
  most: number,
  entries: readonly T[],
  task: (entry: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const waiting = [...entries.entries()]
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results[next[0]] = await task(next[1])
  }
  await Promise.all(Array.from({ length: Math.min(most, entries.length) }, work))
  return results
}
