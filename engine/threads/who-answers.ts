/**
 * Which thread answers which call: what writes goes to the writer, what reads to the reader, and what may take
 * long to read to the thread of wide reads.
 */
import { type Access, callsThat } from '../access.ts'
import { agentTestReadNames, agentTestWriteNames } from '../agent-tests/calls.ts'
import { askPortAccess, askSessionAccess } from '../ask/calls.ts'
import { credentialAccess, credentialPortAccess } from '../credentials/calls.ts'
import { declaredAccess } from '../declared/call-names.ts'
import type { Asked } from '../engine.ts'
import { evalReportAccess } from '../evals/reports.ts'
import { graphAccess } from '../graph/call-names.ts'
import { mcpToolAccess } from '../mcp-tools/call-names.ts'
import { modelAccess, modelPortAccess, modelReadNames } from '../models/calls.ts'
import { findingPortNames, outboxWriteNames } from '../outbox/calls.ts'
import { fetchWriteNames } from '../outbox/fetching.ts'
import { trialPortNames } from '../polling/trials.ts'
import { pollPortNames } from '../polling/types.ts'
import { proposalAccess } from '../proposals/proposals.ts'
import { runAccess, runReadNames } from '../runs/calls.ts'
import { setupAccess } from '../setup/calls.ts'
import { planningPortNames } from '../setup/planning/port.ts'
import { slackAccessOf } from '../slack/calls.ts'
import { tracingPortAccess } from '../tracing/calls.ts'
import { triggerReadNames, triggerWriteNames } from '../triggers/calls.ts'

const core = {
  remember: 'writes',
  makeFirstSource: 'writes',
  listConnectors: 'reads',
  previewLabel: 'reads',
  sourceEvents: 'reads',
  sourceFields: 'reads',
  listKeys: 'reads',
  createKey: 'writes',
  revokeKey: 'writes',
  touchKeys: 'writes',
  // After each write of keys and sources; at the start the writer has it at hand (start.ts).
  directory: 'reads',
  // Those that are too old go with it.
  loadSessions: 'writes',
  saveSessions: 'writes',
  dropSession: 'writes',
  usage: 'reads',
  status: 'reads',
} as const satisfies Record<string, Access>

/** Calls of the engine. */
const calls: Readonly<Record<string, Access>> = {
  ...core,
  ...declaredAccess,
  ...proposalAccess,
  ...setupAccess,
  ...mcpToolAccess,
  ...runAccess,
  ...graphAccess,
  ...modelAccess,
  ...credentialAccess,
  ...askSessionAccess,
  ...evalReportAccess,
}
/** What the main thread needs beside them, and no door: credentials are in it. */
const ports: Readonly<Record<string, Access>> = {
  ...modelPortAccess,
  ...credentialPortAccess,
  ...askPortAccess,
  ...tracingPortAccess,
  ...slackAccessOf,
  declaredGraph: 'reads',
}

/** What is read of what is declared and set: opened once for all of these. */
export const READS: readonly string[] = [
  ...[calls, ports].flatMap((table) => callsThat(table, 'reads', 'plans')),
  ...trialPortNames,
]

/** How a wide read is called. */
interface Wide {
  /** With how many of its arguments the thread is called: after them comes who asks. */
  args: number
  /** How one that takes too long is made smaller. */
  advice?: string
}

const IN_PAGES = 'make it with svc evals new, which reads in pages'
const CATALOG = 'compare fewer objects at once'

/** Those that may look at very many events, or at all that is declared. */
const WIDE: Readonly<Record<string, Wide>> = {
  stats: { args: 1 },
  histogram: { args: 1 },
  inspect: { args: 1 },
  backtest: { args: 1 },
  replay: { args: 2 },
  previewScenario: { args: 2, advice: IN_PAGES },
  scenarioOfRun: { args: 2, advice: IN_PAGES },
  checkCatalog: { args: 2, advice: CATALOG },
  exportCatalog: { args: 2, advice: CATALOG },
  updateCatalogFile: { args: 1, advice: CATALOG },
  catalogDrift: { args: 0, advice: CATALOG },
  readCatalogFile: { args: 1, advice: CATALOG },
}

/** Whether a call that may only plan does, from its arguments; it then reads, and is wide. */
const PLANS: Readonly<Record<string, (...args: never[]) => boolean>> = {
  applyChangeSet: (body: { dry_run?: boolean }) => body.dry_run ?? false,
  importCatalog: (body: { dry_run?: boolean }) => body.dry_run ?? false,
  undoChangeSet: (_id: number, dryRun: boolean) => dryRun,
  rollBack: (_id: number, { dryRun }: { dryRun: boolean }) => dryRun,
  previewDraft: () => true,
}

/** The last argument says who writes. */
const askedBy = (args: readonly unknown[]): Asked => ({
  by: (args.at(-1) as { caller: { id: string } }).caller.id,
})

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
  const asWide = (name: string, args: unknown[]) => {
    const { args: n, advice } = WIDE[name]!
    return wide(name, args.slice(0, n), { asked: args[n] as Asked | undefined, advice })
  }
  const mayPlan = async (name: string, args: unknown[]) => {
    const how = { asked: askedBy(args), advice: CATALOG }
    if (PLANS[name]!(...(args as never[]))) return wide(name, args, how)
    if (name !== 'importCatalog') return writer(name, args)
    // A text of megabytes is parsed beside the writer too.
    const [body, by] = args
    return writer(name, [body, by, await wide('readCatalogFile', [body], how)])
  }
  return {
    calls: {
      ...each(callsThat(calls, 'writes'), writer),
      ...each(
        [...triggerWriteNames, ...outboxWriteNames, ...fetchWriteNames, ...agentTestWriteNames],
        writer,
      ),
      ...each(callsThat(calls, 'reads'), short),
      ...each(['entities', 'entityValues', 'event'], short),
      ...each([...triggerReadNames, ...runReadNames, ...agentTestReadNames, ...modelReadNames], short),
      ...each(Object.keys(WIDE), asWide),
      ...each(Object.keys(PLANS), mayPlan),
    },
    ports: {
      ...each(callsThat(ports, 'writes'), writer),
      ...each([...findingPortNames, ...planningPortNames, ...pollPortNames], writer),
      ...each([...callsThat(ports, 'reads'), ...trialPortNames, 'fillGraph'], short),
    },
  }
}
