/** Replays as callers ask for them. They are wide reads, in steps that give way to others, beside ingest. */
import type { ProjectGraph, Replay, ReplayMoment } from '../../schemas/types.ts'
import { runQueries } from '../agents/runs/queries.ts'
import type { Asked } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import type { Steps } from '../log/steps.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { parseInstant } from '../log/timeline/plan.ts'
import { foldInSteps } from './replay.ts'
import { type Chain, readChain, readConfigurations, type Scope, triggersNamed } from './replay-scope.ts'

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

/* Replays as callers know them; what passes calls on to the reader thread knows them by name. */

interface ReplayAsked {
  from?: string | undefined
  to?: string | undefined
  /** Id of a run: the replay is of its chain, and from and to only narrow it. */
  result?: string | undefined
  /** Moments. */
  limit: number
  /** For a key of the project: what it may see of it. */
  isAlone?: boolean
}

export interface ReplayReads {
  /**
   * @param project id or name.
   * @throws SvcError not_found for an unknown project or run; invalid, naming the field
   */
  replay(project: string, asked: ReplayAsked, by?: Asked): Promise<Replay>
}

/*
 * A replay as a key of its own project may see it: without addresses and what they were told, without
 * other projects, without who changed what and what tools were asked.
 */

function narrowedReplay(replay: Replay): Replay {
  const { versions, start, moments } = replay
  return {
    ...replay,
    versions: versions.map((version) => ({
      ...version,
      by: null,
      summary: '',
      graph: narrowedGraph(version.graph),
    })),
    start: {
      ...start,
      counts: Object.fromEntries(Object.entries(start.counts).filter(([id]) => !isOfDestination(id))),
    },
    moments: moments
      .filter(({ nodes }) => !nodes.some(isOfDestination))
      .map((moment, i) => ({ ...moment, n: i + 1, title: titleOf(moment) })),
  }
}

const isOfDestination = (id: string): boolean => /^(destination|tells):/.test(id)

function titleOf({ kind, phase, title }: ReplayMoment): string {
  if (kind === 'change') return 'what is declared was changed'
  if (kind === 'state') return title.replace(/ by .*$/, '')
  // What a tool was asked stands behind its name, in parentheses.
  return kind === 'step' && phase === 'tool' ? title.replace(/\(\{.*$/, '') : title
}

/**
 * Without addresses, whose they are and what they are told, and without the names of other projects:
 * a key of a project learns nothing of them elsewhere either.
 */
export function narrowedGraph(graph: ProjectGraph): ProjectGraph {
  return {
    ...graph,
    nodes: graph.nodes
      .filter(({ kind }) => kind !== 'destination')
      .map((node) => ({
        ...node,
        shared_with: [],
        detail: node.kind === 'mcp_server' ? '' : node.detail,
      })),
    edges: graph.edges.filter(({ kind }) => kind !== 'tells'),
    positions: graph.positions.filter(({ node }) => !node.startsWith('destination:')),
  }
}
