/** An agent as its form edits it. */
import type { Agent, AgentWrite, ToolPolicy, Verdict } from '../../schemas/types.ts'
import { proposedIn } from './proposed.ts'

export interface AgentDraft {
  name: string
  prompt: string
  trigger: string
  provider: string
  model: string
  fallback_provider: string
  fallback_model: string
  mcp_servers: string[]
  tools: ToolPolicy[]
  context: 'brief' | 'plain'
  max_rounds: number | null
  budget_usd: number | null
  run_budget_usd: number | null
  daily_cap: number | null
  concurrency: number | null
  concludes: boolean
  remembers: boolean
  /** closes: where all its claims hold, it handles the incident. */
  verdicts: { verdict: string; when: string; closes?: boolean; check?: Verdict['check'] }[]
  /** A blank cooldown is the default. */
  handoffs: { verdict: string; agent: string; cooldown: string }[]
  /** Id of the channel findings are posted to. */
  slack_channel: string
  /** Stored credential that findings are written on GitHub with. */
  github: string
  github_writes: ('comment' | 'check')[]
  webhook_url: string
  /** Blank keeps the stored one. */
  webhook_token: string
}

/** What an agent is shown first, in words. */
export const SHOWN_FIRST: Record<AgentDraft['context'], string> = {
  brief: 'Brief: what is unusual',
  plain: 'Plain: the timeline',
}

export const NEW_AGENT: AgentDraft = {
  name: '',
  prompt: '',
  trigger: '',
  provider: '',
  model: '',
  fallback_provider: '',
  fallback_model: '',
  mcp_servers: [],
  tools: [],
  context: 'brief',
  max_rounds: null,
  budget_usd: null,
  run_budget_usd: null,
  daily_cap: null,
  concurrency: null,
  concludes: false,
  remembers: false,
  verdicts: [],
  handoffs: [],
  slack_channel: '',
  github: '',
  github_writes: [],
  webhook_url: '',
  webhook_token: '',
}

/** Fields that few agents need, which the form folds. */
export const AGENT_OPTIONS = [
  'max_rounds',
  'run_budget_usd',
  'budget_usd',
  'daily_cap',
  'concurrency',
  'context',
  'remembers',
  'fallback_provider',
  'fallback_model',
  'webhook_url',
  'slack_channel',
  'github',
] as const satisfies readonly (keyof AgentDraft)[]

/** How many of them are not as they are by default. */
export const changedOptions = (draft: AgentDraft): number =>
  AGENT_OPTIONS.filter((field) => draft[field] !== NEW_AGENT[field]).length

/** What Ask proposed of an agent, as fields of the form. */
export function proposedAgent(state: unknown): Partial<AgentDraft> {
  const { project: _project, verdicts, ...given } = (proposedIn(state) ?? {}) as Partial<AgentWrite>
  const rows = verdicts?.map((one) =>
    typeof one === 'string' ? { verdict: one, when: '' } : verdictRow(one),
  )
  return { ...(given as Partial<AgentDraft>), ...(rows ? { verdicts: rows } : {}) }
}

/** @param agent as it is stored, or as far as a draft of the graph says it: what it leaves out is as in a new one */
export function draftOf(agent: Partial<Agent>): AgentDraft {
  return {
    ...NEW_AGENT,
    name: agent.name ?? '',
    prompt: agent.prompt ?? '',
    trigger: agent.trigger ?? '',
    provider: agent.provider ?? '',
    model: agent.model ?? '',
    fallback_provider: agent.fallback_provider ?? '',
    fallback_model: agent.fallback_model ?? '',
    mcp_servers: agent.mcp_servers ?? [],
    tools: agent.tools ?? [],
    context: agent.context ?? NEW_AGENT.context,
    max_rounds: agent.max_rounds ?? null,
    budget_usd: agent.budget_usd ?? null,
    run_budget_usd: agent.run_budget_usd ?? null,
    daily_cap: agent.daily_cap ?? null,
    concurrency: agent.concurrency ?? null,
    concludes: agent.concludes ?? false,
    remembers: agent.remembers ?? false,
    handoffs: (agent.handoffs ?? []).map(({ verdict, agent: to, cooldown }) => ({
      verdict,
      agent: to,
      cooldown: cooldown ?? '',
    })),
    verdicts: (agent.verdicts ?? []).map(verdictRow),
    slack_channel: agent.slack_channel ?? '',
    github: agent.github ?? '',
    github_writes: agent.github_writes ?? [],
    webhook_url: agent.webhook_url ?? '',
  }
}

/** The draft as the API takes it; trigger and handoffs only where changed, since they are one project's wiring. */
export function writeOf(draft: AgentDraft, before: AgentDraft): AgentWrite {
  const { trigger, webhook_token, verdicts, handoffs, tools, ...rest } = draft
  return {
    ...rest,
    name: draft.name.trim(),
    ...(trigger !== before.trigger ? { trigger } : {}),
    ...(JSON.stringify(handoffs) === JSON.stringify(before.handoffs)
      ? {}
      : { handoffs: handoffRows(handoffs) }),
    ...(webhook_token ? { webhook_token } : {}),
    // A line of a server that it no longer uses says nothing, and one without a tool is not begun.
    tools: tools.filter(({ server, tool }) => tool.trim() !== '' && draft.mcp_servers.includes(server)),
    verdicts: verdicts
      .filter(({ verdict }) => verdict.trim() !== '')
      .map(({ verdict, when, closes, check }) => ({
        verdict: verdict.trim(),
        ...(when.trim() ? { when: when.trim() } : {}),
        ...(closes ? { closes } : {}),
        ...(check && check !== 'neutral' ? { check } : {}),
      })),
  } as AgentWrite
}

const verdictRow = ({ verdict, when, closes, check }: Verdict) => ({
  verdict,
  when: when ?? '',
  ...(closes ? { closes } : {}),
  ...(check ? { check } : {}),
})

/** A row that is not filled in is not begun. */
const handoffRows = (rows: AgentDraft['handoffs']) =>
  rows
    .filter(({ verdict, agent }) => verdict.trim() !== '' && agent !== '')
    .map(({ verdict, agent, cooldown }) => ({
      verdict: verdict.trim(),
      agent,
      ...(cooldown.trim() ? { cooldown: cooldown.trim() } : {}),
    }))
