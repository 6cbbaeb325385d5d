/** Events that came in: of sources that a trigger of the project watched, and what chains were woken by. */
import { SOURCE_LABEL } from '../../../store/dictionary.ts'
import type { StoredRow } from '../../../store/rows.ts'
import type { ReadContext } from '../../../timeline/context.ts'
import { presentRow } from '../../../timeline/present.ts'
import { pagesOf, type Steps } from '../../../timeline/steps.ts'
import { edgeIds, nodeId } from '../../ids.ts'
import type { Configuration } from '../configurations.ts'
import { type Collected, wholeInstants } from '../cut.ts'
import { type Draft, draft } from '../moment.ts'
import type { Scope } from '../scope.ts'
import { idsWith } from '../span.ts'

/** Rows read, and told, in one step. */
const PAGE = 1_000

export function* collectEvents(scope: Scope): Steps<Collected> {
  const { ctx, from, to, most } = scope
  const [first, last] = [ctx.ceilingAt(from - 1), ctx.ceilingAt(to)]
  const ids = scope.chain ? ofChain(scope, first, last) : watchedIds(scope, first, last)
  const masked = new Set(ctx.names.masked())
  const stored: StoredRow[] = []
  for (const page of pagesOf(ids.slice(0, most + 1), PAGE)) {
    yield
    for (const row of ctx.rows.read(page, false)) if (!masked.has(row.source_id)) stored.push(row)
  }
  const { rows, cutAt, overfullAt } = wholeInstants(stored, most, ({ ingested_at }) => ingested_at)
  const drafts: Draft[] = []
  for (const page of pagesOf(rows, PAGE)) {
    yield
    for (const row of page) drafts.push(momentOf(scope, row))
  }
  return { drafts, cutAt, overfullAt }
}

/** Of findings only those recorded in the project. */
function watchedIds(
  { ctx, project, configurations, most }: Scope,
  afterId: number,
  ceiling: number,
): number[] {
  const { own, findings } = sourceLabels(ctx, configurations.names('source'))
  const inProject = ctx.dictionary.find('project', project.id)
  const recorded = inProject === undefined ? [] : [[findings, [inProject]]]
  return idsWith(ctx, [[own], ...recorded], afterId, ceiling, most + 1)
}

/** Evidence, and the events of the entities that the chain is about. */
function ofChain(scope: Scope, afterId: number, ceiling: number): number[] {
  const { ctx, chain, most, configurations } = scope
  const { own } = sourceLabels(ctx, configurations.names('source'))
  const entities = chain!.entities.flatMap(({ label, value }) => ctx.dictionary.find(label, value) ?? [])
  const evidence = chain!.evidence.filter((id) => id > afterId && id <= ceiling)
  const found = new Set([...evidence, ...idsWith(ctx, [[own, entities]], afterId, ceiling, most + 1)])
  return [...found].sort((a, b) => a - b)
}

export function sourceLabels(
  ctx: ReadContext,
  names: readonly string[],
): { own: number[]; findings: number[] } {
  const labels = { own: [] as number[], findings: [] as number[] }
  for (const id of names.flatMap((name) => ctx.names.idsOf(name))) {
    const label = ctx.dictionary.find(SOURCE_LABEL, String(id))
    if (label === undefined) continue
    labels[ctx.names.get(id)?.sourceType === 'finding' ? 'findings' : 'own'].push(label)
  }
  return labels
}

function momentOf({ ctx, configurations }: Scope, row: StoredRow): Draft {
  const shown = presentRow(row, ctx.dictionary, ctx.names, row.ingested_at)
  const { source, entity, text, id } = shown
  return draft({
    at: row.ingested_at,
    rank: 'event',
    depth: depthOfEvent(ctx, row.id, shown.source_type),
    id: String(row.id).padStart(16, '0'),
    kind: 'event',
    phase: shown.event_type || 'event',
    title: `${source}: ${text}`,
    nodes: [nodeId('source', source)],
    edges: feedsOf(configurations.around(row.ingested_at), source),
    entity,
    event_id: id,
  })
}

/** Triggers that watched the source. */
function feedsOf(configurations: readonly Configuration[], source: string): string[] {
  const triggers = configurations.flatMap(({ doc, part }) =>
    Object.keys(doc.uses.trigger ?? {}).filter((trigger) =>
      ((part('trigger', trigger)?.sources ?? []) as string[]).includes(source),
    ),
  )
  return [...new Set(triggers)].map((trigger) => edgeIds.feeds(source, trigger))
}

/** A finding on the timeline comes behind the run that found it. */
export function depthOfEvent({ db }: ReadContext, id: number, sourceType: string): number {
  if (sourceType !== 'finding') return 0
  const depth = db
    .prepare<[string], number>('SELECT depth FROM runs WHERE event_id = ? LIMIT 1')
    .pluck()
    .get(`evt_${id}`)
  return (depth ?? 0) + 1
}
