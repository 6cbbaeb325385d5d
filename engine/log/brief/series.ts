/** Numbers that moved: each series of each entity against what was usual of it. */
import {
  ascending,
  type Kind,
  listAt,
  mapAt,
  quantile,
  ratioUp,
  spreadAround,
  type Timed,
  type Windows,
} from './types.ts'

const SHOWN_FROM = 1.5
const BASELINE_SAMPLES = 5
/** Names of counters, by the conventions of Prometheus and OpenTelemetry; what an order comes to may have such a name, too. */
const COUNTER = /^[^\0{]*_(total|count|sum|bucket)(\{[^\0]*)?\0/
/** A series of totals that had no point for so many times its last gap has ended. */
const GAPS = 4
/** Processes that one series is told apart into: each point is held against all of them. */
const PROCESSES = 64
/** A text that names its number, as `cpu_percent=97.1`: where all numbers have one type, it tells them apart. */
const NAMED = /^([^\s=]{1,100})=-?\d[\d.]*(?:\s|$)/
/** Seconds of samples that are a short history: what an alert comes with. */
const SHORT = 3_600
/** Units of spread beyond which a shift counts no more. */
const SHIFT_MAX = 60
/** A median that moved by less than this ratio is seldom what happened. */
const RATIO = 1.25
/** One value alone is a spike where it is this far beyond so many before it, and so many times the largest of them. */
const SPIKE = { samples: 30, units: 20, times: 3, weight: 0.05 }
/**
 * Of a short history: the first values, so many, are what was usual where all after them are beyond them by this ratio.
 * So few say less of what is usual than a quarter of it.
 */
const STEP = { before: 2, after: 6, ratio: 2, penalty: 2.5 }

export interface Sample {
  line: Timed
  value: number
}

export interface Series {
  source: string
  name: string
  entity: string
  score: number
  /** Median before, and the band of 5 to 95 %. */
  usual: number
  low: number
  high: number
  /** Median of the window that moved, and its most extreme value. */
  now: number
  peak: number
  /** Median of the first fifth of the baseline. */
  start: number
  began: number | null
  /** Of the window, and of all 36 h. */
  samples: number
  total: number
  /** A sample of the baseline near its median, the one farthest from it, and the last. */
  normal: Timed
  far: Timed
  last: Timed
  /** Labels that all samples of the window share. */
  labels: Record<string, string | number>
}

/** @param lines of 36 h, in order of time. */
export function seriesOf(lines: readonly Timed[], entity: string, windows: Windows): Series[] {
  const moved: Series[] = []
  for (const { name, samples, total } of numbersOf(lines)) {
    const found = strongestShift(samples, samples[0]!.line.row.entity === entity, windows)
    if (found) moved.push({ ...found, name, total })
  }
  return moved
}

/** One number of one entity over time; of a counter what it grew by, a second. */
export interface Numbers {
  name: string
  /** Labels that tell it from others of its name and entity. */
  by: Readonly<Record<string, string>>
  samples: Sample[]
  /** Before a counter's growth was taken. */
  total: number
}

/**
 * @param lines in order of time.
 * @param valuesOf what each measures, by name; all that it does when absent: then of what counts how fast it grew, and of
 *   what was measured the mean.
 */
export function numbersOf(
  lines: readonly Timed[],
  valuesOf?: (line: Timed) => Readonly<Record<string, number>>,
): Numbers[] {
  const all = new Map<string, Sample[]>()
  const points = new Map<string, Sample[]>()
  const keys = new Keys()
  // Rows that measure nothing share that.
  let nothing: Readonly<Record<string, number>> | null = null
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    const values = valuesOf ? valuesOf(line) : line.row.values
    if (values === nothing) continue
    if (!valuesOf && isCounted(line)) {
      if (values.value !== undefined)
        listAt(points, keys.of(line, 'value')).push({ line, value: values.value })
      continue
    }
    nothing = values
    for (const name in values) {
      nothing = null
      const value = values[name]!
      if (Number.isFinite(value)) listAt(all, keys.of(line, name)).push({ line, value })
    }
  }
  const named = eachApart(all).flatMap(({ key, by, samples: counted }) => {
    const samples = COUNTER.test(key) && hardlyFalls(counted) ? incrementsOf(counted) : counted
    const name = `${nameOf(key)}${samples === counted ? '' : ' a second'}`
    return samples.length ? [{ name, by, samples, total: counted.length }] : []
  })
  const grown = eachApart(points).flatMap(({ key, by, samples }) =>
    growthOf(nameOf(key), samples).map((one) => ({ ...one, by })),
  )
  return [...named, ...grown]
}

/** Of one name, source and entity. */
type Apart = Pick<Numbers, 'by' | 'samples'>

function eachApart(all: ReadonlyMap<string, Sample[]>): (Apart & { key: string })[] {
  const placeOf = placesApart(all.keys())
  return [...all].flatMap(([key, samples]) =>
    apart(samples).map(({ by, samples: own }) => ({ key, by: { ...placeOf(key), ...by }, samples: own })),
  )
}

/** @returns a function from the key of a series to its pod and region, each only where series of the same name, source and entity differ in it */
export function placesApart(keys: Iterable<string>): (key: string) => Record<string, string> {
  const known = new Map<string, Record<(typeof PLACES)[number], Set<string>>>()
  const read = (key: string) => {
    const parts = key.split('\0')
    const [region = '', pod = ''] = [parts.pop(), parts.pop()]
    return { of: parts.join('\0'), pod, region }
  }
  for (const key of keys) {
    const { of, ...place } = read(key)
    const seen = known.get(of) ?? { pod: new Set(), region: new Set() }
    known.set(of, seen)
    for (const name of PLACES) seen[name].add(place[name])
  }
  return (key) => {
    const { of, ...place } = read(key)
    const seen = known.get(of)!
    return Object.fromEntries(
      PLACES.flatMap((name) => (place[name] && seen[name].size > 1 ? [[name, place[name]]] : [])),
    )
  }
}

/*
 * Disks of a host, or states of a counter, are series of one name: at each instant that is measured there is a sample of
 * each of them, and one label or several say of which. Labels that follow one another in time, as a version does,
 * tell no series apart, or none would go on through a deploy; and neither do ids, of which each has one sample.
 */

/** Samples that a series has on average at least, where labels tell it apart. */
const APART = 2
/** Of samples of one instant, how many may be of one series: more are of requests, of which many are in one second. */
const CLASHES = 0.05
/** Within a round, two samples are at most `most` seconds and `near` of the mean interval apart; rounds hold at least `share` of all samples. */
const ROUND = { most: 1, near: 0.1, share: 0.8 }
/** Labels that, with name, source and entity, make up the key of a series. */
const PLACES = ['pod', 'region'] as const

function apart(samples: Sample[]): Apart[] {
  const names = labelsApart(samples)
  if (names.length === 0) return [{ by: {}, samples }]
  const { of, count } = combined(names.map((name) => codesOf(samples, name)))
  const found = Array.from({ length: count }, (): Sample[] => [])
  for (let i = 0; i < samples.length; i++) found[of[i]!]!.push(samples[i]!)
  return found.map((some) => {
    const words = wordsOf(some[0]!)
    const own = names.flatMap((name) => (words[name] === undefined ? [] : [[name, String(words[name])]]))
    return { by: Object.fromEntries(own), samples: some }
  })
}

/** @returns the fewest names of labels that tell the samples of each instant apart; none: they are one series */
function labelsApart(samples: readonly Sample[]): string[] {
  const names = labelsAt(samples, instantsOf(samples, 0))
  return names.length ? names : labelsAt(samples, roundsOf(samples))
}

function labelsAt(samples: readonly Sample[], instants: readonly Instant[]): string[] {
  const together = instants.reduce((sum, { from, to }) => sum + to - from, 0)
  let parts = namesThatDiffer(samples, instants)
    .map((name) => ({ name, codes: codesOf(samples, name) }))
    .filter(({ codes }) => comesAgain(codes, instants))
    .sort((a, b) => b.codes.count - a.codes.count || (a.name < b.name ? -1 : 1))
  if (parts.length === 0) return []
  const whole = (some: typeof parts) => combined(some.map(({ codes }) => codes))
  let codes = whole(parts)
  const { clashes } = atInstants(codes, instants)
  if (clashes > CLASHES * together) return []
  for (const part of parts) {
    const rest = parts.filter((one) => one !== part)
    if (rest.length === 0) continue
    const fewer = whole(rest)
    if (fewer.count >= codes.count || atInstants(fewer, instants).clashes > clashes) continue
    parts = rest
    codes = fewer
  }
  return comesAgain(codes, instants) ? parts.map(({ name }) => name) : []
}

/** Places of samples of one instant, where there are several. */
interface Instant {
  from: number
  to: number
}

/** @param samples in order of time. @param near seconds from one to the next within an instant at most */
function instantsOf(samples: readonly Sample[], near: number): Instant[] {
  const instants: Instant[] = []
  for (let from = 0, to = 0; from < samples.length; from = to) {
    do to++
    while (to < samples.length && samples[to]!.line.t - samples[to - 1]!.line.t <= near)
    if (to - from > 1) instants.push({ from, to })
  }
  return instants
}

/**
 * What is measured together is sent one after the other, each with the time of its own: then an instant is what comes
 * shortly after one another, and nearly all samples are in one. Requests come as they come, and make no such rounds.
 * @returns none where samples come in no rounds
 */
function roundsOf(samples: readonly Sample[]): Instant[] {
  const [first, last] = [samples[0], samples.at(-1)]
  if (!first || !last || samples.length < 2) return []
  const mean = (last.line.t - first.line.t) / (samples.length - 1)
  const rounds = instantsOf(samples, Math.min(ROUND.most, mean * ROUND.near))
  const within = rounds.reduce((sum, { from, to }) => sum + to - from, 0)
  return within >= ROUND.share * samples.length ? rounds : []
}

type Words = Readonly<Record<string, string | number>>

const wordsOf = ({ line: { row } }: Sample): Words => row.words ?? row.labels

function namesThatDiffer(samples: readonly Sample[], instants: readonly Instant[]): string[] {
  const names = new Set<string>()
  const look = (words: Words, other: Words) => {
    for (const name in words)
      if (words[name] !== other[name] && typeof words[name] === 'string') names.add(name)
  }
  for (const { from, to } of instants) {
    const words = wordsOf(samples[from]!)
    for (let i = from + 1; i < to; i++) {
      const other = wordsOf(samples[i]!)
      // Rows that share their labels share the object.
      if (other === words) continue
      look(words, other)
      look(other, words)
    }
  }
  return [...names]
}

/** What each sample has of some labels, as numbers from 0 up: there are 100,000 samples. */
interface Codes {
  of: Uint32Array
  count: number
}

function codesOf(samples: readonly Sample[], name: string): Codes {
  const known = new Map<unknown, number>()
  const of = new Uint32Array(samples.length)
  for (let i = 0; i < samples.length; i++) of[i] = codeIn(known, wordsOf(samples[i]!)[name])
  return { of, count: known.size }
}

const combined = (all: readonly Codes[]): Codes =>
  all.reduce((some, more) => {
    const known = new Map<unknown, number>()
    const of = some.of.map((code, i) => codeIn(known, code * more.count + more.of[i]!))
    return { of, count: known.size }
  })

function codeIn(known: Map<unknown, number>, value: unknown): number {
  const code = known.get(value)
  if (code !== undefined) return code
  known.set(value, known.size)
  return known.size - 1
}

/** @returns how many differ at one instant at most, and how many samples, over all, are at one besides another of their code */
function atInstants({ of, count }: Codes, instants: readonly Instant[]): { most: number; clashes: number } {
  const seen = new Uint32Array(count)
  let [most, clashes] = [0, 0]
  for (const [n, { from, to }] of instants.entries()) {
    let differ = 0
    for (let i = from; i < to; i++) {
      if (seen[of[i]!] === n + 1) continue
      seen[of[i]!] = n + 1
      differ++
    }
    most = Math.max(most, differ)
    clashes += to - from - differ
  }
  return { most, clashes }
}

/** What is measured again and again comes again: one instant has a good part of all there are, and none comes once. */
const comesAgain = (codes: Codes, instants: readonly Instant[]): boolean =>
  APART * codes.count <= codes.of.length && codes.count <= 2 * atInstants(codes, instants).most

const isCounted = ({ row: { counts } }: Timed): boolean => counts === 'total' || counts === 'step'

/**
 * Of points that say how they count (OpenTelemetry, Metrics Data Model: Temporality): how fast it grew, or how much each
 * counted, and the mean of what was measured since the point before. Their own values only say how long they have counted.
 */
function growthOf(name: string, points: readonly Sample[]): Omit<Numbers, 'by'>[] {
  const rates: Sample[] = []
  const means: Sample[] = []
  const isTotal = points[0]!.line.row.counts === 'total'
  const add = ({ line, value }: Sample, before: Sample | null): void => {
    const count = before ? value - before.value : value
    if (!isTotal) rates.push({ line, value: count })
    else if (before) rates.push({ line, value: count / (line.t - before.line.t) })
    const { sum } = line.row
    if (sum !== undefined && count > 0)
      means.push({ line, value: (sum - (before?.line.row.sum ?? 0)) / count })
  }
  if (isTotal) eachTotal(points, add)
  else for (const point of points) add(point, null)
  const all: Omit<Numbers, 'by'>[] = []
  const { unit } = points[0]!.line.row
  // Both are of the same points, which are told once.
  if (means.length)
    all.push({ name: `${name} mean${unit ? ` ${unit}` : ''}`, samples: means, total: points.length })
  if (rates.length)
    all.push({
      name: `${name} ${isTotal ? 'a second' : 'each point'}`,
      ...{ samples: rates, total: means.length ? 0 : points.length },
    })
  return all
}

/**
 * Each total with an earlier one of the same process. Processes of a service whose labels do not tell them apart write
 * into one series: a point goes on from the greatest total that it is not below; one that is below all began anew,
 * or is the first that is seen of its process, and has none before it.
 */
function eachTotal(points: readonly Sample[], visit: (point: Sample, before: Sample | null) => void): void {
  const open: { last: Sample; gap: number }[] = []
  for (const point of points) {
    const { t } = point.line
    let found: (typeof open)[number] | null = null
    for (let i = open.length - 1; i >= 0; i--) {
      const one = open[i]!
      const { last } = one
      if (t - last.line.t > GAPS * one.gap) open.splice(i, 1)
      else if (last.value <= point.value && last.line.t < t && !(found && found.last.value >= last.value))
        found = one
    }
    visit(point, found?.last ?? null)
    if (found) {
      found.gap = t - found.last.line.t
      found.last = point
    } else {
      if (open.length === PROCESSES) open.splice(quietest(open), 1)
      open.push({ last: point, gap: Number.POSITIVE_INFINITY })
    }
  }
}

/** Place of the one that had no point for longest. */
function quietest(open: readonly { last: Sample }[]): number {
  let at = 0
  for (let i = 1; i < open.length; i++) if (open[i]!.last.line.t < open[at]!.last.line.t) at = i
  return at
}

/** What a number is one of; each is worded once, since there are 100,000 samples of a few hundred series. */
class Keys {
  private readonly known = new Map<Kind, Map<string, Map<string, Map<unknown, Map<unknown, string>>>>>()

  of({ row, kind }: Timed, name: string): string {
    const { source, type, entity } = row
    const series = row.series ?? (name === 'value' ? NAMED.exec(row.text)?.[1] : undefined) ?? type
    const called = name === 'value' ? series : `${series} ${name}`
    const { pod = '', region = '' } = row.words ?? row.labels
    const byRegion = mapAt(mapAt(mapAt(mapAt(this.known, kind), entity), called), pod)
    const known = byRegion.get(region)
    if (known !== undefined) return known
    const key = `${called}\0${source}\0${type}\0${entity}\0${pod}\0${region}`
    byRegion.set(region, key)
    return key
  }
}

/** Of rises, how many falls a counter has at most: of beginning anew, to half or less, and of points in wrong order. */
const FALLS = { anew: 1 / 4, other: 1 / 50 }

function hardlyFalls(samples: readonly Sample[]): boolean {
  let [rises, anew, other] = [0, 0, 0]
  for (let i = 1; i < samples.length; i++) {
    const [before, value] = [samples[i - 1]!.value, samples[i]!.value]
    if (value > before) rises++
    else if (value < before && value >= 0 && value <= before / 2) anew++
    else if (value < before) other++
  }
  return anew <= FALLS.anew * rises && other <= FALLS.other * rises
}

/**
 * What a counter grew by, a second: its own value only says how long it has counted. One that was begun
 * anew grew by what it has.
 */
function incrementsOf(samples: readonly Sample[]): Sample[] {
  return samples.slice(1).flatMap(({ line, value }, i) => {
    const before = samples[i]!
    const seconds = line.t - before.line.t
    const grown = value >= before.value ? value - before.value : value
    return seconds > 0 ? [{ line, value: grown / seconds }] : []
  })
}

const nameOf = (key: string): string => key.slice(0, key.indexOf('\0'))

type Shift = Omit<Series, 'name' | 'total'>

function strongestShift(samples: readonly Sample[], isOwn: boolean, windows: Windows): Shift | null {
  const { focus, baseline, series } = windows
  const recent = samples.filter(({ line }) => line.t >= -baseline - focus)
  let best: Shift | null = null
  for (const window of series) {
    const [before, now] = splitAt(recent, -window)
    if (now.length < (window < 200 ? 1 : 2) || before.length < BASELINE_SAMPLES) continue
    const shift = compared(before, now, recent)
    if (shift && (!best || shift.score > best.score + 0.3)) best = shift
  }
  if (isOwn || !best) best = slowTrend(samples, best, focus)
  if (!best || isShort(samples)) best = shortHistory(samples, best)
  if (!best || best.score <= SHOWN_FROM) return null
  if (!Number.isNaN(best.start)) return best
  const firsts = recent.slice(0, Math.max(1, Math.floor(recent.length / 5)))
  best.start = quantile(ascending(firsts.map(({ value }) => value)), 0.5)
  return best
}

function splitAt(samples: readonly Sample[], t: number): [Sample[], Sample[]] {
  let i = samples.length
  while (i > 0 && samples[i - 1]!.line.t >= t) i--
  return [samples.slice(0, i), samples.slice(i)]
}

/** The first fifth of 36 h against now: what leaks is usual at each moment. */
function slowTrend(samples: readonly Sample[], best: Shift | null, focus: number): Shift | null {
  const [before, now] = splitAt(samples, -focus)
  if (before.length < 15 || now.length < 2) return best
  const shift = compared(before.slice(0, Math.ceil(before.length / 5)), now, samples)
  return shift && (!best || shift.score > best.score * 1.5) ? shift : best
}

const isShort = (samples: readonly Sample[]): boolean => -samples[0]!.line.t < SHORT

/** Where there is little time before, the beginning against the rest: what ramps up is never beyond its past. */
function shortHistory(samples: readonly Sample[], best: Shift | null): Shift | null {
  if (samples.length < 6) return best
  const first = Math.max(3, Math.floor(samples.length / 4))
  const shift = compared(samples.slice(0, first), samples.slice(first), samples.slice(first))
  const found = shift && (!best || shift.score > best.score + 0.3) ? shift : best
  return (found && found.score > SHOWN_FROM) || !isShort(samples) ? found : (earlyStep(samples) ?? found)
}

/** A history that begins a moment before the trouble has one or two usual values, which a quarter of it would hide. */
function earlyStep(samples: readonly Sample[]): Shift | null {
  for (let k = 1; k <= STEP.before && samples.length - k >= STEP.after; k++) {
    const [before, after] = [samples.slice(0, k), samples.slice(k)]
    const [wasLeast, wasMost] = reachOf(before)
    const [isLeast, isMost] = reachOf(after)
    if (!(isLeast >= STEP.ratio * wasMost || wasLeast >= STEP.ratio * isMost) || isMost + wasMost === 0)
      continue
    const shift = compared(before, after, after)
    // What it was at first is what is usual.
    return shift && { ...shift, score: shift.score - STEP.penalty, start: shift.usual }
  }
  return null
}

/** Least and most, without signs. */
function reachOf(samples: readonly Sample[]): [number, number] {
  let least = Number.POSITIVE_INFINITY
  let most = 0
  for (const { value } of samples) {
    least = Math.min(least, Math.abs(value))
    most = Math.max(most, Math.abs(value))
  }
  return [least, most]
}

/** @param all that `now` is the end of */
function compared(before: readonly Sample[], now: readonly Sample[], all: readonly Sample[]): Shift | null {
  const was = ascending(before.map(({ value }) => value))
  const is = ascending(now.map(({ value }) => value))
  const usual = quantile(was, 0.5)
  const low = quantile(was, 0.05)
  const high = quantile(was, 0.95)
  const median = quantile(is, 0.5)
  const unit =
    spreadAround(
      before.map(({ value }) => value),
      usual,
    ) +
    0.05 * Math.abs(usual) +
    0.1 * (high - low) +
    1e-3
  const over = Math.max(0, median - high, low - median) / unit
  let above = 0
  let below = 0
  for (const value of is) {
    if (value > high) above++
    if (value < low) below++
  }
  const ratio = Math.max(ratioUp(above, 0.05 * is.length + 0.2), ratioUp(below, 0.05 * is.length + 0.2))
  const second = Math.min(1, is.length - 1)
  const extreme = Math.max(is[is.length - 1 - second]! - high, low - is[second]!) / unit
  const tail = extreme > 2 ? extreme : 0
  const spike = over === 0 && !tail ? spikeOf(was, is, unit, { low, high }) : 0
  if (over === 0 && ratio < 4 && !tail && !spike) return null
  const beyondAll = median > was.at(-1)! || median < was[0]! ? 0.5 : 0
  const hardlyMoved = factor(usual, median) < RATIO && tail < 4 && !spike ? 1.5 : 0
  const shown = told(before, now, all, { usual, low, high, isAbove: above >= below })
  return {
    ...shown,
    // It is over again, so that no run of values leads to it.
    began: shown.began ?? (spike ? shown.far.t : null),
    score:
      1.4 * Math.log1p(Math.min(Math.max(over, 0.4 * tail, SPIKE.weight * spike), SHIFT_MAX)) +
      beyondAll +
      0.45 * Math.log1p(ratio) -
      hardlyMoved,
    now: median,
    peak: is.at(-1)! - high >= low - is[0]! ? is.at(-1)! : is[0]!,
  }
}

/** How far one value alone is beyond all before it, in units; 0: it is no spike. @param was, is ascending */
function spikeOf(
  was: Float64Array,
  is: Float64Array,
  unit: number,
  { low, high }: { low: number; high: number },
): number {
  if (was.length < SPIKE.samples) return 0
  const up = is.at(-1)!
  const most = Math.max(Math.abs(was[0]!), Math.abs(was.at(-1)!))
  const isUp = up - high >= low - is[0]!
  const units = (isUp ? up - high : low - is[0]!) / unit
  return units >= SPIKE.units && Math.abs(isUp ? up : is[0]!) >= SPIKE.times * most ? units : 0
}

const factor = (usual: number, now: number): number =>
  usual === 0 ? 10 : Math.max(Math.abs(now / usual), Math.abs(usual / (now || 1e-9)))

function told(
  before: readonly Sample[],
  now: readonly Sample[],
  all: readonly Sample[],
  { usual, low, high, isAbove }: { usual: number; low: number; high: number; isAbove: boolean },
): Omit<Shift, 'score' | 'now' | 'peak'> {
  const isOut = (value: number) => (isAbove ? value > high : value < low)
  let began: number | null = null
  // Beyond the window too, where it goes on: what began before the focus is dated rightly.
  for (let i = all.length - 1, missed = 0; i >= 0 && missed < 2; i--) {
    const { line, value } = all[i]!
    if (isOut(value)) {
      began = line.t
      missed = 0
    } else missed++
  }
  const distance = ({ value }: Sample) => Math.abs(value - usual)
  const far = now.reduce((most, one) => (distance(one) > distance(most) ? one : most))
  // The newest of those nearest to the median: what can be cited for "usual".
  const normal = before.reduce((least, one) => (distance(one) <= distance(least) ? one : least))
  const labels: Record<string, string | number> = {}
  for (const [name, value] of Object.entries(far.line.row.labels))
    if (now.every(({ line }) => line.row.labels[name] === value)) labels[name] = value
  const { source, entity } = now[0]!.line.row
  return {
    ...{ source, entity, usual, low, high, began, labels, start: Number.NaN },
    ...{ samples: now.length, normal: normal.line, far: far.line, last: now.at(-1)!.line },
  }
}
