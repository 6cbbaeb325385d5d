/** MCP servers whose tools agents may use. */
import { useQuery } from '@tanstack/react-query'
import { declared, dkeys } from '../../declared-client.ts'
import { PartListPage } from '../../parts/part-list.tsx'
import { LIST_FRESH_MS } from '../../parts/use-pages.ts'

export default function McpServersPage() {
  const { data, error, refetch } = useQuery({
    queryKey: dkeys.mcpServers,
    queryFn: declared.mcpServers,
    refetchInterval: LIST_FRESH_MS,
  })
  return (
    <PartListPage
      kind="mcp_server"
      title="Tools"
      subtitle="MCP servers"
      add={{ to: '/mcp-servers/new', label: 'Add MCP server' }}
      parts={data}
      error={error}
      onRetry={() => void refetch()}
      what={(server) => server.command ?? server.url}
      state={({ tools, changed, auth_value_configured }) =>
        [
          auth_value_configured ? 'with a credential' : 'no credential',
          ...(tools ? [`${tools} tools`] : []),
          ...(changed ? [`${changed} changed: review`] : []),
        ].join(', ')
      }
      empty="An MCP server gives agents tools beyond reading: a code host, a ticket system. An agent uses those that its form lists."
    />
  )
}
