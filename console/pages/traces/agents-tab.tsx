/** Agents that were at work: those of others, known from the GenAI spans that they send, and svc's own beside them. */
import { Alert, Button, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import type { AgentActivity } from '../../../schemas/types.ts'
import { agentPath } from '../../lib/paths.ts'
import { count, money } from '../../lib/time.ts'
import { agentTracesPath, TRACE_WINDOWS } from '../../lib/traces.ts'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { Mark } from '../../parts/mark.tsx'
import { Acts } from '../../parts/may.tsx'
import { Cell, Row, RowLink, Rows } from '../../parts/rows.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { tkeys, traces } from '../../trace-client.ts'

const WINDOW = '24h'

export function AgentsTab() {
  const [address] = useSearchParams()
  const window = address.get('window') ?? WINDOW
  return (
    <Stack gap="sm">
      <FilterBar
        filters={[{ name: 'window', label: 'Window', data: TRACE_WINDOWS, always: WINDOW, width: 90 }]}
        values={{ window }}
        isNarrowed={false}
      />
      <AgentList window={window} />
    </Stack>
  )
}

function AgentList({ window }: { window: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: tkeys.agents(window),
    queryFn: () => traces.agents(window),
  })
  if (error) return <Failed what="agents" error={error} onRetry={() => void refetch()} />
  if (!data) return <LoadingRows />
  const others = data.agents.filter(({ from }) => from === 'spans')
  const own = data.agents.filter(({ from }) => from === 'svc')
  return (
    <Stack gap="md">
      {data.is_cut && (
        <Alert color="yellow" title="Not all spans were checked">
          The newest {count(data.looked_at)} were. Choose a shorter window.
        </Alert>
      )}
      {others.length === 0 ? (
        <Empty title="No other agent sent spans in this window">
          <Text c="dimmed" maw={560}>
            An agent that sends spans by OpenTelemetry’s conventions for generative AI (gen_ai.*) is shown
            here with its runs, cost and tools.
          </Text>
          <Acts>
            <Button component={Link} to="/sources/new?connector=otlp" variant="default">
              Add OpenTelemetry
            </Button>
          </Acts>
        </Empty>
      ) : (
        <Agents
          title="Other agents"
          said="Run by other systems. Runs, tokens and tools come from their spans, dollars from the price table of svc."
          agents={others}
          window={window}
        />
      )}
      {own.length > 0 && <Agents title="Agents of svc" said="By their runs." agents={own} window={window} />}
    </Stack>
  )
}

interface AgentsProps {
  title: string
  said: string
  agents: readonly AgentActivity[]
  window: string
}

function Agents({ title, said, agents, window }: AgentsProps) {
  return (
    <Stack gap={4} component="section" aria-label={title}>
      <Text component="h2" fw={600} size="md" m={0}>
        {title}
      </Text>
      <Text size="sm" c="dimmed">
        {said}
      </Text>
      <Rows
        label={title}
        columns={[
          { name: 'Agent', isHead: true },
          'Last at work',
          { name: 'Runs', isNumber: true },
          'Failed',
          { name: 'Tokens', isNumber: true },
          { name: 'Cost', isNumber: true },
          'Models',
          'Tools',
        ]}
      >
        {agents.map((agent) => (
          <AgentLine key={`${agent.from} ${agent.name} ${agent.service}`} agent={agent} window={window} />
        ))}
      </Rows>
    </Stack>
  )
}

/** Tools named in a list. */
const NAMED = 4

function AgentLine({ agent, window }: { agent: AgentActivity; window: string }) {
  const { name, from, service, runs, failed, input_tokens, output_tokens, cost_usd, models, tools } = agent
  const isOwn = from === 'svc'
  const more = tools.length - NAMED
  return (
    <Row>
      <Cell>
        <RowLink
          to={isOwn ? agentPath(name) : agentTracesPath(agent, window)}
          label={isOwn ? name : `Traces of ${name}${service ? `, of the service ${service}` : ''}`}
        >
          {name}
        </RowLink>
        {!isOwn && (
          <Text size="xs" c="dimmed">
            not of svc{service && service !== name ? `, of the service ${service}` : ''}
          </Text>
        )}
      </Cell>
      <Cell isWhole>
        <When at={agent.last_at} />
      </Cell>
      <Cell>{count(runs)}</Cell>
      <Cell>
        {failed > 0 ? <Mark tone="bad">{`${count(failed)} failed`}</Mark> : '—'}
        {agent.error && (
          <Text size="xs" c="dimmed" lineClamp={2}>
            {agent.error}
          </Text>
        )}
      </Cell>
      <Cell isWhole>
        <span title={`${count(input_tokens)} in, ${count(output_tokens)} out`}>
          {count(input_tokens + output_tokens)}
        </span>
      </Cell>
      <Cell isWhole>{cost_usd === null ? 'no price' : money(cost_usd)}</Cell>
      <Cell>{models.join(', ') || '—'}</Cell>
      <Cell>
        {tools
          .slice(0, NAMED)
          .map(({ name: tool, calls }) => `${tool} ×${count(calls)}`)
          .join(', ') || '—'}
        {more > 0 && ` and ${more} more`}
      </Cell>
    </Row>
  )
}
