/** Another prompt or model for a run of then: it is repeated as practice, and both are told side by side. */
import { Alert, Button, Group, Paper, Stack, Text, Textarea, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { GraphNode, Replay, ReplayMoment, RerunRequest, RunDetail } from '../../../schemas/types.ts'
import { promptsOf } from '../../lib/compare.ts'
import { comparePath, runPath } from '../../lib/paths.ts'
import { isOpen } from '../../lib/runs.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { ComparedFacts, FoundByRun } from '../../pages/runs/compared.tsx'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { ModelPicker } from '../../parts/model-picker.tsx'
import { RunMarks } from '../../parts/run-marks.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { TextDiff } from '../../parts/text-diff.tsx'
import { rkeys, runs } from '../../run-client.ts'
import type { Frame } from '../frame.ts'
import { TakeDraft } from './take-draft.tsx'

const PROMPT_MAX = 8_000

interface Props {
  replay: Replay
  frame: Frame
  node: GraphNode
}

export function AgentFork({ replay, frame, node }: Props) {
  const id = runOf(replay.moments, frame.index, node.id)
  const { data, error, isPending, refetch } = useRun(id)
  if (id === null)
    return (
      <Alert color="gray">
        {node.name} did not run in this replay. Only a run that took place can be repeated.
      </Alert>
    )
  if (isPending) return <LoadingRows rows={4} />
  if (error) return <Failed what="the run" error={error} onRetry={() => void refetch()} />
  if (isOpen(data))
    return <Alert color="gray">This run is still at work. Repeat the run once it has ended.</Alert>
  if (data.woken_by === 'external')
    return <Alert color="gray">An outside agent did this: svc cannot repeat it.</Alert>
  return <Fork project={replay.project.id} run={data} />
}

/** The last run of an agent up to a moment, else its first after it. */
export function runOf(moments: readonly ReplayMoment[], index: number, node: string): string | null {
  const isIts = ({ kind, nodes, run_id }: ReplayMoment): boolean =>
    kind === 'run' && run_id !== null && nodes.includes(node)
  return (moments.slice(0, index + 1).findLast(isIts) ?? moments.slice(index + 1).find(isIts))?.run_id ?? null
}

function useRun(id: string | null) {
  return useQuery({
    queryKey: rkeys.one(id ?? ''),
    queryFn: () => runs.one(id ?? ''),
    enabled: id !== null,
    refetchInterval: ({ state }) => (state.data && isOpen(state.data) ? 1_000 : false),
  })
}

interface Tried {
  prompt: string
  provider: string
  model: string
  /** Its last run as practice; null: none yet. */
  ran: string | null
}

function Fork({ project, run }: { project: string; run: RunDetail }) {
  const was = promptsOf(run).prompt
  // With the run that was paid for: closed and opened again, it stands beside what happened.
  const kept = useDraft<Tried>({
    form: `what-if:${run.id}`,
    start: { prompt: was, provider: '', model: '', ran: null },
  })
  const { prompt, provider, model, ran } = kept.value
  const rerun = useChange((body: RerunRequest) => runs.rerun(run.id, body), {
    quiet: true,
    onDone: (queued) => kept.set((now) => ({ ...now, ran: queued.run_id })),
  })
  const isBlank = prompt.trim() === ''
  const body: RerunRequest = {
    as_of: 'same',
    practice: true,
    // The prompt of then, also where the agent has another by now.
    prompt,
    ...(provider ? { provider } : {}),
    ...(model ? { model } : {}),
  }
  return (
    <Stack>
      <Text size="sm">
        The run of <Link to={runPath(run.id)}>{`${run.agent} for ${run.key}`}</Link> is repeated: it reads
        what it could read then. Its tools, verdicts and bounds are those the agent has now.
      </Text>
      <DraftRestored of={kept} />
      <Textarea
        label="Prompt"
        description="The original, to be changed"
        value={prompt}
        onChange={(event) => {
          const typed = event.currentTarget.value
          kept.set((now) => ({ ...now, prompt: typed }))
        }}
        autosize
        minRows={5}
        maxRows={14}
        maxLength={PROMPT_MAX}
        error={isBlank ? 'A prompt is required' : undefined}
      />
      <ModelPicker
        value={{ provider, model }}
        onChange={(choice) => kept.set((now) => ({ ...now, ...choice }))}
        blank="Default: the agent’s"
      />
      {rerun.error && <Failed what="the rerun" error={rerun.error} />}
      <Group>
        <Button loading={rerun.isPending} disabled={isBlank} onClick={() => rerun.mutate(body)}>
          {ran !== null ? 'Run it once more' : 'Run it as practice'}
        </Button>
      </Group>
      {ran !== null && <Outcome key={ran} before={run} id={ran} />}
      {!isBlank && (
        <TakeDraft
          project={project}
          part={{ kind: 'agent', name: run.agent }}
          before={{ prompt: was }}
          after={{
            prompt,
            ...(provider ? { provider } : {}),
            ...(model ? { model } : {}),
          }}
          onTaken={kept.done}
        />
      )}
    </Stack>
  )
}

/** What happened, and what would have, as soon as it is there. */
function Outcome({ before, id }: { before: RunDetail; id: string }) {
  const { data, error, refetch } = useRun(id)
  if (error) return <Failed what="the run" error={error} onRetry={() => void refetch()} />
  if (!data) return <LoadingRows rows={2} />
  return (
    <section aria-label="What would have happened">
      <Stack gap="sm">
        <Title order={2}>What would have happened</Title>
        <div role="status">
          {isOpen(data) && (
            <Text size="sm" c="dimmed">
              {data.status === 'queued' ? 'Queued' : 'At work'}: this follows the run.
            </Text>
          )}
        </div>
        <div className="beside">
          <Side title="What happened" run={before} />
          <Side title="What if" run={data} />
        </div>
        <ComparedFacts left={before} right={data} titles={['What happened', 'What if']} />
        <Paper withBorder p="md" radius="md">
          <TextDiff
            title="Prompt of the agent"
            from={promptsOf(before).prompt}
            to={promptsOf(data).prompt}
            same="The same."
          />
        </Paper>
        <Text size="sm">
          <Link to={comparePath(before.id, data.id)}>Both, step by step</Link>
        </Text>
      </Stack>
    </section>
  )
}

function Side({ title, run }: { title: string; run: RunDetail }) {
  return (
    <Stack gap={6}>
      <Group gap="xs">
        <Text fw={600}>{title}</Text>
        <RunMarks run={run} />
      </Group>
      <FoundByRun run={run} />
    </Stack>
  )
}
