/**
 * Which calls an agent may make of external tools. Assume that the model obeys whatever it reads: what it
 * may do is decided here, by names and arguments alone.
 */
import { compileWhole, patternFault } from '../ingest/pattern.ts'
import type { ExternalTool, ToolPolicy } from './types.ts'

export type Decision = { allowed: true } | { allowed: false; reason: string }

const refused = (reason: string): Decision => ({ allowed: false, reason })

/**
 * Read-only tools may be called unless the agent lists tools of their server: then only the listed ones.
 * Any other only where the agent lists it by name, and each listed pattern matches its argument wholly.
 * @param hasReadOutsideText whether the run has read events, payloads or results: it is told in the
 * reason; a tool that is not listed is refused in either case.
 * @returns the reason for a refusal as a sentence for the model and the run's steps.
 */
export function decide(
  tool: ExternalTool,
  args: Record<string, unknown>,
  policy: readonly ToolPolicy[],
  hasReadOutsideText: boolean,
): Decision {
  if (tool.changed)
    return refused(
      `${tool.name} is not what it was when it was first seen; a person has to approve the change`,
    )
  const ofServer = policy.filter(({ server }) => server === tool.server)
  if (tool.readOnly && ofServer.length === 0) return { allowed: true }
  const rows = ofServer.filter((row) => row.tool === tool.tool || (row.tool === '*' && tool.readOnly))
  if (rows.length === 0) return refused(notListed(tool, hasReadOutsideText))
  const faults = rows.map((row) => argumentFault(tool, args, row))
  if (faults.includes(null)) return { allowed: true }
  return refused(faults[0]!)
}

/** The tools to offer: those that some call may be allowed of. */
export function offered(tools: readonly ExternalTool[], policy: readonly ToolPolicy[]): ExternalTool[] {
  return tools.filter((tool) => {
    const ofServer = policy.filter(({ server }) => server === tool.server)
    const isListed = ofServer.some((row) => row.tool === tool.tool || (row.tool === '*' && tool.readOnly))
    return !tool.changed && (isListed || (tool.readOnly && ofServer.length === 0))
  })
}

function notListed({ name, readOnly }: ExternalTool, hasReadOutsideText: boolean): string {
  if (readOnly) return `${name} is not among the tools this agent lists of its server`
  const because = hasReadOutsideText ? ' and this run has read text from outside' : ''
  return `${name} may change things${because}; this agent's policy does not list it`
}

function argumentFault(tool: ExternalTool, args: Record<string, unknown>, row: ToolPolicy): string | null {
  for (const [name, pattern] of Object.entries(row.arguments ?? {})) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined
    if (value === undefined) return `${tool.name} needs the argument ${name}: this agent's policy limits it`
    if (!holds(pattern, textOf(value)))
      return `${tool.name}: the argument ${name} is not one that this agent's policy allows (${pattern})`
  }
  return null
}

/** A pattern that no longer compiles allows nothing. */
function holds(pattern: string, text: string): boolean {
  return patternFault(pattern, '') === null && compileWhole(pattern)(text)
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
