/** Guided setup in process: the real engine, planner and runs, and a scripted server in place of the model. */
import { loadModels } from '../../../../api/config-models.ts'
import { modelFetch } from '../../../../engine/agents/models/calls.ts'
import { createModels } from '../../../../engine/agents/models/models.ts'
import { type Planner, startPlanner } from '../../../../engine/declared/setup/planner.ts'
import { createEgress } from '../../../../engine/net/fetch.ts'
import type { Setup } from '../../../../schemas/types.ts'
import { type ScriptedModels, startScriptedModels } from '../../../models/scripted-server.ts'
import { openRunWorld, type RunWorld } from '../../agents/runs/run-world.ts'
import { manualTime } from '../../net/egress/manual-time.ts'

export interface SetupWorld extends RunWorld {
  planner: Planner
  /** Begins a draft. @returns its id */
  draft(goal: string, more?: object): Promise<string>
  setup(project: string): Promise<Setup>
  /** Resolves once the draft is being planned no more. */
  planned(project: string): Promise<Setup>
  /** Resolves once what is shown of it is so. */
  until(project: string, is: (setup: Setup) => boolean): Promise<Setup>
  /** Moves the time on by milliseconds, for what is read and for what waits. */
  pass(ms: number): void
}

/** A plan as a model proposes it: errors of a gateway wake one agent. */
export const proposal = (change: object = {}) => ({
  name: 'Gateway watch',
  watches: [
    {
      key: 'w1',
      name: 'Gateway',
      connector: 'webhook',
      config: { text_template: '{msg}', labels: [{ name: 'service', primary: true }] },
      sample: { service: 'pay', status: 503, msg: 'pay answered 503' },
    },
  ],
  wakes: [
    {
      key: 'k1',
      name: 'Gateway errors',
      sources: ['w1'],
      filters: [{ field: 'payload.status', op: 'gte', value: 500 }],
      condition: { aggregate: 'count', predicate: '>= 5', window: '10m' },
      cooldown: '15m',
    },
  ],
  agents: [
    {
      key: 'a1',
      name: 'triage',
      trigger: 'k1',
      prompt: 'Say whether it is worth a person’s time.',
      verdicts: [{ verdict: 'investigate', when: 'orders fail' }],
      handoffs: [{ verdict: 'investigate', agent: 'a2' }],
    },
    { key: 'a2', name: 'digger', prompt: 'Find the cause.' },
  ],
  tools: [],
  skills: [],
  notes: [],
  ...change,
})

export async function openSetupWorld(
  options: Parameters<typeof openRunWorld>[0] & {
    /** Called with each write of the planner before it is made; what it throws is a crash. */
    crash?(call: string): void
    model?: boolean
  } = {},
): Promise<SetupWorld> {
  const { crash, model = true, scripted, ...more } = options
  const server: ScriptedModels = scripted ?? (await startScriptedModels())
  const waiting: (() => void)[] = []
  const told = () => {
    for (const go of waiting.splice(0)) go()
  }
  const world = await openRunWorld({
    ...more,
    scripted: server,
    models: loadModels(
      model ? { PROVIDERA_BASE_URL: server.url, PROVIDERA_API_KEY: 'key', SVC_AGENT_MODEL: 'm1' } : {},
    ),
  })
  const { engine } = world
  const time = manualTime(world.clock.at)
  const out = createEgress({ allowPrivate: false, timers: time })
  const writes = ['claimPlannings', 'planningStep', 'planningWait', 'proposePlan', 'failPlanning'] as const
  const watched = Object.fromEntries(
    writes.map((name) => [
      name,
      async (...args: unknown[]) => {
        crash?.(name)
        const answer = await (engine[name] as (...of: unknown[]) => Promise<unknown>)(...args)
        told()
        return answer
      },
    ]),
  ) as unknown as typeof engine
  const planner = startPlanner({
    port: { ...engine, ...watched },
    models: createModels({
      config: () => engine.modelConfig(),
      keepModels: (id, listed) => engine.keepModels(id, listed),
      http: modelFetch(out),
      clock: world.clock,
      timers: time,
      random: () => 0.5,
    }),
    clock: world.clock,
    timers: time,
    onError: (error) => {
      world.errors.push(error)
      told()
    },
  })
  const until: SetupWorld['until'] = async (project, is) => {
    for (;;) {
      const setup = await engine.getSetup(project)
      if (is(setup)) return setup
      if (world.errors.length) throw world.errors[0]
      await new Promise<void>((go) => waiting.push(go))
    }
  }
  return {
    ...world,
    planner,
    draft: async (goal, body = {}) => {
      const { project } = await engine.startDraft({ goal, ...body }, BY)
      planner.nudge()
      return project.id
    },
    setup: (project) => engine.getSetup(project),
    planned: (project) => until(project, ({ planning }) => planning?.state !== 'running'),
    until,
    pass: (ms) => {
      world.clock.at += ms
      time.advance(ms)
    },
    close: async () => {
      await planner.stop()
      out.close()
      if (!scripted) await server.close()
      await world.close()
    },
  }
}

export const BY = { caller: { id: 'open', name: 'test' }, origin: 'api' as const }
