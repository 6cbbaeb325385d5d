/**
 * Which field of payloads is what: the entity, labels, the type, the time, the text, and a list to be split. The rules
 * are general: what a field's name says in words, what its values look like, how deep it lies and in how many of the
 * payloads it is. No rule knows a sender; test/engine/sources/discovery holds that with payloads that were not there
 * when the rules were written. Pure: payloads in, a config and why out.
 */
import { ownField } from '../../schemas/fields-of.ts'
import { countWords } from '../../schemas/plain-words.ts'
import type { Label, WebhookConfig } from '../../schemas/types.ts'
import { parseText } from '../log/ingest/json.ts'
import { lookup } from '../log/ingest/json-project.ts'
import {
  apart,
  BEFORE,
  best,
  ENVELOPE,
  exampleOf,
  type Field,
  fieldsOf,
  formatOf,
  HASH,
  has,
  inAll,
  isBeside,
  isInAll,
  isNumeral,
  isOfAll,
  isOpaque,
  isPlainKind,
  isSaid,
  isSpoken,
  isState,
  isStateField,
  LINK,
  labelName,
  leavesSigns,
  listNoun,
  meanOf,
  nounOf,
  objectOf,
  PARTS,
  PLACES,
  pairOf,
  placed,
  type Ranked,
  STATES,
  saysNothing,
  saysOnlyOver,
  textScore,
  timeScore,
  UUID,
  words,
  wordsOf,
} from './payload-fields.ts'

export interface FoundRole {
  role: 'items' | 'entity' | 'label' | 'type' | 'time' | 'text'
  /** Dotted name, as a config takes it. */
  field: string
  /** Of the label it makes. */
  name?: string
  /** Share of the events that have it, 0 to 1. */
  coverage: number
  confidence: 'high' | 'medium' | 'low'
  /** Why it, in a few words. */
  reason: string
  /** One of its values, cut. */
  example: string
  /** Of a time: its form, and the unit of a number. */
  format?: string
}

export interface Proposed {
  config: WebhookConfig
  roles: FoundRole[]
  /** All fields that can have a role, in the order they are met. */
  fields: { name: string; example: string; coverage: number }[]
}

/**
 * @param payloads parsed JSON, as their source got them. @param known what is set already: it stays.
 * @param nowMs epoch ms: what is no possible time of an event is none.
 */
export function proposeMapping(
  payloads: readonly unknown[],
  known: Partial<WebhookConfig>,
  nowMs: number,
): Proposed {
  const list = known.items_field ? null : listOf(payloads, nowMs)
  const path = known.items_field ?? list?.field
  const events = path === undefined ? payloads.map(objectOf) : payloads.flatMap((one) => entriesOf(one, path))
  const fields = fieldsOf(events, nowMs)
  const { time, end } = timesOf(fields, known, nowMs)
  const type = known.event_type_field || known.event_type ? null : typeOf(fields)
  const entity = known.labels?.length ? null : entityOf(fields)
  const typeField = known.event_type_field ?? type?.field
  const text = known.text_template ? null : textOf(fields, typeField, entity?.field)
  const taken = [
    typeField,
    known.event_time_field ?? time?.field,
    end?.field,
    entity?.field,
    ...(text?.used ?? []),
  ]
  const labels = known.labels?.length ? [] : labelsOf(fields, taken, entity?.name)
  const config: WebhookConfig = {
    ...known,
    ...(path === undefined ? {} : { items_field: path }),
    ...(type ? { event_type_field: type.field } : {}),
    ...(time ? { event_time_field: time.field } : {}),
    ...(end ? { event_end_field: end.field } : {}),
    ...(text ? { text_template: text.template } : {}),
    ...(entity || labels.length
      ? { labels: [...(entity ? [primaryOf(entity)] : []), ...labels.map(labelOf)] }
      : {}),
  }
  const roles = [list, entity, type, time, end, text?.role, ...labels].filter(
    (one) => one !== null && one !== undefined,
  )
  return {
    config,
    roles,
    fields: fields.map(({ path: name, ...one }) => ({
      name,
      example: exampleOf(one),
      coverage: one.coverage,
    })),
  }
}

const primaryOf = ({ name, field }: FoundRole): Label => ({ name: name!, field, primary: true })

const labelOf = ({ name, field, format }: FoundRole): Label =>
  format === NUMBER ? { name: name!, field, type: 'number' } : { name: name!, field }

const NUMBER = 'number'

function roleOf(
  role: FoundRole['role'],
  { field, score }: Ranked,
  why: string,
  [sure, likely]: readonly [sure: number, likely: number],
): FoundRole {
  const { path, coverage } = field
  const confidence =
    score >= sure && coverage >= 0.9 ? 'high' : score >= likely && coverage >= 0.5 ? 'medium' : 'low'
  return {
    role,
    field: path,
    coverage: rounded(coverage),
    confidence,
    reason: why,
    example: exampleOf(field),
  }
}

const rounded = (share: number): number => Math.round(share * 1_000) / 1_000

/* The time. */

/** The time, and where what happened lasts, the one at which it was over: that of the message that tells it is. */
function timesOf(
  fields: readonly Field[],
  { event_time_field: set, event_end_field: setEnd }: Partial<WebhookConfig>,
  nowMs: number,
): { time?: FoundRole; end?: FoundRole } {
  const ranked = set
    ? fields.filter(({ path }) => path === set).map((field) => ({ field, score: timeScore(field) }))
    : best(fields, timeScore, 1)
  const [first] = ranked
  if (!first) return {}
  // Of two that say the same, what came later is what just happened.
  const newest = ranked
    .filter(({ score }) => score > first.score - 0.3)
    .reduce((a, b) => (meanOf(b.field.times) > meanOf(a.field.times) ? b : a))
  const pair = pairOf(newest.field, fields, nowMs)
  if (!pair || setEnd) return set ? {} : { time: timeRole(newest, 'a time by its name and value') }
  const { score } = newest
  const end = timeRole(
    { field: pair.end, score },
    'when it was over: it goes before when it began, once it is there',
  )
  if (set) return pair.begin === newest.field ? { end } : {}
  return { time: timeRole({ field: pair.begin, score }, 'when it began, by its name and value'), end }
}

function timeRole(ranked: Ranked, why: string): FoundRole {
  const format = formatOf(ranked.field.values[0]!)
  return { ...roleOf('time', ranked, `${why}: ${format}`, [6, 3]), format }
}

/* The type. */

const KINDS = words('type kind')
const SEVERITIES = words('severity level priority urgency')
/** Before "type" these say whose type it is, and not that of the event. */
const OTHERS = words('source resource content mime media data token user file')
const LEVELS = words('info information warning warn error err critical debug notice normal trace fatal')
/** Words before "type" and "kind" that leave it the type of the event. */
const OF_EVENT = words('event message notification webhook alert object action activity record change log')
/** A name in words for people: what is before says what it is. */
const SPOKEN = words('friendly name label text display value')
const NAME_LIKE = /^[\p{L}\d][\p{L}\d_.:/ -]{0,79}$/u

function typeScore(field: Field): number {
  if (field.times.length > field.values.length / 2) return 0
  const base = typeBase(field)
  if (base === 0) return 0
  if (field.values.some((value) => typeof value === 'boolean')) return 0
  const texts = field.values.map((value) => String(value))
  const isNumber = field.values.every((value) => typeof value === 'number')
  if (isNumber) return has(field, STATES) ? 4 + placed(field) : 0
  if (!texts.every((text) => NAME_LIKE.test(text) && text.split(' ').length <= 4 && !isOpaque(text))) return 0
  let score = base + placed(field)
  if (texts.every(isPlainKind)) score -= 6
  if (!has(field, SEVERITIES) && texts.every((text) => LEVELS.has(text.toLowerCase()))) score -= 2.5
  if (texts.every((text) => /[a-z][.:][a-z]/i.test(text))) score += 1
  // A code says nothing to who does not know it.
  if (texts.every((text) => /^\d+$/.test(text))) score -= 3
  if (texts.every(isState)) score += 0.7
  if (texts.length >= 10 && new Set(texts).size > texts.length * 0.7) score -= 5
  return score
}

/** What the name says, without what only says that it is one. */
function plainWords({ words: said }: Field): readonly string[] {
  const end = said.findLastIndex((word) => !SPOKEN.has(word))
  return end < 0 ? said : said.slice(0, end + 1)
}

function typeBase(field: Field): number {
  const { around } = field
  const said = field.words.includes('event') ? field.words : plainWords(field)
  const last = said.at(-1) ?? ''
  const isOfEvent = said.includes('event') || (around.length === 1 && around[0] === 'event')
  if (isOfEvent && ['type', 'name', 'kind', 'action', 'event'].includes(last)) return 12.5 - said.length / 2
  if (KINDS.has(last)) {
    if (around.some((word) => PLACES.has(word))) return 0
    const whose = said.length > 1 ? said.slice(0, -1) : field.depth < 1 ? [] : around
    const isOther = [...said.slice(0, -1), ...around].some((word) => OTHERS.has(word))
    // The type of a repository, or of a check, is the same whatever happens to it.
    const isOfThing = !whose.every((word) => OF_EVENT.has(word))
    return 9 - (said.length > 1 ? 0.5 : 0) - (isOther ? 2.5 : isOfThing ? 2 : 0)
  }
  if (last === 'action') return 9.2
  if (last === 'reason')
    return field.values.every((value) => /^[A-Za-z][A-Za-z_.-]+$/.test(String(value))) ? 8.5 : 0
  if (has(field, STATES))
    return (
      (STATES.has(last) ? 8 : 6) -
      // Whether a repository is active says nothing of what happened to it.
      (around.some((word) => PLACES.has(word)) ? 5 : 0) -
      (said.length > 1 ? 0.5 : 0) -
      (said.some((word) => BEFORE.has(word)) ? 4 : 0)
    )
  if (last === 'topic') return 7
  if (has(field, SEVERITIES)) return 6
  if (last === 'category') return 5.5
  if (last === 'resource') return 5
  if (last === 'stream') return 4.5
  if (last === 'name' && field.depth < 1) return 3.5
  return 0
}

/** More than what a severity has. */
const WHOLE_MIN = 6.5
const COVERED_MIN = 0.8

function typeOf(fields: readonly Field[]): FoundRole | null {
  const ranked = best(fields, typeScore, 2.5)
  const [top] = ranked
  // What only some payloads have leaves the others without a type.
  const whole = ranked.find(({ field, score }) => field.coverage === 1 && score >= WHOLE_MIN)
  const kind = top && top.field.coverage < COVERED_MIN ? (whole ?? top) : top
  const first = (kind && stateBeside(kind, ranked)) ?? kind
  return first
    ? roleOf('type', first, 'named like the kind of what happened, with few short values', [7.5, 5])
    : null
}

/** Where the type only names a thing, such as a deploy, the state beside it says what happened to that. */
function stateBeside({ field }: Ranked, ranked: readonly Ranked[]): Ranked | undefined {
  const texts = new Set(field.values.map(String))
  const [name = ''] = texts
  if (field.words.at(-1) !== 'type' || field.words.includes('event')) return undefined
  if (texts.size > 1 || isState(name) || !/^[A-Z]*[a-z]*$/.test(name) || name.endsWith('ed')) return undefined
  return ranked.find(
    ({ field: one }) => isStateField(one) && isBeside(one, field) && one.coverage >= field.coverage,
  )
}

/* The text. */

interface FoundText {
  template: string
  used: string[]
  role: FoundRole
}

/** A sentence of the payload where there is one; else type, entity and numbers. */
function textOf(
  fields: readonly Field[],
  type: string | undefined,
  entity: string | undefined,
): FoundText | null {
  // The type alone says nothing that the row does not say already.
  const score = (field: Field) => (field.path === type ? 0 : textScore(field))
  const ranked = best(fields, score, 5)
  const [first] = ranked
  if (!first) return madeText(fields, type, entity)
  // Payloads without one of these may have one that says less.
  const chosen = apart([...ranked, ...best(fields, score, 1.5)])
  const isEverywhere = isInAll(chosen, fields)
  const used = chosen.map(({ path }) => path)
  const role = roleOf('text', first, 'a sentence by its name and value', [9, 6])
  const about = aboutOf(fields, chosen, type, entity)
  const sentence = placeholders(used)
  const whole = (before: string) => {
    const template = before + sentence
    return { template: leavesSigns(template, fields) ? sentence : template, used, role }
  }
  if (about !== '') return whole(`${about}${isEverywhere ? ': ' : ' '}`)
  const isPartOfIt =
    first.field.above.some((word) => word === 'error' || word === 'errors') || first.score < 7.2
  if (type === undefined || (isEverywhere && !isPartOfIt)) return whole('')
  const named = isEverywhere || entity === undefined ? '' : `{${entity}} `
  return whole(`${named}{${type}}${isEverywhere ? ': ' : ' '}`)
}

const placeholders = (paths: readonly string[]): string => paths.map((path) => `{${path}}`).join('')

/**
 * What stands before a sentence that does not tell how things are: the state, and the thing whose state it is.
 * @returns empty: there is no state, or the sentence says it
 */
function aboutOf(
  fields: readonly Field[],
  texts: readonly Field[],
  type: string | undefined,
  entity: string | undefined,
): string {
  const stateScore = (field: Field) =>
    field.values.every(isState) && (field.path === type || isStateField(field)) ? typeScore(field) : 0
  const isOver = fields.some(({ path, values }) => path === type && values.some(saysOnlyOver))
  const outcomes = isOver
    ? inAll(fields, undefined, (field) => (field.path === type ? 0 : stateScore(field)))
    : []
  const states = outcomes.length ? outcomes : inAll(fields, type, stateScore)
  if (!states.length || isSaid(states, texts)) return ''
  const things = inAll(fields, entity, (field) =>
    field.values.every((value) => isSpoken(String(value))) ? entityScore(field) : 0,
  )
  const named = isSaid(things, texts) ? [] : things
  return [named, states]
    .filter((some) => some.length)
    .map((some) => placeholders(some.map(({ path }) => path)))
    .join(' ')
}

function madeText(
  fields: readonly Field[],
  type: string | undefined,
  entity: string | undefined,
): FoundText | null {
  const kinds = best(fields, typeScore, 4.2).filter(({ field }) => field.coverage >= 0.8)
  const others = kinds.filter(({ field }) => field.path !== type && differs(field, fields, type))
  const other = (others.find(({ field }) => isStateField(field)) ?? others[0])?.field.path
  // At the end, where it leaves no gap in payloads without it.
  const later = best(fields, (field) => (isStateField(field) ? typeScore(field) : 0), 1.5)
    .map(({ field }) => field)
    .find((field) => field.coverage < 0.8 && differs(field, fields, type))?.path
  const numbers = fields
    .filter((field) => isMeasure(field) && ![type, entity].includes(field.path))
    .slice(0, 2)
  const named = [type, other, entity].filter((path) => path !== undefined)
  const parts = [
    ...named.map((path) => `{${path}}`),
    ...numbers.map(({ path, words: said }) => `${said.join('_')}={${path}}`),
    ...(later === undefined || later === type ? [] : [`{${later}}`]),
  ]
  const from = fields.find(({ path }) => path === named[0]) ?? numbers[0]
  if (!from) return null
  const role = roleOf(
    'text',
    { field: from, score: 0 },
    'no field is a sentence: made of what is known',
    [9, 6],
  )
  const template = parts.join(' ')
  return saysNothing(template, fields) ? null : { template, used: [], role }
}

function differs(field: Field, fields: readonly Field[], path: string | undefined): boolean {
  const other = fields.find((one) => one.path === path)
  return !other || String(other.values[0]) !== String(field.values[0])
}

/* The entity and labels. */

const NONE_OF_IT = words('url uri link href avatar icon color html version count size description type kind')
/** Who watches or is to mend it, not what is watched. */
const WATCHERS = words(
  'monitoring reporting alerting sending notification assignment assigned owner owning escalation',
)
const PEOPLE = words('email user customer account')
const EMAIL = /^[^\s@]+@[^\s@]+\.[a-z]+$/i
/** The key of a ticket, as people say it. */
const TICKET = /^[A-Z][A-Z0-9]{0,9}-\d+$/

function entityScore(field: Field): number {
  const texts = field.values.map(String)
  if (field.times.length > 0 || has(field, NONE_OF_IT)) return 0
  if (field.values.some((value) => typeof value === 'boolean') || texts.some((text) => LINK.test(text)))
    return 0
  const rest = field.words.filter((word) => ownField(PARTS, word) === undefined && !isNumeral(word))
  const isPart = rest.length === 0
  const isEntry = isNumeral(field.path.slice(field.path.lastIndexOf('.') + 1))
  let base = isPart ? nounOf(isEntry ? listNoun(field) : field.around) : nounOf([rest.at(-1)!])
  if (WATCHERS.has(rest[0] ?? '')) return 0
  // The name of the whole.
  if (field.words.join('_') === 'name' && field.depth < 1) base = Math.max(base, 4)
  if (isPart && field.isOfKind) base = Math.max(base, 6.5)
  if (isPart && base === 0 && texts.every((text) => TICKET.test(text))) base = 4.5
  if (base === 0 || (texts.every((text) => EMAIL.test(text)) && !has(field, PEOPLE))) return 0
  const part = field.words.reduce((sum, word) => sum + (ownField(PARTS, word) ?? 0), 0)
  // A list of names, such as that of affected hosts, says it as a field does.
  const listed = isEntry ? 1.5 : 0
  return base + part + placed(field) + listed + shapeScore(field, texts) - (rest.length > 1 ? 1 : 0)
}

/** What its values look like: a name is short, and tells one thing from another. */
function shapeScore({ values }: Field, texts: readonly string[]): number {
  let score = 0
  const isPath = texts.every((text) => /^\/\S+\/\S+$/.test(text))
  const spaces = Math.max(...texts.map((text) => text.split(' ').length - 1))
  score -= spaces === 0 ? 0 : spaces <= 2 ? 1 : 5
  if (texts.some((text) => text.length > 100 || text.includes('\n'))) score -= isPath ? 0 : 5
  // Where a path leads is one thing, but its name says it better.
  if (isPath) score -= 1.5
  if (texts.some((text) => UUID.test(text) || HASH.test(text))) score -= 4
  if (values.every((value) => typeof value === 'number' || /^\d+$/.test(String(value)))) score -= 2
  if (texts.every((text) => text.split(':').length > 3)) score -= 1
  // An id of its own for each event tells no timeline.
  if (texts.length >= 10 && new Set(texts).size === texts.length) score -= 2
  return score
}

function entityOf(fields: readonly Field[]): FoundRole | null {
  const [first] = best(fields, entityScore, 1.5)
  if (!first) return null
  const role = roleOf('entity', first, reasonOf(first.field), [5.5, 3.5])
  return { ...role, name: labelName(first.field) }
}

const reasonOf = ({ coverage, values }: Field): string =>
  `named like a thing that events are about, in ${Math.round(coverage * 100)} % of them, ${new Set(values).size === 1 ? 'one value' : `${new Set(values).size} values`}`

/** What tells events apart beside the entity. */
const SIDES: ReadonlySet<string> = words(
  'severity level status state environment env region zone namespace team priority urgency category stage branch ref method currency code stream',
)
const LABELS_MAX = 8
const NUMBERS_MAX = 3
const SPANS = words('start started begin end ended unix epoch')
const NO_MEASURE = words('id number version code port line lineno index attempt sequence pid year at')

function labelsOf(
  fields: readonly Field[],
  taken: readonly (string | undefined)[],
  entity: string | undefined,
): FoundRole[] {
  const names = entity === undefined ? [] : [entity]
  const found: FoundRole[] = []
  const add = (ranked: Ranked, why: string, format?: string): void => {
    const { path } = ranked.field
    const name = labelName(ranked.field)
    // One label of each thing: its name, not its id as well.
    if (found.length >= LABELS_MAX || names.includes(name) || taken.includes(path)) return
    if (found.some(({ field }) => field === path) || isOfAll(ranked.field, fields)) return
    names.push(name)
    found.push({ ...roleOf('label', ranked, why, [5.5, 3]), name, ...(format ? { format } : {}) })
  }
  for (const one of best(fields, labelScore, 2.5)) add(one, 'a short value that events can be chosen by')
  for (const field of fields.filter(isMeasure).slice(0, NUMBERS_MAX))
    add({ field, score: 3 }, 'a number, for averages and sums', NUMBER)
  return found
}

function labelScore(field: Field): number {
  const texts = field.values.map(String)
  if (field.times.length > 0 || texts.some((text) => text.length > 80 || /\n/.test(text) || isOpaque(text)))
    return 0
  const isSide = SIDES.has(field.words.at(-1) ?? '') && texts.every((text) => text.split(' ').length <= 3)
  return Math.max(isSide ? 6 + placed(field) : 0, entityScore(field))
}

const isMeasure = (field: Field): boolean =>
  field.values.every((value) => typeof value === 'number') &&
  field.coverage >= 0.2 &&
  placed(field) > -2.5 &&
  !field.above.some((word) => PLACES.has(word)) &&
  timeScore(field) === 0 &&
  !(field.times.length > 0 && has(field, SPANS)) &&
  nounOf([...field.words.slice(-1)]) === 0 &&
  !has(field, NO_MEASURE) &&
  !has(field, STATES)

/* A list in the payload, an event for each of its entries. */

const LISTS = words(
  'alerts events records entries items messages logs metrics notifications incidents results batch matches hits deliveries points data',
)
/** Names of lists of what happened, whose entries need no time to be that. */
const PLAIN_LISTS = words('alerts events items records entries logs messages results data')
const LIST_DEPTH = 2
/** Entries of one list that are looked at. */
const ENTRIES_MAX = 50

/** @returns null where the payload is itself the event. */
function listOf(payloads: readonly unknown[], nowMs: number): FoundRole | null {
  const counts = new Map<string, number>()
  for (const payload of payloads)
    for (const path of listsIn(payload)) counts.set(path, (counts.get(path) ?? 0) + 1)
  for (const [path, count] of [...counts].sort((a, b) => b[1] - a[1] || a[0].length - b[0].length)) {
    const coverage = count / payloads.length
    if (coverage < 0.5) return null
    const having = payloads.filter((payload) => listsIn(payload).includes(path))
    const entries = having.flatMap((payload) => entriesOf(payload, path))
    const reason = reasonToSplit(entries, having, path, nowMs)
    if (reason === null) continue
    return {
      ...{
        role: 'items',
        field: path,
        coverage: rounded(coverage),
        confidence: coverage === 1 ? 'high' : 'medium',
      },
      ...{
        reason,
        example: countWords(entries.length, 'entry', 'entries'),
      },
    }
  }
  return null
}

function listsIn(value: unknown, names: readonly string[] = []): string[] {
  const inner = typeof value === 'string' ? parseText(value) : value
  if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) return []
  return Object.entries(inner).flatMap(([name, one]) => {
    const at = [...names, name]
    if (Array.isArray(one)) {
      const isNamed = LISTS.has(wordsOf(name).at(-1) ?? '')
      return isNamed && one.length > 0 && one.every((entry) => objectOf(entry) === entry)
        ? [at.join('.')]
        : []
    }
    return at.length < LIST_DEPTH ? listsIn(one, at) : []
  })
}

/**
 * Its entries have times of their own, or are alike and say what happened, and what is around them does not tell of one
 * thing itself. @returns null: it is not to be split
 */
function reasonToSplit(
  entries: readonly Record<string, unknown>[],
  payloads: readonly unknown[],
  path: string,
  nowMs: number,
): string | null {
  const inside = fieldsOf(entries, nowMs).filter(({ isEnvelope }) => !isEnvelope)
  const outside = fieldsOf(payloads.map(objectOf), nowMs).filter(
    (field) => !field.path.startsWith(`${path}.`),
  )
  const [hasTime, hasType] = [
    best(outside, timeScore, 5).length > 0,
    best(outside, typeScore, 8.6).length > 0,
  ]
  const isNamed = PLAIN_LISTS.has(path.split('.').at(-1)!.toLowerCase())
  // Where what is around them names nothing, entries that say of which kind of event each is are no history of one thing.
  const areEvents =
    isNamed && best(inside, typeScore, 10).length > 0 && best(outside, entityScore, 1.5).length === 0
  if (best(inside, timeScore, 5).length > 0)
    return hasTime && hasType && !areEvents ? null : 'a list of what happened, each entry with its own time'
  const [said] = best(inside, textScore, 5)
  const isOfOne = hasTime || hasType || best(outside, textScore, 5).length > 0
  if (!isNamed || isOfOne || entries.length <= payloads.length || said?.field.coverage !== 1) return null
  return `a list of what happened: its entries are alike, and each says it in ${said.field.path}`
}

/** The entries as a source with this list reads them: each with what is around it as its envelope. */
function entriesOf(payload: unknown, path: string): Record<string, unknown>[] {
  const whole = objectOf(payload)
  const list = lookup(whole, path)
  const around = { ...whole, ...(Object.hasOwn(whole, path) ? { [path]: [] } : {}) }
  const entries = Array.isArray(list) ? list : list !== null && typeof list === 'object' ? [list] : null
  if (!entries) return [{ ...whole, [ENVELOPE]: whole }]
  return entries.slice(0, ENTRIES_MAX).map((entry) => ({ ...objectOf(entry), [ENVELOPE]: around }))
}
