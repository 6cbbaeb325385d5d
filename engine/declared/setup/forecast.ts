/**
 * What a change would have done over stored events: they are read in the order they were stored, page by page, and
 * judged by the triggers that the change reaches, as they are and as they would be. Between two pages others have
 * their turn; nothing is written.
 */
import type {
  ExportedEvents,
  PlanBacktest,
  PlanBacktestAgent,
  PlanBacktestRequest,
  PlanBacktestTrigger,
  WeeklyRange,
} from '../../../schemas/types.ts'
import { isSchedule, sentenceOf } from '../../../schemas/words.ts'
import type { Progress, Tell } from '../../calls.ts'
import type { Clock } from '../../clock.ts'
import { fail } from '../../errors.ts'
import { type Move, movesOf } from '../../gitops/moved.ts'
import { readCatalog } from '../../gitops/update.ts'
import type { Snapshot } from '../../log/steps.ts'
import type { Database } from '../../log/store/handle.ts'
import { SOURCE_LABEL } from '../../log/store/labels.ts'
import { eachPosition } from '../../log/store/scan.ts'
import type { ReadContext } from '../../log/timeline/context.ts'
import { parseInstant } from '../../log/timeline/plan.ts'
import type { Edit } from '../../model/documents.ts'
import { nextSlot } from '../../model/slots.ts'
import { DAY_MS, dollars, parseDuration } from '../../model/units.ts'
import { reachOf, TimeBuckets } from '../../triggers/core/index.ts'
import type { TriggerDefinition } from '../../triggers/types.ts'
import { stagingOfFile } from '../catalog/apply.ts'
import { rememberedFiles } from '../catalog/texts.ts'
import type { Declared, WriteBy } from '../declared.ts'
import { stageOperations } from '../operations.ts'
import { requireProject } from '../skill-writes.ts'
import { stagingOfPlan } from './check.ts'
import { Comparison, FiringStream, FiringTally } from './compare.ts'
import {
  EventPages,
  type EventSource,
  type ExportAsked,
  exportEvents,
  type RecordedEvents,
  RecordedPages,
  SeenRow,
} from './events.ts'
import { stagingOfProposal } from './proposals.ts'
import {
  definitionIn,
  type Labelled,
  MoreLabels,
  type Reached,
  type Reason,
  Relabelling,
  reachedBy,
  type Worlds,
  worldsOf,
} from './relabel.ts'

/** Events looked at; more are cut off at the old end. */
const SCAN_MAX = 2_000_000
/** Firings listed of all triggers, and of one. */
const LISTED_IN_ALL = 5_000
const LISTED_MAX = 500
const LISTED_MIN = 50
/** Slots of one schedule. */
const SLOTS_MAX = 20_000

interface ForecastParts {
  ctx: ReadContext
  /** Each page is read in one. */
  snapshot: Snapshot
  told: (progress: Progress) => void
  /** Events of a file in place of those that are stored. */
  recorded?: RecordedEvents | undefined
}

/** One trigger: its two definitions, and what came of each. */
interface Pair {
  name: string
  reason: Reason
  before: TriggerDefinition | null
  after: TriggerDefinition | null
  tallies: { before: FiringTally; after: FiringTally }
  comparison: Comparison
}

/** @param from where firings count from, epoch ms. @param to the end */
export async function forecast(
  parts: ForecastParts,
  worlds: Worlds,
  { from: asked, to }: { from: number; to: number },
): Promise<PlanBacktest> {
  const { ctx, snapshot } = parts
  const reached = reachedBy(worlds)
  const { recorded } = parts
  const begun = await snapshot(() =>
    recorded ? spanOfFile(recorded, worlds, reached, asked) : spanOf(ctx, worlds, reached, asked, to),
  )
  const { ids, from, isCut } = begun
  const buckets = new TimeBuckets(from, to, BUCKETS_MAX)
  const pairs = pairsOf(worlds, reached, buckets, { from, to })
  const relabelling = await judge(parts, { worlds, reached, pairs, ids, from, to })
  const days = (to - from) / DAY_MS
  return snapshot(() => ({
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    days: Math.round(days * 1_000) / 1_000,
    bucket: buckets.length,
    scanned: recorded ? recorded.events.length : ids.length,
    is_cut: isCut,
    triggers: pairs.map((pair) => present(pair, worlds)),
    unreached: [...worlds.after.triggers.keys()].filter((name) => !reached.triggers.has(name)).length,
    labels: relabelling.map((one) => one.result()),
    agents: agentsOf(ctx, worlds, pairs, days),
    notes: [...reached.notes, ...begun.notes],
  }))
}

interface Span {
  /** Ids of the events in the order they were stored. */
  ids: Float64Array
  from: number
  isCut: boolean
  notes: string[]
}

/** Events of the sources that are watched, from as far before the span as conditions reach. */
function spanOf(ctx: ReadContext, worlds: Worlds, reached: Reached, asked: number, to: number): Span {
  const definitions = [...reached.triggers.keys()].flatMap((name) =>
    [worlds.before, worlds.after].flatMap((world) => definitionIn(world, name, 0) ?? []),
  )
  const reach = Math.max(0, ...definitions.map(reachOf))
  const sources = new Set(
    definitions.flatMap(({ spec, sourceIds }) => (isSchedule(spec.condition) ? [] : sourceIds)),
  )
  for (const { before } of reached.relabelled) sources.add(before.id)
  const masked = new Set(ctx.names.masked())
  const labels = [...sources]
    .filter((id) => !masked.has(id))
    .flatMap((id) => ctx.dictionary.find(SOURCE_LABEL, String(id)) ?? [])
  const found: number[] = []
  const query = {
    ...{ groups: [labels], masked: [] },
    ...{ from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER },
    afterId: ctx.ceilingAt(asked - reach),
    ceiling: ctx.ceilingAt(to),
  }
  if (labels.length)
    eachPosition(ctx.index.all(), query, (id) => {
      found.push(id)
    })
  const all = Float64Array.from(found).sort()
  const isCut = all.length > SCAN_MAX
  const ids = isCut ? all.slice(-SCAN_MAX) : all
  const first = ingestedAt(ctx, isCut ? ids[0]! : 0)
  const from = isCut && first !== null ? Math.min(to, first + reach) : asked
  return {
    ids,
    from,
    isCut,
    notes: [...pastNotes(ctx, worlds, reached, { from, first, isCut }), ...agentNotes(worlds, reached)],
  }
}

function spanOfFile({ events }: RecordedEvents, worlds: Worlds, reached: Reached, from: number): Span {
  const notes = agentNotes(worlds, reached)
  const first = events[0] && Date.parse(events[0].stored_at)
  if (first === undefined) notes.push('the file has no events: nothing can be said of what would have fired')
  else if (first > from)
    notes.push(
      `the oldest stored event is of ${new Date(first).toISOString()}: what came before is not known`,
    )
  const others = [...new Set(events.map(({ source }) => source))].filter((name) => !worlds.sourceOf(name))
  if (others.length)
    notes.push(`events of ${others.join(', ')} are left out: the file before has no such source`)
  return { ids: new Float64Array(), from, isCut: false, notes }
}

/** When the first event from an id on was stored; null: there is none. */
const ingestedAt = ({ db }: ReadContext, id: number): number | null =>
  (db.prepare('SELECT ingested_at FROM events WHERE id >= ? ORDER BY id LIMIT 1').pluck().get(id) as
    | number
    | undefined) ?? null

function pastNotes(
  ctx: ReadContext,
  { after }: Worlds,
  { triggers }: Reached,
  { from, first, isCut }: { from: number; first: number | null; isCut: boolean },
): string[] {
  const notes: string[] = []
  if (isCut)
    notes.push(
      `there are more than ${SCAN_MAX.toLocaleString('en')} events: only the newest of them are looked at`,
    )
  else if (first === null) notes.push('no event is stored yet: nothing can be said of what would have fired')
  else if (first > from)
    notes.push(
      `the oldest stored event is of ${new Date(first).toISOString()}: what came before is not known`,
    )
  const internal = [...ctx.names.all()].filter(({ sourceType }) => sourceType === 'finding')
  const watching = [...triggers.keys()].filter((name) =>
    after.triggers.get(name)?.spec.sources.some((source) => internal.some((one) => one.name === source)),
  )
  if (watching.length)
    notes.push(
      `${watching.join(', ')}: findings are taken as they were recorded; what other runs would have found is not known`,
    )
  return notes
}

/** What wakes agents beside these firings. */
function agentNotes({ before, after }: Worlds, { triggers }: Reached): string[] {
  const isWaking = [...triggers.keys()].some((name) => before.wakes.has(name) || after.wakes.has(name))
  return isWaking ? ['runs that agents hand over to, and limits of agents, are not counted'] : []
}

function pairsOf(
  worlds: Worlds,
  { triggers, silent }: Reached,
  buckets: TimeBuckets,
  span: { from: number; to: number },
): Pair[] {
  const listed = Math.min(
    LISTED_MAX,
    Math.max(LISTED_MIN, Math.floor(LISTED_IN_ALL / Math.max(1, triggers.size))),
  )
  return [...triggers].map(([name, reason], n) => ({
    name,
    reason,
    before: definitionIn(worlds.before, name, 2 * n),
    after: definitionIn(worlds.after, name, 2 * n + 1, silent),
    tallies: { before: new FiringTally(), after: new FiringTally() },
    comparison: new Comparison(buckets, span, listed),
  }))
}

interface Judged {
  worlds: Worlds
  reached: Reached
  pairs: readonly Pair[]
  ids: Float64Array
  from: number
  to: number
}

/** Feeds all events. @returns what became of labels */
async function judge(parts: ForecastParts, judged: Judged): Promise<Relabelling[]> {
  const { ctx, snapshot, told } = parts
  const { reached, pairs, ids, to } = judged
  const labels = new MoreLabels(ctx.dictionary)
  const relabelling = new Map(
    reached.relabelled.map((source) => [source.before.id, new Relabelling(source, labels)]),
  )
  const { stored, changed } = streamsOf(judged, labels, relabelling)
  const withRaw = new Set(relabelling.keys())
  const pages: EventSource = parts.recorded
    ? new RecordedPages(parts.recorded, (name) => judged.worlds.sourceOf(name)?.id, labels, withRaw)
    : new EventPages(ctx, ids, withRaw, practiceOf(ctx, judged))
  const row = new SeenRow(pages)
  for (const pair of pairs) addSlots(pair, judged)
  for (;;) {
    const page = await snapshot(() => pages.next())
    if (page === null) break
    for (const { event, raw } of page) {
      stored.feed(row.set(event))
      if (!changed) continue
      const relabel = relabelling.get(event.sourceId)
      const after: Labelled | null =
        relabel && raw ? relabel.apply(event, raw, event.ingestedAt >= judged.from) : event
      if (after) changed.feed(row.set(after, event))
    }
    const last = page.at(-1)?.event.ingestedAt ?? 0
    changed?.advance(last)
    for (const { comparison } of pairs) comparison.settle(last)
    told({ done: pages.done, of: pages.of })
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const stream of [stored, changed]) stream?.advance(to)
  for (const { comparison } of pairs) comparison.settle(Number.POSITIVE_INFINITY)
  return [...relabelling.values()]
}

/** One of events as they are stored, and, where labels change, one of events as they would be. */
function streamsOf(
  { pairs, from, to, worlds }: Judged,
  labels: MoreLabels,
  relabelled: ReadonlyMap<number, unknown>,
) {
  const tallies = new Map<number, FiringTally>()
  const owners = new Map<number, { pair: Pair; side: 'before' | 'after' }>()
  const ofStored: TriggerDefinition[] = []
  const ofChanged: TriggerDefinition[] = []
  for (const pair of pairs)
    for (const side of ['before', 'after'] as const) {
      const definition = pair[side]
      if (!definition || isSchedule(definition.spec.condition)) continue
      tallies.set(definition.id, pair.tallies[side])
      owners.set(definition.id, { pair, side })
      const isChanged = side === 'after' && definition.sourceIds.some((id) => relabelled.has(id))
      ;(isChanged ? ofChanged : ofStored).push(definition)
    }
  const names = new Map(
    [...worlds.before.sources.values(), ...worlds.after.sources.values()].map(({ id, name }) => [id, name]),
  )
  const streamOf = (definitions: TriggerDefinition[]) =>
    new FiringStream({
      ...{ definitions, labels, from, to, tallies },
      sourceName: (id) => names.get(id) ?? '',
      fired: (id, firing) => {
        const { pair, side } = owners.get(id)!
        pair.comparison.add(side, firing)
      },
    })
  return { stored: streamOf(ofStored), changed: relabelled.size ? streamOf(ofChanged) : null }
}

/** The label of events of practice, which no trigger judges; null: there are none, or a source has a label of that name. */
function practiceOf({ dictionary }: ReadContext, { worlds }: Judged): number | null {
  const isOwn = [...worlds.before.sources.values()].some(({ config }) =>
    ((config.labels ?? []) as { name: string }[]).some(({ name }) => name === 'practice'),
  )
  return isOwn ? null : (dictionary.find('practice', 'true') ?? null)
}

/** Slots of schedules: those of an interval count from the start of the span, where the first is. */
function addSlots({ before, after, tallies, comparison }: Pair, { from, to }: Judged): void {
  for (const [side, definition] of [
    ['before', before],
    ['after', after],
  ] as const) {
    if (!definition || definition.paused || !isSchedule(definition.spec.condition)) continue
    const { condition } = definition.spec
    let last = 'every' in condition ? from - 1 : from
    for (let n = 0; n < SLOTS_MAX; n++) {
      const at = nextSlot(condition, from, last)
      if (at === null || at > to) break
      last = at
      tallies[side].counts.firings++
      comparison.add(side, { at, key: definition.name, value: null, resolved: false })
    }
  }
}

function present(
  { name, reason, before, after, tallies, comparison }: Pair,
  worlds: Worlds,
): PlanBacktestTrigger {
  const spec = (after ?? before)!.spec
  return {
    trigger: name,
    change: reason,
    sentence: sentenceOf(spec),
    before: before && tallies.before.counts,
    after: after && tallies.after.counts,
    ...comparison.result(),
    notes: notesOf({ before, after, tallies }, worlds),
  }
}

function notesOf(
  { before, after, tallies }: Pick<Pair, 'before' | 'after' | 'tallies'>,
  { before: was }: Worlds,
): string[] {
  const notes: string[] = []
  const has = (field: string) => [before, after].some((one) => one && field in one.spec.condition)
  if (has('every')) notes.push('the slots of an interval count from the start of the span')
  if (has('change_of'))
    notes.push('what a key had before the span is not known: its first value in it is no change')
  if (has('absent_for')) notes.push('keys that were last heard long before the span are not listened for')
  if (before?.paused) notes.push('it is paused: it fires nothing as it is')
  if (after?.paused) notes.push('it is paused after the change: it would fire nothing')
  const unfed = after?.spec.sources.filter((source) => !was.sources.has(source)) ?? []
  if (unfed.length) notes.push(`${unfed.join(', ')}: new, without stored events`)
  for (const tally of new Set([tallies.before, tallies.after])) if (tally.fault) notes.push(tally.fault)
  return notes
}

function agentsOf(
  ctx: ReadContext,
  { before, after }: Worlds,
  pairs: readonly Pair[],
  days: number,
): PlanBacktest['agents'] {
  const woken = new Map<string, { agent: string; triggers: string[]; before: number[]; after: number[] }>()
  const add = (agent: string, trigger: string, side: 'before' | 'after', perDay: readonly number[]) => {
    const known = woken.get(agent) ?? {
      ...{ agent, triggers: [] },
      ...{ before: perDay.map(() => 0), after: perDay.map(() => 0) },
    }
    woken.set(agent, known)
    if (!known.triggers.includes(trigger)) known.triggers.push(trigger)
    perDay.forEach((n, day) => {
      known[side][day]! += n
    })
  }
  for (const { name, comparison } of pairs) {
    for (const agent of before.wakes.get(name) ?? []) add(agent, name, 'before', comparison.days.before)
    for (const agent of after.wakes.get(name) ?? []) add(agent, name, 'after', comparison.days.after)
  }
  return [...woken.values()]
    .sort((a, b) => (a.agent < b.agent ? -1 : 1))
    .map((one) => expectedRuns(ctx.db, one, days))
}

/* How often agents would be woken, and what that costs, from what their past runs cost. */

const RUNS_LOOKED_AT = 100
const WEEK_DAYS = 7
/** Of what nothing was seen in a span, up to three are as likely as not to be missed (the rule of three, 95 %). */
const NONE_SEEN = 3

interface PastRun {
  cost_usd: number
  uncosted_calls: number
  wakes: number
}

interface Woken {
  agent: string
  triggers: string[]
  /** Firings of each day that wake it. */
  before: number[]
  after: number[]
}

/** @param days of the span */
function expectedRuns(db: Database, woken: Woken, days: number): PlanBacktestAgent {
  const past = db
    .prepare<[string, number], PastRun>(
      `SELECT cost_usd, uncosted_calls, wakes FROM runs
       WHERE agent = ? AND finished_at IS NOT NULL AND started_at IS NOT NULL AND practice = 0 AND tape = 0
       ORDER BY seq DESC LIMIT ?`,
    )
    .all(woken.agent, RUNS_LOOKED_AT)
  const costs = past.filter(({ uncosted_calls }) => uncosted_calls === 0).map(({ cost_usd }) => cost_usd)
  const wakes = past.reduce((sum, run) => sum + Math.max(1, run.wakes), 0)
  const share = past.length ? past.length / wakes : 1
  const cost = costs.length ? momentsOf(costs) : null
  const [before, after] = [woken.before, woken.after].map((perDay) => weekly(perDay, days, share))
  const rounded = (range: WeeklyRange | null) => range && mapped(range, dollars)
  const sum = (perDay: readonly number[]) => perDay.reduce((a, b) => a + b, 0)
  return {
    agent: woken.agent,
    triggers: woken.triggers,
    firings_before: sum(woken.before),
    firings_after: sum(woken.after),
    runs_before: mapped(before!, tenths),
    runs_after: mapped(after!, tenths),
    usd_before: rounded(cost && costOf(before!, cost)),
    usd_after: rounded(cost && costOf(after!, cost)),
    past_runs: past.length,
    usd_per_run: cost && dollars(cost.mean),
    basis: basisOf(past, costs, share),
  }
}

const tenths = (value: number): number => Math.round(value * 10) / 10

const mapped = ({ expected, low, high }: WeeklyRange, by: (value: number) => number): WeeklyRange => ({
  expected: by(expected),
  low: by(low),
  high: by(high),
})

/**
 * Runs of a week: the mean of the days, and two standard deviations of what one more week may bring. A day's is the
 * larger of how the days differed and of what chance alone makes of events that come one by one (Poisson).
 */
function weekly(perDay: readonly number[], days: number, share: number): WeeklyRange {
  const total = perDay.reduce((a, b) => a + b, 0)
  if (total === 0) return { expected: 0, low: 0, high: (NONE_SEEN * share * WEEK_DAYS) / days }
  const mean = total / days
  const { variance } = momentsOf(perDay)
  const ofDay = Math.max(mean, perDay.length > 1 ? variance : 0)
  // What the week differs by, and what the mean may be off by.
  const spread = 2 * share * Math.sqrt(ofDay * WEEK_DAYS * (1 + WEEK_DAYS / days))
  const expected = mean * WEEK_DAYS * share
  return { expected, low: Math.max(0, expected - spread), high: expected + spread }
}

/** A sum of as many costs as there are runs: its variance is that of both. */
function costOf({ expected, high }: WeeklyRange, { mean, variance }: Moments): WeeklyRange {
  const ofRuns = (high - expected) / 2
  const spread = 2 * Math.sqrt(expected * variance + ofRuns ** 2 * mean ** 2)
  return {
    expected: expected * mean,
    low: Math.max(0, expected * mean - spread),
    high: expected * mean + spread,
  }
}

interface Moments {
  mean: number
  variance: number
}

function momentsOf(values: readonly number[]): Moments {
  const mean = values.reduce((a, b) => a + b, 0) / values.length
  if (values.length < 2) return { mean, variance: 0 }
  return { mean, variance: values.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (values.length - 1) }
}

function basisOf(past: readonly PastRun[], costs: readonly number[], share: number): string {
  if (past.length === 0)
    return 'no runs yet: each firing is taken as one run, and what one costs is not known'
  const together =
    share < 0.995 ? `${Math.round(share * 100)} runs for 100 firings, as they did` : 'one run for each firing'
  const runs = `the newest ${past.length === 1 ? 'run' : `${past.length} runs`}`
  const known =
    costs.length === 0
      ? `what ${runs} cost is not known`
      : `what ${costs.length === past.length ? runs : `${costs.length} of ${runs}`} cost`
  return `${together}; ${known}; the range is two standard deviations of a week either way, from how the days of the span and the costs differ`
}

/* What a change would have done, as doors ask for it: of a catalog file, operations, a proposal or a plan of guided setup. */

const WINDOW_DEFAULT = '7d'
/** Buckets of a chart that still is one. */
const BUCKETS_MAX = 60
const NOBODY: WriteBy = { caller: { id: 'backtest', name: 'backtest' }, origin: 'api' }

export interface ForecastCalls {
  /**
   * What a change would have done over stored events; nothing is written.
   * @param compares whether the caller may learn if a secret is the stored one. @param told hears how far it is
   * @param recorded events in place of those that are stored; not for doors
   * @throws SvcError invalid; not_found; conflict; faulty_plan
   */
  backtestChange(
    body: PlanBacktestRequest,
    compares?: boolean,
    told?: Tell,
    recorded?: RecordedEvents,
  ): Promise<PlanBacktest>
  /** A page of stored events, redacted, for a file. @throws SvcError invalid; not_found */
  exportEvents(asked: ExportAsked): Promise<ExportedEvents>
}

interface CallsParts {
  declared: Declared
  ctx: ReadContext
  clock: Clock
  snapshot: Snapshot
}

export function forecastCalls({ declared, ctx, clock, snapshot }: CallsParts): ForecastCalls {
  return {
    exportEvents: (asked) => exportEvents({ ctx, clock, snapshot }, asked),
    backtestChange: async (body, compares = true, told = () => {}, recorded = undefined) => {
      const stage = stagingOf(declared, body, compares)
      const composed = (edit: Edit) => {
        stage(edit)
        return edit
      }
      const { result: edit } = declared.changes.commit(NOBODY, composed, true)
      const worlds = worldsOf(ctx.db, declared.kinds, edit, recorded && movesIn(declared, body))
      const now = clock.now()
      const to = body.to === undefined ? now : Math.min(now, parseInstant(body.to, 'to'))
      const from = to - parseDuration(body.window ?? WINDOW_DEFAULT, 'window')
      return forecast({ ctx, snapshot, told, recorded }, worlds, { from, to })
    },
  }
}

/** What got another name, as the files say that were applied, and then the one that is planned. */
function movesIn({ store }: Declared, { yaml, others = [] }: PlanBacktestRequest): Move[] {
  const applied = rememberedFiles(store.db).all()
  const texts = [...applied.map(({ text }) => text), yaml ?? '', ...others.map((other) => other.yaml)]
  return movesOf(texts.flatMap((text) => readCatalog(text).moved)).moves
}

function stagingOf(declared: Declared, body: PlanBacktestRequest, compares: boolean): (edit: Edit) => void {
  const { yaml, operations, base, proposal, plan, project } = body
  if ([yaml, operations, proposal, plan].filter((given) => given !== undefined).length !== 1)
    fail('invalid', 'give exactly one of yaml, operations, proposal and plan', { field: 'yaml' })
  if (yaml !== undefined) return stagingOfFile(declared, { ...body, yaml }, compares)
  if (operations) return (edit) => stageOperations(declared, edit, operations, base)
  if (proposal !== undefined) return stagingOfProposal(declared, proposal)
  return stagingOfPlan(declared, plan, project === undefined ? null : requireProject(declared, project))
}
