/** What a plan says of itself: derived from what it would make, never the words of a model. */

import type { Connector, Plan, PlanAgent, PlanWake, PlanWatch } from '../../../schemas/types.ts'
import { conditionKind, cooldownSentence, sentenceOf } from '../../../schemas/words.ts'
import { documentOf } from '../../changes/documents.ts'

/** A plan with its sentences. @param connector what is known of a connector. */
export function withSentences(plan: Plan, connector: (kind: string) => Connector | undefined): Plan {
  const wakes = plan.wakes.map((wake) => ({ ...wake, ...wakeSentences(wake) }))
  const agents = plan.agents.map((agent) => ({ ...agent, sentence: agentSentence(agent, plan) }))
  const said = {
    ...plan,
    watches: plan.watches.map((watch) => ({
      ...watch,
      sentence: watchSentence(watch, connector(watch.connector)),
    })),
    wakes,
    agents,
    own_agent: plan.own_agent && { ...plan.own_agent, sentence: ownSentence(plan.own_agent) },
  }
  return { ...said, summary: summaryOf(said) }
}

function watchSentence({ existing, poll, connector }: PlanWatch, known: Connector | undefined): string {
  const kind = known?.label ?? connector
  if (existing) return `${kind ? `${kind}: ` : ''}a source that is here already, used as it is`
  if (!known) return ''
  if (known.mode === 'push') return `${kind}: takes events that are sent to it`
  if (known.mode === 'reference') return `${kind}: documents that are always at hand`
  return `${kind}: asked every ${poll ?? known.poll ?? 'so often'}`
}

/** Half-filled conditions have no words yet. */
function wakeSentences(wake: PlanWake): Pick<PlanWake, 'sentence' | 'cooldown_sentence'> {
  if (conditionKind(wake.condition) === null) return { sentence: '', cooldown_sentence: '' }
  const { sources, filters, cooldown, key_field } = wake
  const told = { sources, filters, condition: wake.condition, key_field, cooldown: cooldown || undefined }
  try {
    return {
      sentence: sentenceOf(documentOf('trigger', told)),
      cooldown_sentence: cooldownSentence(documentOf('trigger', told)),
    }
  } catch (error) {
    // A condition that is not of its schema; the check says which rule it breaks.
    if (!(error instanceof TypeError)) throw error
    return { sentence: '', cooldown_sentence: '' }
  }
}

/** "Looks first when errors fires; digs in when triage concludes investigate". */
export function agentSentence({ name, trigger }: PlanAgent, { agents }: Pick<Plan, 'agents'>): string {
  const parts = trigger ? [`looks first when ${trigger} fires`] : []
  for (const from of agents)
    for (const { verdict, agent, cooldown } of from.handoffs)
      if (agent === name && from.enabled)
        parts.push(
          `digs in when ${from.name} concludes ${verdict}, at most once every ${cooldown ?? '30m'} per entity`,
        )
  return sentence(parts.length ? parts.join('; ') : 'is woken by nothing yet')
}

function ownSentence({ name, wake }: { name: string; wake: 'webhook' | 'poll' }): string {
  const how = wake === 'webhook' ? 'is told at an address it names' : 'asks for what fired'
  return `${name || 'Your agent'} ${how}, reads this project and records what it finds`
}

function summaryOf({ watches, wakes, agents, own_agent: own }: Plan): string {
  const firsts = agents.filter(({ trigger, enabled }) => trigger && enabled).map(({ name }) => name)
  const others = agents.filter(({ trigger, enabled }) => !trigger && enabled).map(({ name }) => name)
  const looks = own ? own.name || 'Your agent' : list(firsts)
  return [
    watches.length ? `Watches ${list(watches.map(({ name }) => name))}.` : '',
    ...wakes.map((wake) => wake.sentence && `${wake.sentence}.`),
    looks &&
      `${looks} ${own || firsts.length === 1 ? 'looks' : 'look'} first${others.length ? `; ${list(others)} ${others.length === 1 ? 'digs' : 'dig'} in after a handoff` : ''}.`,
  ]
    .filter(Boolean)
    .join(' ')
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
const list = (words: readonly string[]): string =>
  words.length < 3 ? words.join(' and ') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
