/** A project at a glance: how much of what, today's totals, what it does, what was found, its runs. */
import { Anchor, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Project } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { KIND_WORDS, partPath } from '../../lib/fields.ts'
import { foundWords, freshMs } from '../../lib/runs.ts'
import { sourceState } from '../../lib/source-words.ts'
import { count, money } from '../../lib/time.ts'
import { Fact } from '../../parts/fact.tsx'
import { useFirstRows } from '../../parts/long-list.tsx'
import { Mark } from '../../parts/mark.tsx'
import { Acts } from '../../parts/may.tsx'
import { Section } from '../../parts/section.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { WhenSeen } from '../../parts/when-seen.tsx'
import { rkeys, runs } from '../../run-client.ts'
import { RunTable } from '../runs/run-table.tsx'
import { ResultRow } from './result-row.tsx'
import { StepsOf } from './setup-steps.tsx'

const SHOWN = 5
/** Parts of a kind, at first: all are under Parts. */
const PARTS_SHOWN = 10
const KINDS = ['source', 'trigger', 'agent', 'mcp_server', 'skill'] as const

export function OverviewTab({ project }: { project: Project }) {
  return (
    <Stack gap="lg">
      <Numbers project={project} />
      <Outline project={project} />
      <Left project={project} />
      {KINDS.every((kind) => !project.counts[kind]) && (
        <Text size="sm">
          Or <Link to={`/projects/${project.id}?tab=graph`}>draw the project</Link>: sources, triggers and
          agents on one canvas, applied at once.
        </Text>
      )}
      <Found project={project} />
      <WhenSeen waiting={<LoadingRows rows={3} />}>
        <LatestRuns project={project} />
      </WhenSeen>
    </Stack>
  )
}

function useResults(id: string) {
  return useQuery({
    queryKey: dkeys.of(id, 'results'),
    queryFn: () => declared.results(id, { show: 'findings' }),
    refetchInterval: 15_000,
  })
}

function Numbers({ project }: { project: Project }) {
  const { data } = useResults(project.id)
  return (
    <SimpleGrid cols={{ base: 2, xs: 3, sm: 4, lg: 8 }} spacing="sm">
      {KINDS.map((kind) => (
        <Fact key={kind} title={KIND_WORDS[kind]!.many}>
          {count(project.counts[kind] ?? 0)}
        </Fact>
      ))}
      <Fact title="Runs today">{data ? count(data.today.runs) : '…'}</Fact>
      <Fact title="Findings today">{data ? foundWords(data.today) : '…'}</Fact>
      <Fact title="Spent today">{data ? money(data.today.spent_usd) : '…'}</Fact>
    </SimpleGrid>
  )
}

const useOutline = (id: string) =>
  useQuery({
    queryKey: dkeys.of(id, 'outline'),
    queryFn: () => declared.outline(id),
    refetchInterval: 15_000,
  })

/** While a source waits for its first event: what its template leaves to be done by hand. */
function Left({ project }: { project: Project }) {
  const { data } = useOutline(project.id)
  const isWaiting = data?.watches.some(({ state }) => state === 'waiting')
  return isWaiting && <StepsOf project={project} title="What is left to do" />
}

function Outline({ project }: { project: Project }) {
  const { data, error, refetch } = useOutline(project.id)
  if (error) return <Failed what="the overview" error={error} onRetry={() => void refetch()} />
  if (!data) return <LoadingRows rows={3} />
  return (
    <SimpleGrid cols={{ base: 1, md: 3 }}>
      <Card
        title="Watches"
        many="sources"
        none={
          <>
            No sources yet.{' '}
            <Acts>
              <Link to={`/sources/new?project=${project.id}`}>Add a source</Link>
            </Acts>
          </>
        }
      >
        {data.watches.map(({ source, connector, state, last_event_at }) => (
          <Line
            key={source}
            to={partPath('source', source)}
            name={source}
            mark={<Mark {...sourceState(state)} />}
          >
            {connector}, {last_event_at ? <When at={last_event_at} /> : 'no event yet'}
            {state === 'waiting' && (
              <>
                {'. '}
                <Link to={partPath('source', source)}>How events come in</Link>
              </>
            )}
          </Line>
        ))}
      </Card>
      <Card
        title="Wakes when"
        many="triggers"
        none={
          <>
            No triggers yet.{' '}
            <Acts>
              <Link to={`/triggers/new?project=${project.id}`}>Add a trigger</Link>
            </Acts>
          </>
        }
      >
        {data.wakes.map(({ trigger, sentence, cooldown_sentence, paused }) => (
          <Line
            key={trigger}
            to={partPath('trigger', trigger)}
            name={trigger}
            mark={paused && <Mark tone="quiet">paused</Mark>}
          >
            {sentence}
            <br />
            {cooldown_sentence}
          </Line>
        ))}
      </Card>
      <Card
        title="Agents"
        many="agents"
        none={
          <>
            No agents yet.{' '}
            <Acts>
              <Link to={`/agents/new?project=${project.id}`}>Add an agent</Link>
            </Acts>
          </>
        }
      >
        {data.agents.map(({ name, sentence, enabled }) => (
          <Line
            key={name}
            to={partPath('agent', name)}
            name={name}
            mark={!enabled && <Mark tone="quiet">off</Mark>}
          >
            {sentence}
          </Line>
        ))}
      </Card>
    </SimpleGrid>
  )
}

function Card({
  title,
  none,
  many,
  children,
}: {
  title: string
  none: ReactNode
  /** What is listed. */
  many: string
  children: readonly ReactNode[]
}) {
  const { shown, more } = useFirstRows(children, many, PARTS_SHOWN)
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label={title}>
      <Title order={2} mb="xs">
        {title}
      </Title>
      {children.length ? (
        <Stack gap="sm">
          {shown}
          {more}
        </Stack>
      ) : (
        <Text size="sm" c="dimmed">
          {none}
        </Text>
      )}
    </Paper>
  )
}

function Line({
  to,
  name,
  mark,
  children,
}: {
  to: string
  name: string
  mark: ReactNode
  children: ReactNode
}) {
  return (
    <div>
      <Anchor component={Link} to={to} size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
        {name}
      </Anchor>{' '}
      {mark}
      <Text size="sm" c="dimmed" component="div">
        {children}
      </Text>
    </div>
  )
}

function Found({ project }: { project: Project }) {
  const { data, error, refetch } = useResults(project.id)
  if (error) return <Failed what="the overview" error={error} onRetry={() => void refetch()} />
  const results = data?.results.slice(0, SHOWN)
  return (
    <Section
      title="What the agents found"
      aside={
        !!results?.length && (
          <Anchor component={Link} to="?tab=findings" size="sm">
            All findings
          </Anchor>
        )
      }
    >
      {!results && <LoadingRows rows={3} />}
      {results?.length === 0 && (
        <Text size="sm" c="dimmed">
          Nothing yet. What an agent concludes shows here with its headline and next step.
        </Text>
      )}
      <Stack gap="sm">
        {results?.map((result) => (
          <ResultRow key={result.id} project={project} result={result} />
        ))}
      </Stack>
    </Section>
  )
}

function LatestRuns({ project }: { project: Project }) {
  const query = { project: project.id }
  const { data, error, refetch } = useQuery({
    queryKey: rkeys.list(query, SHOWN, 0),
    queryFn: () => runs.list(query, SHOWN),
    refetchInterval: ({ state }) => freshMs(state.data?.runs ?? []),
  })
  if (error) return <Failed what="the overview" error={error} onRetry={() => void refetch()} />
  return (
    <Section
      title="Runs"
      aside={
        !!data?.total && (
          <Anchor component={Link} to={`/runs?project=${encodeURIComponent(project.id)}`} size="sm">
            {data.total === 1 ? 'The run' : `All ${count(data.total)} runs`}
          </Anchor>
        )
      }
    >
      {!data && <LoadingRows rows={3} />}
      {data?.runs.length === 0 && (
        <Text size="sm" c="dimmed">
          No run yet. When a firing wakes an agent, its run shows here by itself.
        </Text>
      )}
      {!!data?.runs.length && <RunTable runs={data.runs} />}
    </Section>
  )
}
