/** What the agents of a project found: one result per chain, to mark as handled, and as right or wrong. */
import { Button, Group, Stack } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Project } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { FindingFilters, NoFindings, useFindingFilters } from './finding-filters.tsx'
import { ResultRow } from './result-row.tsx'

export function ResultsTab({ project }: { project: Project }) {
  const { asked, set, key } = useFindingFilters()
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: dkeys.of(project.id, `result-pages:${key}`),
    initialPageParam: '',
    queryFn: ({ pageParam }) => declared.results(project.id, { ...asked, before: pageParam || undefined }),
    getNextPageParam: (page) => page.next_before ?? undefined,
    refetchInterval: 15_000,
  })
  const results = data?.pages.flatMap((page) => page.results)
  return (
    <Stack>
      <Group>
        <FindingFilters asked={asked} set={set} />
      </Group>
      {error && <Failed what="findings" error={error} onRetry={() => void refetch()} />}
      {isPending && <LoadingRows />}
      {results?.length === 0 && (
        <NoFindings asked={asked} set={set}>
          What the agents of this project find is listed here with its headline and next step. An outside
          agent records findings with a project key: make one under <Link to="?tab=settings">Settings</Link>.
        </NoFindings>
      )}
      {results?.map((result) => (
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
