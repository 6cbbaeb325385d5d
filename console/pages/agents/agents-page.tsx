/** Agents: what each is told, what wakes it. */
import { Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Agent } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { useChange } from '../../lib/use-change.ts'
import { PartListPage } from '../../parts/part-list.tsx'

export default function AgentsPage() {
  const { data, error, refetch } = useQuery({ queryKey: dkeys.agents, queryFn: () => declared.agents() })
  return (
    <PartListPage
      kind="agent"
      title="Agents"
      add={{ to: '/agents/new', label: 'Add agent' }}
      parts={data?.agents}
      error={error}
      onRetry={() => void refetch()}
      what={(agent) => `${wokenBy(agent)} ${agent.prompt.split('\n')[0]}`}
      state={(agent) => <AgentSwitch agent={agent} />}
      empty="An agent is woken with an entity’s timeline, investigates, and writes its finding back. Give it a prompt and the trigger that wakes it."
    />
  )
}

function wokenBy(agent: Agent): string {
  return agent.triggers.length ? `Woken by ${agent.triggers.join(', ')}.` : 'Woken only by a handoff.'
}

function AgentSwitch({ agent }: { agent: Agent }) {
  const change = useChange((on: boolean) => declared.switchAgent(agent.name, on), {
    said: (_result, on) => `${agent.name} is ${on ? 'on' : 'off'}`,
  })
  return (
    <Switch
      checked={agent.enabled}
      onChange={(event) => change.mutate(event.currentTarget.checked)}
      disabled={change.isPending || agent.triggers.length === 0}
      aria-label={`${agent.name} is on`}
    />
  )
}
