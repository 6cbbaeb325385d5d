/** What runs need of the rest of the engine: agents, wiring, skills, firings, and the way in. */
import type { AgentSpec, TriggerSpec } from '../schemas/types.ts'
import { isSchedule } from '../schemas/words.ts'
import type { Clock } from './clock.ts'
import type { Declared } from './declared/declared.ts'
import { fail } from './errors.ts'
import type { FindingsParts } from './findings/findings.ts'
import type { UsageEntry } from './models/usage.ts'
import { TRIGGER_DEFAULTS } from './parts/trigger-spec.ts'
import type { RunLimits, RunsParts } from './runs/parts.ts'
import { runQueries } from './runs/queries.ts'
import type { Origin } from './runs/types.ts'
import type { Stamp } from './store/stamp.ts'
import type { Tallies } from './tallies.ts'
import type { ReadContext } from './timeline/context.ts'
import { parseDuration } from './timeline/duration.ts'
import { eventId } from './timeline/present.ts'
import { renderPayload } from './triggers/message.ts'
import { firstEvents, keysOf } from './triggers/present.ts'
import { type FiringRow, triggerQueries } from './triggers/queries.ts'
import type { ProjectDoc } from './wiring/project-doc.ts'
import { wiringOf } from './wiring/wires.ts'

const EVIDENCE_MAX = 200

export function runsParts(parts: {
  declared: Declared
  ctx: ReadContext
  clock: Clock
  stamp: Stamp
  findings: FindingsParts
  tallies: Tallies
  secret: string
  markerSeed: string | undefined
  limits(): RunLimits
  usage(entry: UsageEntry): void
  incidents: RunsParts['incidents']
  onPending(): void
}): RunsParts & Pick<Parameters<typeof import('./runs/calls.ts').runWrites>[0], 'firingId' | 'ctx'> {
  const {
    declared,
    ctx,
    clock,
    stamp,
    findings,
    tallies,
    secret,
    markerSeed,
    limits,
    usage,
    incidents,
    onPending,
  } = parts
  const { store, kinds } = declared
  const firings = triggerQueries(store.db)
  const projectDocs = (ids: readonly string[]) =>
    ids.flatMap((id) => {
      const found = kinds.project.find(id)
      return found ? [{ id, doc: found.doc as unknown as ProjectDoc }] : []
    })
  return {
    store,
    ctx,
    clock,
    tallies,
    env: declared.env,
    queries: runQueries(store.db),
    closeInstant: (at) => stamp.close(at),
    incidents,
    agent: (name) => (kinds.agent.find(name)?.doc as unknown as AgentSpec | undefined) ?? null,
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
    onPending,
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
