/** What the agents of a project found: one result per chain, to mark as handled, and as right or wrong. */
import { Group, Stack } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Project } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { FindingFilters, useFindingFilters } from './finding-filters.tsx'
import { FindingList } from './finding-list.tsx'

export function ResultsTab({ project }: { project: Project }) {
  const { asked, set, key } = useFindingFilters()
  const pages = useInfiniteQuery({
    queryKey: dkeys.of(project.id, `result-pages:${key}`),
    initialPageParam: '',
    queryFn: ({ pageParam }) => declared.results(project.id, { ...asked, before: pageParam || undefined }),
    getNextPageParam: (page) => page.next_before ?? undefined,
    refetchInterval: 15_000,
  })
  return (
    <Stack>
      <Group>
        <FindingFilters asked={asked} set={set} />
      </Group>
      <FindingList
        pages={pages}
        found={pages.data?.pages.flatMap(({ results }) => results.map((result) => ({ project, result })))}
        filters={{ asked, set }}
      >
        What the agents of this project find is listed here with its headline and next step. An outside agent
        records findings with a project key: make one under <Link to="?tab=settings">Settings</Link>.
      </FindingList>
    </Stack>
  )
}
