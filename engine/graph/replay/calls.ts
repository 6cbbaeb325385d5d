/** Replays as callers ask for them. They are wide reads, in steps that give way to others, beside ingest. */
import type { Replay } from '../../../schemas/types.ts'
import type { Clock } from '../../clock.ts'
import { fail } from '../../errors.ts'
import { runQueries } from '../../runs/queries.ts'
import type { ReadContext } from '../../timeline/context.ts'
import { parseInstant } from '../../timeline/plan.ts'
import type { Steps } from '../../timeline/steps.ts'
import type { ReplayAsked, ReplayReads } from './call-names.ts'
import { type Chain, readChain } from './chain.ts'
import { readConfigurations } from './configurations.ts'
import { narrowedReplay } from './narrow.ts'
import { foldInSteps } from './replay.ts'
import { type Scope, triggersNamed } from './scope.ts'

const RANGE_MS = 31 * 86_400_000
/** Moments of one answer. */
const LIMIT_MAX = 5_000

/** @param wide goes through the steps, each on a snapshot of the connection of `ctx`. */
export function createReplayReads(
  ctx: ReadContext,
  clock: Clock,
  wide: <T>(steps: Steps<T>) => Promise<T>,
): ReplayReads {
  return { replay: (project, asked) => wide(replayInSteps(ctx, project, asked, clock.now())) }
}

/** @param now epoch ms: what comes after it is of none of the steps. */
function* replayInSteps(ctx: ReadContext, project: string, asked: ReplayAsked, now: number): Steps<Replay> {
  const limit = Math.min(LIMIT_MAX, Math.max(1, Math.trunc(asked.limit)))
  const replay = yield* foldInSteps(scopeOf(ctx, project, asked, limit, now), limit)
  return asked.isAlone ? narrowedReplay(replay) : replay
}

function scopeOf(ctx: ReadContext, word: string, asked: ReplayAsked, limit: number, now: number): Scope {
  const project = requireProject(ctx, word)
  const chain = asked.result === undefined ? null : chainOf(ctx, project.id, asked.result, now)
  const { from, to } = rangeOf(asked, chain, now)
  const configurations = readConfigurations(ctx.db, project, { from, to })
  const triggers = triggersNamed(ctx, configurations.names('trigger'))
  return { ctx, project, from, to, most: limit, configurations, triggers, chain }
}

function requireProject({ db }: ReadContext, word: string): Scope['project'] {
  return (
    db
      .prepare<[string, string], Scope['project']>(
        "SELECT id, name, created_at AS createdAt FROM projects WHERE (id = ? OR name = ?) AND state <> 'deleted' LIMIT 1",
      )
      .get(word, word) ?? fail('not_found', `no project has the id or name ${word}`)
  )
}

function chainOf(ctx: ReadContext, project: string, id: string, now: number): Chain {
  const queries = runQueries(ctx.db)
  const run = queries.byId.get(id)
  if (!run || !queries.projectsOf.all(id).includes(project))
    fail('not_found', `no run of the project has the id ${id}`, { field: 'result' })
  return readChain(ctx, run, now)
}

/** What has not happened yet is not waited for: the end is now at the latest. */
function rangeOf(asked: ReplayAsked, chain: Chain | null, now: number): { from: number; to: number } {
  const instant = (field: 'from' | 'to', standard: number | undefined): number => {
    const given = asked[field]
    if (given !== undefined) return parseInstant(given, field)
    return standard ?? fail('invalid', `${field} is required, unless result says what to replay`, { field })
  }
  const to = Math.min(now, instant('to', chain?.to))
  const from = instant('from', (chain && Math.max(chain.from, to - RANGE_MS)) || undefined)
  if (from > to) fail('invalid', 'from must not be after to, nor in the future', { field: 'from' })
  if (to - from > RANGE_MS) fail('invalid', 'to must be at most 31 days after from', { field: 'to' })
  return { from, to }
}
