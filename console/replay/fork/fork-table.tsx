/** Firings by time: as it was, with the change, and what is recorded. */

import { Paper, Table, Text } from '@mantine/core'
import { Link } from 'react-router'
import { shortNumber } from '../../lib/backtest.ts'
import { firingPath } from '../../lib/paths.ts'
import { count } from '../../lib/time.ts'
import { WideTable } from '../../parts/wide-table.tsx'
import type { ForkRow } from '../what-if.ts'
import { clockOf } from '../words.ts'

const SHOWN = 200

const WORDS: Record<ForkRow['verdict'], [before: string, after: string]> = {
  same: ['fires', 'fires'],
  gone: ['fires', 'does not fire'],
  new: ['does not fire', 'fires'],
}

export function ForkTable({
  rows,
  onInstant,
}: {
  rows: readonly ForkRow[]
  onInstant: (at: number) => void
}) {
  if (rows.length === 0) return null
  return (
    <Paper withBorder radius="md">
      <WideTable minWidth={620} maxHeight={420}>
        <Table verticalSpacing={4} aria-label="Firings beside each other" stickyHeader>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>When</Table.Th>
              <Table.Th>Entity</Table.Th>
              <Table.Th>Original</Table.Th>
              <Table.Th>With the change</Table.Th>
              <Table.Th ta="right">Events</Table.Th>
              <Table.Th ta="right">Value</Table.Th>
              <Table.Th>Recorded</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.slice(0, SHOWN).map((row) => (
              <Row key={`${row.at} ${row.key} ${row.verdict}`} row={row} onInstant={onInstant} />
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
      {rows.length > SHOWN && (
        <Text size="xs" c="dimmed" p="xs">
          and {count(rows.length - SHOWN)} more
        </Text>
      )}
    </Paper>
  )
}

function Row({ row, onInstant }: { row: ForkRow; onInstant: (at: number) => void }) {
  const [before, after] = WORDS[row.verdict]
  const weight = row.verdict === 'same' ? 400 : 700
  return (
    <Table.Tr data-verdict={row.verdict}>
      <Table.Td style={{ whiteSpace: 'nowrap' }}>
        <button
          type="button"
          className="text-button mono"
          onClick={() => onInstant(Date.parse(row.at))}
          title="Go to this instant"
        >
          {clockOf(Date.parse(row.at), true)}
        </button>
      </Table.Td>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>{row.key || '(no entity)'}</Table.Td>
      <Table.Td fw={weight}>{before}</Table.Td>
      <Table.Td fw={weight}>{after}</Table.Td>
      <Table.Td ta="right">{count(row.events)}</Table.Td>
      <Table.Td ta="right">{row.value === null ? '–' : shortNumber(row.value)}</Table.Td>
      <Table.Td>{row.happened ? <Link to={firingPath(row.happened)}>the firing</Link> : 'nothing'}</Table.Td>
    </Table.Tr>
  )
}
