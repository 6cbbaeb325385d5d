/** Whether scenarios are fit to tell a good agent from a bad one. */
import { counted } from './counted.ts'
import type { Incident, NoisePool, Pack } from './incident.ts'
import { PROMPT, runEvals } from './run.ts'
import { namedBy, SCRIPTED, TRIVIAL } from './scripted.ts'
import { truthOf } from './truth.ts'
import { type Loaded, loadedWith, ways } from './ways.ts'
import type { OpenEngine } from './world.ts'

/** A fact that so much of all other events matches is told by noise. */
const COMMON = 0.01

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
          say(`${variant} finds the cause, which knows nothing`)
      const knowing = runs.filter(({ variant }) => variant === 'rules' || variant === 'told')
      if (knowing.every(({ score }) => score.cause === 0))
        say('neither the rules nor who is told can find it')
    }
    onRun?.(scenario)
  }
  return unfit
}

/** What is wrong with a scenario by itself, before any agent looks at it. @param count of background events around it */
export function statedFaults(incident: Incident, noise: NoisePool, count: number): string[] {
  const { truth, events } = incident
  const faults: string[] = []
  const loaded = loadedWith(incident, noise, count)
  const own = new Set(counted(events).map(keyOf))
  const noiseIds = loaded.events.filter((event) => !own.has(keyOf(event))).map((event) => event.id)
  for (const { id, events } of truthOf(loaded, truth).facts) {
    if (events.size === 0) faults.push(`no event is of the fact ${id}`)
    if (noiseIds.filter((event) => events.has(event)).length > COMMON * noiseIds.length)
      faults.push(`noise alone is of the fact ${id}`)
  }
  const roots = truth.facts.filter(({ role, weak }) => role === 'root' && !weak)
  if ((truth.outcome ?? 'finding') === 'finding' && roots.length === 0)
    faults.push('a finding is expected, and no fact has the role root')
  return faults
}

/** Tokens of a first message. */
const BUDGET = 6_000

/** Scripted agents that guess and are right, by the first message alone: no engine is opened for it. */
export function guessedFaults(incident: Incident): string[] {
  const loaded = loadedWith(incident, {}, 0)
  const causes = truthOf(loaded, incident.truth).causes
  const message = `for service=${loaded.entity} at its firing\n${ways.brief(loaded, BUDGET)}`
  return TRIVIAL.flatMap((script) => {
    const named = namedBy(script, message)
    const isRight = causes.length > 0 && causes.every(({ events }) => named.some((id) => events.has(id)))
    return isRight ? [`${script} finds the cause, which knows nothing`] : []
  })
}

const keyOf = ({ source, t, text }: Omit<Loaded['events'][number], 'id'>): string =>
  `${source}\0${t}\0${text}`
