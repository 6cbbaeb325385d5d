/** How an example went, from the rows of its run alone: the same whenever it is asked. */
import { dollars } from '../models/dollars.ts'
import { isOpen } from '../runs/open-states.ts'
import type { RunRow } from '../runs/queries.ts'
import { mentioned } from './mention.ts'

/** What is expected of a run. */
export interface Expected {
  /** no_op: nothing to report; null: a finding of any verdict. */
  verdict: string | null
  /** What the finding must hold. */
  mentions: readonly string[]
}

/** What is looked at of a run. */
export type JudgedRun = Pick<
  RunRow,
  'state' | 'outcome' | 'verdict' | 'headline' | 'note' | 'next_step' | 'error'
>

export interface Judgement {
  result: 'pass' | 'fail' | 'running'
  /** Why it failed; null: it did not. */
  why: string | null
}

/** One that has been judged, as two tests are compared by. */
export interface Judged {
  id: string
  name: string
  result: Judgement['result']
  /** US dollars; null: not priced. */
  cost: number | null
}

/** @param run null: it is no longer there */
export function judge(expected: Expected, run: JudgedRun | null): Judgement {
  if (!run) return failed('its run is no longer there')
  if (isOpen(run.state)) return { result: 'running', why: null }
  if (run.state !== 'succeeded') return failed(`run ${run.state}: ${run.error ?? 'it gave no reason'}`)
  const reasons = [verdictFault(expected, run), mentionsFault(expected, run)].filter((why) => why !== null)
  return reasons.length ? failed(reasons.join('; ')) : { result: 'pass', why: null }
}

function verdictFault({ verdict }: Expected, run: JudgedRun): string | null {
  const given = run.outcome === 'no_op' ? 'no_op' : (run.verdict ?? 'none')
  const isAsExpected = verdict === null ? given !== 'no_op' : given === verdict
  return isAsExpected ? null : `verdict was ${given}, expected ${verdict ?? 'a finding'}`
}

/** Of a run without a finding the verdict says it all. */
function mentionsFault({ mentions }: Expected, run: JudgedRun): string | null {
  if (run.outcome !== 'finding') return null
  const text = [run.headline, run.note, run.next_step].filter((part) => part !== null).join('\n')
  const missing = mentions.filter((mention) => !mentioned(mention, text))
  return missing.length ? `does not mention ${missing.join(', ')}` : null
}

const failed = (why: string): Judgement => ({ result: 'fail', why })

/** What became better, worse, cheaper or dearer, over the examples that both tests have. */
export function compare(
  now: readonly Judged[],
  then: readonly Judged[],
): { newly_passing: string[]; newly_failing: string[]; cost_ratio: number | null } {
  const before = new Map(then.map((one) => [one.id, one]))
  const both = now.flatMap((one) => {
    const old = before.get(one.id)
    return old ? [{ one, old }] : []
  })
  const turned = (to: 'pass' | 'fail') =>
    both.filter(({ one, old }) => one.result === to && old.result !== to).map(({ one }) => one.name)
  const cost = sumOf(both.map(({ one }) => one.cost))
  const costThen = sumOf(both.map(({ old }) => old.cost))
  return {
    newly_passing: turned('pass'),
    newly_failing: turned('fail'),
    cost_ratio: cost === null || !costThen ? null : cost / costThen,
  }
}

/** @returns null where one is null */
export function sumOf(costs: readonly (number | null)[]): number | null {
  return costs.reduce<number | null>(
    (sum, cost) => (sum === null || cost === null ? null : dollars(sum + cost)),
    0,
  )
}
