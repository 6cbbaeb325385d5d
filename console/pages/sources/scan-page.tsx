/** Add a source from what runs beside the daemon: scan the containers, choose, and make them at once. */
import { Alert, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Container } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { EnvironmentScan } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { graphApi } from '../../graph-client.ts'
import { useChange } from '../../lib/use-change.ts'
import { PageHead } from '../../parts/page.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { ScanChoice, ScanSkipped } from './scan-choice.tsx'
import { ScanMade } from './scan-made.tsx'

/** Between two looks for a Docker engine, milliseconds. */
const LOOK_AGAIN_MS = 5_000

/** Shown where a Docker engine answers. */
export function ScanOffer({ onScan }: { onScan: () => void }) {
  const { data } = useQuery({
    queryKey: keys.capabilities,
    queryFn: api.capabilities,
    // One that is busy, or is started meanwhile, answers late.
    refetchInterval: ({ state }) => (state.data?.discover_docker ? false : LOOK_AGAIN_MS),
  })
  if (!data?.discover_docker) return null
  return (
    <Paper withBorder p="md" radius="md" mb="lg">
      <Group justify="space-between" gap="md">
        <Group gap="sm" wrap="nowrap">
          <Container size={22} aria-hidden />
          <div>
            <Text fw={600}>Docker runs beside this daemon</Text>
            <Text size="sm" c="dimmed">
              See which of its containers could be sources. Nothing is saved until you choose.
            </Text>
          </div>
        </Group>
        <Button variant="light" onClick={onScan}>
          Scan local containers
        </Button>
      </Group>
    </Paper>
  )
}

/** @param project the sources are made in; absent: Default. */
export function ScanPage({ project }: { project: string | undefined }) {
  const scan = useQuery({
    queryKey: keys.containerScan,
    queryFn: api.scanContainers,
    retry: false,
    staleTime: 0,
    // A new answer begins the choice anew, so only who asks gets one.
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  const [made, setMade] = useState<string[] | null>(null)
  if (made) return <ScanMade names={made} />
  return (
    <>
      <PageHead title="Scan local containers">
        <Button variant="default" loading={scan.isFetching} onClick={() => void scan.refetch()}>
          Scan again
        </Button>
        <Button component={Link} to={`/sources/new${project ? `?project=${project}` : ''}`} variant="default">
          Back
        </Button>
      </PageHead>
      {scan.isPending && <LoadingRows rows={4} />}
      {scan.error && (
        <Failed title="Couldn’t look for containers" error={scan.error} onRetry={() => void scan.refetch()} />
      )}
      {scan.data && <Found key={scan.dataUpdatedAt} scan={scan.data} project={project} onMade={setMade} />}
    </>
  )
}

interface FoundProps {
  scan: EnvironmentScan
  project: string | undefined
  onMade: (names: string[]) => void
}

function Found({ scan, project, onMade }: FoundProps) {
  const { proposed_sources: proposed, skipped, summary } = scan
  const [chosen, setChosen] = useState(
    () => new Set(proposed.filter((one) => one.preselect).map((one) => one.name)),
  )
  const create = useChange(
    () => {
      const operations = proposed
        .filter(({ name }) => chosen.has(name))
        .map(({ name, connector, config }) => ({
          op: 'put' as const,
          kind: 'source' as const,
          name,
          spec: { connector, config },
          ...(project ? { project } : {}),
        }))
      return graphApi.apply({ operations, why: 'Scan of local containers' })
    },
    {
      quiet: true,
      onDone: () => onMade(proposed.map(({ name }) => name).filter((name) => chosen.has(name))),
    },
  )
  return (
    <Stack gap="lg" maw={900}>
      {proposed.length === 0 ? (
        <Empty title={summary.containers === 0 ? 'No containers' : 'Nothing to add'}>
          <Text c="dimmed">
            {summary.containers === 0
              ? 'Docker answers, but it has no containers. Start some, then scan again.'
              : 'Every container is already read, or listed below with a reason.'}
          </Text>
        </Empty>
      ) : (
        <>
          <ScanChoice proposed={proposed} chosen={chosen} onChange={setChosen} />
          {create.error && (
            <Alert color="red" title="None was created" role="alert">
              {create.error.message}
            </Alert>
          )}
          <Group>
            <Button loading={create.isPending} disabled={chosen.size === 0} onClick={() => create.mutate()}>
              {chosen.size === 1 ? 'Create 1 source' : `Create ${chosen.size} sources`}
            </Button>
            <Text size="sm" c="dimmed">
              One change-set: all or none, and undone at once under Change history.
            </Text>
          </Group>
        </>
      )}
      {skipped.length > 0 && (
        <section>
          <Title order={2} size="h4" mb="xs">
            Left out
          </Title>
          <ScanSkipped skipped={skipped} />
        </section>
      )}
    </Stack>
  )
}
