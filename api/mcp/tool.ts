/** What a tool is: how it is listed, who may call it, and what it does. */
import type { Identity } from '../../schemas/types.ts'
import type { Caller } from './daemon.ts'

/** What a call has to work with. */
export interface Context {
  daemon: Caller
  identity: Identity
  /** Aborted when the client cancels the call or its session ends. */
  signal: AbortSignal
  /** Aborted also when the answer would reach nobody, or no more is waited for: for calls that only wait. */
  waits(): AbortSignal
  /** Name of the client program, as it says. */
  client: string
  /** Address of the console, for links. */
  consoleUrl: string
}

/** What a call answers: `text` for models that read, `content` for programs. */
export interface Answer<R> {
  text: string
  content: R
}

/** Hints of the protocol about what a tool does. */
export interface Hints {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  /** Whether it reaches beyond the instance. */
  openWorldHint: boolean
}

export interface Tool {
  /** schemas/mcp/<name>.json and <name>-result.json are its arguments and result. */
  name: string
  title: string
  description: string
  scope: 'read' | 'ingest' | 'findings' | 'respond' | 'admin'
  /** Whether a project key may call it. */
  ofProject: boolean
  hints: Hints
  /** Scope read may call it with dry_run, which proposes instead of writing. */
  proposes?: true
  /** Other names of arguments that are taken too, each with the name of the schema; not listed. */
  aliases?: Readonly<Record<string, string>>
  /** What to do instead, said where its arguments are refused for what they lack or have too many of. */
  instead?: string
  /** What a long call waits for, as progress says it; the daemon when absent. */
  awaits?: string
  run(args: never, context: Context): Promise<Answer<object>>
}

/** Declares a tool; its arguments have been checked against its schema when it runs. */
export function defineTool<A, R extends object>(
  tool: Omit<Tool, 'run'> & { run(args: A, context: Context): Promise<Answer<R>> },
): Tool {
  return tool as Tool
}

export const READS: Hints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

/** It adds, and takes nothing away. @param more where it differs. */
export const adds = (more: Partial<Hints> = {}): Hints => ({
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
  ...more,
})

/** A call that cannot be done as it was asked; the message says what to do instead. */
export class ToolError extends Error {
  readonly field: string | null
  constructor(message: string, field: string | null = null) {
    super(message)
    this.name = 'ToolError'
    this.field = field
  }
}

/** Whether the credential's scopes allow it. */
export function isAllowed(tool: Pick<Tool, 'scope' | 'ofProject'>, identity: Identity): boolean {
  if (identity.project !== undefined && !tool.ofProject) return false
  return identity.scopes.includes(tool.scope) || identity.scopes.includes('admin')
}

/** Whether the credential may call it with dry_run alone. */
export function onlyProposes(
  tool: Pick<Tool, 'scope' | 'ofProject' | 'proposes'>,
  identity: Identity,
): boolean {
  return tool.proposes === true && !isAllowed(tool, identity) && isAllowed(PROPOSING, identity)
}

/** Who may propose a change. */
const PROPOSING: Pick<Tool, 'scope' | 'ofProject'> = { scope: 'read', ofProject: false }

/** Why not, as a sentence. */
export function whyNot(
  tool: Pick<Tool, 'name' | 'scope' | 'ofProject' | 'proposes'>,
  identity: Identity,
): string {
  if (onlyProposes(tool, identity))
    return `${tool.name} needs the 'admin' scope to write, which this credential (${identity.name}) does not have. Call it again with dry_run: true: that proposes it, and a person approves`
  return identity.project === undefined || tool.ofProject
    ? `${tool.name} needs a credential with the '${tool.scope}' scope; this one (${identity.name}) has ${identity.scopes.join(', ')}. Ask an operator for another key`
    : `${tool.name} is not for project keys: this key only reads project ${identity.project_name ?? identity.project} and records findings in it`
}
