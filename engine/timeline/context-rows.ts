/** Stored rows as the brief looks at them. */
import type { ContextRow } from '../context/index.ts'
import { type Dictionary, TYPE_LABEL } from '../store/dictionary.ts'
import { labelIdsOf } from '../store/open-segment.ts'
import type { TextRow } from '../store/rows.ts'
import { eventId } from './present.ts'
import type { SourceNames } from './source-names.ts'

/** Text of a metric point: the series, its value, and what follows. */
const POINT = /^(.*)=(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?: .*)?$/is
/** Text of a span: its name, and how long it took. */
const SPAN = /^(.*?) \((\d+(?:\.\d+)?)ms\)(.*)$/s
/** Numbers that name something, and measure nothing. */
const NAMING = /(^|[_.-])(id|ids|port|pid|line|seq|number|version|pr|issue|build|offset)$/i

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
  const known = new Map<string, Labelled>()
  const labelled = (hex: string): Labelled => {
    const found = known.get(hex)
    if (found) return found
    const made = labelsOf(labelIdsOf(Buffer.from(hex, 'hex')), dictionary)
    known.set(hex, made)
    return made
  }
  return (stored) => {
    const { type, labels: strings } = labelled(stored.labels)
    const numbers = stored.numbers === null ? null : (JSON.parse(stored.numbers) as Record<string, number>)
    const labels = numbers ? { ...strings, ...numbers } : strings
    const own = labels[label]
    const entity = stored.entity === null ? '' : dictionary.label(stored.entity).value
    const { values, isSample, series } = measured(stored.text, labels.signal, numbers)
    // Of one shape, since there are 100,000 of them.
    const row: ContextRow = {
      id: eventId(stored.id),
      source: names.get(stored.source_id)?.name ?? `source ${stored.source_id}`,
      type,
      at: stored.ts,
      text: stored.text,
      labels,
      entity: own === undefined ? entity : String(own),
      values,
      isSample,
    }
    if (series !== undefined) row.series = series
    return row
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
