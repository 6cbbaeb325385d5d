/** How a firing spreads over the entities it is of, the largest first. */
import { Table, Text, Title } from '@mantine/core'
import type { FiringDetail } from '../../../schemas/types.ts'
import { count } from '../../lib/time.ts'

export function FiringKeys({ firing: { keys, key_count } }: { firing: FiringDetail }) {
  const most = Math.max(1, ...keys.map(({ events }) => events))
  return (
    <section aria-label="Spread over entities">
      <Title order={2} mb="xs">
        Spread over {count(key_count)} entities
      </Title>
      <Table verticalSpacing={4} maw={720} aria-label="Events by entity">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Entity</Table.Th>
            <Table.Th ta="right">Events</Table.Th>
            <Table.Th w="45%">
              <span aria-hidden>Share</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map(({ key, events }) => (
            <Table.Tr key={key}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{key || '(no entity)'}</Table.Td>
              <Table.Td ta="right">{count(events)}</Table.Td>
              <Table.Td>
                <div className="share" aria-hidden style={{ width: `${(events / most) * 100}%` }} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {key_count > keys.length && (
        <Text size="xs" c="dimmed" mt={4}>
          and {count(key_count - keys.length)} more entities
        </Text>
      )}
    </section>
  )
}
