/**
 * Whose turn it is: of the runs that wait, the agent with the fewest at work comes first, and of those who
 * waited longest. Each agent and each entity stays within its bounds.
 *
 * Runs that wait stand in one line for each agent as it was when they were made (its definition says how many
 * at once). Only the first of each line is looked at, so that a claim costs what it takes and not what waits:
 * 8 of 5,000 took 230 to 640 ms when all were looked at, and 6 to 30 ms since (2026-11-22).
 */
import type { AgentSpec } from '../../schemas/types.ts'
import type { RunQueries, RunRow, WaitingRow } from './queries.ts'

/** Of one agent at once, where it says nothing else. */
const CONCURRENCY = 4

/** Runs of an agent at once. @param definition JSON of the agent as it was */
export const mostAtOnce = (definition: string): number =>
  (JSON.parse(definition) as AgentSpec).concurrency ?? CONCURRENCY

type Taken = Pick<RunRow, 'agent' | 'label' | 'entity' | 'practice'>

interface Line {
  agent: string
  hash: string
  /** Runs of the agent at once. */
  most: number
  /** The first that waits; null: nobody is left. */
  head: WaitingRow | null
}

const entityOf = ({ agent, label, entity }: Taken): string => JSON.stringify([agent, label, entity])

/**
 * Runs in the order of their turns, each counted at work once it is given. While they are taken, those given
 * may change state and others may come.
 * @param running those at work already. @param parked those that wait for a model: their entities are busy
 */
export function* inTurn(
  queries: RunQueries,
  running: readonly Taken[],
  parked: readonly Taken[],
): Generator<RunRow> {
  const atWork = new Map<string, number>()
  const busy = new Set<string>()
  const countOf = (agent: string) => atWork.get(agent) ?? 0
  const take = (run: Taken) => {
    atWork.set(run.agent, countOf(run.agent) + 1)
    // A practice run is nobody's turn.
    if (!run.practice) busy.add(entityOf(run))
  }
  for (const run of running) take(run)
  for (const run of parked) if (!run.practice) busy.add(entityOf(run))
  const lines = linesOf(queries)
  /** The first of the line whose entity is free; an entity that is busy stays so until the claim ends. */
  const headOf = (line: Line): WaitingRow | null => {
    while (line.head && !line.head.practice && busy.has(entityOf(line.head)))
      line.head = queries.waitingAfter.get(line.agent, line.hash, line.head.seq) ?? null
    return line.head
  }
  for (;;) {
    let first: { line: Line; head: WaitingRow } | null = null
    for (const line of lines) {
      if (countOf(line.agent) >= line.most) continue
      const head = headOf(line)
      if (head && (!first || isBefore(head, first.head))) first = { line, head }
    }
    if (!first) return
    const { line, head } = first
    take(head)
    // Before it is given: then it waits no more.
    line.head = queries.waitingAfter.get(line.agent, line.hash, head.seq) ?? null
    yield queries.bySeq.get(head.seq)!
  }

  function isBefore(a: WaitingRow, b: WaitingRow): boolean {
    const [atWorkA, atWorkB] = [countOf(a.agent), countOf(b.agent)]
    return atWorkA === atWorkB ? a.seq < b.seq : atWorkA < atWorkB
  }
}

/** The lines, each with its first: one step of the index for each. */
function linesOf(queries: RunQueries): Line[] {
  const lines: Line[] = []
  let last: { agent: string; hash: string } = { agent: '', hash: '' }
  for (;;) {
    const head = queries.nextLine.get(last.agent, last.hash)
    if (!head) return lines
    last = { agent: head.agent, hash: head.definition_hash }
    lines.push({ ...last, most: mostAtOnce(head.definition), head })
  }
}
