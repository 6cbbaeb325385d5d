/** What the agents of a project found: one result per chain, to mark as handled. */
import { Button, Stack, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Project } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { claimsWords } from '../../lib/runs.ts'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { rkeys, runs } from '../../run-client.ts'
import { ResultRow } from './result-row.tsx'

const RUNS_READ = 200

export function ResultsTab({ project }: { project: Project }) {
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: dkeys.of(project.id, 'result-pages'),
    initialPageParam: '',
    queryFn: ({ pageParam }) => declared.results(project.id, pageParam || undefined),
    getNextPageParam: (page) => page.next_before ?? undefined,
    refetchInterval: 15_000,
  })
  // How many claims of each hold is said by its run.
  const query = { project: project.id }
  const recent = useQuery({
    queryKey: rkeys.list(query, RUNS_READ, 0),
    queryFn: () => runs.list(query, RUNS_READ),
    refetchInterval: 15_000,
  })
  const claims = new Map(recent.data?.runs.map(({ id, verified }) => [id, claimsWords(verified)]))
  if (isPending) return <LoadingRows />
  if (error) return <Failed error={error} onRetry={() => void refetch()} />
  const results = data.pages.flatMap((page) => page.results)
  if (results.length === 0)
    return (
      <Empty title="Nothing found yet">
        <Text c="dimmed" maw={520}>
          What the agents of this project find is listed here with its headline and next step. An outside
          agent records findings with a project key: make one under <Link to="?tab=keys">Keys</Link>.
        </Text>
      </Empty>
    )
  return (
    <Stack>
      {results.map((result) => (
        <ResultRow key={result.id} project={project} result={result} claims={claims.get(result.id) ?? null} />
      ))}
      {hasNextPage && (
        <Button variant="default" onClick={() => void fetchNextPage()}>
          Show older findings
        </Button>
      )}
    </Stack>
  )
}
