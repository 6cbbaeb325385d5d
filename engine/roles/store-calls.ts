/**
 * The calls that every role of the store answers, made once: the writer has them with all that writing does, a
 * reader on snapshots of a connection that cannot write, where those that would write fail.
 */

import { askQueries } from '../ask/queries.ts'
import { createSessions } from '../ask/sessions.ts'
import type { BootCatalog } from '../catalog/boot.ts'
import type { Clock } from '../clock.ts'
import { describeConnectors } from '../connectors/index.ts'
import { credentialWrites } from '../credentials/open.ts'
import { tokenFor } from '../credentials/types.ts'
import { type CallsParts, declaredCalls } from '../declared/calls.ts'
import { demoReads } from '../demo/calls.ts'
import { createEvalReports } from '../evals/reports.ts'
import type { Figures } from '../figures.ts'
import type { FindingsParts } from '../findings/findings.ts'
import { graphCalls } from '../graph/calls.ts'
import { statusOf, type UsageParts, usageOf } from '../instance.ts'
import { mcpToolWrites } from '../mcp-tools/calls.ts'
import { Pins } from '../mcp-tools/pins.ts'
import type { TrialPort } from '../polling/trials.ts'
import { proposalCalls } from '../proposals/proposals.ts'
import { newestOf } from '../recent.ts'
import { runWrites } from '../runs/calls.ts'
import type { Making } from '../runs/making.ts'
import type { SealedSecrets } from '../sealed-secrets.ts'
import { setupReads } from '../setup/calls.ts'
import { slackWrites } from '../slack/calls.ts'
import type { Snapshot } from '../snapshot.ts'
import { tracingPort } from '../tracing/calls.ts'
import type { Held } from './held.ts'
import type { RunNeeds } from './needs.ts'

export interface StoreCallsParts extends Pick<CallsParts, 'http' | 'startRun'> {
  held: Held
  clock: Clock
  view: Snapshot
  figures: Figures
  /** As the writer holds it, or as a reader finds it. */
  storage: UsageParts['storage']
  sealed: SealedSecrets
  boot: BootCatalog
  findings: FindingsParts
  runs: RunNeeds
  making: Making
  remember: Parameters<typeof runWrites>[0]['remember']
  /** A credential was stored or changed: sources are due that were not. */
  onCredentials(): void
}

/** Of what is declared and set, on what the role holds. */
export function storeCalls(parts: StoreCallsParts) {
  const { held, clock, view, findings, making, remember } = parts
  const { ctx, declared, keys, sources, credentials, stored, catalog, positions } = held
  const { store } = declared
  const newest = (name: string, limit: number) => newestOf(ctx, sources, name, limit, clock.now())
  const { enter: _ofTurns, ...sessions } = createSessions(store, clock, askQueries(store.db))
  const tried: TrialPort = {
    configToTest: async (body) => sources.test(body),
    configToDiscover: async (body) => sources.discover(body),
  }
  return {
    ...declaredCalls({
      ...{ declared, findings, catalog, newest, http: parts.http, startRun: parts.startRun },
      agentModels: stored.ofAgents,
    }),
    ...proposalCalls(declared),
    ...setupReads(declared),
    ...runWrites({ ...parts.runs, making, remember }),
    ...mcpToolWrites({
      pins: new Pins(store, clock),
      find: (server) => declared.kinds.mcp_server.find(server),
      resolveWith: { env: declared.env, credential: (name) => tokenFor(credentials, name) },
    }),
    ...stored.calls,
    ...credentialWrites({ credentials, declared, onChanged: parts.onCredentials }),
    ...createEvalReports(store, clock),
    ...demoReads(declared),
    ...sessions,
    ...tracingPort(held.tracing),
    ...slackWrites(held.slack),
    ...graphCalls({ declared, positions, ctx, catalog, snapshot: view, boot: parts.boot }),
    ...tried,
    ...instanceCalls(parts),
    previewLabel: async (body: Parameters<typeof sources.previewLabel>[0]) => sources.previewLabel(body),
    sourceFields: async (name: string, limit: number) => sources.fields(name, limit),
    sourceEvents: async (name: string, limit: number) => newest(name, limit),
    listKeys: async () => keys.list(),
    directory: async () => ({ routes: sources.routes(), keys: keys.records() }),
  }
}

/** The instance in figures, and what it is able to read. */
function instanceCalls({ held, storage, figures, sealed }: StoreCallsParts) {
  const { ctx, declared, stored } = held
  const hasProvider = () => stored.ofAgents().key_configured
  return {
    listConnectors: async () => describeConnectors(),
    usage: async () => usageOf({ declared, storage, ctx }),
    // What was tallied is added where it is counted.
    status: async () => ({
      ...statusOf({ declared, storage, ctx, figures, sealed, hasProvider }),
      tallies: [],
    }),
  }
}
