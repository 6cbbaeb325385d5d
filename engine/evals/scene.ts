/**
 * What is kept of runs over a scenario, so that a report can be read without its pack: the events that they are judged
 * by, which of these each was shown, and what each asked and was answered.
 */
import type { EvalEvent, EvalRun, EvalScene, EvalTurn, RunDetail, RunStep } from '../../schemas/types.ts'
import type { Truth } from './incident.ts'
import { shownIn } from './score.ts'
import type { TruthEvents } from './truth.ts'
import type { Loaded } from './ways.ts'

/** Events of one fact or of the decoys that are kept besides those that a run was shown or cited. */
const KEPT = 20
/** Events of a scene at most: a fact can match thousands, and a run be shown as many. */
const EVENTS_MAX = 2_000
/** Characters kept of the text of an event, and of what a model said or a tool answered. */
const TEXT = 500
const SAID = 2_000
const TURNS_MAX = 200
const CALLS_MAX = 100

interface Given {
  scenario: string
  noise: number
  loaded: Loaded
  truth: TruthEvents
  outcome: NonNullable<Truth['outcome']>
  /** Id in the store of an event of `loaded`. */
  idOf(id: string): string
  runs: readonly RunDetail[]
}

/** @returns the scene, with events in order of time, and of each run the events of it that it was shown */
export function sceneOf(given: Given): { scene: EvalScene; shown: string[][] } {
  const { scenario, noise, loaded, truth, outcome, idOf, runs } = given
  const shownTo = runs.map(shownIn)
  const cited = new Set(runs.flatMap(({ claims }) => claims.flatMap(({ events }) => events)))
  const wasSeen = (id: string) => cited.has(id) || shownTo.some((shown) => shown.has(id))
  const copies = new Set(loaded.events.flatMap(({ id, isCopy }) => (isCopy ? [id] : [])))
  const kept = new Set<string>()
  for (const events of [...truth.facts.map((fact) => fact.events), truth.decoys])
    for (const [i, id] of [...events].filter((id) => !copies.has(id) || wasSeen(idOf(id))).entries())
      if (i < KEPT || wasSeen(idOf(id))) kept.add(id)
  const events = loaded.events
    .filter(({ id }) => kept.has(id) || cited.has(idOf(id)))
    .slice(0, EVENTS_MAX)
    .map((event): EvalEvent => {
      const { id, t, source, type, text, labels, count = 1 } = event
      return {
        ...{ id: idOf(id), at: new Date(loaded.now + t * 1000).toISOString(), source, type },
        ...{ text: text.slice(0, TEXT), entity: labels.service ?? null, count },
        facts: truth.facts.flatMap((fact) => (fact.events.has(id) ? [{ id: fact.id, role: fact.role }] : [])),
        decoy: truth.decoys.has(id),
      }
    })
  return {
    scene: {
      ...{ scenario, noise, entity: loaded.entity, outcome, events },
      fired_at: new Date(loaded.now).toISOString(),
    },
    shown: shownTo.map((shown) => events.flatMap(({ id }) => (shown.has(id) ? [id] : []))),
  }
}

/** What is kept of how a run went. */
export function recordOf(
  detail: RunDetail,
): Pick<
  EvalRun,
  | ('status' | 'outcome' | 'headline' | 'error' | 'model' | 'rounds' | 'calls' | 'usd')
  | ('input_tokens' | 'output_tokens' | 'claims' | 'turns')
> {
  const { status, outcome, headline, error, model, rounds, tool_calls: calls, cost_usd: usd } = detail
  return {
    ...{ status, outcome, headline, error, model, rounds, calls, usd },
    input_tokens: detail.input_tokens + detail.cache_creation_input_tokens + detail.cache_read_input_tokens,
    output_tokens: detail.output_tokens,
    claims: detail.claims.map(({ text, role, events, ok }) => ({ text, role, events, ok })),
    turns: turnsOf(detail.steps),
  }
}

/** Model calls in order, each with the tools that it called; the first message is not kept. */
function turnsOf(steps: readonly RunStep[]): EvalTurn[] {
  const turns: EvalTurn[] = []
  for (const { kind, round, data } of steps) {
    if (kind === 'model' && data.reply)
      turns.push({ round, said: cut((data.reply as { text?: unknown }).text), calls: [] })
    const calls = turns.at(-1)?.calls
    if (calls && (kind === 'tool' || kind === 'refused' || kind === 'conclude') && calls.length < CALLS_MAX)
      calls.push(callOf(data))
  }
  return turns.slice(0, TURNS_MAX)
}

function callOf(data: RunStep['data']): EvalTurn['calls'][number] {
  const { name, arguments: given } = data.call as { name: string; arguments: unknown }
  const answer = data.result ?? data.reason ?? data.fault ?? null
  return {
    tool: name.slice(0, 200),
    arguments: JSON.stringify(given ?? {}).slice(0, SAID),
    answer: answer === null ? null : cut(answer),
    failed: data.is_error === true || data.reason !== undefined || typeof data.fault === 'string',
  }
}

const cut = (text: unknown): string => (typeof text === 'string' ? text.slice(0, SAID) : '')
