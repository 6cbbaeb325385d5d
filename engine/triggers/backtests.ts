/**
 * When a trigger would have fired over stored events. It reads them in the order they were stored, so
 * that it says what live evaluation would have done; a large span is read in slices, between which
 * other reads are answered.
 */

import type { BacktestRequest, BacktestResult, BacktestRun, Label, TriggerSpec } from '../../schemas/types.ts'
import { isSchedule, sentenceOf } from '../../schemas/words.ts'
import { documentOf } from '../changes/documents.ts'
import { maskedDocuments } from '../changes/masked-documents.ts'
import type { Clock } from '../clock.ts'
import { fail } from '../errors.ts'
import { normaliseTrigger } from '../parts/trigger-spec.ts'
import type { Snapshot } from '../snapshot.ts'
import { SOURCE_LABEL } from '../store/dictionary.ts'
import { eachPosition } from '../store/scan.ts'
import type { ReadContext } from '../timeline/context.ts'
import { parseDuration } from '../timeline/duration.ts'
import { parseInstant } from '../timeline/plan.ts'
import { Backtest, reachOf } from './core/index.ts'
import { draftDefinition, pastDefinition, readDefinitions } from './definitions.ts'
import { seenOf } from './seen.ts'
import { nextSlot } from './slots.ts'
import type { TriggerDefinition } from './types.ts'

const WINDOW_DEFAULT = '7d'
/** Events looked at; more are cut off at the old end. */
const SCAN_MAX = 300_000
/** Events read in one go; a payload may have a megabyte. */
const SLICE = 2_000
const SLICE_WITH_PAYLOAD = 100
/** How long events are judged before other reads are answered: patterns may take milliseconds each. */
const GIVE_WAY_MS = 10

/** @throws SvcError invalid; not_found */
export async function backtest(
  ctx: ReadContext,
  request: BacktestRequest,
  clock: Clock,
  snapshot: Snapshot,
): Promise<BacktestResult> {
  const now = clock.now()
  const to = request.to === undefined ? now : Math.min(now, parseInstant(request.to, 'to'))
  const asked = to - parseDuration(request.window ?? WINDOW_DEFAULT, 'window')
  const [main, compare] = await snapshot(() => [
    definitionOf(ctx, request),
    request.compare ? drafted(ctx, request.compare, request.version) : null,
  ])
  const tried = [main, ...(compare ? [compare] : [])]
  const span = await snapshot(() => spanOf(ctx, tried, asked, to))
  const runs = tried.map((definition) => newRun(ctx, definition, span.from, to))
  const withPayload = tried.some(({ spec }) => JSON.stringify(spec).includes('payload.'))
  await feedAll(ctx, runs, span.ids, { withPayload, clock, snapshot })
  const [result, compared] = runs.map((run) => run.finish())
  return {
    from: new Date(span.from).toISOString(),
    to: new Date(to).toISOString(),
    bucket: result!.bucket,
    scanned: span.ids.length,
    truncated: span.isCut,
    result: result!.run,
    ...(compared ? { compare: compared.run } : {}),
    sentence: sentenceOf(main.spec),
  }
}

async function feedAll(
  ctx: ReadContext,
  runs: readonly Run[],
  ids: readonly number[],
  { withPayload, clock, snapshot }: { withPayload: boolean; clock: Clock; snapshot: Snapshot },
): Promise<void> {
  const size = withPayload ? SLICE_WITH_PAYLOAD : SLICE
  const giveWay = () => new Promise((resolve) => setImmediate(resolve))
  for (let at = 0; at < ids.length; at += size) {
    // Nothing is read of the store while events are judged but labels, which never change.
    const rows = await snapshot(() => ctx.rows.read(ids.slice(at, at + size), withPayload))
    let since = clock.now()
    for (const row of rows) {
      const event = seenOf(row)
      for (const run of runs) run.feed(event)
      if (clock.now() - since < GIVE_WAY_MS) continue
      await giveWay()
      since = clock.now()
    }
    await giveWay()
  }
}

function definitionOf(ctx: ReadContext, request: BacktestRequest): TriggerDefinition {
  if ((request.trigger === undefined) === (request.definition === undefined))
    fail('invalid', 'give exactly one of trigger and definition', { field: 'trigger' })
  const { version } = request
  if (request.definition) return drafted(ctx, request.definition, version)
  if (version !== undefined) {
    const then = maskedDocuments(ctx.db)('trigger', request.trigger!, version)
    if (!then) fail('not_found', `no trigger was named ${request.trigger} as of change-set ${version}`)
    return past(ctx, documentOf('trigger', then), version)
  }
  const found = readDefinitions(ctx.db).find(({ name }) => name === request.trigger)
  if (!found) fail('not_found', `no trigger is named ${request.trigger}`)
  // How it would do is asked of what it says, also while it is paused.
  return { ...found, paused: false }
}

/** Over the sources of then: the events of one that was deleted since are its own. */
function past({ db, names }: ReadContext, spec: TriggerSpec, version: number): TriggerDefinition {
  const documentAt = maskedDocuments(db)
  return pastDefinition({ id: 0, name: '', spec }, (source) => {
    const { labels = [] } = (documentAt('source', source, version)?.config ?? {}) as { labels?: Label[] }
    return { ids: names.idsOf(source), labels }
  })
}

/** @param version of the sources it watches; undefined: as they are */
function drafted(ctx: ReadContext, given: TriggerSpec, version: number | undefined): TriggerDefinition {
  const spec = normaliseTrigger(given)
  const definition = version === undefined ? draftDefinition(ctx.db, spec) : past(ctx, spec, version)
  const missing = spec.sources.find((name) => ctx.names.idsOf(name).length === 0)
  if (missing !== undefined) fail('not_found', `no source is named ${missing}`, { field: 'sources' })
  return definition
}

interface Span {
  /** In the order they were stored. */
  ids: number[]
  /** Where firings count from, epoch ms. */
  from: number
  isCut: boolean
}

/** Events of the sources that were stored in the span, and before it as far as windows reach. */
function spanOf(ctx: ReadContext, definitions: readonly TriggerDefinition[], from: number, to: number): Span {
  const sources = [...new Set(definitions.flatMap(({ sourceIds }) => [...sourceIds]))]
  const labels = sources.flatMap((id) => ctx.dictionary.find(SOURCE_LABEL, String(id)) ?? [])
  const reach = Math.max(...definitions.map(reachOf))
  const first = ctx.ceilingAt(from - reach)
  const ids: number[] = []
  const query = {
    groups: [labels],
    masked: [],
    from: Number.MIN_SAFE_INTEGER,
    to: Number.MAX_SAFE_INTEGER,
    afterId: first,
    ceiling: ctx.ceilingAt(to),
  }
  if (labels.length)
    eachPosition(ctx.index.all(), query, (id) => {
      ids.push(id)
    })
  ids.sort((a, b) => a - b)
  if (ids.length <= SCAN_MAX) return { ids, from, isCut: false }
  const kept = ids.slice(-SCAN_MAX)
  const oldest = ctx.rows.read([kept[0]!], false)[0]!
  return { ids: kept, from: Math.min(to, oldest.ingested_at + reach), isCut: true }
}

interface Run {
  feed(event: ReturnType<typeof seenOf>): void
  finish(): { run: BacktestRun; bucket: string }
}

function newRun(ctx: ReadContext, definition: TriggerDefinition, from: number, to: number): Run {
  const { condition } = definition.spec
  if (!isSchedule(condition))
    return new Backtest({
      definition,
      from,
      to,
      labels: ctx.dictionary,
      sourceName: (id) => ctx.names.get(id)?.name ?? '',
    })
  return {
    feed: () => {},
    finish: () => {
      const slots: number[] = []
      for (let at = nextSlot(condition, from, from); at !== null && at <= to && slots.length < 20_000; )
        at = nextSlot(condition, from, slots[slots.push(at) - 1]!)
      return Backtest.ofTimes(slots, definition.name || 'schedule', from, to)
    },
  }
}
