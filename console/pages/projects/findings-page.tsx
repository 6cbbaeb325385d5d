/** Findings of all projects, newest first: to read, to mark as handled, and as right or wrong. */
import { Stack } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { InputOf } from '../../../api/client/call.ts'
import * as calls from '../../../api/client/calls.ts'
import { ask } from '../../client.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { filtered } from '../../lib/filtered.ts'
import { PageHead } from '../../parts/page.tsx'
import { WordSelect } from '../../parts/word-select.tsx'
import { FindingFilters, useFindingFilters } from './finding-filters.tsx'
import { FindingList } from './finding-list.tsx'

export default function FindingsPage() {
  const { address, set, asked, key } = useFindingFilters()
  const only = address.get('project') ?? undefined
  const projects = useQuery({ queryKey: dkeys.projects, queryFn: declared.projects })
  const pages = useInfiniteQuery({
    queryKey: ['declared', 'findings', only, key],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      ask(
        calls.listAllFindings,
        filtered<InputOf<typeof calls.listAllFindings>>({
          ...{ project: only, mark: asked.mark, show: asked.show ?? 'all' },
          before: pageParam || undefined,
        }),
      ),
    getNextPageParam: (page) => page.next_before ?? undefined,
    refetchInterval: 15_000,
  })
  return (
    <>
      <PageHead title="Findings">
        <WordSelect
          label="Project"
          all="All projects"
          data={(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={only}
          onChange={(value) => set('project', value)}
        />
        <FindingFilters asked={asked} set={set} />
      </PageHead>
      <Stack maw={1100}>
        <FindingList
          pages={pages}
          found={pages.data?.pages.flatMap(({ findings }) => findings)}
          filters={{ asked, set }}
        >
          What agents conclude is listed here, with its verdict, its claims and its next step.
        </FindingList>
      </Stack>
    </>
  )
}
