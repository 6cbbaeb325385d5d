/** All that is found in the rows, before anything is chosen or worded. */
import { Kinds, type RankedChange, rankChanges } from './changes.ts'
import { type Flapping, flappingOf } from './flapping.ts'
import { type Group, groupsOf } from './groups.ts'
import { mapAt } from './measures.ts'
import { type Paths, pathsOf } from './paths/paths.ts'
import { type Item, liftAround, onsetOf, rankItems, surroundingsOf } from './ranking.ts'
import { seriesOf } from './series.ts'
import { setStreams } from './streams.ts'
import { Templates } from './templates.ts'
import type { BriefRequest, ContextRow, Kind, Timed } from './types.ts'
import { LATELY } from './windows.ts'

/** Alerts are named by so many of the events that tripped the trigger. */
const ALERTS = 20

export interface LookedAt {
  /** In order of time. */
  lines: Timed[]
  groups: Group[]
  /** What moved, the strongest first. */
  items: Item[]
  /** The strongest first. */
  changes: RankedChange[]
  paths: Paths
  /** Alerts of the entity that come and go. */
  flapping: Flapping[]
  /** Seconds before the end. */
  onset: number
  /** Label that names each entity. */
  labels: ReadonlyMap<string, string>
}

/** In steps, between which others have their turn: each is a pass over all rows. */
export function* lookAt({
  rows,
  entity,
  label,
  now,
  fired = [],
  windows = LATELY,
}: BriefRequest): Generator<void, LookedAt, void> {
  const lines = timed(rows, now, windows.back)
  yield
  const firedIds = new Set(fired)
  const kinds = new Kinds(lines, firedIds)
  const texts = lines.filter(({ row }) => !row.isSample)
  setStreams(texts)
  yield
  const recent = texts.filter(({ t }) => t >= -windows.baseline - windows.focus)
  const templates = new Templates(recent)
  yield
  const groups = groupsOf(
    recent.filter((line) => !kinds.isChange(line)),
    templates,
    windows,
  )
  yield
  const paths = pathsOf(lines, (line) => (line.cls ? `line ${templates.of(line).n}` : null))
  yield
  const series = seriesOf(lines, entity, windows)
  yield
  const items = rankItems(groups, series, entity, paths)
  const onset = onsetOf(items, paths)
  const labels = labelsOf(lines, entity, label)
  const alerts = lines.filter(({ row }) => firedIds.has(row.id)).slice(-ALERTS)
  const { near, words } = surroundingsOf(items, alerts, labels.keys(), entity)
  liftAround(items, near, onset)
  yield
  const changes = rankChanges(lines, kinds, { entity, near, onset, words, focus: windows.focus })
  return { lines, groups, items, changes, paths, flapping: flappingOf(lines, entity), onset, labels }
}

/** By time, then as they came. */
function timed(rows: readonly BriefRequest['rows'][number][], now: number, back: number): Timed[] {
  const lines: Timed[] = []
  const sources = new Map<string, Map<string, Kind>>()
  let isSorted = true
  for (const row of rows) {
    const t = (row.at - now) / 1000
    if (t < -back) continue
    if (lines.length && t < lines.at(-1)!.t) isSorted = false
    const kind = kindOf(sources, row)
    kind.count++
    lines.push({ row, t, kind, stream: null, cls: null })
  }
  return isSorted ? lines : lines.sort((a, b) => a.t - b.t)
}

function kindOf(sources: Map<string, Map<string, Kind>>, { source, type }: ContextRow): Kind {
  const types = mapAt(sources, source)
  const known = types.get(type)
  if (known) return known
  const made = { source, type, count: 0 }
  types.set(type, made)
  return made
}

function labelsOf(lines: readonly Timed[], entity: string, label: string): Map<string, string> {
  const labels = new Map([[entity, label]])
  for (const { row } of lines) {
    if (row.entity === '' || labels.has(row.entity)) continue
    const name =
      row.labels[label] === row.entity
        ? label
        : Object.keys(row.labels).find((one) => row.labels[one] === row.entity)
    labels.set(row.entity, name ?? label)
  }
  return labels
}
