/** Parts of two runs beside each other: what they have in numbers, and what each found. */

import { Paper, Stack, Table, Text } from '@mantine/core'
import type { RunDetail } from '../../../schemas/types.ts'
import { compareRows } from '../../lib/compare.ts'
import { isOpen } from '../../lib/runs.ts'
import { MarkdownText } from '../../parts/markdown.tsx'
import { WideTable } from '../../parts/wide-table.tsx'
import { ClaimList } from './claim-list.tsx'

/** Both at a glance; what differs is bold. @param left the earlier one */
export function ComparedFacts({
  left,
  right,
  titles = ['Earlier', 'Later'],
}: {
  left: RunDetail
  right: RunDetail
  titles?: readonly [left: string, right: string]
}) {
  return (
    <Paper withBorder radius="md">
      <WideTable minWidth={520}>
        <Table verticalSpacing={4} aria-label="Both runs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={160}>What</Table.Th>
              <Table.Th>{titles[0]}</Table.Th>
              <Table.Th>{titles[1]}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {compareRows(left, right).map(({ title, left: a, right: b, differs }) => (
              <Table.Tr key={title}>
                <Table.Th scope="row" fw={400}>
                  {title}
                </Table.Th>
                <Table.Td>{a}</Table.Td>
                <Table.Td fw={differs ? 700 : 400}>{b}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </Paper>
  )
}

/** What a run found, or that it has not yet. */
export function FoundByRun({ run }: { run: RunDetail }) {
  return (
    <Paper withBorder p="md" radius="md">
      <Stack gap="sm">
        {(run.verdict || run.headline) && (
          <Text fw={600}>
            {run.verdict && `${run.verdict}: `}
            {run.headline}
          </Text>
        )}
        {run.finding ? (
          <MarkdownText text={run.finding} />
        ) : (
          <Text size="sm" c="dimmed">
            {isOpen(run) ? 'Nothing yet.' : 'No note.'}
          </Text>
        )}
        {run.next_step && (
          <Text size="sm">
            <b>Next:</b> {run.next_step}
          </Text>
        )}
        {run.error && <Text size="sm">{run.error}</Text>}
        {run.claims.length > 0 && (
          <ClaimList claims={run.claims} entity={{ label: run.label, value: run.key }} />
        )}
      </Stack>
    </Paper>
  )
}
