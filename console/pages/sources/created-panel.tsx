/** What to do with a new source: its key (once), how to send to it, and the wait for the first event. */
import { Alert, Anchor, Button, Group, Loader, Paper, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CircleAlert, CircleCheck } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { SourceCreated, SourceHealth } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { isMapped } from '../../lib/mapping.ts'
import { count } from '../../lib/time.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { PageHead } from '../../parts/page.tsx'
import { useNow } from '../../parts/use-now.ts'
import { Warnings } from '../../parts/warnings.tsx'
import { EventRow } from '../explore/event-row.tsx'
import { HowToSend } from './how-to-send.tsx'
import { DiscoverKept } from './mapping/discover-kept.tsx'

export function CreatedPanel({ created }: { created: SourceCreated }) {
  const { data } = useQuery({
    queryKey: keys.source(created.name),
    queryFn: () => api.source(created.name),
    refetchInterval: 1_500,
  })
  const isPushed = created.ingest_key !== null
  const arrived = data?.health.events_total ?? 0
  const isPolled = data?.mode === 'poll'
  const isRead = isPolled && data.health.status === 'ok'
  return (
    <>
      <PageHead title={`${created.name} is ready`} />
      <Stack maw={820}>
        <Warnings of={created.warnings} />
        {created.key && (
          <Alert color="yellow" title="Ingest key (shown once)">
            <Stack gap="xs">
              <Text size="sm">
                Senders need this key. It only writes to this source; revoke it under API keys.
              </Text>
              <CopyBlock value={created.key.secret} label="Copy the key" />
            </Stack>
          </Alert>
        )}
        {data && <HowToSend source={data} token={created.key?.secret} />}
        {(isPushed || isPolled) && (
          <Paper withBorder p="md" radius="md" role="status" aria-live="polite">
            <Group gap="sm">
              {isPolled && data.health.status === 'error' ? (
                <CircleAlert size={20} color="var(--mantine-color-red-6)" aria-hidden />
              ) : arrived > 0 || isRead ? (
                <CircleCheck size={20} color="var(--mantine-color-teal-6)" aria-hidden />
              ) : (
                <Loader size="sm" aria-hidden />
              )}
              <Text>{said(arrived, isPolled ? data.health : null)}</Text>
            </Group>
          </Paper>
        )}
        {arrived > 0 && <FirstEvent name={created.name} />}
        {data?.connector === 'webhook' && arrived > 0 && !data.signed && !isMapped(data.config) && (
          <DiscoverKept source={data} isOpen />
        )}
        <Group>
          {arrived > 0 && (
            <Button component={Link} to={`/triggers/new?source=${encodeURIComponent(created.name)}`}>
              Add a trigger
            </Button>
          )}
          <Button
            component={Link}
            to={`/sources/${encodeURIComponent(created.name)}`}
            variant={arrived > 0 ? 'default' : 'filled'}
          >
            Open the source
          </Button>
          <Button component={Link} to="/sources" variant="default">
            All sources
          </Button>
        </Group>
      </Stack>
    </>
  )
}

/** What came last, as it reads, and where it is. */
function FirstEvent({ name }: { name: string }) {
  const now = useNow()
  const [open, setOpen] = useState(false)
  const { data } = useQuery({
    queryKey: keys.sourceEvents(name),
    queryFn: () => api.sourceEvents(name),
    refetchInterval: 3_000,
  })
  // In order of event time, which says nothing of what came last.
  const [event] = [...(data ?? [])].sort((a, b) => b.ingested_at.localeCompare(a.ingested_at))
  if (!event) return null
  const { entity } = event
  return (
    <Stack gap="xs">
      <Paper withBorder radius="md" style={{ overflow: 'hidden' }}>
        <EventRow event={event} now={now} open={open} active={false} onToggle={() => setOpen(!open)} />
      </Paper>
      <Text size="sm">
        {entity ? (
          <Anchor
            component={Link}
            inherit
            underline="always"
            to={`/explore?l=${encodeURIComponent(`${entity.label}=${entity.value}`)}`}
          >
            Timeline of {entity.label}={entity.value}
          </Anchor>
        ) : (
          <Anchor
            component={Link}
            inherit
            underline="always"
            to={`/explore?source=${encodeURIComponent(name)}`}
          >
            Events of {name}
          </Anchor>
        )}
      </Text>
    </Stack>
  )
}

/** @param polls health of a source that is polled */
function said(arrived: number, polls: SourceHealth | null): string {
  if (polls?.status === 'error') return `The first poll failed: ${polls.reason}. The next poll tries again.`
  if (arrived > 0) return `Events arrive: ${count(arrived)} so far.`
  if (polls?.status === 'ok') return 'Read; nothing to store yet.'
  return polls ? 'Asking for the first time…' : 'Waiting for the first event…'
}
