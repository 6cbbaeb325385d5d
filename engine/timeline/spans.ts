/**
 * What OpenTelemetry says of spans, read from their payloads: ids of the trace, of the span and of its parent, start
 * and duration. Events have the start as their time and the trace as their label; the rest is in no label, so
 * that it costs ingest nothing, and is there for spans that were stored long ago, too.
 */
import { type ContextRow, REQUESTS_BACK_MS, type SpanFacts } from '../context/index.ts'
import type { PayloadHead } from '../store/rows.ts'
import type { ReadContext } from './context.ts'
import { parseEventId } from './present.ts'
import { pagesOf, type Steps } from './steps.ts'

/** Type of the events that spans are. */
const SPAN_TYPE = 'span'
/** Bytes of a payload that are looked at first: ids, name and times come before attributes. */
const HEAD = 600
const BATCH = 2_000
const NANOS_PER_MS = 1e6

/** Members of an object up to the first that is a list or an object: name, then text or number. */
const MEMBER = /[{,]"(\w+)":(?:"((?:[^"\\]|\\.)*)"|(-?\d+(?:\.\d+)?))(?=[,}])/y
/** Text of a span: its name, and how long it took. */
const NAMED = /^(.*?) \(\d+(?:\.\d+)?ms\)(.*)$/s

/** A parent may stand after a list; whether there is one is looked for in all of the payload. */
const PARENT = '"parentSpanId":"'

type Facts = Omit<SpanFacts, 'failed'>

/** Sets `span`, what it is called and its duration on rows that are spans. @param to end of the window, epoch ms. */
export function* setSpans(ctx: ReadContext, rows: readonly ContextRow[], to: number): Steps<void> {
  const spans = rows.filter(({ type, at }) => type === SPAN_TYPE && at >= to - REQUESTS_BACK_MS)
  for (const some of pagesOf(spans, BATCH)) {
    yield
    const ids = some.map(({ id }) => parseEventId(id)!)
    const heads = new Map(ctx.rows.payloadHeads(ids, HEAD, PARENT).map((head) => [head.id, head]))
    for (const [i, row] of some.entries()) {
      const id = ids[i]!
      const facts = factsIn(heads.get(id)) ?? factsOf(wholeOf(ctx, id))
      if (facts) setSpan(row, facts)
    }
  }
}

function setSpan(row: ContextRow, facts: Facts): void {
  const [, name = row.type, rest = ''] = NAMED.exec(row.text) ?? []
  row.span = { ...facts, failed: /\bERROR\b/.test(rest) }
  row.series = name
  row.values = { ...row.values, value: facts.end - facts.begin }
}

/** @returns null where the head does not hold all that the payload says */
function factsIn(given: PayloadHead | undefined): Facts | null {
  if (given === undefined) return null
  const members: Record<string, string> = {}
  MEMBER.lastIndex = 0
  for (let found = MEMBER.exec(given.head); found; found = MEMBER.exec(given.head))
    members[found[1]!] = found[2] ?? found[3]!
  return given.has && members.parentSpanId === undefined ? null : factsOf(members)
}

/** @returns null where an id or a time is missing: it is no span of OpenTelemetry */
function factsOf(members: Readonly<Record<string, unknown>>): Facts | null {
  const { traceId, spanId, parentSpanId, startTimeUnixNano, endTimeUnixNano } = members
  const begin = Number(startTimeUnixNano) / NANOS_PER_MS
  const end = Number(endTimeUnixNano) / NANOS_PER_MS
  if (typeof traceId !== 'string' || typeof spanId !== 'string' || !(begin > 0 && end >= begin)) return null
  const parent = typeof parentSpanId === 'string' ? parentSpanId : ''
  return { trace: traceId, id: spanId, parent, begin, end }
}

/** The payload; nothing where it is no object. */
function wholeOf(ctx: ReadContext, id: number): Record<string, unknown> {
  try {
    const payload: unknown = JSON.parse(decoder.decode(ctx.rows.read([id], true)[0]?.raw))
    return typeof payload === 'object' && payload !== null ? { ...payload } : {}
  } catch {
    // A payload need not be JSON: then it is no span.
    return {}
  }
}

const decoder = new TextDecoder()
