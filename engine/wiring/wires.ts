/** Wakes and handoffs of a project (SPEC.md, Project: it holds its own wiring). */
import type { AgentHandoff, Wiring } from '../../schemas/types.ts'
import type { ProjectDoc } from './project-doc.ts'

export const HANDOFF_COOLDOWN = '30m'

/** The wiring as lists, sorted. */
export function wiringOf(doc: Pick<ProjectDoc, 'wakes' | 'handoffs'>): Wiring {
  return {
    wakes: sorted(doc.wakes).flatMap(([trigger, agents]) =>
      sorted(agents).map(([agent, { enabled }]) => ({ trigger, agent, enabled })),
    ),
    handoffs: sorted(doc.handoffs).flatMap(([agent, verdicts]) =>
      sorted(verdicts).flatMap(([verdict, targets]) =>
        sorted(targets).map(([to, { cooldown }]) => ({ agent, verdict, to, cooldown })),
      ),
    ),
  }
}

/** A project with this wiring instead of its own. */
export function withWiring(doc: ProjectDoc, { wakes, handoffs }: Wiring): ProjectDoc {
  let next: ProjectDoc = { ...doc, wakes: {}, handoffs: {} }
  for (const { trigger, agent, enabled } of wakes) next = withWake(next, trigger, agent, enabled ?? false)
  for (const { agent, verdict, to, cooldown } of handoffs)
    next = withHandoff(next, agent, verdict.toLowerCase(), to, cooldown ?? HANDOFF_COOLDOWN)
  return next
}

export function withWake(doc: ProjectDoc, trigger: string, agent: string, enabled: boolean): ProjectDoc {
  return { ...doc, wakes: { ...doc.wakes, [trigger]: { ...doc.wakes?.[trigger], [agent]: { enabled } } } }
}

/** What wakes an agent in a project: exactly these triggers, each as it was or off. */
export function withWakesOf(doc: ProjectDoc, agent: string, triggers: readonly string[]): ProjectDoc {
  const wakes = Object.fromEntries(
    Object.entries(doc.wakes ?? {}).map(([trigger, agents]) => [
      trigger,
      Object.fromEntries(
        Object.entries(agents).filter(([name]) => name !== agent || triggers.includes(trigger)),
      ),
    ]),
  )
  let next: ProjectDoc = { ...doc, wakes }
  for (const trigger of triggers)
    if (!next.wakes?.[trigger]?.[agent]) next = withWake(next, trigger, agent, false)
  return next
}

export function withHandoff(
  doc: ProjectDoc,
  agent: string,
  verdict: string,
  to: string,
  cooldown: string,
): ProjectDoc {
  const ofAgent = doc.handoffs?.[agent]
  return {
    ...doc,
    handoffs: {
      ...doc.handoffs,
      [agent]: { ...ofAgent, [verdict]: { ...ofAgent?.[verdict], [to]: { cooldown } } },
    },
  }
}

/** Who takes over from an agent in a project: exactly these. */
export function withHandoffsOf(
  doc: ProjectDoc,
  agent: string,
  handoffs: readonly AgentHandoff[],
): ProjectDoc {
  let next: ProjectDoc = { ...doc, handoffs: { ...doc.handoffs, [agent]: {} } }
  for (const { verdict, agent: to, cooldown } of handoffs)
    next = withHandoff(next, agent, verdict, to, cooldown ?? HANDOFF_COOLDOWN)
  return next
}

export function handoffsOf(doc: ProjectDoc, agent: string): AgentHandoff[] {
  return wiringOf(doc)
    .handoffs.filter((row) => row.agent === agent)
    .map(({ verdict, to, cooldown }) => ({ verdict, agent: to, ...(cooldown ? { cooldown } : {}) }))
}

function sorted<T>(all: Record<string, T> | undefined): [string, T][] {
  return Object.entries(all ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
}
