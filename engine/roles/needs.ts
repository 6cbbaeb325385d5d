/** What runs and findings need of the rest of the engine: agents, projects, wiring, firings, and the way in. */
import type { IngestResult, Label, TriggerSpec } from '../../schemas/types.ts'
import { isSchedule } from '../../schemas/words.ts'
import type { Caller } from '../calls.ts'
import type { Clock } from '../clock.ts'
import type { Declared } from '../declared/declared.ts'
import { makeFindingsSource } from '../declared/findings-source.ts'
import { fail, SvcError } from '../errors.ts'
import { type FindingsParts, primaryOf } from '../findings/findings.ts'
import { findingQueries } from '../findings/queries.ts'
import { readable } from '../inspect/records.ts'
import type { UsageEntry } from '../models/usage.ts'
import type { Ending } from '../outbox/fetching.ts'
import { TRIGGER_DEFAULTS } from '../parts/trigger-spec.ts'
import type { InnerCall } from '../pipeline.ts'
import type { runWrites } from '../runs/calls.ts'
import { requireKnownAgent } from '../runs/known-agent.ts'
import type { RunLimits, RunsParts } from '../runs/parts.ts'
import { runQueries } from '../runs/queries.ts'
import type { Origin } from '../runs/types.ts'
import { setupQueries } from '../setup/queries.ts'
import { answersPractice } from '../setup/tryout/practice.ts'
import type { Tallies } from '../tallies.ts'
import type { ReadContext } from '../timeline/context.ts'
import { parseDuration } from '../timeline/duration.ts'
import { eventId, parseEventId } from '../timeline/present.ts'
import { renderPayload } from '../triggers/message.ts'
import { firstEvents, keysOf } from '../triggers/present.ts'
import { type FiringRow, triggerQueries } from '../triggers/queries.ts'
import { wiringOf } from '../wiring/wires.ts'

const EVIDENCE_MAX = 200

/** What runs need of the rest, with what their calls are told of firings. */
export type RunNeeds = RunsParts & Pick<Parameters<typeof runWrites>[0], 'firingId' | 'ctx'>

export function runNeeds(parts: {
  declared: Declared
  ctx: ReadContext
  clock: Clock
  /** Promises that nothing is stored any more with a time of ingest up to this one, epoch ms. */
  closeInstant(at: number): void
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
  return {
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
    limits,
    usage,
    append: findings.append,
    secret,
    markerSeed,
    incidents: parts.incidents,
    onPending: parts.onPending,
  }
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
): FindingsParts {
  const { sources, projects, clock, store } = declared
  return {
    clock,
    ending,
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
