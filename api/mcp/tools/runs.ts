/** The tools that look at runs of the service's own agents. */

import { entityWord, namedEntity } from '../../../schemas/entity-word.ts'
import type {
  Run,
  RunStep,
  ToolGetRun,
  ToolGetRunResult,
  ToolListRuns,
  ToolListRunsResult,
} from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { cursorOf, cutTo, more, offsetOf, pageOf, tokensOf } from '../paging.ts'
import { defineTool, READS } from '../tool.ts'
import { claimsWithin, moreClaims } from './findings.ts'

const LIMIT = 20
const TOKENS = 6_000
const STEP_CHARACTERS = 400

export const listRuns = defineTool<ToolListRuns, ToolListRunsResult>({
  name: 'list_runs',
  title: 'List runs',
  description: "Runs of the service's own agents, newest first: what woke each, how it ended, its cost.",
  scope: 'read',
  ofProject: false,
  hints: READS,
  async run({ limit = LIMIT, cursor, ...filters }, { daemon, signal }) {
    const offset = offsetOf(cursor)
    // One more than is shown tells whether there is a next page.
    const { entity } = namedEntity(filters)
    const { runs } = await daemon.ask(
      calls.listRuns,
      { ...filters, entity, limit: limit + 1, offset },
      signal,
    )
    const { entries } = pageOf(runs.slice(0, limit).map(shown), undefined)
    const next = entries.length < runs.length ? cursorOf(offset + entries.length) : null
    const lines = entries.map(
      (one) =>
        `${one.made_at} ${one.agent} on ${entityWord(one.label, one.entity)}, ${wokenText(one)}: ${one.status}${one.verdict ? ` [${one.verdict}]` : ''}${one.headline ? `, ${one.headline}` : ''}${one.error ? `, ${one.error}` : ''}${costText(one)} (${one.id})`,
    )
    return {
      text: (lines.join('\n') || 'no runs') + more(next),
      content: { runs: entries, next_cursor: next },
    }
  },
})

function shown(run: Run): ToolListRunsResult['runs'][number] {
  const { id, agent, status, key, label, woken_by, trigger, dispatch_id, made_at, finished_at } = run
  const { outcome, verdict, headline, error, cost_usd, practice } = run
  return {
    run_id: id,
    id,
    agent,
    status,
    entity: key,
    label,
    woken_by,
    trigger,
    dispatch_id,
    made_at,
    finished_at,
    outcome,
    verdict,
    headline,
    error,
    cost_usd,
    practice,
  }
}

type Shown = ToolListRunsResult['runs'][number]

const wokenText = ({ woken_by, trigger }: Shown): string =>
  trigger === null ? `woken by ${woken_by}` : `woken by trigger ${trigger}`

const costText = ({ cost_usd: cost }: Shown): string =>
  cost === null ? '' : `, $${Number(cost.toPrecision(3))}`

export const getRun = defineTool<ToolGetRun, ToolGetRunResult>({
  name: 'get_run',
  title: 'Read a run',
  description:
    'One run of an agent step by step: what it read and called, what it concluded, and whether its claims hold.',
  scope: 'read',
  ofProject: false,
  hints: READS,
  aliases: { id: 'run_id', run: 'run_id' },
  async run({ run_id, max_tokens: tokens = TOKENS }, { daemon, signal }) {
    const run = await daemon.ask(calls.getRun, { id: run_id }, signal)
    const note = run.finding === null ? null : cutTo(run.finding, Math.ceil(tokens / 2))
    const finding = note?.text ?? null
    const { claims, left: unsaid } = claimsWithin(run.claims, Math.ceil(tokens / 4))
    const handoffs = run.handoffs.map(
      ({ verdict, to_agent, state, to_run }) =>
        `${verdict} → ${to_agent}: ${state}${to_run === null ? '' : ` (${to_run})`}`,
    )
    const head = shown(run)
    let left = tokens - tokensOf(JSON.stringify([head, finding, claims, handoffs]))
    const steps: ToolGetRunResult['steps'] = []
    for (const step of run.steps) {
      const one = stepOf(step)
      left -= tokensOf(JSON.stringify(one))
      if (left < 0 && steps.length > 0) break
      steps.push(one)
    }
    const cut = steps.length < run.steps.length || note?.cut === true || unsaid > 0
    const concluded = [
      ...(head.headline ? [`${head.verdict ? `[${head.verdict}] ` : ''}${head.headline}`] : []),
      ...(run.next_step ? [`next: ${run.next_step}`] : []),
      ...handoffs.map((one) => `handed over: ${one}`),
      `${finding ?? 'no finding'}${note?.cut ? '…' : ''}`,
      ...claims.map((claim) => `claim: ${claim}`),
    ]
    const lines = steps.map((one) => `${one.n}. ${one.kind}: ${one.what}`)
    return {
      text: `${head.agent} on ${entityWord(head.label, head.entity)}, ${wokenText(head)}: ${head.status}${head.error ? ` (${head.error})` : ''}${costText(head)}\n${concluded.join('\n')}${moreClaims(unsaid)}\n\n${lines.join('\n')}${cut ? '\n[cut: ask with a larger max_tokens]' : ''}`,
      content: { ...head, finding, next_step: run.next_step, claims, handoffs, steps, cut },
    }
  },
})

function stepOf({ n, kind, at, data }: RunStep): ToolGetRunResult['steps'][number] {
  const { text, cut } = cutTo(JSON.stringify(data), STEP_CHARACTERS / 4)
  return { n, kind, at, what: cut ? `${text}…` : text }
}
