/** Firings as a table, newest first; of everything, of a trigger, or what a filter lets through. */
import { Stack, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Firing } from '../../../schemas/types.ts'
import { deliveredWords, valueWords } from '../../lib/firings.ts'
import { firingPath, triggerPath } from '../../lib/paths.ts'
import { count } from '../../lib/time.ts'
import { type FiringQuery, isSince } from '../../lib/work-filters.ts'
import { FiringMarks } from '../../parts/firing-marks.tsx'
import { Older } from '../../parts/older.tsx'
import { Cell, type Column, Row, RowLink, Rows } from '../../parts/rows.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { useNow } from '../../parts/use-now.ts'
import { usePages } from '../../parts/use-pages.ts'
import { When } from '../../parts/when.tsx'
import { wkeys, work } from '../../trigger-client.ts'

interface Props {
  query: FiringQuery
  /** Only those that began since; blank: all. */
  since?: string
  /** A column that says the same in each row. */
  without?: 'trigger'
  /** Only so many, without pages. */
  newest?: number
  /** Whether a person narrowed the list. */
  isNarrowed?: boolean
}

export function FiringList({ query, since = '', without, newest, isNarrowed = false }: Props) {
  const now = useNow()
  const list = usePages(
    [...wkeys.firings(query), since, newest],
    (before) => work.firings(query, before, newest),
    ({ firings }) =>
      newest === undefined && firings.every(({ opened_at }) => isSince(opened_at, since, Date.now())),
  )
  if (list.error) return <Failed what="firings" error={list.error} onRetry={list.reload} />
  if (!list.pages) return <LoadingRows rows={newest ?? 6} />
  const firings = list.pages
    .flatMap((page) => page.firings)
    .filter(({ opened_at }) => isSince(opened_at, since, now))
    .slice(0, newest)
  if (firings.length === 0) return <NoFirings isNarrowed={isNarrowed} />
  return (
    <Stack gap="sm">
      <Rows
        label="Firings"
        columns={COLUMNS.filter(({ name }) => !(without === 'trigger' && name === 'Trigger'))}
      >
        {firings.map((firing) => (
          <FiringRow key={firing.dispatch_id} firing={firing} hasTrigger={without !== 'trigger'} />
        ))}
      </Rows>
      <Older list={list} label="Show older firings" />
    </Stack>
  )
}

const COLUMNS: readonly Column[] = [
  { name: 'When' },
  { name: 'Trigger' },
  { name: 'Entity', isHead: true },
  { name: 'Value' },
  { name: 'Events', isNumber: true },
  { name: 'Entities', isNumber: true },
  { name: 'Notified' },
  { name: 'State' },
]

function FiringRow({ firing, hasTrigger }: { firing: Firing; hasTrigger: boolean }) {
  const { dispatch_id, trigger, key, key_count, events } = firing
  return (
    <Row>
      <Cell isWhole>
        <When at={firing.fired_at ?? firing.opened_at} />
      </Cell>
      {hasTrigger && (
        <Cell>
          <Link to={triggerPath(trigger)}>{trigger}</Link>
        </Cell>
      )}
      <Cell>
        <RowLink to={firingPath(dispatch_id)}>{key || trigger}</RowLink>
      </Cell>
      <Cell>
        <Text size="sm" title={firing.reason} lineClamp={2}>
          {valueWords(firing) ?? firing.reason}
        </Text>
      </Cell>
      <Cell>{count(events)}</Cell>
      <Cell>{count(key_count)}</Cell>
      <Cell>
        <Text size="sm">{deliveredWords(firing)}</Text>
      </Cell>
      <Cell>
        <FiringMarks firing={firing} />
      </Cell>
    </Row>
  )
}

function NoFirings({ isNarrowed }: { isNarrowed: boolean }) {
  return (
    <Empty title={isNarrowed ? 'No firings match' : 'No firings yet'}>
      <Text c="dimmed" maw={540}>
        {isNarrowed
          ? 'Remove a filter to see more.'
          : 'When a trigger fires, its firing shows here, with its evidence and whom it notified.'}
      </Text>
    </Empty>
  )
}
