/** The whole state of Explore as its address, so that every view is a permalink. */
import type { HistogramRequest, HistogramResult, ReadRequest } from '../../schemas/types.ts'
import { durationMs } from './time.ts'

export const RANGES = ['15m', '1h', '6h', '24h', '7d', '30d'] as const
export type Group = 'none' | 'source' | 'type' | 'minute'

export interface ExploreState {
  /** Strict AND of labels. */
  selector: Record<string, string>
  /** A relative window, or null when from and to are given. */
  window: string | null
  from: string | null
  to: string | null
  sources: string[]
  types: string[]
  text: string
  asOf: string | null
  group: Group
  live: boolean
  /** Event that is opened at first. */
  event: string | null
}

export function readState(query: URLSearchParams): ExploreState {
  const selector: Record<string, string> = {}
  for (const pair of query.getAll('l')) {
    const at = pair.indexOf('=')
    if (at > 0) selector[pair.slice(0, at)] = pair.slice(at + 1)
  }
  const from = query.get('from')
  const asOf = query.get('as_of')
  const group = query.get('group')
  return {
    selector,
    window: from ? null : (query.get('window') ?? '1h'),
    from,
    to: query.get('to'),
    sources: query.getAll('source'),
    types: query.getAll('type'),
    text: query.get('q') ?? '',
    asOf,
    group: group === 'source' || group === 'type' || group === 'minute' ? group : 'none',
    // Nothing new comes into a span that is over.
    live: query.get('live') === '1' && from === null && asOf === null,
    event: query.get('event'),
  }
}

export function writeState(state: ExploreState): URLSearchParams {
  const query = new URLSearchParams()
  for (const [label, value] of Object.entries(state.selector)) query.append('l', `${label}=${value}`)
  if (state.from) {
    query.set('from', state.from)
    if (state.to) query.set('to', state.to)
  } else if (state.window && state.window !== '1h') query.set('window', state.window)
  for (const source of state.sources) query.append('source', source)
  for (const type of state.types) query.append('type', type)
  if (state.text) query.set('q', state.text)
  if (state.asOf) query.set('as_of', state.asOf)
  if (state.group !== 'none') query.set('group', state.group)
  if (state.live) query.set('live', '1')
  if (state.event) query.set('event', state.event)
  return query
}

function spanOf(state: ExploreState): Pick<ReadRequest, 'window' | 'from' | 'to'> {
  return state.from
    ? { from: state.from, ...(state.to ? { to: state.to } : {}) }
    : { window: state.window === '24h' ? '1d' : (state.window ?? '1h') }
}

/** Where what is shown begins and ends, for one who goes on from there. @param now epoch ms */
export function shownSpan(
  { from, to, window, asOf }: ExploreState,
  now: number,
): { from: string; to: string } {
  const end = to ? Date.parse(to) : asOf ? Date.parse(asOf) : now
  return {
    from: from ?? new Date(end - durationMs(window ?? '1h')).toISOString(),
    to: new Date(end).toISOString(),
  }
}

/** Whether it says what is looked at: an entity, sources, or a text to search all events for. */
export const isChosen = ({
  selector,
  sources,
  text,
}: Pick<ExploreState, 'selector' | 'sources' | 'text'>): boolean =>
  Object.keys(selector).length > 0 || sources.length > 0 || text.trim() !== ''

const selectorOf = ({ selector }: ExploreState): Pick<ReadRequest, 'selector'> =>
  Object.keys(selector).length > 0 ? { selector } : {}

/** Which events are shown: the list and the chart above it count the same ones. */
const shownOf = (
  state: ExploreState,
): Pick<
  ReadRequest & HistogramRequest,
  'selector' | 'window' | 'from' | 'to' | 'sources' | 'event_types' | 'text' | 'as_of'
> => ({
  ...selectorOf(state),
  ...spanOf(state),
  ...(state.sources.length ? { sources: state.sources } : {}),
  ...(state.types.length ? { event_types: state.types } : {}),
  ...(state.text ? { text: state.text } : {}),
  ...(state.asOf ? { as_of: state.asOf } : {}),
})

/** Rows of a page of the list. */
export const PAGE_ROWS = 500

/** The read behind the list; pages go back in time. */
export function readRequest(state: ExploreState, cursor: string | undefined): ReadRequest {
  return { ...shownOf(state), order: 'desc', limit: PAGE_ROWS, ...(cursor ? { cursor } : {}) }
}

export const histogramRequest = (state: ExploreState, buckets: number): HistogramRequest => ({
  ...shownOf(state),
  buckets,
})

/** Of a list without events: what may have left them out. */
export function emptyWords({ text, types, sources, asOf, live }: ExploreState): string {
  const isFiltered = text !== '' || types.length > 0 || sources.length > 0
  const why = isFiltered
    ? 'Nothing matches these filters; remove one'
    : 'Nothing with these labels happened then; choose a longer range'
  const wait = live ? ', or wait: new events appear here' : ''
  const later = asOf ? ' “As of” leaves out events that were stored later; clear the field to see them.' : ''
  return `${why}${wait}.${later}`
}

/**
 * Until when a list of the newest rows still reaches back to its start, epoch ms: to the end of the buckets that hold `most`
 * events together. The first of them is there whatever it holds.
 * @param counted events from that start on
 */
export function reachOf({ from, to, bucket_ms, buckets }: HistogramResult, most: number): number {
  let end = Date.parse(from) + bucket_ms
  let sum = 0
  for (const { at, count } of buckets) {
    sum += count
    if (sum > most) return end
    end = Math.max(end, Date.parse(at) + bucket_ms)
  }
  return Date.parse(to)
}

/** Where an event is looked at: on the timeline of an entity, where it is on that, else on its own. */
export function eventPath(id: string, entity?: { label: string; value: string }): string {
  const of = entity ? `?${new URLSearchParams({ l: `${entity.label}=${entity.value}` })}` : ''
  return `/events/${encodeURIComponent(id)}${of}`
}

/** "label=value" typed by a person. */
export function parsePair(text: string): [string, string] | null {
  const match = /^\s*([A-Za-z0-9_]{1,64})\s*=\s*(.+?)\s*$/.exec(text)
  return match ? [match[1]!, match[2]!] : null
}

/** Labels that senders put a level in. */
const LEVEL_LABELS = ['level', 'severity', 'severity_text', 'log_level']
const ERRORS = /^(err(or)?|severe|fatal|crit(ical)?|alert|emerg(ency)?|panic)$/i
const WARNINGS = /^warn(ing)?$/i

const CALM = /^(trace|debug|verbose|info(rmation(al)?)?|notice)$/i

/**
 * How bad an event says it is: its `level` goes before all else, as on Home, since of an alert that is over the severity stays
 * what it was. Null: it does not say, or it is not bad.
 */
export function levelOf({
  event_type,
  labels,
}: {
  event_type: string
  labels: Record<string, unknown>
}): 'error' | 'warn' | null {
  const own = String(labels.level ?? '').trim()
  if (CALM.test(own)) return null
  const words =
    ERRORS.test(own) || WARNINGS.test(own)
      ? [own]
      : [...LEVEL_LABELS.map((name) => labels[name]), event_type].map((word) => String(word ?? ''))
  if (words.some((word) => ERRORS.test(word.trim()))) return 'error'
  return words.some((word) => WARNINGS.test(word.trim())) ? 'warn' : null
}
