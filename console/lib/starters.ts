/** Questions to begin with, made of what is on the instance. */
import type { Agent, LabelFacet, Source, Trigger } from '../../schemas/types.ts'
import type { Task } from './ask.ts'

export interface Starter {
  question: string
  task: Task
}

interface Known {
  sources: readonly Source[]
  entities: readonly LabelFacet[]
  triggers: readonly Trigger[]
  agents: readonly Agent[]
  /** May have parts proposed. */
  isAdmin: boolean
}

const SHOWN = 5
/** Connectors of what the service and its agents write, and of documents. */
const OWN = ['finding', 'memory', 'reference']
const asks = (question: string): Starter => ({ question, task: 'ask' })

/** The most telling first; those that have nothing to be about are left out. */
export function startersOf({ sources, entities, triggers, agents, isAdmin }: Known): Starter[] {
  const starters: Starter[] = []
  const facet = entities.find(({ primary, values }) => primary && values.length > 0) ?? entities[0]
  const value = facet?.values[0]
  const hasEvents = sources.some(({ health }) => health.events_total > 0)
  if (facet && value) starters.push(asks(`What happened to ${facet.label}=${value.value} in the last hour?`))
  if (hasEvents) starters.push(asks('What changed most in the last 24 hours?'))
  const fired = [...triggers]
    .filter(({ last_fired }) => last_fired)
    .sort((a, b) => (String(a.last_fired) < String(b.last_fired) ? 1 : -1))[0]
  if (fired) starters.push(asks(`Why did the trigger ${fired.name} fire last, and what came of it?`))
  if (agents.some(({ stats }) => stats.runs > stats.ok))
    starters.push(asks('Which runs of agents did not succeed, and why?'))
  const silent = sources.find(
    ({ health, state }) => state === 'active' && (health.status === 'error' || health.status === 'refused'),
  )
  if (silent) starters.push(asks(`Is anything wrong with the source ${silent.name}?`))
  if (isAdmin && sources.length === 0)
    starters.push({
      question: 'Which systems can I connect, and what is the quickest to begin with?',
      task: 'sources',
    })
  const unwatched = sources.find(
    ({ name, connector }) =>
      !OWN.includes(connector) && !triggers.some(({ sources: of }) => of.includes(name)),
  )
  if (isAdmin && unwatched && hasEvents)
    starters.push({ question: `What in the source ${unwatched.name} is worth a trigger?`, task: 'watch' })
  if (isAdmin && fired && agents.length === 0)
    starters.push({ question: `Set up an agent that looks into ${fired.name} when it fires.`, task: 'agent' })
  if (starters.length < 2) starters.push(asks('What is set up here, and what is missing?'))
  return starters.slice(0, SHOWN)
}
