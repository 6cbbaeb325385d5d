/** Home where nothing was ever sent: three ways to begin. */
import { Alert, Button, Code, Group, Loader, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { FolderKanban, PlayCircle, Send } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link, useNavigate } from 'react-router'
import { api, keys } from '../../client.ts'
import { declared } from '../../declared-client.ts'
import { demo } from '../../demo-client.ts'
import { sendOne } from '../../lib/send-one.ts'
import { KEY } from '../../lib/send-ways.ts'
import { useChange } from '../../lib/use-change.ts'
import { CopyBlock } from '../../parts/copy.tsx'

const FIRST = 'app'

export function Doors() {
  return (
    <div className="doors">
      <Door icon={<Send size={18} aria-hidden />} title="Send an event">
        <FirstEvent />
      </Door>
      <Door icon={<FolderKanban size={18} aria-hidden />} title="Describe a goal">
        <Text size="sm" mb="sm">
          Say what you want to know. svc drafts sources, triggers and agents; nothing is created until you
          apply them.
        </Text>
        <Button component={Link} to="/projects/new" variant="default">
          Describe a goal
        </Button>
      </Door>
      <Door icon={<PlayCircle size={18} aria-hidden />} title="Load the demo">
        <Text size="sm" mb="sm">
          A made-up shop: 90 minutes of history, one open incident, a scripted model. No network, no key; one
          button removes it.
        </Text>
        <LoadDemo />
      </Door>
    </div>
  )
}

function LoadDemo() {
  const go = useNavigate()
  const queries = useQueryClient()
  const load = useChange(() => demo.start(), {
    failed: 'Couldn’t load the demo',
    said: () => 'Demo loaded',
    onDone: () => {
      void queries.invalidateQueries()
      void go('/')
    },
  })
  return (
    <Button variant="default" loading={load.isPending} onClick={() => load.mutate(undefined)}>
      Load the demo
    </Button>
  )
}

/** What the template of a demo needs that does not answer here, said before it is made. */
export function DemoMissing({ of }: { of: string }) {
  const { data } = useQuery({ queryKey: ['detect', of], queryFn: () => declared.detect(of) })
  if (!data?.missing.length) return null
  return (
    <Alert color="yellow" title="Its stack is not running">
      <p>{data.missing.join(' ')} Until then its sources fail. The built-in demo needs none of it.</p>
      <LoadDemo />
    </Alert>
  )
}

function Door({ icon, title, children }: { icon: ReactNode; title: string; children: ReactNode }) {
  return (
    <section className="card" aria-label={title}>
      <div style={{ display: 'flex', gap: 8, alignItems: 'center', marginBottom: 8 }}>
        {icon}
        <h2 style={{ margin: 0, fontSize: 16 }}>{title}</h2>
      </div>
      {children}
    </section>
  )
}

/** A command that is ready to be run, once there is a source to take what it sends; Home is read again until it came. */
function FirstEvent() {
  const sources = useQuery({ queryKey: keys.sources, queryFn: api.sources })
  const capabilities = useQuery({ queryKey: keys.capabilities, queryFn: api.capabilities })
  const make = useChange(
    () =>
      api.createSource({
        name: FIRST,
        connector: 'webhook',
        config: {
          event_type_field: 'level',
          text_template: '{msg}',
          labels: [{ name: 'service', field: 'service', primary: true }],
        },
      }),
    { failed: 'Couldn’t create the source', said: () => 'Source app is ready' },
  )
  // Of one that is signed or paused a command like this would be refused.
  const source = sources.data?.find(
    ({ connector, ingest_key, signed, paused }) =>
      connector === 'webhook' && ingest_key !== null && !signed && !paused,
  )
  if (!sources.data || !capabilities.data) return null
  if (!source)
    return (
      <>
        <Text size="sm" mb="sm">
          A source is an address that takes events from anything that speaks HTTP: logs, alerts, deploys,
          webhooks. Make one, and the command that sends its first event stands here.
        </Text>
        <Group gap="xs">
          <Button loading={make.isPending} onClick={() => make.mutate(undefined)}>
            Make a source
          </Button>
          <Button component={Link} to="/sources/new" variant="default">
            Choose a connector
          </Button>
        </Group>
      </>
    )
  // The key of a source that was just made is shown once.
  const minted = make.data?.name === source.name ? make.data.key?.secret : undefined
  const token = minted ?? (capabilities.data.auth_required ? KEY : null)
  const { text } = sendOne(
    { origin: window.location.origin, ingestKey: source.ingest_key ?? '', token },
    source.connector,
    source.config,
  )
  return (
    <>
      <Text size="sm" mb="xs">
        Run this in a terminal:
      </Text>
      <CopyBlock value={text} label="Copy the command" />
      <KeyNote token={token} isMinted={minted !== undefined} />
      <Group gap="xs" mt="xs" role="status" wrap="nowrap">
        <Loader size="xs" aria-hidden />
        <Text size="sm">Waiting for the first event of {source.name}. This page goes on by itself.</Text>
      </Group>
      <Text size="sm" mt="xs">
        <Link to={`/sources/${encodeURIComponent(source.name)}`}>Other ways to send to {source.name}</Link>
      </Text>
    </>
  )
}

/** Where an instance asks for keys: the one in the command is shown once, or is to be put in. */
function KeyNote({ token, isMinted }: { token: string | null; isMinted: boolean }) {
  if (token === null) return null
  return (
    <Text size="sm" mt="xs">
      {isMinted ? (
        'The command has the ingest key of the source (shown once): keep it.'
      ) : (
        <>
          Put a key with the scope ingest in place of <Code>{KEY}</Code>;{' '}
          <Link to="/settings?tab=access">API keys</Link> makes one.
        </>
      )}
    </Text>
  )
}
