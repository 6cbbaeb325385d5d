/** Rows of a read or a tail as lines for people. */
import type { Event } from '../../schemas/types.ts'
import { escapeLine, type Io, padTo, paint, sourceStyle } from './terminal.ts'

const SOURCE_WIDTH = 14
const TYPE_WIDTH = 20

/** One row on one line: time, source, event type, text, labels. */
export function formatRow(io: Pick<Io, 'colour'>, row: Event): string {
  const time = row.event_time.replace('T', ' ').replace(/Z$/, '')
  const source = paint(io, sourceStyle(row.source), escapeLine(row.source).padEnd(SOURCE_WIDTH))
  const type = paint(io, 'dim', padTo(escapeLine(row.event_type), TYPE_WIDTH))
  const labels = Object.entries(row.labels).map(([name, value]) => escapeLine(`${name}=${value}`))
  const { count, least, most } = row.fold ?? { count: 0 }
  const range = least === undefined || least === most ? '' : `, ${least} to ${most}`
  const repeats = row.fold ? paint(io, 'yellow', `  x${count}${range}`) : ''
  return `${paint(io, 'dim', time)}  ${source}  ${type}  ${escapeLine(row.text)}${repeats}${labels.length ? paint(io, 'dim', `  ·  ${labels.join('  ')}`) : ''}`
}

/**
 * The stored items of the rows of a read answer, as the text they are in it: JSON.parse would
 * round large numbers and drop repeated keys.
 * @param json the answer's text.
 * @returns for each row its `raw` text, or null when it has none.
 */
export function rawOfRows(json: string): (string | null)[] {
  const result: (string | null)[] = []
  const scan = new JsonScan(json)
  scan.eachMember((name) => {
    if (name !== 'rows') return scan.skip()
    scan.eachElement(() => {
      let raw: string | null = null
      scan.eachMember((field) => {
        const text = scan.skip()
        if (field === 'raw') raw = text
      })
      result.push(raw)
    })
  })
  return result
}

/** Walks valid JSON text by position, so that a value can be taken as it is written. */
class JsonScan {
  private at = 0

  constructor(private readonly text: string) {}

  /** Calls `visit` at the value of each member of the object here; `visit` must pass over it. */
  eachMember(visit: (name: string) => void): void {
    this.each('{', '}', () => {
      const name = JSON.parse(this.skip()) as string
      this.blanks()
      this.at++
      visit(name)
    })
  }

  /** Calls `visit` at each element of the array here; `visit` must pass over it. */
  eachElement(visit: () => void): void {
    this.each('[', ']', visit)
  }

  /** Passes over the value here. @returns its text. */
  skip(): string {
    this.blanks()
    const start = this.at
    let depth = 0
    do {
      const character = this.text[this.at++]
      if (character === '"') this.skipString()
      else if (character === '{' || character === '[') depth++
      else if (character === '}' || character === ']') depth--
      else if (depth === 0) this.skipScalar()
    } while (depth > 0 && this.at < this.text.length)
    return this.text.slice(start, this.at)
  }

  private each(open: string, close: string, visit: () => void): void {
    this.blanks()
    if (this.text[this.at] !== open)
      throw new Error(`the answer is not the JSON expected here: ${open} is missing`)
    this.at++
    this.blanks()
    while (this.text[this.at] !== close && this.at < this.text.length) {
      visit()
      this.blanks()
      if (this.text[this.at] === ',') this.at++
      this.blanks()
    }
    this.at++
  }

  private skipString(): void {
    while (this.text[this.at] !== '"' && this.at < this.text.length)
      this.at += this.text[this.at] === '\\' ? 2 : 1
    this.at++
  }

  private skipScalar(): void {
    while (this.at < this.text.length && !/[\s,\]}]/.test(this.text[this.at]!)) this.at++
  }

  private blanks(): void {
    while (/\s/.test(this.text[this.at] ?? '')) this.at++
  }
}
