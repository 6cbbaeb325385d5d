/** One line at the end of a trigger's sentence: how often it would have fired. */
import { Text } from '@mantine/core'
import { count } from '../../lib/time.ts'
import type { Trial } from './use-backtest.ts'

const SPANS: Record<string, string> = { '1h': '1 h', '24h': '24 h', '7d': '7 days', '30d': '30 days' }

/** @param window as asked, such as 24h. @param isReady enough is filled in to try it */
export function Verdict({
  trial: { data, error, isRunning, isOther },
  window,
  isReady,
}: {
  trial: Trial
  window: string
  isReady: boolean
}) {
  return (
    <Text size="sm" fw={600} className="sentence-verdict" role="status" aria-busy={isRunning}>
      {wordsOf()}
    </Text>
  )

  function wordsOf(): string {
    if (!isReady) return 'Fill in the sentence to see how often it would have fired'
    if (error) return 'Backtest failed'
    if (!data || isOther) return 'Trying it out…'
    const { firings } = data.result
    return `Would have fired ${count(firings)} ${firings === 1 ? 'time' : 'times'} in ${SPANS[window] ?? window}`
  }
}
