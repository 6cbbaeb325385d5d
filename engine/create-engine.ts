/**
 * Composes the engine on one writing connection. Runs in process (tests, tools) or inside the
 * writer thread of the daemon (threads/). Calls that change something run one at a time by nature:
 * everything here is synchronous between two commits.
 */
import { agentTestReads, agentTestWrites } from './agent-tests/calls.ts'
import type { AskTurnCalls } from './ask/calls.ts'
import { laterAsk, storedAsk, withAsk } from './ask-parts.ts'
import { bootCatalog } from './catalog/boot.ts'
import { openCatalog } from './catalog/catalog.ts'
import { type Clock, systemClock, systemTimers } from './clock.ts'
import { describeConnectors } from './connectors/index.ts'
import { createCredentials } from './credentials/credentials.ts'
import { openCredentials } from './credentials/open.ts'
import { tokenFor } from './credentials/types.ts'
import { declaredCalls } from './declared/calls.ts'
import { createBoundKey } from './declared/create-key.ts'
import { openDeclared } from './declared/declared.ts'
import { makeFirstSource } from './declared/self-made.ts'
import { requireProject } from './declared/skill-writes.ts'
import { demoCalls } from './demo/calls.ts'
import { environmentCalls, knownSource } from './docker/environment.ts'
import { createDocumentsWriter } from './documents-writer.ts'
import { createEgress } from './egress/index.ts'
import { evalCalls } from './evals/calls.ts'
import { faultTold } from './fault-id.ts'
import { Figures } from './figures.ts'
import { labelFor } from './findings/findings.ts'
import { findingsParts } from './findings-parts.ts'
import { graphCalls } from './graph/calls.ts'
import { openPositions } from './graph/positions.ts'
import { createReplayReads } from './graph/replay/calls.ts'
import { openIncidents } from './incidents/open.ts'
import { IngestQueue } from './ingest-queue.ts'
import { statusOf, usageOf } from './instance.ts'
import { joined } from './join.ts'
import { createKeys } from './keys/keys.ts'
import { createSessions } from './keys/sessions.ts'
import { checkKnownStates } from './lifecycle/known-states.ts'
import { follow, Live } from './live.ts'
import type { EngineOptions, LocalEngine } from './local-engine.ts'
import { mcpToolWrites } from './mcp-tools/calls.ts'
import { Pins } from './mcp-tools/pins.ts'
import { mcpToolTests } from './mcp-tools/tests.ts'
import { openModels, openStoredModels } from './models/open.ts'
import { modelUsageOf } from './models/usage.ts'
import { performOn } from './operations/index.ts'
import { outboxWrites } from './outbox/calls.ts'
import { fetchFiringBy } from './outbox/fetching.ts'
import { openOutbox, waitersNudgedBy } from './outbox/open.ts'
import { removeSubscriptions } from './outbox/subscriptions.ts'
import { type InnerCall, Pipeline } from './pipeline.ts'
import { openPolling } from './polling/open.ts'
import { openTemplates } from './projects/templates.ts'
import { proposalCalls } from './proposals/proposals.ts'
import { createReads, readsAsOf } from './reads.ts'
import { carriedOf, newestOf, recentOf } from './recent.ts'
import { Records } from './records.ts'
import { remember } from './remember.ts'
import { runWrites } from './runs/calls.ts'
import { createMaking } from './runs/making.ts'
import { createRunReads } from './runs/run-reads.ts'
import { quietMs } from './runs/same-incident.ts'
import { writeBackOfRun } from './runs/write-back-body.ts'
import { runsParts } from './runs-parts.ts'
import { watchSealedSecrets } from './sealed-secrets.ts'
import { keyFileOf, memorySecrets, openSecrets } from './secrets.ts'
import { openSetup } from './setup-parts.ts'
import { openSlack } from './slack/open.ts'
import { snapshotsOf } from './snapshot.ts'
import { specOf } from './sources/live.ts'
import { createSources } from './sources/sources.ts'
import { Appender } from './store/append.ts'
import { Capacity } from './store/capacity.ts'
import { asStartError } from './store/connect.ts'
import { isSqliteError } from './store/disk-fault.ts'
import { Idempotency } from './store/idempotency.ts'
import { Maintenance } from './store/maintenance.ts'
import { type OpenStore, openStore } from './store/open.ts'
import { Stamp } from './store/stamp.ts'
import { WriterState } from './store/writer-state.ts'
import { closeInstant, lastIngest, metaSecret, requestPurge } from './stored-facts.ts'
import { Tallies } from './tallies.ts'
import { createReadContext } from './timeline/context.ts'
import { atOnce } from './timeline/steps.ts'
import { tracingPort } from './tracing/calls.ts'
import { openStoredTracing } from './tracing/settings.ts'
import { createTracing } from './tracing/tracing.ts'
import { triggerWrites } from './triggers/calls.ts'
import { LiveTriggers } from './triggers/live.ts'
import { createTriggerReads, requireTrigger } from './triggers/reads.ts'

/**
 * Opens the store and builds the engine.
 * @throws StartError when the file cannot be opened.
 */
export function createEngine(options: EngineOptions): LocalEngine {
  const clock = options.clock ?? systemClock
  const state = options.state ?? new WriterState()
  const store = openStore(options.dataFile, clock.now(), { ...options, state })
  try {
    checkKnownStates(store.db)
    return compose(options, clock, store, state)
  } catch (error) {
    store.close()
    throw isSqliteError(error) ? asStartError(error, options.dataFile ?? 'memory') : error
  }
}

function compose(options: EngineOptions, clock: Clock, store: OpenStore, state: WriterState): LocalEngine {
  const cursorSecret = metaSecret(store, options.fixedSecret)
  const ctx = createReadContext(store.db, true, cursorSecret)
  const stamp = new Stamp(clock, lastIngest(store), state)
  const appender = new Appender(store.db, ctx.dictionary, ctx.index.tail)
  const figures = new Figures(options.figures)
  const capacity = new Capacity(store, options.maxDbSize ?? null, figures)
  const keyFile = keyFileOf(options.dataFile)
  const secrets = options.dataFile === null ? memorySecrets() : openSecrets(keyFile)
  const sealed = watchSealedSecrets(store.db, secrets, keyFile)
  const keys = createKeys({
    store,
    clock,
    onRevoked: (id) => removeSubscriptions(store.db, { key: id }, clock.now()),
  })
  const sessions = createSessions(store)
  const live = new Live(ctx.names, ctx.dictionary)
  const credentials = createCredentials({ store, secrets, clock })
  const sources = createSources({
    ...{ store, clock, secrets, credentials, keys, figures },
    env: options.env ?? {},
    documents: createDocumentsWriter(store, appender, stamp),
    recent: (sourceId, limit) => recentOf(ctx, sourceId, limit),
    carried: (sourceId, limit) => carriedOf(ctx, sourceId, limit),
    storageReason: () => capacity.refusal(clock.now()),
  })
  const onFault = faultTold(options.onFault)
  const { waiting, onPending } = waitersNudgedBy(systemTimers, onFault, options.onPending)
  const tallies = new Tallies()
  const { incidents, calls: incidentCalls } = openIncidents({ store, ctx, clock, appender, live })
  const triggers = new LiveTriggers({
    tallies,
    incidents,
    store,
    clock,
    stamp,
    ctx,
    wake: ({ firing, ...wake }) =>
      making.wake({
        ...wake,
        firingId: firing.id,
        dispatchId: firing.dispatch_id,
        trigger: firing.trigger_name,
        isSchedule: firing.slot !== null,
        label: firing.label,
        entity: firing.value_text ?? firing.key,
        at: firing.fired_at!,
        practice: firing.practice === 1,
        quietMs: quietMs(JSON.parse(firing.spec)),
      }),
    onPending,
  })
  const pipeline = new Pipeline({
    store,
    clock,
    stamp,
    sources,
    appender,
    idempotency: new Idempotency(store.db),
    capacity,
    counters: figures.pipeline,
    labels: ctx.dictionary,
    triggers,
    onCommitted: (batches) => {
      ctx.index.refresh(false)
      live.publish(batches, clock.now())
      options.onStored?.(batches)
    },
    onFatal: options.onFatal ?? (() => {}),
    onFault,
  })
  const maintenance = new Maintenance({
    ...{ store, index: ctx.index, appender, dictionary: ctx.dictionary, capacity },
    retention: options.retention ?? { maxAgeMs: null, maxBytes: null },
  })
  const records = new Records(store, options.retention?.maxAgeMs ?? null)
  const reads = createReads(ctx, clock, false, () => figures.countRead())
  const positions = openPositions(store, clock)
  const declared = openDeclared({
    store,
    clock,
    secrets,
    keys,
    sources,
    templates: openTemplates(),
    env: options.env ?? {},
    purge: (sourceId) => requestPurge(store, sourceId, clock.now()),
    gone: (of, at) => {
      removeSubscriptions(store.db, of, at)
      if (!('project' in of)) return
      positions.forget(of.project)
      // A draft that is deleted is planned no more.
      store.afterCommit(onPending)
    },
    changed: (kinds) => {
      if (['source', 'trigger', 'project'].some((kind) => kinds.has(kind as 'source'))) triggers.changed()
      if (kinds.has('source')) options.onSourcesChanged?.()
    },
  })
  const stored = openStoredModels(store, secrets, clock, tallies, options.models)
  const network = openModels(stored.calls, clock)
  const view = snapshotsOf(ctx, false)
  const { subscriptions, queue, fetches, ending } = openOutbox({
    ...{ store, clock, secrets, onPending },
    findings: {
      writeBack: (run) => writeBackOfRun(runs, ctx, run),
      slackPost: (run, progress) => slack.post(run, progress),
    },
  })
  const catalog = openCatalog(declared)
  const booted = bootCatalog(declared, catalog, options.boot ?? {})
  const accept = (call: InnerCall) => pipeline.accept([call])[0]!
  const findings = findingsParts(declared, ctx, accept, ending)
  const runs = runsParts({
    tallies,
    declared,
    ctx,
    clock,
    stamp,
    findings,
    secret: cursorSecret,
    markerSeed: options.fixedSecret,
    limits: () => {
      const { daily_cap, daily_budget_usd, concurrency } = stored.agents()
      return { dailyCap: daily_cap, dailyBudgetUsd: daily_budget_usd, concurrency }
    },
    usage: stored.record,
    incidents,
    onPending,
  })
  const making = createMaking(runs)
  const egress = createEgress({ allowPrivate: options.webhookAllowPrivate ?? false, timers: systemTimers })
  const slack = openSlack({
    ...{ store, secrets, clock, egress, env: options.slack, agent: runs.agent, timers: systemTimers },
    variables: declared.env,
    // Ask comes last, for it reads all of it.
    ask: laterAsk(() => asking),
    onError: (error) => void onFault(error),
  })
  const mcpTools = mcpToolWrites({
    pins: new Pins(store, clock),
    find: (server) => declared.kinds.mcp_server.find(server),
    resolveWith: { env: options.env ?? {}, credential: (stored) => tokenFor(credentials, stored) },
  })
  const ingest = new IngestQueue((calls) => pipeline.accept(calls))
  const triggerReads = createTriggerReads(ctx, clock, view, options.slack?.publicUrl ?? null)
  const runReads = createRunReads(ctx, clock, snapshotsOf(ctx, false))
  const tracing = tracingPort(openStoredTracing(store, secrets, clock, options.tracing))
  const work = { clock, timers: systemTimers, onError: (error: Error) => void onFault(error) }
  const tracePort = { ...tracing, ...triggerReads, ...runReads, event: reads.event }
  const traces = createTracing({ port: tracePort, egress, ...work })
  const newest = (name: string, limit: number) => newestOf(ctx, sources, name, limit, clock.now())
  const hasProvider = () => stored.ofAgents().key_configured
  const engine: Omit<LocalEngine, 'perform' | keyof AskTurnCalls> = {
    ...reads,
    ...readsAsOf(reads, (asOf) => closeInstant(asOf, clock, stamp)),
    ...declaredCalls({
      declared,
      findings,
      catalog,
      http: options.http ?? fetch,
      agentModels: stored.ofAgents,
      newest,
      startRun: (agent, entity, project) =>
        store.tx(() => {
          const run = making.ask(agent, { label: labelFor(findings, project, entity), entity }, project)
          if (run !== null) store.afterCommit(() => onPending())
          return run
        }),
    }),
    ...proposalCalls(declared),
    ...openSetup({
      declared,
      triggers,
      onPending,
      secret: cursorSecret,
      modelConfig: stored.calls.modelConfig,
      accept,
      newest,
    }),
    ...triggerReads,
    ...incidentCalls,
    ...outboxWrites(queue),
    ...triggerWrites({
      subscriptions,
      requireTrigger: (name) => requireTrigger(ctx, name),
      requireProject: (word) => requireProject(declared, word),
      checkTarget: egress.checkTarget,
      hasSlack: async () => (await slack.calls.slackAccess()).token !== null,
    }),
    ...fetches,
    fetchFiring: fetchFiringBy({ ...triggerReads, ...fetches }, waiting),
    ...runReads,
    ...evalCalls(store, clock, ctx, { ...runReads, ...triggerReads }, createEngine),
    ...runWrites({
      ...runs,
      making,
      remember: async (agent, request, key) => {
        const by = { id: `agent:${agent}`, name: agent }
        await remember(declared, (call) => ingest.add(call), request, by, key)
      },
    }),
    ...graphCalls({ declared, positions, ctx, snapshot: view, catalog, boot: options.boot ?? {} }),
    ...agentTestReads(store.db, view),
    ...createReplayReads(ctx, clock, (steps) => view(() => atOnce(steps))),
    ...agentTestWrites({ ...runs, making }),
    ...mcpTools,
    ...environmentCalls({ env: options.env ?? {}, clock, sources: () => sources.live().map(knownSource) }),
    ...mcpToolTests({ calls: mcpTools, egress, clock, timers: systemTimers }),
    ...stored.calls,
    ...network.calls,
    ...openCredentials({
      ...{ credentials, declared, egress, timers: systemTimers },
      onChanged: () => options.onSourcesChanged?.(),
    }),
    ...tracing,
    ...openPolling({
      ...{ tallies, sources, egress, env: options.env ?? {}, clock, timers: systemTimers, accept },
      prepare: { known: ctx.dictionary, onFault },
    }),
    ...demoCalls({ declared, catalog, ctx, settlePoll: (made) => engine.settlePoll(made) }),
    ...traces.calls,
    ...storedAsk(declared, {
      secret: cursorSecret,
      dailyBudgetUsd: () => stored.agents().daily_budget_usd,
      usage: stored.record,
    }),
    ...slack.calls,
    modelUsage: (days) => view(() => modelUsageOf(store.db, days, clock.now())),
    bootReport: async () => ({
      ...booted,
      failed: [...(store.loss ? [store.loss] : []), ...booted.failed],
      warned: [sealed.look().sentence].filter((sentence) => sentence !== null),
    }),
    previewLabel: async (body) => sources.previewLabel(body),
    sourceFields: async (name, limit) => sources.fields(name, limit),
    ingest: (call) => ingest.add({ ...call, body: joined(call.body) }),
    ingestMany: (calls) => pipeline.accept(calls),
    makeFirstSource: async (kind, post, caller) =>
      makeFirstSource(declared, kind, post, {
        caller,
        nowMs: clock.now(),
        prepare: { known: ctx.dictionary, onFault },
      }),
    remember: (request, caller, key) => remember(declared, (call) => ingest.add(call), request, caller, key),
    tail: (filter, listener) =>
      follow(
        async (send) => live.add(filter, send),
        () => reads.backlog(filter),
        filter.afterId,
        listener,
      ),
    listen: (filter, send) => live.add(filter, send),
    listConnectors: async () => describeConnectors(),
    sourceEvents: async (name, limit) => newest(name, limit),
    listKeys: async () => keys.list(),
    createKey: async (...of) => createBoundKey({ keys, sources, declared }, ...of),
    revokeKey: async (id, caller) => keys.revoke(id, caller),
    touchKeys: async (ids) => keys.touch(ids),
    loadSessions: async (after) => sessions.load(after),
    saveSessions: async (records) => sessions.save(records),
    dropSession: async (idHash) => sessions.drop(idHash),
    directory: async () => ({ routes: sources.routes(), keys: keys.records() }),
    usage: async () => usageOf({ declared, storage: capacity, ctx }),
    status: async () => ({
      ...statusOf({ declared, hasProvider, storage: capacity, ctx, figures, sealed }),
      tallies: tallies.list(),
    }),
    newTallies: () => tallies.news(),
    sourceSpec: (ingestKey) => specOf(sources.byIngestKey(ingestKey)),
    closeInstant: (instant) => stamp.close(instant),
    writerSilence: () => state.silence(clock.now()),
    maintain: () => {
      if (state.isHeld && !store.isWritable()) return false
      capacity.refusal(clock.now())
      return maintenance.step(clock.now()) || records.step(clock.now())
    },
    tick: () => triggers.tick(),
    nextDue: () => triggers.nextDue(),
    cursorSecret,
    close: async () => {
      await traces.stop()
      network.close()
      ingest.flush()
      egress.close()
      store.close()
    },
  }
  const asking = withAsk(engine, { ...work, models: network.models, finished: traces.asked })
  return Object.assign(asking, { perform: performOn(asking) })
}
