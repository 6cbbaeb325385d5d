/** Two runs side by side: what was different in what they were told, did, found and cost. */
import { Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearchParams } from 'react-router'
import type { RunDetail } from '../../../schemas/types.ts'
import { promptsOf, stepLine } from '../../lib/compare.ts'
import { runPath } from '../../lib/paths.ts'
import { chaptersOf } from '../../lib/run-story.ts'
import { isOpen } from '../../lib/runs.ts'
import { money, took } from '../../lib/time.ts'
import { PageHead } from '../../parts/page.tsx'
import { RunMarks } from '../../parts/run-marks.tsx'
import { Section } from '../../parts/section.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { TextDiff } from '../../parts/text-diff.tsx'
import { When } from '../../parts/when.tsx'
import { rkeys, runs } from '../../run-client.ts'
import { ComparedFacts, FoundByRun } from './compared.tsx'

export default function ComparePage() {
  const { id = '' } = useParams()
  const [query] = useSearchParams()
  const other = query.get('with') ?? ''
  const left = useFollowed(id)
  const right = useFollowed(other)
  const error = left.error ?? right.error
  return (
    <>
      <PageHead title="Two runs" />
      {other === '' ? (
        <Empty title="With which run?">
          <Text>
            Pick another under Compare on <Link to={runPath(id)}>the page of this run</Link>.
          </Text>
        </Empty>
      ) : error ? (
        <Failed
          what="the runs"
          error={error}
          onRetry={() => void Promise.all([left.refetch(), right.refetch()])}
        />
      ) : left.data && right.data ? (
        <Both left={left.data} right={right.data} />
      ) : (
        <LoadingRows />
      )}
    </>
  )
}

const useFollowed = (id: string) =>
  useQuery({
    queryKey: rkeys.one(id),
    queryFn: () => runs.one(id),
    enabled: id !== '',
    refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? 1_000 : false),
  })

function Both({ left, right }: { left: RunDetail; right: RunDetail }) {
  const before = promptsOf(left)
  const after = promptsOf(right)
  return (
    <Stack gap="lg">
      <div role="status">
        {[left, right].some(isOpen) && (
          <Text size="sm" c="dimmed">
            One run is still in progress; this page updates.
          </Text>
        )}
      </div>
      <div className="beside">
        <Heading run={left} />
        <Heading run={right} />
      </div>
      <Section title="At a glance">
        <ComparedFacts left={left} right={right} />
      </Section>
      <Section title="Timelines received">
        <Paper withBorder p="md" radius="md">
          <Stack>
            <TextDiff title="Prompt of the agent" from={before.prompt} to={after.prompt} same="The same." />
            <TextDiff title="Instructions" from={before.system} to={after.system} same="The same." />
            <TextDiff title="First message" from={before.message} to={after.message} same="The same." />
          </Stack>
        </Paper>
      </Section>
      <Section title="What they found">
        <div className="beside">
          <FoundByRun run={left} />
          <FoundByRun run={right} />
        </div>
      </Section>
      <Section title="What they did">
        <div className="beside">
          <Steps run={left} />
          <Steps run={right} />
        </div>
      </Section>
    </Stack>
  )
}

function Heading({ run }: { run: RunDetail }) {
  return (
    <Group gap="xs">
      <Title order={2} size="h4">
        <Link to={runPath(run.id)}>
          {run.agent}: {run.key}
        </Link>
      </Title>
      <RunMarks run={run} />
      <Text size="sm" c="dimmed">
        <When at={run.made_at} />
      </Text>
    </Group>
  )
}

function Steps({ run }: { run: RunDetail }) {
  return (
    <Paper withBorder p="md" radius="md">
      <ol className="step-lines" aria-label={`Steps of ${run.id}`}>
        {chaptersOf(run.steps).map((step) => (
          <li key={step.n}>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {stepLine(step)}
            </Text>
            {(step.kind === 'model' || step.kind === 'tool') && (
              <Text size="xs" c="dimmed">
                {step.ms === null ? 'not completed' : took(step.ms)}
                {step.kind === 'model' && step.text !== null && ` · ${money(step.cost)}`}
              </Text>
            )}
          </li>
        ))}
      </ol>
    </Paper>
  )
}
