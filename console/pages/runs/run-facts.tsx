/** What a run is of: what woke it, when, with which model, and what it used. */
import { Button, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { RunDetail } from '../../../schemas/types.ts'
import { explorePath } from '../../lib/firings.ts'
import { agentPath, firingPath, runPath, triggerPath } from '../../lib/paths.ts'
import {
  durationOf,
  githubWords,
  savedWords,
  slackWords,
  tokenWords,
  wokenWords,
  writeBackWords,
} from '../../lib/runs.ts'
import { count, money } from '../../lib/time.ts'
import { useChange } from '../../lib/use-change.ts'
import { Fact } from '../../parts/fact.tsx'
import { Mark } from '../../parts/mark.tsx'
import { ProjectLinks } from '../../parts/project-links.tsx'
import { useNow } from '../../parts/use-now.ts'
import { When } from '../../parts/when.tsx'
import { rkeys } from '../../run-client.ts'
import { work } from '../../trigger-client.ts'

export function RunFacts({ run }: { run: RunDetail }) {
  const now = useNow(1_000)
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
        <Fact title="Woken">
          <When at={run.made_at} />
        </Fact>
        <Fact title="Duration">{durationOf(run, now)}</Fact>
        <Fact title="Rounds">
          {count(run.rounds)} of {count(run.max_rounds)}
        </Fact>
        <Fact title="Tools called">{count(run.tool_calls)}</Fact>
        <Fact title="Tokens">{count(run.input_tokens + run.output_tokens)}</Fact>
        <Fact title="Cost">{run.cost_usd === null ? '— not priced' : money(run.cost_usd)}</Fact>
      </SimpleGrid>
      <dl className="facts">
        <Line title="Woken by">
          <Origin run={run} />
        </Line>
        <Line title="Entity">
          <Link to={explorePath({ label: run.label, value: run.key }, run.as_of ?? run.made_at)}>
            {run.label}={run.key}
          </Link>
          {run.as_of && (
            <>
              {' '}
              as of <When at={run.as_of} />
            </>
          )}
        </Line>
        <Line title="Agent">
          <Link to={agentPath(run.agent)}>{run.agent}</Link>{' '}
          <Text span size="sm" c="dimmed">
            as it was: {run.definition_hash}
          </Text>
        </Line>
        <Line title="Model">
          {run.model ? `${run.model}${run.provider ? ` of ${run.provider}` : ''}` : 'none was asked yet'}
        </Line>
        {run.fallback_for && (
          <Line title="Instead of">
            {run.fallback_for.model} of {run.fallback_for.provider}, which was unavailable:{' '}
            {run.fallback_for.reason}
          </Line>
        )}
        <Line title="Tokens">
          {tokenWords(run)}
          {savedWords(run)}
        </Line>
        {run.projects.length > 0 && (
          <Line title="Projects">
            <ProjectLinks ids={run.projects} />
          </Line>
        )}
        {run.servers.length > 0 && (
          <Line title="MCP servers">
            <Servers run={run} />
          </Line>
        )}
        <ToldLine kind="write_back" title="Written back" told={writeBackWords(run)} run={run.id} />
        <ToldLine kind="slack" title="Posted to Slack" told={slackWords(run)} run={run.id} />
        <ToldLine kind="github" title="On GitHub" told={githubWords(run)} run={run.id} />
        {run.handled && (
          <Line title="Handled">
            by {run.handled.by}, <When at={run.handled.at} />
          </Line>
        )}
      </dl>
    </Stack>
  )
}

function Line({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Origin({ run }: { run: RunDetail }) {
  const { dispatch_id, trigger, parent_run_id, rerun_of, wakes, woken_by } = run
  return (
    <>
      {rerun_of ? (
        <>
          a rerun of <Link to={runPath(rerun_of)}>this run</Link>
        </>
      ) : parent_run_id ? (
        <>
          a handoff from <Link to={runPath(parent_run_id)}>the run before it</Link>
        </>
      ) : trigger ? (
        <>
          {woken_by === 'schedule' ? 'schedule' : 'trigger'} <Link to={triggerPath(trigger)}>{trigger}</Link>
        </>
      ) : (
        wokenWords(run)
      )}
      {dispatch_id && (
        <>
          : <Link to={firingPath(dispatch_id)}>the firing</Link>
        </>
      )}
      {wakes > 1 && `; answers ${count(wakes)} firings, with those that came while it waited`}
    </>
  )
}

function Servers({ run }: { run: RunDetail }) {
  return (
    <Stack gap={4}>
      {run.servers.map(({ server, skipped }) => (
        <div key={server}>
          <Link to={`/mcp-servers/${encodeURIComponent(server)}`}>{server}</Link>{' '}
          <Mark tone={skipped ? 'bad' : 'good'}>{skipped ? 'skipped' : 'used'}</Mark>
          {skipped && ` ${skipped}`}
        </div>
      ))}
    </Stack>
  )
}

interface ToldProps {
  kind: 'write_back' | 'slack' | 'github'
  title: string
  /** Null: it goes nowhere. */
  told: ReturnType<typeof slackWords>
  /** Id of the run. */
  run: string
}

/** How a finding was told, where its attempts are, and what sends it again. */
function ToldLine({ kind, title, told, run }: ToldProps) {
  if (!told) return null
  const [state, ...reason] = told.words.split(':')
  return (
    <Line title={title}>
      <Mark tone={told.tone}>{state!}</Mark>
      {reason.length > 0 && reason.join(':')}{' '}
      <Link to={`/deliveries?${new URLSearchParams({ run, kind })}`} aria-label={`${title}: attempts`}>
        attempts
      </Link>{' '}
      {told.tone === 'bad' && <Redeliver kind={kind} title={title} run={run} />}
    </Line>
  )
}

function Redeliver({ kind, title, run }: Omit<ToldProps, 'told'>) {
  const queries = useQueryClient()
  const again = useChange(
    async (_: undefined) => {
      const { deliveries } = await work.deliveries({ run, kind })
      return Promise.all(deliveries.map(({ delivery_id }) => work.redeliver(delivery_id)))
    },
    {
      failed: 'Couldn’t redeliver',
      said: () => 'Redelivered with the same id',
      onDone: () => void queries.invalidateQueries({ queryKey: rkeys.one(run) }),
    },
  )
  return (
    <Button
      size="compact-xs"
      variant="default"
      loading={again.isPending}
      aria-label={`${title}: redeliver`}
      onClick={() => again.mutate(undefined)}
    >
      Redeliver
    </Button>
  )
}
