/** What the agents of a project found: one result per chain, to mark as handled, and as right or wrong. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import type { Project } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { MARK_FILTERS } from '../../lib/finding-marks.ts'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { WordSelect } from '../../parts/word-select.tsx'
import { ResultRow } from './result-row.tsx'

export function ResultsTab({ project }: { project: Project }) {
  const [address, setAddress] = useSearchParams()
  const mark = MARK_FILTERS.find(({ value }) => value === address.get('mark'))?.value
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: dkeys.of(project.id, `result-pages:${mark ?? ''}`),
    initialPageParam: '',
    queryFn: ({ pageParam }) => declared.results(project.id, { before: pageParam || undefined, mark }),
    getNextPageParam: (page) => page.next_before ?? undefined,
    refetchInterval: 15_000,
  })
  if (isPending) return <LoadingRows />
  if (error) return <Failed what="findings" error={error} onRetry={() => void refetch()} />
  const results = data.pages.flatMap((page) => page.results)
  if (results.length === 0 && !mark)
    return (
      <Empty title="No findings yet">
        <Text c="dimmed" maw={520}>
          What the agents of this project find is listed here with its headline and next step. An outside
          agent records findings with a project key: make one under <Link to="?tab=settings">Settings</Link>.
        </Text>
      </Empty>
    )
  return (
    <Stack>
      <Group>
        <WordSelect
          label="Marked as"
          all="All findings"
          data={MARK_FILTERS}
          value={mark}
          onChange={(value) =>
            setAddress(
              (now) => {
                const next = new URLSearchParams(now)
                if (value) next.set('mark', value)
                else next.delete('mark')
                return next
              },
              { replace: true },
            )
          }
        />
      </Group>
      {results.length === 0 && <Text c="dimmed">No findings match. Remove the filter to see more.</Text>}
      {results.map((result) => (
        <ResultRow key={result.id} project={project} result={result} />
      ))}
      {hasNextPage && (
        <Button variant="default" onClick={() => void fetchNextPage()}>
          Show older findings
        </Button>
      )}
    </Stack>
  )
}
