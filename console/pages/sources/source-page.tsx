/** One source: how it is doing, its events, its fields, its settings. */
import { Alert, Badge, Button, Group, SimpleGrid, Stack, Tabs, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { Link, useParams } from 'react-router'
import { namesEntity } from '../../../schemas/names-entity.ts'
import type { Label, Source } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { count } from '../../lib/time.ts'
import { useTab } from '../../lib/use-tab.ts'
import { Fact } from '../../parts/fact.tsx'
import { Acts } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page.tsx'
import { TabRow } from '../../parts/page-tabs.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { FieldsTab } from './fields-tab.tsx'
import { HealthMark } from './health-mark.tsx'
import { HowToSend } from './how-to-send.tsx'
import { DiscoverKept } from './mapping/discover-kept.tsx'
import { Polls } from './polls.tsx'
import { SourceEvents } from './source-events.tsx'
import { useMoveSource } from './use-move-source.ts'

const DeleteSource = lazyFrom(() => import('./delete-source.tsx'))('DeleteSource')

const SettingsTab = lazyFrom(() => import('./settings-tab.tsx'))('SettingsTab')

const TABS = [
  { value: 'overview', label: 'Overview' },
  { value: 'events', label: 'Events' },
  { value: 'fields', label: 'Fields' },
  { value: 'settings', label: 'Settings' },
]

export default function SourcePage() {
  const { name = '' } = useParams()
  const [tab, goTo] = useTab(TABS)
  const { data, error, refetch } = useQuery({
    queryKey: keys.source(name),
    queryFn: () => api.source(name),
    refetchInterval: 5_000,
  })
  if (error || !data)
    return (
      <>
        <PageHead title={name} />
        {error ? <Failed what="the source" error={error} onRetry={() => void refetch()} /> : <LoadingRows />}
      </>
    )
  return (
    <>
      <PageHead title={data.name}>
        <Badge variant="default" tt="none">
          {data.connector}
        </Badge>
        <Actions source={data} />
      </PageHead>
      <Tabs value={tab} onChange={goTo} keepMounted={false}>
        <TabRow tabs={TABS} chosen={tab} />
        <Tabs.Panel value="overview">
          <Overview source={data} />
        </Tabs.Panel>
        <Tabs.Panel value="events">
          <SourceEvents name={data.name} />
        </Tabs.Panel>
        <Tabs.Panel value="fields">
          <FieldsTab source={data} />
        </Tabs.Panel>
        <Tabs.Panel value="settings">
          <Suspense fallback={<LoadingRows />}>
            <SettingsTab key={name} source={data} refetch={refetch} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </>
  )
}

function Actions({ source }: { source: Source }) {
  const move = useMoveSource(source.name)
  const [deleting, setDeleting] = useState(false)
  return (
    <Acts>
      {source.accepts.includes('pause') && (
        <Button variant="default" onClick={() => move('pause')}>
          Pause
        </Button>
      )}
      {source.accepts.includes('resume') && <Button onClick={() => move('resume')}>Resume</Button>}
      <Button variant="light" color="red" onClick={() => setDeleting(true)}>
        Delete…
      </Button>
      {deleting && (
        <Suspense fallback={null}>
          <DeleteSource source={source} onClose={() => setDeleting(false)} />
        </Suspense>
      )}
    </Acts>
  )
}

function Overview({ source }: { source: Source }) {
  const labels = (source.config.labels ?? []) as (Label & { field?: string; const?: string | number })[]
  return (
    <Stack maw={980}>
      <SimpleGrid cols={{ base: 2, md: 4 }}>
        <Fact title="Health">
          <HealthMark source={source} brief={source.mode === 'poll'} />
        </Fact>
        <Fact title="Events stored">{count(source.health.events_total)}</Fact>
        <Fact title="Last event">
          <When at={source.health.last_ingest} never="none yet" />
        </Fact>
        <Fact title="Refused since start">{count(source.health.rejected)}</Fact>
      </SimpleGrid>
      {source.mode === 'poll' && <Polls source={source} />}
      {source.connector === 'webhook' && source.health.events_total > 0 && (
        <Acts>
          <DiscoverKept source={source} />
        </Acts>
      )}
      <HowToSend source={source} />
      {source.signed && (
        <Alert color="indigo" title="Signatures are checked">
          This source takes only what is signed with its secret (
          {String(source.config.signature_scheme ?? source.config.preset ?? source.connector)}), and needs no
          key.
        </Alert>
      )}
      <div>
        <Text fw={600} size="sm" mb={4}>
          Labels
        </Text>
        {labels.length === 0 ? (
          <Text size="sm" c="dimmed">
            {namesEntity(source)
              ? 'None are declared here. Its events have those that what sends or reads them gives; see Fields.'
              : 'No labels: its events are on no entity’s timeline. Add some under Settings, or pick them under Fields.'}
          </Text>
        ) : (
          <Group gap="xs">
            {labels.map((label) => (
              <Badge
                key={label.name}
                variant={label.primary ? 'light' : 'default'}
                tt="none"
                size="lg"
                fw={500}
              >
                {label.name} = {label.field ?? JSON.stringify(label.const)}
                {label.primary ? ' · entity key' : ''}
              </Badge>
            ))}
          </Group>
        )}
      </div>
      <Group>
        <Button component={Link} to={`/explore?source=${encodeURIComponent(source.name)}`} variant="default">
          Explore its timelines
        </Button>
      </Group>
    </Stack>
  )
}
