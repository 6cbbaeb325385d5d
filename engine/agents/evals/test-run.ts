/**
 * One test of a catalog: an engine in memory whose clock is the test's, into which the catalog is imported as it would
 * be, and the events are sent as they would come. What fires, what events become and what agents conclude is then held
 * against what is expected. Nothing leaves the process.
 *
 * The tests of catalog files are read here, too: every fault told with its place, events in order of the time at which they come.
 */

import { gunzipSync } from 'node:zlib'
import { ownField } from '../../../schemas/fields-of.ts'
import { faults } from '../../../schemas/index.ts'
import type {
  Catalog,
  CatalogTest,
  CatalogTestEvent,
  CatalogTestExpectation,
  Event,
  Firing,
  RunDetail,
} from '../../../schemas/types.ts'
import type { Caller, Row } from '../../calls.ts'
import { systemTimers } from '../../clock.ts'
import { fail, SvcError } from '../../errors.ts'
import type { Beside } from '../../gitops/compose.ts'
import {
  type FilePlace,
  type FileProblem,
  placeOf,
  plain,
  problemAt,
  spotAt,
  type Value,
} from '../../gitops/nodes.ts'
import { parseDuration } from '../../model/units.ts'
import type { Models } from '../models/types.ts'
import { startRunner } from '../runs/runner.ts'
import type { OpenEngine } from './run.ts'
import { staleIn, steady } from './tapes.ts'

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
    if ([said.fires, said.not_fires, said.resolves].filter((one) => one !== undefined).length > 1)
      this.problem(path, 'give one of fires, not_fires and resolves')
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
  trigger: ['fires', 'not_fires', 'resolves', 'entity', 'at'],
  event: ['source', 'type', 'labels', 'entity'],
  agent: ['verdict', 'cites', 'hands_over_to', 'entity'],
}

/** A time of a test: as it is, or so long after its start; NaN for none. Epoch ms. */
function timeOf(text: string, start: number): number {
  const after = /^\+?(\d+(?:\.\d+)?[smhd])$/.exec(text)?.[1]
  if (after === undefined) return Date.parse(text)
  return start + (/^0+(\.0+)?[smhd]$/.test(after) ? 0 : parseDuration(after, 'at'))
}

/** The same in every run, so that an agent is told the same to the byte. */
const SECRET = '0'.repeat(64)
const TESTS: Caller = { id: 'catalog-test', name: 'svc catalog test' }
const BY = { caller: TESTS, origin: 'catalog' as const }
/** Instants at which something is due between two events at most: a schedule that never ends is cut there. */
const DUE_MAX = 100_000
const SHOWN = 10
/** Firings read at once: as many as there may be. */
const PAGE = 500

export interface TestFailure {
  place: FilePlace
  /** What was expected, and what was instead: lines. */
  message: string
}

export interface TestOutcome {
  name: string
  place: FilePlace
  failures: TestFailure[]
  /** Why its tape no longer fits; null: it does, or there is none. */
  stale: string | null
  ms: number
}

export interface TestWorld {
  open: OpenEngine
  catalog: Catalog
  env: Readonly<Record<string, string | undefined>>
  /** Who answers the agents of a test: its tape, or a provider whose answers are kept. */
  modelsOf(test: PlannedTest): { models: Models; done?(): void }
}

/** Runs a test. @throws SvcError where the catalog itself cannot be imported */
export async function runTest(world: TestWorld, test: PlannedTest): Promise<TestOutcome> {
  const began = performance.now()
  const outcome = (failures: TestFailure[], stale: string | null): TestOutcome => ({
    ...{ name: test.name, place: test.place, failures, stale },
    ms: Math.round(performance.now() - began),
  })
  let now = test.start
  const engine = world.open({
    dataFile: null,
    clock: { now: () => now },
    fixedSecret: SECRET,
    env: world.env,
  })
  try {
    const agents = [...new Set(test.expect.flatMap(({ said }) => said.agent ?? []))]
    await engine.importCatalog({ yaml: JSON.stringify(inTest(world.catalog, agents, test)) }, BY)
    const keys = new Map((await engine.listSources()).map(({ name, ingest_key }) => [name, ingest_key]))
    const advance = (to: number) => {
      for (let i = 0; i < DUE_MAX; i++) {
        const due = engine.nextDue()
        if (due === null || due > to) break
        now = Math.max(now, due)
        engine.tick()
        if (engine.nextDue() === due) break
      }
      now = Math.max(now, to)
      engine.tick()
    }
    const ids: string[] = []
    for (const { at, source, body, headers } of test.sent) {
      const ingestKey = keys.get(source)
      if (!ingestKey)
        fail('invalid', `the catalog has no source ${source} that takes events`, { field: 'source' })
      advance(at)
      const answer = await engine.ingest({
        ...{ ingestKey, body: Uint8Array.from(body), headers },
        ...{ bypassCooldown: false, caller: TESTS.id },
      })
      const [rejected] = answer.rejected ?? []
      if (rejected) fail('invalid', `an event of ${source} is refused: ${rejected.error}`)
      if (answer.ingested) ids.push(...idsBetween(answer.ids!))
    }
    advance(test.until)
    // Where no event is looked at, the first are read to be shown beside what failed.
    const isRead = test.expect.some(({ said }) => said.event !== undefined || said.agent !== undefined)
    const looked = isRead ? ids : ids.slice(0, SHOWN)
    const found: Found = {
      test,
      firings: await allFirings(engine),
      events: await Promise.all(looked.map(async (id) => ({ ...(await eventOf(engine, id)), id }))),
      sent: ids.length,
      runs: agents.length ? await runAgents(engine, () => now, agents, world.modelsOf(test)) : [],
    }
    const stale = found.runs.map(({ error }) => staleIn(error)).find((why) => why !== null) ?? null
    const failures = test.expect.flatMap(({ said, place }) => {
      const message = stale !== null && said.agent ? null : judge(said, found)
      return message === null ? [] : [{ place, message }]
    })
    return outcome(failures, stale)
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return outcome([{ place: test.place, message: error.message }], null)
  } finally {
    await engine.close()
  }
}

type Engine = ReturnType<OpenEngine>

/** What a test sends is not signed, and only the agents that it looks at, and who takes over, are at work. */
function inTest(catalog: Catalog, agents: readonly string[], test: PlannedTest): Catalog {
  const atWork = new Set([...agents, ...test.expect.flatMap(({ said }) => said.hands_over_to ?? [])])
  const { sources, agents: all, wiring } = catalog
  const working = <T>(part: T, agent: string): T => ({ ...part, enabled: atWork.has(agent) })
  return {
    ...catalog,
    ...(sources ? { sources: sources.map(unsigned) } : {}),
    ...(all ? { agents: all.map((agent) => working(agent, agent.name)) } : {}),
    ...(wiring ? { wiring: wiring.map((row) => ('wake' in row ? working(row, row.agent) : row)) } : {}),
  }
}

const unsigned = <T extends { config?: Record<string, unknown> }>(source: T): T =>
  source.config ? { ...source, config: withoutSignature(source.config) } : source

const withoutSignature = (config: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(config).filter(([field]) => !field.startsWith('signature_')))

/** Every firing, page by page. */
async function allFirings(engine: Engine): Promise<Firing[]> {
  const found: Firing[] = []
  for (let before: string | undefined; ; ) {
    const { firings, next_before } = await engine.listFirings({ limit: PAGE, ...(before ? { before } : {}) })
    found.push(...firings)
    if (next_before === null) return found
    before = next_before
  }
}

/** Ids of all events from the first to the last. */
function idsBetween([first, last = first]: readonly string[]): string[] {
  const from = Number(first!.slice(4))
  return Array.from({ length: Number(last!.slice(4)) - from + 1 }, (_, i) => `evt_${from + i}`)
}

async function eventOf(engine: Engine, id: string): Promise<Event> {
  const row: Row = await engine.event(id)
  return JSON.parse(JSON.stringify(row)) as Event
}

/** Runs the agents that firings woke to their end. */
async function runAgents(
  engine: Engine,
  now: () => number,
  agents: readonly string[],
  { models, done }: ReturnType<TestWorld['modelsOf']>,
): Promise<RunDetail[]> {
  const made = async () => {
    const { runs } = await engine.listRuns({ limit: 1_000, offset: 0 })
    return runs.filter(({ agent }) => agents.includes(agent))
  }
  const ended = new Set<string>()
  for (;;) {
    const waiting = (await made()).filter(({ id, status }) => OPEN.includes(status) && !ended.has(id))
    if (waiting.length === 0) break
    await settle(
      engine,
      now,
      steady(models),
      waiting.map(({ id }) => id),
    )
    for (const { id } of waiting) ended.add(id)
  }
  const runs = await Promise.all((await made()).map(({ id }) => engine.getRun(id)))
  // The answers of a run that failed are no tape: the one that there is stays.
  if (runs.length > 0 && runs.every(({ error }) => error === null)) done?.()
  return runs
}

const OPEN: readonly string[] = ['queued', 'running']

function settle(engine: Engine, now: () => number, models: Models, ids: readonly string[]): Promise<void> {
  const open = new Set(ids)
  return new Promise((done, fault) => {
    const runner = startRunner({
      port: engine,
      models,
      connect: async () => ({
        tools: [],
        skipped: [],
        relist: async () => new Map(),
        call: async () => ({ text: 'there is no such tool', isError: true, ms: 0 }),
        close: async () => {},
      }),
      clock: { now },
      timers: systemTimers,
      onError: (error) => void runner.stop().then(() => fault(error)),
      finished: (run) => {
        open.delete(run)
        if (open.size === 0) void runner.stop().then(done)
      },
    })
    runner.nudge()
  })
}

/* What is expected, held against what happened. */

interface Found {
  test: PlannedTest
  firings: readonly Firing[]
  /** All that came of what was sent, or the first of them. */
  events: readonly Event[]
  /** How many came of what was sent. */
  sent: number
  runs: readonly RunDetail[]
}

/** @returns what was expected and what was instead; null: it is so */
function judge(said: CatalogTestExpectation, found: Found): string | null {
  if (said.trigger !== undefined) return judgeTrigger(said, said.trigger, found)
  if (said.event !== undefined) return judgeEvent(said, said.event, found)
  return judgeAgent(said, said.agent!, found)
}

/** What a firing is to an expectation: that it fires, or that what fired is over. */
const FIRES = { does: 'fires', not: 'does not fire', did: 'fired', didNot: 'did not fire' }
const RESOLVES = { does: 'resolves', not: 'does not resolve', did: 'resolved', didNot: 'did not resolve' }

function judgeTrigger(said: CatalogTestExpectation, trigger: string, found: Found): string | null {
  const { test } = found
  const verb = said.resolves === undefined ? FIRES : RESOLVES
  const at = said.at === undefined ? null : timeOf(said.at, test.start)
  const meant = firedBy(trigger, verb, found).filter(
    (one) =>
      (said.entity === undefined ||
        one.key === said.entity ||
        one.keys.some(({ key }) => key === said.entity)) &&
      (at === null || Date.parse(one.fired_at!) === at),
  )
  const wanted = said.not_fires ? 0 : (said.resolves ?? said.fires ?? true)
  if (wanted === true ? meant.length > 0 : meant.length === wanted) return null
  const words = `${said.entity === undefined ? '' : ` for ${said.entity}`}${at === null ? '' : ` at ${clockOf(at, test)}`}`
  const times = wanted === true ? verb.does : wanted === 0 ? verb.not : `${verb.does} ${timesOf(wanted)}`
  return [`expected: ${trigger} ${times}${words}`, ...instead(trigger, verb, found)].join('\n')
}

const firedBy = (trigger: string, verb: typeof FIRES, { firings }: Found): Firing[] =>
  firings.filter(
    (one) =>
      one.trigger === trigger && one.state === 'fired' && (one.resolves !== null) === (verb === RESOLVES),
  )

function instead(trigger: string, verb: typeof FIRES, found: Found): string[] {
  const { test, firings, events, sent } = found
  const told = (of: typeof FIRES): string[] => {
    const all = firedBy(trigger, of, found)
    const lines = all.slice(0, SHOWN).map((one) => {
      return `  ${trigger} at ${clockOf(Date.parse(one.fired_at!), test)} for ${one.key}: ${one.reason}`
    })
    return all.length ? [`${of.did} ${timesOf(all.length)}:`, ...lines] : [of.didNot]
  }
  const [first, ...lines] = told(verb)
  const held = firings.filter((one) => one.trigger === trigger && one.state !== 'fired')
  const others = new Set(firings.filter((one) => one.trigger !== trigger).map((one) => one.trigger))
  return [
    `instead it ${first}`,
    ...lines,
    ...(verb === RESOLVES ? told(FIRES).map((line, i) => (i === 0 ? `it ${line}` : line)) : []),
    ...held.slice(0, SHOWN).map((one) => `  ${one.state} for ${one.key}: ${one.reason}`),
    ...(others.size ? [`what else fired: ${[...others].sort().join(', ')}`] : []),
    ...eventLines(events, sent, test),
  ]
}

function eventLines(events: readonly Event[], sent: number, test: PlannedTest): string[] {
  const shown = events.slice(0, SHOWN).map((event, i) => `  ${eventLine(event, i, test)}`)
  const more = sent > SHOWN ? [`  and ${sent - SHOWN} more`] : []
  return [`events (${sent}):`, ...shown, ...more]
}

const eventLine = (event: Event, i: number, test: PlannedTest): string =>
  `${i + 1}. ${clockOf(Date.parse(event.ingested_at ?? event.event_time), test)} ${event.source} ${event.event_type} ${labelsText(event.labels)}`

const labelsText = (labels: unknown): string =>
  Object.entries((labels ?? {}) as Record<string, unknown>)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ')

function judgeEvent(said: CatalogTestExpectation, number: number, { events, test }: Found): string | null {
  const among = said.source === undefined ? events : events.filter(({ source }) => source === said.source)
  const event = among[number - 1]
  const head = `expected of event ${number}${said.source === undefined ? '' : ` of ${said.source}`}:`
  if (!event) return `${head} that it is there\ninstead there are ${among.length}`
  const labels = (event.labels ?? {}) as Record<string, unknown>
  const differs = Object.entries(said.labels ?? {}).flatMap(([name, value]) => {
    const is = ownField(labels, name)
    const isSame = value === null ? is === undefined : is !== undefined && String(is) === String(value)
    if (isSame) return []
    return [
      `  ${name}: expected ${value === null ? 'none' : String(value)}, is ${is === undefined ? 'not there' : String(is)}`,
    ]
  })
  if (said.type !== undefined && event.event_type !== said.type)
    differs.push(`  type: expected ${said.type}, is ${event.event_type}`)
  const entity = (event.entity as { value?: string } | null | undefined)?.value
  if (said.entity !== undefined && entity !== said.entity)
    differs.push(`  entity: expected ${said.entity}, is ${entity ?? 'none'}`)
  return differs.length ? [head, ...differs, eventLine(event, events.indexOf(event), test)].join('\n') : null
}

function judgeAgent(said: CatalogTestExpectation, agent: string, { runs, events }: Found): string | null {
  const own = runs.filter(
    (run) => run.agent === agent && (said.entity === undefined || run.key === said.entity),
  )
  const [run] = own
  const head = `expected of agent ${agent}${said.entity === undefined ? '' : ` for ${said.entity}`}:`
  if (!run) return `${head} that it runs\ninstead nothing woke it`
  const differs: string[] = []
  if (run.error) differs.push(`  the run did not succeed: ${run.error}`)
  if (said.verdict !== undefined && run.verdict !== said.verdict)
    differs.push(`  verdict: expected ${said.verdict}, is ${run.verdict ?? 'none'}`)
  const cited = new Set(run.claims.flatMap((claim) => claim.events))
  const numbers = [...cited].map((id) => events.findIndex((event) => event.id === id) + 1)
  const missing = (said.cites ?? []).filter((number) => !cited.has(events[number - 1]?.id ?? ''))
  if (missing.length)
    differs.push(`  cites: expected event ${missing.join(', ')}, are ${numbers.join(', ') || 'none'}`)
  const over = run.handoffs.map(({ to_agent }) => to_agent)
  if (said.hands_over_to === null && over.length)
    differs.push(`  hands over to: expected nobody, is ${over.join(', ')}`)
  if (typeof said.hands_over_to === 'string' && !over.includes(said.hands_over_to))
    differs.push(`  hands over to: expected ${said.hands_over_to}, is ${over.join(', ') || 'nobody'}`)
  return differs.length ? [head, ...differs].join('\n') : null
}

const timesOf = (n: number): string => (n === 1 ? 'once' : `${n} times`)

/** A time as a test says it: so long after its start. */
function clockOf(at: number, { start }: PlannedTest): string {
  return `+${(at - start) / 1000}s`
}
