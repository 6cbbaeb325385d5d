/**
 * Takes runs: claims those that may start, as many at once as allowed, and follows each to its end. It
 * keeps nothing that rows do not: a process that dies in between leaves runs that the next start takes
 * up.
 */
import type { Clock, Timers } from '../../clock.ts'
import { SvcError } from '../../errors.ts'
import { createPlaces, fewAtOnce } from '../../log/steps.ts'
import { createWorkerLoop, settled } from '../../log/worker-loop.ts'
import type { GithubTokens } from '../../net/github-app.ts'
import { connectTools, type ExternalTools as ToolsOfServers } from '../mcp-client.ts'
import { createRests } from '../mcp-connection.ts'
import type { McpToolWrites } from '../mcp-pins.ts'
import type { ExternalTools } from '../mcp-types.ts'
import { ModelFault, type ModelMessage, type ModelReply, type Models } from '../models/types.ts'
import { endCutOff, takeRun } from './policy.ts'
import { Tape } from './tape.ts'
import {
  isEndedMeanwhile,
  type LoopEnd,
  type RunEnd,
  type RunPort,
  type StartedRun,
  type Step,
} from './types.ts'

export interface Runner {
  /** Something may start. */
  nudge(): void
  /** A person ended it: what it is doing is cut off. */
  cut(run: string): void
  /** Claims no more, cuts off what is asked, and leaves it for the next start. Never rejects. */
  stop(): Promise<void>
}

interface RunnerOptions {
  port: RunPort
  models: Models
  /** Connects to MCP servers by name, for one run; what cannot be is skipped. @param inLine as for `Connect` */
  connect: Connect
  clock: Clock
  timers: Timers
  onError(error: Error): void
  /** Told of each run that has ended, however; must not take long, and is not waited for. */
  finished?(run: string): void
}

/**
 * @param inLine waits for a promise, while the time of the run stands still: it has its turn no later for having waited.
 *   @throws what the promise throws
 */
type Connect = (
  servers: readonly string[],
  signal: AbortSignal,
  inLine: <T>(turn: Promise<T>) => Promise<T>,
) => Promise<ExternalTools>

/** Runs of all agents at once; what each agent may is decided with the claim. */
const MAX_RUNS = 256
const STOP_MS = 3_000
/** No wait is longer: a machine that slept, or whose clock was set, has timers that know nothing of it. */
const LONGEST_WAIT_MS = 30_000

const DEADLINE = 'deadline'
const CUT = 'cut'
const STOPPED = 'stopped'

export function startRunner(options: RunnerOptions): Runner {
  const { port, clock, timers, onError } = options
  const underWay = new Map<string, AbortController>()
  const work = new Set<Promise<void>>()
  const loop = createWorkerLoop({ look, timers, onError })
  const freed = createFreed(timers)
  const leaving = leavingReads()

  /** What a call did not cost is free once its step is written. */
  const telling: RunPort = {
    ...port,
    recordSteps: async (run, steps) => {
      await port.recordSteps(run, steps)
      if (steps.some(({ kind }) => kind === 'model')) freed.tell()
    },
  }
  const tell = (error: unknown) => onError(error instanceof Error ? error : new Error(String(error)))

  /** A fault of who is told is none of the run. */
  function tellFinished(run: string): void {
    try {
      options.finished?.(run)
    } catch (error) {
      tell(error)
    }
  }

  async function look(): Promise<number | null> {
    const free = MAX_RUNS - underWay.size
    if (free === 0) return null
    const { started, ended, nextAt } = await port.claimRuns(free, [...underWay.keys()])
    for (const run of started) take(run)
    for (const run of ended) tellFinished(run)
    // What is started may let others start.
    if (started.length) loop.nudge()
    return nextAt === null ? null : Math.min(LONGEST_WAIT_MS, Math.max(0, nextAt - clock.now()))
  }

  function take(run: StartedRun): void {
    const controller = new AbortController()
    underWay.set(run.id, controller)
    const promise = follow(run, controller)
      .catch(tell)
      .finally(() => {
        underWay.delete(run.id)
        work.delete(promise)
        freed.tell()
        loop.nudge()
      })
    work.add(promise)
  }

  async function follow(run: StartedRun, controller: AbortController): Promise<void> {
    const { signal } = controller
    const time = createDeadline(run.deadlineAt, options, () => controller.abort(DEADLINE))
    let tools: ExternalTools | null = null
    try {
      const servers = run.definition.mcp_servers ?? []
      tools = servers.length ? await options.connect(servers, signal, time.inLine) : NO_TOOLS
      const end = await takeRun(run, {
        port: leaving(telling, signal),
        models: run.tape ? tapeModels(run.tape) : options.models,
        tools,
        clock,
        signal,
        moneyFreed: () => freed.wait(signal),
      })
      const over = end.event === 'park' ? await park(run, end) : end
      if (over) await finish(run, over, tools)
    } catch (error) {
      await ended(run, error, signal, tools)
    } finally {
      time.cancel()
      await tools?.close()
    }
  }

  /** @returns how it ends where it must not wait any longer; null: it waits */
  async function park(
    run: StartedRun,
    { why, otherwise }: Extract<LoopEnd, { event: 'park' }>,
  ): Promise<RunEnd | null> {
    const refusal = await port.parkRun(run.id, why)
    if (refusal === null) return null
    return otherwise.event === 'succeed'
      ? otherwise
      : { ...otherwise, reason: `${otherwise.reason}; ${refusal}` }
  }

  async function finish(run: StartedRun, end: RunEnd, tools: ExternalTools | null): Promise<void> {
    const skipped = new Map((tools?.skipped ?? []).map(({ server, reason }) => [server, reason]))
    const servers = run.definition.mcp_servers ?? []
    await port.finishRun(
      run.id,
      end,
      servers.map((server) => ({ server, skipped: skipped.get(server) ?? null })),
    )
    tellFinished(run.id)
  }

  /** What a run that could not go on comes to. */
  async function ended(
    run: StartedRun,
    error: unknown,
    signal: AbortSignal,
    tools: ExternalTools | null,
  ): Promise<void> {
    // A person ended it, or the daemon stops and the next start takes it up.
    if (signal.aborted && signal.reason !== DEADLINE) return
    // Ended by somebody else.
    if (isEndedMeanwhile(error)) return
    const end = signal.aborted
      ? endCutOff(run, 'deadline', 'it took longer than 15 minutes')
      : endCutOff(run, 'fail', `a fault of ours: ${(error as Error).message}`)
    // Removed with all that is its own, as the demo is, or only something that it asked for: its end says which.
    const mayBeGone = isRefused(error, 'not_found')
    if (!signal.aborted && !mayBeGone) tell(error)
    try {
      await finish(run, end, tools)
    } catch (refused) {
      if (mayBeGone && isRefused(refused, 'not_found')) return
      throw refused
    }
    if (!signal.aborted && mayBeGone) tell(error)
  }

  return {
    nudge: loop.nudge,
    cut: (run) => {
      underWay.get(run)?.abort(CUT)
      tellFinished(run)
    },
    stop: async () => {
      loop.stop()
      for (const controller of underWay.values()) controller.abort(STOPPED)
      await settled(work, timers, STOP_MS)
    },
  }
}

/** Ends a run when its time is over; while it waits in line that stands still. */
function createDeadline(
  at: number,
  { clock, timers }: Pick<RunnerOptions, 'clock' | 'timers'>,
  end: () => void,
) {
  let due = at
  const begin = () => timers.after(Math.max(0, due - clock.now()), end)
  let cancel = begin()
  const inLine: Parameters<Connect>[2] = async (turn) => {
    const since = clock.now()
    cancel()
    try {
      return await turn
    } finally {
      due += clock.now() - since
      cancel = begin()
    }
  }
  return { inLine, cancel: () => cancel() }
}

const isRefused = (error: unknown, code: SvcError['code']): boolean =>
  error instanceof SvcError && error.code === code

const NO_TOOLS: ExternalTools = {
  tools: [],
  skipped: [],
  relist: async () => new Map(),
  call: async () => ({ text: 'there is no such tool', isError: true, ms: 0 }),
  close: async () => {},
}

/* What a run reads, for as long as it goes on. */

/** Reads of runs that look at very many rows, as the reader makes them at the same time: first looks, and looks by tools. */
const BRIEFS = 1
const LOOKS = 4

/**
 * The line for what looks at very many rows is here, where a run is known to be cut off: at the reader it would keep its
 * place, and be looked for.
 * @returns the same port for one run. Once its signal is aborted its reads reject with the reason: one that waits for its
 *   turn is not made, one that is under way keeps the turn until it ends
 */
function leavingReads(): (port: RunPort, signal: AbortSignal) => RunPort {
  const [inOrderOfBriefs, inOrderOfLooks] = [fewAtOnce(BRIEFS), fewAtOnce(LOOKS)]
  return (port, signal) => ({
    ...port,
    briefFor: (...args) =>
      unlessAborted(
        signal,
        inOrderOfBriefs(() => port.briefFor(...args), signal),
      ),
    inspectFor: (...args) =>
      unlessAborted(
        signal,
        inOrderOfLooks(() => port.inspectFor(...args), signal),
      ),
    readFor: (...args) => unlessAborted(signal, port.readFor(...args)),
    statsFor: (...args) => unlessAborted(signal, port.statsFor(...args)),
  })
}

/** @throws what the promise throws; the reason of the signal, which does not wait for it */
function unlessAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/* Tells those who wait for money that some may be free. */

/** What Ask gives back is not told here: those who wait look again by themselves. */
const LOOK_MS = 2_000

export interface Freed {
  /** A call of a model has ended. */
  tell(): void
  /** Resolves when one has, or after a while. @throws the reason of the signal */
  wait(signal: AbortSignal): Promise<void>
}

export function createFreed(timers: Timers): Freed {
  const waiting = new Set<() => void>()
  return {
    tell: () => {
      for (const go of [...waiting]) go()
    },
    wait: (signal) =>
      new Promise<void>((resolve, reject) => {
        signal.throwIfAborted()
        const end = (settle: () => void) => {
          callOff()
          waiting.delete(go)
          signal.removeEventListener('abort', abort)
          settle()
        }
        const go = () => end(resolve)
        const abort = () => end(() => reject(signal.reason))
        const callOff = timers.after(LOOK_MS, go)
        waiting.add(go)
        signal.addEventListener('abort', abort, { once: true })
      }),
  }
}

/*
 * The tape of a run in place of a model: each call is answered as it was then, at no cost. It says so when
 * what is asked is no longer what was asked, instead of answering something else.
 */

/** No reply of a tape is made longer by it. */
const MOST_TOKENS = 1_000_000
/** Named as the source of the key that no call had. */
const KEY_SOURCE = 'tape'

/** @param run id that the tape is of. @param steps of it, as they were */
function tapeModels({ run, steps }: { run: string; steps: readonly Step[] }): Models {
  const prompt = new Tape([...steps]).prompt
  const calls = steps.flatMap((step, at) =>
    step.kind === 'model' && (step.data.reply || step.data.error?.code === 'overflow')
      ? [{ ...step.data, before: steps.slice(0, at) }]
      : [],
  )
  let next = 0
  const unfit = (why: string) => new ModelFault('malformed', `the tape of ${run} no longer fits: ${why}`)
  return {
    call: async ({ system, messages }): Promise<ModelReply> => {
      const call = calls[next]
      if (!call) throw unfit(`it ends after ${calls.length} calls`)
      if (prompt && system !== prompt.system) throw unfit(differing('the prompt', prompt.system, system))
      const then = new Tape([...call.before]).messages()
      for (const [i, message] of messages.entries()) {
        const [was, is] = [textOf(then[i]), textOf(message)]
        if (was !== is) throw unfit(differing(`message ${i + 1}`, was, is))
      }
      next++
      // What it was told in short since depends on it.
      if (!call.reply) throw new ModelFault('overflow', call.error?.message ?? '')
      const nothing = {
        input_tokens: 0,
        output_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      }
      return {
        ...call.reply,
        usage: nothing,
        costUsd: 0,
        costFrom: null,
        keySource: KEY_SOURCE,
        ms: 0,
        tries: 1,
      }
    },
    ceilingUsd: async () => 0,
    resolve: async (provider, model) => ({ provider, kind: KEY_SOURCE, model, outputTokens: MOST_TOKENS }),
  }
}

/** What was said: a provider's own blocks say nothing more. */
function textOf(message: ModelMessage | undefined): string {
  if (!message) return ''
  if (message.role !== 'assistant') return JSON.stringify(message)
  const { role, text, calls } = message
  return JSON.stringify({ role, text, calls })
}

function differing(what: string, was: string, is: string): string {
  let at = 0
  while (at < was.length && was[at] === is[at]) at++
  return `${what} differs from character ${at + 1} on`
}

/* The external tools of one run: its servers connected, and what they list noted. */

/**
 * Programs that all runs of the instance have at once. A program is one run's alone, since it may keep what it was asked:
 * hundreds of runs would be hundreds of processes. Those that find too few places wait in line.
 */
const PROGRAMS_MAX = 16

/** @returns how a run's servers are connected; what cannot be is skipped, with its reason */
export function connector(parts: {
  calls: Pick<McpToolWrites, 'mcpServersToConnect' | 'seenMcpTools'>
  http: typeof fetch
  tokens: GithubTokens
  clock: Clock
  timers: Timers
}): Connect {
  const { calls, http, tokens, clock, timers } = parts
  const rests = createRests(clock)
  const takePlaces = createPlaces(PROGRAMS_MAX)
  const noted = async (...seen: Parameters<typeof calls.seenMcpTools>): Promise<void> => {
    try {
      await calls.seenMcpTools(...seen)
    } catch (error) {
      // It is declared no more; the run that began with it goes on with what it has.
      if (!isRefused(error, 'not_found')) throw error
    }
  }
  return async (names, signal, inLine) => {
    let asked = await calls.mcpServersToConnect(names)
    const programs = asked.servers.filter(({ program }) => program).length
    const leave = programs > 0 ? await inLine(takePlaces(programs, signal)) : () => {}
    let external: ToolsOfServers | null = null
    const close = async () => {
      await external?.close()
      leave()
    }
    try {
      // What was declared may be another thing after a wait.
      if (programs > 0) asked = await calls.mcpServersToConnect(names)
      const { servers, skipped, pins } = asked
      const pinned = (server: string, tool: string) => pins.get(server)?.get(tool) ?? null
      external = await connectTools(servers, { http, tokens, timers, clock, signal, pinned, rests })
      for (const { name } of servers) {
        const listed = external.tools.filter(({ server }) => server === name)
        if (listed.length) await noted(name, listed)
      }
      const relist = async () => {
        const again = await external!.relist()
        for (const [name, listed] of again) await noted(name, listed)
        return again
      }
      return { ...external, relist, skipped: [...skipped, ...external.skipped], close }
    } catch (error) {
      await close()
      throw error
    }
  }
}
