/** A proposed trigger tried against stored events, beside the one there is. */
import { Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { BacktestResult, TriggerDefinition } from '../../../schemas/types.ts'
import { chartBuckets } from '../../lib/backtest.ts'
import { count } from '../../lib/time.ts'
import { FiringChart } from '../../parts/firing-chart.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { work } from '../../trigger-client.ts'

const WINDOW = '7d'

interface Props {
  name: string
  definition: TriggerDefinition
  /** There is none yet to compare with. */
  isNew: boolean
}

export function ProposalTrial({ name, definition, isNew }: Props) {
  const { data, error } = useQuery({
    queryKey: ['backtest', 'proposal', name, JSON.stringify(definition), isNew],
    queryFn: async ({ signal }) => {
      const [tried, stored] = await Promise.all([
        work.backtest({ definition, window: WINDOW }, signal),
        isNew ? null : work.backtest({ trigger: name, window: WINDOW }, signal),
      ])
      return { ...tried, ...(stored ? { compare: stored.result } : {}) } satisfies BacktestResult
    },
    staleTime: 60_000,
  })
  return (
    <Paper withBorder p="sm" radius="md" component="section" aria-label={`Trial of ${name}`}>
      <Title order={3} size="h5">
        {name} over the last 7 days
      </Title>
      {error && <Failed error={error} />}
      {!data && !error && <LoadingRows rows={3} />}
      {data && (
        <Stack gap={4}>
          <Text size="sm" role="status">
            Backtest: fired {count(data.result.firings)} {data.result.firings === 1 ? 'time' : 'times'}
            {data.compare && `; as it is now ${count(data.compare.firings)}`}. {data.sentence}
          </Text>
          <FiringChart
            buckets={chartBuckets(data)}
            label={`Firings of ${name} over the last 7 days`}
            lengthMs={(Date.parse(data.to) - Date.parse(data.from)) / Math.max(1, data.result.buckets.length)}
          />
        </Stack>
      )}
    </Paper>
  )
}
