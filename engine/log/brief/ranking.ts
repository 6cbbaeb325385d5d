/** One list of what moved over all entities, when it began, and who is near. */
import type { Group } from './groups.ts'
import { type Paths, REQUESTS_MIN } from './paths.ts'
import type { Series } from './series.ts'
import { type BrokenPath, placeIn, traceIdOf } from './traces.ts'
import { listAt, type Timed } from './types.ts'

import { wordsOf } from './words.ts'

const OWN = 1.5
const NEAR = 1
const AT_ONSET = 0.7
/** Seconds before and after the onset in which what began belongs to it. */
const ONSET_BEFORE = 120
const ONSET_AFTER = 420
/** One wording in so many entities is told once. */
const ENTITIES = 3
/** What requests say of the first entities lifts their other lines. */
const LIFT = { first: 3, from: 3, full: 6, most: 1.5, step: 0.3 }
/** A step in code that stopped, of a service whose requests go on as before, is seldom a finding. */
const STOPPED_BY_MIX = 1.2
const CLUSTER = { candidates: 12, score: 2.5, seconds: 150 }
/** What a line weighs in dating the trouble that says nothing of any. */
const BY_CHANCE = 0.3
const STRONG = 8

export interface Item {
  entity: string
  score: number
  began: number | null
  group: Group | null
  series: Series | null
  /** Other entities with the same wording. */
  alsoIn: number
}

const byScore = (a: Item, b: Item): number => b.score - a.score

/** @returns the strongest first */
export function rankItems(
  groups: readonly Group[],
  series: readonly Series[],
  entity: string,
  paths: Paths,
): Item[] {
  const own = (of: string) => (of === entity ? OWN : 0)
  const items: Item[] = [
    ...groups
      .filter(({ moved }) => moved)
      .map((group) => ({
        ...{ entity: group.entity, score: group.score + own(group.entity), began: group.began },
        ...{ group, series: null, alsoIn: 0 },
      })),
    ...series.map((one) => ({
      ...{ entity: one.entity, score: one.score + own(one.entity), began: one.began },
      ...{ group: null, series: one, alsoIn: 0 },
    })),
  ].sort(byScore)
  foldWordings(items, entity)
  const lifts = liftsOf(paths)
  const gone = goneSteps(paths)
  for (const item of items) {
    item.score += lifts.get(item.entity) ?? 0
    if (item.group?.stopped && paths.requests >= REQUESTS_MIN && isOfRequests(item.group, gone))
      item.score -= STOPPED_BY_MIX
  }
  return items.sort(byScore)
}

/** The same wording in three entities and more is one line; the others are dropped. */
function foldWordings(items: readonly Item[], entity: string): void {
  const byTemplate = new Map<number, Item[]>()
  for (const item of items)
    if (item.group && item.entity !== entity) listAt(byTemplate, item.group.template.n).push(item)
  for (const [first, ...others] of byTemplate.values()) {
    if (others.length + 1 < ENTITIES) continue
    first!.alsoIn = others.length
    first!.score += 0.5 * Math.log1p(others.length + 1)
    for (const other of others) other.score = -1
  }
}

function liftsOf({ entities }: Paths): Map<string, number> {
  const lifts = [...entities]
    .slice(0, LIFT.first)
    .map(([entity, score], i): [string, number] => [
      entity,
      score >= LIFT.from ? LIFT.most * (1 - i * LIFT.step) * Math.min(1, score / LIFT.full) : 0,
    ])
  return new Map(lifts)
}

const goneSteps = ({ findings }: Paths): Set<string> =>
  new Set(findings.flatMap((finding) => (finding.kind === 'path' && finding.gone ? [finding.gone.key] : [])))

function isOfRequests({ entity, last }: Group, gone: ReadonlySet<string>): boolean {
  if (traceIdOf(last) === null) return false
  const place = placeIn(last.row.text)
  return place !== null && !gone.has(`${entity}\0${place}`)
}

/** The beginning of the heaviest cluster among the strongest; requests that fail anew are dated best. */
export function onsetOf(items: readonly Item[], { findings }: Paths): number {
  const lead = findings.find(
    (finding): finding is BrokenPath =>
      finding.kind === 'path' &&
      finding.first >= 0.5 * finding.hits &&
      finding.score >= 5 &&
      finding.fresh?.before === 0,
  )
  if (lead) return lead.since
  const candidates = items
    .slice(0, CLUSTER.candidates)
    .filter(({ began, score }) => began !== null && score > CLUSTER.score)
  let onset = -60
  let heaviest = 0
  for (const { began } of candidates) {
    const from = began!
    const weight = candidates
      .filter((one) => one.began! >= from && one.began! <= from + CLUSTER.seconds)
      .reduce((sum, item) => sum + (saysTrouble(item) ? 1 : BY_CHANCE) * item.score, 0)
    if (weight <= heaviest + 0.01) continue
    heaviest = weight
    onset = from
  }
  return onset
}

/** Of lines that say nothing of trouble some come more often at any time. */
const saysTrouble = ({ group, series }: Item): boolean =>
  series !== null || group!.stopped || group!.saysTrouble

export interface Surroundings {
  /** Entities that the trouble or the alert names, or that share a prefix with the entity. */
  near: Set<string>
  /** Words of what is wrong. */
  words: Set<string>
}

/** @param alerts lines that tripped the trigger. */
export function surroundingsOf(
  items: readonly Item[],
  alerts: readonly Timed[],
  entities: Iterable<string>,
  entity: string,
): Surroundings {
  const strong = items.filter((item) => item.group && item.entity === entity).slice(0, STRONG)
  const texts = strong.map(({ group }) => group!.last.row.text)
  const alert = alerts.map(({ row }) => row.text).join(' ')
  const said = `${texts.join(' ')} ${alert}`.toLowerCase()
  const near = new Set<string>()
  for (const other of entities)
    if (other !== '' && other !== entity && (isKin(other, entity) || names(said, other))) near.add(other)
  return { near, words: new Set([...texts.slice(0, 4).flatMap(wordsOf), ...wordsOf(alert)]) }
}

const isKin = (a: string, b: string): boolean => b !== '' && (a.startsWith(`${b}-`) || b.startsWith(`${a}-`))

/** Whether a text has a name as a word of its own. */
function names(text: string, name: string): boolean {
  const wanted = name.toLowerCase()
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const around = `${text[at - 1] ?? ' '}${text[at + wanted.length] ?? ' '}`
    if (!/[a-z0-9-]/.test(around)) return true
  }
  return false
}

/** Lifts what is near and what began at the onset; sorts again. */
export function liftAround(items: Item[], near: ReadonlySet<string>, onset: number): void {
  for (const item of items) {
    if (near.has(item.entity)) item.score += NEAR
    const { began } = item
    if (began !== null && began >= onset - ONSET_BEFORE && began <= onset + ONSET_AFTER)
      item.score += AT_ONSET
  }
  items.sort(byScore)
}
