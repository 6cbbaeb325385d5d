/** Stored rows as the brief looks at them. */
import { addTo, type ContextRow, type Counts, mapAt, type SpanFacts, type Wording } from '../brief/brief.ts'
import type { Name } from '../entity-rules.ts'
import type { Steps } from '../steps.ts'
import { type Dictionary, type LabelSet, offsetOf, SOURCE_LABEL, TYPE_LABEL } from '../store/labels.ts'
import {
  eachPosition,
  eachPositionInSteps,
  isRelevant,
  isWithin,
  Places,
  type Query,
  type TextPage,
  type TextRow,
  textIn,
} from '../store/scan.ts'
import { MINUTE_MS, type Segment } from '../store/segments.ts'
import { type KeptRow, type ReadContext, type SourceNames, walkOf } from './context.ts'
import { labelByOffset, labelsNamed } from './fit.ts'
import { eventId } from './present.ts'

/** Text of a metric point: the series, its value, and what follows. */
const POINT = /^(.*)=(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?: .*)?$/is
/** What follows where its value is how many were measured: what they add up to, and the unit. */
const SUM = / \(sum (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?: ([^()]+))?\)$/i
/** Text of a span: its name, how long it took, and what follows. */
export const SPAN = /^(.*?) \((\d+(?:\.\d+)?)ms\)(.*)$/s
/** Whether a span failed, by its labels: its text may have an exception that was handled. */
export const isFailed = ({ level }: Readonly<Record<string, unknown>>): boolean => level === 'ERROR'
/** Numbers that name something, and measure nothing. */
const NAMING = /(^|[_.-])(id|ids|port|pid|line|seq|number|version|pr|issue|build|offset)$/i

interface Labelled {
  sourceId: number
  type: string
  labels: Record<string, string>
}

/** Other names of the entity that is asked about, and the value that its rows are told with. */
interface OtherNames {
  value: string
  names: readonly Name[]
}

/**
 * @param label of the entity that is asked about: a row that carries it is of that entity.
 * @param own other names of that entity: a row with any of them is of it, too.
 * @returns what makes a row of a stored one, and has the labels of many at hand before; labels that rows share are
 *   made once
 */
export function contextRows(
  dictionary: Dictionary,
  names: SourceNames,
  label: string,
  own?: OtherNames | undefined,
): { toRow: (stored: TextRow) => KeptRow; foresee: (labels: readonly LabelSet[]) => void } {
  const known = new Map<LabelSet, Labelled & { isOwn: boolean; of: Shared | null }>()
  const labelled = (set: LabelSet) => {
    const found = known.get(set)
    if (found) return found
    const of = labelsOf(set.ids, dictionary)
    const isOwn = own?.names.some((name) => of.labels[name.label] === name.value) ?? false
    const made = { ...of, isOwn, of: null }
    known.set(set, made)
    return made
  }
  const foresee = (labels: readonly LabelSet[]) => {
    const ids = new Set<number>()
    for (const set of labels) if (!known.has(set)) for (const id of set.ids) ids.add(id)
    dictionary.foresee(ids)
  }
  const toRow = (stored: TextRow): KeptRow => {
    const all = labelled(stored.labels)
    const { numbers } = stored
    const parts = ownOf(stored, all.labels, numbers?.signal ?? all.labels.signal)
    // Rows of the same labels are of the same entity but where a number names the entity.
    const { entity: entityId } = stored
    const isNamed = numbers?.[label] !== undefined
    if (!isNamed && all.of?.entityId === entityId) return new StoredContextRow(stored, all.of, parts)
    const value = all.isOwn ? own!.value : (numbers?.[label] ?? all.labels[label])
    const entity = entityId === null ? '' : dictionary.label(entityId).value
    const of = names.get(all.sourceId)
    const shared: Shared = {
      ...{ entityId, type: all.type, words: all.labels },
      ...{ source: of?.name ?? `source ${all.sourceId}`, isFinding: of?.sourceType === 'finding' },
      entity: value === undefined ? entity : String(value),
    }
    if (!isNamed) all.of = shared
    return new StoredContextRow(stored, shared, parts)
  }
  return { toRow, foresee }
}

/** What rows of the same labels have in common. */
interface Shared {
  /** Label of the entity, as the row has it. */
  entityId: number | null
  source: string
  type: string
  entity: string
  words: Record<string, string>
  isFinding: boolean
  /** Of metric points; absent until it is told. */
  counts?: Counts
}

/**
 * A row whose id, text and labels with its numbers are made once somebody asks for them, which of most rows nobody
 * does. There are 100,000 of them: each has few members of its own, and what few rows have is in one of these.
 */
class StoredContextRow implements KeptRow {
  wording: Wording | undefined = undefined
  private readonly lies: TextPage
  private readonly nth: number

  constructor(
    { page, nth }: TextRow,
    private readonly shared: Shared,
    private own: Own,
  ) {
    this.lies = page
    this.nth = nth
  }

  get number(): number {
    return this.lies.ids[this.nth]!
  }

  get id(): string {
    return eventId(this.number)
  }

  get at(): number {
    return this.lies.times[this.nth]!
  }

  get page(): Buffer {
    return this.lies.bytes
  }

  get from(): number {
    return this.lies.starts[this.nth]!
  }

  get to(): number {
    return this.lies.starts[this.nth + 1]!
  }

  get source(): string {
    return this.shared.source
  }

  get type(): string {
    return this.shared.type
  }

  get entity(): string {
    return this.shared.entity
  }

  get words(): Record<string, string> {
    return this.shared.words
  }

  get labels(): ContextRow['labels'] {
    const { own } = this
    if (own.numbers === null) return this.words
    own.labels ??= { ...this.words, ...own.numbers }
    return own.labels
  }

  get text(): string {
    const { said } = this.own
    if (said !== null) return said
    const text = textIn(this.lies, this.nth)
    this.own = { ...this.own, said: text }
    return text
  }

  get values(): ContextRow['values'] {
    return this.own.values
  }

  get isSample(): boolean {
    return this.own.isSample
  }

  get series(): string | undefined {
    return this.own.series
  }

  get isFinding(): boolean {
    return this.shared.isFinding
  }

  get counts(): Counts | undefined {
    return this.shared.counts
  }

  get sum(): number | undefined {
    return this.own.sum
  }

  get unit(): string {
    return SUM.exec(textIn(this.lies, this.nth))?.[2] ?? ''
  }

  get span(): SpanFacts | undefined {
    return this.own.span
  }

  /** What its payload says where it is a span. */
  tell(measures: Pick<Measured, 'values' | 'series' | 'span'>): void {
    this.own = { ...this.own, ...measures }
  }

  /** How it counts, which points of the same labels have in common. */
  tellCounts(counts: Counts): void {
    this.shared.counts = counts
  }
}

function labelsOf(ids: Uint32Array, dictionary: Dictionary): Labelled {
  const labels: Record<string, string> = {}
  let type = ''
  let sourceId = 0
  for (const id of ids) {
    const { name, value } = dictionary.label(id)
    if (name === TYPE_LABEL) type = value
    else if (name === SOURCE_LABEL) sourceId = Number(value)
    else if (!name.startsWith('@')) labels[name] = value
  }
  return { sourceId, type, labels }
}

type Measured = Pick<ContextRow, 'values' | 'isSample' | 'series' | 'sum' | 'span'>

/** What a row has for itself: its number labels, what it measures, and all its labels once somebody asked for them. */
interface Own extends Measured {
  numbers: Record<string, number> | null
  labels: ContextRow['labels'] | null
  /** Its text, once somebody asked for it. */
  said: string | null
}

/** Of a row that has nothing for itself, which most are. */
const NOTHING: Own = ownFrom({ values: {}, isSample: false }, null)

function ownFrom({ values, isSample, series, sum }: Measured, numbers: Own['numbers']): Own {
  return { values, isSample, series, sum, span: undefined, numbers, labels: null, said: null }
}

/** A span that failed is looked at for what it says. */
function ownOf(row: TextRow, words: Labelled['labels'], signal: unknown): Own {
  const { numbers } = row
  if (signal === 'metrics') {
    const point = POINT.exec(row.text)
    const values: Own['values'] = point ? { value: Number(point[2]) } : {}
    const sum = row.text.endsWith(')') ? SUM.exec(row.text)?.[1] : undefined
    return ownFrom(
      { values, isSample: true, series: point?.[1], sum: sum === undefined ? undefined : Number(sum) },
      numbers,
    )
  }
  if (signal === 'traces') {
    const span = SPAN.exec(row.text)
    if (span) {
      const isSample = !isFailed(words)
      return ownFrom({ values: { value: Number(span[2]) }, isSample, series: span[1]! }, numbers)
    }
  }
  if (numbers === null) return NOTHING
  return ownFrom({ values: measuring(numbers), isSample: false }, numbers)
}

/** Without numbers that name something; as they are where there is none. */
function measuring(numbers: Record<string, number>): Record<string, number> {
  for (const name in numbers)
    if (NAMING.test(name))
      return Object.fromEntries(Object.entries(numbers).filter(([one]) => !NAMING.test(one)))
  return numbers
}

/*
 * Rows of a long window for the brief: all of them, or of each source the newest, so that one source that
 * writes a million lines does not push out the deploy of another. Where there are too many, counting first, by source
 * and minute, bounds the memory whatever the window holds.
 */

/** Rows read at a time, before others have their turn. */
const BATCH = 4_000

interface WideRows<T> {
  /** By time, then by id. */
  rows: T[]
  /** Sources of which only the newest were taken: how many, since when (epoch ms), and one in how many. */
  cuts: { sourceId: number; of: number; since: number; every: number }[]
}

/**
 * @param most rows, over all sources.
 * @param read the rows of some ids, in their order; told their times (epoch ms), too
 */
export function* wideRows<T>(
  ctx: ReadContext,
  query: Query,
  most: number,
  read: (ids: readonly number[], times: readonly number[]) => readonly T[],
): Steps<WideRows<T>> {
  const sources = labelsNamed(ctx, SOURCE_LABEL)
  const cuts = mayBeMore(ctx, query, most) ? yield* cutsOf(ctx, query, new Set(sources.keys()), most) : null
  const places = new Places(BATCH)
  const take = (id: number, ts: number) => places.add(id, ts)
  const taken = new Map<number, number>()
  if (cuts) yield* eachNewest(ctx, query, cuts, take, taken)
  else yield* eachPositionInSteps(() => ctx.index.all().toReversed(), query, take)
  places.sort()
  // As long as it will be: a list that grows is copied again and again.
  const rows = new Array<T>(places.length)
  let count = 0
  for (let from = 0; from < places.length; from += BATCH) {
    yield
    const { ids, times } = places.slice(from, from + BATCH)
    count = putAll(rows, count, read(ids, times))
  }
  rows.length = count
  const told = [...(cuts?.at ?? [])].map(([label, { since, every }]) => ({
    sourceId: Number(sources.get(label)),
    of: taken.get(label) ?? 0,
    since,
    every,
  }))
  return { rows, cuts: told }
}

/** @returns where the next is to be put */
function putAll<T>(rows: T[], at: number, more: readonly T[]): number {
  for (let i = 0; i < more.length; i++) rows[at + i] = more[i]!
  return at + more.length
}

/**
 * The same rows as the brief looks at them: those that were looked at before are not read again.
 * @param label of the entity that is asked about
 */
export function* wideContextRows(
  ctx: ReadContext,
  query: Query,
  most: number,
  label: string,
  own?: OtherNames | undefined,
): Steps<WideRows<KeptRow>> {
  // Rows of other names of the entity are told as its own, by rules that change: those are made anew each time.
  if (own) {
    const ofThing = contextRows(ctx.dictionary, ctx.names, label, own)
    return yield* wideRows(ctx, query, most, (ids, times) =>
      ctx.rows.texts(ids, times, ofThing.toRow, ofThing.foresee),
    )
  }
  const { version } = ctx.names
  const kept = ctx.kept.of(label, version)
  const keptOf = walkOf(kept)
  const { toRow, foresee } = contextRows(ctx.dictionary, ctx.names, label)
  const found = yield* wideRows(ctx, query, most, (ids, times): KeptRow[] => {
    if (kept.length === 0) return ctx.rows.texts(ids, times, toRow, foresee)
    const known = ids.map((id, i) => keptOf(times[i]!, id))
    const read = ctx.rows.texts(
      ids.filter((_, i) => !known[i]),
      times.filter((_, i) => !known[i]),
      toRow,
      foresee,
    )
    if (read.length === 0 && known.every(Boolean)) return known as KeptRow[]
    let next = 0
    return ids.flatMap((id, i) => {
      if (known[i]) return known[i]
      // One whose row is gone is in neither.
      return read[next]?.number === id ? read[next++]! : []
    })
  })
  ctx.kept.keep(label, version, found.rows)
  return found
}

/** Whether the segments that a query may be answered by hold more than so many events of any kind. */
function mayBeMore(ctx: ReadContext, query: Query, most: number): boolean {
  let all = 0
  for (const segment of ctx.index.all()) if (isRelevant(segment, query)) all += segment.n
  return all > most
}

/**
 * Events that no cut leaves out. Of a source that is cut, segments before its cut are not looked at; of the others,
 * which are small, their postings lead.
 * @param taken told how many there are of each source that is cut, by its label
 */
function* eachNewest(
  ctx: ReadContext,
  query: Query,
  { at, whole }: Cuts,
  take: (id: number, ts: number) => void,
  taken: Map<number, number>,
): Steps<void> {
  const segments = () => ctx.index.all()
  if (whole.size)
    yield* eachPositionInSteps(segments, { ...query, groups: [...query.groups, [...whole]] }, take)
  for (const [label, { since, every }] of at) {
    let count = 0
    const newest = { ...query, groups: [...query.groups, [label]], from: Math.max(query.from, since) }
    yield* eachPositionInSteps(segments, newest, (id, ts) => {
      if (id % every !== 0) return
      take(id, ts)
      count++
    })
    taken.set(label, count)
  }
}

/** Cuts as they are told. */
export const namedCuts = (ctx: ReadContext, cuts: WideRows<unknown>['cuts']) =>
  cuts.map(({ sourceId, of, since, every }) => ({
    source: ctx.names.get(sourceId)?.name ?? `source ${sourceId}`,
    ...{ of, since, every },
  }))

/** From when on rows of a source are taken (epoch ms), and of these those whose ids are multiples. */
interface SourceCut {
  since: number
  every: number
}

/** Of each source by its label: where it is cut, and those of which all rows are taken. */
interface Cuts {
  at: ReadonlyMap<number, SourceCut>
  whole: ReadonlySet<number>
}

/**
 * Where sources are to be cut, so that not too many rows are taken. How many events a source has is told by the
 * postings of sealed segments; their minutes are counted from the newest segment back, as far as the cut is.
 * @returns null where nothing has to be cut
 */
function* cutsOf(
  ctx: ReadContext,
  query: Query,
  labels: ReadonlySet<number>,
  most: number,
): Steps<Cuts | null> {
  const counts = yield* countBySource(ctx, query, labels)
  const sources = [...counts.totals]
    .map(([label, total]) => ({ label, total }))
    .sort((a, b) => a.total - b.total || a.label - b.label)
  if (sources.reduce((sum, { total }) => sum + total, 0) <= most) return null
  const at = new Map<number, SourceCut>()
  const whole = new Set<number>()
  let left = most
  for (const [i, { label, total }] of sources.entries()) {
    // What small sources do not need is shared by the large ones.
    const share = Math.floor(left / (sources.length - i))
    if (total <= share) {
      left -= total
      whole.add(label)
      continue
    }
    const { cut, taken } = yield* cutOf(ctx, counts, label, share, labels)
    at.set(label, cut)
    left -= taken
  }
  return { at, whole }
}

/** Of one source. @param share rows of it, at most. */
function* cutOf(
  ctx: ReadContext,
  { seen, minutes, older }: SourceCounts,
  label: number,
  share: number,
  labels: ReadonlySet<number>,
): Steps<{ cut: SourceCut; taken: number }> {
  const counted = minutes.get(label) ?? new Map<number, number>()
  const left = seen.has(label) ? [...older] : []
  // More at a time each try, since each goes over all that is counted.
  for (let some = 1; ; some = Math.ceil(1.5 * some)) {
    const through = left.length ? Math.floor(left[0]!.maxTs / MINUTE_MS) : Number.NEGATIVE_INFINITY
    const found = cutAfter(counted, share, through)
    if (found) return found
    yield
    for (const { seg } of left.splice(0, some)) {
      const segment = ctx.index.all().find((one) => one.seg === seg)
      const known = segment && ctx.index.minutesOf(segment, label, labels)
      for (let i = 0; known && i < known.length; i += 2) addTo(counted, known[i]!, known[i + 1]!)
    }
  }
}

/** Events of each source, by its label. */
interface SourceCounts {
  /** Labels of sources of which all events are of the query. */
  seen: ReadonlySet<number>
  totals: Map<number, number>
  /** By minute since 1970, of segments whose minutes are counted. */
  minutes: Map<number, Map<number, number>>
  /** Segments of which only the totals are known, the one with the newest event first. */
  older: { seg: number; maxTs: number }[]
}

/**
 * Events of each source. Of sealed segments all of whose events are in the window it is known, so that only sources of
 * which some events are not to be seen are looked at.
 */
function* countBySource(ctx: ReadContext, query: Query, labels: ReadonlySet<number>): Steps<SourceCounts> {
  const seen = new Set([...labels].filter((label) => isSeenWhole(label, query)))
  const counts: SourceCounts = { seen, totals: new Map(), minutes: new Map(), older: [] }
  const inPart = [...labels].filter((label) => !seen.has(label) && maySee(label, query, labels))
  const narrowed = { ...query, groups: [...query.groups, inPart] }
  const numbers = ctx.index
    .all()
    .filter((segment) => isRelevant(segment, query))
    .map(({ seg }) => seg)
  for (const [i, seg] of numbers.entries()) {
    // Between two steps it may be sealed, or gone.
    if (i % SEGMENTS_A_STEP === 0) yield
    const segment = ctx.index.all().find((one) => one.seg === seg)
    if (!segment) continue
    const known = isWithin(segment, query) ? ctx.index.totalsOf(segment, labels) : null
    for (const [label, count] of known ?? []) if (seen.has(label)) addTo(counts.totals, label, count)
    if (known) counts.older.push({ seg, maxTs: segment.maxTs })
    if (known && inPart.length === 0) continue
    eachMinute(segment, known ? narrowed : query, labels, (label, minute) => {
      addTo(counts.totals, label)
      addTo(mapAt(counts.minutes, label), minute)
    })
  }
  counts.older.sort((a, b) => b.maxTs - a.maxTs)
  return counts
}

/** Segments whose totals are known take no time; one that is to be counted takes some milliseconds. */
const SEGMENTS_A_STEP = 4

function eachMinute(
  segment: Segment,
  query: Query,
  labels: ReadonlySet<number>,
  each: (label: number, minute: number) => void,
): void {
  let byOffset: Uint32Array | null = null
  eachPosition([segment], query, (id, ts) => {
    byOffset ??= labelByOffset(segment, labels)
    each(byOffset[offsetOf(id)]!, Math.floor(ts / MINUTE_MS))
  })
}

/** Whether all events of a source are of the query, whatever else they carry. */
const isSeenWhole = (label: number, { groups, masked, only }: Query): boolean =>
  !only && groups.every((group) => group.includes(label)) && !masked.includes(label)

/** Whether some may be: an event has one source, so that a group that lacks it must have labels that are none. */
const maySee = (label: number, { groups, masked }: Query, sources: ReadonlySet<number>): boolean =>
  !masked.includes(label) &&
  groups.every((group) => group.includes(label) || group.some((one) => !sources.has(one)))

/**
 * @param minutes of one source, with how many events. @param share rows of it, at most.
 * @param through up to this minute not all may be counted
 * @returns null where the cut is not after it
 */
function cutAfter(
  minutes: ReadonlyMap<number, number>,
  share: number,
  through: number,
): { cut: SourceCut; taken: number } | null {
  const cut: SourceCut = { since: Number.POSITIVE_INFINITY, every: 1 }
  let taken = 0
  for (const [minute, count] of [...minutes].sort((a, b) => b[0] - a[0])) {
    if (minute <= through) return null
    // Of a newest minute that is more than the share by itself, an even part stands for it.
    if (taken === 0) cut.every = Math.max(1, Math.ceil(count / share))
    else if (taken + count > share) return { cut, taken }
    taken += Math.floor(count / cut.every)
    cut.since = minute * MINUTE_MS
    if (cut.every > 1) return { cut, taken }
  }
  return through === Number.NEGATIVE_INFINITY ? { cut, taken } : null
}
