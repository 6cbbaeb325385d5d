/**
 * Incidents with labelled truth, as folders: `<id>/events.ndjson.gz` holds an event a line (`source`, `type`,
 * `t` in seconds before the firing, `text`, `labels`, `value`, and `count` where it stands for others of its wording),
 * `<id>/truth.json` what must be seen of them.
 */

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Row } from '../../calls.ts'
import { fail } from '../../errors.ts'
import { type ContextRow, cautiousTokens, makeBrief, renderBrief } from '../../log/brief/brief.ts'
import { fitRows, tokensOf } from '../../log/timeline/fit.ts'
import { renderHeading, renderTimeline } from '../../log/timeline/present.ts'
import { fence, renderRow, renderRows } from '../runs/prompt.ts'

export interface IncidentEvent {
  source: string
  type: string
  /** Seconds before the firing, at most 0. */
  t: number
  text: string
  labels: Record<string, string>
  value?: number
  /** Seconds before the firing when it came, where that is later than when it happened. */
  arrives?: number
  /** How many events of its wording it stands for, itself included; 1 when absent. */
  count?: number
  /** Of those it stands for the last, seconds before the firing; `t` when absent. */
  until?: number
}

/** What a run should come to. unknown: the cause is not in the events, and that is to be said. */
export type Outcome = 'finding' | 'no_op' | 'unknown'

/** What one must have seen to know what happened. Patterns are JavaScript's; (?i) before one ignores case. */
export interface Fact {
  id: string
  role: 'root' | 'effect'
  /** One line must match all of them. */
  line?: string[]
  /** A line that stopped: one line must match these, and say so. */
  gone?: unknown
  and?: string
  /** A number: its usual and its abnormal value must be shown, in lines that match all names. */
  num?: { names: string[]; usual: [number, number]; abnormal: [number, number] }
  /** Noise alone matches it: left out. */
  weak?: boolean
  /** Of roots: the cause that it shows. Roots of one cause, as all are that name none, stand for each other. */
  cause?: string
}

/** An innocent event that one could take for the cause. */
export interface Decoy {
  id: string
  /** One line must match all of them. */
  line: string[]
}

export interface Truth {
  id: string
  kind: string
  /** What the trigger fires for: the value of the label `service`. */
  entity: string
  fired_at: string
  facts: Fact[]
  /** A finding when absent. */
  outcome?: Outcome
  decoys?: Decoy[]
  /** How hard it is, from 1, one clear signal, to 4, several causes or one that is missing; as measure.ts says when absent. */
  level?: number
  /** Services in which it began; those of the events of its roots when absent. */
  root_services?: string[]
  /** What a run over it may take: over one of them it fails. */
  limits?: Limits
}

const LIMITS = ['rounds', 'usd', 'seconds', 'input_tokens'] as const

export type Limits = Partial<Record<(typeof LIMITS)[number], number>>

export interface Incident {
  truth: Truth
  events: IncidentEvent[]
}

/** Ordinary lines by the service that wrote them: level, component, host, text. */
export type NoisePool = Record<string, [level: string, component: string, host: string, text: string][]>

export interface Pack {
  /** Read one at a time: they are large. */
  incidents: { id: string; heldOut?: boolean; load(): Incident }[]
  noise: NoisePool
  /** What is left of what the events say; all of it when absent. */
  variant?: VariantName
}

/** A scenario in one file, `{version, truth, events}`, as the console gives it. */
const FILE = '.scenario.json'

/**
 * @param folder with the incidents as folders or as files `<id>.scenario.json`, or with `pack/` beside
 *   `noise.json.gz`; or one such file
 * @throws SvcError invalid
 */
export function readPack(folder: string): Pack {
  if (folder.endsWith(FILE) && existsSync(folder) && statSync(folder).isFile())
    return { incidents: [inFile(dirname(folder), basename(folder))], noise: {} }
  const inner = join(folder, 'pack')
  const root = existsSync(inner) ? inner : folder
  const names = statSync(root, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(root) : []
  const ids = names.filter((id) => existsSync(join(root, id, 'truth.json'))).sort()
  const files = names.filter((name) => name.endsWith(FILE))
  if (ids.length + files.length === 0)
    fail('invalid', `pack: ${folder} holds no incident, a folder with truth.json and events.ndjson.gz`, {
      field: 'pack',
    })
  const noise = [join(folder, 'noise.json.gz'), join(root, '..', 'noise.json.gz')].find((file) =>
    existsSync(file),
  )
  return {
    incidents: [
      ...ids.map((id) => ({ id, load: () => readIncident(join(root, id), id) })),
      ...files.sort().map((name) => inFile(root, name)),
    ],
    noise: noise === undefined ? {} : (JSON.parse(gunzipSync(readFileSync(noise)).toString()) as NoisePool),
  }
}

function inFile(folder: string, name: string): Pack['incidents'][number] {
  const id = name.slice(0, -FILE.length)
  return {
    id,
    load: () => checkedIncident(id, () => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Incident),
  }
}

const readIncident = (folder: string, id: string): Incident =>
  checkedIncident(id, () => {
    const truth = JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')) as Truth
    const lines = gunzipSync(readFileSync(join(folder, 'events.ndjson.gz')))
      .toString()
      .split('\n')
    return { truth, events: lines.filter(Boolean).map((line) => JSON.parse(line) as IncidentEvent) }
  })

function checkedIncident(id: string, read: () => Incident): Incident {
  try {
    const { truth, events } = read()
    if (typeof truth?.entity !== 'string' || !Array.isArray(truth.facts) || !Array.isArray(events))
      throw new Error('the truth needs entity and facts, and there must be events')
    if (truth.level !== undefined && ![1, 2, 3, 4].includes(truth.level))
      throw new Error('level must be 1, 2, 3 or 4')
    requireLimits(truth.limits ?? {})
    counted(events)
    return { truth, events }
  } catch (error) {
    return fail('invalid', `pack: incident ${id}: ${(error as Error).message}`, { field: 'pack' })
  }
}

function requireLimits(limits: Limits): void {
  for (const [name, most] of Object.entries(limits))
    if (!(LIMITS as readonly string[]).includes(name) || !(typeof most === 'number' && most > 0))
      throw new Error(`limits.${name}: limits are ${LIMITS.join(', ')}, each a number above 0`)
}

/** @returns which limit a run is over, in words; null: none */
export function overLimit(
  took: Readonly<Record<keyof Limits, number | null>>,
  limits: Limits = {},
): string | null {
  const name = LIMITS.find((one) => (took[one] ?? 0) > (limits[one] ?? Number.POSITIVE_INFINITY))
  return name
    ? `it took ${Number(took[name]!.toFixed(4))} ${name}, its scenario allows ${limits[name]}`
    : null
}

/* The same incidents as less is known of their events: what a first message shows must not hang on one field. */

/** What of an event a variant may take away. */
interface Described {
  source: string
  type: string
  /** Seconds before the firing, at most 0. */
  t: number
  labels: Record<string, string>
}

type Variant = <E extends Described>(events: readonly E[]) => E[]

/** Source and type of all events where they tell nothing. */
const ONE_SOURCE = 'events'
const ONE_TYPE = 'event'
/** Labels that say where something ran, and for whom. */
const PLACES = new Set(['host', 'region', 'zone', 'node', 'customer'])
/** Seconds of history, where there is hardly any. */
const SHORT = 1_200

const variants = {
  /** Everything comes from one source: none is of deploys alone, and none is quiet. */
  'one-source': (events) => events.map((event) => ({ ...event, source: ONE_SOURCE })),
  /** No event says on which host, in which region or for which customer. */
  'no-places': (events) => events.map((event) => ({ ...event, labels: withoutPlaces(event.labels) })),
  /** All events have one type: no level, and no kind of change. */
  'one-type': (events) => events.map((event) => ({ ...event, type: ONE_TYPE })),
  /** Nothing is older than twenty minutes. */
  'no-history': (events) => events.filter(({ t }) => t >= -SHORT),
} satisfies Record<string, Variant>

export type VariantName = keyof typeof variants
export const VARIANTS = Object.keys(variants) as VariantName[]

/** @param name none: as they are. @returns the events as the variant has them, in their order */
const variantOf = <E extends Described>(events: E[], name: VariantName | undefined): E[] =>
  name === undefined ? events : (variants[name] as Variant)(events)

const withoutPlaces = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => !PLACES.has(name)))

/* Events that stand for more of their kind, as a thinned stream keeps them: loaded as as many as they were. */

/** Events of one scenario once all are loaded, noise aside. */
const LOADED_MAX = 1_000_000

interface Countable {
  t: number
  arrives?: number
  count?: number
  until?: number
}

/** An event as it is loaded; `isCopy`: one before it stands for it in the file. */
type Counted<T> = T & { isCopy?: true }

/**
 * Each event as often as it counts, evenly over the time from `t` to `until`, so that every figure over the events is
 * that of the stream as it was.
 * @throws SvcError invalid where a count is no whole number from 1, or all of them are more than can be loaded
 */
export function counted<T extends Countable>(events: readonly T[]): readonly Counted<T>[] {
  if (events.every(({ count = 1 }) => count === 1)) return events
  requireCounts(events)
  return events.flatMap((event): Counted<T>[] => {
    const { count = 1, t, until = t, arrives } = event
    const step = count > 1 ? (until - t) / (count - 1) : 0
    return Array.from({ length: count }, (_, i) => ({
      ...event,
      t: t + i * step,
      ...(arrives === undefined ? {} : { arrives: Math.min(0, arrives + i * step) }),
      ...(i === 0 ? {} : { count: 1, isCopy: true as const }),
    }))
  })
}

function requireCounts(events: readonly Countable[]): void {
  let all = 0
  for (const [i, { count = 1, t, until = t }] of events.entries()) {
    if (!Number.isInteger(count) || count < 1)
      fail('invalid', `events[${i}].count must be a whole number from 1`, { field: 'count' })
    if (!(until >= t && until <= 0))
      fail('invalid', `events[${i}].until must be between its t and 0`, { field: 'until' })
    all += count
    if (all > LOADED_MAX)
      fail('invalid', `count: the events stand for more than ${LOADED_MAX.toLocaleString('en')}`, {
        field: 'count',
      })
  }
}

/* Which events are the truth of an incident: found by the patterns of its facts, never told to the store. */

export interface TruthEvents {
  /** Each cause with the events that show it: one of them is to be cited. */
  causes: { id: string; events: ReadonlySet<string> }[]
  /** Each fact with its events. */
  facts: { id: string; role: Fact['role']; events: ReadonlySet<string> }[]
  decoys: ReadonlySet<string>
}

/** Name of the cause that roots without one are of. */
const THE_CAUSE = 'cause'

type Line = { id: string; text: string; value: number | undefined }

/** @returns ids as they are in `loaded` */
export function truthOf(
  { events }: Pick<Loaded, 'events'>,
  { facts, decoys = [] }: { facts: readonly Fact[]; decoys?: readonly { line: string[] }[] | undefined },
): TruthEvents {
  const lines = events.map(({ id, type, text, labels, value }): Line => {
    const shown = Object.entries(labels).map(([name, of]) => `${name}=${of}`)
    return { id, text: `${type} ${text} {${shown.join(' ')}}`, value }
  })
  const known = facts.filter(({ weak }) => !weak)
  const found = known.map((fact) => ({ id: fact.id, role: fact.role, events: eventsOf(fact, lines) }))
  const causes = new Map<string, Set<string>>()
  known.forEach(({ role, cause = THE_CAUSE }, i) => {
    if (role !== 'root') return
    const set = causes.get(cause) ?? new Set()
    causes.set(cause, set)
    for (const id of found[i]!.events) set.add(id)
  })
  return {
    causes: [...causes].map(([id, of]) => ({ id, events: of })),
    facts: found,
    decoys: new Set(decoys.flatMap(({ line }) => [...matching(lines, line)])),
  }
}

function eventsOf({ line = [], num }: Fact, lines: readonly Line[]): Set<string> {
  if (!num) return matching(lines, line)
  const [low, high] = num.abnormal
  const named = new Set(matching(lines, num.names))
  return new Set(
    lines
      .filter(({ id, value }) => named.has(id) && value !== undefined && value >= low && value <= high)
      .map(({ id }) => id),
  )
}

function matching(lines: readonly Line[], patterns: readonly string[]): Set<string> {
  const all = patterns.map(patternOf)
  return new Set(lines.filter(({ text }) => all.every((one) => one.test(text))).map(({ id }) => id))
}

/** JavaScript's; (?i) before one ignores case. */
export const patternOf = (pattern: string): RegExp =>
  pattern.startsWith('(?i)') ? new RegExp(pattern.slice(4), 'i') : new RegExp(pattern)

/* The ways to show an incident that are measured: the brief, and what `context: plain` shows. */

/** Of an event context by default, and rows that a fitted read looks at. */
const PLAIN_WINDOW = 900
const PLAIN_ROWS = 200_000
const MARKER = '0000000000000000'

export interface Loaded {
  entity: string
  /** Epoch ms of the firing. */
  now: number
  /** In order of time, ids by that order, the last is the alert. */
  events: (Counted<IncidentEvent> & { id: string })[]
  /** Id of the alert. */
  fired: string
}

export type WayName = 'brief' | 'plain'

/** @param noise events of the pool around the incident's own. @param variant what is left of what they say */
export function loadedWith(
  { truth, events }: Incident,
  pool: NoisePool,
  noise: number,
  variant?: VariantName,
): Loaded {
  const { entity, id } = truth
  const all: Counted<IncidentEvent>[] = [
    ...counted(events),
    ...(noise ? noiseOf(pool, id, entity, noise) : []),
  ]
  all.push({
    ...{ source: 'alerts', type: 'page', t: 0, text: `firing: ${entity} page` },
    labels: { service: entity, severity: 'page' },
  })
  all.sort((a, b) => a.t - b.t)
  return {
    entity,
    now: Date.parse(truth.fired_at),
    events: variantOf(
      all.map((event, i) => ({ ...event, id: `evt_${i + 1}` })),
      variant,
    ),
    fired: `evt_${all.length}`,
  }
}

/** @returns the text as a model would be shown it, and entities by how much speaks for each */
export function briefShown(
  { entity, now, events, fired }: Loaded,
  budget: number,
): { text: string; suspects: readonly string[] } {
  const fencing = cautiousTokens(fence(MARKER, ''))
  const rows = events.map((event) => contextRow(event, now))
  const request = { rows, entity, label: 'service', now, fired: [fired], budget: budget - fencing }
  const brief = makeBrief(request)
  return { text: fence(MARKER, renderBrief(brief)), suspects: brief.suspects }
}

/** @param budget tokens. @returns the text as a model would be shown it */
export const ways: Record<WayName, (loaded: Loaded, budget: number) => string> = {
  brief: (loaded, budget) => briefShown(loaded, budget).text,
  plain: ({ entity, now, events }, budget) => {
    const rows = events
      .filter(({ labels, t }) => labels.service === entity && t >= -PLAIN_WINDOW)
      .slice(-PLAIN_ROWS)
      .map((event) => plainRow(event, now))
    const heading = tokensOf(renderTimeline(renderHeading({ service: entity }, undefined, '15m'), []))
    const kept = fitRows(rows, Math.max(1, budget - heading - 1), 0, { lineOf: renderRow }).rows
    kept.sort((a, b) => Date.parse(a.event_time) - Date.parse(b.event_time) || numberOf(a) - numberOf(b))
    return fence(MARKER, renderRows(kept))
  },
}

const numberOf = ({ id }: Row): number => Number(id.slice(4))

function contextRow(
  { id, source, type, t, text, labels, value }: Loaded['events'][number],
  now: number,
): ContextRow {
  return {
    ...{ id, source, type, text, labels },
    at: now + t * 1000,
    entity: labels.service ?? '',
    values: value === undefined ? {} : { value },
    isSample: value !== undefined,
  }
}

function plainRow({ id, source, type, t, text, labels, value }: Loaded['events'][number], now: number): Row {
  const at = new Date(now + t * 1000).toISOString()
  return {
    ...{ id, source, text, event_type: type, event_time: at, ingested_at: at },
    ...{ offset: `T-${Math.round(-t)}s`, source_type: 'event_stream' },
    entity: labels.service ? { label: 'service', value: labels.service } : null,
    labels: value === undefined ? labels : { ...labels, value },
  } as Row
}

/* Ordinary lines around an incident, the same for the same seed. */

/** Seconds: the far part of the noise, and the near one, which has three of four lines. */
const FAR = 108_000
const NEAR = 7_200
const NEAR_SHARE = 0.75
/** Of the lines, those that carry the entity that fired. */
const OWN_SHARE = 0.6

/** Numbers from 0 to 1 (mulberry32), begun by the hash of a text. */
export function randomOf(seed: string): () => number {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0) || 1
  return () => {
    state = Math.imul(state ^ (state >>> 15), 1 | state)
    state ^= state + Math.imul(state ^ (state >>> 7), 61 | state)
    return ((state ^ (state >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** @param count of lines. @returns in no order */
function noiseOf(pool: NoisePool, id: string, entity: string, count: number): IncidentEvent[] {
  const services = Object.keys(pool)
  if (services.length === 0) return []
  const random = randomOf(`noise${id}`)
  const counts = new Map(services.map((service) => [service, 0]))
  for (let i = 0; i < count; i++) {
    const service = services[Math.floor(random() * services.length)]!
    counts.set(service, counts.get(service)! + 1)
  }
  const events: IncidentEvent[] = []
  for (const [service, lines] of counts) {
    let at = Math.floor(random() * 2_000)
    const near = Math.round(lines * NEAR_SHARE)
    for (const [from, to, n] of [
      [-FAR, -NEAR, lines - near],
      [-NEAR, 0, near],
    ] as const)
      for (let i = 0; i < n; i++) {
        const [level, component, host, text] = pool[service]![at++ % pool[service]!.length]!
        const t = Math.min(-0.5, from + ((i + random()) / n) * (to - from))
        const labels: Record<string, string> = { service: random() < OWN_SHARE ? entity : service }
        if (component) labels.component = component
        if (host) labels.host = host
        events.push({ source: 'logs', type: level, t, text, labels })
      }
  }
  return events
}
