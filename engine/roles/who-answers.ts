/**
 * Which role answers the calls that the network role makes by name, beside operations, which say it themselves:
 * those of routes made by hand, and of what works there. What writes goes to the writer, what reads to the reader,
 * and what may take long to read to the role of wide reads.
 */
import type { CatalogImported, InspectResult } from '../../schemas/types.ts'
import { askPortAccess } from '../agents/ask/calls.ts'
import type { AskReads } from '../agents/ask/tool-calls.ts'
import { modelPortAccess } from '../agents/models/calls.ts'
import type { RunPort } from '../agents/runs/types.ts'
import { tracingPortAccess } from '../agents/telemetry/tracing-settings.ts'
import type { Access, Asked } from '../calls.ts'
import { credentialPortAccess } from '../declared/credential-calls.ts'
import { planningPortNames } from '../declared/setup/drafts.ts'
import { PLAN_ADVICE } from '../operations/input.ts'
import type { FetchPort } from '../outbox/fetching.ts'
import type { FindingPort, OutboxCalls } from '../outbox/queue.ts'
import { syncPortAccess } from '../reconcile/port.ts'
import { slackPortAccess } from '../slack/calls.ts'
import type { ActCalls } from '../slack/requests.ts'
import { pollPortNames, trialPortNames } from '../sources/poller.ts'
import type { EngineCalls, EnginePorts } from './calls.ts'

/** Names of the calls with one of these accesses. */
function callsThat<K extends string>(calls: Readonly<Record<K, Access>>, ...access: Access[]): K[] {
  return (Object.keys(calls) as K[]).filter((name) => access.includes(calls[name]))
}

/** Of routes made by hand, and of who is calling. */
const ofDoors = {
  remember: 'writes',
  makeFirstSource: 'writes',
  createKey: 'writes',
  touchKeys: 'writes',
  // After each write of keys and sources; at the start the writer has it at hand (threads/start.ts).
  directory: 'reads',
  revokedKey: 'reads',
  // Those that are too old go with it.
  loadSessions: 'writes',
  saveSessions: 'writes',
  dropSession: 'writes',
  registerOauthClient: 'writes',
  keepOauthClient: 'writes',
  findOauthClient: 'reads',
  openOauthGrant: 'writes',
  refreshOauthTokens: 'writes',
  endOauthToken: 'writes',
  endOauthGrant: 'writes',
  touchOauthGrants: 'writes',
  status: 'reads',
} as const satisfies Partial<Record<keyof EngineCalls, Access>>

/** Of operations that run there. */
const ofOperations = {
  projectCard: 'reads',
  listModelProviders: 'reads',
  removeModelProvider: 'writes',
  handInEvalReport: 'writes',
  cancelRun: 'writes',
  recordFinding: 'writes',
} as const satisfies Partial<Record<keyof EngineCalls, Access>>

const ofAsk: Record<keyof AskReads, 'reads'> = {
  listSources: 'reads',
  listTriggers: 'reads',
  listAgents: 'reads',
  listMcpServers: 'reads',
  listSkills: 'reads',
  listProjects: 'reads',
  listTemplates: 'reads',
  listConnectors: 'reads',
  getSource: 'reads',
  getTrigger: 'reads',
  getAgent: 'reads',
  getMcpServer: 'reads',
  getProject: 'reads',
  projectOutline: 'reads',
  projectId: 'reads',
  allFindings: 'reads',
  detectTemplate: 'reads',
  sourceFields: 'reads',
  sourceEvents: 'reads',
  entities: 'reads',
  entityValues: 'reads',
  readFor: 'reads',
  statsFor: 'reads',
  inspectFor: 'reads',
  listFirings: 'reads',
  getFiring: 'reads',
  listRuns: 'reads',
  getRun: 'reads',
  why: 'reads',
}

const ofRuns: Record<keyof RunPort, Access> = {
  claimRuns: 'writes',
  recordSteps: 'writes',
  beginCall: 'writes',
  parkRun: 'writes',
  finishRun: 'writes',
  rememberFor: 'writes',
  readFor: 'reads',
  briefFor: 'reads',
  statsFor: 'reads',
  inspectFor: 'reads',
  eventsOf: 'reads',
  skillOf: 'reads',
}

/** Of the worker that sends, and of who waits for a firing to fetch. */
const ofOutbox: Record<keyof OutboxCalls | keyof FetchPort, Access> = {
  claimDeliveries: 'writes',
  settleDelivery: 'writes',
  // One row by index, between two claims.
  nextDelivery: 'writes',
  claimFiring: 'writes',
  releaseFiring: 'writes',
  deliveryMessage: 'reads',
}

/** Of what else works there: external tools, setup, traces. */
const ofOthers = {
  mcpServersToConnect: 'reads',
  mcpServerToTry: 'reads',
  seenMcpTools: 'writes',
  listMcpTools: 'reads',
  recordModelUsage: 'writes',
  event: 'reads',
  firingEvents: 'reads',
  catalogSync: 'reads',
  adoptionState: 'reads',
} as const satisfies Partial<Record<keyof EngineCalls, Access>>

/** Of buttons in Slack. */
const ofSlackActs: Record<keyof ActCalls, 'writes'> = {
  actOnIncident: 'writes',
  rerun: 'writes',
  approveProposal: 'writes',
  declineProposal: 'writes',
}

const calls = { ...ofSlackActs, ...ofDoors, ...ofOperations, ...ofAsk, ...ofRuns, ...ofOutbox, ...ofOthers }

/** Names of the calls that are passed on. */
export type PassedOn = keyof typeof calls | 'inspect' | 'importCatalog' | 'planCommit' | 'adoptCommit'

/** Of findings to be sent: read where credentials are open, and the rows that say what is there are written. */
const ofFindings: Record<keyof FindingPort, Access> = {
  findingToSend: 'writes',
  noteDelivery: 'writes',
  placeInSlack: 'writes',
  placedInSlack: 'writes',
}

/** What the network role needs beside them, and no door: credentials are in it. */
const ports = {
  ...modelPortAccess,
  ...credentialPortAccess,
  ...askPortAccess,
  ...tracingPortAccess,
  ...ofFindings,
  ...slackPortAccess,
  ...syncPortAccess,
} satisfies Partial<Record<keyof EnginePorts, Access>>

/** Where calls are answered: by a function here, or by a message to a thread. */
export interface Answering {
  writer(method: string, args: unknown[]): Promise<unknown>
  /** From an index, a page of rows, or what is declared. */
  short(method: string, args: unknown[]): Promise<unknown>
  wide(method: string, args: unknown[], how: { asked?: Asked; advice?: string }): Promise<unknown>
}

type Answer = (name: string, args: unknown[]) => Promise<unknown>

/** Functions that pass on what they are called with. What they answer is what the role of their names says. */
const passing = <T>(names: readonly (keyof T & string)[], answer: Answer): T =>
  Object.fromEntries(names.map((name) => [name, (...args: unknown[]) => answer(name, args)])) as T

/** Each call handed to the role that answers it. @returns those of the engine, and those that no door has */
export function callsOver({ writer, short, wide }: Answering): {
  calls: Pick<EngineCalls, PassedOn>
  ports: EnginePorts
} {
  return {
    calls: {
      ...passing<Pick<EngineCalls, keyof typeof calls>>(callsThat(calls, 'writes'), writer),
      ...passing<Pick<EngineCalls, keyof typeof calls>>(callsThat(calls, 'reads'), short),
      // Of one argument, after which comes who asks.
      inspect: async (request, asked) => (await wide('inspect', [request], { asked })) as InspectResult,
      planCommit: async (asked) =>
        (await wide('planCommit', [asked], { advice: PLAN_ADVICE })) as Awaited<
          ReturnType<EngineCalls['planCommit']>
        >,
      adoptCommit: async (asked) =>
        (await wide('adoptCommit', [asked], { advice: PLAN_ADVICE })) as Awaited<
          ReturnType<EngineCalls['adoptCommit']>
        >,
      importCatalog: async (body, by) => {
        const how = { asked: { by: by.caller.id }, advice: PLAN_ADVICE }
        if (body.dry_run) return (await wide('importCatalog', [body, by], how)) as CatalogImported
        // A text of megabytes is parsed beside the writer too.
        const read = await wide('readCatalogFile', [body], how)
        return (await writer('importCatalog', [body, by, read])) as CatalogImported
      },
    },
    ports: {
      ...passing<EnginePorts>(callsThat(ports, 'writes'), writer),
      ...passing<EnginePorts>([...planningPortNames, ...pollPortNames], writer),
      ...passing<EnginePorts>([...callsThat(ports, 'reads'), ...trialPortNames], short),
    },
  }
}
