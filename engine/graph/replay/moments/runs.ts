/** Runs: made, started, taken up again, ended; with their steps, findings, handoffs and write-backs. */
import type { HandoffRow, RunRow } from '../../../runs/queries.ts'
import type { Steps } from '../../../timeline/steps.ts'
import { edgeIds, nodeId } from '../../ids.ts'
import { type Collected, earliest, joined, wholeInstants } from '../cut.ts'
import { type Draft, draft } from '../moment.ts'
import { entityOf, isWithin, type Scope } from '../scope.ts'
import { handoffDraft } from './handoffs.ts'
import { RUN_COLUMNS as COLUMNS, type RunFacts } from './run-facts.ts'
import { stepsOf } from './steps.ts'

/** Ids of runs sort by when they were made; those of outside agents do not, and are found by their end. */
export const MADE_RUNS = `SELECT ${COLUMNS} FROM run_projects p JOIN runs r ON r.id = p.run_id
  WHERE p.project = ? AND p.run_id >= ? AND p.run_id <= ? AND r.made_at <= ?
    AND (r.finished_at IS NULL OR r.finished_at >= ?) ORDER BY p.run_id LIMIT ?`
export const ENDED_RUNS = `SELECT ${COLUMNS} FROM runs r WHERE r.finished_at >= ? AND r.finished_at <= ?
  AND EXISTS (SELECT 1 FROM run_projects p WHERE p.project = ? AND p.run_id = r.id) ORDER BY r.finished_at, r.id LIMIT ?`
export const OPEN_RUNS = `SELECT ${COLUMNS} FROM runs r WHERE r.state IN ('queued', 'running', 'parked') AND r.made_at <= ?
  AND EXISTS (SELECT 1 FROM run_projects p WHERE p.project = ? AND p.run_id = r.id) ORDER BY r.seq LIMIT ?`
export const WRITTEN_BACK = `SELECT ${COLUMNS}, d.id AS delivery_id, d.state AS delivery_state, t.n, t.at, t.ms, t.error,
  t.n = (SELECT max(n) FROM delivery_tries l WHERE l.delivery_id = d.id) AS is_last
  FROM delivery_tries t CROSS JOIN deliveries d CROSS JOIN runs r
  WHERE t.at >= ? AND t.at <= ? AND d.id = t.delivery_id AND d.recipient_kind = 'write_back' AND r.id = d.finding_of
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
  return { ...joined([{ drafts, cutAt, overfullAt: found.overfullAt }, back]), runs }
}

interface Found {
  runs: Iterable<RunFacts>
  cutAt: number | null
  overfullAt: number | null
}

function ofChain({ ctx, chain }: Scope): Found {
  const runs = ctx.db
    .prepare<[string], RunFacts>(`SELECT ${COLUMNS} FROM runs r WHERE r.root_run_id = ? ORDER BY r.seq`)
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

/** A try of a write-back. */
interface BackFacts extends RunFacts {
  delivery_id: string
  delivery_state: 'pending' | 'running' | 'delivered' | 'failed'
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
  const { agent, error, n } = run
  const destination = `write_back:${agent}`
  const isOver = run.is_last === 1 && run.delivery_state === 'failed'
  const phase = error === null ? 'delivered' : isOver ? 'failed' : 'retry'
  const said =
    phase === 'delivered'
      ? 'was taken by its receiver'
      : `was not taken by its receiver: ${error}${phase === 'retry' ? '; it is tried again' : ''}`
  return {
    ...base(run),
    at: run.at + run.ms,
    rank: 'delivered',
    id: `${run.id}/write-back/${n}`,
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
