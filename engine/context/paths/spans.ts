/** Spans as trees: what each calls, and how long it takes by itself. */
import { addTo, listAt, surprise } from '../measures.ts'
import { type BrokenCall, type Fresh, type Gone, namesOf } from './findings.ts'
import { BEFORE_MIN, GONE_SHARE, NOW_MIN, USUAL_SHARE } from './sides.ts'
import type { Span, Trace } from './traces.ts'

const SURPRISE_MIN = 2.5

export interface Call {
  span: Span
  begin: number
  children: ReadonlySet<string>
}

export const spanKey = ({ entity, operation }: Span): string => `${entity}\0${operation}`

/** Sets children and own time of all spans. @returns calls by entity and operation */
export function callsOf(traces: readonly Trace[]): Map<string, Call[]> {
  const calls = new Map<string, Call[]>()
  for (const { spans, begin } of traces) {
    const byId = new Map(spans.map((span) => [span.id, span]))
    for (const span of spans) if (span.parent !== span.id) byId.get(span.parent)?.children.push(span)
    for (const span of spans) {
      span.own = Math.max(0, span.whole - 1000 * coveredByChildren(span))
      span.calls = span.children.find(({ entity }) => entity !== span.entity)?.entity ?? ''
      listAt(calls, spanKey(span)).push({ span, begin, children: new Set(span.children.map(spanKey)) })
    }
  }
  return calls
}

/** Seconds of a span in which at least one child ran. */
function coveredByChildren({ start, end, children }: Span): number {
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
  for (const { begin, children } of calls) {
    const isBefore = begin < -window
    if (isBefore) sides.beforeCount++
    else sides.nowCount++
    for (const child of children) addTo(isBefore ? sides.before : sides.now, child)
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
