/** Tests of agents in words. */
import type { AgentExample, AgentTest } from '../../schemas/types.ts'
import { money } from './time.ts'

/** "verdict rca; mentions certificate, expired". */
export function expectedWords({ verdict, mentions }: Pick<AgentExample, 'verdict' | 'mentions'>): string {
  const first =
    verdict === null ? 'a finding' : verdict === 'no_op' ? 'nothing to report' : `verdict ${verdict}`
  return mentions.length ? `${first}; mentions ${mentions.join(', ')}` : first
}

export const testTone = ({ status }: Pick<AgentTest, 'status'>): 'good' | 'bad' | 'busy' =>
  status === 'passed' ? 'good' : status === 'failed' ? 'bad' : 'busy'

/** "7 of 9 passed, $0.42, with the model m2". */
export function totalsWords({ totals, tried }: Pick<AgentTest, 'totals' | 'tried'>): string {
  const { examples, passed, running, cost_usd } = totals
  const parts = [`${passed} of ${examples} passed`]
  if (running) parts.push(`${running} at work`)
  parts.push(cost_usd === null ? 'not priced' : money(cost_usd))
  if (tried?.prompt) parts.push('with a prompt that is not saved')
  if (tried?.model) parts.push(`with the model ${tried.model}`)
  if (tried?.provider) parts.push(`at ${tried.provider}`)
  return parts.join(', ')
}

/** What became better or worse since the last definition; null: nothing to compare with, or the same. */
export function changeWords({ change }: Pick<AgentTest, 'change'>): string | null {
  if (!change) return null
  const { newly_passing, newly_failing, cost_ratio } = change
  const parts = [
    ...(newly_failing.length ? [`fails now: ${newly_failing.join(', ')}`] : []),
    ...(newly_passing.length ? [`passes now: ${newly_passing.join(', ')}`] : []),
    ...(cost_ratio !== null && Math.abs(cost_ratio - 1) >= 0.01
      ? [`costs ${cost_ratio.toFixed(2)} of before`]
      : []),
  ]
  return parts.length ? `Against the last definition: ${parts.join('; ')}` : null
}
