/** A run of the past as a scenario, of what the run could read: shown first, and given away when somebody asks. */
import { grouped } from '../../../schemas/grouped.ts'
import type { RunDetail, ScenarioAsk, ScenarioFile, ScenarioPreview } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { Masker } from '../../log/brief/words.ts'
import { projectScope, type ReadContext } from '../../log/timeline/context.ts'
import type { TriggerReads } from '../../triggers/reads.ts'
import type { RunReads } from '../runs/run-reads.ts'
import type { Fact, Incident, IncidentEvent, Truth } from './incident.ts'
import type { ScenarioReads } from './reports.ts'
import type { OpenEngine } from './run.ts'
import { guessedFaults, statedFaults } from './scripted.ts'

/** Of the past of a firing so much is taken, ms; of events at most so many, the newest of them. */
const BACK_MS = 36 * 3_600_000
const EVENTS_MAX = 100_000
const PAGE = 2_000
const SOURCES_MAX = 100
/** Bytes. */
const FILE_MAX = 20_000_000
/** Characters of an event's text in what is shown. */
const TEXT = 200
/** Events up to which scripted agents run over a scenario here: some seconds of one processor, and 100 MB. */
const RUN_MAX = 20_000

type Reads = Pick<RunReads, 'getRun' | 'readFor'> & Pick<TriggerReads, 'getFiring'>

/** @param open gives an engine of its own in memory, in which a scenario is checked */
export function createScenarioReads(
  ctx: ReadContext,
  reads: Reads,
  open: () => Promise<OpenEngine>,
): ScenarioReads {
  async function make(id: string, asked: ScenarioAsk) {
    const run = await reads.getRun(id)
    const asOf = run.as_of ?? fail('conflict', `run ${id} was not started: it read nothing`)
    const firedAt = Date.parse(
      (run.dispatch_id === null ? null : (await reads.getFiring(run.dispatch_id)).fired_at) ?? asOf,
    )
    const rows = await readAll(run, asOf, firedAt)
    const { causes, from } =
      asked.causes === undefined ? proposedCauses(run) : { causes: asked.causes, from: 'asked' as const }
    const frozen = freezeRun({
      ...{ id, entity: run.key, firedAt, rows, causes, effects: asked.effects ?? [] },
      ...{ keep: asked.keep ?? [], replace: asked.replace ?? [] },
      cited: run.claims.flatMap(({ events }) => events),
    })
    return { frozen, from, rows }
  }

  /** Oldest first; without findings, which would tell the answer. */
  async function readAll(run: RunDetail, as_of: string, firedAt: number): Promise<FrozenRow[]> {
    const sources = namesOf(run.projects)
    const rows: FrozenRow[] = []
    let cursor: string | null = null
    while (sources.length > 0) {
      const page = await reads.readFor(run.projects, {
        ...{ sources, order: 'desc', limit: PAGE, points: 'all', as_of },
        from: new Date(firedAt - BACK_MS).toISOString(),
        to: new Date(firedAt).toISOString(),
        ...(cursor === null ? {} : { cursor }),
      } as Parameters<RunReads['readFor']>[1])
      for (const row of page.rows) if (!row.reference && row.event_type !== 'finding') rows.push(row)
      cursor = page.next_cursor
      if (cursor === null || rows.length >= EVENTS_MAX) break
    }
    return rows.reverse()
  }

  function namesOf(projects: readonly string[]): string[] {
    ctx.names.refresh()
    const members = projects.length ? new Set(projectScope(ctx.db, ctx.names, projects).members) : null
    const names = [...ctx.names.all()]
      .filter(({ deleted, sourceType, id }) =>
        members ? members.has(id) : !deleted && sourceType !== 'finding',
      )
      .map(({ name }) => name)
    if (names.length > SOURCES_MAX)
      fail('invalid', `the run reads ${names.length} sources; a scenario is made of ${SOURCES_MAX} at most`)
    return names
  }

  return {
    previewScenario: async (id, asked) => {
      const { frozen, from, rows } = await make(id, asked)
      const fitness = from === 'none' || asked.check === false ? NOT_CHECKED : await fitnessOf(frozen, open)
      return { ...previewOf(frozen, { from, events: rows.length }), ...fitness }
    },
    scenarioOfRun: async (id, asked) => {
      const { frozen, from } = await make(id, asked)
      if (from === 'none')
        fail('invalid', 'causes: no cause is known of this run; say which events show it', {
          field: 'causes',
        })
      const bytes = bytesOf(frozen)
      if (bytes > FILE_MAX)
        fail('invalid', `the scenario has ${bytes} bytes; at most ${FILE_MAX} are allowed`)
      return fileOf(frozen)
    },
  }
}

const fileOf = ({ truth, events }: Frozen): ScenarioFile => ({ version: 1, truth, events }) as ScenarioFile

const bytesOf = (frozen: Frozen): number => Buffer.byteLength(JSON.stringify(fileOf(frozen)))

type Fitness = Pick<ScenarioPreview, 'checked' | 'unfit'>

const NOT_CHECKED: Fitness = { checked: 'none', unfit: [] }

/** What svc evals check says of it; of one too large to be run over here, what is seen without that. */
async function fitnessOf({ truth, events }: Frozen, open: () => Promise<OpenEngine>): Promise<Fitness> {
  const incident: Incident = { truth, events }
  if (events.reduce((sum, { count = 1 }) => sum + count, 0) > RUN_MAX)
    return { checked: 'first_message', unfit: [...statedFaults(incident, {}, 0), ...guessedFaults(incident)] }
  const { checkPack } = await import('./run.ts')
  const pack = { incidents: [{ id: truth.id, load: () => incident }], noise: {} }
  const unfit = await checkPack(await open(), pack, { noise: 0 })
  return { checked: 'runs', unfit: unfit.map(({ why }) => why) }
}

function previewOf(
  frozen: Frozen,
  { from, events }: { from: CauseFrom; events: number },
): Omit<ScenarioPreview, keyof Fitness> {
  const { truth, causes, replaced } = frozen
  return {
    ...{ id: truth.id, entity: truth.entity, fired_at: truth.fired_at, cause_from: from, events },
    causes: causes.map((some) => some.map(({ id, text }) => ({ id, text: text.slice(0, TEXT) }))),
    kept: frozen.events.length,
    bytes: bytesOf(frozen),
    sources: [...grouped(frozen.events, ({ source }) => source)].map(([source, some]) => ({
      source,
      events: some.reduce((sum, { count = 1 }) => sum + count, 0),
    })),
    replaced: Object.entries(replaced).map(([kind, names]) => ({ kind, names })),
  }
}

type CauseFrom = ScenarioPreview['cause_from']

/*
 * A run of the past as a scenario: the events that it could read, with stand-ins for whom they are about, and the
 * truth that a person names by events. Nothing here reads or writes; what is given is what there was.
 */

/** One event as a read gives it. */
export interface FrozenRow {
  id: string
  source: string
  event_type: string
  event_time: string
  ingested_at: string
  text: string
  labels: Readonly<Record<string, string | number>>
  entity: { label: string; value: string } | null
}

interface Freezing {
  id: string
  entity: string
  /** Epoch ms. */
  firedAt: number
  rows: readonly FrozenRow[]
  /** Ids of events that are the cause; of several causes one list each. None: there was nothing to find. */
  causes: readonly (readonly string[])[]
  /** Ids of events that followed from it. */
  effects: readonly string[]
  /** Kept whatever else is left out, as what was cited is. */
  cited: readonly string[]
  /** Labels whose values stay as they are. */
  keep: readonly string[]
  /** Names that a person knows to be names, wherever they stand. */
  replace?: readonly string[]
}

export interface Frozen {
  truth: Truth
  /** For each cause the events that show it, with stand-ins. */
  causes: { id: string; text: string }[][]
  events: IncidentEvent[]
  /** Events that were left out, lines of a wording that came often: others of it stand for them. */
  thinned: number
  /** What was replaced: kinds, with how many different ones. */
  replaced: Record<string, number>
}

/** What is younger, ms before the firing, is kept whole: rates are told by it. Of older lines of a wording so many. */
const WHOLE_MS = 3 * 3_600_000
const OLDER = 200
/** Characters of a text that tell an event from others. */
const TOLD = 80
/** Labels that name people, customers and machines. */
const PERSONAL =
  /^(customer|client|user|username|account|tenant|org|organisation|organization|company|merchant|workspace|subscriber|member|person|login|author|actor|owner|contact|email|mail|host|hostname|instance|node|ip|address|session|phone|name|device)([_.-]?(id|name|key|email|address|ip))?$/i
/** The same in a text, before what it names: `customer=acme`, `"tenant": "acme"`, `account "Acme Ltd"`. Of words that mean more than that, such as name, none. */
const NAMED_IN_TEXT =
  /(?<![A-Za-z0-9])((customer|client|user|username|account|tenant|organi[sz]ation|org|company|merchant|workspace|subscriber|member|login|email|phone|hostname|host)(?:[_.-]?(?:id|name|key|email))?)(\\?["']?\s?[=:]\s?|\s(?=["']))(\\?"[^"\\\r\n]{2,80}\\?"|'[^'\\\r\n]{2,80}'|[^\s"',:;&)}\]\\|]{2,80})/gi
/** In the path of an address: `/customers/acme/orders`. */
const NAMED_IN_PATH =
  /\/((customer|client|user|account|tenant|organi[sz]ation|org|merchant|workspace)s?)\/([^\s/?#"',;)]{2,80})/gi
/** What stands there and is nobody's name. */
const NOBODYS =
  /^(true|false|null|nil|none|undefined|unknown|anonymous|system|default|all|any|me|new|login|logout|search|list|count|settings|https?|root|admin|guest|service|error|failed|not|is|was|has|had|in|of|for|to|from|with|and|the|-+|\*+|\{\w*\}?|:\w+|\[?redacted.*)$/i
const MAIL = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g
const IPV4 = /\b(?:\d{1,3}\.){3}\d{1,3}\b/g
const IPV6 = /\b(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}\b/gi
/** Shorter values are words that texts have anyway. */
const NAME_MIN = 3

/**
 * What the cause of a past run was, where nobody says it: the event that the mark of its finding names, else the
 * causes of its claims that hold. `none`: neither says one, or the mark says that the finding is wrong.
 */
export function proposedCauses({ mark, claims }: Pick<RunDetail, 'mark' | 'claims'>): {
  causes: string[][]
  from: 'mark' | 'claims' | 'none'
} {
  if (mark?.cause) return { causes: [[mark.cause]], from: 'mark' }
  const held = mark?.mark === 'wrong' ? [] : claims.filter(({ ok, role }) => ok && role === 'cause')
  return { causes: held.map(({ events }) => events), from: held.length ? 'claims' : 'none' }
}

/** @throws SvcError invalid where a cause is none of the events */
export function freezeRun(given: Freezing): Frozen {
  const { rows, firedAt, causes, effects, entity } = given
  const byId = new Map(rows.map((row) => [row.id, row]))
  const missing = [...causes.flat(), ...effects].find((id) => !byId.has(id))
  if (missing !== undefined)
    fail('invalid', `cause: ${missing} is none of the events that the run could read`, { field: 'cause' })
  const masks = new StandIns(rows, given)
  const kept = thin(rows, firedAt - WHOLE_MS, new Set([...causes.flat(), ...effects, ...given.cited]))
  const told = (row: FrozenRow, stands?: Stands): IncidentEvent => {
    const labels: Record<string, string> = {}
    let value: number | undefined
    for (const [name, of] of Object.entries(row.labels)) {
      if (typeof of === 'number') value ??= of
      labels[name] = masks.of(name, String(of))
    }
    if (row.entity) labels.service = masks.of(row.entity.label, row.entity.value)
    const t = (Date.parse(row.event_time) - firedAt) / 1000
    const came = (Date.parse(row.ingested_at) - firedAt) / 1000
    return {
      ...{
        source: row.source,
        type: row.event_type,
        t: Math.min(0, t),
        text: masks.within(row.text),
        labels,
      },
      ...(value === undefined ? {} : { value }),
      ...(stands && stands.count > 1
        ? { count: stands.count, until: Math.min(0, (stands.last - firedAt) / 1000) }
        : {}),
      ...(came - t > 60 && came <= 0 ? { arrives: came } : {}),
    }
  }
  const factOf = (id: string, more: Pick<Fact, 'role' | 'cause'>): Fact => ({
    ...{ id, ...more },
    line: [
      escapeRegExp(
        told(byId.get(id)!)
          .text.split(/[\r\n]/, 1)[0]!
          .slice(0, TOLD),
      ),
    ],
  })
  return {
    truth: {
      ...{ id: given.id, kind: 'own', entity: masks.of('', entity) },
      fired_at: new Date(firedAt).toISOString(),
      outcome: causes.length ? 'finding' : 'no_op',
      facts: [
        ...causes.flatMap((ids, i) => ids.map((id) => factOf(id, { role: 'root', cause: `cause ${i + 1}` }))),
        ...effects.map((id) => factOf(id, { role: 'effect' })),
      ],
    },
    causes: causes.map((ids) => ids.map((id) => ({ id, text: told(byId.get(id)!).text }))),
    events: kept.map(({ row, ...stands }) => told(row, stands)),
    thinned: rows.length - kept.length,
    replaced: masks.counts(),
  }
}

/** How many events a kept one stands for, itself included, and when the last of them was, epoch ms. */
interface Stands {
  count: number
  last: number
}

/**
 * What came often, long before, says the same each time: some of each wording stay, evenly over the time, and each
 * stands for those up to the next.
 */
function thin(
  rows: readonly FrozenRow[],
  from: number,
  always: ReadonlySet<string>,
): (Stands & { row: FrozenRow })[] {
  const masker = new Masker()
  const wordings = new Map<string, FrozenRow[]>()
  for (const row of rows) {
    if (always.has(row.id) || Date.parse(row.event_time) >= from) continue
    const words = masker.words(row.text).join(' ')
    const key = [row.source, row.event_type, row.entity?.value ?? '', words].join('\0')
    const same = wordings.get(key)
    if (same) same.push(row)
    else wordings.set(key, [row])
  }
  const stands = new Map<FrozenRow, Stands>()
  for (const same of wordings.values()) {
    const step = Math.ceil(same.length / OLDER)
    for (let i = 0; i < same.length; i += step) {
      const some = same.slice(i, i + step)
      stands.set(some[0]!, { count: some.length, last: Date.parse(some.at(-1)!.event_time) })
    }
  }
  return rows.flatMap((row) => {
    const at = Date.parse(row.event_time)
    if (always.has(row.id) || at >= from) return [{ row, count: 1, last: at }]
    const stood = stands.get(row)
    return stood ? [{ row, ...stood }] : []
  })
}

/** The same stand-in for the same name, in labels and texts alike. */
class StandIns {
  private readonly names = new Map<string, string>()
  private readonly kinds = new Map<string, number>()
  private readonly known: RegExp | null
  private readonly keep: readonly string[]
  /** Entities that are no customer or machine: a text that names one names a part of the system. */
  private readonly parts: ReadonlySet<string>

  constructor(rows: readonly FrozenRow[], { keep, replace = [] }: Pick<Freezing, 'keep' | 'replace'>) {
    this.keep = keep
    for (const name of replace) this.add('name', name)
    this.parts = new Set(
      rows.flatMap(({ entity }) => (entity && !PERSONAL.test(entity.label) ? [entity.value] : [])),
    )
    for (const { labels, entity } of rows) {
      for (const [name, value] of Object.entries(labels))
        if (typeof value === 'string' && PERSONAL.test(name) && !keep.includes(name)) this.add(name, value)
      if (entity && PERSONAL.test(entity.label) && !keep.includes(entity.label))
        this.add(entity.label, entity.value)
    }
    const everywhere = new Set(this.names.keys())
    for (const { text } of rows)
      for (const { kind, name } of this.namedIn(text)) {
        this.add(kind, name)
        // A number, or a plain word, may mean something else where nothing says whose it is.
        if (/[A-Z\d_-]/.test(name) && /[a-z]/i.test(name)) everywhere.add(name)
      }
    const long = [...everywhere].filter((name) => name.length >= NAME_MIN)
    long.sort((a, b) => b.length - a.length)
    this.known = long.length
      ? new RegExp(`(?<![\\w-])(?:${long.map(escapeRegExp).join('|')})(?![\\w-])`, 'g')
      : null
  }

  /** Names that a text itself says to be names. */
  private namedIn(text: string): { kind: string; name: string }[] {
    const found: { kind: string; name: string }[] = []
    const add = (label: string, kind: string, name: string) => {
      if (this.isName(name) && !this.keep.includes(label)) found.push({ kind: kind.toLowerCase(), name })
    }
    for (const [, label, kind, between, value] of text.matchAll(NAMED_IN_TEXT)) {
      // After a colon and a space a sentence may begin: `client: connection reset`.
      const isSaid = /:\s$/.test(between!) && !/^\\?["']/.test(value!) && !/[\d_-]/.test(value!)
      if (!isSaid) add(label!, kind!, unquoted(value!))
    }
    for (const [, label, kind, value] of text.matchAll(NAMED_IN_PATH)) add(label!, kind!, value!)
    return found
  }

  /** Mail and addresses have stand-ins of their own. */
  private isName(value: string): boolean {
    return (
      !NOBODYS.test(value) &&
      !this.parts.has(value) &&
      [MAIL, IPV4, IPV6].every((address) => value.search(address) !== 0)
    )
  }

  of(label: string, value: string): string {
    return this.names.get(value) ?? (label === 'service' ? value : this.within(value))
  }

  within(text: string): string {
    const named = this.known ? text.replace(this.known, (name) => this.names.get(name)!) : text
    return named
      .replace(NAMED_IN_TEXT, (all, label: string, _kind, between: string, value: string) => {
        const standIn = this.names.get(unquoted(value))
        return standIn === undefined || this.keep.includes(label)
          ? all
          : `${label}${between}${value.replace(unquoted(value), standIn)}`
      })
      .replace(NAMED_IN_PATH, (all, label: string, _kind, value: string) => {
        const standIn = this.names.get(value)
        return standIn === undefined || this.keep.includes(label) ? all : `/${label}/${standIn}`
      })
      .replace(MAIL, (mail) => (mail.endsWith('@example.invalid') ? mail : this.add('email', mail)))
      .replace(IPV4, (ip) => (ip.startsWith('192.0.2.') ? ip : this.add('ip', ip)))
      .replace(IPV6, (ip) => this.add('ip', ip))
  }

  counts(): Record<string, number> {
    return Object.fromEntries(this.kinds)
  }

  private add(kind: string, name: string): string {
    const known = this.names.get(name)
    if (known !== undefined) return known
    const n = (this.kinds.get(kind) ?? 0) + 1
    this.kinds.set(kind, n)
    // Addresses that are nobody's: RFC 2606 and RFC 5737.
    const standIn =
      name.search(MAIL) === 0
        ? `user-${n}@example.invalid`
        : name.search(IPV4) === 0 || name.search(IPV6) === 0
          ? `192.0.2.${n}`
          : `${kind.replaceAll(/\W+/g, '-')}-${n}`
    this.names.set(name, standIn)
    return standIn
  }
}

const unquoted = (value: string): string => value.replace(/^\\?["']|\\?["']$/g, '')
const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
