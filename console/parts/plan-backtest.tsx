/** Under a plan, what its change would have done. Loaded when a plan is shown. */
import { Paper } from '@mantine/core'
import { type ComponentProps, Suspense } from 'react'
import { lazyFrom } from '../lib/chunks.ts'

const Run = lazyFrom(() => import('./plan-backtest-run.tsx'))('PlanBacktestRun')

export function PlanBacktestSection(props: ComponentProps<typeof Run>) {
  return (
    // As tall as it is before it is run: nothing below moves.
    <Suspense fallback={<Paper withBorder p="md" radius="md" mih={112} />}>
      <Run {...props} />
    </Suspense>
  )
}
