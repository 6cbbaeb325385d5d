/** Agents at work as callers see them: what is written, and the names of what is read. */
import type { AgentPreview, RememberRequest, RerunResult } from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import { fail } from '../errors.ts'
import type { CallRefusal } from '../models/reserving.ts'
import type { ReadContext } from '../timeline/context.ts'
import { tokensOf } from '../timeline/fit.ts'
import { answerRead } from '../timeline/read.ts'
import { atOnce } from '../timeline/steps.ts'
import { briefInSteps } from './brief-read.ts'
import { concludeTool } from './conclude.ts'
import { renderRow } from './fence.ts'
import { createFinishing } from './finishing.ts'
import { askedFirst } from './first-view.ts'
import { createJournal } from './journal.ts'
import type { Making } from './making.ts'
import { ownTools } from './own-tools.ts'
import { createParking } from './parking.ts'
import type { RunsParts } from './parts.ts'
import { type FirstView, firstMessage, systemOf } from './prompt.ts'
import type { RunRow } from './queries.ts'
import type { RunReads } from './run-reads.ts'
import { createStarting } from './starting.ts'
import type { Claimed, RunEnd, StartedRun, StepWrite, Unavailable } from './types.ts'

/** Who cancelled a run where nobody has to sign in. */
const NOBODY_KNOWN = 'somebody, without signing in'

export interface Rerun {
  asOf: 'same' | 'now'
  practice: boolean
  tape?: boolean
  prompt?: string
  provider?: string
  model?: string
}

export interface RunWrites {
  claimRuns(limit: number, underWay: readonly string[]): Promise<Claimed>
  recordSteps(run: string, steps: readonly StepWrite[]): Promise<void>
  beginCall(run: string, step: StepWrite, ceilingUsd: number | null): Promise<CallRefusal | null>
  parkRun(run: string, why: Unavailable): Promise<string | null>
  finishRun(
    run: string,
    end: RunEnd,
    servers: readonly { server: string; skipped: string | null }[],
  ): Promise<void>
  /** @throws SvcError not_found; wrong_state; conflict */
  rerun(run: string, how: Rerun): Promise<RerunResult>
  /** @throws SvcError not_found; wrong_state */
  cancelRun(run: string, by: Caller): Promise<{ ok: true }>
  /** What an agent would be told of a firing. @throws SvcError not_found */
  previewAgent(agent: string, dispatchId: string): Promise<AgentPreview>
  rememberFor(agent: string, request: RememberRequest, key: string): Promise<void>
}

export type RunCalls = RunWrites & RunReads

export function runWrites(
  parts: RunsParts & {
    making: Making
    ctx: ReadContext
    /** Row id of a firing. @throws SvcError not_found */
    firingId(dispatchId: string): { id: number; label: string | null; entity: string; project: string | null }
    remember(agent: string, request: RememberRequest, key: string): Promise<void>
  },
): RunWrites {
  const { clock, making, ctx } = parts
  const finishing = createFinishing(parts, making)
  const parking = createParking(parts)
  const starting = createStarting(parts, finishing, parking)
  const journal = createJournal(parts)

  /** A run that never was, as it would be started now. */
  function supposed(agent: string, dispatchId: string): StartedRun {
    const definition = parts.agent(agent) ?? fail('not_found', `no agent is named ${agent}`)
    const { id, label, entity, project } = parts.firingId(dispatchId)
    const told = parts.firing(id, project)
    // As it was then: what was found since is not told.
    const then = told?.firing?.firedAt ?? clock.now()
    const row = {
      id: 'run_preview',
      agent,
      definition: JSON.stringify(definition),
      firing_id: id,
      dispatch_id: dispatchId,
      trigger_name: null,
      label: label ?? 'key',
      entity,
      root_run_id: 'run_preview',
      depth: 0,
      practice: 1,
      tape: 0,
      as_of: then,
      deadline_at: then,
    } as RunRow
    const run = starting.startedOf(row, [])
    return { ...run, origin: { ...run.origin, trigger: told?.trigger ?? null } }
  }

  return {
    claimRuns: async (limit, underWay) => starting.claimRuns(limit, underWay),
    recordSteps: async (run, steps) => journal.recordSteps(run, steps),
    beginCall: async (run, step, ceilingUsd) => journal.beginCall(run, step, ceilingUsd),
    parkRun: async (run, why) => parking.park(run, why),
    finishRun: (run, end, servers) => finishing.finishRun(run, end, servers),
    rerun: async (run, how) => {
      const again = making.repeat(run, how)
      parts.onPending()
      return { run_id: again, rerun_of: run }
    },
    cancelRun: async (run, by) => {
      finishing.cancelRun(run, by.isAnybody ? NOBODY_KNOWN : by.name)
      return { ok: true }
    },
    previewAgent: async (agent, dispatchId) => {
      const run = supposed(agent, dispatchId)
      const view = viewOf(ctx, run, clock.now())
      const system = systemOf(run)
      const { message } = firstMessage(run, view)
      const tools = [...ownTools(run), concludeTool(run.definition)]
      return {
        system,
        message,
        tools: tools.map(({ name, description }) => ({ name, description })),
        tokens: tokensOf(system) + tokensOf(message) + tokensOf(JSON.stringify(tools)),
      }
    },
    rememberFor: (agent, request, key) => parts.remember(agent, request, key),
  }
}

/** What a run would be shown, in the snapshot of the caller; a preview is of a firing. */
function viewOf(ctx: ReadContext, run: StartedRun, now: number): FirstView | null {
  const asked = run.origin.firing ? askedFirst(run) : null
  if (!asked) return null
  const { projects } = run
  if ('brief' in asked) return { brief: atOnce(briefInSteps(ctx, projects, asked.brief)) }
  const scope = projects.length ? { project: projects } : {}
  return { timeline: answerRead(ctx, { ...asked.timeline, ...scope }, now, undefined, renderRow) }
}
