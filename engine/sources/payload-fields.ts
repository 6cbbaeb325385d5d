/**
 * The fields of payloads, as the rules of propose.ts look at them: what their names say in words, where they lie, what
 * their values are (a time, a state, a name), in how many of the events they are, and which of them go together. Pure.
 */
import { ownField } from '../../schemas/fields-of.ts'
import { parseText } from '../log/ingest/json.ts'
import { isLabelName, parseTemplate } from '../log/ingest/label.ts'
import { CLOCKS_MS, parseEventTime } from '../log/ingest/time.ts'

const DEPTH_MAX = 8
const FIELDS_MAX = 300
/** Characters of a field's name in a config. */
const PATH_MAX = 256
const VALUES_KEPT = 50
const EXAMPLE_MAX = 120
export const ENVELOPE = 'envelope'

export interface Field {
  path: string
  /** What its last name says, in words. */
  words: string[]
  /** The same of the name around it; empty at the top. */
  around: string[]
  /** Words of all names above. */
  above: string[]
  /** Names above, without those that only hold named values, such as labels. */
  depth: number
  isListed: boolean
  isEnvelope: boolean
  /** It lies beside a kind, as the name of a thing does. */
  isOfKind: boolean
  values: (string | number | boolean)[]
  /** Epoch ms of values that are times an event can have. */
  times: number[]
  coverage: number
  /** Places of the events that have it. */
  in: number[]
}

/** Names whose words nothing in them tells apart: of loggers of Python, and of Serilog's compact form, clef-json.org. */
const SPELLED: Readonly<Record<string, string>> = {
  ...{
    levelname: 'level',
    loglevel: 'level',
    '@t': 'timestamp',
    '@m': 'message',
    '@mt': 'body',
    '@l': 'level',
  },
}

/** `issueEventType`, `event_type` and `event-type` in words; of several acronyms, as in `targetIDs`, one word is made. */
export const wordsOf = (name: string): string[] =>
  (ownField(SPELLED, name) ?? name)
    .replaceAll(
      /([A-Z])([A-Z]+)s(?![a-z])/g,
      (_, first: string, rest: string) => `${first}${rest.toLowerCase()}s`,
    )
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')

/** What only holds named values: it says nothing of them. */
export const HOLDERS = words(
  'labels label tags tag attributes annotations properties fields dimensions metadata values data event body payload',
)
const SECRET = words(
  'token secret password passwd authorization credential credentials apikey signature cookie',
)
const SECRETS = /(^|_)(api|access|private|secret)_key$/
/** The address of a repository, as git@host:path, is one, too. */
export const LINK = /^([a-z][a-z0-9+.-]*:\/\/|\w+@[\w.-]+:\S+\.git$)/i
export const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i
export const HASH = /^((?=.*\d)[0-9a-f]{12,}|[A-Za-z0-9+/_-]{16,}={1,2})$/i

export function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}

/** Scalars of the events by their dotted names; of lists the first entry, into text that is JSON. */
export function fieldsOf(events: readonly Record<string, unknown>[], nowMs: number): Field[] {
  const found = new Map<string, Field>()
  for (const [place, event] of events.entries())
    eachScalar(event, (names, value, parent) => {
      const path = names.join('.')
      let field = found.get(path)
      if (!field) {
        if (found.size >= FIELDS_MAX || path.length > PATH_MAX || isSecret(names)) return
        field = { ...describe(names, path, parent), coverage: 0, in: [] }
        found.set(path, field)
      }
      field.in.push(place)
      if (field.values.length >= VALUES_KEPT) return
      field.values.push(value)
      const at = typeof value === 'boolean' ? null : parseEventTime(value, nowMs).ts
      if (at !== null) field.times.push(at)
    })
  return [...found.values()].map((field) => ({ ...field, coverage: field.in.length / events.length }))
}

function isSecret(names: readonly string[]): boolean {
  const last = wordsOf(names.at(-1)!)
  return last.some((word) => SECRET.has(word)) || SECRETS.test(last.join('_'))
}

function describe(names: string[], path: string, parent: object): Omit<Field, 'coverage' | 'in'> {
  const isEnvelope = names[0] === ENVELOPE
  const above = names.slice(isEnvelope ? 1 : 0, -1).filter((name) => !/^\d+$/.test(name))
  return {
    path,
    words: ownWords(names),
    // The name of an entry of `services` is that of a service.
    around: wordsOf(above.at(-1) ?? '').map(/^\d+$/.test(names.at(-2) ?? '') ? singular : (word) => word),
    above: above.flatMap(wordsOf),
    depth:
      above.filter((name) => !wordsOf(name).every((word) => HOLDERS.has(word))).length + above.length / 100,
    isListed: names.some((name) => /^\d+$/.test(name)),
    isEnvelope,
    isOfKind: Object.hasOwn(parent, 'kind') && Object.hasOwn(parent, 'name') && names.at(-1) === 'name',
    values: [],
    times: [],
  }
}

/** Of the value or the name of a state what it is of, too: `state.value` is a state as `state` is. */
function ownWords(names: readonly string[]): string[] {
  const own = wordsOf(names.at(-1)!)
  const around = wordsOf(names.at(-2) ?? '')
  const isOfState = own.length === 1 && OF_STATE.has(own[0]!) && STATES.has(around.at(-1) ?? '')
  return isOfState ? [...around, ...own] : own
}

type Visit = (names: string[], value: string | number | boolean, parent: object) => void

function eachScalar(value: unknown, visit: Visit, names: string[] = [], parent: object = {}): void {
  if (value === null || value === undefined || value === '' || names.length > DEPTH_MAX) return
  if (typeof value === 'object') {
    const inner = Array.isArray(value) ? Object.entries(value.slice(0, 1)) : Object.entries(value)
    // A brace would end the placeholder of a template.
    for (const [name, one] of inner)
      if (name !== '' && !/[{}]/.test(name)) eachScalar(one, visit, [...names, name], value)
    return
  }
  const nested = typeof value === 'string' ? parseText(value) : undefined
  if (nested) eachScalar(nested, visit, names, parent)
  else if (names.length) visit(names, value as string | number | boolean, parent)
}

export const exampleOf = ({ values }: Pick<Field, 'values'>): string =>
  String(values[0]).slice(0, EXAMPLE_MAX)

export const objectOf = (value: unknown): Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : { value }

export const has = (field: Pick<Field, 'words'>, list: ReadonlySet<string>): boolean =>
  field.words.some((word) => list.has(word))

/** One of a list that is named in the plural: `entities` is a list of an `entity`. */
export const singular = (word: string): string =>
  word.endsWith('ies') ? `${word.slice(0, -3)}y` : /[^su]s$/.test(word) ? word.slice(0, -1) : word

/** Lists of what a message is about; configuration items are what IT service management looks after. */
const ABOUT = /(^|_)(configuration_items?|targets?(_ids?)?)$/

/** What a list of names is of: its name, each word in the singular. */
export const listNoun = ({ around }: Field): readonly string[] =>
  ABOUT.test(around.join('_')) ? ['component'] : around.map(singular)

/* What says how something is, or what became of it. */

/** What the one value of a state is called. */
const OF_STATE = words('value name')
/** Names of fields that hold a state. */
export const STATES = words('status state condition outcome result conclusion phase')
const STATE_VALUES = new Set(
  [
    'firing fired triggered alerting alarm ok up down open opened reopened reopen closed close resolved resolve recovered',
    'acknowledged acknowledge unacknowledged escalated healthy unhealthy degraded operational critical pending queued',
    'created create deleted delete updated enqueued building running started finished finalized completed complete',
    'success succeeded successful failed failure failing error errored passed broken fixed unstable aborted ready',
    'canceled cancelled skipped blocked active inactive online offline available unavailable investigating identified',
    'monitoring scheduled stopped paused expired insufficient_data no_data nodata in_progress timed_out',
    'under_maintenance degraded_performance partial_outage major_outage verifying activated deactivated normal unknown',
    'merged declined rejected approved problem recovery failures progressing synced terminated inprogress mitigated rolled_back',
  ].flatMap((line) => line.split(' ')),
)

/** A value that says how something is: `firing`, `In Progress`, or what ends with it: `check.down`, `ALERT_RECOVERY`. */
export const isState = (value: unknown): boolean =>
  typeof value === 'string' &&
  (STATE_VALUES.has(stateIn(value)) || (ALERT.test(value) && STATE_VALUES.has(wordsOf(value).at(-1)!)))

const stateIn = (value: string): string =>
  value
    .split(/[.:]/)
    .at(-1)!
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')
const ALERT = /^(alert|incident|monitor|check)_[a-z_]+$/i

/** It is over, and how it ended is said elsewhere. */
export const saysOnlyOver = (value: unknown): boolean =>
  /(^|[.:_-])(finished|completed?|finalized|ended|done)$/i.test(String(value))

/** Around an entry, where the entry itself has a field of that name: what it says is of all entries together. */
export const isOfAll = ({ path, isEnvelope }: Field, fields: readonly Field[]): boolean =>
  isEnvelope && fields.some((one) => `${ENVELOPE}.${one.path}` === path)

const PLAIN_WORDS = words('event callback notification webhook object payload')

/** A kind that says that it is an event, and not which; one in another script has none of these words. */
export const isPlainKind = (text: string): boolean =>
  wordsOf(text).length > 0 && wordsOf(text).every((word) => PLAIN_WORDS.has(word))

/** How it was before. */
export const BEFORE = words('previous prev old last former original')

/** Whether both lie in one object. */
export const isBeside = (one: Field, other: Field): boolean =>
  one.path.slice(0, one.path.lastIndexOf('.') + 1) === other.path.slice(0, other.path.lastIndexOf('.') + 1)

/** It says how what the event is about is now. */
export const isStateField = (field: Field): boolean =>
  field.words.some((word) => STATES.has(word)) &&
  !field.words.some((word) => BEFORE.has(word)) &&
  field.values.every(isState)

/* Times. */

const NOT_NOW =
  /(^|_)(expir\w*|until|due|next|ends?|previous|prev|birth\w*|valid|renew\w*|trial|deadline|scheduled?|period|interval|first)(_|$)/
const CLOCK = words('time timestamp ts datetime date occur occurred happened')
/** When what an event is about came to be, and not when something happened to it. */
const CREATED = words('created creation')
const NOW = words('triggered fired emitted sent received published observed event')
const LATER = words('finished completed stopped ended resolved closed merged updated modified last changed')

/** A name that is a time alone, or with its unit. */
const INSTANT = /^(at|when|epoch|unix)(_(s|sec|seconds|ms|millis|milliseconds|us|micros|ns|nanos))?$/

export function timeScore(field: Field): number {
  if (field.times.length === 0 || field.times.length < field.values.length) return 0
  // Of one entry of a list, such as a commit of a push; of what is only the place, whose making is long ago.
  if (field.isListed || (has(field, CREATED) && field.around.some((word) => PLACES.has(word)))) return 0
  const said = field.words.join('_')
  const isNumber = field.values.some(
    (value) => typeof value === 'number' || /^\d+(\.\d+)?$/.test(String(value)),
  )
  // Looks like a time, and nothing says of what; a start with a word beside it is that of a span.
  let score = isNumber || (field.words.length > 1 && has(field, words('start begin'))) ? 0 : 2
  if (has(field, CREATED) && !has(field, NOW)) score = 7
  else if (has(field, CLOCK)) score = field.words.length === 1 || has(field, NOW) ? 10 : 8.5
  else if (has(field, NOW)) score = 9.5
  else if (has(field, LATER)) score = 8
  else if (has(field, words('starts started opened begin began'))) score = 7.5
  else if (INSTANT.test(said)) score = 9
  else if (isNumber ? said.endsWith('_at') : /_(at|on)$/.test(said)) score = 6.5
  if (has(field, words('last')) && has(field, CLOCK)) score = 9.5
  if (NOT_NOW.test(said)) score -= 6
  if (has(field, DELIVERY)) score -= 3.5
  if (field.around.some((word) => PLACES.has(word))) score -= 1.5
  return score === 0 ? 0 : score + placed(field)
}

/** Of at least one. */
export const meanOf = (times: readonly number[]): number => times.reduce((a, b) => a + b, 0) / times.length

/** How a time is written, and the unit of a number: as the reader of times takes it. */
export function formatOf(value: string | number | boolean): string {
  const number = Number(value)
  if (number === 0) return 'a number since 1970'
  if (Number.isFinite(number)) {
    const unit = ['seconds', 'milliseconds', 'microseconds', 'nanoseconds'].at(
      [1e11, 1e14, 1e17].filter((one) => number >= one).length,
    )
    return `${unit} since 1970`
  }
  if (/^[A-Z][a-z]{2} +\d/.test(String(value))) return 'RFC 3164'
  return /^\d{4}[-/]?\d\d/.test(String(value)) ? 'ISO 8601' : 'RFC 5322'
}

/* Two times of one thing: when it began, and when it was over. */

const BEGINS = words('start starts started begin begins began fired triggered opened')
const ENDS = words('end ends ended resolved closed finished stopped completed recovered cleared')

/**
 * The field beside a time that says when the same thing began, or was over: of names that differ in that word alone, such
 * as `startsAt` and `endsAt`. An end that never came, as 0 or in the year 1, is one; an end ahead is a plan.
 */
export function pairOf(
  field: Field,
  fields: readonly Field[],
  nowMs: number,
): { begin: Field; end: Field } | null {
  const [own, others] = has(field, BEGINS) ? [BEGINS, ENDS] : [ENDS, BEGINS]
  if (!has(field, own)) return null
  const rest = (one: Field, list: ReadonlySet<string>): string =>
    `${one.path.split('.').slice(0, -1).join('.')} ${one.words.filter((word) => !list.has(word)).join('_')}`
  const [other] = fields
    .filter((one) => has(one, others) && rest(one, others) === rest(field, own))
    .sort((a, b) => b.coverage - a.coverage)
  if (!other) return null
  const [begin, end] = own === BEGINS ? [field, other] : [other, field]
  const isTimed = end.values.filter(isNever).length + end.times.length >= end.values.length
  return isTimed && end.times.every((at) => at <= nowMs + CLOCKS_MS) ? { begin, end } : null
}

const isNever = (value: string | number | boolean): boolean =>
  value === 0 || /^0001-01-01/.test(String(value))

/* What lies where: a field of a person, of the delivery itself, of a place that only holds the thing. */

const PEOPLE = words(
  'user actor sender author agent owner assignee pusher creator requester reporter committer member identity',
)
const DELIVERY = words(
  'webhook installation integration sdk request response headers links previous old changes client context metadata attempt hook',
)
export const PLACES = words('repository repo project organization org team account head base page')

/** What is lost by where it lies. */
export function placed(field: Field): number {
  return (
    -0.6 * field.depth -
    (field.above.some((word) => PEOPLE.has(word)) ? 5 : 0) -
    (field.above.some((word) => DELIVERY.has(word)) ? 3 : 0) -
    (field.isListed ? 3 : 0) -
    (field.isEnvelope ? 1.5 : 0)
  )
}

export interface Ranked {
  field: Field
  score: number
}

/** The best by score and by how many events have it; nothing below `least`. */
export function best(fields: readonly Field[], score: (field: Field) => number, least: number): Ranked[] {
  return fields
    .map((field) => ({ field, score: score(field) * (0.4 + 0.6 * field.coverage) }))
    .filter((one) => one.score >= least)
    .sort((a, b) => b.score - a.score)
}

/** Fields that say the same in other payloads. */
const APART_MAX = 3

/** The best, and those that are never there together with it: they say the same in other payloads. */
export function apart(ranked: readonly Ranked[]): Field[] {
  const chosen: Field[] = []
  const having = new Set<number>()
  for (const { field } of ranked) {
    if (chosen.length === APART_MAX || field.in.some((place) => having.has(place))) continue
    chosen.push(field)
    for (const place of field.in) having.add(place)
  }
  return chosen
}

/** Whether each payload has one of them. */
export function isInAll(some: readonly Field[], fields: readonly Field[]): boolean {
  const having = new Set(some.flatMap((field) => field.in))
  return fields.every((field) => field.in.every((place) => having.has(place)))
}

/** The field, and where not all payloads have it, what says the same in the others; none where nothing does. */
export function inAll(
  fields: readonly Field[],
  path: string | undefined,
  score: (field: Field) => number,
): readonly Field[] {
  const ranked = best(fields, score, 1.5)
  const chosen = apart([...ranked.filter(({ field }) => field.path === path), ...ranked])
  return isInAll(chosen, fields) ? chosen : []
}

/** What only programs read. */
export const isOpaque = (text: string): boolean => UUID.test(text) || HASH.test(text) || LINK.test(text)

/** A name that people say: no number, and nothing that only programs read. */
export const isSpoken = (text: string): boolean => /\p{L}/u.test(text) && text.length <= 80 && !isOpaque(text)

/** Whether the sentences name every value, in the payloads that are compared. */
export function isSaid(some: readonly Field[], texts: readonly Field[]): boolean {
  const plain = (value: unknown): string =>
    String(value)
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, ' ')
  const told = new Map<number, string>()
  for (const { in: places, values } of texts)
    for (const [i, value] of values.entries()) told.set(places[i]!, plain(value))
  return some.every(({ in: places, values }) =>
    values.every((value, i) => told.get(places[i]!)?.includes(plain(value)) ?? false),
  )
}

/* What a text is made of. */

const SAID: Readonly<Record<string, number>> = {
  ...{ title: 10, summary: 10, message: 10, msg: 10, text: 10, log: 10, headline: 10, subject: 9, output: 9 },
  ...{ problem: 7, trigger: 6 },
  ...{
    description: 7,
    body: 6,
    content: 7,
    details: 6,
    detail: 6,
    error: 7,
    cause: 7,
    reason: 5,
    request: 5,
    response: 5,
    line: 6,
    label: 2,
  },
}
const SENTENCE = / \S/

/** The name of an incident is a sentence. */
const isHeadline = ({ words: said, around }: Field): boolean =>
  said.join('_') === 'name' && ['incident', 'issue', 'problem'].includes(around.at(-1) ?? '')

/** How well a field is what an event says, by its name and its values; 0: it is not. */
export function textScore(field: Field): number {
  const base = isHeadline(field) ? 8 : Math.max(...field.words.map((word) => ownField(SAID, word) ?? 0), 0)
  // What a repository or a status page says of itself is the same whatever happened.
  if (base === 0 || field.times.length > 0 || PLACES.has(field.around.at(-1) ?? '')) return 0
  const texts = field.values.map(String)
  if (!field.values.every((value) => typeof value === 'string') || texts.some((text) => LINK.test(text)))
    return 0
  let score = base + placed(field)
  score += texts.some((text) => SENTENCE.test(text)) ? 2 : -4
  if (texts.some((text) => /[\r\n]/.test(text.trim()))) score -= 3
  if (texts.some((text) => text.length > 400)) score -= 2
  // The summary of a thing is its name.
  if (field.words.length === 1 && nounOf(field.around) > 4.5) score -= 4
  if (/^[[{<]/.test(texts[0]!) && !/[\]]/.test(texts[0]!)) score -= 3
  return score
}

/** What a template reads as in each of the payloads that are compared. */
function readingsOf(template: string, fields: readonly Field[]): string[] {
  const parts = parseTemplate(template).map((part) =>
    typeof part === 'string' ? part : fields.find(({ path }) => path === part.field),
  )
  const places = new Set(fields.flatMap((field) => field.in).filter((place) => place < VALUES_KEPT))
  const said = (field: Field | undefined, place: number) => field?.values[field.in.indexOf(place)] ?? ''
  return [...places].map((place) =>
    parts
      .map((part) => (typeof part === 'string' ? part : said(part, place)))
      .join('')
      .trim(),
  )
}

/** A payload lacks some of its fields, so that the signs between them are left alone, in front or at the end. */
export const leavesSigns = (template: string, fields: readonly Field[]): boolean =>
  readingsOf(template, fields).some((text) => /^(?:[^\p{L}\p{N}]+$|: )|:$/u.test(text))

/** It names nothing, as `502` alone, or reads the same of payloads that say something else each, in whatever field. */
export function saysNothing(template: string, fields: readonly Field[]): boolean {
  const texts = readingsOf(template, fields)
  if (texts.some((text) => text !== '' && !/\p{L}/u.test(text))) return true
  return texts.length > 1 && new Set(texts).size === 1 && fields.some(isTelling)
}

const isTelling = (field: Field): boolean =>
  field.times.length === 0 &&
  placed(field) > -2.5 &&
  new Set(field.values).size > 1 &&
  field.values.every((value) => typeof value === 'string' && SENTENCE.test(value) && !LINK.test(value))

/* What the names of things are worth. */

/** How well a noun says what an event is about: what people watch first. */
export const NOUNS: Readonly<Record<string, number>> = {
  ...{ service: 10, app: 9.5, application: 9.5, entity: 9.5, component: 9, ci: 9, workload: 9 },
  ...{ host: 8, hostname: 8, server: 8, instance: 8, machine: 8, device: 8, vm: 8, node: 7.8 },
  ...{ pod: 7.5, container: 7.5, bucket: 7.5, function: 7.5, database: 7.5, queue: 7.2, cluster: 7 },
  ...{ monitor: 7, probe: 7, check: 7, repository: 6.5, repo: 6.5, project: 6, workspace: 6, resource: 5 },
  ...{
    order: 5.5,
    customer: 5.5,
    account: 5.5,
    tenant: 5.5,
    subject: 5,
    channel: 5,
    email: 4.5,
    session: 4.5,
  },
  ...{
    issue: 4.5,
    ticket: 4.5,
    incident: 4.5,
    topic: 4.5,
    alert: 2.2,
    object: 4,
    alertname: 4,
    alarm: 4,
    rule: 4,
  },
  ...{
    deployment: 5,
    job: 4,
    workflow: 4,
    pipeline: 4,
    user: 3.5,
    namespace: 3.5,
    environment: 3.5,
    env: 3.5,
  },
  ...{ team: 3, organization: 3, org: 3, group: 3, source: 2.5, region: 2, zone: 2, platform: 2, branch: 2 },
}
/** Of the best of them; 0: they are no nouns of things. */
export const nounOf = (said: readonly string[]): number =>
  Math.max(0, ...said.map((word) => ownField(NOUNS, word) ?? 0))

/** What of a thing a field is, and what that is worth as its name; a name alone is that of the thing around it. */
export const PARTS: Readonly<Record<string, number>> = {
  ...{
    name: 0,
    full: 0.3,
    path: 0.3,
    slug: 0.6,
    with: 0,
    key: 0,
    display: 0,
    friendly: 0,
    alias: 0,
    identifier: 0.3,
    login: 0,
  },
  ...{ title: -0.3, summary: -0.3, label: 0, arn: -2, id: -1.5, uid: -1.5, uuid: -3, number: -2 },
}

/** A place in a list. */
export const isNumeral = (word: string): boolean => /^\d+$/.test(word)

/** In triggers these stand for what every event has, so that a label of that name could not be asked for. */
const TAKEN = words('source text key_value')

/** The noun, or what the last name says. */
export function labelName({ path, words: said, above, ...field }: Field): string {
  const around = isNumeral(path.slice(path.lastIndexOf('.') + 1))
    ? field.around.map((word, i, all) => (i === all.length - 1 ? singular(word) : word))
    : field.around
  const rest = said.filter((word) => ownField(PARTS, word) === undefined && !isNumeral(word))
  const isHeld = around.every((word) => HOLDERS.has(word))
  const names = [rest.length ? rest : isHeld ? said : around, said, [...above, ...said]]
  const name = names.map((one) => one.join('_').slice(0, 64)).find(isLabelName) ?? 'entity'
  return TAKEN.has(name) ? `event_${name}` : name
}
