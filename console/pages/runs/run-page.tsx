/** One run as a story: what tripped it, what it was told, what it did, what it found, who took over. */
import { Alert, Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { Link, useParams } from 'react-router'
import type { RunDetail } from '../../../schemas/types.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { runTracePath } from '../../lib/paths.ts'
import { resultReplayPath } from '../../lib/replay-path.ts'
import { chaptersOf } from '../../lib/run-story.ts'
import { isOpen, STATUS_HINTS } from '../../lib/runs.ts'
import { useChange } from '../../lib/use-change.ts'
import { AskAbout } from '../../parts/ask-about.tsx'
import { useMay } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page.tsx'
import { RunMarks } from '../../parts/run-marks.tsx'
import { Section } from '../../parts/section.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { rkeys, runs } from '../../run-client.ts'
import { CompareButton } from './compare-dialog.tsx'
import { KeepExample } from './keep-example.tsx'
import { MakeScenario } from './make-scenario.tsx'
import { RunChain } from './run-chain.tsx'
import { RunFacts } from './run-facts.tsx'
import { RunFinding } from './run-finding.tsx'
import { RunStory } from './run-story.tsx'

const RerunDialog = lazyFrom(() => import('./rerun-dialog.tsx'))('RerunDialog')

export default function RunPage() {
  const { id = '' } = useParams()
  const { data, error, refetch } = useQuery({
    queryKey: rkeys.one(id),
    queryFn: () => runs.one(id),
    refetchInterval: ({ state }) => paceOf(state.data),
  })
  if (error || !data)
    return (
      <>
        <PageHead title="Run" />
        {error ? <Failed what="the run" error={error} onRetry={() => void refetch()} /> : <LoadingRows />}
      </>
    )
  return <Story key={id} run={data} />
}

/** Each second while it is at work; then only while something of it is still to come. */
function paceOf(run: RunDetail | undefined): number | false {
  if (!run) return false
  if (isOpen(run)) return 1_000
  return run.chain.some(isOpen) || run.delivery === 'pending' || run.slack === 'pending' ? 2_000 : false
}

function Story({ run }: { run: RunDetail }) {
  const { agent, key, error, status } = run
  return (
    <>
      <PageHead title={`${agent}: ${key}`}>
        <RunMarks run={run} />
        <AskAbout
          question={`What did the agent ${agent} do in the run ${run.id} for ${run.label}=${key}, and does what it found hold?`}
        />
        <Moves run={run} />
      </PageHead>
      <Stack gap="lg" maw={1180}>
        {error && (
          <Alert color={MILD.includes(status) ? 'yellow' : 'red'} title={`It ${ENDED[status]}`}>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {error}
            </Text>
          </Alert>
        )}
        {run.parked && <Parked parked={run.parked} />}
        <div role="status">
          {isOpen(run) && (
            <Text size="sm" c="dimmed">
              {STATUS_HINTS[status]}. This page follows it.
            </Text>
          )}
        </div>
        <RunFacts run={run} />
        <RunFinding run={run} />
        {(run.chain.length > 1 || run.handoffs.length > 0) && <RunChain run={run} />}
        <Section title="Steps">
          <RunStory run={run} chapters={chaptersOf(run.steps)} />
        </Section>
      </Stack>
    </>
  )
}

/** Ends that are no fault. */
const MILD: RunDetail['status'][] = ['capped', 'exhausted', 'cancelled']

const ENDED: Record<RunDetail['status'], string> = {
  queued: 'waits',
  running: 'is at work',
  parked: 'waits for its model',
  succeeded: 'succeeded',
  exhausted: 'used up its rounds',
  failed: 'failed',
  cancelled: 'was cancelled',
  capped: 'was capped',
  empty: 'ended with nothing',
}

function Parked({ parked: { reason, since, until, tries } }: { parked: NonNullable<RunDetail['parked']> }) {
  return (
    <Alert color="yellow" title="Waiting for the model">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {reason}. Since <When at={since} />; tried again <When at={until} />
        {tries > 1 && `, for the ${tries}th time`}. What it did so far stays.
      </Text>
    </Alert>
  )
}

function Moves({ run }: { run: RunDetail }) {
  const [rerunning, setRerunning] = useState(false)
  const cancel = useChange((_: undefined) => runs.cancel(run.id), {
    failed: 'Couldn’t cancel the run',
    said: () => 'Run cancelled',
  })
  const canCancel = run.accepts.includes('cancel')
  const may = useMay()
  const canRerun = !isOpen(run) && run.woken_by !== 'external'
  return (
    <>
      {may && canCancel && (
        <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate(undefined)}>
          Cancel the run
        </Button>
      )}
      {run.steps.length > 0 && (
        <Button component={Link} to={runTracePath(run.id)} variant="default">
          Waterfall
        </Button>
      )}
      {run.projects[0] && (
        <Button component={Link} to={resultReplayPath(run.projects[0], run.id)} variant="default">
          Replay
        </Button>
      )}
      {!isOpen(run) && <CompareButton run={run} />}
      {may && canRerun && <KeepExample run={run} />}
      {may && run.outcome !== null && <MakeScenario run={run} />}
      {may && canRerun && <Button onClick={() => setRerunning(true)}>Rerun…</Button>}
      {rerunning && (
        <Suspense fallback={null}>
          <RerunDialog run={run} onClose={() => setRerunning(false)} />
        </Suspense>
      )}
    </>
  )
}
