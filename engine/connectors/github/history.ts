/** What is new in a history, as `git rev-list head --not known` tells it: from a list of its newest commits. */

export interface Commit {
  sha: string
  parents: { sha: string }[]
  [field: string]: unknown
}

export interface NewCommits {
  /** Oldest first. */
  fresh: Commit[]
  /** Every way back from the head ends at what is known, or at the beginning of the history. */
  isWhole: boolean
  /** The newest of what is known is still part of the history. */
  goesOn: boolean
}

/**
 * A merge brings commits older than what was read last, so the list cannot just be cut there.
 * @param listed from the head on, as GitHub lists them. @param known what was read, newest first.
 */
export function newCommits(listed: readonly Commit[], known: readonly string[]): NewCommits {
  const bySha = new Map(listed.map((commit) => [commit.sha, commit]))
  const old = new Set<string>()
  walk(known, (sha) => {
    if (old.has(sha)) return []
    old.add(sha)
    return parentsOf(bySha.get(sha))
  })
  const fresh = new Set<string>()
  let isWhole = true
  let goesOn = known.length === 0
  walk(
    listed.slice(0, 1).map(({ sha }) => sha),
    (sha) => {
      if (sha === known[0]) goesOn = true
      if (old.has(sha) || fresh.has(sha)) return []
      if (!bySha.has(sha)) {
        isWhole = false
        return []
      }
      fresh.add(sha)
      return parentsOf(bySha.get(sha))
    },
  )
  return { fresh: [...bySha.values()].filter(({ sha }) => fresh.has(sha)).reverse(), isWhole, goesOn }
}

const parentsOf = (commit: Commit | undefined): string[] => commit?.parents.map(({ sha }) => sha) ?? []

/** @param visit returns where to go on. */
function walk(from: readonly string[], visit: (sha: string) => string[]): void {
  const waiting = [...from]
  for (let sha = waiting.pop(); sha !== undefined; sha = waiting.pop()) waiting.push(...visit(sha))
}
