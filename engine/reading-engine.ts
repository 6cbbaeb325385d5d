/**
 * The calls that only read what is declared and set, on a connection that cannot write: that of a reader
 * thread. They are made of the same parts as on the writing connection (create-engine.ts), and answer the
 * same: what is held in memory of sources is read again where a change-set came since, and what only the
 * writer counts lies in shared memory (figures.ts). What a part would write with is missing here.
 */
import { askQueries } from './ask/queries.ts'
import { createSessions } from './ask/sessions.ts'
import type { BootCatalog } from './catalog/boot.ts'
import { openCatalog } from './catalog/catalog.ts'
import type { Clock } from './clock.ts'
import { describeConnectors } from './connectors/index.ts'
import { createCredentials } from './credentials/credentials.ts'
import { credentialWrites } from './credentials/open.ts'
import { tokenFor } from './credentials/types.ts'
import { declaredCalls } from './declared/calls.ts'
import { openDeclared } from './declared/declared.ts'
import { demoReads } from './demo/calls.ts'
import { createEvalReports } from './evals/reports.ts'
import type { Figures } from './figures.ts'
import { findingsParts } from './findings-parts.ts'
import { graphCalls } from './graph/calls.ts'
import type { GraphWrites } from './graph/ports.ts'
import { openPositions } from './graph/positions.ts'
import { statusOf, usageOf } from './instance.ts'
import { createKeys } from './keys/keys.ts'
import { mcpToolWrites } from './mcp-tools/calls.ts'
import { Pins } from './mcp-tools/pins.ts'
import type { ModelEnvironment } from './models/environment.ts'
import { openStoredModels } from './models/open.ts'
import { openTemplates } from './projects/templates.ts'
import { proposalCalls } from './proposals/proposals.ts'
import { carriedOf, newestOf, recentOf } from './recent.ts'
import { runWrites } from './runs/calls.ts'
import { createMaking } from './runs/making.ts'
import { runsParts } from './runs-parts.ts'
import { watchSealedSecrets } from './sealed-secrets.ts'
import { keyFileOf, openSecrets } from './secrets.ts'
import { setupReads } from './setup/calls.ts'
import { slackWrites } from './slack/calls.ts'
import { emptySlackEnvironment, type SlackEnvironment } from './slack/environment.ts'
import { openSlackSettings } from './slack/settings.ts'
import type { Snapshot } from './snapshot.ts'
import { createSources } from './sources/sources.ts'
import { Capacity } from './store/capacity.ts'
import type { StoreHandle } from './store/handle.ts'
import { openReading } from './store/open.ts'
import { readingStore } from './store/reading.ts'
import { rehearsingStore } from './store/rehearsal.ts'
import type { Stamp } from './store/stamp.ts'
import { Tallies } from './tallies.ts'
import type { ReadContext } from './timeline/context.ts'
import { tracingPort } from './tracing/calls.ts'
import type { TracingEnvironment } from './tracing/environment.ts'
import { openStoredTracing } from './tracing/settings.ts'

/** What an instance is started with, as far as reads depend on it. */
export interface ReadingOptions {
  /** Path of the data file; its secret.key lies beside it. */
  dataFile: string
  maxDbSize?: number | null
  env?: Readonly<Record<string, string | undefined>>
  models?: ModelEnvironment
  tracing?: TracingEnvironment
  slack?: SlackEnvironment
  boot?: BootCatalog
}

type Call = (...args: never[]) => Promise<unknown>

/**
 * @param secret of the instance. @param snapshot of the connection of `ctx`.
 * @returns calls by name, each on one snapshot; those that would write are among them, and fail.
 */
export function createReadingEngine(parts: {
  options: ReadingOptions
  ctx: ReadContext
  clock: Clock
  snapshot: Snapshot
  figures: Figures
  secret: string
}): Record<string, Call> {
  const { options, ctx, clock, figures, secret } = parts
  const store = readingStore(ctx.db)
  const held = openHeld(parts, store)
  const { declared, keys, sources, credentials, stored } = held
  const keyFile = keyFileOf(options.dataFile)
  const sealed = watchSealedSecrets(ctx.db, held.secrets, keyFile)
  const capacity = new Capacity(
    { db: ctx.db, file: options.dataFile, foldLog: never },
    options.maxDbSize ?? null,
  )
  const storage = {
    measure: (now: number) => capacity.measure(now),
    refusal: () => figures.refusal,
  }
  const findings = findingsParts(declared, ctx, never, never)
  const hasProvider = () => stored.ofAgents().key_configured
  const newest = (name: string, limit: number) => newestOf(ctx, sources, name, limit, clock.now())
  const catalog = openCatalog(declared)
  const env = options.env ?? {}
  const runs = runsParts({
    ...{ declared, ctx, clock, findings, secret, tallies: new Tallies(), stamp: UNUSED as Stamp },
    markerSeed: undefined,
    ...{ limits: never, usage: never, incidents: { ended: never }, onPending: never },
  })
  const settings = openSlackSettings({
    ...{ store, clock, secrets: held.secrets, env: options.slack ?? emptySlackEnvironment },
  })
  const graph = graphCalls({
    ...{ declared, ctx, catalog, snapshot: parts.snapshot, boot: options.boot ?? {} },
    positions: openPositions(store, clock),
  })
  const calls = {
    ...declaredCalls({
      ...{ declared, findings, catalog, newest, http: fetch, startRun: never },
      agentModels: stored.ofAgents,
    }),
    ...proposalCalls(declared),
    ...setupReads(declared),
    ...runWrites({ ...runs, making: createMaking(runs), remember: never }),
    ...mcpToolWrites({
      pins: new Pins(store, clock),
      find: (server) => declared.kinds.mcp_server.find(server),
      resolveWith: { env, credential: (name) => tokenFor(credentials, name) },
    }),
    ...stored.calls,
    ...credentialWrites({ credentials, declared, onChanged: never }),
    ...createEvalReports(store, clock),
    ...createSessions(store, clock, askQueries(store.db)),
    ...tracingPort(openStoredTracing(store, held.secrets, clock, options.tracing)),
    ...slackWrites(settings),
    projectGraph: graph.projectGraph,
    previewDraft: previewsOf(parts),
    configToTest: async (body: Parameters<typeof sources.test>[0]) => sources.test(body),
    configToDiscover: async (body: Parameters<typeof sources.discover>[0]) => sources.discover(body),
    ...demoReads(declared),
    listConnectors: async () => describeConnectors(),
    previewLabel: async (body: Parameters<typeof sources.previewLabel>[0]) => sources.previewLabel(body),
    sourceFields: async (name: string, limit: number) => sources.fields(name, limit),
    sourceEvents: async (name: string, limit: number) => newest(name, limit),
    listKeys: async () => keys.list(),
    directory: async () => ({ routes: sources.routes(), keys: keys.records() }),
    usage: async () => usageOf({ declared, storage, ctx }),
    status: async () => statusOf({ declared, storage, ctx, figures, sealed, hasProvider }),
  } as Record<string, unknown> as Record<string, Call>
  const upToDate = catchingUp(held)
  return onSnapshots(calls, parts.snapshot, upToDate)
}

type Parts = Parameters<typeof createReadingEngine>[0]

/** What is declared on a store, and what it rests on; what is asked of events is asked of `ctx`. */
function openHeld({ options, ctx, clock, figures }: Parts, store: StoreHandle, writes = NONE) {
  const secrets = openSecrets(keyFileOf(options.dataFile))
  const keys = createKeys({ store, clock })
  const credentials = createCredentials({ store, secrets, clock })
  const env = options.env ?? {}
  const sources = createSources({
    ...{ store, clock, secrets, credentials, keys, env, figures },
    documents: { replace: writes.documents },
    recent: (sourceId, limit) => recentOf(ctx, sourceId, limit),
    carried: (sourceId, limit) => carriedOf(ctx, sourceId, limit),
    storageReason: () => figures.refusal,
  })
  const declared = openDeclared({
    ...{ store, clock, secrets, keys, sources, env },
    templates: openTemplates(),
    ...{ purge: writes.purge, gone: writes.gone, changed: writes.changed },
  })
  const stored = openStoredModels(store, secrets, clock, new Tallies(), options.models)
  return { declared, keys, sources, secrets, credentials, stored }
}

/**
 * Previews of drafts: each is rehearsed on a connection of its own, which is opened with the first; what happened
 * is filled in from that of the reader.
 */
function previewsOf(parts: Parts): GraphWrites['previewDraft'] {
  const { options, ctx, clock, snapshot } = parts
  const open = (): GraphWrites => {
    const store = rehearsingStore(openReading(options.dataFile), () => upToDate())
    const held = openHeld(parts, store, REHEARSED)
    const upToDate = catchingUp(held)
    return graphCalls({
      ...{ declared: held.declared, ctx, catalog: openCatalog(held.declared), snapshot },
      ...{ boot: options.boot ?? {}, positions: openPositions(store, clock) },
    })
  }
  let opened: GraphWrites | null = null
  return (...of) => {
    opened ??= open()
    return opened.previewDraft(...of)
  }
}

/** Reads again what is held of sources, where a change-set came since; inside a snapshot. */
function catchingUp({ declared, sources }: ReturnType<typeof openHeld>): () => void {
  let seen = -1
  return () => {
    const version = declared.changes.version()
    if (version !== seen) sources.reload()
    seen = version
  }
}

/** What a call does before it first waits, which is all of it where nobody is asked, sees one snapshot. */
function onSnapshots(
  calls: Readonly<Record<string, Call>>,
  snapshot: Snapshot,
  upToDate: () => void,
): Record<string, Call> {
  return Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [
      name,
      async (...args: never[]) => {
        const { answer } = await snapshot(() => {
          upToDate()
          return { answer: call(...args) }
        })
        return answer
      },
    ]),
  )
}

/** A part that only writes are made with. */
const never = (): never => {
  throw new Error('a call that writes was asked of a reader')
}
/** What a write of what is declared does beside its rows. */
const NONE = {
  documents: never as () => void,
  purge: never as () => number,
  gone: never as () => void,
  changed: never as () => void,
}
/** A preview shows none of it: the graph has neither documents, nor events to be removed, nor what was subscribed to what is gone. */
const REHEARSED: typeof NONE = { documents: () => {}, purge: () => 0, gone: () => {}, changed: () => {} }
const UNUSED = new Proxy({}, { get: never })
