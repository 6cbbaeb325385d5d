/** What somebody or something did: deploys, flags, failovers, rare kinds of events; never folded. */
import { valueAt } from './measures.ts'
import type { Kind, Timed } from './types.ts'
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

export const saysTrouble = ({ row: { type, text } }: Timed): boolean => TROUBLE.test(`${type} ${text}`)
export const isRoutine = (line: Timed): boolean =>
  ROUTINE.test(`${line.row.type} ${line.row.text}`) && !saysTrouble(line)

/** Which events are changes: by how rare their kind is in its window, and by words that name one. */
export class Kinds {
  private readonly sources = new Map<string, { all: number; levels: number }>()
  private readonly verdicts = new Map<Kind, boolean>()
  private readonly rareMax: number
  private readonly fired: ReadonlySet<string>

  /** @param fired events that tripped the trigger: what is asked about is no change. */
  constructor(lines: readonly Timed[], fired: ReadonlySet<string>) {
    this.fired = fired
    for (const kind of new Set(lines.map((line) => line.kind))) {
      const source = valueAt(this.sources, kind.source, () => ({ all: 0, levels: 0 }))
      source.all += kind.count
      if (LEVEL.test(kind.type)) source.levels += kind.count
    }
    this.rareMax = Math.max(RARE, lines.length * RARE_SHARE)
  }

  isRare({ kind }: Timed): boolean {
    return kind.count <= this.rareMax && !LEVEL.test(kind.type)
  }

  isChange(line: Timed): boolean {
    const { row, kind } = line
    if (row.isSample) return false
    let known = this.verdicts.get(kind)
    if (known === undefined) {
      known = this.isRare(line) || namesChange(row)
      this.verdicts.set(kind, known)
    }
    return known && !this.fired.has(row.id)
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

export interface Around {
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
