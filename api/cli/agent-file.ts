/**
 * An agent from a file: a definition on its own, or one of the agents of a catalog file. The prompt, the
 * provider and the model can be tried; that others differ from those saved is said.
 */
import type { Agent, AgentTestStart } from '../../schemas/types.ts'
import { CliError, EXIT } from './exit.ts'
import { escapeLine, type Io } from './terminal.ts'
import { type Fields, readDefinition } from './yaml-file.ts'

/** Other fields on which it depends what a run comes to. */
const ALSO = [
  'verdicts',
  'mcp_servers',
  'tools',
  'max_rounds',
  'context',
  'run_budget_usd',
  'remembers',
  'concludes',
] as const

/**
 * @param saved reads the saved agent, as JSON text
 * @param env environment that a catalog is read with
 * @throws CliError 65 for a file without the agent, or without a prompt
 */
export async function agentOfFile(
  io: Io,
  file: string,
  name: string,
  saved: () => Promise<string>,
  env?: string,
): Promise<Required<AgentTestStart>> {
  const agent = await readDefinition(io, file, 'agents', 'agent', name, env)
  if (agent.name !== undefined && agent.name !== name)
    throw new CliError(
      `${file} has agent ${escapeLine(String(agent.name))}, and not ${escapeLine(name)}`,
      EXIT.data,
    )
  if (typeof agent.prompt !== 'string')
    throw new CliError(`${file} has no prompt of ${escapeLine(name)}`, EXIT.data)
  const other = otherFields(agent, JSON.parse(await saved()) as Agent)
  if (other.length)
    io.err(`tested as saved, though ${file} has something else: ${escapeLine(other.join(', '))}\n`)
  // What the file does not name is by default once it is applied.
  return { prompt: agent.prompt, provider: textOf(agent.provider), model: textOf(agent.model) }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function otherFields(agent: Fields, saved: Agent): string[] {
  return ALSO.filter((field) => canonical(field, agent[field]) !== canonical(field, saved[field]))
}

/** Empty, false, the brief and absent are the same; a verdict may be a word alone. */
function canonical(field: string, value: unknown): string {
  if (field === 'context' && value === 'brief') return ''
  if (value === undefined || value === null || value === false) return ''
  if (!Array.isArray(value)) return JSON.stringify(value)
  return value.length === 0 ? '' : value.map(entryOf).join()
}

function entryOf(entry: unknown): string {
  const fields = typeof entry === 'string' ? { verdict: entry } : (entry as Fields)
  return JSON.stringify(
    Object.entries(fields)
      .filter(([, value]) => value !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}
