/** The run under the cursor, up to the moment: its steps, what they cost, and in the end what it found. */
import { Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { ReplayMoment, RunDetail } from '../../../schemas/types.ts'
import { runPath } from '../../lib/paths.ts'
import { chaptersOf } from '../../lib/run-story.ts'
import { money } from '../../lib/time.ts'
import { RunFinding } from '../../pages/runs/run-finding.tsx'
import { RunStory } from '../../pages/runs/run-story.tsx'
import { Mark } from '../../parts/mark.tsx'
import { RunMarks } from '../../parts/run-marks.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { rkeys, runs } from '../../run-client.ts'
import type { Frame } from '../frame.ts'

export function RunPanel({ frame, moments }: { frame: Frame; moments: readonly ReplayMoment[] }) {
  const id = frame.run
  const { data, error, isPending, refetch } = useQuery({
    queryKey: rkeys.one(id ?? ''),
    queryFn: () => runs.one(id ?? ''),
    enabled: id !== null,
    staleTime: 60_000,
  })
  if (id === null)
    return (
      <Text size="sm" c="dimmed">
        No agent was at work up to here.
      </Text>
    )
  if (isPending) return <LoadingRows rows={4} />
  if (error) return <Failed what="the run" error={error} onRetry={() => void refetch()} />
  return <UpToHere run={data} frame={frame} moments={moments} />
}

function UpToHere({
  run,
  frame,
  moments,
}: {
  run: RunDetail
  frame: Frame
  moments: readonly ReplayMoment[]
}) {
  const work = frame.running.find((one) => one.run === run.id)
  const all = chaptersOf(run.steps)
  const last = work ? lastStep(moments, frame.index, run.id) : Number.POSITIVE_INFINITY
  const chapters = all.filter(({ n }) => n <= last)
  const cost = chapters.reduce((sum, step) => sum + (step.kind === 'model' ? (step.cost ?? 0) : 0), 0)
  const later = all.length - chapters.length
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
          <Link to={runPath(run.id)}>
            {run.agent}: {run.key}
          </Link>
        </Text>
        {work ? (
          <>
            <Mark tone="busy">{work.isQueued ? 'queued' : 'running'}</Mark>
            {run.practice && <Mark tone="quiet">practice</Mark>}
          </>
        ) : (
          <RunMarks run={run} />
        )}
      </Group>
      <Text size="sm" c="dimmed" role="status">
        {work
          ? `${work.words}. ${money(cost)} so far.`
          : run.cost_usd === null
            ? 'Ended. The cost is not priced.'
            : `Ended. Cost: ${money(run.cost_usd)}.`}
      </Text>
      {chapters.length > 0 && <RunStory run={run} chapters={chapters} />}
      {chapters.length === 0 && (
        <Text size="sm" c="dimmed">
          {later === 0 ? 'Steps expired.' : 'No steps yet.'}
        </Text>
      )}
      {later > 0 && (
        <Text size="sm" c="dimmed">
          {later} {later === 1 ? 'step comes' : 'steps come'} later.
        </Text>
      )}
      {!work && <RunFinding run={run} />}
    </Stack>
  )
}

/** Number of the last step of a run that is told up to a moment. */
function lastStep(moments: readonly ReplayMoment[], index: number, run: string): number {
  let most = -1
  for (let i = 0; i <= index; i++) {
    const { run_id, step } = moments[i]!
    if (run_id === run && step !== null) most = Math.max(most, step)
  }
  return most
}
