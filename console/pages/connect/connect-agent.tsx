/** Connect: from the choice of a client to the moment it lists its tools. */
import { Alert, Button, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import type { ConnectInfo, KeyCreated } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { connect } from '../../connect-client.ts'
import { CLIENTS, type Client, mcpAddress, startCommand, type Via } from '../../lib/connect-snippets.ts'
import { Section } from '../../parts/section.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { AccessForm } from './access-form.tsx'
import { ClientChoice } from './client-choice.tsx'
import { ClientsSeen } from './clients-seen.tsx'
import { LiveCheck } from './live-check.tsx'
import { SnippetPanel } from './snippet-panel.tsx'
import { TelemetryAddress } from './telemetry-address.tsx'

const LOOK_EVERY_MS = 2_000

/** How an agent from outside comes in. @param children below it: drawn once it is known what is here, or nothing would stay in place */
export function ConnectAgent({ children }: { children: ReactNode }) {
  const health = useQuery({ queryKey: keys.health, queryFn: () => api.health() })
  const info = useQuery({ queryKey: ['connect'], queryFn: connect.info, refetchInterval: LOOK_EVERY_MS })
  const error = info.error ?? health.error
  const section = (
    <Section
      title="Connect an agent"
      aside={
        <Button
          component="a"
          href={connect.skillUrl}
          download="SKILL.md"
          variant="default"
          size="xs"
          leftSection={<Download size={16} aria-hidden />}
        >
          SKILL.md
        </Button>
      }
    >
      <Text mb="md" maw={760}>
        An agent in your editor, terminal or desktop app reads timelines and records findings here, over the
        Model Context Protocol. The SKILL.md teaches it to use the tools well: put it where the client keeps
        skills.
      </Text>
      {info.data && health.data ? (
        <Setup info={info.data} isOpen={!health.data.auth_required} />
      ) : error ? (
        <Failed what="the clients" error={error} onRetry={() => void info.refetch()} />
      ) : (
        <LoadingRows />
      )}
    </Section>
  )
  return (
    <Stack gap="xl">
      {section}
      {(error || (info.data && health.data)) && children}
    </Stack>
  )
}

function Setup({ info, isOpen }: { info: ConnectInfo; isOpen: boolean }) {
  const [client, setClient] = useState<Client>('desktop')
  const [via, setVia] = useState<Via>('stdio')
  const [made, setMade] = useState<KeyCreated | null>(null)
  const [mcp, setMcp] = useState(() => mcpAddress(info.public_url, window.location.hostname))
  const command = startCommand(mcp, info.public_url, window.location.origin)
  const choose = (value: Client): void => {
    const { via: offered } = CLIENTS.find((one) => one.value === value)!
    setClient(value)
    if (!offered.includes(via)) setVia(offered[0]!)
  }
  return (
    <Stack gap="xl">
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Stack>
          <Paper withBorder radius="md" p="md">
            <ClientChoice client={client} via={via} onClient={choose} onVia={setVia} />
          </Paper>
          <Paper withBorder radius="md" p="md">
            {isOpen ? (
              <Alert color="indigo" title="This instance is open: no key is needed">
                Whoever reaches the daemon may do everything, and so may the agent; it names the project it
                works in. Start the daemon with <code style={{ whiteSpace: 'nowrap' }}>--auth</code> to give
                each agent a key of its own.
              </Alert>
            ) : made ? (
              <Group justify="space-between">
                <Text size="sm">
                  <strong>{made.name}</strong> may: {made.scopes.join(', ')}
                  {made.project_name ? `, in ${made.project_name}` : ''}
                </Text>
                <Button variant="default" size="xs" onClick={() => setMade(null)}>
                  Create another key
                </Button>
              </Group>
            ) : (
              <AccessForm
                proposedName={CLIENTS.find(({ value }) => value === client)!.label}
                onMade={setMade}
              />
            )}
          </Paper>
        </Stack>
        <Stack>
          <Paper withBorder radius="md" p="md">
            <SnippetPanel
              client={client}
              via={via}
              svcd={info.public_url ?? window.location.origin}
              mcp={mcp}
              onMcp={setMcp}
              publicUrl={info.public_url}
              command={command}
              made={made}
              isOpen={isOpen}
            />
          </Paper>
          {(isOpen || made) && (
            <Paper withBorder radius="md" p="md">
              <LiveCheck
                key={made?.id ?? 'open'}
                info={info}
                keyId={made?.id ?? null}
                via={via}
                command={command}
              />
            </Paper>
          )}
        </Stack>
      </SimpleGrid>
      <TelemetryAddress url={info.telemetry_url} isOpen={isOpen} />
      <Section title="Clients seen">
        <ClientsSeen clients={info.clients} />
        <Text size="sm" c="dimmed" mt="xs">
          A machine that uses the svc command logs in with <code>svc login</code>. Keys are revoked under{' '}
          <Link to="/settings?tab=access">Access and API keys</Link>.
        </Text>
      </Section>
    </Stack>
  )
}
