/** Who looks: the agents of a plan, or the person's own. */
import type { AgentSpec, Plan, PlanAgent } from '../../../schemas/types.ts'
import { checkName } from '../../declared/write.ts'
import { normaliseAgent, normaliseHandoffs } from '../../parts/agent-spec.ts'
import { heeding, type Report, tellDuplicates } from './found.ts'
import type { SetupWorld } from './world.ts'

const AGENTS_MAX = 3
const KEY_NAME_MAX = 64

/** @returns the agents in canonical form; none where the person's own agent looks. */
export function checkAgents(plan: Plan, world: SetupWorld, report: Report): PlanAgent[] {
  if (plan.who === 'own') {
    checkOwn(plan, world, report)
    return []
  }
  const agents = plan.agents.map(withVerdicts)
  if (agents.length > AGENTS_MAX)
    report('agents', `there are ${agents.length} agents; at most ${AGENTS_MAX} are in a plan`)
  if (!agents.some(({ trigger, enabled }) => trigger && enabled))
    report('agents', 'no agent looks first: name the trigger that wakes one')
  tellDuplicates(report, 'agents', agents)
  for (const agent of agents) checkAgent(agent, { ...plan, agents }, world, report)
  return agents
}

function checkOwn({ own_agent: own }: Plan, world: SetupWorld, report: Report): void {
  if (!own?.name) {
    report('own_agent', 'name is required: the findings of your agent carry it')
    return
  }
  if (own.name.length > KEY_NAME_MAX) report('own_agent', `name must have at most ${KEY_NAME_MAX} characters`)
  if (world.has('agent', own.name))
    report('own_agent', `${own.name} is the name of an agent of this service; take another`)
}

/** A verdict that somebody takes over on is one it may give. */
function withVerdicts(agent: PlanAgent): PlanAgent {
  if (agent.existing) return agent
  const known = new Set(agent.verdicts.map(({ verdict }) => verdict))
  const more = [...new Set(agent.handoffs.map(({ verdict }) => verdict))].filter(
    (verdict) => verdict !== '' && !known.has(verdict),
  )
  return { ...agent, verdicts: [...agent.verdicts, ...more.map((verdict) => ({ verdict }))] }
}

function checkAgent(agent: PlanAgent, plan: Plan, world: SetupWorld, report: Report): void {
  const where = `agents.${agent.key}`
  if (agent.existing && !world.has('agent', agent.name))
    report(where, `no agent is named ${agent.name || 'nothing'}; take one that is here`)
  if (agent.trigger && !plan.wakes.some(({ name }) => name === agent.trigger))
    report(where, `trigger ${agent.trigger} is not in the plan; add it under Wakes when`)
  heeding(report, where, () => normaliseHandoffs(agent.name, agent.handoffs))
  for (const { agent: to } of agent.handoffs)
    if (!plan.agents.some(({ name }) => name === to))
      report(
        where,
        to ? `handoffs: agent ${to} is not in the plan` : 'handoffs: name the agent that takes over',
      )
  if (agent.existing) return
  heeding(report, where, () => checkName('agent', agent.name))
  if (!agent.prompt) report(where, 'prompt is required: what the agent is told')
  for (const server of agent.mcp_servers)
    if (!plan.tools.some(({ name }) => name === server))
      report(where, `mcp_servers: ${server} is not among the tools of the plan`)
  heeding(report, where, () => normaliseAgent(agentSpecOf(agent, plan)))
}

/** What an agent of the plan is, as it is declared. Tools that are off are none of it. */
export function agentSpecOf(
  { prompt, model, verdicts, mcp_servers }: PlanAgent,
  { tools }: Pick<Plan, 'tools'>,
): AgentSpec {
  const on = new Set(tools.filter(({ enabled }) => enabled).map(({ name }) => name))
  const servers = mcp_servers.filter((name) => on.has(name))
  return {
    prompt: prompt || '-',
    ...(model ? { model } : {}),
    // What it found is shown by its verdict: it always says one.
    concludes: true,
    ...(verdicts.length ? { verdicts } : {}),
    ...(servers.length ? { mcp_servers: servers } : {}),
  }
}
