/** Tools that read what was recorded: events, what fired, what agents did and found. */
import { isLookTool, look } from '../../runs/look-tools.ts'
import { stats as countBy, read as readWithin } from '../../runs/own-tools.ts'
import type { ToolCallOf, ToolWorld } from './tool.ts'

const LIMIT = 20
/** Projects whose findings are looked through when none is named. */
const PROJECTS_MAX = 50
const NOTE_MAX = 600
const SAMPLED = 500
const EVENT_MAX = 2_000

type Args = Record<string, unknown>

async function within({ reads, marker, now }: ToolWorld, project: unknown) {
  const projects = typeof project === 'string' && project ? [await reads.projectId(project)] : []
  return { projects, asOf: now(), marker }
}

export const read: ToolCallOf = async (args: Args, world) => {
  const { text, isError } = await readWithin(await within(world, args.project), world.reads, args)
  return { told: text, isError }
}

/** One of the tools that look, as runs have them. */
export const looking =
  (name: string): ToolCallOf =>
  async (args: Args, world) => {
    if (!isLookTool(name)) throw new Error(`no tool that looks is named ${name}`)
    const { text, isError } = await look(await within(world, args.project), world.reads, name, args)
    return { told: text, isError }
  }

export const stats: ToolCallOf = async (args: Args, world) => {
  const { text, isError } = await countBy(await within(world, undefined), world.reads, args)
  return { told: text, isError }
}

export const entities: ToolCallOf = async (
  { label, prefix, limit = 50 }: { label?: string; prefix?: string; limit?: number },
  { reads },
) => ({ found: label ? await reads.entityValues(label, limit, prefix) : await reads.entities(LIMIT) })

export const sourceFields: ToolCallOf = async ({ name }: { name: string }, { reads }) => ({
  found: await reads.sourceFields(name, SAMPLED),
})

export const recentEvents: ToolCallOf = async (
  { name, limit = LIMIT }: { name: string; limit?: number },
  { reads },
) => ({
  found: (await reads.sourceEvents(name, limit)).map(({ id, event_time, event_type, labels, text, raw }) => ({
    id,
    event_time,
    event_type,
    labels,
    text,
    ...(raw === undefined ? {} : { item: raw.slice(0, EVENT_MAX) }),
  })),
})

export const findings: ToolCallOf = async (
  {
    project,
    entity,
    agent,
    limit = LIMIT,
  }: { project?: string; entity?: string; agent?: string; limit?: number },
  { reads },
) => {
  const words = project ? [project] : (await reads.listProjects()).slice(0, PROJECTS_MAX).map(({ id }) => id)
  const all = await Promise.all(words.map((word) => reads.projectFindings(word, { entity, agent, limit })))
  const byRun = new Map(all.flatMap((one) => one.findings).map((finding) => [finding.run_id, finding]))
  return {
    found: [...byRun.values()]
      .sort((a, b) => (a.at < b.at ? 1 : -1))
      .slice(0, limit)
      .map(
        ({
          run_id,
          agent: by,
          entity: of,
          verdict,
          headline,
          next_step,
          finding,
          at,
          verified,
          handled,
          mark,
        }) => ({
          run_id,
          agent: by,
          entity: of,
          verdict,
          headline,
          next_step,
          finding: finding.slice(0, NOTE_MAX),
          at,
          claims: verified,
          handled: handled !== null,
          mark: mark?.mark ?? null,
        }),
      ),
  }
}

export const firings: ToolCallOf = async (
  {
    trigger,
    entity,
    state,
    limit = LIMIT,
  }: { trigger?: string; entity?: string; state?: string; limit?: number },
  { reads },
) => ({
  found: (await reads.listFirings({ trigger, key: entity, state, limit })).firings.map(
    ({ dispatch_id, trigger: name, key, entity: of, state: is, reason, fired_at, opened_at, events }) => ({
      id: dispatch_id,
      trigger: name,
      key,
      entity: of,
      state: is,
      reason,
      at: fired_at ?? opened_at,
      events,
    }),
  ),
})

export const runs: ToolCallOf = async (
  {
    agent,
    entity,
    status,
    limit = LIMIT,
  }: { agent?: string; entity?: string; status?: string; limit?: number },
  { reads },
) => {
  const { runs: found, total } = await reads.listRuns({ agent, entity, status, limit, offset: 0 })
  return {
    found: {
      total,
      runs: found.map((run) => ({
        id: run.id,
        agent: run.agent,
        status: run.status,
        key: run.key,
        label: run.label,
        woken_by: run.woken_by,
        trigger: run.trigger,
        firing: run.dispatch_id,
        started_at: run.started_at,
        finished_at: run.finished_at,
        outcome: run.outcome,
        verdict: run.verdict,
        headline: run.headline,
        error: run.error,
        rounds: run.rounds,
        cost_usd: run.cost_usd,
      })),
    },
  }
}

export const why: ToolCallOf = async (
  { event, trigger }: { event: string; trigger?: string },
  { reads },
) => ({
  found: await reads.why(event, trigger),
})
