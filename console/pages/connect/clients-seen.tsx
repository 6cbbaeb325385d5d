/** Who connected since the daemon started. */
import { Text } from '@mantine/core'
import type { McpClient } from '../../../schemas/types.ts'
import { didWords } from '../../lib/connect-snippets.ts'
import { Cell, Row, Rows } from '../../parts/rows.tsx'
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
    <Rows
      label="Clients seen"
      columns={[{ name: 'Client', isHead: true }, 'Key', 'Over', 'Last call', 'When']}
    >
      {clients.map((client) => (
        <Row key={`${client.credential} ${client.name} ${client.transport}`}>
          <Cell>{nameOf(client)}</Cell>
          <Cell>{client.credential === 'open' ? 'none' : client.credential_name}</Cell>
          <Cell>{client.transport === 'http' ? 'HTTP' : client.transport}</Cell>
          <Cell>{didWords(client.call)}</Cell>
          <Cell>
            <When at={client.at} />
          </Cell>
        </Row>
      ))}
    </Rows>
  )
}
