/** An agent as its form edits it. */
import type { Agent, AgentWrite, ToolPolicy } from '../../schemas/types.ts'

export interface AgentDraft {
  name: string
  prompt: string
  trigger: string
  model: string
  mcp_servers: string[]
  tools: ToolPolicy[]
  max_rounds: number | null
  budget_usd: number | null
  daily_cap: number | null
  concludes: boolean
  verdicts: { verdict: string; when: string }[]
  webhook_url: string
  /** Blank keeps the stored one. */
  webhook_token: string
}

export const NEW_AGENT: AgentDraft = {
  name: '',
  prompt: '',
  trigger: '',
  model: '',
  mcp_servers: [],
  tools: [],
  max_rounds: null,
  budget_usd: null,
  daily_cap: null,
  concludes: false,
  verdicts: [],
  webhook_url: '',
  webhook_token: '',
}

export function draftOf(agent: Agent): AgentDraft {
  return {
    ...NEW_AGENT,
    name: agent.name,
    prompt: agent.prompt,
    trigger: agent.trigger,
    model: agent.model ?? '',
    mcp_servers: agent.mcp_servers ?? [],
    tools: agent.tools,
    max_rounds: agent.max_rounds ?? null,
    budget_usd: agent.budget_usd ?? null,
    daily_cap: agent.daily_cap ?? null,
    concludes: agent.concludes ?? false,
    verdicts: (agent.verdicts ?? []).map(({ verdict, when }) => ({ verdict, when: when ?? '' })),
    webhook_url: agent.webhook_url ?? '',
  }
}

/** The draft as the API takes it; the trigger only where it was changed, since it is one project's wiring. */
export function writeOf(draft: AgentDraft, before: AgentDraft): AgentWrite {
  const { trigger, webhook_token, verdicts, tools, ...rest } = draft
  return {
    ...rest,
    name: draft.name.trim(),
    ...(trigger !== before.trigger ? { trigger } : {}),
    ...(webhook_token ? { webhook_token } : {}),
    // A line of a server that it no longer uses says nothing, and one without a tool is not begun.
    tools: tools.filter(({ server, tool }) => tool.trim() !== '' && draft.mcp_servers.includes(server)),
    verdicts: verdicts
      .filter(({ verdict }) => verdict.trim() !== '')
      .map(({ verdict, when }) => ({
        verdict: verdict.trim(),
        ...(when.trim() ? { when: when.trim() } : {}),
      })),
  } as AgentWrite
}
