/** Findings as a list that goes on with older ones: of a project, and of all of them. */
import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { NoFindings, type useFindingFilters } from './finding-filters.tsx'
import { ResultRow } from './result-row.tsx'

/** Its pages, as they are read. */
interface Pages {
  error: Error | null
  isPending: boolean
  hasNextPage: boolean
  isFetchingNextPage: boolean
  refetch: () => unknown
  fetchNextPage: () => unknown
}

/** @param found undefined: not read yet @param children what is listed here, where nothing is yet */
export function FindingList({
  pages,
  found,
  filters,
  children,
}: {
  pages: Pages
  found: readonly Parameters<typeof ResultRow>[0][] | undefined
  filters: Pick<ReturnType<typeof useFindingFilters>, 'asked' | 'set'>
  children: ReactNode
}) {
  return (
    <>
      {pages.error && <Failed what="findings" error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.isPending && <LoadingRows />}
      {found?.length === 0 && <NoFindings {...filters}>{children}</NoFindings>}
      {found?.map(({ project, result }) => (
        <ResultRow key={result.id} project={project} result={result} />
      ))}
      {pages.hasNextPage && (
        <Button
          variant="default"
          loading={pages.isFetchingNextPage}
          onClick={() => void pages.fetchNextPage()}
        >
          Show older findings
        </Button>
      )}
    </>
  )
}
