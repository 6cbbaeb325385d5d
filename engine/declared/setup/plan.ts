/**
 * A plan as a model or a person wrote it, read into the whole shape of plan.json: what is missing is
 * empty, what is no part of a plan is left out. Whether it makes sense is said by the check.
 */

import { durationWords } from '../../../schemas/duration-words.ts'
import { exampleEvent, type Mapping } from '../../../schemas/example-event.ts'
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { check } from '../../../schemas/index.ts'
import { capitalised, listWords } from '../../../schemas/plain-words.ts'
import type {
  AgentHandoff,
  Connector,
  Filter,
  Plan,
  PlanAgent,
  PlanKnob,
  PlanProblem,
  PlanSkill,
  PlanTool,
  PlanWake,
  PlanWatch,
  TriggerSpec,
  Verdict,
} from '../../../schemas/types.ts'
import { conditionKind, cooldownSentence, sentenceOf } from '../../../schemas/words.ts'
import { documentOf } from '../../model/documents.ts'

type Fields = Record<string, unknown>

/** Entries of a section that are looked at; more is none of a plan. */
const SECTION_MAX = 20
const NOTES_MAX = 10
const KNOBS = ['threshold', 'window_minutes', 'cooldown_minutes', 'every_minutes']

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value.slice(0, SECTION_MAX) : [])
const rowsOf = (value: unknown): Fields[] => listOf(value).filter(isFields)
const textsOf = (value: unknown): string[] => listOf(value).map(plainLine).filter(Boolean)

/** Lists of a plan, and of the rows of each, of which no more than the first `SECTION_MAX` entries are read. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  ...{ watches: [], wakes: ['sources', 'filters'], tools: [], skills: [] },
  agents: ['verdicts', 'handoffs', 'mcp_servers'],
}

/** What is left out of a plan, in sentences: a part that is not read would otherwise be missing without a word. */
export function leftOutOf(given: unknown): PlanProblem[] {
  const plan = fieldsOf(given)
  const left = (where: string, name: string, list: unknown): PlanProblem[] =>
    Array.isArray(list) && list.length > SECTION_MAX
      ? [
          {
            where,
            message: `${name} has ${list.length} entries; a plan takes ${SECTION_MAX} at most, so ${list.length - SECTION_MAX} more cannot be in it`,
          },
        ]
      : []
  return Object.entries(LISTS).flatMap(([section, fields]) => [
    ...left(section, section, plan[section]),
    ...rowsOf(plan[section]).flatMap((row, i) =>
      fields.flatMap((field) => left(section, `${section}[${i}].${field}`, row[field])),
    ),
  ])
}

/** @param given any JSON value. @param goal of the draft, where the plan says none. */
export function readPlan(given: unknown, goal = ''): Plan {
  const plan = fieldsOf(given)
  const who = plan.who === 'own' ? 'own' : 'svc'
  const own = isFields(plan.own_agent) ? plan.own_agent : null
  return {
    goal: plainLine(plan.goal) || goal,
    name: filledIn(plainLine(plan.name)),
    summary: '',
    who,
    watches: keyed('w', rowsOf(plan.watches).map(readWatch)),
    wakes: keyed('k', rowsOf(plan.wakes).map(readWake)),
    agents: keyed('a', rowsOf(plan.agents).map(readAgent)),
    own_agent:
      own && who === 'own'
        ? { name: filledIn(own.name), wake: own.wake === 'webhook' ? 'webhook' : 'poll', sentence: '' }
        : null,
    tools: keyed('t', rowsOf(plan.tools).map(readTool)),
    skills: keyed('s', rowsOf(plan.skills).map(readSkill)),
    notes: textsOf(plan.notes).slice(0, NOTES_MAX),
  }
}

/** Every entry has a key of its own: the one it has, or the next free one. */
function keyed<T extends { key: string }>(letter: string, rows: T[]): T[] {
  const taken = new Set<string>()
  const isFree = (key: string) => /^[a-z][a-z0-9]{0,9}$/.test(key) && !taken.has(key)
  const given = rows.map(({ key }) => {
    const own = isFree(key) ? key : ''
    taken.add(own)
    return own
  })
  let n = 0
  return rows.map((row, i) => {
    let key = given[i]!
    while (key === '') {
      n++
      if (isFree(`${letter}${n}`)) key = `${letter}${n}`
    }
    taken.add(key)
    return { ...row, key }
  })
}

function readWatch(row: Fields): PlanWatch {
  const existing = row.existing === true
  const config = existing ? {} : (withoutPlaceholders(fieldsOf(row.config)) as Fields)
  return {
    key: plainText(row.key),
    existing,
    name: filledIn(row.name),
    connector: plainText(row.connector),
    poll: existing ? null : filledIn(row.poll) || null,
    config: Array.isArray(config.labels) ? { ...config, labels: config.labels.map(readLabel) } : config,
    sentence: '',
    needs: 'none',
    secrets: [],
    sample: isFields(row.sample) ? row.sample : null,
  }
}

/** A label that says neither a constant nor a field reads the field of its own name. */
function readLabel(label: unknown): unknown {
  if (!isFields(label)) return label
  const isSaid = Boolean(label.field) || (label.const !== undefined && label.const !== '')
  return isSaid ? label : { ...label, field: label.name }
}

function readWake(row: Fields): PlanWake {
  const description = plainLine(filledIn(row.description))
  return {
    key: plainText(row.key),
    name: filledIn(row.name),
    ...(description ? { description } : {}),
    sources: [...new Set(textsOf(row.sources))],
    filters: rowsOf(row.filters) as FieldsOf<Filter>[],
    key_field: filledIn(row.key_field),
    condition: fieldsOf(row.condition),
    cooldown: filledIn(row.cooldown),
    window: filledIn(row.window),
    ...besideOf(row),
    sentence: '',
    cooldown_sentence: '',
    knobs: rowsOf(row.knobs)
      .filter(({ id, value }) => KNOBS.includes(String(id)) && Number.isFinite(value))
      .map(({ id, value }) => ({ id, label: '', value, min: 0, max: 0 }) as PlanKnob),
  }
}

/** What a trigger may say beside, by the names that it has there. */
const BESIDE = ['severity', 'severity_field', 'joined', 'storm', 'max_late'] as const

/** What a trigger of a plan says beside what each says, as far as it can be read. */
function besideOf(row: Fields): Pick<PlanWake, (typeof BESIDE)[number] | 'kind'> {
  const kind = plainLine(filledIn(row.kind)).slice(0, 80)
  const said = BESIDE.filter((field) => {
    const value = row[field]
    if (value === undefined || value === null || value === '' || value === false) return false
    return (
      check('trigger-spec.json', { sources: ['any'], condition: { event: 'any' }, [field]: value }) === null
    )
  })
  return { ...Object.fromEntries(said.map((field) => [field, row[field]])), ...(kind ? { kind } : {}) }
}

/** The same, and how much of the timeline a firing carries, as a trigger is declared. */
export function declaredBeside(wake: PlanWake): Partial<TriggerSpec> {
  const { kind, window } = wake
  const emit = { ...(kind ? { kind } : {}), ...(window ? { context_window: window } : {}) }
  const said = BESIDE.filter((field) => wake[field] !== undefined).map((field) => [field, wake[field]])
  return { ...Object.fromEntries(said), ...(kind || window ? { emit } : {}) }
}

function readAgent(row: Fields): PlanAgent {
  const existing = row.existing === true
  const optional = row.optional === true
  return {
    key: plainText(row.key),
    existing,
    name: filledIn(row.name),
    trigger: row.on_trigger === false ? '' : plainLine(row.trigger),
    prompt: existing ? '' : plainText(row.prompt),
    model: existing ? '' : filledIn(row.model),
    verdicts: existing ? [] : listOf(row.verdicts).flatMap(readVerdict),
    handoffs: rowsOf(row.handoffs).map(readHandoff),
    mcp_servers: existing ? [] : [...new Set(textsOf(row.mcp_servers))],
    sentence: '',
    optional,
    enabled: optional ? row.enabled !== false : true,
  }
}

function readVerdict(given: unknown): Verdict[] {
  const row = typeof given === 'string' ? { verdict: given } : fieldsOf(given)
  const verdict = plainLine(row.verdict).toLowerCase()
  const when = plainLine(row.when)
  return verdict ? [{ verdict, ...(when ? { when } : {}) }] : []
}

function readHandoff(row: Fields): AgentHandoff {
  const cooldown = filledIn(row.cooldown)
  return {
    verdict: plainLine(row.verdict).toLowerCase(),
    agent: plainLine(row.agent),
    ...(cooldown ? { cooldown } : {}),
  }
}

function readTool(row: Fields): PlanTool {
  const existing = row.existing === true
  return {
    key: plainText(row.key),
    name: filledIn(row.name),
    url: existing ? '' : filledIn(row.url),
    why: plainLine(row.why),
    can_act: row.can_act === true,
    enabled: existing ? row.enabled !== false : row.enabled === true,
    existing,
  }
}

function readSkill(row: Fields): PlanSkill {
  const existing = row.existing === true
  return {
    key: plainText(row.key),
    name: filledIn(row.name),
    existing,
    description: existing ? '' : plainText(row.description),
    body: existing ? '' : plainText(row.body),
    enabled: row.enabled !== false,
  }
}

/*
 * The numbers of a trigger that a person may change without knowing how a trigger is written. A knob
 * that is there decides: the condition and the cooldown are written from it. One that is missing is
 * read from them, where the number is one a knob can hold; otherwise the number stays as it is.
 */

type Condition = Record<string, unknown>

/** What knobs are about. */
interface Numbers {
  condition: Condition
  cooldown: string
}

interface Dial {
  id: PlanKnob['id']
  label: string
  min: number
  max: number
  isWhole: boolean
  read(numbers: Numbers): number | null
  write(numbers: Numbers, value: number): Numbers
}

const MINUTES: Record<string, number> = { s: 1 / 60, m: 1, h: 60, d: 1_440 }
const DAY = 1_440
const WEEK = 10_080
const COUNTED = ['count', 'distinct']
const PREDICATE = /^(>=|<=|==|>|<) ?(-?\d+(?:\.\d+)?)(\/[smh])?$/

/** @returns the numbers as the knobs say, and the knobs as they then are. */
export function turnKnobs(given: Numbers, knobs: readonly PlanKnob[]): Numbers & { knobs: PlanKnob[] } {
  let numbers: Numbers = { ...given, condition: atLeastOne(given.condition) }
  const turned: PlanKnob[] = []
  for (const dial of dialsOf(numbers.condition)) {
    const { id, label, min, max } = dial
    const set = knobs.find((knob) => knob.id === id)
    const value = set ? within(dial, set.value) : held(dial, dial.read(numbers))
    if (value === null) continue
    numbers = dial.write(numbers, value)
    turned.push({ id, label, value, min, max })
  }
  return { ...numbers, knobs: turned }
}

function dialsOf(condition: Condition): Dial[] {
  if ('every' in condition) return [minutes('every_minutes', 'Every, in minutes', 'every', WEEK)]
  if ('cron' in condition) return []
  const window = ['window', 'absent_for', 'within'].find((field) => typeof condition[field] === 'string')
  return [
    ...(typeof condition.predicate === 'string' ? [threshold(String(condition.aggregate))] : []),
    ...(window ? [minutes('window_minutes', WINDOW_LABELS[window]!, window, DAY)] : []),
    cooldown,
  ]
}

const WINDOW_LABELS: Record<string, string> = {
  window: 'Within, in minutes',
  absent_for: 'Silent for, in minutes',
  within: 'Within, in minutes',
}

function threshold(aggregate: string): Dial {
  const isCount = COUNTED.includes(aggregate)
  const isRate = aggregate === 'rate'
  return {
    id: 'threshold',
    label: isCount ? 'How many' : isRate ? 'How many a unit of time' : 'Threshold',
    min: isCount ? 1 : isRate ? 0.001 : -1e9,
    max: isCount || isRate ? 100_000 : 1e9,
    isWhole: isCount,
    read: ({ condition }) => {
      const number = PREDICATE.exec(String(condition.predicate))?.[2]
      return number === undefined ? null : Number(number)
    },
    write: (numbers, value) => {
      const [, op, , unit = ''] = PREDICATE.exec(String(numbers.condition.predicate)) ?? []
      if (op === undefined) return numbers
      return { ...numbers, condition: { ...numbers.condition, predicate: `${op} ${value}${unit}` } }
    },
  }
}

function minutes(id: PlanKnob['id'], label: string, field: string, max: number): Dial {
  return {
    id,
    label,
    min: 1,
    max,
    isWhole: true,
    read: ({ condition }) => minutesOf(condition[field]),
    write: (numbers, value) => ({
      ...numbers,
      condition: { ...numbers.condition, [field]: durationOf(value) },
    }),
  }
}

const cooldown: Dial = {
  id: 'cooldown_minutes',
  label: 'Wait before waking again, in minutes',
  min: 1,
  max: DAY,
  isWhole: true,
  read: ({ cooldown: text }) => minutesOf(text || '5m'),
  write: (numbers, value) => ({ ...numbers, cooldown: durationOf(value) }),
}

/** A count is never below nothing: "more than none" is said as "at least one", which a knob can hold. */
function atLeastOne(condition: Condition): Condition {
  const isNone = COUNTED.includes(String(condition.aggregate)) && /^> ?0$/.test(String(condition.predicate))
  return isNone ? { ...condition, predicate: '>= 1' } : condition
}

function minutesOf(text: unknown): number | null {
  const match = /^(\d+(?:\.\d+)?)([smhd])$/.exec(String(text))
  return match ? Number(match[1]) * MINUTES[match[2]!]! : null
}

const durationOf = (value: number): string => (value % 60 === 0 ? `${value / 60}h` : `${value}m`)

/** A number as it was set, brought within what the knob can hold. */
function within({ min, max, isWhole }: Dial, value: number): number {
  const bounded = Math.min(max, Math.max(min, value))
  return isWhole ? Math.round(bounded) : bounded
}

/** A number as it was read; null where it would have to be another one. */
function held(dial: Dial, value: number | null): number | null {
  return value !== null && within(dial, value) === value ? value : null
}

/* Names of a plan: one way of writing them, none that is taken, and references that follow. */

const NAME_MAX = 60

/** "Gateway Errors!" as gateway-errors. */
function slug(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, NAME_MAX)
    .replace(/^-+|-+$/g, '')
}

/** @returns the name, or the first of name-2, name-3 that is free. */
export function freeName(name: string, isTaken: (name: string) => boolean, joint = '-'): string {
  let free = name
  for (let n = 2; isTaken(free); n++) {
    const tail = `${joint}${n}`
    free = `${name.slice(0, NAME_MAX - tail.length)}${tail}`
  }
  return free
}

type Named = { key: string; name: string; existing?: boolean }
export type NamedSection = 'watches' | 'wakes' | 'agents' | 'tools' | 'skills'
const namedSections: readonly NamedSection[] = ['watches', 'wakes', 'agents', 'tools', 'skills']

/**
 * Gives what is new a name of its own, and lets references follow: they may say a name or a key. Of two
 * new entries that have the same name neither is renamed, for a reference to it could mean either.
 * @param isTaken whether something of that section has the name on the instance.
 */
export function withFreeNames(plan: Plan, isTaken: (section: NamedSection, name: string) => boolean): Plan {
  const renamed = Object.fromEntries(
    namedSections.map((section) => [section, namesOf(section, plan[section], isTaken)]),
  ) as Record<NamedSection, Names>
  const { watches, wakes, agents, tools, skills } = renamed
  return {
    ...plan,
    watches: plan.watches.map((row) => ({ ...row, name: watches.of(row) })),
    wakes: plan.wakes.map((row) => ({
      ...row,
      name: wakes.of(row),
      sources: [...new Set(row.sources.map(watches.to))],
    })),
    agents: plan.agents.map((row) => ({
      ...row,
      name: agents.of(row),
      trigger: row.trigger && wakes.to(row.trigger),
      handoffs: row.handoffs.map((rule) => ({ ...rule, agent: agents.to(rule.agent) })),
      mcp_servers: [...new Set(row.mcp_servers.map(tools.to))],
    })),
    tools: plan.tools.map((row) => ({ ...row, name: tools.of(row) })),
    skills: plan.skills.map((row) => ({ ...row, name: skills.of(row) })),
  }
}

interface Names {
  /** The name of an entry. */
  of(row: Named): string
  /** What a reference means; itself where it means nothing. */
  to(reference: string): string
}

function namesOf(
  section: NamedSection,
  rows: readonly Named[],
  isTaken: (section: NamedSection, name: string) => boolean,
): Names {
  const written = rows.map((row) => (row.existing ? row.name : slug(row.name)))
  const mine = new Set(written)
  const final = rows.map((row, i) => {
    const name = written[i]!
    if (row.existing || name === '' || !isTaken(section, name)) return name
    return freeName(name, (other) => (other !== name && mine.has(other) ? true : isTaken(section, other)))
  })
  const byReference = new Map<string, string>()
  // What has no name cannot be referred to: the reference stays as it is, and is told as a problem.
  for (const [i, row] of rows.entries())
    for (const word of final[i] ? [row.key, row.name, written[i]!] : [])
      if (!byReference.has(word)) byReference.set(word, final[i]!)
  const byRow = new Map(rows.map((row, i) => [row, final[i]!]))
  return {
    of: (row) => byRow.get(row)!,
    // What is called so now comes before what was: a checked plan stays as it is.
    to: (reference) => (final.includes(reference) ? reference : (byReference.get(reference) ?? reference)),
  }
}

/**
 * An example event that reads as the source's mapping says: with the fields of its labels, the primary one above all,
 * its type, its text and its time. Fields that are there stay as they are.
 * @param sample of the plan; null: it has none, and one is made.
 * @param connector kind and config of the source. @param atMs its time, epoch ms.
 */
export const completeSample = (
  sample: Fields | null,
  { connector, config }: { connector: string; config: Fields },
  atMs: number,
): Fields =>
  exampleEvent(connector, config as Mapping, 'an example event', new Date(atMs).toISOString(), sample)

/* Texts of a plan as a model or a person wrote them, without what is only a placeholder. */

/** A value that stands for one that is still to be found: <token> or your-api-key. */
const PLACEHOLDER =
  /^(<[^<>]*>|\{\{[^{}]*\}\}|to[-_ ]?do\b.*|tbd\b.*|x{3,}|your[-_ ].*|(https?:\/\/)?(<|your-).*)$/i

/** @returns the text, trimmed; em dashes are commas. */
function plainText(value: unknown): string {
  if (typeof value !== 'string') return ''
  return value.replace(/\s*\u2014\s*/g, ', ').trim()
}

/** The same on one line. */
const plainLine = (value: unknown): string => plainText(value).replace(/\s+/g, ' ')

/** The same, empty where it is a placeholder. */
function filledIn(value: unknown): string {
  const text = plainText(value)
  return PLACEHOLDER.test(text) ? '' : text
}

/** A config without placeholders, at any depth; they are as if they had not been given. */
function withoutPlaceholders(value: unknown): unknown {
  if (typeof value === 'string') return PLACEHOLDER.test(value.trim()) ? '' : value
  if (Array.isArray(value)) return value.map(withoutPlaceholders)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutPlaceholders(inner)]))
}

/* What a plan says of itself: derived from what it would make, never the words of a model. */

/** A plan with its sentences. @param connector what is known of a connector. */
export function withSentences(plan: Plan, connector: (kind: string) => Connector | undefined): Plan {
  const wakes = plan.wakes.map((wake) => ({ ...wake, ...wakeSentences(wake) }))
  const agents = plan.agents.map((agent) => ({ ...agent, sentence: agentSentence(agent, plan) }))
  const said = {
    ...plan,
    watches: plan.watches.map((watch) => ({
      ...watch,
      sentence: watchSentence(watch, connector(watch.connector)),
    })),
    wakes,
    agents,
    own_agent: plan.own_agent && { ...plan.own_agent, sentence: ownSentence(plan.own_agent) },
  }
  return { ...said, summary: summaryOf(said) }
}

function watchSentence({ existing, poll, connector }: PlanWatch, known: Connector | undefined): string {
  const kind = known?.label ?? connector
  if (existing) return `${kind ? `${kind}: ` : ''}a source that is here already, used as it is`
  if (!known) return ''
  if (known.mode === 'push') return `${kind}: takes events that are sent to it`
  if (known.mode === 'reference') return `${kind}: documents that are always at hand`
  return `${kind}: asked every ${poll ?? known.poll ?? 'so often'}`
}

/** Half-filled conditions have no words yet. */
function wakeSentences(wake: PlanWake): Pick<PlanWake, 'sentence' | 'cooldown_sentence'> {
  if (conditionKind(wake.condition) === null) return { sentence: '', cooldown_sentence: '' }
  const { sources, filters, cooldown, key_field } = wake
  const told = { sources, filters, condition: wake.condition, key_field, cooldown: cooldown || undefined }
  try {
    return {
      sentence: sentenceOf(documentOf('trigger', told)),
      cooldown_sentence: cooldownSentence(documentOf('trigger', told)),
    }
  } catch (error) {
    // A condition that is not of its schema; the check says which rule it breaks.
    if (!(error instanceof TypeError)) throw error
    return { sentence: '', cooldown_sentence: '' }
  }
}

/** "Looks first when errors fires; digs in when triage concludes investigate". */
function agentSentence({ name, trigger }: PlanAgent, { agents }: Pick<Plan, 'agents'>): string {
  const parts = trigger ? [`looks first when ${trigger} fires`] : []
  for (const from of agents)
    for (const { verdict, agent, cooldown } of from.handoffs)
      if (agent === name && from.enabled)
        parts.push(
          `digs in when ${from.name} concludes ${verdict}, at most once every ${durationWords(cooldown ?? '30m')} per entity`,
        )
  return capitalised(parts.length ? parts.join('; ') : 'is woken by nothing yet')
}

function ownSentence({ name, wake }: { name: string; wake: 'webhook' | 'poll' }): string {
  const how = wake === 'webhook' ? 'is told at an address it names' : 'asks for what fired'
  return `${name || 'Your agent'} ${how}, reads this project and records what it finds`
}

function summaryOf({ watches, wakes, agents, own_agent: own }: Plan): string {
  const firsts = agents.filter(({ trigger, enabled }) => trigger && enabled).map(({ name }) => name)
  const others = agents.filter(({ trigger, enabled }) => !trigger && enabled).map(({ name }) => name)
  const looks = own ? own.name || 'Your agent' : listWords(firsts)
  return [
    watches.length ? `Watches ${listWords(watches.map(({ name }) => name))}.` : '',
    ...wakes.map((wake) => wake.sentence && `${wake.sentence}.`),
    looks &&
      `${looks} ${own || firsts.length === 1 ? 'looks' : 'look'} first${others.length ? `; ${listWords(others)} ${others.length === 1 ? 'digs' : 'dig'} in after a handoff` : ''}.`,
  ]
    .filter(Boolean)
    .join(' ')
}
