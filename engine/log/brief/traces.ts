/**
 * Requests: log lines and spans of one trace id, in order. An id in a label goes before one in the text;
 * a line is a step by its place in code, else by its wording.
 */
import { addTo, listAt, mapAt, surprise, type Timed, valueAt } from './types.ts'
import { ERROR_LEVEL, LOOKED_AT } from './words.ts'

/** Requests are looked for so far back, seconds. */
const BACK = 8_100
export const REQUESTS_BACK_MS = BACK * 1000
export const TRACE_ID_LABELS = ['trace_id', 'traceId', 'traceID', 'trace', 'trace.id']
export const SPAN_ID_LABELS = ['span_id', 'spanId', 'spanID', 'span']
export const SPAN_PARENT_LABELS = ['parent_id', 'parent_span_id', 'parentId', 'parentSpanId']
const TRACE_IN_TEXT = /\btrace[_\s-]?id["']?\s*[:=]\s*["']?([0-9a-f]{16,32})\b/i
const SPAN_IN_TEXT = /\bspan[_\s-]?id["']?\s*[:=]\s*["']?([0-9a-f]{8,16})\b/i
const PLACE =
  /(?:^|\s)(\S*[A-Za-z_\]]#\d{1,5}|[\w./-]+\.(?:go|py|js|ts|java|rb|cs|cpp|c|rs|php|kt|scala):\d{1,5})\b/

/** A line of a request. */
export interface Step {
  t: number
  entity: string
  place: string
  /** Entity and place: what makes steps of several requests the same. */
  key: string
  span: string
  isError: boolean
  line: Timed
}

interface Span {
  id: string
  parent: string
  entity: string
  operation: string
  /** Entity and operation: what makes calls of several requests the same. */
  key: string
  /** Milliseconds of all of it, and without its children. */
  whole: number
  own: number
  /** Seconds before now. */
  start: number
  end: number
  line: Timed
  /** Null: it calls nothing, as most. */
  children: Span[] | null
  /** The other entity that it calls; empty: none. */
  calls: string
  failed: boolean
}

export interface Trace {
  steps: Step[]
  spans: Span[]
  begin: number
  end: number
  /** Requests that begin the same way are compared with one another. */
  kind: string
}

/** The place in code that a line names; null: none. */
export const placeIn = (text: string): string | null => PLACE.exec(text)?.[1] ?? null

/** The first eight letters of the trace id of a row, as it is shown. */
export function traceIdOf({ row: { labels, text, span } }: Timed): string | null {
  const id = span?.trace ?? labelOf(labels, TRACE_ID_LABELS) ?? TRACE_IN_TEXT.exec(text)?.[1]
  return id === undefined ? null : id.slice(0, 8)
}

/** The trace id that a text names; undefined: none. */
export const traceIdIn = (text: string): string | undefined => TRACE_IN_TEXT.exec(text)?.[1]

function labelOf(labels: Timed['row']['labels'], names: readonly string[]): string | undefined {
  for (const name of names) if (labels[name]) return String(labels[name])
  return undefined
}

/**
 * @param lines in order of time.
 * @param wordingOf names the template of a line that names no place; null: it has none
 * @returns those of two steps and more, by when they began
 */
export function tracesOf(lines: readonly Timed[], wordingOf: (line: Timed) => string | null): Trace[] {
  const traces = new Map<string, Trace>()
  const labelled = new Map<Labels, Ids | null>()
  const keys = new Keys()
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    if (line.t < -BACK) continue
    const ids = idsOf(line, labelled)
    if (!ids) continue
    let trace = traces.get(ids.trace)
    if (!trace) {
      trace = { steps: [], spans: [], begin: 0, end: 0, kind: '' }
      traces.set(ids.trace, trace)
    }
    if (line.row.span || line.row.isSample) {
      if (ids.span) trace.spans.push(spanOf(line, ids.span, keys))
    } else {
      const step = stepOf(trace, line, ids.span, wordingOf, keys)
      if (step) trace.steps.push(step)
    }
  }
  const several = [...traces.values()].filter(({ steps, spans }) => steps.length + spans.length > 1)
  for (const trace of several) bound(trace)
  return several.sort((a, b) => a.begin - b.begin)
}

/** Names of steps and calls: those that are the same have the same, to be found by it at once. */
class Keys {
  private readonly known = new Map<string, Map<string, string>>()

  of(entity: string, place: string): string {
    const places = mapAt(this.known, entity)
    let key = places.get(place)
    if (key === undefined) {
      key = `${entity}\0${place}`
      places.set(place, key)
    }
    return key
  }
}

type Labels = Timed['row']['labels']

interface Ids {
  trace: string
  /** Empty: none. */
  span: string
}

/** @param labelled what labels say, by labels: rows share them */
function idsOf({ row, cls }: Timed, labelled: Map<Labels, Ids | null>): Ids | null {
  if (row.span) return { trace: row.span.trace, span: row.span.id }
  // A number that is called so is no id.
  const labels = row.words ?? row.labels
  let named = labelled.get(labels)
  if (named === undefined) {
    named = idsNamed(labels)
    labelled.set(labels, named)
  }
  if (named) return named
  if (row.isSample || (cls && !cls.wording.mayTrace && !isLong(row))) return null
  const { text } = row
  const found = TRACE_IN_TEXT.exec(text)
  if (!found) return null
  return { trace: found[1]!, span: SPAN_IN_TEXT.exec(text)?.[1] ?? '' }
}

function idsNamed(labels: Labels): Ids | null {
  const trace = labelOf(labels, TRACE_ID_LABELS)
  return trace === undefined ? null : { trace, span: labelOf(labels, SPAN_ID_LABELS) ?? '' }
}

/** Whether a text goes on behind what says how it is worded. */
const isLong = (row: Timed['row']): boolean => (row.page ? row.to! - row.from! : row.text.length) > LOOKED_AT

/** A span that does not say when it began is an event of its end. */
function spanOf(line: Timed, id: string, keys: Keys): Span {
  const { row, t } = line
  const { labels, entity, type, series, values, span, at } = row
  const whole = span ? span.end - span.begin : (values.value ?? 0)
  const end = span ? t + (span.end - at) / 1000 : t
  const operation = series ?? type
  const parent = span?.parent ?? labelOf(labels, SPAN_PARENT_LABELS) ?? ''
  const key = keys.of(entity, operation)
  const [start, failed] = [end - whole / 1000, span?.failed ?? false]
  return {
    id,
    parent,
    entity,
    operation,
    key,
    whole,
    own: whole,
    start,
    end,
    line,
    children: null,
    calls: '',
    failed,
  }
}

/** @returns null where the same line came by another way, or is no step */
function stepOf(
  { steps }: Trace,
  line: Timed,
  span: string,
  wordingOf: (line: Timed) => string | null,
  keys: Keys,
): Step | null {
  const { t, row } = line
  const { entity, type, text, at } = row
  const place = placeIn(text) ?? wordingOf(line)
  if (place === null) return null
  // Lines come in order of time.
  for (let i = steps.length - 1; i >= 0 && steps[i]!.t === t; i--) {
    const other = steps[i]!.line.row
    if (other.at === at && other.entity === entity && other.text === text) return null
  }
  return { t, entity, place, key: keys.of(entity, place), span, isError: ERROR_LEVEL.test(type), line }
}

/** Sets when a request began and ended, and how. */
function bound(trace: Trace): void {
  const { steps, spans } = trace
  let begin = steps[0]?.t ?? 0
  let end = steps.at(-1)?.t ?? Number.NEGATIVE_INFINITY
  let root = spans[0]
  for (const span of spans) {
    begin = Math.min(begin, span.start)
    end = Math.max(end, span.end)
    if (span.start < root!.start) root = span
  }
  trace.begin = begin
  trace.end = end
  trace.kind = steps.length ? steps[0]!.key : root!.key
}

/* What is found of requests: one kind for each way in which a path differs. */

/** One coming of a step, with what came after it. */
export interface Occurrence {
  step: Step
  trace: Trace
  /** The next line of the same span, and of the same request. */
  inSpan: Step | null
  inTrace: Step | null
  /** How the request came here: its first step and the last callers. */
  kind: string
}

/** Which of the two next lines is looked at. */
export type Context = 'inSpan' | 'inTrace'

export interface Gone {
  key: string
  surprise: number
  /** How often it came now, the share expected, and how often before. */
  now: number
  share: number
  before: number
}

export interface Fresh {
  /** Empty: the request ends here. */
  key: string
  surprise: number
  now: number
  before: number
}

interface Finding {
  /** Whose it is: where the request breaks. */
  entity: string
  score: number
  /** Seconds before now. */
  since: number
}

/** After a step the usual one does not come, or another comes. */
export interface BrokenPath extends Finding {
  kind: 'path'
  after: string
  gone: Gone | null
  fresh: Fresh | null
  /** Requests of each side that came to this step. */
  beforeCount: number
  nowCount: number
  /** Requests that show it, and of those where nothing unexpected came before. */
  hits: number
  first: number
  /** A normal request, and an example of those that are not. */
  normal: Timed
  example: Timed
  lastNormal: number | null
}

/** A span no longer makes a call, or makes one it did not. */
export interface BrokenCall extends Finding {
  kind: 'call'
  of: string
  gone: Gone | null
  fresh: Fresh | null
  beforeCount: number
  nowCount: number
  normal: Timed
  example: Timed
}

/** A span ends with an error more often. */
export interface FailingCall extends Finding {
  kind: 'failing'
  /** Entity and operation. */
  of: string
  /** Calls of each side, and those of them that failed. */
  beforeCount: number
  beforeFailed: number
  nowCount: number
  nowFailed: number
  /** Of those that fail now, the ones in which no call of theirs failed. */
  first: number
  normal: Timed
  example: Timed
}

/** A span's own time, or the pause between two lines, is longer. */
export interface SlowStep extends Finding {
  kind: 'slow'
  /** Where the time is told, and what is done there. */
  at: string
  operation: string
  /** The other entity; empty: none. */
  calls: string
  isPause: boolean
  usual: number
  low: number
  high: number
  now: number
  p90: number
  peak: number
  wholeUsual: number
  wholeNow: number
  above: number
  nowCount: number
  /** Of the pairs with another entity that the finding's entity is in, those that are slow. */
  slowPairs: string | null
  normal: Timed
  example: Timed
}

export type PathFinding = BrokenPath | BrokenCall | FailingCall | SlowStep

/** Entity and place of a key; of an empty one the end of a request. */
export function namesOf(key: string): { entity: string; place: string } {
  const at = key.indexOf('\0')
  return at < 0 ? { entity: '', place: '' } : { entity: key.slice(0, at), place: key.slice(at + 1) }
}

/* The two sides that requests are compared on: those that began lately, and those before. */

const WINDOWS = [90, 180, 300]
/** Where all requests began within these seconds, the first parts of them are tried as well. */
const SHORT = 600
const QUANTILES = [0.15, 0.3]
const SHORTEST = 15

/** Occurrences that each side needs. */
export const BEFORE_MIN = 6
export const NOW_MIN = 3
/** Share of the baseline from which on a step belongs to the path. */
export const USUAL_SHARE = 0.3
/** Of what is expected: more than this is not gone. */
export const GONE_SHARE = 0.6

/** Lengths of the recent side, seconds. @param traces by when they began, at least one */
export function windowsOf(traces: readonly Trace[]): number[] {
  if (traces.at(-1)!.begin - traces[0]!.begin >= SHORT) return WINDOWS
  const cuts = QUANTILES.map((q) => Math.max(SHORTEST, -traces[Math.floor(q * traces.length)]!.begin))
  return [...WINDOWS, ...cuts]
}

/* Spans as trees: what each calls, and how long it takes by itself. */

const SURPRISE_MIN = 2.5

export interface Call {
  span: Span
  begin: number
  children: ReadonlySet<string>
}

/** Of calls that call nothing, which most are. */
const NO_KEYS: ReadonlySet<string> = new Set()

/** Sets children and own time of all spans. @returns calls by entity and operation */
export function callsOf(traces: readonly Trace[]): Map<string, Call[]> {
  const calls = new Map<string, Call[]>()
  const alone = new Map<string, ReadonlySet<string>>()
  for (const { spans, begin } of traces) {
    if (spans.length > 1) setChildren(spans)
    for (const span of spans) {
      const { children } = span
      if (children) span.calls = children.find(({ entity }) => entity !== span.entity)?.entity ?? ''
      span.own = Math.max(0, span.whole - (children ? 1000 * coveredByChildren(span, children) : 0))
      listAt(calls, span.key).push({ span, begin, children: children ? keysOf(children, alone) : NO_KEYS })
    }
  }
  return calls
}

function setChildren(spans: readonly Span[]): void {
  const byId = new Map<string, Span>()
  for (const span of spans) byId.set(span.id, span)
  for (const span of spans) {
    const parent = span.parent === span.id ? undefined : byId.get(span.parent)
    if (!parent) continue
    if (parent.children) parent.children.push(span)
    else parent.children = [span]
  }
}

/** @param alone sets of one key: most calls that call anything call one thing */
function keysOf(spans: readonly Span[], alone: Map<string, ReadonlySet<string>>): ReadonlySet<string> {
  if (spans.length > 1) return new Set(spans.map(({ key }) => key))
  const { key } = spans[0]!
  return valueAt(alone, key, () => new Set([key]))
}

/** Seconds of a span in which at least one child ran. */
function coveredByChildren({ start, end }: Span, children: readonly Span[]): number {
  // Most that call anything call one thing.
  if (children.length === 1) {
    const child = children[0]!
    return Math.max(0, Math.min(child.end, end) - Math.max(child.start, start))
  }
  const parts = children
    .map((child): [number, number] => [Math.max(child.start, start), Math.min(child.end, end)])
    .filter(([from, to]) => to > from)
    .sort((a, b) => a[0] - b[0])
  let sum = 0
  let reached = Number.NEGATIVE_INFINITY
  for (const [from, to] of parts) {
    if (to <= reached) continue
    sum += to - Math.max(from, reached)
    reached = to
  }
  return sum
}

/** Calls that a span no longer makes, or makes and did not. */
export function brokenCalls(
  calls: ReadonlyMap<string, readonly Call[]>,
  windows: readonly number[],
): BrokenCall[] {
  const found: BrokenCall[] = []
  for (const [of, all] of calls) {
    if (all.length < BEFORE_MIN + NOW_MIN) continue
    let best: Omit<BrokenCall, 'normal' | 'example' | 'since'> | null = null
    let surprising = SURPRISE_MIN - 0.5
    let bestWindow = 0
    for (const window of windows) {
      const sides = sidesOf(all, window)
      if (sides.beforeCount < BEFORE_MIN || sides.nowCount < NOW_MIN) continue
      for (const one of changesIn(sides)) {
        const change = one.gone ?? one.fresh!
        if (change.surprise <= surprising + 0.5) continue
        surprising = change.surprise
        bestWindow = window
        const { beforeCount, nowCount } = sides
        best = {
          ...{ kind: 'call', of, beforeCount, nowCount, ...one },
          entity: namesOf(change.key).entity,
          score: Math.log1p(change.surprise) - 0.7,
        }
      }
    }
    if (best) found.push({ ...best, ...examplesOf(all, best, bestWindow) })
  }
  return found
}

interface Sides {
  beforeCount: number
  nowCount: number
  before: Map<string, number>
  now: Map<string, number>
}

function sidesOf(calls: readonly Call[], window: number): Sides {
  const sides: Sides = { beforeCount: 0, nowCount: 0, before: new Map(), now: new Map() }
  for (let i = 0; i < calls.length; i++) {
    const { begin, children } = calls[i]!
    const isBefore = begin < -window
    if (isBefore) sides.beforeCount++
    else sides.nowCount++
    if (children.size) for (const child of children) addTo(isBefore ? sides.before : sides.now, child)
  }
  return sides
}

function* changesIn({ beforeCount, nowCount, before, now }: Sides): Generator<{
  gone: Gone | null
  fresh: Fresh | null
}> {
  const shareOf = (count: number) => (count + 0.5) / (beforeCount + 1)
  for (const [key, count] of before) {
    const share = shareOf(count)
    const found = now.get(key) ?? 0
    if (count / beforeCount < USUAL_SHARE || found > GONE_SHARE * share * nowCount) continue
    const s = surprise(found, nowCount, share) * (share < 0.8 ? 0.6 : 1)
    yield { gone: { key, surprise: s, now: found, share: count / beforeCount, before: count }, fresh: null }
  }
  for (const [key, count] of now) {
    const was = before.get(key) ?? 0
    const share = shareOf(was)
    if (count < 2 || count / nowCount < 3 * share) continue
    const s = surprise(Math.min(count, nowCount), nowCount, share) * 0.7
    yield { gone: null, fresh: { key, surprise: s, now: count, before: was } }
  }
}

function examplesOf(
  calls: readonly Call[],
  { gone, fresh }: Pick<BrokenCall, 'gone' | 'fresh'>,
  window: number,
): Pick<BrokenCall, 'normal' | 'example' | 'since'> {
  const isExample = ({ children }: Call) => (gone ? !children.has(gone.key) : children.has(fresh!.key))
  const example = calls.findLast((call) => call.begin >= -window && isExample(call)) ?? calls.at(-1)!
  const normal = calls.findLast((call) => call.begin < -window && !isExample(call)) ?? calls[0]!
  return { normal: normal.span.line, example: example.span.line, since: example.begin }
}

/* Each coming of each step, with what came next and by which way the request came to it. */

/** Callers that tell two ways to a step apart. */
const CALLERS = 3

export interface Occurrences {
  byStep: Map<string, Occurrence[]>
  /** A step of each key. */
  example: Map<string, Step>
}

export function occurrencesOf(traces: readonly Trace[]): Occurrences {
  const byStep = new Map<string, Occurrence[]>()
  const example = new Map<string, Step>()
  const kinds = new Map<string, Map<string, string>>()
  for (const trace of traces) {
    const lastOfSpan = new Map<string, Occurrence>()
    const open: OpenSpan[] = []
    // Few ways lead to many steps: each is named once.
    const ofTrace = mapAt(kinds, trace.kind)
    let previous: Occurrence | null = null
    for (let i = 0; i < trace.steps.length; i++) {
      const step = trace.steps[i]!
      const chain = enter(open, step)
      let kind = ofTrace.get(chain)
      if (kind === undefined) {
        kind = `${trace.kind}\0${chain}`
        ofTrace.set(chain, kind)
      }
      const occurrence: Occurrence = { step, trace, inSpan: null, inTrace: null, kind }
      const before = step.span ? lastOfSpan.get(step.span) : undefined
      if (before) before.inSpan = step
      if (previous) previous.inTrace = step
      previous = occurrence
      if (step.span) lastOfSpan.set(step.span, occurrence)
      const known = byStep.get(step.key)
      if (known) known.push(occurrence)
      else {
        byStep.set(step.key, [occurrence])
        example.set(step.key, step)
      }
    }
  }
  return { byStep, example }
}

interface OpenSpan {
  span: string
  entity: string
  callers: string[]
  /** The callers as one name. */
  chain: string
}

/** Who called whom, by the order of lines alone: a span that speaks again has its callees ended. */
function enter(open: OpenSpan[], { span, entity }: Step): string {
  if (span) {
    let at = open.length - 1
    while (at >= 0 && open[at]!.span !== span) at--
    if (at >= 0) open.length = at + 1
    else {
      const caller = open.at(-1)
      const callers = caller ? [caller.entity, ...caller.callers].slice(0, CALLERS) : []
      open.push({ span, entity, callers, chain: callers.join('<') })
    }
  }
  return open.at(-1)?.chain ?? ''
}
