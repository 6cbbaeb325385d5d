/** Agents: what wakes each, what it spent of its budget, and how its last runs went. */
import { Badge, Group, Switch, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Agent } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { agentPath, runPath, triggerPath } from '../../lib/paths.ts'
import { isOpen, spentWords } from '../../lib/runs.ts'
import { useChange } from '../../lib/use-change.ts'
import { AddLink, LongList } from '../../parts/long-list.tsx'
import { Acts, useMay } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page.tsx'
import { ProjectLinks } from '../../parts/project-links.tsx'
import { Cell, NameLink, Row, RowLink, Rows } from '../../parts/rows.tsx'
import { RunMarks } from '../../parts/run-marks.tsx'
import { useIsNoModelSaid } from '../../parts/shell.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { LIST_FRESH_MS } from '../../parts/use-pages.ts'
import { When } from '../../parts/when.tsx'

/** While one of them is at work. */
const BUSY_FRESH_MS = 2_000

export default function AgentsPage() {
  const isSaid = useIsNoModelSaid()
  const { data, error, refetch } = useQuery({
    queryKey: dkeys.agents,
    queryFn: () => declared.agents(),
    refetchInterval: ({ state }) =>
      state.data?.agents.some(({ last_run }) => last_run && isOpen(last_run)) ? BUSY_FRESH_MS : LIST_FRESH_MS,
  })
  return (
    <>
      <PageHead title="Agents">
        <AddLink to="/agents/new">Add agent</AddLink>
      </PageHead>
      {!data && !error && <LoadingRows />}
      {error && <Failed what="agents" error={error} onRetry={() => void refetch()} />}
      {data && !data.key_configured && !isSaid && (
        <Text mb="md" role="status">
          Agents fail until a model provider is added.{' '}
          <Acts>
            <Link to="/settings?tab=providers">Add a model provider</Link>
          </Acts>
        </Text>
      )}
      {data && (data.agents.length === 0 ? <NoAgents /> : <AgentTable agents={data.agents} />)}
    </>
  )
}

function NoAgents() {
  return (
    <Empty title="No agents yet">
      <Text c="dimmed" maw={540}>
        An agent is woken with an entity’s timeline, investigates, and writes its finding back. Give it a
        prompt and the trigger that wakes it.
      </Text>
    </Empty>
  )
}

function AgentTable({ agents }: { agents: readonly Agent[] }) {
  return (
    <LongList
      all={agents}
      many="agents"
      by="name, prompt or trigger"
      words={({ name, prompt, triggers }) => `${name} ${prompt} ${triggers.join(' ')}`}
    >
      {(shown) => (
        <Rows
          label="Agents"
          columns={[
            { name: 'Agent', isHead: true, isText: true },
            'On',
            { name: 'Woken by', isText: true },
            'Projects',
            { name: 'Spent', isText: true },
            { name: 'Newest runs', isMinor: true },
            'Last run',
          ]}
        >
          {shown.map((agent) => (
            <AgentRow key={agent.name} agent={agent} />
          ))}
        </Rows>
      )}
    </LongList>
  )
}

function AgentRow({ agent }: { agent: Agent }) {
  const { name, prompt, triggers, budget_usd, projects, customized, stats, spent_usd, last_run } = agent
  return (
    <Row>
      <Cell>
        <Group gap="xs">
          <RowLink to={agentPath(name)}>{name}</RowLink>
          {customized && (
            <Badge size="sm" variant="default" tt="none">
              edited by hand
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" lineClamp={1}>
          {prompt.split('\n')[0]}
        </Text>
      </Cell>
      <Cell>
        <AgentSwitch agent={agent} />
      </Cell>
      <Cell>
        {triggers.length === 0
          ? 'only a handoff'
          : triggers.map((trigger) => (
              <div key={trigger}>
                <NameLink to={triggerPath(trigger)}>{trigger}</NameLink>
              </div>
            ))}
      </Cell>
      <Cell>
        <ProjectLinks ids={projects} />
      </Cell>
      <Cell>{spentWords({ usd: spent_usd, unpriced: stats.uncosted_runs }, budget_usd)}</Cell>
      <Cell isWhole>
        {stats.newest_finished > 0 ? `${stats.newest_ok} of ${stats.newest_finished} succeeded` : 'none'}
      </Cell>
      <Cell isWhole>
        {last_run ? (
          <Group gap={6}>
            <Link to={runPath(last_run.id)} aria-label={`Last run of ${name}, ${last_run.status}`}>
              <When at={last_run.at} />
            </Link>
            <RunMarks run={last_run} />
          </Group>
        ) : (
          'never'
        )}
      </Cell>
    </Row>
  )
}

export function AgentSwitch({ agent, label }: { agent: Agent; label?: string }) {
  const may = useMay()
  const change = useChange((on: boolean) => declared.switchAgent(agent.name, on), {
    failed: (on) => `Couldn’t ${on ? 'resume' : 'pause'} ${agent.name}`,
    said: (_result, on) => `${agent.name} is ${on ? 'on' : 'off'}`,
  })
  return (
    <Switch
      checked={agent.enabled}
      onChange={(event) => change.mutate(event.currentTarget.checked)}
      disabled={!may || change.isPending || agent.triggers.length === 0}
      {...(label ? { label } : { 'aria-label': `${agent.name} is on` })}
    />
  )
}
