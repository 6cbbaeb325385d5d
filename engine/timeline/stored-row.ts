/** A stored event as a brief looks at it: all but its text, which is read when somebody asks for it. */
import type { ContextRow, SpanFacts, TextFacts } from '../context/index.ts'
import { eventId } from './present.ts'
import type { Steps } from './steps.ts'

/** Of a span of OpenTelemetry: what its payload says of it. */
export type Facts = Omit<SpanFacts, 'failed'>

/** Where rows are from; shared by all of them. */
export interface RowOrigin {
  /** @throws RowGone where the event was removed since it was looked for */
  textOf(id: number): string
}

/** An event was removed while a brief looked at it; the brief begins again. */
export class RowGone extends Error {}

/** An answer from rows whose texts are not at hand, and, where one was gone when it was to be read, from rows read whole. */
export function* unlessGone<T>(answer: (isWhole: boolean) => Steps<T>): Steps<T> {
  try {
    return yield* answer(false)
  } catch (error) {
    if (!(error instanceof RowGone)) throw error
    return yield* answer(true)
  }
}

type Fields = Pick<
  ContextRow,
  'type' | 'at' | 'labels' | 'entity' | 'values' | 'isSample' | 'series' | 'known'
> & { n: number; from: { name: string }; text: string | null }

/** Fields are set once and in one order, since there are 100,000 of them; several briefs share one. */
export class StoredRow implements ContextRow {
  readonly type: string
  readonly at: number
  readonly labels: ContextRow['labels']
  readonly entity: string
  readonly values: ContextRow['values']
  readonly isSample: boolean
  readonly series: string | undefined
  readonly known: TextFacts | undefined
  readonly span: SpanFacts | undefined
  readonly n: number
  /** What its payload says where it is a span, once it was looked at; null: nothing. */
  facts: Facts | null | undefined = undefined
  private readonly from: { name: string }
  private readonly held: string | null
  private readonly origin: RowOrigin

  /** @param fields text null: it is read when it is asked for. @param span of a row as `asSpan` makes it */
  constructor(fields: Fields, origin: RowOrigin, span?: SpanFacts) {
    this.type = fields.type
    this.at = fields.at
    this.labels = fields.labels
    this.entity = fields.entity
    this.values = fields.values
    this.isSample = fields.isSample
    this.series = fields.series
    this.known = fields.known
    this.span = span
    this.n = fields.n
    this.from = fields.from
    this.held = fields.text
    this.origin = origin
  }

  get id(): string {
    return eventId(this.n)
  }

  get source(): string {
    return this.from.name
  }

  get text(): string {
    return this.held ?? this.origin.textOf(this.n)
  }

  /** The same event with what a tracer says of it; this one stays as it is, for briefs that look no further back. */
  asSpan(span: SpanFacts, name: string): StoredRow {
    const { type, at, labels, entity, isSample, known, n, from, held } = this
    const values = { ...this.values, value: span.end - span.begin }
    const fields = { type, at, labels, entity, isSample, known, n, from, text: held, values, series: name }
    return new StoredRow(fields, this.origin, span)
  }
}
