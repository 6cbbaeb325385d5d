/** Who connected since the daemon started. */
import { Paper, Table, Text } from '@mantine/core'
import type { McpClient } from '../../../schemas/types.ts'
import { didWords } from '../../lib/connect-snippets.ts'
import { When } from '../../parts/when.tsx'
import { nameOf } from './live-check.tsx'

export function ClientsSeen({ clients }: { clients: readonly McpClient[] }) {
  if (clients.length === 0)
    return (
      <Text size="sm" c="dimmed">
        None since the daemon started.
      </Text>
    )
  return (
    <Paper withBorder radius="md">
      <Table.ScrollContainer minWidth={520}>
        <Table verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Client</Table.Th>
              <Table.Th>Key</Table.Th>
              <Table.Th>Over</Table.Th>
              <Table.Th>Last</Table.Th>
              <Table.Th>When</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {clients.map((client) => (
              <Table.Tr key={`${client.credential} ${client.name} ${client.transport}`}>
                <Table.Td>{nameOf(client)}</Table.Td>
                <Table.Td>{client.credential === 'open' ? 'none' : client.credential_name}</Table.Td>
                <Table.Td>{client.transport === 'http' ? 'HTTP' : client.transport}</Table.Td>
                <Table.Td>{didWords(client.call)}</Table.Td>
                <Table.Td>
                  <When at={client.at} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}
