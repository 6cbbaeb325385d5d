/** What agents came to by how hard the scenarios were, and whether the scripted rules reach their goal at each level. */
import { meanOf } from './eval-statistics.ts'
import { grouped } from './grouped.ts'
import type { EvalReport, EvalRun } from './types.ts'

/** Of scenarios with a cause the rules are to name all causes of so many, at each level. */
export const RULES_GOAL = { named: 11, of: 12 }
const RULES = 'script rules'

export interface LevelFigures {
  noise: number
  variant: string
  /** A script answered, no model. */
  scripted: boolean
  /** 1 to 4; null: a report from before levels were worked out. */
  level: number | null
  scenarios: number
  /** Mean of the scores for the cause, each scenario the same. */
  cause: number
}

/** Runs whose tape no longer fits count nowhere. @returns by agent and noise as they first ran, then by level */
export function figuresByLevel(runs: readonly EvalRun[]): LevelFigures[] {
  const judged = runs.filter(({ stale }) => stale === null)
  return [...grouped(judged, ({ noise, variant }) => `${noise} ${variant}`).values()].flatMap((of) =>
    [...grouped(of, ({ level }) => level)]
      .sort(([a], [b]) => (a ?? 0) - (b ?? 0))
      .map(([level, some]): LevelFigures => {
        const { noise, variant, scripted } = some[0]!
        const scenarios = [...grouped(some, ({ scenario }) => scenario).values()]
        const cause = meanOf(scenarios.map((runs) => meanOf(runs.map(({ score }) => score.cause))))
        return { noise, variant, scripted, level, scenarios: scenarios.length, cause }
      }),
  )
}

export interface RulesAtLevel {
  noise: number
  level: number | null
  /** Scenarios with a cause in their events, and those of which the rules name every cause. */
  scenarios: number
  named: number
  reached: boolean
  /** Mean of a run. */
  input_tokens: number
  /** Scenarios of which a cause is not named. */
  missed: string[]
}

/** Of what scripted rules ran over; empty where they did not run, or nothing has a cause. */
export function rulesByLevel({ runs, scenes }: Pick<EvalReport, 'runs' | 'scenes'>): RulesAtLevel[] {
  const withCause = new Set(
    scenes
      .filter(({ events }) => events.some(({ facts }) => facts.some(({ role }) => role === 'root')))
      .map(({ scenario, noise }) => `${noise} ${scenario}`),
  )
  const ofRules = runs.filter(
    ({ variant, scripted, noise, scenario }) =>
      scripted && variant === RULES && withCause.has(`${noise} ${scenario}`),
  )
  return [...grouped(ofRules, ({ noise, level }) => `${noise} ${level}`).values()]
    .map((some): RulesAtLevel => {
      const { noise, level } = some[0]!
      const missed = some.filter(({ score }) => score.cause === 0).map(({ scenario }) => scenario)
      const named = some.length - missed.length
      const reached = named * RULES_GOAL.of >= some.length * RULES_GOAL.named
      const input_tokens = Math.round(meanOf(some.map((run) => run.input_tokens)))
      return { noise, level, scenarios: some.length, named, reached, input_tokens, missed }
    })
    .sort((a, b) => a.noise - b.noise || (a.level ?? 0) - (b.level ?? 0))
}

export const levelName = (level: number | null): string => (level === null ? 'no level' : `level ${level}`)

/** The goal and what became of it, in a sentence. */
export function rulesLine(of: RulesAtLevel): string {
  const { noise, level, scenarios, named, reached, input_tokens, missed } = of
  const goal = `goal ${RULES_GOAL.named} of ${RULES_GOAL.of}`
  const said = `${levelName(level)}, ${noise.toLocaleString('en')} events around: the rules name all causes of ${named} of ${scenarios}, ${input_tokens.toLocaleString('en')} tokens a run (${goal}: ${reached ? 'reached' : 'not reached'})`
  return missed.length ? `${said}; not ${missed.join(', ')}` : said
}
