/**
 * The brief: what an agent is shown of 36 hours of all that it may read, in few tokens. Every entity's lines
 * and numbers stand in one ranked list, because the cause is seldom where the alert is; changes are shown as
 * they are, and what is as usual comes last. The same rows give the same brief, to the byte.
 */

import { gapsSaid } from '../../../schemas/event-line.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import {
  type Group,
  groupsOf,
  type Item,
  liftAround,
  linesToldOf,
  onsetOf,
  RANKED_FROM,
  rankItems,
  setStreams,
  stoppedWithSource,
  surroundingsOf,
} from './groups.ts'
import {
  changeLine,
  clock,
  type Flapping,
  flappingLine,
  flappingOf,
  groupLine,
  isRoutine,
  Kinds,
  pathLine,
  type RankedChange,
  rankChanges,
  seriesLine,
  shortened,
  type Telling,
  toldBy,
  wordingsOf,
} from './lines.ts'
import { type Paths, pathsOf } from './paths.ts'
import { seriesOf } from './series.ts'
import { Templates } from './skeletons.ts'
import { placeIn } from './traces.ts'
import {
  addTo,
  type Brief,
  type BriefLine,
  type BriefRequest,
  type ContextRow,
  costOf,
  type Kind,
  LATELY,
  mapAt,
  NOBODY,
  Packing,
  type Timed,
} from './types.ts'
import { ERROR_LEVEL, Masker } from './words.ts'

/** Below so many tokens texts are shorter, and each other entity has fewer lines, so that more entities are shown. */
const TIGHT = 2_500
const TEXT = { wide: 340, tight: 260 }
const REQUESTS = { score: 2.5, most: 12, perEntity: { wide: 4, tight: 2 } }
const CHANGES = { most: 30, sameText: 2, sameKind: 4, routine: 3 }
/** Lines and series of the entity, and of each other one (series by source). */
const MOST = {
  own: { lines: 40, series: 12 },
  other: { wide: { lines: 12, series: 4 }, tight: { lines: 4, series: 2 } },
}
const SCORE_MIN = 0.5
/** Findings that are told. */
const FINDINGS = 10
/** A timeline of so many events is shown whole where it fits: what is usual of it is hardly known, and all may matter. */
const SHORT = 40
/** So many that did not fit, and the rest is not tried. */
const MISSES = 200
/** Of the time that was asked for, so much is all of it. */
const ALL_OF_IT = 0.9
/** Tokens kept for what was left out: a share, at least, at most. */
const LEFT = { share: 0.05, least: 40, most: 160 }

/** @returns the ranked structure; `renderBrief` says it as text */
export function makeBrief(request: BriefRequest): Brief {
  const steps = makeBriefInSteps(request)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** The same in steps, between which others have their turn. */
export function* makeBriefInSteps(request: BriefRequest): Generator<void, Brief, void> {
  const found = yield* lookAt(request)
  yield
  const telling: Telling = {
    entity: request.entity,
    now: request.now,
    isTight: request.budget < TIGHT,
    textMax: request.budget < TIGHT ? TEXT.tight : TEXT.wide,
    focus: (request.windows ?? LATELY).focus,
    labelOf: (entity) => found.labels.get(entity) ?? request.label,
  }
  const head = [headOf(request, found, telling), gapsWithin(request)].filter(Boolean).join('\n')
  const reserved = Math.min(LEFT.most, Math.max(LEFT.least, Math.floor(LEFT.share * request.budget)))
  const packing = new Packing(request.budget - costOf(head), reserved)
  const told = new Told(found.timeline)
  putRequests(packing, found, telling, told)
  putChanges(packing, found.changes, telling, told)
  putItems(packing, found.items, request.entity, telling, told)
  putFindings(packing, found.findings, telling, told)
  putUsual(packing, found, request.entity, telling, told)
  putRest(packing, telling, told)
  packing.release(reserved)
  for (const line of leftOut(found.kinds, told.rows)) if (packing.put('left', line)) break
  const brief: Brief = {
    head,
    sections: packing.sections(),
    onset: found.onset === null ? null : request.now + found.onset * 1000,
    suspects: suspectsOf(found, request.entity),
    tokens: 0,
  }
  return { ...brief, tokens: costOf(renderBrief(brief)) }
}

/** As it is shown, without a fence. */
export function renderBrief({ head, sections }: Pick<Brief, 'head' | 'sections'>): string {
  return [head, ...sections.flatMap(({ title, lines }) => [title, ...lines.map(({ text }) => text)])].join(
    '\n',
  )
}

/** What has been told, so that nothing is told twice, and how many events it stands for. */
class Told {
  readonly steps = new Set<string>()
  /** Rows that lines stand for, by source and type. */
  readonly rows = new Map<Kind, number>()
  /** Events of a short timeline that no line stands for yet. */
  readonly untold: Set<Timed>

  constructor(timeline: readonly Timed[]) {
    this.untold = new Set(timeline)
  }

  add({ kind }: Timed, count: number): void {
    addTo(this.rows, kind, count)
  }

  /** @param lines of one kind */
  addLines(lines: readonly Timed[]): void {
    this.add(lines[0]!, lines.length)
    if (this.untold.size > 0) for (const line of lines) this.untold.delete(line)
  }
}

/** @param reach seconds */
const reachWords = (reach: number): string => countWords(Math.max(1, Math.round(reach / 60)), 'minute')

function headOf(
  { entity, label, budget, cuts = [], windows = LATELY }: BriefRequest,
  found: LookedAt,
  telling: Telling,
): string {
  const { lines, wordings, items, changes, onset } = found
  const moved = items.filter(({ score }) => score >= SCORE_MIN).length
  const changed = changes.length ? `, ${countWords(changes.length, 'change')}` : ''
  const since =
    onset === null ? 'nothing says when trouble began' : `trouble since ${clock(onset, telling)} UTC`
  const parts = [
    `${countWords(lines.length, 'event')}, ${countWords(wordings, 'wording')}, ${moved} new, stopped or moved${changed}; ${since}`,
  ]
  const reach = lines.length ? -lines[0]!.t : 0
  // Where rows were asked for no further back than they are compared, the first is seldom at the very beginning.
  if (reach < Math.min(windows.baseline + windows.focus, ALL_OF_IT * windows.back))
    parts.push(`short history: nothing is older than ${reachWords(reach)}, so what is usual is hardly known`)
  else {
    const own = lines.find(({ row }) => row.entity === entity)
    if (own && -own.t < windows.focus)
      parts.push(`of ${label}=${entity} nothing is older than ${reachWords(-own.t)}`)
  }
  for (const { source, of, since, every = 1 } of cuts.slice(0, 5))
    parts.push(
      `of ${source} only ${every > 1 ? `one in ${every.toLocaleString('en')} of the newest, ` : 'the newest '}${of.toLocaleString('en')} events were looked at, since ${new Date(since).toISOString().slice(0, 19)}Z`,
    )
  const head = shortened(parts.join('; '), 700)
  return costOf(head) > budget / 3 ? shortened(parts[0]!, 120) : head
}

/** Of the budget, at most, for when sources took nothing in; less has room for the last one only. */
const GAPS_SHARE = 0.15

function gapsWithin({ gaps = [], budget }: BriefRequest): string {
  const fits = [gaps, gaps.slice(-1)].map(gapsSaid).find((said) => costOf(said) <= GAPS_SHARE * budget)
  return fits ?? ''
}

function putRequests(packing: Packing, { paths }: LookedAt, telling: Telling, told: Told): void {
  const perEntity = new Map<string, number>()
  const most = REQUESTS.perEntity[telling.isTight ? 'tight' : 'wide']
  let count = 0
  for (const finding of paths.findings) {
    if (finding.score < REQUESTS.score || count >= REQUESTS.most) return
    if ((perEntity.get(finding.entity) ?? 0) >= most) continue
    const steps = toldBy(finding)
    if (finding.kind === 'slow' && steps.every((step) => told.steps.has(step))) continue
    if (!packing.put('requests', pathLine(finding, telling))) continue
    count++
    addTo(perEntity, finding.entity)
    for (const step of steps) told.steps.add(step)
  }
}

/** The strongest that fit, few of a kind, then in order of time. */
function putChanges(packing: Packing, changes: readonly RankedChange[], telling: Telling, told: Told): void {
  const masker = new Masker()
  const counts = new Map<string, number>()
  const kept: { n: number; line: BriefLine }[] = []
  let misses = 0
  for (const { line, n } of changes) {
    if (kept.length >= CHANGES.most || misses > MISSES) break
    const { type, text, entity } = line.row
    const wording = masker
      .words(entity ? text.replaceAll(entity, 'ENTITY') : text)
      .join(' ')
      .slice(0, 90)
    const keys: [string, number][] = [
      [`text ${type}\0${wording}`, CHANGES.sameText],
      [`kind ${type}\0${entity}`, CHANGES.sameKind],
      ...(isRoutine(line) ? ([[`routine ${type}`, CHANGES.routine]] as [string, number][]) : []),
    ]
    if (keys.some(([key, most]) => (counts.get(key) ?? 0) >= most)) continue
    const said = changeLine(line, telling)
    if (!packing.put('changes', said)) {
      misses++
      continue
    }
    for (const [key] of keys) addTo(counts, key)
    told.addLines([line])
    kept.push({ n, line: said })
  }
  packing.sort(
    'changes',
    kept.sort((a, b) => a.n - b.n).map(({ line }) => line),
  )
}

/** What agents found: the newest that fit, then in order of time. */
function putFindings(packing: Packing, findings: readonly Timed[], telling: Telling, told: Told): void {
  const kept: BriefLine[] = []
  for (const line of findings.slice(-FINDINGS).reverse()) {
    const said = changeLine(line, telling)
    if (!packing.put('findings', said)) continue
    told.addLines([line])
    kept.unshift(said)
  }
  packing.sort('findings', kept)
}

function putItems(
  packing: Packing,
  items: readonly Item[],
  entity: string,
  telling: Telling,
  told: Told,
): void {
  const counts = new Map<string, number>()
  let misses = 0
  for (const item of items) {
    if (item.score < SCORE_MIN || misses > MISSES) return
    const { group, series } = item
    if (isTold(item, told)) continue
    const key = series ? `series ${item.entity}\0${series.source}` : `lines ${item.entity}`
    const others = MOST.other[telling.isTight ? 'tight' : 'wide']
    const most = (item.entity === entity ? MOST.own : others)[series ? 'series' : 'lines']
    if ((counts.get(key) ?? 0) >= most) continue
    const fits = series
      ? packing.put('numbers', seriesLine(series, telling))
      : packing.put('lines', groupLine(group!, item.alsoIn, telling))
    if (!fits) {
      misses++
      continue
    }
    addTo(counts, key)
    if (group) told.addLines(linesToldOf(group, telling.focus))
    else told.add(series!.last, series!.total)
  }
}

/** Requests have told it already. */
function isTold({ entity, group, series }: Item, { steps }: Told): boolean {
  if (series) return steps.has(`${entity}\0${series.name}`)
  if (steps.size === 0) return false
  const place = placeIn(group!.last.row.text)
  return place !== null && steps.has(`${entity}\0${place}`)
}

/** Of the entity: alerts that come and go, errors that always come, then the most common. */
function putUsual(
  packing: Packing,
  { groups, flapping }: LookedAt,
  entity: string,
  telling: Telling,
  told: Told,
): void {
  for (const one of flapping)
    if (packing.put('usual', flappingLine(one, telling))) told.add(one.last, one.times)
  const usual = groups
    .filter((group) => group.entity === entity && !group.moved && group.lately > 0)
    .sort(
      (a, b) => Number(ERROR_LEVEL.test(b.type)) - Number(ERROR_LEVEL.test(a.type)) || b.lately - a.lately,
    )
  for (const group of usual)
    if (packing.put('usual', groupLine(group, 0, telling))) told.addLines(linesToldOf(group, telling.focus))
}

/** What no line stands for yet of a short timeline: the newest that fit, then in order of time. */
function putRest(packing: Packing, telling: Telling, told: Told): void {
  const kept: BriefLine[] = []
  for (const line of [...told.untold].reverse()) {
    const said = changeLine(line, telling)
    if (!packing.put('rest', said)) continue
    told.addLines([line])
    kept.unshift(said)
  }
  packing.sort('rest', kept)
}

/** By the three strongest of each entity's lines, without what it has for being asked about, and by requests. */
function suspectsOf({ items, changes, paths }: LookedAt, entity: string): string[] {
  const scores = new Map<string, number[]>()
  const add = (of: string, score: number) => {
    const list = scores.get(of) ?? []
    scores.set(of, list)
    if (list.length < 3) list.push(score)
  }
  for (const item of items) if (item.entity) add(item.entity, item.score - (item.entity === entity ? 1.5 : 0))
  for (const { line, score } of changes.slice(0, 20)) if (line.row.entity) add(line.row.entity, score / 2)
  for (const of of paths.entities.keys()) if (!scores.has(of)) scores.set(of, [])
  return [...scores]
    .map(([of, list]): [string, number] => [
      of,
      list.reduce((sum, score, i) => sum + score / (1 + i), 0) + 4 * (paths.entities.get(of) ?? 0),
    ])
    .sort((a, b) => b[1] - a[1])
    .map(([of]) => of)
}

/* All that is found in the rows, before anything is chosen or worded. */

/** Alerts are named by so many of the events that tripped the trigger. */
const ALERTS = 20

interface LookedAt {
  /** In order of time. */
  lines: Timed[]
  kinds: Kind[]
  groups: Group[]
  /** Of all lines, changes too. */
  wordings: number
  /** What moved, the strongest first. */
  items: Item[]
  /** The strongest first. */
  changes: RankedChange[]
  /** In order of time. */
  findings: Timed[]
  paths: Paths
  /** Alerts of the entity that come and go. */
  flapping: Flapping[]
  /** Seconds before the end; null: nothing says it. */
  onset: number | null
  /** Label that names each entity. */
  labels: ReadonlyMap<string, string>
  /** Events of the entity in order of time, where they are few enough to be shown whole. */
  timeline: Timed[]
}

/** In steps, between which others have their turn: each is a pass over all rows. */
function* lookAt({
  rows,
  entity,
  label,
  now,
  fired = [],
  windows = LATELY,
  known,
  gaps = [],
}: BriefRequest): Generator<void, LookedAt, void> {
  const { lines, texts, kinds: allKinds } = timed(rows, now, windows.back)
  yield
  const firedIds = new Set(fired)
  const kinds = new Kinds(allKinds, firedIds)
  setStreams(texts)
  yield
  const since = -windows.baseline - windows.focus
  const first = texts.findIndex(({ t }) => t >= since)
  const recent = first < 0 ? [] : texts.slice(first)
  const templates = new Templates(recent, known)
  yield
  const groups = groupsOf(
    recent.filter((line) => !kinds.isChange(line)),
    templates,
    windows,
  )
  yield
  const paths = pathsOf(lines, (line) => (line.cls ? `line ${templates.of(line).n}` : null))
  yield
  const series = seriesOf(lines, entity, windows)
  yield
  const ownStops = groups.filter((group) => !group.stopped || !stoppedWithSource(group, now, gaps))
  const items = rankItems(ownStops, series, entity, paths)
  const onset = onsetOf(items, paths)
  const from = onset ?? RANKED_FROM
  const labels = labelsOf(lines, entity, label)
  const alerts = firedOf(lines, firedIds)
  const { near, words } = surroundingsOf(items, alerts, labels.keys(), entity)
  liftAround(items, near, from)
  yield
  const { focus } = windows
  const ranked = rankChanges(lines, kinds, { entity, near, onset: from, words, focus })
  const isFinding = ({ line }: RankedChange) => line.row.isFinding === true
  const changes = ranked.filter((one) => !isFinding(one))
  const findings = ranked
    .filter(isFinding)
    .sort((a, b) => a.n - b.n)
    .map(({ line }) => line)
  const wordings = groups.length + wordingsOf(recent, kinds, templates)
  const flapping = flappingOf(lines, entity)
  return {
    lines,
    kinds: allKinds,
    groups,
    wordings,
    items,
    changes,
    findings,
    paths,
    flapping,
    onset,
    labels,
    timeline: shortTimelineOf(texts, entity),
  }
}

/** Events of the entity, or of all where nobody is asked about; none where they are too many to be shown whole. */
function shortTimelineOf(texts: readonly Timed[], entity: string): Timed[] {
  const found: Timed[] = []
  for (let i = 0; i < texts.length; i++) {
    const { row } = texts[i]!
    if (row.isFinding || (entity !== NOBODY && row.entity !== entity)) continue
    if (found.length === SHORT) return []
    found.push(texts[i]!)
  }
  return found
}

/** The newest events that tripped the trigger, in order of time; looked for from the end, where they mostly are. */
function firedOf(lines: readonly Timed[], fired: ReadonlySet<string>): Timed[] {
  const alerts: Timed[] = []
  const most = Math.min(fired.size, ALERTS)
  for (let i = lines.length - 1; i >= 0 && alerts.length < most; i--)
    if (fired.has(lines[i]!.row.id)) alerts.push(lines[i]!)
  return alerts.reverse()
}

/** A number of seconds that is no whole one would be an object of each row. */
class TimedRow implements Timed {
  stream: Timed['stream'] = null
  cls: Timed['cls'] = null

  constructor(
    readonly row: ContextRow,
    /** Milliseconds before the end. */
    private readonly past: number,
    readonly kind: Kind,
  ) {}

  get t(): number {
    return this.past / 1000
  }
}

/*
 * Loops over all rows count: of each that a loop is given one by one an object is made until V8 has compiled the loop,
 * and there are 100,000.
 */

/** By time, then as they came; those of them that are no samples; and their kinds, as they first came. */
function timed(
  rows: readonly BriefRequest['rows'][number][],
  now: number,
  back: number,
): { lines: Timed[]; texts: Timed[]; kinds: Kind[] } {
  // As long as it will be, and cut to what it is: a list that grows is copied again and again.
  const lines = new Array<Timed>(rows.length)
  let count = 0
  const sources = new Map<string, Map<string, Kind>>()
  let isSorted = true
  let last = Number.NEGATIVE_INFINITY
  // Neighbours are mostly of one kind.
  let kind: Kind | null = null
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!
    const t = (row.at - now) / 1000
    if (t < -back) continue
    if (t < last) isSorted = false
    last = t
    if (kind === null || kind.source !== row.source || kind.type !== row.type) kind = kindOf(sources, row)
    kind.count++
    lines[count++] = new TimedRow(row, row.at - now, kind)
  }
  lines.length = count
  if (!isSorted) lines.sort((a, b) => a.t - b.t)
  const texts = new Array<Timed>(count)
  let textCount = 0
  for (let i = 0; i < count; i++) if (!lines[i]!.row.isSample) texts[textCount++] = lines[i]!
  texts.length = textCount
  return { lines, texts, kinds: [...sources.values()].flatMap((types) => [...types.values()]) }
}

function kindOf(sources: Map<string, Map<string, Kind>>, { source, type }: ContextRow): Kind {
  const types = mapAt(sources, source)
  const known = types.get(type)
  if (known) return known
  const made = { source, type, count: 0 }
  types.set(type, made)
  return made
}

function labelsOf(lines: readonly Timed[], entity: string, label: string): Map<string, string> {
  const labels = new Map([[entity, label]])
  for (let i = 0; i < lines.length; i++) {
    const { row } = lines[i]!
    // Most are of the entity itself.
    if (row.entity === entity || row.entity === '' || labels.has(row.entity)) continue
    const name =
      row.labels[label] === row.entity
        ? label
        : Object.keys(row.labels).find((one) => row.labels[one] === row.entity)
    labels.set(row.entity, name ?? label)
  }
  return labels
}

/* What no line stands for, by source and type: absence must not look like silence. */

const KINDS = [8, 4, 2, 0]

/** @param told rows that lines stand for, by kind. @returns the fullest wording first */
function leftOut(kinds: readonly Kind[], told: ReadonlyMap<Kind, number>): BriefLine[] {
  const left = kinds
    .map((kind): [string, number] => [`${kind.source} ${kind.type}`, kind.count - (told.get(kind) ?? 0)])
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  if (left.length === 0) return []
  const all = countWords(
    left.reduce((sum, [, count]) => sum + count, 0),
    'event',
  )
  return KINDS.map((most) => {
    const named = left.slice(0, most).map(([kind, count]) => `${kind} ${count.toLocaleString('en')}`)
    const more = left.length - named.length
    const rest = more > 0 ? [`${more} ${named.length ? 'more ' : ''}kinds`] : []
    return { text: `${all} that no line stands for: ${[...named, ...rest].join(', ')}`, shown: [] }
  })
}

export { number as shortNumber, shortened, shortNumbers } from './lines.ts'
export { type Numbers, numbersOf, placesApart, type Sample } from './series.ts'
export { Skeletons } from './skeletons.ts'
export {
  REQUESTS_BACK_MS,
  SPAN_ID_LABELS,
  SPAN_PARENT_LABELS,
  TRACE_ID_LABELS,
  traceIdIn,
} from './traces.ts'
export type { Brief, BriefRequest, ContextRow, Counts, Shown, SpanFacts, Timed, Wording } from './types.ts'
export { addTo, ascending, mapAt, NOBODY, quantile, windowsOf } from './types.ts'
export { cautiousTokens } from './words.ts'
