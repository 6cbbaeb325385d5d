/** One result of a project: what a chain of runs found, to read and to mark as handled. */
import { Badge, Button, Group, Modal, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import * as calls from '../../../api/client/calls.ts'
import { callerText } from '../../../schemas/caller-words.ts'
import { claimWords } from '../../../schemas/claim-words.ts'
import type { FoundFinding, ProjectResult } from '../../../schemas/types.ts'
import { ask } from '../../client.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { runPath } from '../../lib/paths.ts'
import { resultReplayPath } from '../../lib/replay-path.ts'
import { money } from '../../lib/time.ts'
import { useChange } from '../../lib/use-change.ts'
import { FindingMarks, MarkSaid } from '../../parts/finding-marks.tsx'
import { Grown } from '../../parts/grown.tsx'
import { MarkdownText } from '../../parts/markdown.tsx'
import { Acts } from '../../parts/may.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { VerdictChip } from '../../parts/verdict-chip.tsx'
import { When } from '../../parts/when.tsx'

/** The project that it is of; where it was deleted, what was found there is read alone. */
type Of = Pick<FoundFinding['project'], 'id' | 'deleted'> & { name?: string }

export function ResultRow({ project, result }: { project: Of; result: ProjectResult }) {
  const [isOpen, setOpen] = useState(false)
  const mark = useChange((handled: boolean) => declared.markHandled(project.id, result.id, handled), {
    failed: (handled) => (handled ? 'Couldn’t mark the finding handled' : 'Couldn’t reopen the finding'),
  })
  return (
    <Paper withBorder p="md" radius="md" component="article">
      <Stack gap={4}>
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          <Title order={2} style={{ overflowWrap: 'anywhere' }}>
            {result.headline}
          </Title>
          <Group gap={6} style={{ flexShrink: 0 }}>
            {result.practice && (
              <Badge color="orange" variant="default" tt="none">
                Practice
              </Badge>
            )}
            {result.verdict && <VerdictChip of={result.verdict} isFinding={result.kind === 'action'} />}
          </Group>
        </Group>
        <About result={result} />
        {project.deleted && (
          <Text size="xs" c="dimmed">
            Project {project.name} was deleted
          </Text>
        )}
        <Grown incident={result.incident} run={result.id} />
        {result.next_step && (
          <Text size="sm">
            <b>Next:</b> {result.next_step}
          </Text>
        )}
        <Group mt={4}>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => setOpen(true)}
            aria-label={`Read ${result.headline}`}
          >
            Read
          </Button>
          {!project.deleted && (
            <Button
              component={Link}
              to={resultReplayPath(project.id, result.id)}
              size="compact-sm"
              variant="default"
              aria-label={`Replay ${result.headline}`}
            >
              Replay
            </Button>
          )}
          {!project.deleted && (
            <Acts>
              <Button
                size="compact-sm"
                variant={result.handled ? 'subtle' : 'light'}
                loading={mark.isPending}
                onClick={() => mark.mutate(!result.handled)}
              >
                {result.handled ? 'Reopen' : 'Mark as handled'}
              </Button>
            </Acts>
          )}
        </Group>
        {project.deleted ? (
          result.mark && <MarkSaid mark={result.mark} />
        ) : (
          <FindingMarks project={project.id} run={result.id} mark={result.mark} name={result.headline} />
        )}
      </Stack>
      {isOpen && <Note project={project} result={result} onClose={() => setOpen(false)} />}
    </Paper>
  )
}

/** When, about what, by whom, with what certainty, for how much. */
function About({ result }: { result: ProjectResult }) {
  return (
    <Text size="xs" c="dimmed" component="div">
      <When at={result.at} /> · {result.entity} ·{' '}
      <Link
        to={runPath(result.id)}
        aria-label={`Run of ${result.chain.join(', then ')} for ${result.entity}`}
      >
        {result.chain.join(' → ')}
      </Link>
      {result.external && ' (outside agent)'}
      {result.claims && ` · ${claimWords(result.claims)}`}
      {result.cost_usd !== null && ` · ${money(result.cost_usd)}`}
      {result.handled && ` · handled by ${callerText(result.handled.by)}`}
    </Text>
  )
}

function Note({ project, result, onClose }: { project: Of; result: ProjectResult; onClose: () => void }) {
  const { data, error } = useQuery({
    queryKey: dkeys.of(project.id, `result:${result.id}`),
    queryFn: async () => (await ask(calls.getFinding, { run: result.id })).result,
  })
  return (
    <Modal opened onClose={onClose} title={result.headline} size="xl">
      {error && <Failed what="the finding" error={error} />}
      {data ? <MarkdownText text={data.note} /> : !error && <LoadingRows />}
    </Modal>
  )
}
