/** The tools of Ask: which ones a turn is offered, and how one is called. */
import { check } from '../../../schemas/index.ts'
import { askToolSchemas } from '../../../schemas/tools.ts'
import type { AskProposal } from '../../../schemas/types.ts'
import { SvcError } from '../../errors.ts'
import type { ToolCall } from '../models/types.ts'
import { fence } from '../runs/prompt.ts'
import type { AskMode, BuildStep, Draft } from './calls.ts'
import type { AskTool, ToolCallOf, ToolWorld } from './tool-calls.ts'
import * as declared from './tool-calls.ts'
import * as recorded from './tool-calls.ts'

/** Characters of one answer. */
const RESULT_MAX = 20_000

function tool(name: string, call: ToolCallOf, scope?: 'admin'): AskTool {
  const { description, ...input } = askToolSchemas[name]!
  return { spec: { name, description, input }, call, ...(scope ? { scope } : {}) }
}

const READING: readonly AskTool[] = [
  tool('list_sources', declared.listSources),
  tool('list_connectors', declared.listConnectors),
  tool('catalog', declared.catalog),
  tool('describe', declared.describe),
  tool('source_fields', recorded.sourceFields),
  tool('entities', recorded.entities),
  tool('recent_events', recorded.recentEvents),
  tool('list_templates', declared.listTemplates),
  tool('list_projects', declared.listProjects),
  tool('detect_template', declared.detectTemplate, 'admin'),
  tool('read', recorded.read),
  tool('stats', recorded.stats),
  ...['changed', 'series', 'trace', 'event', 'document', 'labels'].map((name) =>
    tool(name, recorded.looking(name)),
  ),
  tool('findings', recorded.findings),
  tool('firings', recorded.firings),
  tool('runs', recorded.runs),
  tool('why', recorded.why),
]

const proposing = (kind: Draft['kind']): AskTool =>
  tool(`propose_${kind}`, async (args, { port, caller }) => {
    const proposal = await port.planProposal({ kind, args }, { id: caller.id, name: caller.name })
    const open = proposal.needs.length ? `, once ${proposal.needs.join(', ')} is typed` : ''
    return {
      told: `The card is shown${open}; nothing has changed yet. Do not repeat in your text what is on it.`,
      proposal,
    }
  })

const PROPOSING: Record<BuildStep | 'ask', readonly AskTool[]> = {
  ask: [proposing('labels'), proposing('trigger')],
  sources: [proposing('source'), proposing('project')],
  watch: [proposing('labels'), proposing('trigger')],
  agent: [proposing('agent')],
}

/** @param step null in mode ask */
export const toolsOf = (mode: AskMode, step: BuildStep | null): readonly AskTool[] => [
  ...READING,
  ...PROPOSING[mode === 'build' && step ? step : 'ask'],
]

export interface Called {
  text: string
  isError: boolean
  proposal?: AskProposal
}

/** Calls a tool as the caller of the turn. Faults of arguments and refusals are answers to the model. */
export async function callTool(
  { spec, call, scope }: AskTool,
  { arguments: args }: ToolCall,
  world: ToolWorld,
): Promise<Called> {
  if (scope && !world.caller.scopes.includes(scope))
    return failed(`this credential lacks the '${scope}' scope`)
  const fault = check(`ask-call-${spec.name.replaceAll('_', '-')}.json`, args)
  if (fault) return failed(fault)
  try {
    const answer = await call(args, world)
    if ('found' in answer) return { text: fence(world.marker, cutJson(answer.found)), isError: false }
    const { told, isError = false, proposal } = answer
    return { text: told, isError, ...(proposal ? { proposal } : {}) }
  } catch (error) {
    if (!(error instanceof SvcError) || error.code === 'internal' || error.code === 'unavailable') throw error
    // Names of fields and labels are in it, which others chose.
    return failed(fence(world.marker, error.message))
  }
}

const failed = (text: string): Called => ({ text: `tool error: ${text}`, isError: true })

function cutJson(value: unknown): string {
  const text = JSON.stringify(value)
  const left = text.length - RESULT_MAX
  return left > 0 ? `${text.slice(0, RESULT_MAX)}\n… ${left} more characters: ask for less at a time` : text
}
