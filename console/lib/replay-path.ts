/** Links to replays. */

/** Minutes around an instant that a link to it shows. */
const BEFORE_MS = 10 * 60_000
const AFTER_MS = 5 * 60_000

const pathOf = (project: string, query: Record<string, string>): string =>
  `/projects/${encodeURIComponent(project)}/replay?${new URLSearchParams(query)}`

/** A chain of runs. @param run any of it */
export const resultReplayPath = (project: string, run: string): string => pathOf(project, { result: run })

/**
 * What was around an instant, such as a firing.
 * @param at ISO. @param selected node that is looked at. @param firing its id: there it opens
 */
export function instantReplayPath(project: string, at: string, selected?: string, firing?: string): string {
  const middle = Date.parse(at)
  return pathOf(project, {
    from: new Date(middle - BEFORE_MS).toISOString(),
    to: new Date(middle + AFTER_MS).toISOString(),
    at: new Date(middle).toISOString(),
    ...(selected ? { sel: selected } : {}),
    ...(firing ? { firing } : {}),
  })
}

/** What was between two instants, ISO. */
export const spanReplayPath = (project: string, from: string, to: string): string =>
  pathOf(project, { from, to })

/** What was lately. @param ms how far back. @param now epoch ms */
export const recentReplayPath = (project: string, ms: number, now: number): string =>
  spanReplayPath(project, new Date(now - ms).toISOString(), new Date(now).toISOString())
