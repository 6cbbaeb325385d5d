/**
 * Runs agents over a pack of scenarios. Each scenario is loaded into its own engine, where each variant of an agent makes
 * one practice run, at the time of the firing. `checkPack` runs scripted agents, to find scenarios that cannot tell a
 * good agent from a bad one.
 */
import { createHash } from 'node:crypto'
import type {
  AgentWrite,
  EvalEvent,
  EvalRun,
  EvalScene,
  EvalTurn,
  RunDetail,
  RunStep,
  SourceWrite,
} from '../../../schemas/types.ts'
import type { Caller } from '../../calls.ts'
import { systemClock, systemTimers } from '../../clock.ts'
import { fail } from '../../errors.ts'
import { SPAN_ID_LABELS } from '../../log/brief/brief.ts'
import { outboundProxy } from '../../net/address.ts'
import type { LocalEngine } from '../../operations/operation.ts'
import type { EngineOptions } from '../../roles/calls.ts'
import { openModels } from '../models/calls.ts'
import type { ModelEnvironment } from '../models/providers.ts'
import type { Models } from '../models/types.ts'
import { startRunner } from '../runs/runner.ts'
import {
  type Loaded,
  loadedWith,
  overLimit,
  type Pack,
  type Truth,
  type TruthEvents,
  truthOf,
} from './incident.ts'
import { levelOf, scoreRun, shownIn } from './measure.ts'
import {
  SCRIPTED,
  type ScriptedName,
  scriptedModels,
  silentModels,
  statedFaults,
  type Told,
  TRIVIAL,
} from './scripted.ts'
import { staleIn, steady, type TapeOf } from './tapes.ts'

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

interface OpenedModels {
  models: Models
  /** Told once all repeats have ended. */
  done?(): void
}

interface EvalOptions {
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
              ...{ context: variant.context, prompt_hash: hashOf(variant.prompt) },
              over: overLimit(tookOf(detail, ms), incident.truth.limits),
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

/** Which instructions they were, without their text. */
const hashOf = (prompt: string): string => createHash('sha256').update(prompt).digest('hex').slice(0, 12)

const tookOf = (detail: RunDetail, ms: number) => ({
  ...{ rounds: detail.rounds, usd: detail.cost_usd, seconds: ms / 1000 },
  input_tokens: inputTokens(detail),
})

const inputTokens = (detail: RunDetail): number =>
  detail.input_tokens + detail.cache_creation_input_tokens + detail.cache_read_input_tokens

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
  relist: async () => new Map(),
  call: async () => ({ text: 'there is no such tool', isError: true, ms: 0 }),
  close: async () => {},
}

function toldOf(loaded: Loaded, truth: ReturnType<typeof truthOf>, idOf: (id: string) => string): Told {
  const byId = new Map(loaded.events.map((event) => [event.id, event]))
  return {
    causes: truth.causes.flatMap(({ events }) => {
      const last = [...events].map((id) => byId.get(id)!).at(-1)
      if (!last) return []
      return [{ event: idOf(last.id), text: last.text }]
    }),
  }
}

/*
 * What is kept of runs over a scenario, so that a report can be read without its pack: the events that they are judged
 * by, which of these each was shown, and what each asked and was answered.
 */

/** Events of one fact or of the decoys that are kept besides those that a run was shown or cited. */
const KEPT = 20
/** Events of a scene at most: a fact can match thousands, and a run be shown as many. */
const EVENTS_MAX = 2_000
/** Characters kept of the text of an event, and of what a model said or a tool answered. */
const TEXT = 500
const SAID = 2_000
const TURNS_MAX = 200
const CALLS_MAX = 100

interface Given {
  scenario: string
  noise: number
  loaded: Loaded
  truth: TruthEvents
  outcome: NonNullable<Truth['outcome']>
  /** Id in the store of an event of `loaded`. */
  idOf(id: string): string
  runs: readonly RunDetail[]
}

/** @returns the scene, with events in order of time, and of each run the events of it that it was shown */
function sceneOf(given: Given): { scene: EvalScene; shown: string[][] } {
  const { scenario, noise, loaded, truth, outcome, idOf, runs } = given
  const shownTo = runs.map(shownIn)
  const cited = new Set(runs.flatMap(({ claims }) => claims.flatMap(({ events }) => events)))
  const wasSeen = (id: string) => cited.has(id) || shownTo.some((shown) => shown.has(id))
  const copies = new Set(loaded.events.flatMap(({ id, isCopy }) => (isCopy ? [id] : [])))
  const kept = new Set<string>()
  for (const events of [...truth.facts.map((fact) => fact.events), truth.decoys])
    for (const [i, id] of [...events].filter((id) => !copies.has(id) || wasSeen(idOf(id))).entries())
      if (i < KEPT || wasSeen(idOf(id))) kept.add(id)
  const events = loaded.events
    .filter(({ id }) => kept.has(id) || cited.has(idOf(id)))
    .slice(0, EVENTS_MAX)
    .map((event): EvalEvent => {
      const { id, t, source, type, text, labels, count = 1 } = event
      return {
        ...{ id: idOf(id), at: new Date(loaded.now + t * 1000).toISOString(), source, type },
        ...{ text: text.slice(0, TEXT), entity: labels.service ?? null, count },
        facts: truth.facts.flatMap((fact) => (fact.events.has(id) ? [{ id: fact.id, role: fact.role }] : [])),
        decoy: truth.decoys.has(id),
      }
    })
  return {
    scene: {
      ...{ scenario, noise, entity: loaded.entity, outcome, events },
      fired_at: new Date(loaded.now).toISOString(),
    },
    shown: shownTo.map((shown) => events.flatMap(({ id }) => (shown.has(id) ? [id] : []))),
  }
}

/** What is kept of how a run went. */
function recordOf(
  detail: RunDetail,
): Pick<
  EvalRun,
  | ('status' | 'outcome' | 'headline' | 'error' | 'model' | 'rounds' | 'calls' | 'usd')
  | ('input_tokens' | 'output_tokens' | 'claims' | 'turns')
> {
  const { status, outcome, headline, error, model, rounds, tool_calls: calls, cost_usd: usd } = detail
  return {
    ...{ status, outcome, headline, error, model, rounds, calls, usd },
    input_tokens: inputTokens(detail),
    output_tokens: detail.output_tokens,
    claims: detail.claims.map(({ text, role, events, ok }) => ({ text, role, events, ok })),
    turns: turnsOf(detail.steps),
  }
}

/** Model calls in order, each with the tools that it called; the first message is not kept. */
function turnsOf(steps: readonly RunStep[]): EvalTurn[] {
  const turns: EvalTurn[] = []
  for (const { kind, round, data } of steps) {
    if (kind === 'model' && data.reply)
      turns.push({ round, said: cut((data.reply as { text?: unknown }).text), calls: [] })
    const calls = turns.at(-1)?.calls
    if (calls && (kind === 'tool' || kind === 'refused' || kind === 'conclude') && calls.length < CALLS_MAX)
      calls.push(callOf(data))
  }
  return turns.slice(0, TURNS_MAX)
}

function callOf(data: RunStep['data']): EvalTurn['calls'][number] {
  const { name, arguments: given } = data.call as { name: string; arguments: unknown }
  const answer = data.result ?? data.reason ?? data.fault ?? null
  return {
    tool: name.slice(0, 200),
    arguments: JSON.stringify(given ?? {}).slice(0, SAID),
    answer: answer === null ? null : cut(answer),
    failed: data.is_error === true || data.reason !== undefined || typeof data.fault === 'string',
  }
}

const cut = (text: unknown): string => (typeof text === 'string' ? text.slice(0, SAID) : '')

/*
 * An incident as svc has it: an engine in memory whose clock is the incident's, its events sent to sources in
 * the order in which they came, and a trigger that fires for its entity. Truth stays outside.
 */

/** Items of one body. */
const BODY_ITEMS = 1_000
/** Runs of one agent in its day: as many as are asked for. */
const RUNS_MAX = 10_000
const TRIGGER = 'paged'
/** The same in every world: what an agent is told of a scenario is the same to the byte, cursors and markers with it. */
const SECRET = '0'.repeat(64)
const EVALS: Caller = { id: 'evals', name: 'evals' }
const BY = { caller: EVALS, origin: 'api' as const }

/** Opens an engine in the caller's own thread. */
export type OpenEngine = (options: EngineOptions) => LocalEngine

interface EvalWorld {
  engine: LocalEngine
  clock: { now(): number }
  /** Ids that the events have in the store, by those of what was loaded. */
  ids: ReadonlyMap<string, string>
  /** Id of the run that the firing made of each agent: it waits. */
  runs: ReadonlyMap<string, string>
  close(): Promise<void>
}

/**
 * @param agents made before the events come, each woken by the firing
 * @throws SvcError where an event is refused, or nothing fires
 */
export async function openEvalWorld(
  open: OpenEngine,
  loaded: Loaded,
  agents: readonly Omit<AgentWrite, 'project' | 'trigger'>[],
): Promise<EvalWorld> {
  // Not Math.min(...all): so many arguments do not fit on the stack.
  const began = loaded.now + loaded.events.reduce((first, { t }) => Math.min(first, t), 0) * 1000
  let now = began
  const clock = { now: () => now }
  const engine = open({ dataFile: null, clock, fixedSecret: SECRET })
  try {
    const { id: project } = await engine.createProject({ template: 'custom', name: 'Evals', objects: [] }, BY)
    const keys = await makeSources(engine, loaded, project)
    await engine.createTrigger(
      {
        name: TRIGGER,
        sources: ['alerts'],
        condition: { event: 'any' },
        filters: [{ field: 'event_type', op: 'eq', value: 'page' }],
        project,
      } as never,
      BY,
    )
    for (const agent of agents) {
      await engine.createAgent(
        { ...agent, project, trigger: TRIGGER, daily_cap: RUNS_MAX, concludes: true } as AgentWrite,
        BY,
      )
      await engine.switchAgent(agent.name, true, project, BY)
    }
    const ids = await send(engine, loaded, keys, (at) => {
      now = Math.max(now, at)
      engine.tick()
    })
    engine.tick()
    const { runs } = await engine.listRuns({ limit: RUNS_MAX, offset: 0 })
    const made = new Map(runs.map(({ agent, id }) => [agent, id]))
    for (const { name } of agents)
      if (!made.has(name)) fail('internal', `evals: nothing woke ${name} for ${loaded.entity}`)
    return { engine, clock, ids, runs: made, close: () => engine.close() }
  } catch (error) {
    await engine.close()
    throw error
  }
}

/** @returns the ingest key of each */
async function makeSources(
  engine: LocalEngine,
  { events }: Loaded,
  project: string,
): Promise<Map<string, string>> {
  const labels = new Map<string, Set<string>>()
  const measured = new Set<string>()
  for (const { source, labels: of, value } of events) {
    const names = labels.get(source) ?? new Set(['service'])
    labels.set(source, names)
    for (const name of Object.keys(of)) names.add(name)
    if (value !== undefined) measured.add(source)
  }
  const keys = new Map<string, string>()
  for (const [name, names] of labels) {
    const write = {
      ...{ name, connector: 'webhook', project },
      config: {
        event_type_field: 'type',
        event_time_field: 'at',
        text_template: '{text}',
        labels: [
          { name: 'service', field: 'labels.service', primary: true },
          ...[...names]
            // Of a scenario that came by OTLP the signal is among the labels: it is named once, below.
            .filter((label) => label !== 'service' && !(label === 'signal' && measured.has(name)))
            .map((label) => ({ name: label, field: `labels.${label}` })),
          ...(measured.has(name)
            ? [
                { name: 'value', field: 'value', type: 'number' },
                { name: 'signal', field: 'signal' },
              ]
            : []),
        ],
      },
    }
    const { ingest_key } = await engine.createSource(write as SourceWrite, BY, false)
    keys.set(name, ingest_key!)
  }
  return keys
}

/**
 * What OTLP says of a number beside its text: without it a span would be a line with a number, and requests that broke
 * would not be told by their steps. A span's text ends with how long it took, in brackets.
 */
function signalOf({ text, labels, value }: Loaded['events'][number]): { text: string; signal?: string } {
  if (labels.signal !== undefined) return { text, signal: String(labels.signal) }
  if (value === undefined) return { text }
  return SPAN_ID_LABELS.some((name) => labels[name] !== undefined)
    ? { text: text.replace(/ (\d+(?:\.\d+)?ms)$/, ' ($1)'), signal: 'traces' }
    : { text, signal: 'metrics' }
}

/** @param reached told the time at which what follows came, epoch ms */
async function send(
  engine: LocalEngine,
  { events, now }: Loaded,
  keys: ReadonlyMap<string, string>,
  reached: (at: number) => void,
): Promise<Map<string, string>> {
  const cameAt = ({ t, arrives = t }: Loaded['events'][number]) => Math.max(t, arrives)
  const inOrder = [...events].sort((a, b) => cameAt(a) - cameAt(b))
  const ids = new Map<string, string>()
  for (let from = 0; from < inOrder.length; ) {
    const { source } = inOrder[from]!
    let to = from + 1
    while (to < inOrder.length && to - from < BODY_ITEMS && inOrder[to]!.source === source) to++
    const some = inOrder.slice(from, to)
    reached(now + cameAt(some.at(-1)!) * 1000)
    const items = some.map((event) => ({
      ...{ type: event.type, labels: event.labels, value: event.value, ...signalOf(event) },
      at: new Date(now + event.t * 1000).toISOString(),
    }))
    const answer = await engine.ingest({
      ingestKey: keys.get(source)!,
      body: Buffer.from(JSON.stringify(items)),
      bypassCooldown: false,
      caller: EVALS.id,
    })
    if (answer.ingested !== items.length)
      fail('internal', `evals: ${items.length - answer.ingested} events of ${source} were refused`)
    const first = Number(answer.ids![0]!.slice(4))
    for (const [i, { id }] of some.entries()) ids.set(id, `evt_${first + i}`)
    from = to
  }
  return ids
}

/* Models of the providers that an environment names, without a daemon. */

interface ProviderModels {
  models: Models
  close(): Promise<void>
}

/** @param environment as `loadModels` reads it. @param env names the proxy, if there is one */
export function openProviderModels(
  open: OpenEngine,
  environment: ModelEnvironment,
  env: Parameters<typeof outboundProxy>[0],
): ProviderModels {
  const engine = open({ dataFile: null, models: environment })
  const { models, close } = openModels(engine, systemClock, outboundProxy(env))
  return {
    models,
    close: async () => {
      close()
      await engine.close()
    },
  }
}

export interface Unfit {
  scenario: string
  why: string
}

/** @param noise events around each. @returns what is wrong, of each scenario; empty: all are fit */
export async function checkPack(
  open: OpenEngine,
  pack: Pack,
  { noise, onRun }: { noise: number; onRun?(scenario: string): void },
): Promise<Unfit[]> {
  const unfit: Unfit[] = []
  const variants = SCRIPTED.map((script) => ({
    ...{ name: script, context: 'brief' as const, prompt: PROMPT, repeats: 1 },
    by: { script },
  }))
  for (const one of pack.incidents) {
    const { truth, ...incident } = one.load()
    const scenario = one.id
    const say = (why: string) => unfit.push({ scenario, why })
    const loaded = loadedWith({ truth, ...incident }, pack.noise, 0)
    const found = truthOf(loaded, truth)
    for (const why of statedFaults({ truth, ...incident }, pack.noise, noise)) say(why)
    const { runs } = await runEvals(
      open,
      { ...pack, incidents: [one] },
      { noise: [noise], variants, maxUsd: 0 },
    )
    if (found.causes.length > 0) {
      for (const { variant, score } of runs)
        if ((TRIVIAL as readonly string[]).includes(variant) && score.cause > 0)
          say(`${variant} finds the cause without knowing anything`)
      const knowing = runs.filter(({ variant }) => variant === 'rules' || variant === 'told')
      if (knowing.every(({ score }) => score.cause === 0))
        say('neither rules nor told, which knows the truth, finds the cause')
    }
    onRun?.(scenario)
  }
  return unfit
}
