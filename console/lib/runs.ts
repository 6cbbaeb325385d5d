/** Runs of agents in words. */
import { claimWords } from '../../schemas/claim-words.ts'
import type { FindingIncident, ProjectToday, Run, RunHandoff, Verified } from '../../schemas/types.ts'
import type { Tone } from '../parts/mark.tsx'
import { count, money, took } from './time.ts'

/** Whether more is to come of it by itself. */
export const isOpen = ({ status }: Pick<Run, 'status'>): boolean =>
  status === 'queued' || status === 'running' || status === 'parked'

/** How soon a list of runs is read again, ms. */
export const freshMs = (runs: readonly Pick<Run, 'status'>[]): number => (runs.some(isOpen) ? 2_000 : 5_000)

export const STATUS_HINTS: Record<Run['status'], string> = {
  queued: 'Queued',
  running: 'Running',
  parked: 'Model unavailable; the run resumes once it answers',
  succeeded: 'Succeeded',
  exhausted: 'Round limit reached; partial note kept',
  failed: 'Failed',
  cancelled: 'A person ended it',
  capped: 'A budget, or the runs of a day, were used up',
  empty: 'Ended without a conclusion',
}

const WOKEN: Record<Run['woken_by'], string> = {
  trigger: 'a firing',
  schedule: 'a schedule',
  handoff: 'a handoff',
  rerun: 'a rerun',
  practice: 'a practice firing',
  manual: 'hand',
  external: 'an outside agent',
  test: 'a test',
}

/** "trigger gateway-errors", "a handoff". */
export function wokenWords({
  woken_by,
  trigger,
  rerun_of,
}: Pick<Run, 'woken_by' | 'trigger' | 'rerun_of'>): string {
  // A rerun is practice, too, unless it counts.
  if (rerun_of) return WOKEN.rerun
  if ((woken_by === 'trigger' || woken_by === 'schedule') && trigger) return `${woken_by} ${trigger}`
  return WOKEN[woken_by] ?? woken_by
}

/** How long it has taken so far, or took. @param now epoch ms */
export function durationOf(
  { duration_ms, started_at, finished_at }: Pick<Run, 'duration_ms' | 'started_at' | 'finished_at'>,
  now: number,
): string {
  if (duration_ms !== null || started_at === null || finished_at !== null) return took(duration_ms)
  return took(Math.max(0, now - Date.parse(started_at)))
}

export const claimsWords = (verified: Verified | null): string | null =>
  verified && claimWords({ held: verified.ok, total: verified.total })

/** Tokens of a call or a run: "1,204 in, 310 out, 900 from the cache". */
export function tokenWords(
  usage: Partial<
    Pick<Run, 'input_tokens' | 'output_tokens' | 'cache_creation_input_tokens' | 'cache_read_input_tokens'>
  >,
): string {
  const { input_tokens = 0, output_tokens = 0 } = usage
  const parts = [
    `${count(input_tokens)} in`,
    `${count(output_tokens)} out`,
    usage.cache_read_input_tokens ? `${count(usage.cache_read_input_tokens)} from the cache` : '',
    usage.cache_creation_input_tokens ? `${count(usage.cache_creation_input_tokens)} to the cache` : '',
  ]
  return parts.filter(Boolean).join(', ')
}

/** ", which saved $0.02"; empty: nothing was read from a cache, or it is not priced. */
export function savedWords({
  cache_read_input_tokens,
  cache_saved_usd,
}: Pick<Run, 'cache_read_input_tokens' | 'cache_saved_usd'>): string {
  if (cache_read_input_tokens === 0 || !cache_saved_usd) return ''
  return cache_saved_usd > 0
    ? `; the cache saved ${money(cache_saved_usd)}`
    : `; the cache cost ${money(-cache_saved_usd)} more than it saved`
}

/** What came of a handoff. */
export function handoffWords({ state }: Pick<RunHandoff, 'state'>): { tone: Tone; words: string } {
  switch (state) {
    case 'proposed':
      return { tone: 'busy', words: 'proposed' }
    case 'started':
      return { tone: 'busy', words: 'at work' }
    case 'done':
      return { tone: 'good', words: 'done' }
    case 'refused_chain_limit':
      return { tone: 'bad', words: 'refused: the chain has had three handoffs' }
    case 'refused_cooldown':
      return { tone: 'quiet', words: 'refused: it took this entity over only a while ago' }
    case 'refused_target_busy':
      return { tone: 'quiet', words: 'refused: it is at work on this entity' }
    default:
      return { tone: 'quiet', words: state.replaceAll('_', ' ') }
  }
}

/** How its finding is written back to an address; null: it has none. */
export function writeBackWords({
  delivery,
  delivery_error,
}: Pick<Run, 'delivery' | 'delivery_error'>): { tone: Tone; words: string } | null {
  if (delivery === null) return null
  if (delivery === 'pending')
    return { tone: 'busy', words: delivery_error ? `tried again: ${delivery_error}` : 'sending' }
  if (delivery === 'failed')
    return { tone: 'bad', words: delivery_error ? `failed: ${delivery_error}` : 'failed' }
  if (delivery === 'ok') return { tone: 'good', words: 'written' }
  return { tone: 'bad', words: `failed: ${delivery_error ?? delivery}` }
}

/** How its finding is posted to Slack; null: it is not. */
export function slackWords({
  slack,
  slack_error,
}: Pick<Run, 'slack' | 'slack_error'>): { tone: Tone; words: string } | null {
  if (slack === null) return null
  if (slack === 'pending')
    return { tone: 'busy', words: slack_error ? `tried again: ${slack_error}` : 'sending' }
  if (slack === 'failed') return { tone: 'bad', words: slack_error ? `failed: ${slack_error}` : 'failed' }
  return { tone: 'good', words: 'posted' }
}

/** How its finding is written on GitHub; null: it is not. */
export function githubWords({
  github,
  github_error,
}: Pick<Run, 'github' | 'github_error'>): { tone: Tone; words: string } | null {
  const told = slackWords({ slack: github, slack_error: github_error })
  return told?.tone === 'good' ? { tone: 'good', words: 'written' } : told
}

export interface Spent {
  /** US dollars of the calls that are priced. */
  usd: number
  /** Runs that called a model without a price. */
  unpriced: number
}

/** "$0.40 of $5.00, 2 runs not priced". */
export function spentWords(spent: Spent, budget: number | null): string {
  const of = budget === null ? '' : `of ${money(budget)}`
  const unpriced =
    spent.unpriced === 0 ? '' : `${count(spent.unpriced)} ${spent.unpriced === 1 ? 'run' : 'runs'} not priced`
  const usd = spent.usd === 0 && unpriced ? '' : money(spent.usd)
  return [[usd || (of && money(0)), of].filter(Boolean).join(' '), unpriced].filter(Boolean).join(', ')
}

/** "3 findings of 5 runs"; null: one run is all there is of it. */
export function grownWords({ findings, runs }: Pick<FindingIncident, 'findings' | 'runs'>): string | null {
  return runs < 2
    ? null
    : `${count(findings)} ${findings === 1 ? 'finding' : 'findings'} of ${count(runs)} runs`
}

/** Findings of a day, and of how many incidents where they are of fewer. */
export const foundWords = ({ found, incidents }: Pick<ProjectToday, 'found' | 'incidents'>): string =>
  incidents < found
    ? `${count(found)} (${count(incidents)} ${incidents === 1 ? 'incident' : 'incidents'})`
    : count(found)
