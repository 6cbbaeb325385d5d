/**
 * The timeline of a firing as it stands on the page of its incident: pinned at the moment it fired. What came later
 * is below the line and never pushes up what tripped it; what tripped it and what was changed before is never folded.
 */
import type { Event as ApiEvent, FiringDetail, SourceGap } from '../../schemas/types.ts'

/** Changes so long before are always shown, milliseconds. */
const CHANGES_MS = 30 * 60_000
/** Events read on each side of the moment. */
export const SIDE = {
  evidence: { before: 200, after: 20 },
  around: { before: 50, after: 50 },
  all: { before: 500, after: 500 },
} as const
export type Side = keyof typeof SIDE
/** So many events after the moment stand unfolded. */
const FOLLOWED = 2

/** As the engine calls changes by their type. */
const CHANGE =
  /deploy|release|migrat|flag|config|terraform|maintenance|failover|rollback|rotat|cert|toggle|upgrade|drain|cordon|scal(ed|ing)|merged|gitops|changed|(^|[^a-z])push$/i

export const isChange = ({ event_type }: Pick<ApiEvent, 'event_type'>): boolean => CHANGE.test(event_type)

/** When it fired, ISO 8601; of one that did not yet, when it began. */
export const momentOf = ({ fired_at, opened_at }: Pick<FiringDetail, 'fired_at' | 'opened_at'>): string =>
  fired_at ?? opened_at

export type EvidenceItem =
  | { kind: 'event'; event: ApiEvent; role: 'tripped' | 'change' | 'other' }
  | { kind: 'fold'; events: readonly ApiEvent[] }
  | { kind: 'gap'; gap: SourceGap }
  | { kind: 'fired' }

/**
 * @param stored events around the moment, from several reads, in any order, some perhaps twice
 * @param isFolded whether neighbours that say nothing of it become one line
 * @returns oldest first, with the moment in its place
 */
export function evidenceItems(
  stored: readonly ApiEvent[],
  {
    moment,
    tripped,
    isFolded,
    gaps = [],
  }: {
    moment: string
    tripped: ReadonlySet<string>
    isFolded: boolean
    /** When sources took nothing in: such a line is never folded. */
    gaps?: readonly SourceGap[]
  },
): EvidenceItem[] {
  const events = [...new Map(stored.map((event) => [event.id, event])).values()].sort(inOrder)
  const at = Date.parse(moment)
  const isBefore = (event: ApiEvent): boolean => tripped.has(event.id) || Date.parse(event.event_time) <= at
  const isLately = ({ event_time }: ApiEvent): boolean => Date.parse(event_time) >= at - CHANGES_MS
  const roleOf = (event: ApiEvent): 'tripped' | 'change' | 'other' =>
    tripped.has(event.id) ? 'tripped' : isChange(event) && isLately(event) ? 'change' : 'other'
  const rows = (of: readonly ApiEvent[]): EvidenceItem[] =>
    of.map((event) => ({ kind: 'event', event, role: roleOf(event) }))
  const before = rows(events.filter(isBefore))
  const after = rows(events.filter((event) => !isBefore(event)))
  const [early, late] = [
    gaps.filter(({ from }) => Date.parse(from) <= at),
    gaps.filter(({ from }) => Date.parse(from) > at),
  ]
  if (!isFolded) return [...withGaps(before, early), { kind: 'fired' }, ...withGaps(after, late)]
  return [...folded(withGaps(before, early)), { kind: 'fired' }, ...withGaps(after.slice(0, FOLLOWED), late)]
}

/** With gaps where they began. */
const withGaps = (rows: readonly EvidenceItem[], gaps: readonly SourceGap[]): EvidenceItem[] =>
  [...rows, ...gaps.map((gap) => ({ kind: 'gap', gap }) as const)].sort((a, b) => timeOf(a) - timeOf(b))
const timeOf = (item: EvidenceItem): number =>
  item.kind === 'event'
    ? Date.parse(item.event.event_time)
    : item.kind === 'gap'
      ? Date.parse(item.gap.from)
      : 0

/** Two neighbours or more that neither tripped it nor changed anything are one line. */
function folded(items: readonly EvidenceItem[]): EvidenceItem[] {
  const out: EvidenceItem[] = []
  let run: ApiEvent[] = []
  const end = (): void => {
    if (run.length === 1) out.push({ kind: 'event', event: run[0]!, role: 'other' })
    else if (run.length > 1) out.push({ kind: 'fold', events: run })
    run = []
  }
  for (const item of items) {
    if (item.kind === 'event' && item.role === 'other') run.push(item.event)
    else {
      end()
      out.push(item)
    }
  }
  end()
  return out
}

const idNumber = ({ id }: ApiEvent): number => Number(id.replace('evt_', ''))
const inOrder = (a: ApiEvent, b: ApiEvent): number =>
  Date.parse(a.event_time) - Date.parse(b.event_time) || idNumber(a) - idNumber(b)

/** A value over time, and where it stood against its threshold. */
export interface ValueLine {
  points: readonly { at: number; value: number }[]
  threshold: number | null
}

/**
 * How many events there were within the window at each instant.
 * @param counts of buckets that follow each other, oldest first; those of the first window only fill it
 */
export function valueLine(
  counts: readonly { at: number; count: number }[],
  { windowMs, bucketMs, threshold }: { windowMs: number; bucketMs: number; threshold: number | null },
): ValueLine {
  const held = Math.max(1, Math.round(windowMs / bucketMs))
  let sum = 0
  const points = counts.map(({ at, count }, i) => {
    sum += count - (i >= held ? counts[i - held]!.count : 0)
    return { at: at + bucketMs, value: sum }
  })
  return { points: points.slice(held), threshold }
}

/** The number of a predicate such as "> 4"; null: it has none. */
export function thresholdOf(predicate: string | null): number | null {
  const [number] = /-?\d+(\.\d+)?/.exec(predicate ?? '') ?? []
  return number === undefined ? null : Number(number)
}
