/**
 * One call of a tool: known, allowed, arguments checked, run, presented. What an agent can mend comes
 * back as a result with isError; only a tool that does not exist is an error of the protocol.
 */
import { ownField } from '../../schemas/fields-of.ts'
import { check } from '../../schemas/index.ts'
import { escapeText } from '../../schemas/plain-text.ts'
import { toolSchema } from '../../schemas/tools.ts'
import { DaemonError } from './daemon.ts'
import { shownSchema, taken } from './forms.ts'
import { linkTo } from './links.ts'
import { type Context, isAllowed, onlyProposes, type Tool, ToolError, whyNot } from './tool.ts'
import { tools } from './tools/index.ts'
import { bounded } from './words.ts'

/** A result as the protocol has it. */
export interface CallResult {
  [key: string]: unknown
  content: { type: 'text'; text: string }[]
  structuredContent?: Record<string, unknown>
  isError?: boolean
  _meta?: Record<string, unknown>
}

const ONLY_PROPOSES = 'With this credential only with dry_run: true, which proposes it to a person. '

/**
 * A tool as it is listed: what a model needs to call it. What it answers is asked for where it is wanted
 * (svc://tool/{name}): the schemas of answers were half of what the list took of every context.
 * @param identity to whom; null: not known yet
 */
export const listed = (tool: Tool, identity: Context['identity'] | null = null) => {
  const { name, title, description, hints } = tool
  return {
    name,
    title,
    description: identity && onlyProposes(tool, identity) ? ONLY_PROPOSES + description : description,
    inputSchema: inputOf(name),
    annotations: hintsOf(hints),
  }
}

const inputs = new Map<string, { type: 'object' }>()

function inputOf(name: string): { type: 'object' } {
  const known = inputs.get(name)
  if (known) return known
  const made = shownSchema({ ...toolSchema(name).input }) as { type: 'object' }
  inputs.set(name, made)
  return made
}

/**
 * Without what only says that nothing is written again, and without what is the default (2025-11-25, ToolAnnotations:
 * both are meaningful where a tool writes; idempotentHint is false where it is not given).
 */
const hintsOf = ({ readOnlyHint, openWorldHint, destructiveHint, idempotentHint }: Tool['hints']) =>
  readOnlyHint
    ? { readOnlyHint, openWorldHint }
    : { readOnlyHint, destructiveHint, ...(idempotentHint ? { idempotentHint } : {}), openWorldHint }

/**
 * The tools a credential may call, in a way at least. @param identity null: not known yet, so all
 * @param offered those that this process offers
 */
export const toolsFor = (identity: Context['identity'] | null, offered: readonly Tool[] = tools): Tool[] =>
  offered.filter((tool) => identity === null || isAllowed(tool, identity) || onlyProposes(tool, identity))

/**
 * Calls a tool. @param identity who calls; a promise, so that a daemon that is away is told like any
 * other failure of the call.
 */
export async function callTool(
  tool: Tool,
  given: Record<string, unknown>,
  identify: () => Promise<Context['identity']>,
  context: Omit<Context, 'identity'>,
): Promise<CallResult> {
  try {
    const args = taken({ ...toolSchema(tool.name).input }, renamed(given, tool.aliases))
    const identity = await identify()
    if (!isAllowed(tool, identity) && !(onlyProposes(tool, identity) && args.dry_run === true))
      return failed(whyNot(tool, identity), { status: 403 })
    const fault = check(`mcp-call-${tool.name.replaceAll('_', '-')}.json`, args)
    if (fault !== null) {
      const told = NAMES.test(fault)
        ? [fault.replaceAll(FIELDS, ''), takes(tool.name), ...(tool.instead ? [tool.instead] : [])].join('. ')
        : fault
      return failed(told, { status: 400, ...fieldOf(fault, tool.name) })
    }
    const { text, content } = await tool.run(args as never, { ...context, identity })
    const answered = content as Record<string, unknown>
    const url = linkTo(context.consoleUrl, tool.name, { args, content: answered })
    return {
      // A text of its own: what a tool says stays as it is.
      content: [text, ...(url === null ? [] : [`In the console: ${url}`])].map((one) => ({
        type: 'text',
        text: escapeText(one),
      })),
      structuredContent: url === null ? answered : { ...answered, url },
    }
  } catch (error) {
    if (error instanceof ToolError)
      return failed(error.message, { status: 400, ...(error.field ? { field: error.field } : {}) })
    if (error instanceof DaemonError) return failed(explain(error), metaOf(error))
    throw error
  }
}

/** Faults that are mended by knowing which arguments there are. */
const NAMES = /is not a known field|is required/
/** The same list as in what a tool takes. */
const FIELDS = / \(fields: [^)]*\)/g

/** The argument that a fault is about: its sentence begins with it. */
function fieldOf(fault: string, tool: string): { field?: string } {
  const field = /^[\w.]+/.exec(fault)?.[0] ?? ''
  const { properties = {} } = toolSchema(tool).input as { properties?: Record<string, unknown> }
  return Object.hasOwn(properties, field.split('.')[0]!) ? { field } : {}
}

/** What a tool can be given, for who guessed: the names, those that must be there first. */
function takes(name: string): string {
  const { properties = {}, required = [] } = toolSchema(name).input as {
    properties?: Record<string, unknown>
    required?: string[]
  }
  const others = Object.keys(properties).filter((one) => !required.includes(one))
  const told = [required.join(', '), others.length ? `optional ${others.join(', ')}` : ''].filter(Boolean)
  // Many give a label as an argument of its own.
  const labels = Object.hasOwn(properties, 'selector')
    ? '. Labels go into selector, such as {"service": "checkout"}'
    : ''
  return `${name} takes ${told.join('; ') || 'no arguments'}${labels}`
}

/** The arguments by the names of the schema; where both names are given, the alias is an unknown field. */
function renamed(given: Record<string, unknown>, aliases: Tool['aliases'] = {}): Record<string, unknown> {
  const nameOf = (name: string) => {
    const to = ownField(aliases, name) ?? name
    return Object.hasOwn(given, to) ? name : to
  }
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [nameOf(name), value]))
}

/** Where a program finds what the text of a failure says. */
const ERROR_META = 'svc/error'

function failed(message: string, meta: Record<string, unknown>): CallResult {
  return {
    content: [{ type: 'text', text: escapeText(bounded(message)) }],
    isError: true,
    _meta: { [ERROR_META]: meta },
  }
}

const metaOf = ({ status, retryAfter }: DaemonError): Record<string, unknown> => ({
  ...(status === null ? {} : { status }),
  retryable: retryAfter !== null,
  ...(retryAfter === null ? {} : { retry_after_seconds: retryAfter }),
})

/** The daemon's sentence, with what to do about it. */
export function explain({ message, status, retryAfter, hasCredential }: DaemonError): string {
  if (retryAfter !== null) return `${message}. Call again in ${retryAfter} seconds`
  // Over HTTP a request without one gets no further than the door: this is a process that was given none.
  if (status === 401 && !hasCredential)
    return `the daemon is secured, and no credential was sent (${message}); an operator must set SVC_AUTH_TOKEN to an API key where this client starts svc mcp, or run svc login there`
  if (status === 401)
    return `the daemon does not know this credential (${message}); an operator must put a valid API key where this client is configured`
  if (status === 403) return `${message}. Ask an operator for a key that may`
  return message
}
