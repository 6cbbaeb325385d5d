/** Agents: what wakes each, what it spent of its budget, and how its last runs went. */
import { Alert, Badge, Button, Group, Switch, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { Link } from 'react-router'
import type { Agent, RunsResult } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { agentPath, runPath, triggerPath } from '../../lib/paths.ts'
import { type AgentRecord, freshMs, recordsOf, type Spent, spentOf, spentWords } from '../../lib/runs.ts'
import { useChange } from '../../lib/use-change.ts'
import { PageHead } from '../../parts/page.tsx'
import { ProjectLinks } from '../../parts/project-links.tsx'
import { Cell, Row, RowLink, Rows } from '../../parts/rows.tsx'
import { RunMarks } from '../../parts/run-marks.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { LIST_FRESH_MS } from '../../parts/use-pages.ts'
import { When } from '../../parts/when.tsx'
import { rkeys, runs } from '../../run-client.ts'

/** Runs that are looked at for how the agents fare: one answer for all of them. */
const LOOKED_AT = 200

export default function AgentsPage() {
  const { data, error, refetch } = useQuery({
    queryKey: dkeys.agents,
    queryFn: () => declared.agents(),
    refetchInterval: LIST_FRESH_MS,
  })
  const recent = useQuery({
    queryKey: rkeys.list({}, LOOKED_AT, 0),
    queryFn: () => runs.list({}, LOOKED_AT),
    refetchInterval: ({ state }) => freshMs(state.data?.runs ?? []),
  })
  return (
    <>
      <PageHead title="Agents">
        <Button component={Link} to="/agents/new" leftSection={<Plus size={16} aria-hidden />}>
          Add agent
        </Button>
      </PageHead>
      {!data && !error && <LoadingRows />}
      {error && <Failed what="agents" error={error} onRetry={() => void refetch()} />}
      {data && !data.key_configured && (
        <Alert color="yellow" mb="md" title="No model is set up yet">
          Agents fail until a model provider is added.{' '}
          <Link to="/settings?tab=providers">Add a model provider</Link>.
        </Alert>
      )}
      {data &&
        (data.agents.length === 0 ? <NoAgents /> : <AgentTable agents={data.agents} recent={recent.data} />)}
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
      <Button component={Link} to="/agents/new">
        Add agent
      </Button>
    </Empty>
  )
}

function AgentTable({ agents, recent }: { agents: readonly Agent[]; recent: RunsResult | undefined }) {
  const records = recordsOf(recent?.runs ?? [])
  return (
    <Rows
      label="Agents"
      columns={[
        { name: 'Agent', isHead: true },
        'On',
        'Woken by',
        'Projects',
        'Spent',
        'Last runs',
        'Last run',
      ]}
    >
      {agents.map((agent) => (
        <AgentRow
          key={agent.name}
          agent={agent}
          record={records.get(agent.name)}
          spent={recent ? spentOf(agent.name, recent.runs, recent.total) : null}
        />
      ))}
    </Rows>
  )
}

interface RowProps {
  agent: Agent
  record: AgentRecord | undefined
  spent: Spent | null
}

function AgentRow({ agent, record, spent }: RowProps) {
  const { name, prompt, triggers, budget_usd, projects, customized } = agent
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
                <Link to={triggerPath(trigger)}>{trigger}</Link>
              </div>
            ))}
      </Cell>
      <Cell>
        <ProjectLinks ids={projects} />
      </Cell>
      <Cell isWhole>{spentWords(spent, budget_usd) || <Link to={agentPath(name)}>see its page</Link>}</Cell>
      <Cell isWhole>
        {record && record.ended > 0 ? `${record.succeeded} of ${record.ended} succeeded` : 'none'}
      </Cell>
      <Cell isWhole>
        {record ? (
          <Group gap={6} wrap="nowrap">
            <Link to={runPath(record.last.id)} aria-label={`Last run of ${name}, ${record.last.status}`}>
              <When at={record.last.made_at} />
            </Link>
            <RunMarks run={record.last} />
          </Group>
        ) : (
          'never'
        )}
      </Cell>
    </Row>
  )
}

export function AgentSwitch({ agent, label }: { agent: Agent; label?: string }) {
  const change = useChange((on: boolean) => declared.switchAgent(agent.name, on), {
    failed: (on) => `Couldn’t ${on ? 'resume' : 'pause'} ${agent.name}`,
    said: (_result, on) => `${agent.name} is ${on ? 'on' : 'off'}`,
  })
  return (
    <Switch
      checked={agent.enabled}
      onChange={(event) => change.mutate(event.currentTarget.checked)}
      disabled={change.isPending || agent.triggers.length === 0}
      {...(label ? { label } : { 'aria-label': `${agent.name} is on` })}
    />
  )
}
