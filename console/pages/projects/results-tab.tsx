/** What the agents of a project found: one result per chain, to mark as handled. */
import { Badge, Button, Group, Modal, Paper, Stack, Text, Title } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import type { Project, ProjectResult } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { claimsWords, money, runPath } from '../../lib/runs.ts'
import { useChange } from '../../lib/use-change.ts'
import { MarkdownText } from '../../parts/markdown.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { rkeys, runs } from '../../run-client.ts'

const RUNS_READ = 200

export function ResultsTab({ project }: { project: Project }) {
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: dkeys.of(project.id, 'result-pages'),
    initialPageParam: '',
    queryFn: ({ pageParam }) => declared.results(project.id, pageParam || undefined),
    getNextPageParam: (page) => page.next_before ?? undefined,
    refetchInterval: 15_000,
  })
  // How many claims of each hold is said by its run.
  const query = { project: project.id }
  const recent = useQuery({
    queryKey: rkeys.list(query, RUNS_READ, 0),
    queryFn: () => runs.list(query, RUNS_READ),
    refetchInterval: 15_000,
  })
  const claims = new Map(recent.data?.runs.map(({ id, verified }) => [id, claimsWords(verified)]))
  const [open, setOpen] = useState<ProjectResult | null>(null)
  if (isPending) return <LoadingRows />
  if (error) return <Failed error={error} onRetry={() => void refetch()} />
  const results = data.pages.flatMap((page) => page.results)
  if (results.length === 0)
    return (
      <Empty title="Nothing found yet">
        <Text c="dimmed" maw={520}>
          What the agents of this project find is listed here with its headline and next step. An outside
          agent records findings with a project key: make one under <Link to="?tab=keys">Keys</Link>.
        </Text>
      </Empty>
    )
  return (
    <Stack>
      {results.map((result) => (
        <ResultRow
          key={result.id}
          project={project}
          result={result}
          claims={claims.get(result.id) ?? null}
          onOpen={() => setOpen(result)}
        />
      ))}
      {hasNextPage && (
        <Button variant="default" onClick={() => void fetchNextPage()}>
          Show older findings
        </Button>
      )}
      {open && <Note project={project} result={open} onClose={() => setOpen(null)} />}
    </Stack>
  )
}

function ResultRow({
  project,
  result,
  claims,
  onOpen,
}: {
  project: Project
  result: ProjectResult
  /** How many of its claims hold, in words. */
  claims: string | null
  onOpen: () => void
}) {
  const mark = useChange((handled: boolean) => declared.markHandled(project.id, result.id, handled))
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
            {result.verdict && (
              <Badge variant="light" tt="none">
                {result.verdict}
              </Badge>
            )}
          </Group>
        </Group>
        <Text size="xs" c="dimmed" component="div">
          <When at={result.at} /> · {result.entity} ·{' '}
          <Link
            to={runPath(result.id)}
            aria-label={`Run of ${result.chain.join(', then ')} for ${result.entity}`}
          >
            {result.chain.join(' → ')}
          </Link>
          {result.external && ' (outside agent)'}
          {claims && ` · ${claims}`}
          {result.cost_usd !== null && ` · ${money(result.cost_usd)}`}
          {result.handled && ` · handled by ${result.handled.by}`}
        </Text>
        {result.next_step && (
          <Text size="sm">
            <b>Next:</b> {result.next_step}
          </Text>
        )}
        <Group mt={4}>
          <Button size="compact-sm" variant="default" onClick={onOpen} aria-label={`Read ${result.headline}`}>
            Read
          </Button>
          <Button
            size="compact-sm"
            variant={result.handled ? 'subtle' : 'light'}
            loading={mark.isPending}
            onClick={() => mark.mutate(!result.handled)}
          >
            {result.handled ? 'Not handled after all' : 'Mark as handled'}
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}

function Note({
  project,
  result,
  onClose,
}: {
  project: Project
  result: ProjectResult
  onClose: () => void
}) {
  const { data, error } = useQuery({
    queryKey: dkeys.of(project.id, `result:${result.id}`),
    queryFn: () => declared.result(project.id, result.id),
  })
  return (
    <Modal
      opened
      onClose={onClose}
      title={result.headline}
      size="xl"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {error && <Failed error={error} />}
      {data ? <MarkdownText text={data.note} /> : !error && <LoadingRows />}
    </Modal>
  )
}
