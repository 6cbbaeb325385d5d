/** What runs and findings need of the rest of the engine: agents, projects, wiring, firings, and the way in. */
import type { AgentSpec, IngestResult, Label, TriggerSpec } from '../../schemas/types.ts'
import { isSchedule } from '../../schemas/words.ts'
import { findingQueries } from '../agents/finding-queries.ts'
import { type FindingsParts, primaryOf } from '../agents/findings.ts'
import { readable } from '../agents/inspect.ts'
import { countOffered } from '../agents/mcp-pins.ts'
import { openStoredModels } from '../agents/models/calls.ts'
import type { ModelEnvironment } from '../agents/models/providers.ts'
import type { UsageEntry } from '../agents/models/usage.ts'
import { eventLabelsOf, type runWrites } from '../agents/runs/calls.ts'
import { toolsFault } from '../agents/runs/own-tools.ts'
import { requireKnownAgent, runQueries } from '../agents/runs/queries.ts'
import type { Origin, RunLimits, RunsParts } from '../agents/runs/types.ts'
import { openStoredTracing, type TracingEnvironment } from '../agents/telemetry/tracing-settings.ts'
import type { Caller } from '../calls.ts'
import type { Clock } from '../clock.ts'
import { openCatalog } from '../declared/catalog/catalog.ts'
import { createCredentials } from '../declared/credentials.ts'
import { type Declared, type DeclaredParts, openDeclared } from '../declared/declared.ts'
import { createKeys } from '../declared/keys.ts'
import { createOauth } from '../declared/oauth.ts'
import { setupQueries } from '../declared/projects/follow.ts'
import { openTemplates } from '../declared/projects/present.ts'
import { answersPractice } from '../declared/setup/tryout.ts'
import { makeFindingsSource } from '../declared/source-writes.ts'
import { TRIGGER_DEFAULTS } from '../documents/trigger.ts'
import { fail, SvcError } from '../errors.ts'
import { openPositions } from '../graph/graph.ts'
import { maintenanceAround } from '../incidents/maintenance.ts'
import type { Figures, Tallies } from '../log/figures.ts'
import type { InnerCall } from '../log/pipeline.ts'
import type { DocumentsWriter } from '../log/retention.ts'
import type { StoreHandle } from '../log/store/handle.ts'
import type { ReadContext } from '../log/timeline/context.ts'
import { eventId, parseEventId } from '../log/timeline/present.ts'
import { HANDOFF_COOLDOWN, wiringOf } from '../model/project.ts'
import { parseDuration } from '../model/units.ts'
import type { Secrets } from '../net/secrets.ts'
import type { Ending } from '../outbox/fetching.ts'
import { emptySlackEnvironment, openSlackSettings, type SlackEnvironment } from '../outbox/slack-api.ts'
import { openSlackPeople } from '../slack/answers.ts'
import { carriedOf, recentOf } from '../sources/sample.ts'
import { createSources } from '../sources/sources.ts'
import { mayHold } from '../triggers/core/index.ts'
import { renderPayload } from '../triggers/message.ts'
import { type FiringRow, firstEvents, keysOf, triggerQueries } from '../triggers/queries.ts'

const EVIDENCE_MAX = 200

/** What runs need of the rest, with what their calls are told of firings. */
export type RunNeeds = RunsParts & Pick<Parameters<typeof runWrites>[0], 'firingId' | 'ctx'>

export function runNeeds(parts: {
  declared: Declared
  ctx: ReadContext
  clock: Clock
  /**
   * Promises that nothing is stored any more with a time of ingest up to this one, epoch ms.
   * @returns it, or that of the newest event where that is later, as after a clock was set back
   */
  closeInstant(at: number): number
  findings: FindingsParts
  tallies: Tallies
  secret: string
  markerSeed: string | undefined
  limits(): RunLimits
  usage(entry: UsageEntry): void
  incidents: RunsParts['incidents']
  onPending(): void
}): RunNeeds {
  const { declared, ctx, clock, findings, tallies, secret, markerSeed, limits, usage } = parts
  const { store, kinds } = declared
  const firings = triggerQueries(store.db)
  const projectDocs = (ids: readonly string[]) =>
    ids.flatMap((id) => {
      const found = kinds.project.find(id)
      return found ? [{ id, doc: found.doc }] : []
    })
  const needs: RunNeeds = {
    store,
    ctx,
    clock,
    tallies,
    env: declared.env,
    queries: runQueries(store.db),
    closeInstant: parts.closeInstant,
    agent: (name) => kinds.agent.find(name)?.doc ?? null,
    handoffs: (projects, agent) =>
      projectDocs(projects).flatMap(({ id, doc }) =>
        wiringOf(doc)
          .handoffs.filter((rule) => rule.agent === agent)
          .map((rule) => ({ ...rule, project: id })),
      ),
    longestHandoffMs: () =>
      Math.max(
        0,
        ...kinds.project
          .list()
          .flatMap(({ doc }) => wiringOf(doc).handoffs)
          .map(({ cooldown }) => parseDuration(cooldown ?? HANDOFF_COOLDOWN, 'cooldown')),
      ),
    wirings: (projects) =>
      projectDocs(projects).map(({ doc }) => ({
        isPaused: doc.paused === true,
        wakes: wiringOf(doc).wakes.map((wake) => ({ ...wake, enabled: wake.enabled === true })),
      })),
    skills: (projects) => {
      const names = new Set(projectDocs(projects).flatMap(({ doc }) => Object.keys(doc.uses.skill ?? {})))
      return [...names].sort().flatMap((name) => {
        const found = kinds.skill.find(name)
        return found ? [{ name, description: String(found.doc.description ?? '') }] : []
      })
    },
    firing: (id, project) => {
      const row = firings.byId.get(id)
      return row ? toldOf(ctx, row, project) : null
    },
    firingId: (dispatchId) => {
      const row =
        firings.byDispatch.get(dispatchId) ?? fail('not_found', `no firing has the id ${dispatchId}`)
      return { id: row.id, label: row.label, entity: row.value_text ?? row.key, project: row.project }
    },
    eventLabels: (run) => eventLabelsOf(needs, ctx, run),
    limits,
    usage,
    append: findings.append,
    secret,
    markerSeed,
    incidents: parts.incidents,
    onPending: parts.onPending,
  }
  return needs
}

/** A firing as its agents are told of it; the same whenever it is asked for. */
function toldOf(
  ctx: ReadContext,
  row: FiringRow,
  project: string | null,
): Pick<Origin, 'trigger' | 'dispatchId' | 'firing'> {
  const spec = JSON.parse(row.spec) as TriggerSpec
  const window = spec.emit?.context_window ?? TRIGGER_DEFAULTS.context_window
  return {
    trigger: row.trigger_name,
    dispatchId: row.dispatch_id,
    firing: {
      firedAt: row.fired_at ?? row.last_at,
      reason: row.reason,
      key: row.key,
      events: row.events,
      evidence: firstEvents(ctx.db, row.id, EVIDENCE_MAX).map(eventId),
      keys: row.key_count > 1 ? keysOf(ctx.db, row.id).map(({ key, events }) => ({ key, events })) : [],
      heldBack: row.held_back,
      maintenance: maintenanceAround(ctx, row),
      summary: isSchedule(spec.condition) ? renderPayload(ctx, row, project) : null,
      window: parseDuration(window, 'emit.context_window'),
    },
  }
}

const SERVICE: Caller = { id: 'svc', name: 'svc' }

export function findingNeeds(
  declared: Declared,
  ctx: ReadContext,
  accept: (call: InnerCall) => IngestResult | SvcError,
  ending: Ending,
  foundOutside: FindingsParts['foundOutside'],
): FindingsParts {
  const { sources, projects, clock, store } = declared
  return {
    clock,
    ending,
    foundOutside,
    queries: findingQueries(store.db),
    requireKnownAgent: (name) => requireKnownAgent(store.db, name),
    isAgent: (name) => declared.kinds.agent.find(name) !== undefined,
    entityLabels: (project) =>
      sources
        .live()
        .filter(({ name }) => projects.users('source', name).includes(project))
        .flatMap(({ config }) => primaryOf((config.labels ?? []) as Label[]) ?? []),
    isKnownLabel: (name, value) => ctx.dictionary.find(name, value) !== undefined,
    events: (ids, project) => {
      const numbers = ids.flatMap((id) => parseEventId(id) ?? [])
      return readable(ctx, project === null ? [] : [project], numbers)
    },
    handoffs: (project, finding) => {
      const doc = declared.kinds.project.find(project)?.doc
      const written = new Set(
        sources.live().flatMap(({ connector, name }) => (connector.kind === 'finding' ? name : [])),
      )
      const watching = Object.keys(doc?.uses.trigger ?? {}).flatMap((name) => {
        const trigger = declared.kinds.trigger.find(name)?.doc
        const isFed = trigger?.sources.some((source) => written.has(source))
        return trigger && isFed && mayHold(trigger.filters ?? [], finding) ? [{ name, trigger }] : []
      })
      const isWatched = watching.some(({ trigger }) => !trigger.paused)
      return {
        handoffs: doc && !isWatched ? wiringOf(doc).handoffs : [],
        paused: watching.map(({ name }) => name),
      }
    },
    answersPractice: (project, writer) => answersPractice(declared, project, writer),
    practiceAnswered: (project, run) => void setupQueries(store.db).found(project, run),
    append: async (item, alongside) => {
      const answer = accept({
        ingestKey: findingsSource(declared),
        body: Buffer.from(JSON.stringify(item)),
        bypassCooldown: false,
        caller: SERVICE.id,
        alongside,
      })
      if (answer instanceof SvcError) throw answer
    },
  }
}

/** The source findings are written to, made with the first. @returns its ingest key. */
function findingsSource(declared: Declared): string {
  const known = declared.sources.live().find(({ connector }) => connector.kind === 'finding')
  return known?.ingestKey ?? declared.sources.requireByName(makeFindingsSource(declared)!).ingestKey
}

/*
 * What is declared and set, held on a store by the roles that have one: the writer with all that a write does
 * beside its rows, a reader on a connection that cannot write, and a rehearsal of drafts.
 */

/** What an instance is started with, as far as what is declared and set depends on it. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>
  models: ModelEnvironment | undefined
  tracing: TracingEnvironment | undefined
  slack: SlackEnvironment | undefined
}

/** What a write of what is declared does beside its rows. */
export interface Effects extends Pick<DeclaredParts, 'purge' | 'gone' | 'back' | 'changed'> {
  documents: DocumentsWriter['replace']
  /** A key was revoked. */
  revoked(key: string): void
}

interface HeldParts {
  store: StoreHandle
  clock: Clock
  ctx: ReadContext
  secrets: Secrets
  figures: Figures
  tallies: Tallies
  surroundings: Surroundings
  effects: Effects
  /** Why nothing is stored, in words; null: it is. */
  storageReason(): string | null
}

export type Held = ReturnType<typeof openHeld>

/** Opens it; what is asked of events is asked of `ctx`. */
export function openHeld({
  store,
  clock,
  ctx,
  secrets,
  figures,
  tallies,
  surroundings,
  effects,
  storageReason,
}: HeldParts) {
  const { env, models, tracing, slack = emptySlackEnvironment } = surroundings
  const keys = createKeys({ store, clock, onRevoked: effects.revoked })
  const credentials = createCredentials({ store, secrets, clock })
  const sources = createSources({
    ...{ store, clock, secrets, credentials, keys, env, figures, storageReason },
    documents: { replace: effects.documents },
    recent: (sourceId, limit) => recentOf(ctx, sourceId, limit),
    carried: (sourceId, limit) => carriedOf(ctx, sourceId, limit),
  })
  const { purge, gone, back, changed } = effects
  const stored = openStoredModels(store, secrets, clock, tallies, models)
  const modelFaults = (agent: Partial<AgentSpec>): string[] => {
    const external = agent.mcp_servers?.length ? countOffered(store.db, agent) : 0
    const lacking = external > 0 ? toolsFault(agent, external, stored.toolsTaken(agent)) : null
    return [stored.fallbackFault(agent), lacking].filter((one) => one !== null)
  }
  const declared = openDeclared({
    ...{ store, clock, secrets, keys, sources, env, modelFaults, purge, gone, back, changed },
    templates: openTemplates(),
  })
  return {
    ...{ ctx, declared, keys, credentials, sources, secrets },
    oauth: createOauth(store, clock),
    catalog: openCatalog(declared),
    positions: openPositions(store, clock),
    stored,
    slack: openSlackSettings({ store, secrets, clock, env: slack }),
    slackPeople: openSlackPeople(store, clock),
    tracing: openStoredTracing(store, secrets, clock, tracing),
  }
}
