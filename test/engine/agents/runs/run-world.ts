/**
 * Agents at work in process: real triggers, the real run loop, the providers' own clients over HTTP, and
 * a scripted server in place of the model. Time is moved by hand.
 */

import { modelFetch } from '../../../../engine/agents/models/calls.ts'
import { createModels } from '../../../../engine/agents/models/models.ts'
import { withOwnPrices } from '../../../../engine/agents/models/usage.ts'
import { connector, type Runner, startRunner } from '../../../../engine/agents/runs/runner.ts'
import type { BriefQuestion } from '../../../../engine/agents/runs/types.ts'
import { createEgress, fetchOver } from '../../../../engine/net/fetch.ts'
import type { AgentWrite, Run, RunDetail } from '../../../../schemas/types.ts'
import { type ScriptedModels, startScriptedModels } from '../../../models/scripted-server.ts'
import { providerAt } from '../../../models/setup.ts'
import { type ManualTime, manualTime } from '../../net/egress/manual-time.ts'
import { noApps } from '../../net/no-apps.ts'
import { BY, openWorld, type World } from '../../triggers/trigger-world.ts'

export interface RunWorld extends World {
  models: ScriptedModels
  runner: Runner
  /** Timers of the runner, which move by hand. */
  timers: ManualTime
  /** Makes an agent that the trigger `t` wakes, in a project of its own kind. */
  agent(write: Partial<AgentWrite> & { name: string }): Promise<void>
  /** Project the agents are wired in. */
  project: string
  /** Resolves once no run waits or is at work; newest last. */
  settled(): Promise<Run[]>
  run(id: string): Promise<RunDetail>
  errors: Error[]
  close(): Promise<void>
}

/** US dollars per million tokens, of every scripted model whose name begins with m. */
export const PRICE = { input: 10, output: 100 }

export async function openRunWorld(
  options: Parameters<typeof openWorld>[0] & {
    prices?: boolean
    provider?: boolean
    /** Format of the provider: that of provider A unless said. */
    wire?: 'providera' | 'compatible'
    /** Format of a second provider, `gateway` or `providera`, on which the model m2 answers where m1 cannot; absent: there is none. */
    fallbackWire?: 'providera' | 'compatible'
    /** Goes on with the scripted server of an earlier world. */
    scripted?: ScriptedModels
    /** Called before and after each write of the runner; what it throws is a crash. */
    fault?(when: 'before' | 'after', call: string): void
    /** Told of each run that has ended. */
    finished?(run: string): void
    /** Waited for before a first look is made. */
    beforeLook?(question: BriefQuestion): Promise<void>
  } = {},
): Promise<RunWorld> {
  const {
    prices = true,
    provider: hasProvider = true,
    wire = 'providera',
    fallbackWire,
    fault,
    scripted: given,
    finished,
    beforeLook,
    ...more
  } = options
  const models = given ?? (await startScriptedModels())
  const world = await openWorld({ ...more, onPending: () => runner.nudge() })
  const time = manualTime(world.clock.at)
  const egress = createEgress({ allowPrivate: false, timers: time })
  const errors: Error[] = []
  const provider = { ...providerAt(models, wire), models: ['m1'], defaultModel: 'm1' }
  const fallback = fallbackWire && {
    ...providerAt(models, fallbackWire),
    ...{ models: ['m2'], defaultModel: 'm2' },
  }
  const idle: (() => void)[] = []
  const engine = world.engine
  const faulty =
    <A extends unknown[], R>(name: string, call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      fault?.('before', name)
      const answer = await call(...args)
      fault?.('after', name)
      return answer
    }
  const runner = startRunner({
    port: {
      ...engine,
      briefFor: async (projects, question) => {
        await beforeLook?.(question)
        return engine.briefFor(projects, question)
      },
      recordSteps: faulty('recordSteps', engine.recordSteps),
      beginCall: faulty('beginCall', engine.beginCall),
      rememberFor: faulty('rememberFor', engine.rememberFor),
      finishRun: faulty('finishRun', async (...args) => {
        await engine.finishRun(...args)
        for (const go of idle.splice(0)) go()
      }),
    },
    models: createModels({
      keepModels: async () => {},
      config: async () => ({
        providers: hasProvider ? [provider, ...(fallback ? [fallback] : [])] : [],
        defaultProvider: hasProvider ? provider.id : null,
        ...(fallback ? { fallback: { provider: fallback.id, model: 'm2' } } : {}),
        prices: prices ? withOwnPrices([{ prefix: 'm', ...PRICE }]) : [],
      }),
      http: modelFetch(egress),
      clock: world.clock,
      timers: time,
      random: () => 0.5,
    }),
    connect: connector({
      calls: engine,
      http: fetchOver(egress, { audience: 'operator', timeoutMs: 65_000, maxResponseBytes: 1 << 24 }),
      tokens: noApps,
      clock: world.clock,
      timers: time,
    }),
    clock: world.clock,
    timers: time,
    ...(finished ? { finished } : {}),
    onError: (error) => {
      errors.push(error)
      for (const go of idle.splice(0)) go()
    },
  })
  const known = (await engine.listProjects()).find(({ name }) => name === 'Shop')
  const { id: project } =
    known ?? (await engine.createProject({ template: 'custom', name: 'Shop', objects: [] }, BY))
  return {
    ...world,
    models,
    runner,
    timers: time,
    project,
    errors,
    agent: async (write) => {
      await engine.createAgent({ prompt: 'Look.', project, ...write } as AgentWrite, BY)
      if (write.trigger) await engine.switchAgent(write.name, true, project, BY)
    },
    settled: async () => {
      for (;;) {
        runner.nudge()
        const { runs } = await engine.listRuns({ status: 'open', limit: 1, offset: 0 })
        if (runs.length === 0 || errors.length) break
        await new Promise<void>((go) => idle.push(go))
      }
      if (errors.length) throw errors[0]
      return (await engine.listRuns({ limit: 200, offset: 0 })).runs.reverse()
    },
    run: (id) => engine.getRun(id),
    close: async () => {
      await runner.stop()
      if (!given) await models.close()
      egress.close()
      await engine.close()
    },
  }
}
