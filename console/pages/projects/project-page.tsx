/** One project: what it does, its parts and wiring, what was found, its settings and history. */
import { Badge, Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Suspense, useEffect, useState } from 'react'
import { Link, useParams, useSearchParams } from 'react-router'
import type { Project } from '../../../schemas/types.ts'
import { ApiError } from '../../client.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { useChange } from '../../lib/use-change.ts'
import { GoOn } from '../../parts/go-on.tsx'
import { Acts } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page.tsx'
import { type PageTab, PageTabs } from '../../parts/page-tabs.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { SavedWarnings } from '../../parts/warnings.tsx'
import { RangePicker } from '../../replay/range-picker.tsx'
import { HealthLine } from './health-line.tsx'
import { Held } from './held.tsx'
import { OverviewTab } from './overview-tab.tsx'
import { PartsTab } from './parts-tab.tsx'
import { ProjectActions } from './project-actions.tsx'
import { ResultsTab } from './results-tab.tsx'
import { SettingsTab } from './settings-tab.tsx'

/** The drawing is large, and most visits do not look at it. */
const GraphTab = lazyFrom(() => import('./graph-tab.tsx'))('default')

/** What its tabs were called before. */
const WAS = { results: 'findings', keys: 'settings' }

/** What others change is seen after this, at the latest. */
const FRESH_MS = 15_000

export default function ProjectPage() {
  const { id = '' } = useParams()
  const [query] = useSearchParams()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: dkeys.project(id),
    queryFn: () => declared.project(id),
    refetchInterval: FRESH_MS,
  })
  const isDrawn = query.get('tab') === 'graph'
  // Its line stands above all else: the page is drawn once, with it.
  const outline = useQuery({
    queryKey: dkeys.of(id, 'outline'),
    queryFn: () => declared.outline(id),
    enabled: !isDrawn,
    refetchInterval: FRESH_MS,
  })
  if (isPending || (outline.isPending && !isDrawn)) return <LoadingRows />
  if (error)
    return (
      <>
        <PageHead title="Project" />
        <Failed what="the project" error={error} onRetry={() => void refetch()} />
        {error instanceof ApiError && error.status === 404 && sessionStorage.getItem(`svc:draft:${id}`) && (
          <Text size="sm" mt="sm">
            Its draft is kept in this tab: undo the deletion under <Link to="/changes">Changes</Link>, and the
            draft continues.
          </Text>
        )}
      </>
    )
  if (query.get('tab') === 'history') return <GoOn to={`/changes?tab=history&project=${data.id}`} />
  if (data.status === 'draft') return <GoOn to={`/projects/${data.id}/setup`} />
  return (
    <>
      <PageHead title={data.name}>
        <Badge variant="default" tt="none">
          {data.template_title}
        </Badge>
        {data.status !== 'active' && (
          <Badge color="gray" variant="light" tt="none">
            {data.state}
          </Badge>
        )}
        <Acts>
          <Held project={data} />
        </Acts>
        {(data.state === 'connect' || data.state === 'try') && (
          <Acts>
            <Button component={Link} to={`/projects/${data.id}/setup`}>
              Continue setup
            </Button>
          </Acts>
        )}
        <RangePicker project={data.id} label="Replay" />
        <Moves project={data} />
      </PageHead>
      <SavedWarnings />
      <About project={data} short={isDrawn} />
      <PageTabs tabs={tabsOf(data)} was={WAS} />
    </>
  )
}

function tabsOf(project: Project): readonly PageTab[] {
  return [
    { value: 'overview', label: 'Overview', content: <OverviewTab project={project} /> },
    {
      value: 'graph',
      label: 'Graph',
      content: (
        <Suspense fallback={<LoadingRows />}>
          <GraphTab id={project.id} />
        </Suspense>
      ),
    },
    { value: 'findings', label: 'Findings', content: <ResultsTab project={project} /> },
    { value: 'parts', label: 'Parts', content: <PartsTab project={project} /> },
    { value: 'settings', label: 'Settings', content: <SettingsTab key={project.id} project={project} /> },
  ]
}

/** @param short above the graph, which has what is to be done at its nodes and needs the room */
function About({ project, short }: { project: Project; short: boolean }) {
  const outline = useQuery({
    queryKey: dkeys.of(project.id, 'outline'),
    queryFn: () => declared.outline(project.id),
    enabled: !short,
  })
  return (
    <Stack gap={6} maw={900} mb="md">
      {project.goal && project.goal !== project.name && (
        <Text style={{ overflowWrap: 'anywhere' }}>{project.goal}</Text>
      )}
      {project.description && !short && (
        <Text size="sm" c="dimmed" style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}>
          {project.description}
        </Text>
      )}
      {outline.data && !short && <Text size="sm">{outline.data.sentence}</Text>}
      <Health project={project} detailed={!short} />
    </Stack>
  )
}

/** As it was read with the project, and read again by itself. */
function Health({ project: { id, health }, detailed }: { project: Project; detailed: boolean }) {
  const queries = useQueryClient()
  const { data = health, error } = useQuery({
    queryKey: dkeys.of(id, 'health'),
    queryFn: () => declared.health(id),
    staleTime: FRESH_MS,
    refetchInterval: FRESH_MS,
    ...(health ? { initialData: health } : {}),
  })
  const isGone = error instanceof ApiError && error.status === 404
  useEffect(() => {
    if (isGone) void queries.invalidateQueries({ queryKey: dkeys.project(id), exact: true })
  }, [isGone, queries, id])
  return data && <HealthLine health={data} detailed={detailed} />
}

function Moves({ project }: { project: Project }) {
  const [asking, setAsking] = useState(false)
  const [sources, setSources] = useState(false)
  const pause = useChange(() => declared.pauseProject(project.id, sources), {
    failed: `Couldn’t pause ${project.name}`,
    said: () => `${project.name} is paused`,
    onDone: () => setAsking(false),
  })
  const resume = useChange(() => declared.resumeProject(project.id), {
    failed: `Couldn’t resume ${project.name}`,
    said: () => `${project.name} runs again`,
  })
  return (
    <Acts>
      <ProjectActions project={project} />
      {project.accepts.includes('pause') && (
        <Button variant="default" onClick={() => setAsking(true)}>
          Pause…
        </Button>
      )}
      {project.accepts.includes('resume') && (
        <Button loading={resume.isPending} onClick={() => resume.mutate(undefined)}>
          Resume
        </Button>
      )}
      <Modal opened={asking} onClose={() => setAsking(false)} title={`Pause ${project.name}?`} centered>
        <Stack>
          <Text size="sm">
            Until it is resumed its triggers and agents stop, unless another running project uses them.
          </Text>
          <Checkbox
            checked={sources}
            onChange={(event) => setSources(event.currentTarget.checked)}
            label="Also pause sources"
            description="Sent events are refused"
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setAsking(false)}>
              Keep it running
            </Button>
            <Button loading={pause.isPending} onClick={() => pause.mutate(undefined)}>
              Pause
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Acts>
  )
}
