/** What wakes an agent and whom it hands over to, what it may cost, and its last runs. */
import { Alert, Button, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Agent, AgentForecast } from '../../../schemas/types.ts'
import { SHOWN_FIRST } from '../../lib/agent-form.ts'
import { forecastWords, spendShare } from '../../lib/forecast.ts'
import { agentPath, triggerPath } from '../../lib/paths.ts'
import { freshMs } from '../../lib/runs.ts'
import { money, value } from '../../lib/time.ts'
import { Fact } from '../../parts/fact.tsx'
import { useMay } from '../../parts/may.tsx'
import { Section } from '../../parts/section.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { rkeys, runs } from '../../run-client.ts'
import { RunTable } from '../runs/run-table.tsx'

export function AgentOverview({ agent }: { agent: Agent }) {
  return (
    <Stack gap="lg" maw={1180}>
      {!agent.enabled && agent.triggers.length > 0 && (
        <Alert color="yellow" p="xs">
          Off: nothing wakes this agent.
        </Alert>
      )}
      <Section
        title="How it is set up"
        aside={agent.project && <Link to={`/projects/${agent.project}?tab=graph`}>Change the wiring</Link>}
      >
        <Wakes agent={agent} />
      </Section>
      <Section title="What it costs">
        <Forecast agent={agent.name} />
      </Section>
      <Section title="Last runs" aside={<Link to="?tab=runs">All runs</Link>}>
        <LastRuns agent={agent.name} />
      </Section>
    </Stack>
  )
}

function Wakes({
  agent: { triggers, handoffs, verdicts, context, model, provider, prompt },
}: {
  agent: Agent
}) {
  return (
    <dl className="facts">
      <div>
        <dt>Triggers</dt>
        <dd>
          {triggers.length === 0
            ? 'none: only a handoff starts it'
            : triggers.map((trigger, i) => (
                <span key={trigger}>
                  {i > 0 && ', '}
                  <Link to={triggerPath(trigger)}>{trigger}</Link>
                </span>
              ))}
        </dd>
      </div>
      <div>
        <dt>Verdicts</dt>
        <dd>
          {verdicts.length === 0
            ? 'any word, or none'
            : verdicts.map(({ verdict, when }) => (
                <div key={verdict}>
                  <b>{verdict}</b>
                  {when ? `: ${when}` : ''}
                </div>
              ))}
        </dd>
      </div>
      <div>
        <dt>Hands over</dt>
        <dd>
          {handoffs.length === 0
            ? 'to nobody'
            : handoffs.map((row) => (
                <div key={`${row.verdict} ${row.agent}`}>
                  on {row.verdict} to <Link to={agentPath(row.agent)}>{row.agent}</Link>
                </div>
              ))}
        </dd>
      </div>
      <div>
        <dt>Shown first</dt>
        <dd>{SHOWN_FIRST[context]}</dd>
      </div>
      <div>
        <dt>Model</dt>
        <dd>
          {model || 'the default model'} of {provider || 'the default provider'}
        </dd>
      </div>
      <div>
        <dt>Prompt</dt>
        <dd>
          <Text size="sm" lineClamp={3} style={{ whiteSpace: 'pre-line' }}>
            {prompt}
          </Text>
          <Link to="?tab=edit">{useMay() ? 'Edit' : 'Read it whole'}</Link> ·{' '}
          <Link to="?tab=preview">Preview the prompt</Link>
        </dd>
      </div>
    </dl>
  )
}

function Forecast({ agent }: { agent: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: rkeys.forecast(agent),
    queryFn: () => runs.forecast(agent),
    refetchInterval: 15_000,
  })
  if (!data && error) return <Failed what="the forecast" error={error} onRetry={() => void refetch()} />
  return <Costs forecast={data} />
}

/** @param forecast undefined while it is read */
function Costs({ forecast }: { forecast: AgentForecast | undefined }) {
  const share = forecast ? spendShare(forecast) : null
  return (
    <Stack gap="xs" {...(forecast ? {} : { role: 'status', 'aria-label': 'Loading' })}>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }}>
        <Fact title="Spent, of all time">{forecast && spentWords(forecast)}</Fact>
        <Fact title="Runs a day">{forecast && value(forecast.runs_per_day)}</Fact>
        <Fact title="A run">{forecast && money(forecast.cost_per_run_usd)}</Fact>
        <Fact title="A day">{forecast && money(forecast.per_day_usd)}</Fact>
        <Fact title="A month">{forecast && money(forecast.per_month_usd)}</Fact>
      </SimpleGrid>
      {share !== null && (
        <div className="budget" role="img" aria-label={`${Math.round(share * 100)}% of its budget is spent`}>
          <div style={{ width: `${share * 100}%` }} />
        </div>
      )}
      <Text component="div" size="sm" c="dimmed">
        {forecast ? forecastWords(forecast) : <Skeleton h="1lh" w="80%" />}
      </Text>
    </Stack>
  )
}

const spentWords = ({ spent_usd, budget_usd }: AgentForecast): string =>
  budget_usd === null ? money(spent_usd) : `${money(spent_usd)} of ${money(budget_usd)}`

const LISTED = 5

function LastRuns({ agent }: { agent: string }) {
  const query = { agent }
  const { data, error, isPending, refetch } = useQuery({
    queryKey: rkeys.list(query, LISTED, 0),
    queryFn: () => runs.list(query, LISTED),
    refetchInterval: ({ state }) => freshMs(state.data?.runs ?? []),
  })
  if (isPending) return <LoadingRows rows={LISTED} />
  if (error) return <Failed what="runs" error={error} onRetry={() => void refetch()} />
  if (data.runs.length === 0)
    return (
      <Stack gap="xs" align="flex-start">
        <Text size="sm" c="dimmed">
          No runs yet. Preview shows the prompt for a past firing.
        </Text>
        <Button component={Link} to="?tab=preview" variant="default" size="xs">
          Preview
        </Button>
      </Stack>
    )
  return <RunTable runs={data.runs} without="agent" />
}
