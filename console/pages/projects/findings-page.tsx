/** Findings of all projects, newest first: to read, to mark as handled, and as right or wrong. */
import { Stack, Text } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'react-router'
import { declared, dkeys } from '../../declared-client.ts'
import { MARK_FILTERS } from '../../lib/finding-marks.ts'
import { PageHead } from '../../parts/page.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { WordSelect } from '../../parts/word-select.tsx'
import { ResultRow } from './result-row.tsx'

/** Newest shown of all; a project's own tab has the rest. */
const SHOWN = 60

export default function FindingsPage() {
  const [address, setAddress] = useSearchParams()
  const mark = MARK_FILTERS.find(({ value }) => value === address.get('mark'))?.value
  const only = address.get('project')
  const projects = useQuery({ queryKey: dkeys.projects, queryFn: declared.projects })
  const asked = (projects.data ?? []).filter(({ id }) => only === null || id === only)
  const results = useQueries({
    queries: asked.map(({ id }) => ({
      queryKey: dkeys.of(id, `results:${mark ?? ''}`),
      queryFn: () => declared.results(id, { mark }),
      refetchInterval: 15_000,
    })),
  })
  const rows = results
    .flatMap(({ data }, i) => (data?.results ?? []).map((result) => ({ result, project: asked[i]! })))
    .sort((a, b) => Date.parse(b.result.at) - Date.parse(a.result.at))
    .slice(0, SHOWN)
  const set = (name: string, value: string | null) =>
    setAddress(
      (now) => {
        const next = new URLSearchParams(now)
        if (value) next.set(name, value)
        else next.delete(name)
        return next
      },
      { replace: true },
    )
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
        <WordSelect
          label="Marked as"
          all="All findings"
          data={MARK_FILTERS}
          value={mark}
          onChange={(value) => set('mark', value)}
        />
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
          <Empty title="No findings yet">
            <Text c="dimmed" maw={520}>
              What agents conclude is listed here, with its verdict, its claims and its next step.
            </Text>
          </Empty>
        )
      )}
    </>
  )
}
