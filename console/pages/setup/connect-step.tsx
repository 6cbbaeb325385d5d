/** Connect: what to do per source, tool and agent so that the project works, and what is done already. */
import { Alert, Anchor, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from 'react-router'
import type {
  Setup,
  SetupCheckAgent,
  SetupCheckSource,
  SetupCheckTool,
  SetupConnect,
  SetupConnectAgent,
  SetupConnectSource,
  SetupConnectTool,
} from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { declared } from '../../declared-client.ts'
import { snippetOf } from '../../lib/connect-snippets.ts'
import { curlCommand } from '../../lib/curl.ts'
import { OWN_WAYS } from '../../lib/send-snippets.ts'
import { relative } from '../../lib/time.ts'
import { useChange } from '../../lib/use-change.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { Mark, type Tone } from '../../parts/mark.tsx'
import { useNow } from '../../parts/use-now.ts'
import { setups, skeys } from '../../setup-client.ts'
import { TestOutcome } from '../mcp-servers/server-tools.tsx'
import { HowToSend } from '../sources/how-to-send.tsx'

export function ConnectStep({ setup }: { setup: Setup }) {
  const go = useNavigate()
  const once = useOnce(setup.project)
  const next = useChange(() => setups.goTo(setup.project, 'try'), {
    onDone: () => void go(`/projects/${setup.project}/setup`),
  })
  const { connect, checks } = setup
  if (!connect || !checks) return null
  const waiting = checks.sources.filter(({ state }) => state === 'waiting').length
  return (
    <Stack mt="md" maw={900}>
      <Text>
        Everything is made. Now let events in; this page shows the first of each source as it comes.
        {once && hasKeys(once) && ' Keys are shown this once: copy them before you leave.'}
      </Text>
      {connect.sources.map((source) => (
        <SourceCard
          key={source.name}
          source={source}
          secret={once?.sources.find(({ name }) => name === source.name)?.key ?? null}
          check={checks.sources.find(({ name }) => name === source.name)}
        />
      ))}
      {connect.tools.map((tool) => (
        <ToolCard key={tool.name} tool={tool} check={checks.tools.find(({ name }) => name === tool.name)} />
      ))}
      {connect.own_agent && (
        <AgentCard
          agent={connect.own_agent}
          secret={once?.own_agent?.key ?? null}
          check={checks.own_agent}
          project={setup.project}
        />
      )}
      <Group>
        <Button loading={next.isPending} onClick={() => next.mutate(undefined)}>
          Go on to Try it
        </Button>
        {waiting > 0 && (
          <Text size="sm" c="dimmed">
            {waiting === 1 ? 'One source has' : `${waiting} sources have`} sent nothing yet; a test event can
            be sent in the next step.
          </Text>
        )}
      </Group>
    </Stack>
  )
}

/** What was told once when the plan was applied; nothing after the page was loaded again. */
function useOnce(project: string): SetupConnect | null {
  const { data } = useQuery<SetupConnect | null>({
    queryKey: skeys.once(project),
    queryFn: () => null,
    initialData: null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })
  return data
}

const hasKeys = ({ sources, own_agent }: SetupConnect): boolean =>
  sources.some(({ key }) => key !== null) || Boolean(own_agent?.key)

const STATES: Record<SetupCheckSource['state'], { tone: Tone; word: string }> = {
  waiting: { tone: 'quiet', word: 'waiting for its first event' },
  receiving: { tone: 'good', word: 'receiving' },
  paused: { tone: 'quiet', word: 'paused' },
  error: { tone: 'bad', word: 'in error' },
}

interface SourceProps {
  source: SetupConnectSource
  secret: string | null
  check: SetupCheckSource | undefined
}

function SourceCard({ source, secret, check }: SourceProps) {
  const now = useNow(5_000)
  const state = STATES[check?.state ?? 'waiting']
  const url = source.ingest_url && `${window.location.origin}${source.ingest_url}`
  const page = `/sources/${encodeURIComponent(source.name)}`
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label={`Source ${source.name}`}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} className="mono" style={{ overflowWrap: 'anywhere' }}>
            {source.name}
          </Title>
          <div role="status">
            <Mark tone={state.tone}>{state.word}</Mark>
          </div>
        </Group>
        {url && secret && (
          <Alert color="yellow" title="Its key, shown this once">
            <CopyBlock value={secret} label={`Copy the key of ${source.name}`} />
          </Alert>
        )}
        {url && OWN_WAYS.has(source.connector) && <OwnWays name={source.name} secret={secret} />}
        {url && !OWN_WAYS.has(source.connector) && (
          <>
            <Text size="sm">Send its events to this address.</Text>
            <CopyBlock value={url} label="Copy the ingest URL" />
            <Text size="sm">Or try it from a terminal:</Text>
            <CopyBlock
              value={curlCommand({
                url,
                ...(secret ? { token: secret } : {}),
                body: JSON.stringify(source.sample ?? { message: 'hello from curl' }),
              })}
              label="Copy the command"
            />
          </>
        )}
        {!url && (
          <Text size="sm">
            {source.mode === 'reference'
              ? 'Its documents are at hand already.'
              : source.needs === 'credential'
                ? 'It cannot ask yet.'
                : 'svc asks it by itself; there is nothing to do.'}
          </Text>
        )}
        {source.credential_hint && (
          <Text size="sm" c={source.needs === 'credential' ? 'var(--mantine-color-text)' : 'dimmed'}>
            {source.credential_hint}{' '}
            <Anchor component={Link} to={page} inherit underline="always">
              Open the source
            </Anchor>
          </Text>
        )}
        {check?.state === 'error' && (
          <Alert color="red" title="It is in error">
            {check.detail}
          </Alert>
        )}
        {check?.last_event_at && (
          <Text size="sm">
            Last event {relative(check.last_event_at, now)}.
            {check.fields_seen.length > 0 && (
              <>
                {' '}
                Fields: <span className="mono">{check.fields_seen.join(', ')}</span>
              </>
            )}
          </Text>
        )}
      </Stack>
    </Paper>
  )
}

function OwnWays({ name, secret }: { name: string; secret: string | null }) {
  const { data } = useQuery({ queryKey: keys.source(name), queryFn: () => api.source(name) })
  return data ? <HowToSend source={data} token={secret ?? undefined} /> : null
}

function ToolCard({ tool, check }: { tool: SetupConnectTool; check: SetupCheckTool | undefined }) {
  const test = useChange((_: undefined) => declared.testMcpServer(tool.name))
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label={`MCP server ${tool.name}`}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} className="mono" style={{ overflowWrap: 'anywhere' }}>
            {tool.name}
          </Title>
          <Mark tone={check?.state === 'ok' ? 'good' : 'quiet'}>
            {check?.state === 'ok' ? (check.detail ?? 'listed') : 'not tested yet'}
          </Mark>
        </Group>
        <Text size="sm" className="mono" style={{ overflowWrap: 'anywhere' }}>
          {tool.url}
        </Text>
        {tool.needs_token && (
          <Text size="sm" c="dimmed">
            It has no credential. If it asks for one,{' '}
            <Anchor
              component={Link}
              to={`/mcp-servers/${encodeURIComponent(tool.name)}`}
              inherit
              underline="always"
            >
              enter it
            </Anchor>{' '}
            first.
          </Text>
        )}
        <Group>
          <Button
            size="xs"
            variant="default"
            loading={test.isPending}
            onClick={() => test.mutate(undefined)}
            aria-label={`Test ${tool.name}`}
          >
            Test
          </Button>
        </Group>
        <TestOutcome result={test.data} isPending={test.isPending} />
      </Stack>
    </Paper>
  )
}

interface AgentProps {
  agent: SetupConnectAgent
  secret: string | null
  check: SetupCheckAgent | null
  project: string
}

function AgentCard({ agent, secret, check, project }: AgentProps) {
  const capabilities = useQuery({ queryKey: keys.capabilities, queryFn: api.capabilities })
  const isOpen = capabilities.data?.auth_required === false
  const { text, place } = snippetOf('terminal', 'stdio', {
    svcd: window.location.origin,
    mcp: agent.mcp_url,
    // On an open instance the key still says whose findings they are.
    key: secret ?? (isOpen ? null : '<its key>'),
  })
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label="Your own agent">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} className="mono" style={{ overflowWrap: 'anywhere' }}>
            {agent.name}
          </Title>
          <div role="status">
            <Mark tone={check?.state === 'joined' ? 'good' : 'quiet'}>
              {check?.state === 'joined' ? 'joined' : 'waiting for it'}
            </Mark>
          </div>
        </Group>
        {secret ? (
          <Alert color="yellow" title="Its key, shown this once">
            <CopyBlock value={secret} label="Copy the key" />
          </Alert>
        ) : (
          <Text size="sm" c="dimmed">
            Its key was shown when the plan was applied.{' '}
            <Anchor component={Link} to={`/projects/${project}?tab=keys`} inherit underline="always">
              Make another
            </Anchor>
            , if it is lost.
          </Text>
        )}
        <Text size="sm">Add svc to it, in {place}:</Text>
        <CopyBlock value={text} label="Copy the settings" />
        <Text size="sm">{agent.subscribe_hint}</Text>
        {check?.detail && (
          <Text size="sm" c="dimmed">
            {check.detail}
          </Text>
        )}
      </Stack>
    </Paper>
  )
}
