/** The telemetry query server: its address, and how clients connect. */
import { Paper, Stack, Text } from '@mantine/core'
import { Link } from 'react-router'
import { CopyBlock } from '../../parts/copy.tsx'
import { Section } from '../../parts/section.tsx'

/** @param url of the server. @param isOpen nothing needs a credential */
export function TelemetryAddress({ url, isOpen }: { url: string; isOpen: boolean }) {
  const check = [
    `curl ${url} -H "Content-Type: application/json" -H "Accept: application/json, text/event-stream"`,
    ...(isOpen ? [] : ['  -H "Authorization: Bearer $API_KEY"']),
    `  -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"curl","version":"1"}}}'`,
  ].join(' \\\n')
  return (
    <Section title="Query telemetry">
      <Paper withBorder radius="md" p="md">
        <Stack>
          <Text size="sm" maw={760}>
            Traces, spans, metrics and agents as tools of an MCP server that the daemon serves by itself, at
            this address:
          </Text>
          <CopyBlock value={url} label="Copy the address" />
          <Text size="sm" maw={760}>
            {isOpen
              ? 'This instance is open: clients need only the address.'
              : 'Give a client the address alone, and the client opens a page here where you sign it in. Or give it an API key with scope read, sent as Authorization: Bearer.'}{' '}
            {!isOpen && (
              <>
                Keys and signed-in clients are under{' '}
                <Link to="/settings?tab=access">Access and API keys</Link>.
              </>
            )}
          </Text>
          <div>
            <Text size="sm" c="dimmed" mb={4}>
              An answer of 200 proves {isOpen ? 'the server' : 'key and server'}:
            </Text>
            <CopyBlock value={check} label="Copy the command" />
          </div>
        </Stack>
      </Paper>
    </Section>
  )
}
