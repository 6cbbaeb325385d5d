/** The tests of catalog files, read: every fault told with its place, events in order of the time at which they come. */
import { gunzipSync } from 'node:zlib'
import { faults } from '../../schemas/index.ts'
import type { CatalogTest, CatalogTestEvent, CatalogTestExpectation } from '../../schemas/types.ts'
import { parseDuration } from '../model/units.ts'
import type { Beside } from './compose.ts'
import { type FilePlace, type FileProblem, placeOf, plain, problemAt, spotAt, type Value } from './nodes.ts'

/** When a test begins that does not say it. */
const START = '2026-01-01T00:00:00Z'
/** Events of one test at most. */
const EVENTS_MAX = 100_000

/** One body that a test sends. */
export interface Sent {
  /** Epoch ms. */
  at: number
  source: string
  body: Uint8Array
  headers: Record<string, string>
}

/** A test that is ready to run. */
export interface PlannedTest {
  name: string
  place: FilePlace
  /** Epoch ms. */
  start: number
  sent: Sent[]
  /** Epoch ms: how far the clock goes. */
  until: number
  expect: { place: FilePlace; said: CatalogTestExpectation }[]
  /** Path of the tape; null: its agents are not run. */
  tape: string | null
}

/** A line of a file of events: of a test, or of a recorded incident. */
type Line = Partial<CatalogTestEvent> & {
  t?: unknown
  type?: unknown
  text?: unknown
  labels?: unknown
  value?: unknown
}

/** Reads a file beside a catalog file. @throws Error that says why it cannot */
export type ReadBeside = (from: string, path: string) => { path: string; bytes: Uint8Array }

/** @param tests of the files, as they were put together. @returns those without a fault, and every fault */
export function planTests(
  tests: readonly Beside[],
  read: ReadBeside,
): { tests: PlannedTest[]; problems: FileProblem[] } {
  const problems: FileProblem[] = []
  const names = new Map<string, FilePlace>()
  const planned = tests.flatMap(({ value, file }) => {
    if (value.kind !== 'list') {
      if (plain(value) !== null) problems.push(problemAt(value.spot, 'tests must be a list of tests'))
      return []
    }
    return value.items.flatMap((item): PlannedTest[] => {
      const found = faults('catalog-test.json', plain(item))
      for (const { path, message } of found) problems.push(problemAt(spotAt(item, path), message, path))
      if (found.length) return []
      const test = plain(item) as CatalogTest
      const place = placeOf(spotAt(item, ['name']))
      const other = names.get(test.name)
      if (other) {
        const message = `a test of this name is already at ${other.file}:${other.line}:${other.column}`
        problems.push(problemAt(spotAt(item, ['name']), message))
        return []
      }
      names.set(test.name, place)
      const one = new TestPlan(item, test, file, read, problems).plan(place)
      return one ? [one] : []
    })
  })
  return { tests: planned, problems }
}

class TestPlan {
  private readonly before: number

  constructor(
    private readonly item: Value,
    private readonly test: CatalogTest,
    private readonly file: string,
    private readonly read: ReadBeside,
    private readonly problems: FileProblem[],
  ) {
    this.before = problems.length
  }

  plan(place: FilePlace): PlannedTest | null {
    const { test } = this
    const start = Date.parse(test.start ?? START)
    const sent: Sent[] = []
    let last = start
    for (const [i, event] of (test.events ?? []).entries())
      last = this.send(sent, event, start, last, ['events', i])
    if (test.events_file !== undefined) this.sendFile(sent, test.events_file, start)
    sent.sort((a, b) => a.at - b.at)
    const lastAt = sent.at(-1)?.at ?? start
    const until = test.until === undefined ? lastAt : this.time(test.until, start, ['until'])
    if (until < lastAt) this.problem(['until'], 'until is before the last event')
    for (const [i, said] of test.expect.entries()) this.checkExpectation(said, i)
    if (this.problems.length > this.before) return null
    const expect = test.expect.map((said, i) => ({ said, place: placeOf(spotAt(this.item, ['expect', i])) }))
    return { name: test.name, place, start, sent, until, expect, tape: this.tapePath() }
  }

  private send(
    sent: Sent[],
    event: CatalogTestEvent,
    start: number,
    last: number,
    path: (string | number)[],
  ): number {
    const first = event.at === undefined ? last : this.time(event.at, start, [...path, 'at'])
    const every = event.every === undefined ? 0 : parseDuration(event.every, 'every')
    const times = event.times ?? 1
    if (sent.length + times > EVENTS_MAX) {
      this.problem(path, `a test sends at most ${EVENTS_MAX} bodies`)
      return last
    }
    const { body, source } = event
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    const headers = Object.fromEntries(
      Object.entries(event.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    )
    for (let n = 0; n < times; n++) sent.push({ at: first + n * every, source, body: bytes, headers })
    return first + (times - 1) * every
  }

  /** Lines are events of a test, or those of a recorded incident: source, type, t in seconds, text, labels. */
  private sendFile(sent: Sent[], path: string, start: number): void {
    const lines = this.linesOf(path)
    const first = Math.min(...lines.map(({ t }) => (typeof t === 'number' ? t : Number.POSITIVE_INFINITY)))
    let last = start
    for (const [i, line] of lines.entries()) {
      const { source, t, type, text, labels, value } = line
      if (typeof t === 'number' && typeof source === 'string') {
        const at = start + (t - first) * 1000
        const body = { type, at: new Date(at).toISOString(), text, labels, value }
        sent.push({ at, source, body: Buffer.from(JSON.stringify(body)), headers: {} })
        continue
      }
      const found = faults('catalog-test-event.json', line)
      if (found.length) {
        this.problem(['events_file'], `${path}, line ${i + 1}: ${found[0]!.message}`)
        return
      }
      last = this.send(sent, line as CatalogTestEvent, start, last, ['events_file'])
    }
  }

  private linesOf(path: string): Line[] {
    try {
      const { bytes } = this.read(this.file, path)
      const text = Buffer.from(path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
      return text
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => JSON.parse(line) as Line)
    } catch (error) {
      this.problem(['events_file'], `${path}: ${(error as Error).message}`)
      return []
    }
  }

  private checkExpectation(said: CatalogTestExpectation, i: number): void {
    const subjects = (['trigger', 'event', 'agent'] as const).filter((word) => said[word] !== undefined)
    const path = ['expect', i]
    if (subjects.length !== 1) {
      this.problem(path, 'an expectation is about one of trigger, event, agent')
      return
    }
    const [subject] = subjects
    const fields = FIELDS[subject!]
    const strange = Object.keys(said).find((field) => field !== subject && !fields.includes(field))
    if (strange) {
      this.problem(
        [...path, strange],
        `${strange} says nothing of ${subject}; there are ${fields.join(', ')}`,
      )
      return
    }
    if (subject === 'trigger' && said.fires !== undefined && said.not_fires !== undefined)
      this.problem(path, 'give one of fires and not_fires')
    if (
      subject !== 'trigger' &&
      fields.every((field) => said[field as keyof CatalogTestExpectation] === undefined)
    )
      this.problem(path, `say what is expected: ${fields.join(', ')}`)
    if (subject === 'agent' && this.test.tape === undefined)
      this.problem(path, 'a test of an agent has a tape, the file with the answers of its model')
    if (said.at !== undefined) this.time(said.at, 0, [...path, 'at'])
  }

  private tapePath(): string | null {
    const { tape } = this.test
    if (tape === undefined) return null
    const folder = this.file.includes('/') ? this.file.slice(0, this.file.lastIndexOf('/') + 1) : ''
    return tape.startsWith('/') ? tape : `${folder}${tape}`
  }

  private time(text: string, start: number, path: (string | number)[]): number {
    const at = timeOf(text, start)
    if (Number.isNaN(at)) this.problem(path, `${text} is no time that there is`)
    return at
  }

  private problem(path: (string | number)[], message: string): void {
    this.problems.push(problemAt(spotAt(this.item, path), message, path))
  }
}

const FIELDS: Record<'trigger' | 'event' | 'agent', readonly string[]> = {
  trigger: ['fires', 'not_fires', 'entity', 'at'],
  event: ['source', 'type', 'labels', 'entity'],
  agent: ['verdict', 'cites', 'hands_over_to', 'entity'],
}

/** A time of a test: as it is, or so long after its start; NaN for none. Epoch ms. */
export function timeOf(text: string, start: number): number {
  const after = /^\+?(\d+(?:\.\d+)?[smhd])$/.exec(text)?.[1]
  if (after === undefined) return Date.parse(text)
  return start + (/^0+(\.0+)?[smhd]$/.test(after) ? 0 : parseDuration(after, 'at'))
}
