/**
 * Agents that are scripts, in every report beside models: four that know nothing and must score 0, rules that
 * a person would write, and one that is told the truth. What a model adds is what it scores above the rules.
 */
import { cautiousTokens } from '../../log/brief/brief.ts'
import { TROUBLE } from '../../log/brief/words.ts'
import type { ModelReply, ModelRequest, Models, ToolCall } from '../models/types.ts'
import {
  counted,
  type Incident,
  type Loaded,
  loadedWith,
  type NoisePool,
  patternOf,
  randomOf,
  truthOf,
  ways,
} from './incident.ts'

export const SCRIPTED = ['random', 'newest', 'frequent-error', 'newest-change', 'rules', 'told'] as const
export type ScriptedName = (typeof SCRIPTED)[number]
/** They look at nothing that could tell them the cause. */
export const TRIVIAL = ['random', 'newest', 'frequent-error', 'newest-change'] as const

/** What the one that is told knows: of each cause one event, as it is in the store. */
export interface Told {
  causes: { event: string; text: string }[]
}

type Names = (seen: SeenMessage) => SeenLine[]

const NAMES: Record<Exclude<ScriptedName, 'told'>, Names> = {
  // Of all events, as a guess is: of those that are shown it would be a guess among what the brief picked out.
  random: ({ lines }) => {
    const last = Math.max(0, ...lines.map(lastOf))
    const guess = 1 + Math.floor(randomOf(lines.map(({ ids }) => ids[0]).join())() * last)
    return last ? [{ ...lines[0]!, ids: [`evt_${guess}`] }] : []
  },
  newest: ({ lines }) => guess(lines.toSorted((a, b) => lastOf(b) - lastOf(a))[0]),
  'frequent-error': ({ lines }) =>
    guess(
      lines
        .filter(({ text }) => /\b(error|fatal|critical)\b/.test(text.slice(0, 60)))
        .toSorted((a, b) => countIn(b) - countIn(a))[0],
    ),
  'newest-change': ({ lines }) => guess(lines.findLast(({ section }) => section === 'Changes')),
  rules: namedByRules,
}

/** Who knows nothing names one event. */
const guess = (line: SeenLine | undefined): SeenLine[] => (line ? [{ ...line, ids: line.ids.slice(-1) }] : [])

/** Ids of the events that a scripted agent names as the cause. @param message the first message of a run */
const namedBy = (name: Exclude<ScriptedName, 'told'>, message: string): string[] =>
  NAMES[name](readMessage(message)).flatMap(({ ids }) => ids)

function lastOf({ ids }: SeenLine): number {
  return Number(ids.at(-1)!.slice(4))
}

/** @param told of `told` alone */
export function scriptedModels(name: ScriptedName, told: Told = { causes: [] }): Models {
  return {
    call: async (request) => (name === 'told' ? tell(request, told) : answer(request, NAMES[name])),
    ceilingUsd: async () => 0,
    resolve: async () => ({ provider: 'scripted', kind: 'scripted', model: name, outputTokens: 4_096 }),
  }
}

/** Answers the first run of each agent, which is there to be repeated: it looks at nothing. */
export const silentModels: Models = {
  call: async (request) => reply(request, [conclude('no_op', [])]),
  ceilingUsd: async () => 0,
  resolve: async () => ({ provider: 'scripted', kind: 'scripted', model: 'silent', outputTokens: 4_096 }),
}

function answer(request: ModelRequest, names: Names): ModelReply {
  const first = request.messages[0]
  const named = names(readMessage(first?.role === 'user' ? first.text : ''))
  return reply(request, [
    conclude(
      named.length ? 'finding' : 'no_op',
      named.map((line) => [line.ids, quoteOf(line)]),
    ),
  ])
}

/** Reads what it is told of, for what was not read holds no claim. */
function tell(request: ModelRequest, { causes }: Told): ModelReply {
  const hasRead = request.messages.some(({ role }) => role === 'tool')
  if (hasRead || causes.length === 0)
    return reply(request, [
      conclude(
        causes.length ? 'finding' : 'no_op',
        causes.map(({ event, text }) => [[event], text.slice(0, QUOTED)]),
      ),
    ])
  return reply(
    request,
    // By its id: a read of what is around it may have no room for it, or fold it.
    causes.map(({ event }, i) => ({ id: `event-${i}`, name: 'event', arguments: { id: event } })),
  )
}

function conclude(
  outcome: 'finding' | 'no_op',
  named: readonly (readonly [events: readonly string[], quote: string])[],
): ToolCall {
  const claims = named.map(([events, quote]) => ({
    ...{ text: `The cause is ${events[0]}.`, role: 'cause', events },
    ...(quote === '' ? {} : { quote }),
  }))
  const summary = 'Named by a script, which understands nothing of it.'
  return {
    id: 'end',
    name: 'conclude',
    arguments: { outcome, summary, ...(claims.length ? { claims } : {}) },
  }
}

/** Characters of a text that are quoted: a claim that quotes nothing is unproved. */
const QUOTED = 40

/** Words that the event has, as far as its line shows them whole: the name of a number, a place in code, the text. */
function quoteOf({ section, text }: SeenLine): string {
  const stopped = /STOPPED: .*?, last at (?:\d\d-\d\d )?[\d:]+: (.*)$/.exec(text)?.[1]
  const said = stopped ?? text.slice(text.indexOf(': ') + 2)
  if (section === 'Numbers that moved') return nameIn(text)
  if (section === REQUESTS) return stepIn(text)
  return said.split(/ \{|…/, 1)[0]!.slice(0, QUOTED).trim()
}

/** Places in code, which have letters: the hour of a line has none. */
const PLACES = /[\w.$]*[A-Za-z_][\w.$]*[:#]\d+/g

/** Where a line of spans says what one is called: after when, of which source and whose. */
const SPAN_CALLED = /^(?:\d\d-\d\d )?[\d:]+ \S+ \S+ (.+?)(?: \(calls | (?:SLOWER|FAILING): )/

/** Of a request the step that the events tell: the later of two places in code, or what a span is called. */
function stepIn(text: string): string {
  const places = text.match(PLACES) ?? []
  return (places[1] ?? places[0] ?? SPAN_CALLED.exec(text)?.[1] ?? '').slice(0, QUOTED)
}

function reply(request: ModelRequest, calls: ToolCall[]): ModelReply {
  const { system, messages, tools } = request
  return {
    ...{ text: '', calls, raw: null, provider: 'scripted', kind: 'compatible', model: 'scripted' },
    ...{
      keySource: 'scripted',
      stop: 'tools',
      costUsd: 0,
      costFrom: null,
      ms: 0,
      firstTokenMs: null,
      tries: 1,
    },
    usage: {
      input_tokens: cautiousTokens(JSON.stringify([system, messages, tools])),
      output_tokens: cautiousTokens(JSON.stringify(calls)),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    },
  }
}

/*
 * The scripted agent that goes by rote, as a person does who knows nothing of the system: what began, what changed
 * shortly before that and has to do with it, else what moved first. It knows no scenario: what it reads is the
 * message alone.
 */

/** Minutes before a symptom in which a change may be its cause. */
const BEFORE = 180
/** Minutes that clocks may differ. */
const CLOCKS = 1
/** Minutes in which what a change does begins, where other things were wrong before. */
const SOON = 3
/** Lines of an error that are more than a few, and new lines that are many though they say nothing of trouble. */
const MANY = 5
const MASSES = 50
/**
 * Lines that must be missing of what stopped. Of a thousand wordings some fall silent by chance where four lines are
 * expected (e⁻⁴ of them), none where ten are.
 */
const SILENT = 10
/** A silence in which fewer are missing, of lines that said none, is named where nothing says trouble. */
const MAY_BE_CHANCE = 1.5
/** What has to do with neither the entity nor what is wrong weighs so much of what has. */
const UNRELATED = 0.5
/** A change after the first symptom is seldom its cause. */
const LATER = 0.6
/** A second cause is named from so much of the score of the first. */
const ALSO = 0.75
const NAMED_MAX = 2
const SCORE_MIN = 1.5
/** A report of what is wrong, such as of a threshold that was passed, came after what made it so. */
const REPORTED = 0.5
/** What a broken request weighs, one that breaks first in its service, and one that takes longer, which is an effect. */
const BROKEN = { first: 8, other: 6, slower: 5 }
/** What weighs an error that says what ran out. */
const EXHAUSTED = 5
/** Of the numbers that moved a resource is nearer to the cause than what was done with it. */
const OF_RESOURCE = 0.6
/** A number that a report of what is wrong names is nearer to the cause than one that nobody speaks of. */
const SPOKEN_OF = 0.6
/** A resource that is used so many times as usual explains why requests take longer. */
const USED_UP = { ratio: 5, score: 5.2 }
/** Trouble that comes again and again follows from something: it is named where there is nothing else. */
const REPEATED = 1.5
/** Lines that tell one change, such as those of a diff. */
const TOGETHER_MAX = 6
/** Seconds that a call says it took, from which on that is trouble. */
const LONG = 5
const CHANGES = 'Changes'
const NUMBERS = 'Numbers that moved'
const MOVED = 'New, risen or stopped'
const REQUESTS = 'Requests that took another path'

/** Something that is wrong, and when it began, minutes from the firing. */
interface Symptom {
  from: number
  line: SeenLine
}

interface Around {
  entity: string
  symptoms: readonly Symptom[]
  /** When the first symptom began. */
  began: number
  numbers: readonly SeenLine[]
  /** Requests take longer, and none breaks. */
  isSlow: boolean
  /** What moved, in lower case. */
  said: string
  words: ReadonlySet<string>
  /** Words of reports of what is wrong. */
  reported: ReadonlySet<string>
  /** Kinds of trouble among the changes that came more than once: they follow from something. */
  repeated: ReadonlySet<string>
}

/** @returns the lines that it names as causes, at most two, the likeliest first */
export function namedByRules({ entity, lines, onset }: SeenMessage): SeenLine[] {
  const clear = lines.filter(isSymptom)
  // Of a quiet system a single error is all there is.
  const certain = clear.length ? clear : lines.filter((line) => line.section === MOVED && isTrouble(line))
  const said = certain
    .filter(({ section }) => section === MOVED)
    .map(({ text }) => text.toLowerCase())
    .join(' ')
  const symptoms = certain.flatMap((line): Symptom[] => {
    const from = line.since ?? line.at
    return from === null ? [] : [{ from, line }]
  })
  const around: Around = {
    numbers: lines.filter(({ section }) => section === NUMBERS),
    ...{ entity, symptoms, isSlow: lines.some(isSlower) && !lines.some(breaksFirst) },
    began: Math.min(...symptoms.map(({ from }) => from), symptoms.length ? (onset ?? 0) : 0),
    said,
    repeated: repeatedIn(lines),
    words: wordsOf(said),
    reported: new Set(
      lines
        .filter(({ section, text }) => section === CHANGES && REPORT.test(text))
        .flatMap(({ text }) => partsOf(text)),
    ),
  }
  const scored = lines
    .map((line): [SeenLine, number] => [line, scoreOf(line, around) + rankOf(line, lines)])
    .filter(([, score]) => score >= SCORE_MIN)
    .sort((a, b) => b[1] - a[1])
  const best = scored[0]?.[1] ?? 0
  const isOther = ([line, score]: [SeenLine, number], i: number) =>
    score > REPEATED || scored.findIndex(([one]) => kindOf(one) === kindOf(line)) === i
  return scored
    .filter(isOther)
    .filter(
      ([{ section }, score], i) => i === 0 || ([CHANGES, REQUESTS].includes(section) && score >= ALSO * best),
    )
    .slice(0, NAMED_MAX)
    .map(([line]) => ({ ...line, ids: [...line.ids, ...toldWith(line, lines)] }))
}

/** Ids of the other lines of a change that is told in several: by one source, of one kind, in the same second. */
function toldWith(line: SeenLine, lines: readonly SeenLine[]): string[] {
  if (line.section !== CHANGES) return []
  const headOf = ({ text }: SeenLine) => text.slice(0, text.indexOf(': '))
  return lines
    .filter(
      (one) =>
        one !== line && one.section === CHANGES && one.entity === line.entity && headOf(one) === headOf(line),
    )
    .slice(0, TOGETHER_MAX - 1)
    .flatMap(({ ids }) => ids)
}

/** How many events a line says it stands for. */
const countIn = ({ text }: SeenLine): number => Number(/×(\d+)/.exec(text)?.[1] ?? 1)

/** Something that is wrong for certain. */
function isSymptom(line: SeenLine): boolean {
  if (line.section === NUMBERS || line.section === REQUESTS) return true
  if (line.section === CHANGES) return isTrouble(line)
  if (line.section !== MOVED) return false
  if (isStopped(line)) return usualIn(line) >= SILENT
  return (isTrouble(line) && countIn(line) >= MANY) || isMass(line)
}

const isStopped = ({ text }: SeenLine): boolean => /STOPPED/.test(text)
const usualIn = ({ text }: SeenLine): number => Number(/, usual ([\d.]+)/.exec(text)?.[1] ?? 0)
const isMass = (line: SeenLine): boolean =>
  countIn(line) >= MASSES && / new: /.test(line.text) && !FINE.test(line.text)
const isSlower = ({ section, text }: SeenLine): boolean => section === REQUESTS && / SLOWER: /.test(text)
const breaksFirst = ({ section, text }: SeenLine): boolean =>
  section === REQUESTS && /breaks first/.test(text)

/** What says that all is well, whatever words of trouble stand beside it. */
const FINE = /\b20[04] OK\b|"(?:status|result)": ?"(?:success|ok)"/i
/** What a platform does in any case. */
const ROUTINE = /: Normal \w/
const REPORT = /\b(?:threshold|exceed(?:s|ed)?|critically|alarm)\b|\bat \d+ ?%/i
/** What an error says it ran out of, and numbers of that: where one moved before, it is nearer to the cause. */
const RAN_OUT: readonly (readonly [said: RegExp, number: RegExp])[] = [
  [/\boom[ _-]?kill|\bout of memory\b/i, /mem|heap|rss/i],
  [/\bout of (?:storage|disk|space)|\bno space left/i, /storage|disk|space/i],
  [/\btoo many (?:connections|open files)/i, /connection|descriptor|files/i],
  [/\bcertificate (?:has )?expired/i, /certificate|expir/i],
]
const TOOK = /\b(?:in|took|after) (\d+(?:\.\d+)?) ?s(?:ec(?:onds?)?)?\b/gi
/** Names of resources; what waits for one is no resource. */
const RESOURCE =
  /^(?!.*(?:queue|latency|wait|lag)).*(?:cpu|mem|heap|disk|storage|connections|pool|iops|swap|descriptors)/i

/** The message has the strongest first, but for changes. */
function rankOf(line: SeenLine, lines: readonly SeenLine[]): number {
  if (line.section !== NUMBERS) return 0
  return 0.5 / (1 + lines.filter(({ section }) => section === NUMBERS).indexOf(line))
}

function scoreOf(line: SeenLine, around: Around): number {
  const { section, since, text } = line
  const exhausted = saysWhatRanOut(line, around) ? EXHAUSTED : 0
  if (section === CHANGES) return Math.max(exhausted, scoreOfChange(line, around))
  if (section === REQUESTS)
    return breaksFirst(line) ? BROKEN.first : isSlower(line) ? BROKEN.slower : BROKEN.other
  if (section === NUMBERS) {
    if (around.isSlow && RESOURCE.test(nameIn(text)) && strength(text) >= Math.log10(USED_UP.ratio) / 2)
      return USED_UP.score + strength(text)
    const after = since === null ? Number.POSITIVE_INFINITY : since - around.began
    const isResource = RESOURCE.test(nameIn(text)) ? OF_RESOURCE : 0
    const isReported = partsOf(nameIn(text)).some((part) => around.reported.has(part)) ? SPOKEN_OF : 0
    return (
      (line.entity === around.entity ? 2 : 2.2) + 1 / (1 + after) + strength(text) + isResource + isReported
    )
  }
  if (isStopped(line)) return isSymptom(line) ? 4 : isTrouble(line) ? 2 : MAY_BE_CHANCE
  if (section !== MOVED || !(isTrouble(line) || isMass(line))) return exhausted
  return Math.max(exhausted, 1.5 + Math.min(1, Math.log10(countIn(line)) / 2))
}

function saysWhatRanOut({ section, text, at, entity }: SeenLine, { numbers }: Around): boolean {
  if (section === 'As usual' || / STOPPED/.test(text)) return false
  const ranOut = RAN_OUT.find(([said]) => said.test(text))
  const isNumberOfIt = (one: SeenLine) =>
    one.entity === entity && ranOut![1].test(nameIn(one.text)) && (one.since ?? -DAY) <= (at ?? 0)
  return ranOut !== undefined && !numbers.some(isNumberOfIt)
}

/** Nearest before a symptom that has to do with it, as the entity, by its name, or by words. */
function scoreOfChange(line: SeenLine, around: Around): number {
  const { entity, symptoms, began, said, words, repeated } = around
  const { at, text } = line
  if (ROUTINE.test(text)) return 0
  if (repeated.has(kindOf(line))) return isTrouble(line) ? REPEATED : 0
  const trouble = isTrouble(line) ? 1 : 0
  const isNear = line.entity === entity || said.includes(line.entity)
  const shared = [...wordsOf(text)].filter((word) => words.has(word) && word !== entity).length
  let nearness = 0
  for (const { from, line: symptom } of at === null ? [] : symptoms) {
    const gap = from - at!
    if (symptom === line || gap < -CLOCKS || gap > BEFORE) continue
    const isRelated =
      isNear || shared > 0 || symptom.entity === line.entity || symptom.text.includes(line.entity)
    const isLater = at! > began + CLOCKS
    if (isLater && (gap < 0 || gap > SOON || !isRelated)) continue
    nearness = Math.max(
      nearness,
      (6 / (1 + Math.log2(1 + Math.max(0, gap) / 5))) * (isRelated ? 1 : UNRELATED) * (isLater ? LATER : 1),
    )
  }
  // Before which nothing was wrong, and after which it need not be: only what failed itself.
  if (nearness === 0) return trouble && (at === null || at <= began) ? 2.5 + (isNear ? 1 : 0) : 0
  const score = nearness + (isNear ? 1 : 0) + Math.min(2, shared) + trouble
  return REPORT.test(text) ? REPORTED * score : score
}

function repeatedIn(lines: readonly SeenLine[]): Set<string> {
  const kinds = lines.filter((line) => line.section === CHANGES && isTrouble(line)).map(kindOf)
  return new Set(kinds.filter((kind, i) => kinds.indexOf(kind) < i))
}

/** Of a change: source and type, and whose. */
const kindOf = ({ text, entity }: SeenLine): string =>
  `${/^(?:\d\d-\d\d )?[\d:]+ (.*?): /.exec(text)?.[1]} ${entity}`

const isTrouble = ({ text, section }: SeenLine): boolean =>
  section !== 'As usual' &&
  !/ alerts page /.test(text) &&
  !FINE.test(text) &&
  (TROUBLE.test(text) ||
    /\bdown\b/i.test(text) ||
    [...text.matchAll(TOOK)].some(([, took]) => Number(took) >= LONG))

/** What a number is called. */
const nameIn = (text: string): string => text.slice(0, text.indexOf(': ')).split(' ').at(-1) ?? ''

/** Of a number: 0 to 1 by how many times it changed. */
function strength(text: string): number {
  const found = /: (?:at first [^,]+, )?(-?[\d.]+) \([^)]*\) → (-?[\d.]+)/.exec(text)
  if (!found) return 0
  const [usual, now] = [Math.abs(Number(found[1])) + 1e-9, Math.abs(Number(found[2])) + 1e-9]
  return Math.min(1, Math.abs(Math.log10(now / usual)) / 2)
}

const wordsOf = (text: string): Set<string> =>
  new Set((text.toLowerCase().match(/[a-z][a-z0-9_.-]{3,}/g) ?? []).map((word) => word.replace(/[.,]$/, '')))

/** Words of names as programs have them, in lower case: of FreeStorageSpace and of free_storage_space the same. */
const partsOf = (text: string): string[] =>
  (text.match(/[A-Z]?[a-z]{2,}|[A-Z]{3,}(?![a-z])/g) ?? [])
    .map((part) => part.toLowerCase())
    .filter((part) => part.length > 2)

/* The first message of a run taken apart again, by scripted agents: lines with what they say of time and place. */

interface SeenLine {
  section: string
  /** Ids that the line begins with. */
  ids: string[]
  /** When it began, minutes from the firing, at most about 0; null: it does not say, or more than half a day ago. */
  at: number | null
  /** `since` of a number or a request that moved, likewise. */
  since: number | null
  entity: string
  text: string
}

interface SeenMessage {
  entity: string
  /** Minutes from the firing. */
  onset: number | null
  lines: SeenLine[]
}

const LINE = /^(evt_\d+)(?:(?:…|, )(evt_\d+))? (.*)$/
const DAY = 1_440
const DAY_MS = 86_400_000
/** Minutes that an event may be ahead of the clock. */
const AHEAD = 5
const TIME = /\b(\d\d):(\d\d)(?::(\d\d))?\b/

export function readMessage(message: string): SeenMessage {
  const entity = /for \w+=(\S+) at /.exec(message)?.[1] ?? ''
  const [, year = '', day = '', time] = / at (\d{4})-(\d\d-\d\d)T(\S+?)Z/.exec(message) ?? []
  const fired = minutesOf(time) ?? 0
  const minutesIn = (text: string | undefined): number | null => {
    const minutes = minutesOf(text)
    if (text === undefined || minutes === null) return null
    const dated = /\d\d-\d\d(?= )/.exec(text)?.[0]
    if (dated) return minutes - fired - daysBetween(`${year}-${dated}`, `${year}-${day}`) * DAY
    // Of the day before, where it would be after the firing.
    return minutes - fired - (minutes > fired + AHEAD ? DAY : 0)
  }
  const onset = minutesIn(/trouble since ((?:\d\d-\d\d )?\S+) UTC/.exec(message)?.[1])
  let section = ''
  const lines: SeenLine[] = []
  for (const line of message.split('\n')) {
    if (line.startsWith('## ')) section = line.slice(3).split(':')[0]!
    const found = LINE.exec(line)
    if (!found) continue
    const [, first, second, text = ''] = found
    // A date before the time: it was more than half a day ago.
    const isOld = /^\d\d-\d\d /.test(text)
    lines.push({
      section,
      ids: [first!, ...(second ? [second] : [])],
      at: isOld ? null : minutesIn(TIME.exec(text.slice(0, 40))?.[0]),
      since: minutesIn(/ since ((?:\d\d-\d\d )?\d\d:\d\d(?::\d\d)?)/.exec(text)?.[1]),
      entity: /\bservice=([^\s,}]+)/.exec(text)?.[1] ?? entity,
      text,
    })
  }
  return { entity, onset, lines }
}

/** Whole days; of a day that would be later, from the year before. */
function daysBetween(first: string, second: string): number {
  const days = (Date.parse(second) - Date.parse(first)) / DAY_MS
  return days < 0 ? days + 365 : days
}

/** Minutes of the day. */
function minutesOf(text: string | undefined): number | null {
  const found = text === undefined ? null : TIME.exec(text)
  return found ? Number(found[1]) * 60 + Number(found[2]) + Number(found[3] ?? 0) / 60 : null
}

/* Whether a scenario is fit to tell a good agent from a bad one, as far as that is seen without running any. */

/** A fact that so much of all other events matches is told by noise. */
const COMMON = 0.01

/** What is wrong with a scenario by itself, before any agent looks at it. @param count of background events around it */
export function statedFaults(incident: Incident, noise: NoisePool, count: number): string[] {
  const { truth, events } = incident
  const faults: string[] = []
  const loaded = loadedWith(incident, noise, count)
  const own = new Set(counted(events).map(keyOf))
  const noiseIds = loaded.events.filter((event) => !own.has(keyOf(event))).map((event) => event.id)
  for (const { id, events } of truthOf(loaded, truth).facts) {
    if (events.size === 0) faults.push(`no event is of the fact ${id}`)
    if (noiseIds.filter((event) => events.has(event)).length > COMMON * noiseIds.length)
      faults.push(`noise alone is of the fact ${id}`)
  }
  const roots = truth.facts.filter(({ role, weak }) => role === 'root' && !weak)
  for (const { id, line } of roots) {
    // Resource names must not give the answer away: an agent is told the entity, and a person reads the id.
    const says = (name: string) => line?.every((pattern) => patternOf(pattern).test(name))
    if (line?.length && [truth.id.replaceAll(/[-_]/g, ' '), truth.id, truth.entity].some(says))
      faults.push(`its id or its entity says the answer: the fact ${id}`)
  }
  if ((truth.outcome ?? 'finding') === 'finding' && roots.length === 0)
    faults.push('a finding is expected, and no fact has the role root')
  return faults
}

/** Tokens of a first message. */
const BUDGET = 6_000

/** Scripted agents that guess and are right, by the first message alone: no engine is opened for it. */
export function guessedFaults(incident: Incident): string[] {
  const loaded = loadedWith(incident, {}, 0)
  const causes = truthOf(loaded, incident.truth).causes
  const message = `for service=${loaded.entity} at its firing\n${ways.brief(loaded, BUDGET)}`
  return TRIVIAL.flatMap((script) => {
    const named = namedBy(script, message)
    const isRight = causes.length > 0 && causes.every(({ events }) => named.some((id) => events.has(id)))
    return isRight ? [`${script} finds the cause, which knows nothing`] : []
  })
}

const keyOf = ({ source, t, text }: Omit<Loaded['events'][number], 'id'>): string =>
  `${source}\0${t}\0${text}`
