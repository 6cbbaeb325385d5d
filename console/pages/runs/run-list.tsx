/** The runs that a filter lets through, a page at a time; those at work are followed by themselves. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { RUNS_A_PAGE, type RunQuery, spanWords } from '../../lib/run-filters.ts'
import { freshMs } from '../../lib/runs.ts'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { rkeys, runs } from '../../run-client.ts'
import { RunTable } from './run-table.tsx'

interface Props {
  query: RunQuery
  offset: number
  onOffset: (offset: number) => void
  without?: 'agent'
  /** Whether a person narrowed the list. */
  isNarrowed?: boolean
}

export function RunList({ query, offset, onOffset, without, isNarrowed = false }: Props) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: rkeys.list(query, RUNS_A_PAGE, offset),
    queryFn: () => runs.list(query, RUNS_A_PAGE, offset),
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => freshMs(state.data?.runs ?? []),
  })
  if (error) return <Failed what="runs" error={error} onRetry={() => void refetch()} />
  if (isPending) return <LoadingRows />
  if (data.runs.length === 0 && offset === 0) return <NoRuns isNarrowed={isNarrowed} />
  const next = offset + RUNS_A_PAGE
  return (
    <Stack gap="sm">
      {data.runs.length > 0 && <RunTable runs={data.runs} without={without} />}
      <Group justify="space-between">
        <Text size="sm" c="dimmed" role="status">
          {spanWords(offset, data.runs.length, data.total)}
        </Text>
        <Group gap="xs">
          {offset > 0 && (
            <Button size="xs" variant="default" onClick={() => onOffset(Math.max(0, offset - RUNS_A_PAGE))}>
              Newer
            </Button>
          )}
          {next < data.total && (
            <Button size="xs" variant="default" onClick={() => onOffset(next)}>
              Older
            </Button>
          )}
        </Group>
      </Group>
    </Stack>
  )
}

function NoRuns({ isNarrowed }: { isNarrowed: boolean }) {
  return (
    <Empty title={isNarrowed ? 'No runs match' : 'No runs yet'}>
      <Text c="dimmed" maw={540}>
        {isNarrowed
          ? 'Remove a filter to see more.'
          : 'When a firing wakes an agent, its run shows here, with each step, the finding and the cost.'}
      </Text>
    </Empty>
  )
}
