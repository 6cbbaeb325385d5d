/**
 * Which thread answers the calls that the network thread makes by name, beside operations, which say it
 * themselves: those of routes made by hand, and of what works there. What writes goes to the writer, what reads
 * to the reader, and what may take long to read to the thread of wide reads.
 */

import type { CatalogImport, CatalogImported } from '../../schemas/types.ts'
import { type Access, callsThat } from '../access.ts'
import { askPortAccess } from '../ask/calls.ts'
import type { AskReads } from '../ask/tools/tool.ts'
import { credentialPortAccess } from '../credentials/calls.ts'
import type { WriteBy } from '../declared/write.ts'
import { fetchWriteNames } from '../deliveries/fetching.ts'
import type { Asked } from '../engine.ts'
import { modelPortAccess } from '../models/calls.ts'
import { PLAN_ADVICE } from '../operations/words.ts'
import { trialPortNames } from '../polling/trials.ts'
import { pollPortNames } from '../polling/types.ts'
import type { RunPort } from '../runs/types.ts'
import type { WriteBackPort } from '../runs/write-backs.ts'
import { planningPortNames } from '../setup/planning/port.ts'
import { slackAccessOf } from '../slack/calls.ts'
import { slackPostNames } from '../slack/posts.ts'
import { tracingPortAccess } from '../tracing/calls.ts'
import { triggerReadNames, triggerWriteNames } from '../triggers/calls.ts'
import type { EngineCalls } from '../whole-engine.ts'

/** Of routes made by hand, and of who is calling. */
const ofDoors = {
  remember: 'writes',
  makeFirstSource: 'writes',
  createKey: 'writes',
  touchKeys: 'writes',
  // After each write of keys and sources; at the start the writer has it at hand (start.ts).
  directory: 'reads',
  // Those that are too old go with it.
  loadSessions: 'writes',
  saveSessions: 'writes',
  dropSession: 'writes',
  status: 'reads',
} as const satisfies Partial<Record<keyof EngineCalls, Access>>

/** Of operations that run there. */
const ofOperations = {
  projectCard: 'reads',
  listModelProviders: 'reads',
  removeModelProvider: 'writes',
  handInEvalReport: 'writes',
  cancelRun: 'writes',
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
  projectFindings: 'reads',
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

const ofRuns: Record<keyof RunPort | keyof WriteBackPort, Access> = {
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
  dueWriteBacks: 'writes',
  settleWriteBack: 'writes',
  nextWriteBack: 'writes',
}

/** Of what else works there: external tools, setup, traces. */
const ofOthers = {
  mcpServersToConnect: 'reads',
  mcpServerToTry: 'reads',
  seenMcpTools: 'writes',
  listMcpTools: 'reads',
  recordModelUsage: 'writes',
  event: 'reads',
} as const satisfies Partial<Record<keyof EngineCalls, Access>>

const calls = { ...ofDoors, ...ofOperations, ...ofAsk, ...ofRuns, ...ofOthers }

/** Names of the calls that are passed on. */
export type PassedOn =
  | keyof typeof calls
  | (typeof triggerReadNames)[number]
  | (typeof triggerWriteNames)[number]
  | (typeof fetchWriteNames)[number]
  | 'inspect'
  | 'importCatalog'

/** What the network thread needs beside them, and no door: credentials are in it. */
const ports: Readonly<Record<string, Access>> = {
  ...modelPortAccess,
  ...credentialPortAccess,
  ...askPortAccess,
  ...tracingPortAccess,
  ...slackAccessOf,
}

type Call = (...args: never[]) => Promise<unknown>

/** Where calls are answered. */
export interface Answering {
  writer(method: string, args: unknown[]): Promise<unknown>
  /** From an index, a page of rows, or what is declared. */
  short(method: string, args: unknown[]): Promise<unknown>
  wide(method: string, args: unknown[], how: { asked?: Asked; advice?: string }): Promise<unknown>
}

/** Each call handed to the thread that answers it. @returns those of the engine, and the others */
export function callsOver({ writer, short, wide }: Answering) {
  const each = (names: readonly string[], answer: (name: string, args: unknown[]) => Promise<unknown>) =>
    Object.fromEntries(
      names.map((name): [string, Call] => [name, (...args) => answer(name, args)]),
    ) as Record<string, Call>
  /** Of one argument, after which comes who asks. */
  const asWide = (name: string, [body, asked]: unknown[]) => wide(name, [body], { asked: asked as Asked })
  return {
    calls: {
      ...each(callsThat(calls, 'writes'), writer),
      ...each([...triggerWriteNames, ...fetchWriteNames], writer),
      ...each([...callsThat(calls, 'reads'), ...triggerReadNames], short),
      ...each(['inspect', 'backtest'], asWide),
      importCatalog: async (body: CatalogImport, by: WriteBy) => {
        const how = { asked: { by: by.caller.id }, advice: PLAN_ADVICE }
        if (body.dry_run) return (await wide('importCatalog', [body, by], how)) as CatalogImported
        // A text of megabytes is parsed beside the writer too.
        const read = await wide('readCatalogFile', [body], how)
        return (await writer('importCatalog', [body, by, read])) as CatalogImported
      },
    },
    ports: {
      ...each(callsThat(ports, 'writes'), writer),
      ...each([...slackPostNames, ...planningPortNames, ...pollPortNames], writer),
      ...each([...callsThat(ports, 'reads'), ...trialPortNames], short),
    },
  }
}
