/** Waits until the client is heard of, and says so; after half a minute, what may be wrong. */
import { Alert, Group, List, Loader, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import type { ConnectInfo, McpClient } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { didWords, type Via } from '../../lib/connect-snippets.ts'
import { ago } from '../../lib/time.ts'
import { useNow } from '../../parts/use-now.ts'

/** A client that was set up right is there before this. */
const PATIENCE_MS = 30_000

export function LiveCheck({
  info,
  keyId,
  via,
  command,
}: {
  info: ConnectInfo
  /** Of the key that was made; null: the instance is open. */
  keyId: string | null
  via: Via
  /** What starts svc mcp. */
  command: string
}) {
  // Both by the daemon's clock: what was there before the person came does not count.
  const [since] = useState(info.now)
  const [begun] = useState(Date.now)
  const elapsed = useNow(1_000) - begun
  const credential = keyId === null ? null : `key:${keyId}`
  const client = info.clients.find((one) =>
    credential === null ? one.at >= since : one.credential === credential,
  )
  return (
    <div role="status" aria-live="polite">
      {client ? (
        <Connected client={client} now={Date.parse(info.now)} />
      ) : elapsed < PATIENCE_MS ? (
        <Group gap="sm" wrap="nowrap">
          <Loader size="sm" aria-hidden />
          <Text size="sm">
            Waiting for the client. Paste the text and start the client; this page shows when it connects.
          </Text>
        </Group>
      ) : (
        <NothingYet keyId={keyId} via={via} command={command} />
      )}
    </div>
  )
}

function Connected({ client, now }: { client: McpClient; now: number }) {
  return (
    <Alert color="teal" icon={<CircleCheck size={18} aria-hidden />} title={`Connected: ${nameOf(client)}`}>
      It {didWords(client.call)} {ago(client.at, now)}. Ask it what svc knows about one of your services.
    </Alert>
  )
}

function NothingYet({ keyId, via, command }: { keyId: string | null; via: Via; command: string }) {
  const used = useQuery({
    queryKey: keys.apiKeys,
    queryFn: api.keys,
    refetchInterval: 5_000,
    enabled: keyId !== null,
  })
  const lastUsed = used.data?.keys.find((key) => key.id === keyId)?.last_used_at
  return (
    <Alert color="yellow" title="No client yet">
      <Stack gap="xs">
        <Text size="sm">Still waiting. Check these:</Text>
        <List size="sm" spacing={4}>
          {lastUsed && <List.Item>The key works, but no client has used it over MCP.</List.Item>}
          {via === 'http' ? (
            <List.Item>
              svc mcp must run: <code>{command}</code>. Its address and port must be those of the text.
            </List.Item>
          ) : (
            <List.Item>
              <code>svc</code> must be found by the client: if it is not on its PATH, write the full path as
              the command.
            </List.Item>
          )}
          <List.Item>
            Most clients read their file when they start: close the client and open it again.
          </List.Item>
          <List.Item>
            Some start a server at its first use, or ask you first: ask for the list of tools.
          </List.Item>
          <List.Item>
            The client's log of MCP servers shows what svc mcp reports about the connection.
          </List.Item>
          {via === 'http' && (
            <List.Item>
              A 401 there means that the key is missing or mistyped; a 403, that the host is not ours.
            </List.Item>
          )}
        </List>
      </Stack>
    </Alert>
  )
}

/** Name and version, where it has one. */
export const nameOf = ({ name, version }: McpClient): string => (version ? `${name} ${version}` : name)
