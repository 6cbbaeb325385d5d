/** Firings as a table, newest first; of everything, of a trigger, or what a filter lets through. */
import { Paper, Stack, Table, Text } from '@mantine/core'
import { Link } from 'react-router'
import type { Firing } from '../../../schemas/types.ts'
import { deliveredWords, firingPath, triggerPath, valueWords } from '../../lib/firings.ts'
import { count } from '../../lib/time.ts'
import { type FiringQuery, isSince } from '../../lib/work-filters.ts'
import { FiringMarks } from '../../parts/firing-marks.tsx'
import { Older } from '../../parts/older.tsx'
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
    ({ firings }) => newest === undefined && firings.every((firing) => isSince(firing, since, Date.now())),
  )
  if (list.error) return <Failed error={list.error} onRetry={list.reload} />
  if (!list.pages) return <LoadingRows rows={newest ?? 6} />
  const firings = list.pages
    .flatMap((page) => page.firings)
    .filter((firing) => isSince(firing, since, now))
    .slice(0, newest)
  if (firings.length === 0) return <NoFirings isNarrowed={isNarrowed} />
  return (
    <Stack gap="sm">
      <Paper withBorder radius="md">
        <Table.ScrollContainer minWidth={760}>
          <Table verticalSpacing="xs" highlightOnHover aria-label="Firings">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>When</Table.Th>
                {without !== 'trigger' && <Table.Th>Trigger</Table.Th>}
                <Table.Th>Key</Table.Th>
                <Table.Th>Value</Table.Th>
                <Table.Th ta="right">Events</Table.Th>
                <Table.Th ta="right">Keys</Table.Th>
                <Table.Th>Notified</Table.Th>
                <Table.Th>State</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {firings.map((firing) => (
                <Row key={firing.dispatch_id} firing={firing} hasTrigger={without !== 'trigger'} />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </Paper>
      <Older list={list} label="Show older firings" />
    </Stack>
  )
}

function Row({ firing, hasTrigger }: { firing: Firing; hasTrigger: boolean }) {
  const { dispatch_id, trigger, key, key_count, events } = firing
  return (
    <Table.Tr>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <When at={firing.fired_at ?? firing.opened_at} />
      </Table.Td>
      {hasTrigger && (
        <Table.Td style={{ overflowWrap: 'anywhere' }}>
          <Link to={triggerPath(trigger)}>{trigger}</Link>
        </Table.Td>
      )}
      <Table.Td style={{ overflowWrap: 'anywhere', minWidth: 120 }}>
        <Link to={firingPath(dispatch_id)}>{key || '(no key)'}</Link>
      </Table.Td>
      <Table.Td>
        <Text size="sm" title={firing.reason} lineClamp={2}>
          {valueWords(firing) ?? firing.reason}
        </Text>
      </Table.Td>
      <Table.Td ta="right">{count(events)}</Table.Td>
      <Table.Td ta="right">{count(key_count)}</Table.Td>
      <Table.Td>
        <Text size="sm">{deliveredWords(firing)}</Text>
      </Table.Td>
      <Table.Td>
        <FiringMarks firing={firing} />
      </Table.Td>
    </Table.Tr>
  )
}

function NoFirings({ isNarrowed }: { isNarrowed: boolean }) {
  return (
    <Empty title={isNarrowed ? 'No firings match' : 'No firings yet'}>
      <Text c="dimmed" maw={540}>
        {isNarrowed
          ? 'Remove a filter to see more.'
          : 'When the condition of a trigger holds, its firing shows here, with its evidence and whom it notified.'}
      </Text>
    </Empty>
  )
}
