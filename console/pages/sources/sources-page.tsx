/** Every source with its health. */
import { ActionIcon, Badge, Button, Group, Menu, Paper, SimpleGrid, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Ellipsis, FileJson, GitBranch } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import type { Source } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { copyText } from '../../lib/copy-text.ts'
import { notifications } from '../../lib/notices.ts'
import { count } from '../../lib/time.ts'
import { AddLink, LongList } from '../../parts/long-list.tsx'
import { Acts } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Cell, Row, RowLink, Rows } from '../../parts/rows.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { HealthMark } from './health-mark.tsx'
import { useMoveSource } from './use-move-source.ts'

const DeleteSource = lazyFrom(() => import('./delete-source.tsx'))('DeleteSource')

export default function SourcesPage() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: keys.sources,
    queryFn: api.sources,
    refetchInterval: 5_000,
  })
  return (
    <>
      <PageHead title="Sources">
        <AddLink to="/sources/new">Add source</AddLink>
      </PageHead>
      {isPending && <LoadingRows />}
      {error && <Failed what="sources" error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && <FirstSource />}
      {data && data.length > 0 && (
        <LongList
          all={data}
          many="sources"
          by="name or connector"
          words={({ name, connector }) => `${name} ${connector}`}
        >
          {(shown) => (
            <Rows
              label="Sources"
              columns={[
                { name: 'Name', isHead: true },
                'Health',
                { name: 'Events', isNumber: true },
                'Last event',
                { name: 'Actions', isUnnamed: true },
              ]}
            >
              {shown.map((source) => (
                <SourceRow key={source.name} source={source} />
              ))}
            </Rows>
          )}
        </LongList>
      )}
    </>
  )
}

function SourceRow({ source }: { source: Source }) {
  const go = useNavigate()
  const move = useMoveSource(source.name)
  const [deleting, setDeleting] = useState(false)
  const path = `/sources/${encodeURIComponent(source.name)}`
  // Exporters have addresses of their own, which the source's page shows.
  const hasUrl = source.ingest_key !== null && source.connector !== 'otlp'
  const ingestUrl = hasUrl ? `${window.location.origin}/ingest/${source.ingest_key}` : null
  return (
    <Row>
      <Cell>
        <Group gap="xs" wrap="nowrap">
          <RowLink to={path}>{source.name}</RowLink>
          <Badge variant="default" size="sm" tt="none" style={{ flexShrink: 0 }}>
            {source.connector}
          </Badge>
        </Group>
      </Cell>
      <Cell>
        <HealthMark source={source} />
      </Cell>
      <Cell>{count(source.health.events_total)}</Cell>
      <Cell>
        <When at={source.health.last_ingest} never="none yet" />
      </Cell>
      <Cell>
        <Menu position="bottom-end" withinPortal>
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={`Actions of ${source.name}`}>
              <Ellipsis size={17} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => void go(path)}>Open</Menu.Item>
            {ingestUrl && (
              <Menu.Item
                onClick={async () => {
                  if (await copyText(ingestUrl)) notifications.show({ message: 'Ingest URL copied' })
                }}
              >
                Copy ingest URL
              </Menu.Item>
            )}
            <Acts>
              {source.accepts.includes('pause') && <Menu.Item onClick={() => move('pause')}>Pause</Menu.Item>}
              {source.accepts.includes('resume') && (
                <Menu.Item onClick={() => move('resume')}>Resume</Menu.Item>
              )}
              <Menu.Item color="red" onClick={() => setDeleting(true)}>
                Delete…
              </Menu.Item>
            </Acts>
          </Menu.Dropdown>
        </Menu>
        {deleting && (
          <Suspense fallback={null}>
            <DeleteSource source={source} onClose={() => setDeleting(false)} />
          </Suspense>
        )}
      </Cell>
    </Row>
  )
}

const STARTS = [
  {
    preset: 'github',
    icon: GitBranch,
    title: 'GitHub webhooks',
    text: 'Pushes, pull requests, reviews and CI runs, with their signature checked.',
  },
  {
    preset: 'logs',
    icon: FileJson,
    title: 'Logs as NDJSON',
    text: 'Structured logs of any program, one JSON object a line.',
  },
]

function FirstSource() {
  return (
    <Empty title="Bring in the first events">
      <Text c="dimmed" maw={560}>
        A source is a system that sends events here. Its labels say whose timeline each event is on; sources
        that share a label are read together.
      </Text>
      <Acts says>
        <SimpleGrid cols={{ base: 1, sm: 2 }} mt="sm" maw={680}>
          {STARTS.map(({ preset, icon: Icon, title, text }) => (
            <Paper
              key={preset}
              withBorder
              p="md"
              radius="md"
              component={Link}
              to={`/sources/new?preset=${preset}`}
              ta="left"
              style={{ textDecoration: 'none', color: 'inherit' }}
            >
              <Group gap="xs" mb={4}>
                <Icon size={18} aria-hidden />
                <Text fw={600}>{title}</Text>
              </Group>
              <Text size="sm" c="dimmed">
                {text}
              </Text>
            </Paper>
          ))}
        </SimpleGrid>
        <Button component={Link} to="/sources/new" variant="default" mt="xs">
          Choose another connector
        </Button>
      </Acts>
    </Empty>
  )
}
