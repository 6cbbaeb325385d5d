/** Stored rows as the brief looks at them. */
import { type ContextRow, Masker, type TextFacts, textFacts } from '../context/index.ts'
import { type Dictionary, TYPE_LABEL } from '../store/dictionary.ts'
import { labelIdsOf } from '../store/open-segment.ts'
import type { TextRow } from '../store/rows.ts'
import { eventId } from './present.ts'
import type { SourceNames } from './source-names.ts'
import { type RowOrigin, StoredRow } from './stored-row.ts'

/** Text of a metric point: the series, its value, and what follows. */
const POINT = /^(.*)=(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?: .*)?$/is
/** Text of a span: its name, and how long it took. */
const SPAN = /^(.*?) \((\d+(?:\.\d+)?)ms\)(.*)$/s
/** Numbers that name something, and measure nothing. */
const NAMING = /(^|[_.-])(id|ids|port|pid|line|seq|number|version|pr|issue|build|offset)$/i

/** Sets of labels that are remembered, and wordings. */
const LABELS_MAX = 20_000
const WORDINGS_MAX = 50_000

interface Labelled {
  type: string
  labels: Record<string, string | number>
}

/**
 * @param label of the entity that is asked about: a row that carries it is of that entity.
 * @returns what makes a row of a stored one; labels that rows share are made once
 */
export function contextRows(
  dictionary: Dictionary,
  names: SourceNames,
  label: string,
): (stored: TextRow) => ContextRow {
  const fieldsOf = fieldsOfRows(dictionary, label)
  return (stored) => {
    const { series, ...fields } = fieldsOf(stored)
    return {
      ...{ id: eventId(stored.id), source: nameOf(names, stored.source_id), text: stored.text },
      ...fields,
      ...(series === undefined ? {} : { series }),
    }
  }
}

const nameOf = (names: SourceNames, sourceId: number): string =>
  names.get(sourceId)?.name ?? `source ${sourceId}`

/** Makes rows that several briefs share. */
export class StoredRows {
  private readonly fieldsOf: ReturnType<typeof fieldsOfRows>
  private readonly masker = new Masker()
  private readonly wordings = new Map<string, TextFacts>()
  private readonly sources = new Map<number, { name: string }>()

  constructor(
    dictionary: Dictionary,
    private readonly names: SourceNames,
    label: string,
    private readonly origin: RowOrigin,
  ) {
    this.fieldsOf = fieldsOfRows(dictionary, label)
  }

  /** Sources have the names that they have now. */
  refresh(): void {
    for (const [id, source] of this.sources) source.name = nameOf(this.names, id)
  }

  /** @param holdsText whether the text is kept, or read when it is asked for */
  make(stored: Readonly<TextRow>, holdsText: boolean): StoredRow {
    const { id: n, source_id, text } = stored
    const from = this.sources.get(source_id) ?? { name: nameOf(this.names, source_id) }
    this.sources.set(source_id, from)
    const fields = this.fieldsOf(stored)
    const known = this.shared(textFacts({ ...fields, text }, this.masker))
    return new StoredRow({ ...fields, n, from, known, text: holdsText ? text : null }, this.origin)
  }

  /** Most texts say no more than their wording: they have the same facts. */
  private shared(facts: TextFacts): TextFacts {
    const { words, mayTrace, place, named, alert } = facts
    if (mayTrace || place !== undefined || named !== undefined || alert !== '') return facts
    const known = this.wordings.get(words)
    if (known) return known
    if (this.wordings.size >= WORDINGS_MAX) this.wordings.clear()
    this.wordings.set(words, facts)
    return facts
  }
}

/** All of a row but its text and its source. */
function fieldsOfRows(dictionary: Dictionary, label: string) {
  const known = new Map<string, Labelled>()
  const labelled = (hex: string): Labelled => {
    const found = known.get(hex)
    if (found) return found
    const made = labelsOf(labelIdsOf(Buffer.from(hex, 'hex')), dictionary)
    if (known.size >= LABELS_MAX) known.clear()
    known.set(hex, made)
    return made
  }
  return (stored: Readonly<TextRow>) => {
    const { type, labels: strings } = labelled(stored.labels)
    const numbers = stored.numbers === null ? null : (JSON.parse(stored.numbers) as Record<string, number>)
    const labels = numbers ? { ...strings, ...numbers } : strings
    const own = labels[label]
    const entity = stored.entity === null ? '' : dictionary.label(stored.entity).value
    const { values, isSample, series } = measured(stored.text, labels.signal, numbers)
    return {
      type,
      labels,
      at: stored.ts,
      entity: own === undefined ? entity : String(own),
      values,
      isSample,
      series,
    }
  }
}

function labelsOf(ids: Uint32Array, dictionary: Dictionary): Labelled {
  const labels: Record<string, string> = {}
  let type = ''
  for (const id of ids) {
    const { name, value } = dictionary.label(id)
    if (name === TYPE_LABEL) type = value
    else if (!name.startsWith('@')) labels[name] = value
  }
  return { type, labels }
}

type Measured = Pick<ContextRow, 'values' | 'isSample' | 'series'>

const NOTHING: Measured = { values: {}, isSample: false }

/** What a row measures. A span that failed is looked at for what it says. */
function measured(text: string, signal: unknown, numbers: Record<string, number> | null): Measured {
  if (signal === 'metrics') {
    const point = POINT.exec(text)
    return point
      ? { values: { value: Number(point[2]) }, isSample: true, series: point[1]! }
      : { values: {}, isSample: true }
  }
  if (signal === 'traces') {
    const span = SPAN.exec(text)
    if (span)
      return {
        values: { value: Number(span[2]) },
        isSample: !/\bERROR\b/.test(span[3]!),
        series: span[1]!,
      }
  }
  if (numbers === null) return NOTHING
  return {
    values: Object.fromEntries(Object.entries(numbers).filter(([name]) => !NAMING.test(name))),
    isSample: false,
  }
}
