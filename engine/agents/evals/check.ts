/** Whether scenarios are fit to tell a good agent from a bad one, by running the scripted agents over them. */

import { loadedWith, type Pack, truthOf } from './incident.ts'
import { type OpenEngine, PROMPT, runEvals } from './run.ts'
import { SCRIPTED, statedFaults, TRIVIAL } from './scripted.ts'

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
