/**
 * The calls that every role of the store answers, made once: the writer has them with all that writing does, a
 * reader on snapshots of a connection that cannot write, where those that would write fail.
 */

import type { AskStarterCalls } from '../agents/ask/calls.ts'
import { askQueries, createSessions, startersOf } from '../agents/ask/queries.ts'
import { createEvalReports } from '../agents/evals/reports.ts'
import type { FindingsParts } from '../agents/findings.ts'
import { mcpToolWrites, Pins } from '../agents/mcp-pins.ts'
import { runWrites } from '../agents/runs/calls.ts'
import type { Making } from '../agents/runs/making.ts'
import { tracingPort } from '../agents/telemetry/tracing-settings.ts'
import type { Clock } from '../clock.ts'
import { type CallsParts, declaredCalls } from '../declared/calls.ts'
import type { BootCatalog } from '../declared/catalog/catalog.ts'
import { credentialWrites, type SealedSecrets } from '../declared/credentials.ts'
import { statusOf, type UsageParts, usageOf } from '../declared/health.ts'
import { setupReads } from '../declared/setup/calls.ts'
import { demoReads } from '../declared/setup/demo.ts'
import { forecastCalls } from '../declared/setup/forecast.ts'
import { proposalCalls } from '../declared/setup/proposals.ts'
import { graphCalls } from '../graph/graph.ts'
import type { Figures } from '../log/figures.ts'
import { atOnce, type Snapshot } from '../log/steps.ts'
import { entitiesInSteps } from '../log/timeline/stats.ts'
import { credentialFor } from '../model/credentials.ts'
import { syncHealth, syncReads } from '../reconcile/port.ts'
import { slackWrites } from '../slack/calls.ts'
import { describeConnectors } from '../sources/connectors/index.ts'
import { describePresets } from '../sources/connectors/preset.ts'
import type { TrialPort } from '../sources/poller.ts'
import { newestOf } from '../sources/sample.ts'
import type { Held, RunNeeds } from './needs.ts'

interface StoreCallsParts extends Pick<CallsParts, 'egress' | 'startRun'> {
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
  /** A proposal was made or decided, in the transaction of that. */
  onProposal(id: string): void
}

/** Of what is declared and set, on what the role holds. */
export function storeCalls(parts: StoreCallsParts) {
  const { held, clock, view, findings, making, remember } = parts
  const { ctx, declared, keys, sources, credentials, stored, catalog, positions } = held
  const { tokens, ...oauth } = held.oauth
  const { store } = declared
  const newest = (name: string, limit: number) => newestOf(ctx, sources, name, limit, clock.now())
  const { enter: _ofTurns, ...sessions } = createSessions(store, clock, askQueries(store.db))
  const tried: TrialPort = {
    configToTest: async (body) => sources.test(body),
    configToDiscover: async (body) => sources.discover(body),
  }
  const ofDeclared = declaredCalls({
    ...{ declared, findings, catalog, newest, egress: parts.egress, startRun: parts.startRun },
    agentModels: stored.ofAgents,
  })
  const starters: AskStarterCalls = {
    askStarters: async (isAdmin) => {
      const { labels: entities } = atOnce(entitiesInSteps(ctx, 1))
      // Each looks at once: all see one state of the store.
      const [list, triggers, { agents }] = await Promise.all([
        ofDeclared.listSources(),
        ofDeclared.listTriggers(),
        ofDeclared.listAgents(),
      ])
      return { starters: startersOf({ sources: list, entities, triggers, agents, isAdmin }) }
    },
  }
  return {
    ...ofDeclared,
    ...starters,
    ...proposalCalls(declared, parts.onProposal),
    ...setupReads(declared),
    ...runWrites({ ...parts.runs, making, remember }),
    ...mcpToolWrites({
      pins: new Pins(store, clock),
      find: (server) => declared.kinds.mcp_server.find(server),
      names: () => declared.kinds.mcp_server.list().map(({ key }) => key),
      resolveWith: { env: declared.env, credential: (name) => credentialFor(credentials, name) },
    }),
    ...stored.calls,
    ...credentialWrites({ credentials, declared, onChanged: parts.onCredentials }),
    ...createEvalReports(store, clock),
    ...demoReads(declared),
    ...sessions,
    ...tracingPort(held.tracing),
    ...slackWrites(held.slack, held.slackPeople),
    ...graphCalls({ declared, positions, ctx, catalog, snapshot: view, boot: parts.boot }),
    ...syncReads({ declared, catalog }),
    ...forecastCalls({ declared, ctx, clock, snapshot: view }),
    ...tried,
    ...instanceCalls(parts),
    previewLabel: async (body: Parameters<typeof sources.previewLabel>[0]) => sources.previewLabel(body),
    sourceFields: async (name: string, limit: number) => sources.fields(name, limit),
    sourceEvents: async (name: string, limit: number) => newest(name, limit),
    listKeys: async () => keys.list(),
    ...oauth,
    revokedKey: async (hash: string) => keys.revokedKey(hash),
    directory: async () => ({ routes: sources.routes(), keys: keys.records(), tokens: tokens() }),
  }
}

/** The instance in figures, and what it is able to read. */
function instanceCalls({ held, storage, figures, sealed }: StoreCallsParts) {
  const { ctx, declared, stored } = held
  const hasProvider = () => stored.ofAgents().key_configured
  return {
    listConnectors: async () => describeConnectors(),
    listPresets: async () => describePresets(),
    usage: async () => usageOf({ declared, storage, ctx }),
    // What was tallied is added where it is counted.
    status: async () => ({
      ...statusOf({
        declared,
        storage,
        ctx,
        figures,
        sealed,
        hasProvider,
        otherDefault: stored.otherDefault,
      }),
      catalogSync: syncHealth(declared),
      tallies: [],
    }),
  }
}
