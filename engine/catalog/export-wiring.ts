/**
 * Wiring as a catalog says it: an agent's entry says what wakes it in its home, where that is one
 * trigger, and who takes over; everything else is a row of the wiring section.
 */
import type { AgentHandoff, Catalog } from '../../schemas/types.ts'
import { DEFAULT_TEMPLATE, type ProjectDoc } from '../wiring/project-doc.ts'
import { HANDOFF_COOLDOWN, wiringOf } from '../wiring/wires.ts'
import { type ExportWorld, isTemplated } from './export-world.ts'

type Rows = NonNullable<Catalog['wiring']>

/** The project whose wiring of an agent its entry says: its own, else the Default one. */
export function homeOf({ owners, docs }: ExportWorld, agent: string): ProjectDoc | undefined {
  const owner = owners.get(`agent:${agent}`)
  if (owner !== undefined) return docs.get(owner)
  return [...docs.values()].find((doc) => doc.template === DEFAULT_TEMPLATE && doc.uses.agent?.[agent])
}

/** What wakes an agent in a project; on, too, where only a pause of the project switched it off. */
export function wakesIn(doc: ProjectDoc, agent: string): { trigger: string; enabled: boolean }[] {
  return wiringOf(doc)
    .wakes.filter((wake) => wake.agent === agent)
    .map(({ trigger, enabled }) => ({ trigger, enabled: enabled === true || isStopped(doc, trigger, agent) }))
}

export function handoffsIn(doc: ProjectDoc, agent: string): AgentHandoff[] {
  return wiringOf(doc)
    .handoffs.filter((row) => row.agent === agent)
    .map(({ verdict, to, cooldown }) => ({ verdict, agent: to, ...cooldownOf(cooldown) }))
}

/** The wiring that the agents' own entries and the templates' plans do not say. */
export function wiringEntries(world: ExportWorld): Rows {
  const projects = [...world.docs.values()]
    .filter((doc) => !doc.draft)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  return projects.flatMap((doc) => [...wakeRows(world, doc), ...handoffRows(world, doc)])
}

function wakeRows(world: ExportWorld, doc: ProjectDoc): Rows {
  return wiringOf(doc).wakes.flatMap(({ trigger, agent, enabled }) => {
    const on = enabled === true || isStopped(doc, trigger, agent)
    const isSaid =
      homeOf(world, agent) === doc && wakesIn(doc, agent).length === 1 && !isPlanned(world, 'agent', agent)
    const isOfPlan =
      isTemplated(doc) && on && isPlanned(world, 'trigger', trigger) && isPlanned(world, 'agent', agent)
    return isSaid || isOfPlan
      ? []
      : [{ project: doc.name, wake: trigger, agent, ...(on ? {} : { enabled: false }) }]
  })
}

function handoffRows(world: ExportWorld, doc: ProjectDoc): Rows {
  return wiringOf(doc).handoffs.flatMap(({ agent, verdict, to, cooldown }) => {
    const isSaid = homeOf(world, agent) === doc && !isPlanned(world, 'agent', agent)
    const isOfPlan = isTemplated(doc) && isPlanned(world, 'agent', agent) && isPlanned(world, 'agent', to)
    return isSaid || isOfPlan ? [] : [{ project: doc.name, agent, verdict, to, ...cooldownOf(cooldown) }]
  })
}

const isPlanned = ({ planned }: ExportWorld, kind: string, name: string): boolean =>
  planned.get(`${kind}:${name}`) === 'planned'

const isStopped = (doc: ProjectDoc, trigger: string, agent: string): boolean =>
  doc.stopped?.wakes?.[trigger]?.[agent] === true

const cooldownOf = (cooldown: string | undefined): { cooldown?: string } =>
  cooldown && cooldown !== HANDOFF_COOLDOWN ? { cooldown } : {}
