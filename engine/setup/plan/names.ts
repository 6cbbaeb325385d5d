/** Names of a plan: one way of writing them, none that is taken, and references that follow. */
import type { Plan } from '../../../schemas/types.ts'

const NAME_MAX = 60

/** "Gateway Errors!" as gateway-errors. */
export function slug(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, NAME_MAX)
    .replace(/^-+|-+$/g, '')
}

/** @returns the name, or the first of name-2, name-3 that is free. */
export function freeName(name: string, isTaken: (name: string) => boolean, joint = '-'): string {
  let free = name
  for (let n = 2; isTaken(free); n++) {
    const tail = `${joint}${n}`
    free = `${name.slice(0, NAME_MAX - tail.length)}${tail}`
  }
  return free
}

type Named = { key: string; name: string; existing?: boolean }
export type NamedSection = 'watches' | 'wakes' | 'agents' | 'tools' | 'skills'
export const namedSections: readonly NamedSection[] = ['watches', 'wakes', 'agents', 'tools', 'skills']

/**
 * Gives what is new a name of its own, and lets references follow: they may say a name or a key. Of two
 * new entries that have the same name neither is renamed, for a reference to it could mean either.
 * @param isTaken whether something of that section has the name on the instance.
 */
export function withFreeNames(plan: Plan, isTaken: (section: NamedSection, name: string) => boolean): Plan {
  const renamed = Object.fromEntries(
    namedSections.map((section) => [section, namesOf(section, plan[section], isTaken)]),
  ) as Record<NamedSection, Names>
  const { watches, wakes, agents, tools, skills } = renamed
  return {
    ...plan,
    watches: plan.watches.map((row) => ({ ...row, name: watches.of(row) })),
    wakes: plan.wakes.map((row) => ({
      ...row,
      name: wakes.of(row),
      sources: [...new Set(row.sources.map(watches.to))],
    })),
    agents: plan.agents.map((row) => ({
      ...row,
      name: agents.of(row),
      trigger: row.trigger && wakes.to(row.trigger),
      handoffs: row.handoffs.map((rule) => ({ ...rule, agent: agents.to(rule.agent) })),
      mcp_servers: [...new Set(row.mcp_servers.map(tools.to))],
    })),
    tools: plan.tools.map((row) => ({ ...row, name: tools.of(row) })),
    skills: plan.skills.map((row) => ({ ...row, name: skills.of(row) })),
  }
}

interface Names {
  /** The name of an entry. */
  of(row: Named): string
  /** What a reference means; itself where it means nothing. */
  to(reference: string): string
}

function namesOf(
  section: NamedSection,
  rows: readonly Named[],
  isTaken: (section: NamedSection, name: string) => boolean,
): Names {
  const written = rows.map((row) => (row.existing ? row.name : slug(row.name)))
  const mine = new Set(written)
  const final = rows.map((row, i) => {
    const name = written[i]!
    if (row.existing || name === '' || !isTaken(section, name)) return name
    return freeName(name, (other) => (other !== name && mine.has(other) ? true : isTaken(section, other)))
  })
  const byReference = new Map<string, string>()
  // What has no name cannot be referred to: the reference stays as it is, and is told as a problem.
  for (const [i, row] of rows.entries())
    for (const word of final[i] ? [row.key, row.name, written[i]!] : [])
      if (!byReference.has(word)) byReference.set(word, final[i]!)
  const byRow = new Map(rows.map((row, i) => [row, final[i]!]))
  return {
    of: (row) => byRow.get(row)!,
    // What is called so now comes before what was: a checked plan stays as it is.
    to: (reference) => (final.includes(reference) ? reference : (byReference.get(reference) ?? reference)),
  }
}
