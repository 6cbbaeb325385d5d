/** What a model is told of the instance before it plans: names and shapes, never a value of a config. */
import type { Label } from '../../../schemas/types.ts'
import type { Declared } from '../../declared/declared.ts'

export interface PlanningFacts {
  sources: { name: string; connector: string; labels: string[]; primary: string | null; events: number }[]
  agents: string[]
  tools: { name: string; host: string }[]
  skills: { name: string; description: string }[]
  triggers: string[]
}

const LISTED_MAX = 100

export function factsOf({ sources, kinds }: Declared): PlanningFacts {
  return {
    sources: sources
      .live()
      .filter(({ connector }) => !connector.internal)
      .slice(0, LISTED_MAX)
      .map(({ name, connector, config }) => {
        const labels = (config.labels ?? []) as Label[]
        return {
          name,
          connector: connector.kind,
          labels: labels.map((label) => label.name),
          primary: labels.find((label) => label.primary)?.name ?? null,
          events: sources.store.queries.byName(name)?.events ?? 0,
        }
      }),
    agents: namesOf(kinds.agent.list()),
    tools: kinds.mcp_server
      .list()
      .slice(0, LISTED_MAX)
      .map(({ name, doc }) => ({ name, host: hostOf(String(doc.url)) })),
    skills: kinds.skill
      .list()
      .slice(0, LISTED_MAX)
      .map(({ name, doc }) => ({ name, description: String(doc.description ?? '').slice(0, 200) })),
    triggers: namesOf(kinds.trigger.list()),
  }
}

const namesOf = (all: readonly { name: string }[]): string[] =>
  all.slice(0, LISTED_MAX).map(({ name }) => name)

/** An address may hold a credential in its path. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '')

/** "3 sources, 1 agent". */
export function countsOf({ sources, agents, tools, skills, triggers }: PlanningFacts): string {
  const parts = [
    count(sources.length, 'source'),
    count(triggers.length, 'trigger'),
    count(agents.length, 'agent'),
    count(tools.length, 'MCP server'),
    count(skills.length, 'skill'),
  ].filter((part) => part !== '')
  return parts.length ? parts.join(', ') : 'nothing yet'
}

const count = (n: number, word: string): string => (n === 0 ? '' : `${n} ${word}${n === 1 ? '' : 's'}`)
