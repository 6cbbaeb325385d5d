/** What a tool of Ask is: it reads as the caller, or plans a proposal; nothing of it writes. */
import type { AskProposal } from '../../../schemas/types.ts'
import type { ToolSpec } from '../../models/types.ts'
import type { EngineCalls } from '../../roles/calls.ts'
import type { AskCaller, AskPort } from '../types.ts'

/** Reads of the engine that tools make. */
export type AskReads = Pick<
  EngineCalls,
  | 'listSources'
  | 'listTriggers'
  | 'listAgents'
  | 'listMcpServers'
  | 'listSkills'
  | 'listProjects'
  | 'listTemplates'
  | 'listConnectors'
  | 'getSource'
  | 'getTrigger'
  | 'getAgent'
  | 'getMcpServer'
  | 'getProject'
  | 'projectOutline'
  | 'projectId'
  | 'projectFindings'
  | 'detectTemplate'
  | 'sourceFields'
  | 'sourceEvents'
  | 'entities'
  | 'entityValues'
  | 'readFor'
  | 'statsFor'
  | 'inspectFor'
  | 'listFirings'
  | 'getFiring'
  | 'listRuns'
  | 'getRun'
  | 'why'
>

export interface ToolWorld {
  reads: AskReads
  port: Pick<AskPort, 'planProposal'>
  caller: AskCaller
  /** Fences what was recorded. */
  marker: string
  /** Epoch ms. */
  now(): number
}

/** `told` is the whole answer, fenced already; `found` is made into text and fenced. */
export type ToolAnswer = { told: string; isError?: boolean; proposal?: AskProposal } | { found: unknown }

/** @param args hold the schema of the tool */
// biome-ignore lint/suspicious/noExplicitAny: the schema says what they are
export type ToolCallOf = (args: any, world: ToolWorld) => Promise<ToolAnswer>

export interface AskTool {
  spec: ToolSpec
  call: ToolCallOf
  /** A scope more than asking needs. */
  scope?: 'admin'
}
