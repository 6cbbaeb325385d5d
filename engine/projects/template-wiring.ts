/** The wiring of template projects: what the plan wires, and what a hand wired, which is kept. */
import type { PartKind } from '../changes/declared.ts'
import type { Edit } from '../changes/edit.ts'
import type { planTemplate } from '../templates/index.ts'
import { type ProjectDoc, projectOf, putProject } from '../wiring/project-doc.ts'
import { HANDOFF_COOLDOWN, wiringOf, withHandoff, withWake } from '../wiring/wires.ts'

type TemplatePlan = ReturnType<typeof planTemplate>

/**
 * Wires what the plan wires; what is missing is not wired.
 * @param before the project until now, under the names its parts have now: its wires and switches stay.
 */
export function stageWiring(
  edit: Edit,
  id: string,
  planned: TemplatePlan,
  plan: NonNullable<ProjectDoc['plan']>,
  before?: ProjectDoc,
): void {
  let doc: ProjectDoc = { ...projectOf(edit, id), plan }
  if (before) doc = withWiresOf(before, doc)
  for (const { trigger, agent, enabled } of planned.wakes)
    if (before?.wakes?.[trigger]?.[agent] === undefined && isThere(edit, trigger, agent))
      doc = withPlannedWake(doc, trigger, agent, enabled)
  for (const { agent, verdict, to, cooldown } of planned.handoffs)
    if (
      before?.handoffs?.[agent]?.[verdict]?.[to] === undefined &&
      edit.has('agent', agent) &&
      edit.has('agent', to)
    )
      doc = withHandoff(doc, agent, verdict, to, cooldown ?? HANDOFF_COOLDOWN)
  putProject(edit, id, doc)
}

/** A repaired trigger or agent is wired as the plan wires it. */
export function wireAgain(edit: Edit, id: string, planned: TemplatePlan, kind: PartKind, name: string): void {
  if (kind !== 'trigger' && kind !== 'agent') return
  let doc = projectOf(edit, id)
  for (const { trigger, agent, enabled } of planned.wakes)
    if (
      (kind === 'trigger' ? trigger : agent) === name &&
      isThere(edit, trigger, agent) &&
      !doc.wakes?.[trigger]?.[agent]
    )
      doc = withPlannedWake(doc, trigger, agent, enabled)
  for (const { agent, verdict, to, cooldown } of planned.handoffs)
    if (
      kind === 'agent' &&
      (agent === name || to === name) &&
      edit.has('agent', agent) &&
      edit.has('agent', to) &&
      !doc.handoffs?.[agent]?.[verdict]?.[to]
    )
      doc = withHandoff(doc, agent, verdict, to, cooldown ?? HANDOFF_COOLDOWN)
  putProject(edit, id, doc)
}

const isThere = (edit: Edit, trigger: string, agent: string): boolean =>
  edit.has('trigger', trigger) && edit.has('agent', agent)

/** In a paused project a wake is off, and noted, so that resuming switches it on. */
function withPlannedWake(doc: ProjectDoc, trigger: string, agent: string, enabled = true): ProjectDoc {
  if (!doc.paused || !enabled) return withWake(doc, trigger, agent, enabled && !doc.paused)
  const { wakes } = doc.stopped ?? {}
  return {
    ...withWake(doc, trigger, agent, false),
    stopped: { ...doc.stopped, wakes: { ...wakes, [trigger]: { ...wakes?.[trigger], [agent]: true } } },
  }
}

/** Wires between parts that the project still has, and what its pause stopped of them. */
function withWiresOf(before: ProjectDoc, doc: ProjectDoc): ProjectDoc {
  const { trigger = {}, agent: agents = {} } = doc.uses
  const { wakes, handoffs } = wiringOf(before)
  let next = doc
  for (const { trigger: from, agent, enabled } of wakes)
    if (trigger[from] && agents[agent]) next = withWake(next, from, agent, enabled ?? false)
  for (const { agent, verdict, to, cooldown } of handoffs)
    if (agents[agent] && agents[to])
      next = withHandoff(next, agent, verdict, to, cooldown ?? HANDOFF_COOLDOWN)
  return before.stopped ? { ...next, stopped: before.stopped } : next
}
