/** Home where nothing was ever sent: three ways to begin. */
import { Button, Group, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { FlaskConical, Send, Sparkles } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { api, keys } from '../../client.ts'
import { demo } from '../../demo-client.ts'
import { plainSnippets } from '../../lib/send-snippets.ts'
import { useChange } from '../../lib/use-change.ts'
import { CopyBlock } from '../../parts/copy.tsx'

const FIRST = 'app'
/** Replaced by a key with the scope ingest, where one is asked for. */
const KEY = 'YOUR_INGEST_KEY'

export function Doors() {
  return (
    <div className="doors">
      <Door icon={<Send size={18} aria-hidden />} title="Send an event">
        <FirstEvent />
      </Door>
      <Door icon={<Sparkles size={18} aria-hidden />} title="Describe a goal">
        <Text size="sm" mb="sm">
          Say what you want to know. svc drafts sources, triggers and agents; nothing is created until you
          apply them.
        </Text>
        <Button component={Link} to="/projects/new" variant="default">
          Describe a goal
        </Button>
      </Door>
      <Door icon={<FlaskConical size={18} aria-hidden />} title="Load the demo">
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
  const queries = useQueryClient()
  const load = useChange(() => demo.start(), {
    failed: 'Couldn’t load the demo',
    said: () => 'Demo loaded',
    onDone: () => void queries.invalidateQueries(),
  })
  return (
    <Button variant="default" loading={load.isPending} onClick={() => load.mutate(undefined)}>
      Load the demo
    </Button>
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
  const source = sources.data?.find(
    ({ connector, ingest_key }) => connector === 'webhook' && ingest_key !== null,
  )
  if (!sources.data || !capabilities.data) return null
  if (!source)
    return (
      <>
        <Text size="sm" mb="sm">
          Anything that speaks HTTP: logs, alerts, deploys, webhooks.
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
  const [, send] = plainSnippets(
    {
      name: source.name,
      origin: window.location.origin,
      ingestKey: source.ingest_key ?? '',
      token: capabilities.data.auth_required ? KEY : null,
      isOneOfSeveral: false,
      grpc: capabilities.data.otlp_grpc,
    },
    source.connector,
    source.config,
  )
  return (
    <>
      <CopyBlock value={send!.text} label="Copy the command" />
      <Text size="sm" mt="xs" role="status" c="dimmed">
        Listening on {source.name}. What arrives is counted on this page.
      </Text>
    </>
  )
}
