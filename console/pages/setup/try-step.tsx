/** Try it: a test event, one practice run with its story, then done. */
import { Alert, Anchor, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { Link, useNavigate } from 'react-router'
import type { RunDetail, Setup } from '../../../schemas/types.ts'
import { api } from '../../client.ts'
import { chaptersOf } from '../../lib/run-story.ts'
import { isOpen } from '../../lib/runs.ts'
import { useChange } from '../../lib/use-change.ts'
import { NoModel, useHasModel } from '../../parts/no-model.tsx'
import { RunMarks } from '../../parts/run-marks.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { WhyText } from '../../parts/why-records.tsx'
import { rkeys, runs } from '../../run-client.ts'
import { setups, skeys } from '../../setup-client.ts'
import { work } from '../../trigger-client.ts'
import { RunFinding } from '../runs/run-finding.tsx'
import { RunStory } from '../runs/run-story.tsx'

export function TryStep({ setup }: { setup: Setup }) {
  const go = useNavigate()
  const done = useChange(() => setups.goTo(setup.project, 'done'), {
    failed: 'Couldn’t finish setup',
    said: () => `${setup.name} is set up and running`,
    onDone: () => void go(`/projects/${setup.project}`),
  })
  return (
    <Stack mt="md" maw={1_000}>
      <TestEvents setup={setup} />
      <Practice setup={setup} />
      <NewestEvents setup={setup} />
      <Group>
        <Button loading={done.isPending} onClick={() => done.mutate(undefined)}>
          {setup.step === 'done' ? 'To the project' : 'Done'}
        </Button>
        <Text size="sm" c="dimmed">
          The project runs already: real events wake it from now on.
        </Text>
      </Group>
    </Stack>
  )
}

function TestEvents({ setup }: { setup: Setup }) {
  const sources = setup.connect?.sources.filter(({ ingest_url }) => ingest_url !== null) ?? []
  // Nothing can be sent to sources that svc asks: they are practised on by what they brought.
  if (sources.length === 0) return null
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label="Send a test event">
      <Stack gap="sm">
        <Title order={2}>Send a test event</Title>
        <Text size="sm">
          The example event of the plan is stored with the label practice=true. It wakes nobody.
        </Text>
        {sources.map(({ name, sample }) => (
          <TestEvent key={name} project={setup.project} source={name} hasSample={sample !== null} />
        ))}
      </Stack>
    </Paper>
  )
}

function TestEvent({ project, source, hasSample }: { project: string; source: string; hasSample: boolean }) {
  const send = useChange((_: undefined) => setups.testEvent(project, source), {
    failed: 'Couldn’t send the test event',
  })
  return (
    <Group gap="sm">
      <Button
        variant="default"
        disabled={!hasSample}
        loading={send.isPending}
        onClick={() => send.mutate(undefined)}
      >
        Send one to {source}
      </Button>
      <Text size="sm" role="status">
        {!hasSample && 'The plan has no example event for it.'}
        {send.data && (
          <>
            Stored as{' '}
            <Anchor component={Link} to={`/events/${send.data.ids[0]}`} inherit underline="always">
              {send.data.ids[0]}
            </Anchor>
            .
          </>
        )}
      </Text>
    </Group>
  )
}

function Practice({ setup }: { setup: Setup }) {
  const { practice_run: practice, who } = setup
  const hasModel = useHasModel()
  const start = useChange((_: undefined) => setups.practise(setup.project), { quiet: true })
  const run = practice?.run_id ?? practice?.found ?? null
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label="Run a practice">
      <Stack gap="sm">
        <Title order={2}>Run a practice</Title>
        <Text size="sm">
          {who === 'own'
            ? 'Your agent receives the newest event, as if a trigger had fired. Its first finding within ten minutes is marked practice.'
            : 'The first agent looks once at the newest event. Not counted, and nothing is posted outside.'}
        </Text>
        {who === 'svc' && <NoModel so="The practice waits for one." />}
        <Group>
          <Button
            variant={practice || hasModel === false ? 'default' : 'filled'}
            disabled={who === 'svc' && hasModel === false}
            loading={start.isPending}
            onClick={() => start.mutate(undefined)}
          >
            {practice ? 'Repeat the practice' : 'Start practice'}
          </Button>
        </Group>
        {start.error && (
          <Alert color="yellow" title="Couldn’t start the practice" role="alert">
            {start.error.message}
          </Alert>
        )}
        {practice && run === null && (
          <Text size="sm" role="status">
            Your agent received the event. Its finding shows here.
          </Text>
        )}
        {run && <PracticeRun id={run} />}
      </Stack>
    </Paper>
  )
}

/** A practice passes by filters and conditions: whether real events wake anybody is told by the newest of each source. */
function NewestEvents({ setup }: { setup: Setup }) {
  const sources = setup.checks?.sources ?? []
  const { data, error, refetch } = useQuery({
    queryKey: [...skeys.of(setup.project), sources],
    queryFn: () => Promise.all(sources.map(({ name }) => newestOf(name))),
  })
  if (!data && error) return <Failed what="the newest events" error={error} onRetry={() => void refetch()} />
  return data?.map(
    (told) =>
      told && (
        <Text key={told.event.id} component="div">
          Newest of {told.event.source}: {told.event.text}
          {told.records.map((record) => (
            <div key={record.trigger}>
              {record.trigger}: <WhyText record={record} />
            </div>
          ))}
        </Text>
      ),
  )
}

/** The newest event of a source that is no practice, and what triggers made of it. */
async function newestOf(source: string) {
  const event = (await api.sourceEvents(source)).find(({ labels }) => labels.practice !== 'true')
  return event && { event, records: (await work.why(event.id)).records }
}

function PracticeRun({ id }: { id: string }) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: rkeys.one(id),
    queryFn: () => runs.one(id),
    refetchInterval: ({ state }) => (state.data && !isSettled(state.data) ? 1_000 : false),
  })
  if (isPending) return <LoadingRows rows={3} />
  if (error) return <Failed what="the run" error={error} onRetry={() => void refetch()} />
  const next = data.chain.find((other) => other.id !== id)
  return (
    <Stack gap="md">
      <Group gap="sm">
        {!isOpen(data) && data.outcome !== null && (
          <CircleCheck size={20} color="var(--mantine-color-teal-6)" aria-hidden />
        )}
        <Anchor component={Link} to={`/runs/${id}`} underline="always">
          Run of {data.agent} for {data.key}
        </Anchor>
        <RunMarks run={data} />
        {next && (
          <Anchor component={Link} to={`/runs/${next.id}`} underline="always">
            then {next.agent}
          </Anchor>
        )}
      </Group>
      {data.error && (
        <Alert color="red" title="The practice run didn’t succeed">
          {data.error}
        </Alert>
      )}
      <RunFinding run={data} />
      <RunStory run={data} chapters={chaptersOf(data.steps)} />
    </Stack>
  )
}

const isSettled = (run: RunDetail): boolean => !isOpen(run) && !run.chain.some(isOpen)
