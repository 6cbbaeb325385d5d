/** Runs over a pack: each scenario in a world of its own, each variant as a practice run as of its firing. */
import type { AgentWrite, EvalRun, EvalScene, RunDetail } from '../../schemas/types.ts'
import { systemTimers } from '../clock.ts'
import type { Models } from '../models/types.ts'
import { startRunner } from '../runs/runner.ts'
import type { Pack } from './incident.ts'
import { levelOf } from './levels.ts'
import { recordOf, sceneOf } from './scene.ts'
import { scoreRun } from './score.ts'
import { type ScriptedName, scriptedModels, silentModels, type Told } from './scripted.ts'
import { staleIn, steady, type TapeOf } from './tapes.ts'
import { truthOf } from './truth.ts'
import { type Loaded, loadedWith } from './ways.ts'
import { type EvalWorld, type OpenEngine, openEvalWorld } from './world.ts'

/** Who answers, what it is shown first, and by which instructions. */
export interface Variant {
  name: string
  context: 'brief' | 'plain'
  prompt: string
  provider?: string
  model?: string
  /** A script, the models of providers, or what is opened for each scenario, such as a tape. */
  by: { script: ScriptedName } | { models: Models } | { open(of: TapeOf): OpenedModels }
  repeats: number
}

export interface OpenedModels {
  models: Models
  /** Told once all repeats have ended. */
  done?(): void
}

export interface EvalOptions {
  noise: readonly number[]
  variants: readonly Variant[]
  /** Nothing is begun once so much was spent, US dollars. */
  maxUsd: number
  /** Told of each run that has ended. */
  onRun?(run: EvalRun): void
}

/** How an agent of the pack is told to work, where nobody says otherwise. */
export const PROMPT =
  'You are paged for a service. Find what caused it: the change, the fault or the load that came first, not what followed from it. Name it by its events in your first claim.'

/**
 * @returns runs in the order in which they ended, fewer than asked for once the money is spent; and of each scenario at
 *   each level of noise the events that they are judged by
 */
export async function runEvals(
  open: OpenEngine,
  pack: Pack,
  { noise: levels, variants, maxUsd, onRun }: EvalOptions,
): Promise<{ runs: EvalRun[]; scenes: EvalScene[]; spentUsd: number; stopped: boolean }> {
  const runs: EvalRun[] = []
  const scenes: EvalScene[] = []
  let spentUsd = 0
  let stopped = false
  for (const { id, heldOut = false, load } of pack.incidents) {
    const incident = load()
    const { kind, outcome = 'finding' } = incident.truth
    const level = levelOf(incident)
    for (const noise of levels) {
      const loaded = loadedWith(incident, pack.noise, noise)
      const world = await openEvalWorld(open, loaded, [...agentsOf(variants).values()])
      try {
        const truth = truthOf(loaded, incident.truth)
        const idOf = (one: string) => world.ids.get(one) ?? one
        const details: RunDetail[] = []
        const first = runs.length
        await settle(world, silentModels, [...world.runs.values()])
        for (const variant of variants) {
          if (!('script' in variant.by) && spentUsd >= maxUsd) {
            stopped = true
            continue
          }
          const began = performance.now()
          const told = toldOf(loaded, truth, idOf)
          const opened = openModelsOf(variant, { scenario: id, noise, variant: variant.name }, told)
          const repeats = await repeat(world, variant, opened.models)
          opened.done?.()
          const ms = Math.round((performance.now() - began) / repeats.length)
          for (const [i, detail] of repeats.entries()) {
            spentUsd += detail.cost_usd ?? 0
            details.push(detail)
            const run: EvalRun = {
              ...{ scenario: id, kind, level, held_out: heldOut, noise, variant: variant.name },
              ...{ scripted: 'script' in variant.by, repeat: i + 1, ms, shown: [] },
              stale: staleIn(detail.error),
              ...recordOf(detail),
              score: scoreRun(detail, truth, outcome, idOf),
            }
            runs.push(run)
            onRun?.(run)
          }
        }
        const { scene, shown } = sceneOf({ scenario: id, noise, loaded, truth, outcome, idOf, runs: details })
        scenes.push(scene)
        for (const [i, ids] of shown.entries()) runs[first + i]!.shown = ids
      } finally {
        await world.close()
      }
    }
  }
  return { runs, scenes, spentUsd, stopped }
}

const agentName = ({ context, prompt }: Variant, prompts: readonly string[]): string =>
  `${context}-${prompts.indexOf(prompt) + 1}`

/** One agent for each context and prompt; the model is said when its run is repeated. */
function agentsOf(variants: readonly Variant[]): Map<string, Omit<AgentWrite, 'project' | 'trigger'>> {
  const prompts = [...new Set(variants.map(({ prompt }) => prompt))]
  return new Map(
    variants.map((variant) => {
      const name = agentName(variant, prompts)
      return [name, { name, prompt: variant.prompt, context: variant.context } as AgentWrite]
    }),
  )
}

/** What answers a variant; what is asked is the same each time that the scenario is run. */
function openModelsOf({ by }: Variant, of: TapeOf, told: Told): OpenedModels {
  const opened: OpenedModels =
    'script' in by
      ? { models: scriptedModels(by.script, told) }
      : 'open' in by
        ? by.open(of)
        : { models: by.models }
  return { ...opened, models: steady(opened.models) }
}

async function repeat(world: EvalWorld, variant: Variant, models: Models): Promise<RunDetail[]> {
  const { engine } = world
  const first = await firstRunOf(world, variant)
  const ids: string[] = []
  for (let i = 0; i < variant.repeats; i++) {
    const { provider, model } = variant
    const how = {
      ...{ asOf: 'same' as const, practice: true },
      ...(provider === undefined ? {} : { provider }),
      ...(model === undefined ? {} : { model }),
    }
    ids.push((await engine.rerun(first, how)).run_id)
  }
  await settle(world, models, ids)
  return await Promise.all(ids.map((id) => engine.getRun(id)))
}

/** The run of the agent that has this variant's context and prompt. */
async function firstRunOf({ engine, runs }: EvalWorld, { context, prompt }: Variant): Promise<string> {
  for (const id of runs.values()) {
    const { definition } = await engine.getRun(id)
    if (definition.prompt === prompt && (definition.context ?? 'brief') === context) return id
  }
  throw new Error(`no agent has the context ${context} and this prompt`)
}

/** Follows runs to their end. @throws a fault of the runner itself */
async function settle({ engine, clock }: EvalWorld, models: Models, ids: readonly string[]): Promise<void> {
  const open = new Set(ids)
  await new Promise<void>((done, fault) => {
    const runner = startRunner({
      port: engine,
      models,
      connect: async () => NO_TOOLS,
      // Waits are of the machine, the instant is the incident's: a run has 15 minutes from when it began.
      clock,
      timers: systemTimers,
      onError: (error) => void runner.stop().then(() => fault(error)),
      finished: (run) => {
        open.delete(run)
        if (open.size === 0) void runner.stop().then(done)
      },
    })
    runner.nudge()
  })
}

const NO_TOOLS = {
  tools: [],
  skipped: [],
  call: async () => ({ text: 'there is no such tool', isError: true, ms: 0 }),
  close: async () => {},
}

function toldOf(loaded: Loaded, truth: ReturnType<typeof truthOf>, idOf: (id: string) => string): Told {
  const byId = new Map(loaded.events.map((event) => [event.id, event]))
  return {
    causes: truth.causes.flatMap(({ events }) => {
      const last = [...events].map((id) => byId.get(id)!).at(-1)
      if (!last) return []
      const { id, t, labels, text } = last
      return [{ event: idOf(id), at: loaded.now + t * 1000, service: labels.service ?? null, text }]
    }),
  }
}
