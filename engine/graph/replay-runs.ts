/** Runs: made, started, taken up again, ended; with their steps, findings, handoffs and write-backs. */

import { claimWords } from '../../schemas/claim-words.ts'
import { countWords } from '../../schemas/plain-words.ts'
import type { HandoffRow, RunRow } from '../agents/runs/queries.ts'
import type { Steps } from '../log/steps.ts'
import type { Database } from '../log/store/handle.ts'
import { edgeIds, nodeId } from '../model/graph.ts'
import { HANDOFF_COOLDOWN } from '../model/project.ts'
import { iso, parseDuration } from '../model/units.ts'
import {
  type Collected,
  type Configuration,
  type Draft,
  draft,
  earliest,
  entityOf,
  isWithin,
  joinCollected,
  type Scope,
  wholeInstants,
} from './replay-scope.ts'

/* What of a run its moments tell. */

type RunFacts = Pick<
  RunRow,
  | 'id'
  | 'agent'
  | 'woken_by'
  | 'trigger_name'
  | 'dispatch_id'
  | 'label'
  | 'entity'
  | 'depth'
  | 'rerun_of'
  | 'practice'
  | 'made_at'
  | 'started_at'
  | 'finished_at'
  | 'wakes'
  | 'rounds'
  | 'cost_usd'
  | 'uncosted_calls'
  | 'outcome'
  | 'verdict'
  | 'headline'
  | 'error'
  | 'event_id'
  | 'state'
> & {
  /** How often a stop of the service came in the middle of it. */
  resumed: number
}

const RUN_COLUMNS = `r.id, r.agent, r.woken_by, r.trigger_name, r.dispatch_id, r.label, r.entity, r.depth, r.rerun_of,
  r.practice, r.made_at, r.started_at, r.finished_at, r.wakes, r.rounds, r.cost_usd, r.uncosted_calls, r.outcome,
  r.verdict, r.headline, r.error, r.event_id, r.state,
  coalesce(json_extract(r.snapshot, '$.context.resumes'), 0) AS resumed`

/** Ids of runs sort by when they were made; those of outside agents do not, and are found by their end. */
export const MADE_RUNS = `SELECT ${RUN_COLUMNS} FROM run_projects p JOIN runs r ON r.id = p.run_id
  WHERE p.project = ? AND p.run_id >= ? AND p.run_id <= ? AND r.made_at <= ?
    AND (r.finished_at IS NULL OR r.finished_at >= ?) ORDER BY p.run_id LIMIT ?`
export const ENDED_RUNS = `SELECT ${RUN_COLUMNS} FROM runs r WHERE r.finished_at >= ? AND r.finished_at <= ?
  AND EXISTS (SELECT 1 FROM run_projects p WHERE p.project = ? AND p.run_id = r.id) ORDER BY r.finished_at, r.id LIMIT ?`
export const OPEN_RUNS = `SELECT ${RUN_COLUMNS} FROM runs r WHERE r.state IN ('queued', 'running', 'parked') AND r.made_at <= ?
  AND EXISTS (SELECT 1 FROM run_projects p WHERE p.project = ? AND p.run_id = r.id) ORDER BY r.seq LIMIT ?`
export const WRITTEN_BACK = `SELECT ${RUN_COLUMNS}, d.id AS delivery_id, d.state AS delivery_state, d.recipient_kind, t.n, t.at, t.ms, t.error,
  t.n = (SELECT max(n) FROM delivery_tries l WHERE l.delivery_id = d.id) AS is_last
  FROM delivery_tries t CROSS JOIN deliveries d CROSS JOIN runs r
  WHERE t.at >= ? AND t.at <= ? AND d.id = t.delivery_id AND d.recipient_kind IN ('write_back', 'github') AND r.id = d.finding_of
    AND EXISTS (SELECT 1 FROM run_projects p WHERE p.project = ? AND p.run_id = r.id) ORDER BY t.at, r.id, t.n LIMIT ?`
/** Longest that a run waits and works, as far as it is looked for before a range that it reaches over. */
const WORK_MS = 2 * 86_400_000

/** Longest that a try of a write-back takes, and a little more. */
const TRY_MS = 60_000

/** @param at epoch ms. @returns ids of runs made later sort behind it */
export const runIdFrom = (at: number): string => `run_${Math.max(0, at).toString(16).padStart(12, '0')}`

/** Runs told in one step: each is asked for its steps and its handoffs. */
const PAGE = 100

export function* collectRuns(scope: Scope): Steps<Collected & { runs: RunFacts[] }> {
  const found = scope.chain ? ofChain(scope) : inRange(scope)
  const runs = [...found.runs].sort((a, b) => a.made_at - b.made_at || (a.id < b.id ? -1 : 1))
  const drafts: Draft[] = []
  let cutAt = found.cutAt
  for (const [i, run] of runs.entries()) {
    if (i % PAGE === 0) yield
    // What a run made later did comes behind it being made.
    if (drafts.length > scope.most && run.made_at > scope.from) {
      cutAt = Math.min(cutAt ?? run.made_at, run.made_at)
      break
    }
    drafts.push(...momentsOf(scope, run))
  }
  yield
  const back = writtenBack(scope)
  return { ...joinCollected([{ drafts, cutAt, overfullAt: found.overfullAt }, back]), runs }
}

interface Found {
  runs: Iterable<RunFacts>
  cutAt: number | null
  overfullAt: number | null
}

function ofChain({ ctx, chain }: Scope): Found {
  const runs = ctx.db
    .prepare<[string], RunFacts>(`SELECT ${RUN_COLUMNS} FROM runs r WHERE r.root_run_id = ? ORDER BY r.seq`)
    .all(chain!.root)
  return { runs, cutAt: null, overfullAt: null }
}

/** Runs of the project of which something happened in the range. */
export function inRange({ ctx, project, from, to, most }: Scope): Found {
  const { db } = ctx
  const made = wholeInstants(
    db
      .prepare<[string, string, string, number, number, number], RunFacts>(MADE_RUNS)
      .all(project.id, runIdFrom(from - WORK_MS), `${runIdFrom(to)}g`, to, from, most + 1),
    most,
    ({ made_at }) => made_at,
  )
  const ended = wholeInstants(
    db.prepare<[number, number, string, number], RunFacts>(ENDED_RUNS).all(from, to, project.id, most + 1),
    most,
    ({ finished_at }) => finished_at!,
  )
  const open = db.prepare<[number, string, number], RunFacts>(OPEN_RUNS).all(to, project.id, most)
  const runs = new Map([...made.rows, ...ended.rows, ...open].map((run) => [run.id, run]))
  const cuts = [made.cutAt, ended.cutAt].flatMap((cut) => (cut === null ? [] : Math.max(cut, from + 1)))
  return {
    runs: runs.values(),
    cutAt: cuts.length ? Math.min(...cuts) : null,
    overfullAt: earliest([made.overfullAt, ended.overfullAt]),
  }
}

function momentsOf(scope: Scope, run: RunFacts): Draft[] {
  const { ctx } = scope
  const { made_at, started_at, finished_at, woken_by } = run
  const isExternal = woken_by === 'external'
  const drafts: Draft[] = []
  if (!isExternal) drafts.push(queuedDraft(run))
  if (started_at !== null && !isExternal)
    drafts.push({
      ...base(run),
      at: started_at,
      rank: 'started',
      phase: 'running',
      title: `${run.agent} begins`,
    })
  if (started_at !== null && !isExternal) drafts.push(...stepsOf(ctx.db, run))
  if (finished_at !== null) {
    if (!isExternal) drafts.push(endedDraft(run, finished_at, finished_at - (started_at ?? made_at)))
    if (run.outcome === 'finding') drafts.push(findingDraft(run, finished_at))
    if (isWithin(scope, finished_at)) drafts.push(...handoffsOf(scope, run))
  }
  return drafts.filter(({ at }) => isWithin(scope, at))
}

const WOKEN: Record<RunRow['woken_by'], string> = {
  trigger: 'is woken',
  schedule: 'is woken by the clock',
  handoff: 'takes over',
  rerun: 'is run again',
  practice: 'is run again in practice',
  test: 'is tested',
  manual: 'is run by hand',
  external: 'recorded a finding',
}

function queuedDraft(run: RunFacts): Draft {
  const { woken_by, trigger_name, wakes } = run
  const isWoken = (woken_by === 'trigger' || woken_by === 'schedule') && trigger_name !== null
  const by = isWoken ? ` by ${trigger_name}` : ''
  const more = wakes > 1 ? `; ${wakes - 1} more came while it waited` : ''
  return {
    ...base(run),
    rank: 'queued',
    phase: 'queued',
    title: `${run.agent} ${WOKEN[woken_by]}${by} for ${run.entity}${more}`,
    edges: isWoken ? [edgeIds.wakes(trigger_name, run.agent)] : [],
  }
}

function endedDraft(run: RunFacts, at: number, ms: number): Draft {
  const cost = run.uncosted_calls === 0 && run.rounds > 0 ? run.cost_usd : null
  const came = run.error ?? (run.outcome === 'no_op' ? 'nothing to report' : (run.headline ?? run.verdict))
  return {
    ...base(run),
    at,
    rank: 'ended',
    phase: run.state,
    title: `${run.agent} ended: ${run.state}${came ? `, ${came}` : ''}`,
    ms,
    cost_usd: cost,
  }
}

function findingDraft(run: RunFacts, at: number): Draft {
  const { verdict, headline, entity, agent } = run
  return {
    ...base(run),
    at,
    rank: 'finding',
    kind: 'finding',
    phase: verdict ?? 'finding',
    title: `${agent} found of ${entity}: ${[verdict, headline].filter(Boolean).join(', ') || 'a note'}`,
    event_id: run.event_id,
  }
}

function handoffsOf(scope: Scope, run: RunFacts): Draft[] {
  return scope.ctx.db
    .prepare<[string], HandoffRow>('SELECT * FROM handoffs WHERE from_run = ? ORDER BY at, id')
    .all(run.id)
    .filter(({ projects }) => (JSON.parse(projects) as string[]).includes(scope.project.id))
    .map((row) => handoffDraft(scope, row, base(run)))
}

/** A try of a finding, to the receiver of its agent or to GitHub. */
interface BackFacts extends RunFacts {
  delivery_id: string
  delivery_state: 'pending' | 'running' | 'delivered' | 'failed'
  recipient_kind: 'write_back' | 'github'
  n: number
  at: number
  ms: number
  error: string | null
  is_last: number
}

function writtenBack(scope: Scope): Collected {
  const { ctx, project, from, to, most, chain } = scope
  const found = ctx.db
    .prepare<[number, number, string, number], BackFacts>(WRITTEN_BACK)
    .all(from - TRY_MS, to, project.id, most + 1)
  const { rows, ...whole } = wholeInstants(found, most, ({ at }) => at)
  return {
    drafts: rows
      .filter(({ id }) => !chain || chain.runs.has(id))
      .map(writeBackDraft)
      .filter(({ at }) => isWithin(scope, at)),
    ...whole,
  }
}

function writeBackDraft(run: BackFacts): Draft {
  const { agent, error, n, recipient_kind: kind } = run
  const destination = `${kind}:${agent}`
  const isOver = run.is_last === 1 && run.delivery_state === 'failed'
  const phase = error === null ? 'delivered' : isOver ? 'failed' : 'retry'
  const [taken, by] = kind === 'github' ? ['written', 'on GitHub'] : ['taken', 'by its receiver']
  const said =
    phase === 'delivered'
      ? `was ${taken} ${by}`
      : `was not ${taken} ${by}: ${error}${phase === 'retry' ? '; it is tried again' : ''}`
  return {
    ...base(run),
    at: run.at + run.ms,
    rank: 'delivered',
    id: `${run.id}/${kind === 'github' ? 'github' : 'write-back'}/${n}`,
    kind: 'delivery',
    phase,
    title: `the finding of ${agent} ${said}, try ${n}`,
    delivery_id: run.delivery_id,
    nodes: [nodeId('agent', agent), nodeId('destination', destination)],
    edges: [edgeIds.tells('agent', agent, destination)],
  }
}

function base(run: RunFacts): Draft {
  return draft({
    at: run.made_at,
    depth: run.depth,
    rank: 'queued',
    id: run.id,
    kind: 'run',
    phase: '',
    title: '',
    nodes: [nodeId('agent', run.agent)],
    entity: entityOf(run.label, run.entity),
    practice: run.practice === 1,
    dispatch_id: run.dispatch_id,
    run_id: run.id,
  })
}

/* Steps of a run: what it was told, what it asked, what it was answered. */

/** What a title tells of a step, without its texts: a tape may hold megabytes. */
interface StepFacts {
  n: number
  kind: string
  round: number
  at: number
  ms: number | null
  tool: string | null
  arguments: string | null
  server: string | null
  is_error: number | null
  answered: number
  fault: string | null
  claims: number | null
  held: number
  text: string | null
  resumed: number | null
  model: string | null
  input: number | null
  output: number | null
  cost: number | null
  calls: string | null
  error: string | null
  tools: number | null
  shown: number | null
}

export const STEPS = `SELECT n, kind, round, at, ms, json_extract(data, '$.call.name') AS tool,
    json_extract(data, '$.call.arguments') AS arguments, json_extract(data, '$.server') AS server,
    json_extract(data, '$.is_error') AS is_error, json_type(data, '$.result') IS NOT NULL AS answered,
    coalesce(json_extract(data, '$.fault'), json_extract(data, '$.reason')) AS fault,
    json_array_length(data, '$.claims') AS claims,
    (SELECT count(*) FROM json_each(data, '$.claims') WHERE json_extract(value, '$.ok')) AS held,
    json_extract(data, '$.text') AS text, json_extract(data, '$.resumed') AS resumed,
    json_extract(data, '$.reply.model') AS model, json_extract(data, '$.reply.usage.input_tokens') AS input,
    json_extract(data, '$.reply.usage.output_tokens') AS output, json_extract(data, '$.reply.costUsd') AS cost,
    json_extract(data, '$.reply.calls') AS calls, json_extract(data, '$.error.message') AS error,
    json_array_length(data, '$.tools') AS tools, (SELECT count(DISTINCT value ->> 0) FROM json_each(data, '$.shown')) AS shown
  FROM run_steps WHERE run_id = ? ORDER BY n`

const ARGUMENTS_MAX = 100

/** Every step of a run, whenever it was; a step that was completed is told when it was. */
function stepsOf(db: Database, run: RunFacts): Draft[] {
  const steps = db.prepare<[string], StepFacts>(STEPS).all(run.id)
  let resumes = 0
  return steps.map((step, i) => {
    if (step.resumed) return resumedDraft(run, step, ++resumes)
    // What it took was measured by another clock than when the next one began.
    const next = steps[i + 1]?.at ?? run.finished_at ?? Number.POSITIVE_INFINITY
    const at = step.ms === null ? step.at : Math.min(step.at + step.ms, Math.max(step.at, next))
    return { ...stepBase(run, step), at, phase: step.kind, title: `${run.agent}: ${titleOf(step, run)}` }
  })
}

function resumedDraft(run: RunFacts, step: StepFacts, nth: number): Draft {
  return {
    ...stepBase(run, step),
    kind: 'run',
    phase: 'resumed',
    ms: null,
    title: `${run.agent} goes on: the service had stopped in the middle of the run${nth > 1 ? `, ${nth} times so far` : ''}`,
  }
}

function titleOf(step: StepFacts, run: RunFacts): string {
  const { kind, ms, tool, fault, error } = step
  if (kind === 'prompt')
    return `received the timeline: ${countWords(step.shown ?? 0, 'event')}, ${countWords(step.tools ?? 0, 'tool')} offered`
  if (kind === 'model') return modelTitle(step, run)
  if (kind === 'tool') {
    const call = `${tool}(${argumentsOf(step)})`
    if (ms === null || !step.answered)
      return run.finished_at === null && run.resumed === 0
        ? `asks ${call}`
        : `began to ask ${call}; the service stopped before it was answered, and it is not asked again`
    return `${step.is_error ? 'was refused by' : 'asked'} ${call}${step.server ? ` of ${step.server}` : ''}`
  }
  if (kind === 'refused') return `was not let call ${tool}: ${fault ?? error ?? 'refused'}`
  if (kind === 'conclude')
    return fault === null ? `concluded${claimsOf(step)}` : `concluded, and was sent back: ${fault}`
  return step.text ?? kind
}

function modelTitle(
  { ms, error, model, input, output, cost, calls, round }: StepFacts,
  run: RunFacts,
): string {
  if (error !== null) return `model call ${round} failed: ${error}`
  if (ms === null)
    return run.finished_at === null && run.resumed === 0
      ? `model call ${round} is under way`
      : `model call ${round} began; it was cut off before it was answered`
  const asks = ((JSON.parse(calls ?? '[]') ?? []) as { name: string }[]).map(({ name }) => name)
  const then = asks.length ? `, asks for ${asks.join(', ')}` : ''
  const price = cost === null ? 'not priced' : `$${Number(cost.toPrecision(3))}`
  return `model call ${round} of ${model}: ${countWords(input ?? 0, 'token')} in, ${countWords(output ?? 0, 'token')} out, ${price}${then}`
}

const claimsOf = ({ claims, held }: StepFacts): string =>
  claims ? `, ${claimWords({ held, total: claims })}` : ''

function argumentsOf({ arguments: given }: StepFacts): string {
  if (given === null || given === '{}') return ''
  return given.length > ARGUMENTS_MAX ? `${given.slice(0, ARGUMENTS_MAX)}…` : given
}

function stepBase(run: RunFacts, step: StepFacts): Draft {
  const agent = nodeId('agent', run.agent)
  const server = step.server === null ? null : nodeId('mcp_server', step.server)
  const skill = step.tool === 'skill' ? skillOf(step.arguments) : null
  return draft({
    at: step.at,
    depth: run.depth,
    rank: 'step',
    id: `${run.id}/${String(step.n).padStart(6, '0')}`,
    kind: 'step',
    phase: step.kind,
    title: '',
    nodes: [agent, ...(server ? [server] : []), ...(skill ? [nodeId('skill', skill)] : [])],
    edges: step.server === null ? [] : [edgeIds.uses(run.agent, step.server)],
    entity: entityOf(run.label, run.entity),
    practice: run.practice === 1,
    dispatch_id: run.dispatch_id,
    run_id: run.id,
    step: step.n,
    ms: step.ms,
    cost_usd: step.kind === 'model' ? step.cost : null,
  })
}

function skillOf(given: string | null): string | null {
  const { name } = JSON.parse(given ?? '{}') as { name?: unknown }
  return typeof name === 'string' ? name : null
}

/* Handoffs: who took over on which verdict, or why nobody did. */

const WHY: Record<string, string> = {
  refused_chain_limit: 'its chain has had three handoffs',
  refused_cooldown: 'it did so for the same too short a time ago',
  refused_target_busy: 'that one is at work on it',
}

/** @param of what a moment of the run that handed over has */
function handoffDraft(scope: Scope, row: HandoffRow, of: Draft): Draft {
  const { from_agent, to_agent, verdict, entity, at, state } = row
  const why = WHY[state]
  const edge = edgeIds.handsOff(from_agent, verdict, to_agent)
  return {
    ...of,
    at,
    rank: 'handoff',
    id: row.id,
    kind: 'handoff',
    phase: why ? 'refused' : 'started',
    title: why
      ? `${from_agent} would hand ${entity} over to ${to_agent} on ${verdict}, and may not: ${why}`
      : `${from_agent} hands ${entity} over to ${to_agent} on ${verdict}`,
    nodes: [nodeId('agent', from_agent), nodeId('agent', to_agent)],
    edges: [edge],
    entity: { label: row.label, value: entity },
    run_id: row.to_run ?? row.from_run,
    cooldown: of.practice ? null : cooldownOf(scope, row, edge, state),
  }
}

/** The one it begins, or the one that was in its way. */
function cooldownOf(scope: Scope, row: HandoffRow, node: string, state: string): Draft['cooldown'] {
  if (state !== 'started' && state !== 'done' && state !== 'refused_cooldown') return null
  const wait = handoffWait(scope.configurations.at(row.at), row)
  const began = state === 'refused_cooldown' ? lastBefore(scope, row) : row.at
  if (wait === null || began === null) return null
  return { node, key: row.entity, until: iso(began + wait) }
}

/** Wait before the same handoff of the same entity, as the wiring then said, milliseconds; null: it says none. */
export function handoffWait(
  { doc }: Configuration,
  { from_agent, verdict, to_agent }: Pick<HandoffRow, 'from_agent' | 'verdict' | 'to_agent'>,
): number | null {
  const verdicts = Object.entries(doc.handoffs?.[from_agent] ?? {})
  const to = verdicts.find(([name]) => name.toLowerCase() === verdict.toLowerCase())?.[1][to_agent]
  return to ? parseDuration(to.cooldown ?? HANDOFF_COOLDOWN, 'cooldown') : null
}

function lastBefore({ ctx }: Scope, { from_agent, to_agent, label, entity, at }: HandoffRow): number | null {
  return (
    ctx.db
      .prepare<[string, string, string, string, number], number | null>(
        `SELECT max(at) FROM handoffs WHERE from_agent = ? AND to_agent = ? AND label = ? AND entity = ? AND at < ?
           AND state IN ('started', 'done')
           AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = handoffs.from_run AND runs.practice = 1)`,
      )
      .pluck()
      .get(from_agent, to_agent, label, entity, at) ?? null
  )
}
