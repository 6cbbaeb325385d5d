/** Which results of agents are listed: findings alone or what found nothing, too; and by how they were marked. */
import { Button, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { MARK_FILTERS } from '../../lib/finding-marks.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { Empty } from '../../parts/states.tsx'
import { WordSelect } from '../../parts/word-select.tsx'

/** As the address has it; without it findings alone are listed, for most runs of a busy trigger find nothing. */
const ALL = 'all'

/** What the API is asked for, which is part of the key of what it answered. */
export interface ResultsShown {
  mark?: string | undefined
  /** Absent: what found nothing, too. */
  show?: 'findings' | undefined
}

/** The filters of the address. `set` changes one of them, null: to what it is without. */
export function useFindingFilters() {
  const [address, set] = useFilters()
  const mark = MARK_FILTERS.find(({ value }) => value === address.get('mark'))?.value
  const asked: ResultsShown = { mark, show: address.get('show') === ALL ? undefined : 'findings' }
  return { address, set, asked, key: `${mark ?? ''}:${asked.show ?? ''}` }
}

export function FindingFilters({ asked, set }: Pick<ReturnType<typeof useFindingFilters>, 'asked' | 'set'>) {
  return (
    <>
      <WordSelect
        label="Show"
        all="Findings only"
        data={[{ value: ALL, label: 'Nothing to report, too' }]}
        value={asked.show ? undefined : ALL}
        onChange={(value) => set('show', value)}
        width={190}
      />
      <WordSelect
        label="Marked as"
        all="Marked or not"
        data={MARK_FILTERS}
        value={asked.mark}
        onChange={(value) => set('mark', value)}
      />
    </>
  )
}

/** @param children what is listed here, where nothing is yet */
export function NoFindings({
  asked,
  set,
  children,
}: Pick<ReturnType<typeof useFindingFilters>, 'asked' | 'set'> & { children: ReactNode }) {
  return asked.mark ? (
    <Text c="dimmed">No findings match. Remove the filter to see more.</Text>
  ) : (
    <Empty title="No findings yet">
      <Text c="dimmed" maw={520}>
        {children}
      </Text>
      {asked.show && (
        <Button variant="default" onClick={() => set('show', ALL)}>
          Show runs with nothing to report, too
        </Button>
      )}
    </Empty>
  )
}
