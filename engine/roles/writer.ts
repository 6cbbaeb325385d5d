/**
 * The writer: the role that holds the one writing connection. Calls that change something run one at a time by
 * nature: everything here is synchronous between two commits. It asks no other system.
 */
import { agentTestWrites } from '../agents/agent-tests.ts'
import { openAskStore } from '../agents/ask/turns.ts'
import type { OpenEngine } from '../agents/evals/run.ts'
import { createScenarioReads } from '../agents/evals/scenario-of-run.ts'
import { labelFor } from '../agents/findings.ts'
import { providerOf } from '../agents/models/adapter.ts'
import { githubPostOfRun, writeBackOfRun } from '../agents/runs/calls.ts'
import { createFinishing, createJournal, type Journal } from '../agents/runs/finishing.ts'
import { createMaking, quietMs } from '../agents/runs/making.ts'
import { type Clock, neverSetBack, systemClock, systemTimers } from '../clock.ts'
import { bootCatalog } from '../declared/catalog/catalog.ts'
import { watchSealedSecrets } from '../declared/credentials.ts'
import { createSessions } from '../declared/oauth.ts'
import { createBoundKey, triggerSaves } from '../declared/part-writes.ts'
import { setupCalls } from '../declared/setup/calls.ts'
import { demoCalls, demoWorld } from '../declared/setup/demo.ts'
import { planProposal } from '../declared/setup/proposals.ts'
import { requireProject } from '../declared/skill-writes.ts'
import { makeFirstSource, remember } from '../declared/source-writes.ts'
import type { SvcError } from '../errors.ts'
import { openIncidents } from '../incidents/incidents.ts'
import { Figures, Tallies } from '../log/figures.ts'
import { joined } from '../log/ingest/otlp-protobuf.ts'
import { checkKnownStates } from '../log/lifecycle.ts'
import { Live } from '../log/live.ts'
import { IngestQueue, type InnerCall, Pipeline } from '../log/pipeline.ts'
import {
  createDocumentsWriter,
  endPurge,
  lastIngest,
  metaSecret,
  Records,
  requestPurge,
} from '../log/retention.ts'
import { openSettings } from '../log/settings.ts'
import { snapshotsOf } from '../log/steps.ts'
import { Appender, hash, Idempotency, idempotencyKeyOf } from '../log/store/append.ts'
import { isSqliteError } from '../log/store/handle.ts'
import { asStartError } from '../log/store/lock.ts'
import { Capacity, Maintenance } from '../log/store/maintenance.ts'
import { type OpenStore, openStore } from '../log/store/open.ts'
import { Stamp, WriterState } from '../log/store/writer-state.ts'
import { createReadContext } from '../log/timeline/context.ts'
import { createEgress, type Egress } from '../net/fetch.ts'
import { faultTold } from '../net/redact.ts'
import { keyFileOf, memorySecrets, openSecrets } from '../net/secrets.ts'
import { performOn } from '../operations/index.ts'
import { openOutbox, outboxWrites } from '../outbox/queue.ts'
import { type SlackProgress, slackPosts } from '../outbox/send-slack.ts'
import { emptySlackEnvironment } from '../outbox/slack-api.ts'
import {
  removeSubscriptions,
  requireAddress,
  restoreSubscriptions,
  subscriptionCalls,
} from '../outbox/subscriptions.ts'
import { syncWrites } from '../reconcile/writes.ts'
import { openSlackPeople, openSlackRows } from '../slack/answers.ts'
import { openSlackThreads } from '../slack/threads.ts'
import { specOf } from '../sources/live.ts'
import { openPolls } from '../sources/polls.ts'
import { newestOf } from '../sources/sample.ts'
import { LiveTriggers } from '../triggers/live.ts'
import { requireTrigger } from '../triggers/reads.ts'
import type { EngineOptions, JoinedCall, Writer } from './calls.ts'
import { eventCalls } from './event-calls.ts'
import { findingNeeds, openHeld, runNeeds } from './needs.ts'
import { storeCalls } from './store-calls.ts'

/**
 * Opens the store and what writes to it.
 * @param openEngine gives engines in memory, in which scenarios are checked
 * @throws StartError when the file cannot be opened.
 */
export function openWriter(options: EngineOptions, openEngine: () => Promise<OpenEngine>): Writer {
  const clock = options.clock ?? systemClock
  const state = options.state ?? new WriterState()
  const store = openStore(options.dataFile, clock.now(), { ...options, state })
  try {
    checkKnownStates(store.db)
    return compose(openParts(options, clock, store, state), openEngine)
  } catch (error) {
    store.close()
    throw isSqliteError(error) ? asStartError(error, options.dataFile ?? 'memory') : error
  }
}

/** What lies directly on the store, before anything that is declared. */
function openParts(options: EngineOptions, clock: Clock, store: OpenStore, state: WriterState) {
  const secret = metaSecret(store, options.fixedSecret)
  const ctx = createReadContext(store.db, true, secret)
  const newest = lastIngest(store)
  const steady = neverSetBack(clock, newest)
  const stamp = new Stamp(steady, newest, state)
  const appender = new Appender(store.db, ctx.dictionary, ctx.index.tail)
  const figures = new Figures(options.figures)
  const keyFile = keyFileOf(options.dataFile)
  const secrets = options.dataFile === null ? memorySecrets() : openSecrets(keyFile)
  const onFault = faultTold(options.onFault)
  const live = new Live(ctx.names, ctx.dictionary, ctx.entities)
  const slackThreads = openSlackThreads({
    ...{ store, clock, people: openSlackPeople(store, clock) },
    publicUrl: options.slack?.publicUrl ?? null,
    onPending: () => options.onPending?.(),
  })
  return {
    ...{ options, clock, steady, store, state, secret, ctx, stamp, appender, figures, secrets, onFault },
    capacity: new Capacity(store, options.maxDbSize ?? null, figures, (turn) => options.onStorage?.(turn)),
    sealed: watchSealedSecrets(store.db, secrets, keyFile),
    live,
    slackThreads,
    incidents: openIncidents({
      ...{ store, ctx, clock, appender, live, touched: slackThreads.touch },
      onPending: () => options.onPending?.(),
    }),
    tallies: new Tallies(),
    onPending: () => options.onPending?.(),
    prepare: { known: ctx.dictionary, onFault },
  }
}

type Parts = ReturnType<typeof openParts>
type Wake = ConstructorParameters<typeof LiveTriggers>[0]['wake']

/** What is declared, with what its writes do beside their rows. */
function openDeclaredParts(parts: Parts, triggers: LiveTriggers) {
  const { options, clock, store, ctx, secrets, figures, tallies, capacity, onPending } = parts
  const documents = createDocumentsWriter(store, parts.appender, parts.stamp)
  const held = openHeld({
    ...{ store, clock, ctx, secrets, figures, tallies },
    surroundings: {
      ...{ env: options.env ?? {}, models: options.models, tracing: options.tracing, slack: options.slack },
    },
    storageReason: () => capacity.refusal(clock.now()),
    effects: {
      documents: documents.replace,
      revoked: (key) => removeSubscriptions(store.db, { key }, clock.now()),
      purge: (sourceId) => requestPurge(store, sourceId, clock.now()),
      gone: (of, at) => {
        removeSubscriptions(store.db, of, at)
        if ('trigger' in of) return parts.incidents.incidents.triggerGone(of.row, at)
        held.positions.forget(of.project)
        // A draft that is deleted is planned no more.
        store.afterCommit(onPending)
      },
      back: (of) => {
        if ('source' in of) return endPurge(store, of.source)
        restoreSubscriptions(store.db, of)
        if ('trigger' in of) parts.incidents.incidents.triggerBack(of.row, clock.now())
      },
      changed: (kinds) => {
        if (['source', 'trigger', 'entity', 'project'].some((kind) => kinds.has(kind as 'source')))
          triggers.changed()
        if (kinds.has('source')) options.onSourcesChanged?.()
      },
    },
  })
  return held
}

/** Triggers, and what a firing that wakes agents tells of itself. @param wake makes the runs */
function openTriggers(
  parts: Parts,
  wake: (run: Parameters<ReturnType<typeof createMaking>['wake']>[0]) => ReturnType<Wake>,
) {
  const { tallies, store, steady, stamp, ctx, onPending } = parts
  return new LiveTriggers({
    ...{ tallies, store, clock: steady, stamp, ctx, onPending, incidents: parts.incidents.incidents },
    wake: ({ firing, ...more }) =>
      wake({
        ...more,
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
  })
}

/** The way in. */
function openPipeline(parts: Parts, sources: ReturnType<typeof openHeld>['sources'], triggers: LiveTriggers) {
  const { options, store, clock, stamp, appender, capacity, ctx, live, onFault } = parts
  return new Pipeline({
    ...{ store, clock, stamp, sources, appender, capacity, triggers, onFault },
    idempotency: new Idempotency(store.db),
    counters: parts.figures.pipeline,
    labels: ctx.dictionary,
    onCommitted: (batches) => {
      ctx.index.refresh(false)
      live.publish(batches, clock.now())
      options.onStored?.(batches)
    },
    onFatal: options.onFatal ?? (() => {}),
  })
}

/** All of it, in an order in which each finds what it needs. */
function compose(parts: Parts, openEngine: () => Promise<OpenEngine>): Writer {
  const { options, clock, store, ctx, secret, stamp, secrets, tallies, onPending } = parts
  const triggers = openTriggers(parts, (run) => making.wake(run))
  const held = openDeclaredParts(parts, triggers)
  const { declared, stored } = held
  const pipeline = openPipeline(parts, held.sources, triggers)
  const ingest = new IngestQueue((calls) => pipeline.accept(calls))
  const accept = (call: InnerCall) => pipeline.accept([call])[0]!
  const outbox = openOutbox({
    ...{ store, clock, secrets, onPending },
    findings: {
      writeBack: (run) => writeBackOfRun(runs, run),
      github: (run) => githubPostOfRun(runs, held.credentials, run),
      slackPost: (run, progress) => post(run, progress),
      slackFound: (run, progress) => noteFound(parts, post, run, progress),
    },
    places: parts.slackThreads,
  })
  const booted = bootCatalog(declared, held.catalog, options.boot ?? {})
  const findings = findingNeeds(
    ...([declared, ctx, accept, outbox.ending] as const),
    parts.incidents.incidents.foundOutside,
  )
  const runs = runNeeds({
    ...{ tallies, declared, ctx, clock, findings, secret, onPending },
    closeInstant: (at) => {
      const closed = Math.max(at, stamp.newest)
      stamp.close(closed)
      return closed
    },
    markerSeed: options.fixedSecret,
    limits: () => {
      const { daily_cap, daily_budget_usd, concurrency } = stored.agents()
      return { dailyCap: daily_cap, dailyBudgetUsd: daily_budget_usd, concurrency }
    },
    usage: stored.record,
    incidents: parts.incidents.incidents,
  })
  const making = createMaking(runs)
  const post = slackPosts({
    ...{ db: store.db, settings: held.slack, agent: runs.agent, env: declared.env },
    publicUrl: (options.slack ?? emptySlackEnvironment).publicUrl,
    threads: parts.slackThreads,
  })
  const egress = createEgress({ allowPrivate: options.webhookAllowPrivate ?? false, timers: systemTimers })
  const writing = {
    ...parts,
    ...{ held, triggers, pipeline, ingest, accept, outbox, findings, runs, making, egress },
  }
  const view = snapshotsOf(ctx, false)
  const ofEvents = eventCalls(ctx, clock, parts.figures, false, view, options.slack?.publicUrl ?? null)
  const calls = {
    ...ofEvents,
    ...createScenarioReads(ctx, ofEvents, openEngine),
    ...storeCalls({
      ...{ held, clock, view, findings, runs, making },
      ...{ figures: parts.figures, storage: parts.capacity, sealed: parts.sealed },
      boot: options.boot ?? {},
      egress,
      startRun: (agent, entity, project) =>
        store.tx(() => {
          const run = making.ask(agent, { label: labelFor(findings, project, entity), entity }, project)
          if (run !== null) store.afterCommit(onPending)
          return run
        }),
      remember: async (agent, request, key) => {
        const by = { id: `agent:${agent}`, name: agent }
        await remember(declared, (call) => ingest.add(call), request, by, key)
      },
      onCredentials: () => options.onSourcesChanged?.(),
      onProposal: parts.slackThreads.touchProposal,
    }),
    ...parts.incidents.calls,
    ...writes(writing),
    ...writerOwn(writing, booted),
    ...keyedCalls(writing),
  }
  return { ...calls, perform: performOn(calls) }
}

/** A part of a finding is in Slack: its incident has the thread. */
function noteFound(
  { slackThreads }: Parts,
  post: ReturnType<typeof slackPosts>,
  run: string,
  progress: SlackProgress,
): void {
  const { channel, ts, shown = null, last = null } = progress
  if (channel === null || !ts) return
  const base = post(run, progress)?.message.first
  if (base) slackThreads.found(run, { channel, address: channel, ts, thread: null, base, shown }, last)
}

type Writing = Parts & {
  held: ReturnType<typeof openHeld>
  triggers: LiveTriggers
  pipeline: Pipeline
  ingest: IngestQueue
  accept(call: InnerCall): ReturnType<Pipeline['accept']>[number]
  outbox: ReturnType<typeof openOutbox>
  findings: ReturnType<typeof findingNeeds>
  runs: ReturnType<typeof runNeeds>
  making: ReturnType<typeof createMaking>
  egress: Egress
}

/** What only the writer answers: where rows are written that no change-set is made of. */
function writes(parts: Writing) {
  const { clock, store, ctx, secret, stamp, tallies, prepare, onPending } = parts
  const { held, triggers, ingest, accept, outbox, runs, making, egress } = parts
  const { declared, keys, sources, stored } = held
  const sessions = createSessions(store)
  const settings = openSettings(store, clock)
  const polls = openPolls({
    ...{ tallies, clock, accept, prepare, sources: sources.store },
    demo: (now) => demoWorld(settings, now),
  })
  const rules = {
    checkTarget: egress.checkTarget,
    hasSlack: async () => held.slack.access().token !== null,
  }
  return {
    ...setupCalls({
      ...{ declared, secret, accept, onPending },
      requireModel: async () => void providerOf(await stored.calls.modelConfig(), ''),
      newest: (name, limit) => newestOf(ctx, sources, name, limit, clock.now()),
      definition: (name) => triggers.definition(name),
      practise: (definition, cause, of) => triggers.practise(definition, cause, of),
    }),
    ...outboxWrites(outbox.queue),
    ...outbox.fetches,
    ...parts.slackThreads.port,
    ...openSlackRows(store, clock, tallies),
    ...subscriptionCalls({
      ...{ subscriptions: outbox.subscriptions, ...rules },
      requireTrigger: (name) => requireTrigger(ctx, name),
      requireProject: (word) => requireProject(declared, word),
    }),
    // Scope admin: what an operator names may be on the private network.
    ...triggerSaves({
      declared,
      subscribe: (trigger, url, by) =>
        outbox.subscriptions.add({ trigger, url, project: null, audience: 'operator' }, by),
      requireAddress: (url, field) => requireAddress(rules, url, 'operator', field),
    }),
    ...agentTestWrites({ ...runs, making }),
    ...polls,
    ...syncWrites({ ...{ declared, accept, tallies }, catalog: held.catalog, credentials: held.credentials }),
    ...demoCalls({ declared, catalog: held.catalog, ctx, settlePoll: polls.settlePoll }),
    ...openAskStore({
      ...{ store, clock, secret, usage: stored.record },
      newest: () => stamp.newest,
      dailyBudgetUsd: () => stored.agents().daily_budget_usd,
      scopesOf: (owner, then) =>
        owner.startsWith('key:')
          ? (keys.records().find(({ id }) => owner === `key:${id}`)?.scopes ?? null)
          : owner.startsWith('slack:')
            ? held.slackPeople.scopesOf(owner.split(':').at(-1)!, true)
            : then,
    }),
    planProposal: async (...[draft, caller]: Parameters<Writer['planProposal']>) =>
      planProposal(declared, draft, caller),
    ingest: (post: Parameters<Writer['ingest']>[0]) => ingest.add({ ...post, body: joined(post.body) }),
    makeFirstSource: async (...[kind, post, caller]: Parameters<Writer['makeFirstSource']>) =>
      makeFirstSource(declared, kind, post, { caller, nowMs: clock.now(), prepare }),
    remember: (...[request, caller, key]: Parameters<Writer['remember']>) =>
      remember(declared, (call) => ingest.add(call), request, caller, key),
    createKey: async (...of: Parameters<Writer['createKey']>) =>
      createBoundKey({ keys, sources, declared }, ...of),
    revokeKey: async (...[id, caller]: Parameters<Writer['revokeKey']>) => keys.revoke(id, caller),
    touchKeys: async (ids: string[]) => keys.touch(ids),
    loadSessions: async (after: number) => sessions.load(after),
    saveSessions: async (records: Parameters<Writer['saveSessions']>[0]) => sessions.save(records),
    dropSession: async (idHash: string) => sessions.drop(idHash),
    close: async () => {
      ingest.flush()
      egress.close()
      store.close()
    },
  }
}

type Outcome = Parameters<JoinedCall['settle']>[0]

/** Steps of runs written in the transaction of ingest, or in one of their own where nothing is ingested. */
function committer({ store, pipeline, journal }: Pick<Writing, 'store' | 'pipeline'> & { journal: Journal }) {
  const outcomeOf = ({ method, args }: JoinedCall): Outcome => {
    try {
      return { value: (journal[method] as (...args: unknown[]) => unknown)(...args) }
    } catch (error) {
      // SQLite has ended the whole transaction, as it does where the disk fails.
      if (!store.db.inTransaction) throw error
      return { error: error as Error }
    }
  }
  return (calls: readonly InnerCall[], joined: readonly JoinedCall[]) => {
    let outcomes: Outcome[] | null = null
    const write = () => {
      outcomes = joined.map(outcomeOf)
    }
    const undone = (error: SvcError) => {
      // Otherwise nothing is stored, and they may go well without the calls: of a volume that is full they need little.
      outcomes = error.code === 'unknown_outcome' ? joined.map(() => ({ error })) : null
    }
    const answers = pipeline.accept(calls, { write, undone })
    try {
      if (outcomes === null) store.tx(write)
    } catch (error) {
      outcomes = joined.map(() => ({ error: error as Error }))
    }
    joined.forEach(({ settle }, i) => {
      settle(outcomes![i]!)
    })
    return answers
  }
}

/**
 * Calls that came with an Idempotency-Key: their answers are sealed, for some hold a secret that is shown once and
 * stored nowhere else.
 */
function keyedCalls({ store, clock, secrets }: Writing): Pick<Writer, 'claimCall' | 'endCall'> {
  const idempotency = new Idempotency(store.db)
  const place = (claim: string) => `idempotency/${claim}/answer`
  return {
    claimCall: ({ caller, operation, key, said }) => {
      const claim = idempotencyKeyOf(caller, operation, key)
      const first = store.tx(() => idempotency.begin(claim, hash(JSON.stringify(said)), clock.now()))
      if (!first?.answer) return { claim, first: first && { answer: null } }
      return { claim, first: { answer: JSON.parse(secrets.open(first.answer, place(claim))) } }
    },
    endCall: (claim, answer) =>
      store.tx(() => idempotency.end(claim, answer && secrets.seal(JSON.stringify(answer), place(claim)))),
  }
}

/** What it has for the thread or the process it runs in. */
function writerOwn(
  {
    options,
    clock,
    store,
    state,
    ctx,
    stamp,
    secret,
    capacity,
    sealed,
    live,
    tallies,
    appender,
    ...parts
  }: Writing,
  booted: ReturnType<typeof bootCatalog>,
) {
  const { triggers, pipeline, held, runs } = parts
  const committing = committer({
    store,
    pipeline,
    journal: createJournal(runs, createFinishing(runs, parts.making)),
  })
  const maintenance = new Maintenance({
    ...{ store, index: ctx.index, appender, dictionary: ctx.dictionary, capacity },
    retention: options.retention ?? { maxAgeMs: null, maxBytes: null },
  })
  const records = new Records(store, options.retention?.maxAgeMs ?? null, triggers, runs)
  return {
    bootReport: async () => ({
      ...booted,
      done: [...store.done, ...booted.done],
      failed: [...(store.loss ? [store.loss] : []), ...booted.failed],
      warned: [sealed.look().sentence, held.stored.otherDefault()].filter((sentence) => sentence !== null),
    }),
    ingestMany: (...[calls, joined = []]: Parameters<Writer['ingestMany']>) =>
      joined.length ? committing(calls, joined) : pipeline.accept(calls),
    listen: (...[filter, send]: Parameters<Writer['listen']>) => live.add(filter, send),
    onFault: parts.onFault,
    newTallies: () => tallies.news(),
    tallies: () => tallies.list(),
    sourceSpec: (ingestKey: string) => specOf(held.sources.byIngestKey(ingestKey)),
    closeInstant: (instant: number) => stamp.close(instant),
    writerSilence: () => state.silence(clock.now()),
    maintain: () => {
      if (state.isHeld && !store.isWritable()) return false
      pipeline.noteRefusals(capacity.refusal(clock.now()))
      return maintenance.step(clock.now()) || records.step(clock.now())
    },
    foldLog: () => store.foldLog(),
    tick: () => triggers.tick(),
    nextDue: () => triggers.nextDue(),
    cursorSecret: secret,
  }
}
