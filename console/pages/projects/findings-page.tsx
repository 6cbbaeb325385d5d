/** Findings of all projects, newest first: to read, to mark as handled, and as right or wrong. */
import { Stack } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { declared, dkeys } from '../../declared-client.ts'
import { PageHead } from '../../parts/page.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { WordSelect } from '../../parts/word-select.tsx'
import { FindingFilters, NoFindings, useFindingFilters } from './finding-filters.tsx'
import { ResultRow } from './result-row.tsx'

/** Newest shown of all; a project's own tab has the rest. */
const SHOWN = 60

export default function FindingsPage() {
  const { address, set, asked: filter, key } = useFindingFilters()
  const only = address.get('project')
  const projects = useQuery({ queryKey: dkeys.projects, queryFn: declared.projects })
  const asked = (projects.data ?? []).filter(({ id }) => only === null || id === only)
  const results = useQueries({
    queries: asked.map(({ id }) => ({
      queryKey: dkeys.of(id, `results:${key}`),
      queryFn: () => declared.results(id, filter),
      refetchInterval: 15_000,
    })),
  })
  const rows = results
    .flatMap(({ data }, i) => (data?.results ?? []).map((result) => ({ result, project: asked[i]! })))
    .sort((a, b) => Date.parse(b.result.at) - Date.parse(a.result.at))
    .slice(0, SHOWN)
  const isPending = projects.isPending || results.some((one) => one.isPending)
  return (
    <>
      <PageHead title="Findings">
        <WordSelect
          label="Project"
          all="All projects"
          data={(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={only ?? undefined}
          onChange={(value) => set('project', value)}
        />
        <FindingFilters asked={filter} set={set} />
      </PageHead>
      {projects.error && (
        <Failed what="findings" error={projects.error} onRetry={() => void projects.refetch()} />
      )}
      {rows.length > 0 ? (
        <Stack maw={1100}>
          {rows.map(({ result, project }) => (
            <ResultRow key={result.id} project={project} result={result} />
          ))}
        </Stack>
      ) : isPending ? (
        <LoadingRows />
      ) : (
        !projects.error && (
          <NoFindings asked={filter} set={set}>
            What agents conclude is listed here, with its verdict, its claims and its next step.
          </NoFindings>
        )
      )}
    </>
  )
}
