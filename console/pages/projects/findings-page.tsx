/** Findings of all projects, newest first: to read, to mark as handled, and as right or wrong. */
import { Stack, Text } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Project, ResultsResult } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { PageHead } from '../../parts/page.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { WordSelect } from '../../parts/word-select.tsx'
import { FindingFilters, NoFindings, useFindingFilters } from './finding-filters.tsx'
import { ResultRow } from './result-row.tsx'

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
  const rows = newestOf(results.map(({ data }, i) => ({ project: asked[i]!, ...data })))
  const older = asked.filter((_, i) => results[i]?.data?.next_before)
  const failed = results.filter(({ isError }) => isError)
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
      {failed[0] && (
        <Failed
          what="findings"
          error={failed[0].error!}
          onRetry={() => void Promise.all(failed.map(({ refetch }) => refetch()))}
        />
      )}
      {rows.length > 0 ? (
        <Stack maw={1100}>
          {rows.map(({ result, project }) => (
            <ResultRow key={result.id} project={project} result={result} />
          ))}
          {older.length > 0 && (
            <Text size="sm">
              Older findings:{' '}
              {older.map(({ id, name }, i) => (
                <span key={id}>
                  {i > 0 && ', '}
                  <Link to={`/projects/${id}?tab=findings`}>{name}</Link>
                </span>
              ))}
            </Text>
          )}
        </Stack>
      ) : isPending ? (
        <LoadingRows />
      ) : (
        !projects.error &&
        !failed[0] && (
          <NoFindings asked={filter} set={set}>
            What agents conclude is listed here, with its verdict, its claims and its next step.
          </NoFindings>
        )
      )}
    </>
  )
}

/**
 * Results of several projects, newest first, as far back as they are known of all: below the last of a project that has
 * more, others would stand where its own are missing.
 */
function newestOf(read: readonly ({ project: Project } & Partial<ResultsResult>)[]) {
  const since = Math.max(
    0,
    ...read.map(({ results = [], next_before }) => (next_before ? Date.parse(results.at(-1)!.at) : 0)),
  )
  return read
    .flatMap(({ project, results = [] }) => results.map((result) => ({ result, project })))
    .filter(({ result }) => Date.parse(result.at) >= since)
    .sort((a, b) => Date.parse(b.result.at) - Date.parse(a.result.at))
}
