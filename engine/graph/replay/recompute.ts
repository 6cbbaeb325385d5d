/**
 * The windows of triggers as they filled, where it was not recorded: the one evaluator judges the stored
 * events again by the definition of then. It tells only values that no row tells, and invents no firing.
 */

import type { Label } from '../../../schemas/types.ts'
import { documentOf } from '../../changes/documents.ts'
import { SOURCE_LABEL } from '../../store/dictionary.ts'
import { pagesOf, type Steps } from '../../timeline/steps.ts'
import { Recorder, reachOf } from '../../triggers/core/index.ts'
import { pastDefinition } from '../../triggers/definitions.ts'
import { seenOf } from '../../triggers/seen.ts'
import type { TriggerDefinition, Verdict } from '../../triggers/types.ts'
import type { Configuration } from './configurations.ts'
import type { Draft } from './moment.ts'
import { evaluationDraft } from './moments/evaluations.ts'
import type { Scope, TriggerRow } from './scope.ts'
import { idsWith } from './span.ts'

/** Events judged again for one answer. */
const JUDGED_MAX = 20_000
/** Of these in one step. */
const PAGE = 1_000

export interface Recomputed {
  drafts: Draft[]
  /** Triggers whose windows would take more events than are judged. */
  left: string[]
  /** How often a trigger would have fired by what is stored, and no firing is there. */
  unrecorded: { trigger: string; n: number }[]
}

/** @param told moments of rows: of these events nothing is worked out. @param until epoch ms, exclusive */
export function* recompute(scope: Scope, told: readonly Draft[], until: number): Steps<Recomputed> {
  const known = new Set(
    told.flatMap(({ kind, event_id, nodes }) =>
      (kind === 'evaluation' || kind === 'firing') && event_id ? `${nodes[0]} ${event_id}` : [],
    ),
  )
  const result: Recomputed = { drafts: [], left: [], unrecorded: [] }
  let budget = JUDGED_MAX
  for (const span of spansOf(scope, until)) {
    yield
    const ids = eventsOf(scope, span, budget + 1)
    if (ids.length > budget) {
      result.left.push(span.definition.name)
      continue
    }
    budget -= ids.length
    yield* judge(scope, span, ids, known, result)
  }
  return result
}

interface Span {
  definition: TriggerDefinition
  /** Epoch ms; the end is exclusive. */
  from: number
  until: number
}

/** Spans over which a trigger that fills a window was one and the same. */
function spansOf(scope: Scope, until: number): Span[] {
  const { configurations, triggers, chain, from } = scope
  const newest = new Map(triggers.map((row) => [row.name, row]))
  return [...newest.values()].flatMap((row) => {
    if (chain && !chain.triggers.has(row.id)) return []
    const spans: (Span & { text: string })[] = []
    for (const [i, one] of configurations.all.entries()) {
      const begins = Math.max(from, i === 0 ? from : one.at)
      const ends = Math.min(until, configurations.all[i + 1]?.at ?? until)
      const definition = begins < ends ? definitionOf(scope, one, row) : null
      if (!definition) continue
      const text = JSON.stringify(definition)
      const last = spans.at(-1)
      if (last?.text === text && last.until === begins) last.until = ends
      else spans.push({ definition, from: begins, until: ends, text })
    }
    return spans
  })
}

/** Of a trigger with a window of values that is not paused; null of any other. */
function definitionOf(
  { ctx }: Scope,
  { doc, part }: Configuration,
  { id, name }: TriggerRow,
): TriggerDefinition | null {
  const found = doc.uses.trigger?.[name] ? part('trigger', name) : undefined
  if (!found || found.paused === true || !('aggregate' in (found.condition as object))) return null
  return pastDefinition({ id, name, spec: documentOf('trigger', found) }, (source) => ({
    ids: ctx.names.idsOf(source),
    labels: ((part('source', source)?.config ?? {}) as { labels?: Label[] }).labels ?? [],
  }))
}

function eventsOf({ ctx }: Scope, { definition, from, until }: Span, most: number): number[] {
  const labels = definition.sourceIds.flatMap((id) => ctx.dictionary.find(SOURCE_LABEL, String(id)) ?? [])
  if (labels.length === 0) return []
  const first = ctx.ceilingAt(from - reachOf(definition) - 1)
  return idsWith(ctx, [[labels]], first, ctx.ceilingAt(until - 1), most)
}

function* judge(
  { ctx, chain }: Scope,
  span: Span,
  ids: number[],
  known: ReadonlySet<string>,
  into: Recomputed,
): Steps<void> {
  const { definition, from, until } = span
  let unrecorded = 0
  const record = (verdict: Verdict) => {
    const { at, eventId, value, reason, key } = verdict
    if (eventId === null || value === null || at < from || at >= until) return
    if (known.has(`trigger:${definition.name} evt_${eventId}`)) return
    if (chain && !(key !== null && chain.keys.has(key))) return
    if (reason === 'fired') {
      unrecorded++
      return
    }
    const id = `${String(eventId).padStart(16, '0')}/${definition.name}`
    into.drafts.push(evaluationDraft(definition.name, { ...verdict, id, dispatchId: null, recomputed: true }))
  }
  const recorder = new Recorder({
    definition,
    labels: ctx.dictionary,
    sourceName: (id) => ctx.names.get(id)?.name ?? '',
    record,
  })
  const withPayload = JSON.stringify(definition.spec).includes('payload.')
  for (const page of pagesOf(ids, PAGE)) {
    yield
    for (const row of ctx.rows.read(page, withPayload)) recorder.feed(seenOf(row))
  }
  if (unrecorded) into.unrecorded.push({ trigger: definition.name, n: unrecorded })
}
