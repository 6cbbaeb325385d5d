/** What somebody or something did: deploys, flags, failovers, rare kinds of events; never folded. */
import { type ContextRow, type Kind, type Timed, valueAt } from './types.ts'
import { CHANGE_KIND, LEVEL, NO_CHANGE_KIND, ROUTINE, TROUBLE, wordsOf } from './words.ts'

/** A kind is rare with at most so many events in the window, or with this share of all. */
const RARE = 12
const RARE_SHARE = 0.0005
/** Changes of others are looked at from so long before the onset, seconds. */
const BEFORE_ONSET = 1_800
const AFTER_ONSET = 120

export interface RankedChange {
  line: Timed
  score: number
}

const saysTrouble = ({ row: { type, text } }: Timed): boolean => TROUBLE.test(`${type} ${text}`)
export const isRoutine = (line: Timed): boolean =>
  ROUTINE.test(`${line.row.type} ${line.row.text}`) && !saysTrouble(line)

/** Which events are changes: by how rare their kind is in its window, and by words that name one. */
export class Kinds {
  private readonly sources = new Map<string, { all: number; levels: number }>()
  private readonly rareMax: number
  private readonly fired: ReadonlySet<string>

  /** @param kinds of all lines. @param fired events that tripped the trigger: what is asked about is no change. */
  constructor(kinds: readonly Kind[], fired: ReadonlySet<string>) {
    this.fired = fired
    let lines = 0
    for (const kind of kinds) {
      lines += kind.count
      const source = valueAt(this.sources, kind.source, () => ({ all: 0, levels: 0 }))
      source.all += kind.count
      if (LEVEL.test(kind.type)) source.levels += kind.count
    }
    this.rareMax = Math.max(RARE, lines * RARE_SHARE)
  }

  isRare({ kind }: Timed): boolean {
    return kind.count <= this.rareMax && !LEVEL.test(kind.type)
  }

  isChange(line: Timed): boolean {
    const { row, kind } = line
    kind.isChange ??= this.isRare(line) || namesChange(row)
    return kind.isChange && !row.isSample && !this.fired.has(row.id)
  }

  /** Rare kinds of a source of log lines are seldom changes. */
  isLog(source: string): boolean {
    const { all, levels } = this.sources.get(source)!
    return levels / all > 0.5
  }
}

function namesChange({ source, type }: Timed['row']): boolean {
  return CHANGE_KIND.test(`${type} ${source}`) && !LEVEL.test(type) && !NO_CHANGE_KIND.test(type)
}

interface Around {
  entity: string
  near: ReadonlySet<string>
  /** Seconds before the end. */
  onset: number
  /** Words of what is wrong. */
  words: ReadonlySet<string>
  /** Length of what is told of, seconds. */
  focus: number
}

/** @returns the strongest first */
export function rankChanges(lines: readonly Timed[], kinds: Kinds, around: Around): RankedChange[] {
  const { entity, near, onset, focus } = around
  return lines
    .filter(
      (line) =>
        kinds.isChange(line) &&
        (line.row.entity === entity ||
          near.has(line.row.entity) ||
          (line.t >= onset - BEFORE_ONSET && line.t <= onset + AFTER_ONSET) ||
          line.t >= -focus),
    )
    .map((line) => ({ line, score: scoreOf(line, kinds, around) }))
    .sort((a, b) => b.score - a.score)
}

function scoreOf(line: Timed, kinds: Kinds, { entity, near, onset, words, focus }: Around): number {
  const { row, t } = line
  const isTrouble = saysTrouble(line)
  const beforeOnset = t <= onset + AFTER_ONSET ? Math.max(30, onset - t) : 600
  const lately = isTrouble && t >= -focus ? Math.max(60, -t / 2) : Number.POSITIVE_INFINITY
  const gap = Math.min(beforeOnset, lately)
  const shared = wordsOf(row.text).filter((word) => words.has(word) && word !== entity).length
  return (
    6 / (1 + Math.log2(1 + gap / 60)) +
    (row.entity === entity ? 2 : near.has(row.entity) ? 1.5 : 0) +
    1.5 * Math.min(2, shared) +
    (kinds.isRare(line) ? 1 : 0) +
    (isTrouble ? 2 : 0) -
    (kinds.isLog(row.source) ? 4 : 0) -
    (isRoutine(line) ? 3 : 0)
  )
}

/* Alerts that fired and resolved many times before: that one fires again says little. */

const FIRING = new Set(['firing', 'fired', 'triggered', 'alerting', 'problem', 'opened'])
const RESOLVED = new Set(['resolved', 'recovered', 'cleared', 'ok', 'recovery', 'closed'])
/** Labels that name an alert. */
const NAMES = ['alertname', 'alert', 'rule', 'monitor']
/** So many times are many. */
const TIMES = 3

export interface Flapping {
  /** The first and the last time it fired. */
  first: Timed
  last: Timed
  /** How often it fired and was resolved. */
  times: number
  /** From firing to resolved, seconds, the median. */
  lasted: number
}

/** @param lines in order of time. @param entity whose alerts are looked at. @returns those that fired most often first */
export function flappingOf(lines: readonly Timed[], entity: string): Flapping[] {
  const alerts = new Map<string, { open: Timed | null; fired: Timed[]; lasted: number[] }>()
  // Rows share their labels, mostly those of a kind, so that few are looked at.
  const labelled = new Map<ContextRow['labels'], { kind: Kind; state: string | undefined }>()
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    const { row } = line
    if (row.entity !== entity || row.isSample) continue
    const { labels } = row
    let known = labelled.get(labels)
    if (known?.kind !== line.kind) {
      const state = stateIn(labels.status) ?? stateIn(labels.state) ?? stateIn(line.kind.type)
      known = { kind: line.kind, state }
      labelled.set(labels, known)
    }
    const state = known.state ?? stateSaid(row)
    if (state === undefined) continue
    const { type, source } = row
    const name = NAMES.map((label) => labels[label]).find((value) => value !== undefined)
    const key = `${source}\0${name ?? (type.toLowerCase() === state ? '' : type)}`
    const alert = valueAt(alerts, key, () => ({ open: null, fired: [], lasted: [] }))
    if (FIRING.has(state)) alert.open = line
    else if (alert.open) {
      alert.fired.push(alert.open)
      alert.lasted.push(line.t - alert.open.t)
      alert.open = null
    }
  }
  return [...alerts.values()]
    .filter(({ fired }) => fired.length >= TIMES)
    .map(({ fired, lasted }) => ({
      ...{ first: fired[0]!, last: fired.at(-1)!, times: fired.length },
      lasted: lasted.sort((a, b) => a - b)[Math.floor(lasted.length / 2)]!,
    }))
    .sort((a, b) => b.times - a.times)
}

/* As connectors of alerts say it: in a label, as the type, or as the first word of the text. */

function stateIn(word: string | number | undefined): string | undefined {
  const state = String(word ?? '').toLowerCase()
  return FIRING.has(state) || RESOLVED.has(state) ? state : undefined
}

const [F, R] = ['F', 'R'].map((letter) => letter.charCodeAt(0))

function stateSaid(row: ContextRow): string | undefined {
  const first = row.page?.[row.from ?? 0]
  if (row.page && first !== F && first !== R) return undefined
  const { text } = row
  return text.startsWith('FIRING:') || text.startsWith('RESOLVED:')
    ? text.slice(0, text.indexOf(':')).toLowerCase()
    : undefined
}
