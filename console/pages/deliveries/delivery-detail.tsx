/** What belongs to a delivery: its attempts, and the exact text that is posted. */
import { Group, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Delivery } from '../../../schemas/types.ts'
import { indentJson } from '../../lib/json-text.ts'
import { count } from '../../lib/time.ts'
import { CopyIcon } from '../../parts/copy.tsx'
import { Failed } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { wkeys, work } from '../../trigger-client.ts'

export function DeliveryDetail({ delivery }: { delivery: Delivery }) {
  const { attempts, delivery_id, of, recipient } = delivery
  return (
    <Stack gap="sm">
      {attempts.length === 0 ? (
        <Text size="sm" c="dimmed">
          No attempt yet.
        </Text>
      ) : (
        <Table verticalSpacing={3} maw={820} aria-label={`Attempts of ${delivery_id}`}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>When</Table.Th>
              <Table.Th>Answer</Table.Th>
              <Table.Th ta="right">Duration</Table.Th>
              <Table.Th>What went wrong</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {attempts.map(({ at, ms, status, error }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two attempts may begin in the same millisecond.
              <Table.Tr key={`${at} ${i}`}>
                <Table.Td>
                  <When at={at} />
                </Table.Td>
                <Table.Td>{status ?? (recipient.kind === 'slack' ? '–' : 'none')}</Table.Td>
                <Table.Td ta="right">{count(ms)} ms</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{error ?? '–'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {recipient.kind !== 'agent' && of === 'firing' && <Message id={delivery_id} />}
    </Stack>
  )
}

function Message({ id }: { id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: wkeys.message(id),
    queryFn: () => work.message(id),
    staleTime: 60_000,
  })
  if (error) return <Failed what="the attempts" error={error} onRetry={() => void refetch()} />
  return (
    <section className="payload mono" aria-label={`What is posted as ${id}`}>
      <Group justify="space-between" wrap="nowrap" mb={4}>
        <Text size="xs" c="dimmed">
          What is posted, as {id}
        </Text>
        {data !== undefined && <CopyIcon value={data} label="Copy what is posted" />}
      </Group>
      <pre>{data === undefined ? 'Loading…' : indentJson(data)}</pre>
    </section>
  )
}
