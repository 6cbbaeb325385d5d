/** Filters of the list of runs as their address, so that every view is a permalink. */
import type { Run } from '../../schemas/types.ts'
import { count } from './time.ts'
import { readSince } from './work-filters.ts'

export const RUN_STATUSES: Run['status'][] = [
  'queued',
  'running',
  'parked',
  'succeeded',
  'exhausted',
  'failed',
  'cancelled',
  'capped',
  'empty',
]
export const RUN_OUTCOMES = [
  { value: 'finding', label: 'a finding' },
  { value: 'no_op', label: 'nothing to report' },
]
export const RUNS_A_PAGE = 50

/** As the API asks for them. */
export interface RunQuery {
  status?: string
  agent?: string
  project?: string
  entity?: string
  /** False leaves practice runs out. */
  practice?: boolean
  outcome?: string
  /** Only those that ended since, as `readSince` gives it. */
  since?: string
}

export interface RunFilter {
  query: RunQuery
  offset: number
  /** Whether a person narrowed the list. */
  isNarrowed: boolean
}

const WORDS = ['agent', 'project', 'entity'] as const

/** What the address asks for; words that there are not count for nothing. */
export function readRunFilter(address: URLSearchParams): RunFilter {
  const word = (name: string) => address.get(name)?.trim() ?? ''
  const status = word('status')
  const outcome = word('outcome')
  const since = readSince(address)
  const query: RunQuery = {
    ...(since ? { since } : {}),
    ...(RUN_OUTCOMES.some(({ value }) => value === outcome) ? { outcome } : {}),
    ...((RUN_STATUSES as string[]).includes(status) ? { status } : {}),
    ...Object.fromEntries(WORDS.map((name) => [name, word(name)]).filter(([, value]) => value)),
  }
  const isNarrowed = Object.keys(query).length > 0
  const offset = /^\d{1,9}$/.test(word('offset')) ? Number(word('offset')) : 0
  return { query: { ...query, ...(word('practice') === '1' ? {} : { practice: false }) }, offset, isNarrowed }
}

/** The address with a filter set, or without it; another filter begins at the first page again. */
export function withFilter(address: URLSearchParams, name: string, value: string | null): URLSearchParams {
  const next = new URLSearchParams(address)
  if (name !== 'offset') next.delete('offset')
  if (value?.trim() && !(name === 'offset' && value === '0')) next.set(name, value.trim())
  else next.delete(name)
  return next
}

/** "51–100 of 230". */
export function spanWords(offset: number, shown: number, total: number): string {
  if (total === 0 || shown === 0) return `none of ${count(total)}`
  return `${count(offset + 1)}–${count(offset + shown)} of ${count(total)}`
}
