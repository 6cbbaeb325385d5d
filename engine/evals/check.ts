/** Whether scenarios are fit to tell a good agent from a bad one. */
import { counted } from './counted.ts'
import type { Pack } from './incident.ts'
import { PROMPT, runEvals } from './run.ts'
import { SCRIPTED, TRIVIAL } from './scripted.ts'
import { truthOf } from './truth.ts'
import { type Loaded, loadedWith } from './ways.ts'
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
    const loaded = loadedWith({ truth, ...incident }, pack.noise, noise)
    const found = truthOf(loaded, truth)
    const own = new Set(counted(incident.events).map(keyOf))
    const noiseIds = loaded.events.filter((event) => !own.has(keyOf(event))).map((event) => event.id)
    for (const { id, events } of found.facts) {
      if (events.size === 0) say(`no event is of the fact ${id}`)
      if (noiseIds.filter((event) => events.has(event)).length > COMMON * noiseIds.length)
        say(`noise alone is of the fact ${id}`)
    }
    const roots = truth.facts.filter(({ role, weak }) => role === 'root' && !weak)
    if ((truth.outcome ?? 'finding') === 'finding' && roots.length === 0)
      say('a finding is expected, and no fact has the role root')
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

const keyOf = ({ source, t, text }: Omit<Loaded['events'][number], 'id'>): string =>
  `${source}\0${t}\0${text}`
