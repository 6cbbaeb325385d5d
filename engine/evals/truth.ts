/** Which events are the truth of an incident: found by the patterns of its facts, never told to the store. */
import type { Fact } from './incident.ts'
import type { Loaded } from './ways.ts'

export interface TruthEvents {
  /** Each cause with the events that show it: one of them is to be cited. */
  causes: { id: string; events: ReadonlySet<string> }[]
  /** Each fact with its events. */
  facts: { id: string; role: Fact['role']; events: ReadonlySet<string> }[]
  decoys: ReadonlySet<string>
}

/** Name of the cause that roots without one are of. */
const THE_CAUSE = 'cause'

type Line = { id: string; text: string; value: number | undefined }

/** @returns ids as they are in `loaded` */
export function truthOf(
  { events }: Pick<Loaded, 'events'>,
  { facts, decoys = [] }: { facts: readonly Fact[]; decoys?: readonly { line: string[] }[] | undefined },
): TruthEvents {
  const lines = events.map(({ id, type, text, labels, value }): Line => {
    const shown = Object.entries(labels).map(([name, of]) => `${name}=${of}`)
    return { id, text: `${type} ${text} {${shown.join(' ')}}`, value }
  })
  const known = facts.filter(({ weak }) => !weak)
  const found = known.map((fact) => ({ id: fact.id, role: fact.role, events: eventsOf(fact, lines) }))
  const causes = new Map<string, Set<string>>()
  known.forEach(({ role, cause = THE_CAUSE }, i) => {
    if (role !== 'root') return
    const set = causes.get(cause) ?? new Set()
    causes.set(cause, set)
    for (const id of found[i]!.events) set.add(id)
  })
  return {
    causes: [...causes].map(([id, of]) => ({ id, events: of })),
    facts: found,
    decoys: new Set(decoys.flatMap(({ line }) => [...matching(lines, line)])),
  }
}

function eventsOf({ line = [], num }: Fact, lines: readonly Line[]): Set<string> {
  if (!num) return matching(lines, line)
  const [low, high] = num.abnormal
  const named = new Set(matching(lines, num.names))
  return new Set(
    lines
      .filter(({ id, value }) => named.has(id) && value !== undefined && value >= low && value <= high)
      .map(({ id }) => id),
  )
}

function matching(lines: readonly Line[], patterns: readonly string[]): Set<string> {
  const all = patterns.map(patternOf)
  return new Set(lines.filter(({ text }) => all.every((one) => one.test(text))).map(({ id }) => id))
}

/** JavaScript's; (?i) before one ignores case. */
export const patternOf = (pattern: string): RegExp =>
  pattern.startsWith('(?i)') ? new RegExp(pattern.slice(4), 'i') : new RegExp(pattern)
