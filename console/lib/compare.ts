/** Two runs side by side: what is said of both, and what differs. */
import { claimsHeld, claimWords } from '../../schemas/claim-words.ts'
import type { RunDetail } from '../../schemas/types.ts'
import { argumentWords, type Chapter, chaptersOf, opening, toldFirst } from './run-story.ts'
import { claimsWords } from './runs.ts'
import { count, money, took } from './time.ts'

export interface ComparedRow {
  title: string
  left: string
  right: string
  differs: boolean
}

/** @param left the earlier one */
export function compareRows(left: RunDetail, right: RunDetail): ComparedRow[] {
  const row = (title: string, of: (run: RunDetail) => string): ComparedRow => {
    const [a, b] = [of(left), of(right)]
    return { title, left: a, right: b, differs: a !== b }
  }
  return [
    row('Status', (run) => (run.practice ? `${run.status}, practice` : run.status)),
    row('Agent as it was', (run) => `${run.agent} ${run.definition_hash}`),
    row('Model', (run) => (run.model ? `${run.model}${run.provider ? ` of ${run.provider}` : ''}` : '—')),
    row('Reads as of', (run) => run.as_of ?? '—'),
    row('Outcome', (run) => (run.outcome === 'no_op' ? 'no finding' : (run.outcome ?? '—'))),
    row('Verdict', (run) => run.verdict ?? '—'),
    row('Claims', (run) => claimsWords(run.verified) ?? 'none'),
    row('Rounds', (run) => `${count(run.rounds)} of ${count(run.max_rounds)}`),
    row('Tools called', (run) => count(run.tool_calls)),
    row('Tokens in', (run) => count(run.input_tokens)),
    row('Tokens out', (run) => count(run.output_tokens)),
    row('From the cache', (run) => count(run.cache_read_input_tokens)),
    row('Cost', (run) => (run.cost_usd === null ? '— not priced' : money(run.cost_usd))),
    row('Duration', (run) => took(run.duration_ms)),
  ]
}

export interface Prompts {
  /** The agent's own prompt. */
  prompt: string
  /** Instructions as the model was given them. */
  system: string
  message: string
}

export function promptsOf(run: RunDetail): Prompts {
  const told = toldFirst(chaptersOf(run.steps))
  const { prompt } = run.definition
  return {
    prompt: typeof prompt === 'string' ? prompt : '',
    system: told?.system ?? '',
    message: told?.message ?? '',
  }
}

/** A step in a line, so that two stories can be looked at beside each other. */
export function stepLine(step: Chapter): string {
  switch (step.kind) {
    case 'prompt':
      return `received the timeline, ${count(step.message.length)} characters`
    case 'model': {
      if (step.error) return `model: no answer, ${opening(step.error)}`
      const calls = step.calls.map(({ name }) => name).join(', ')
      if (step.isAsked) return 'model is asked'
      return `model${calls ? ` calls ${calls}` : ''}${step.text ? `: ${opening(step.text)}` : ''}`
    }
    case 'tool':
      return `${step.call.name} ${opening(argumentWords(step.call))}${step.isError ? ', error' : ''}`.trim()
    case 'refused':
      return `${step.call.name} refused: ${opening(step.reason)}`
    case 'conclude':
      return step.fault ? `conclusion refused: ${opening(step.fault)}` : `concluded${heldOf(step.claims)}`
    case 'note':
      return opening(step.text)
  }
}

/** Of claims checked in a step; nothing where none were made. */
function heldOf(claims: readonly { ok: boolean }[]): string {
  const held = claimsHeld(claims)
  return held ? `, ${claimWords(held)}` : ''
}
