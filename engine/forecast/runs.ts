/** How often agents would be woken, and what that costs, from what their past runs cost. */
import type { PlanBacktestAgent, WeeklyRange } from '../../schemas/types.ts'
import type { Database } from '../log/store/handle.ts'
import { dollars } from '../model/units.ts'

const RUNS_LOOKED_AT = 100
const WEEK_DAYS = 7
/** Of what nothing was seen in a span, up to three are as likely as not to be missed (the rule of three, 95 %). */
const NONE_SEEN = 3

interface PastRun {
  cost_usd: number
  uncosted_calls: number
  wakes: number
}

interface Woken {
  agent: string
  triggers: string[]
  /** Firings of each day that wake it. */
  before: number[]
  after: number[]
}

/** @param days of the span */
export function expectedRuns(db: Database, woken: Woken, days: number): PlanBacktestAgent {
  const past = db
    .prepare<[string, number], PastRun>(
      `SELECT cost_usd, uncosted_calls, wakes FROM runs
       WHERE agent = ? AND finished_at IS NOT NULL AND started_at IS NOT NULL AND practice = 0 AND tape = 0
       ORDER BY seq DESC LIMIT ?`,
    )
    .all(woken.agent, RUNS_LOOKED_AT)
  const costs = past.filter(({ uncosted_calls }) => uncosted_calls === 0).map(({ cost_usd }) => cost_usd)
  const wakes = past.reduce((sum, run) => sum + Math.max(1, run.wakes), 0)
  const share = past.length ? past.length / wakes : 1
  const cost = costs.length ? momentsOf(costs) : null
  const [before, after] = [woken.before, woken.after].map((perDay) => weekly(perDay, days, share))
  const rounded = (range: WeeklyRange | null) => range && mapped(range, dollars)
  const sum = (perDay: readonly number[]) => perDay.reduce((a, b) => a + b, 0)
  return {
    agent: woken.agent,
    triggers: woken.triggers,
    firings_before: sum(woken.before),
    firings_after: sum(woken.after),
    runs_before: mapped(before!, tenths),
    runs_after: mapped(after!, tenths),
    usd_before: rounded(cost && costOf(before!, cost)),
    usd_after: rounded(cost && costOf(after!, cost)),
    past_runs: past.length,
    usd_per_run: cost && dollars(cost.mean),
    basis: basisOf(past, costs, share),
  }
}

const tenths = (value: number): number => Math.round(value * 10) / 10

const mapped = ({ expected, low, high }: WeeklyRange, by: (value: number) => number): WeeklyRange => ({
  expected: by(expected),
  low: by(low),
  high: by(high),
})

/**
 * Runs of a week: the mean of the days, and two standard deviations of what one more week may bring. A day's is the
 * larger of how the days differed and of what chance alone makes of events that come one by one (Poisson).
 */
function weekly(perDay: readonly number[], days: number, share: number): WeeklyRange {
  const total = perDay.reduce((a, b) => a + b, 0)
  if (total === 0) return { expected: 0, low: 0, high: (NONE_SEEN * share * WEEK_DAYS) / days }
  const mean = total / days
  const { variance } = momentsOf(perDay)
  const ofDay = Math.max(mean, perDay.length > 1 ? variance : 0)
  // What the week differs by, and what the mean may be off by.
  const spread = 2 * share * Math.sqrt(ofDay * WEEK_DAYS * (1 + WEEK_DAYS / days))
  const expected = mean * WEEK_DAYS * share
  return { expected, low: Math.max(0, expected - spread), high: expected + spread }
}

/** A sum of as many costs as there are runs: its variance is that of both. */
function costOf({ expected, high }: WeeklyRange, { mean, variance }: Moments): WeeklyRange {
  const ofRuns = (high - expected) / 2
  const spread = 2 * Math.sqrt(expected * variance + ofRuns ** 2 * mean ** 2)
  return {
    expected: expected * mean,
    low: Math.max(0, expected * mean - spread),
    high: expected * mean + spread,
  }
}

interface Moments {
  mean: number
  variance: number
}

function momentsOf(values: readonly number[]): Moments {
  const mean = values.reduce((a, b) => a + b, 0) / values.length
  if (values.length < 2) return { mean, variance: 0 }
  return { mean, variance: values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (values.length - 1) }
}

function basisOf(past: readonly PastRun[], costs: readonly number[], share: number): string {
  if (past.length === 0)
    return 'no runs yet: each firing is taken as one run, and what one costs is not known'
  const together =
    share < 0.995 ? `${Math.round(share * 100)} runs for 100 firings, as they did` : 'one run for each firing'
  const runs = `the newest ${past.length === 1 ? 'run' : `${past.length} runs`}`
  const known =
    costs.length === 0
      ? `what ${runs} cost is not known`
      : `what ${costs.length === past.length ? runs : `${costs.length} of ${runs}`} cost`
  return `${together}; ${known}; the range is two standard deviations of a week either way, from how the days of the span and the costs differ`
}
