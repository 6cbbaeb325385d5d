/** What a run is of: what woke it, when, with which model, and what it used. */
import { SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { RunDetail } from '../../../schemas/types.ts'
import { explorePath, firingPath, triggerPath } from '../../lib/firings.ts'
import {
  agentPath,
  durationOf,
  money,
  runPath,
  savedWords,
  slackWords,
  tokenWords,
  wokenWords,
  writeBackWords,
} from '../../lib/runs.ts'
import { count } from '../../lib/time.ts'
import { Fact } from '../../parts/fact.tsx'
import { Mark } from '../../parts/mark.tsx'
import { ProjectLinks } from '../../parts/project-links.tsx'
import { useNow } from '../../parts/use-now.ts'
import { When } from '../../parts/when.tsx'

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
        <Told title="Written back" said={writeBackWords(run)} />
        <Told title="Posted to Slack" said={slackWords(run)} />
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
      {wakes > 1 && `; it answers ${count(wakes)} firings, those that came while it waited too`}
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

function Told({ title, said }: { title: string; said: ReturnType<typeof slackWords> }) {
  if (!said) return null
  return (
    <Line title={title}>
      <Mark tone={said.tone}>{said.words.split(':')[0]!}</Mark>
      {said.words.includes(':') && said.words.slice(said.words.indexOf(':') + 1)}
    </Line>
  )
}
