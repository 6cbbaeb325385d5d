/**
 * The scripted agent that goes by rote, as a person does who knows nothing of the system: what began, what changed
 * shortly before that and has to do with it, else what moved first. It knows no scenario: what it reads is the
 * message alone.
 */
import { TROUBLE } from '../context/words.ts'
import type { SeenLine, SeenMessage } from './first-message.ts'

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
/** What has to do with neither the entity nor what is wrong weighs so much of what has. */
const UNRELATED = 0.5
/** A change after the first symptom is seldom its cause. */
const LATER = 0.6
/** A second cause is named from so much of the score of the first. */
const ALSO = 0.75
const NAMED_MAX = 2
const SCORE_MIN = 1.5
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
  /** What moved, in lower case. */
  said: string
  words: ReadonlySet<string>
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
    ...{ entity, symptoms },
    began: Math.min(...symptoms.map(({ from }) => from), symptoms.length ? (onset ?? 0) : 0),
    said,
    repeated: repeatedIn(lines),
    words: wordsOf(said),
  }
  const scored = lines
    .map((line): [SeenLine, number] => [line, scoreOf(line, around) + rankOf(line, lines)])
    .filter(([, score]) => score >= SCORE_MIN)
    .sort((a, b) => b[1] - a[1])
  const best = scored[0]?.[1] ?? 0
  return scored
    .filter(
      ([{ section }, score], i) => i === 0 || ([CHANGES, REQUESTS].includes(section) && score >= ALSO * best),
    )
    .slice(0, NAMED_MAX)
    .map(([line]) => line)
}

/** How many events a line says it stands for. */
export const countIn = ({ text }: SeenLine): number => Number(/×(\d+)/.exec(text)?.[1] ?? 1)

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
const isMass = (line: SeenLine): boolean => countIn(line) >= MASSES && / new: /.test(line.text)

/** The message has the strongest first, but for changes. */
function rankOf(line: SeenLine, lines: readonly SeenLine[]): number {
  if (line.section !== NUMBERS) return 0
  return 0.5 / (1 + lines.filter(({ section }) => section === NUMBERS).indexOf(line))
}

function scoreOf(line: SeenLine, around: Around): number {
  const { section, since, text } = line
  if (section === CHANGES) return scoreOfChange(line, around)
  if (section === REQUESTS) return /breaks first/.test(text) ? 8 : 6
  if (section === NUMBERS) {
    const after = since === null ? Number.POSITIVE_INFINITY : since - around.began
    return (line.entity === around.entity ? 2 : 2.2) + 1 / (1 + after) + strength(text)
  }
  if (isStopped(line)) return isSymptom(line) ? 4 : 2
  if (section !== MOVED || !(isTrouble(line) || isMass(line))) return 0
  return 1.5 + Math.min(1, Math.log10(countIn(line)) / 2)
}

/** Nearest before a symptom that has to do with it, as the entity, by its name, or by words. */
function scoreOfChange(line: SeenLine, around: Around): number {
  const { entity, symptoms, began, said, words, repeated } = around
  const { at, text } = line
  if (repeated.has(kindOf(line))) return 0
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
  return nearness + (isNear ? 1 : 0) + Math.min(2, shared) + trouble
}

function repeatedIn(lines: readonly SeenLine[]): Set<string> {
  const kinds = lines.filter((line) => line.section === CHANGES && isTrouble(line)).map(kindOf)
  return new Set(kinds.filter((kind, i) => kinds.indexOf(kind) < i))
}

/** Of a change: source and type, and whose. */
const kindOf = ({ text, entity }: SeenLine): string =>
  `${/^(?:\d\d-\d\d )?[\d:]+ (.*?): /.exec(text)?.[1]} ${entity}`

const isTrouble = ({ text, section }: SeenLine): boolean =>
  section !== 'As usual' && !/ alerts page /.test(text) && (TROUBLE.test(text) || /\bdown\b/i.test(text))

/** Of a number: 0 to 1 by how many times it changed. */
function strength(text: string): number {
  const found = /: (-?[\d.]+) \([^)]*\) → (-?[\d.]+)/.exec(text)
  if (!found) return 0
  const [usual, now] = [Math.abs(Number(found[1])) + 1e-9, Math.abs(Number(found[2])) + 1e-9]
  return Math.min(1, Math.abs(Math.log10(now / usual)) / 2)
}

const wordsOf = (text: string): Set<string> =>
  new Set((text.toLowerCase().match(/[a-z][a-z0-9_.-]{3,}/g) ?? []).map((word) => word.replace(/[.,]$/, '')))
