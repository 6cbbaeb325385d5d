/**
 * Runs, Ask and planning over one clock that is moved by hand, and one scripted server in place of the
 * model, for what goes wrong with providers. A world is used for many faults, one after the other.
 */
import { loadModels } from '../../../api/config-models.ts'
import { createAsk } from '../../../engine/agents/ask/ask.ts'
import { modelFetch } from '../../../engine/agents/models/calls.ts'
import { createModels } from '../../../engine/agents/models/models.ts'
import type { ModelChoice } from '../../../engine/agents/models/types.ts'
import { withOwnPrices } from '../../../engine/agents/models/usage.ts'
import { startRunner } from '../../../engine/agents/runs/runner.ts'
import { startPlanner } from '../../../engine/declared/setup/planner.ts'
import { createEgress } from '../../../engine/net/fetch.ts'
import type { AskFrame, RunDetail, Setup } from '../../../schemas/types.ts'
import { type ScriptedModels, startScriptedModels } from '../../models/scripted-server.ts'
import { IDLE_MS, providerAt } from '../../models/setup.ts'
import { merged } from '../agents/ask/ask-world.ts'
import { manualTime } from '../net/egress/manual-time.ts'
import { BY, openWorld, type World } from '../triggers/trigger-world.ts'
import { watchReads } from './read-watch.ts'

export type Wire = 'providera' | 'compatible'

/** Of a call between two tries; deadlines are longer. */
const LONGEST_SLEEP_MS = 60_000
/** US dollars per million tokens. */
const PRICE = { input: 10, output: 100 }

export interface FaultWorld extends World {
  models: ScriptedModels
  project: string
  /** A reply that sends nothing more from there on, after so many bytes. */
  stalled(sent: number): void
  /** Moves time on. */
  pass(ms: number): void
  /** Posts an event of an entity of its own. @returns the newest run, without waiting for it */
  wake(): Promise<string>
  run(id: string): Promise<RunDetail>
  /** Moves time on as it is waited for, until `isDone`. */
  until<T>(look: () => Promise<T | null>): Promise<T>
  /** Wakes a run, and waits for its end. `states`: those it was seen in. */
  ran(): Promise<{ run: RunDetail; states: string[] }>
  asked(question?: string): Promise<AskFrame[]>
  planned(): Promise<Setup>
  nudge(): void
  /** Stops what works, as a kill does, and leaves the store. */
  halt(): Promise<void>
  close(): Promise<void>
}

export async function openFaultWorld(
  options: Parameters<typeof openWorld>[0] & {
    wire?: Wire
    scripted?: ScriptedModels
    fallback?: ModelChoice
    context?: 'brief' | 'plain'
  } = {},
): Promise<FaultWorld> {
  const { wire = 'providera', scripted, fallback, context = 'plain', ...more } = options
  const models = scripted ?? (await startScriptedModels())
  let nudge = () => {}
  const world = await openWorld({
    ...more,
    onPending: () => nudge(),
    // A plan is begun where the store knows a provider; whom it asks is said below.
    models: loadModels({ PROVIDERA_BASE_URL: models.url, PROVIDERA_API_KEY: 'key', SVC_AGENT_MODEL: 'm1' }),
  })
  const { engine, clock } = world
  const time = manualTime(clock.at)
  const out = createEgress({ allowPrivate: false, timers: time })
  const errors: Error[] = []
  const reads = watchReads(modelFetch(out))
  const stalls: number[] = []
  /** Until when a question waits for its model, epoch ms; null: none does. */
  let askWaits: number | null = null
  const provider = { ...providerAt(models, wire), models: ['m1'], defaultModel: 'm1' }
  const other = { ...providerAt(models, wire === 'providera' ? 'compatible' : 'providera'), models: ['m2'] }
  const asker = createModels({
    keepModels: async () => {},
    config: async () => ({
      providers: [provider, { ...other, defaultModel: 'm2' }],
      defaultProvider: provider.id,
      fallback: fallback ?? null,
      prices: withOwnPrices([{ prefix: 'm', ...PRICE }]),
    }),
    http: reads.fetch,
    clock,
    timers: time,
    random: () => 0,
  })
  const onError = (error: Error) => void errors.push(error)
  const parts = { models: asker, clock, timers: time, onError }
  const none = { tools: [], skipped: [], relist: async () => new Map(), close: async () => {} }
  const connect = async () => ({ ...none, call: async () => ({ text: '', isError: true, ms: 0 }) })
  const runner = startRunner({ port: engine, connect, ...parts })
  /** Whether planning waits for its model. */
  let planWaits = false
  const planningWait: typeof engine.planningWait = (job, words) => {
    planWaits = words !== null
    return engine.planningWait(job, words)
  }
  const planner = startPlanner({ port: { ...engine, planningWait }, ...parts })
  const ask = createAsk({ port: engine, reads: engine, ...parts })
  nudge = () => {
    runner.nudge()
    planner.nudge()
  }
  const pass = (ms: number) => {
    clock.at += ms
    time.advance(ms)
  }
  /** How long a call sleeps between two tries, or what is parked; 0: neither does. */
  const sleep = async (): Promise<number> => {
    if (askWaits !== null) return Math.max(0, askWaits - clock.at)
    const { runs } = await engine.listRuns({ status: 'open', limit: 9, offset: 0 })
    const { parked = null } = runs.some(({ status }) => status === 'running') ? {} : (runs[0] ?? {})
    if (parked) return Math.max(0, Date.parse(parked.until) - clock.at)
    // A call is under way.
    if (time.waits().includes(IDLE_MS)) return 0
    const [wait = 0] = time.waits()
    return planWaits || wait <= LONGEST_SLEEP_MS ? wait : 0
  }
  /** Time passes only while nothing else can happen: a call sleeps between two tries, or a run is parked. */
  const until: FaultWorld['until'] = async (look) => {
    for (;;) {
      const found = await look()
      if (errors.length) throw errors[0]
      if (found !== null) return found
      const sent = stalls.shift()
      if (sent !== undefined) {
        // What was sent is read first, and told by whom it was handed to.
        await reads.readTo(sent)
        await new Promise((resolve) => setImmediate(resolve))
        pass(IDLE_MS)
      } else pass(await sleep())
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const known = (await engine.listProjects()).find(({ name }) => name === 'Shop')
  const project =
    known?.id ?? (await engine.createProject({ template: 'custom', name: 'Shop', objects: [] }, BY)).id
  if (!known) {
    await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
    await engine.createAgent(
      { name: 'look', prompt: 'Look.', trigger: 't', context, project, daily_cap: 10_000 },
      BY,
    )
    await engine.switchAgent('look', true, project, BY)
  }
  let n = 0
  const run = (id: string) => engine.getRun(id)
  const wake = async () => {
    await world.post({ service: `s${n++}`, type: 'error', msg: 'cannot pay' })
    runner.nudge()
    return (await engine.listRuns({ limit: 1, offset: 0 })).runs[0]!.id
  }
  return {
    ...world,
    models,
    project,
    stalled: (sent) => void stalls.push(sent),
    pass,
    wake,
    run,
    until,
    nudge: () => nudge(),
    ran: async () => {
      const id = await wake()
      const states: string[] = []
      const ended = await until(async () => {
        const now = await run(id)
        if (states.at(-1) !== now.status) states.push(now.status)
        return now.finished_at === null ? null : now
      })
      return { run: ended, states }
    },
    asked: async (question = 'What broke?') => {
      const { turn } = await ask.calls.ask({ messages: [{ role: 'user', content: question }] }, MARIA)
      const frames: AskFrame[] = []
      let isOver = false
      await ask.calls.followAsk(turn, 0, MARIA, {
        frame: (_n, frame) => {
          frames.push(frame)
          askWaits = frame.type === 'wait' ? Date.parse(frame.until) : null
        },
        end: () => {
          isOver = true
        },
      })
      await until(async () => (isOver ? true : null))
      return merged(frames)
    },
    planned: async () => {
      const { project: draft } = await engine.startDraft({ goal: `Tell me when gateway ${n++} fails` }, BY)
      planner.nudge()
      return until(async () => {
        const setup = await engine.getSetup(draft.id)
        return setup.planning?.state === 'running' ? null : setup
      })
    },
    halt: async () => {
      await Promise.all([runner.stop(), planner.stop(), ask.stop()])
      out.close()
      await engine.close()
    },
    close: async () => {
      await Promise.all([runner.stop(), planner.stop(), ask.stop()])
      out.close()
      await engine.close()
      if (!scripted) await models.close()
    },
  }
}

const MARIA = { id: 'key:1', name: 'maria', scopes: ['read', 'admin', 'ingest'] }
