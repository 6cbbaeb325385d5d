/** Firings and deliveries in words. */

import { durationWords } from '../../schemas/duration-words.ts'
import type { Delivery, Firing } from '../../schemas/types.ts'
import { predicateWords } from '../../schemas/words.ts'
import type { Tone } from '../parts/mark.tsx'
import { shortNumber } from './backtest.ts'

/** Explore at what an entity did around an instant. */
export function explorePath(
  entity: { label: string; value: string },
  at: string,
  spanMs = 1_800_000,
  to = Date.parse(at) + spanMs / 3,
): string {
  const middle = Date.parse(at)
  const query = new URLSearchParams({
    l: `${entity.label}=${entity.value}`,
    from: new Date(middle - spanMs).toISOString(),
    to: new Date(to).toISOString(),
  })
  return `/explore?${query}`
}

export function firingMark({ state, failed, pending }: Firing): { tone: Tone; word: Firing['state'] } {
  if (state === 'dropped') return { tone: 'quiet', word: state }
  if (state !== 'fired' || pending) return { tone: 'busy', word: state }
  return { tone: failed ? 'bad' : 'good', word: state }
}

/** Whether more is to come of it by itself. */
export const isUnderWay = ({ state, pending }: Firing): boolean =>
  state === 'gathering' || state === 'held' || pending > 0

/** "2 delivered, 1 failed", or that there are no subscribers. */
export function deliveredWords({ subscribers, delivered, pending, failed }: Firing): string {
  if (subscribers === 0) return 'no subscribers'
  const told = [
    delivered && `${delivered} delivered`,
    pending && `${pending} sending`,
    failed && `${failed} failed`,
  ]
  return told.filter(Boolean).join(', ')
}

/** "12, above 5 within 5 min". */
export function valueWords({ value, predicate, window }: Firing): string | null {
  if (value === null) return null
  const rule = predicate
    ? `, ${predicateWords(predicate)}${window ? ` within ${durationWords(window)}` : ''}`
    : ''
  return `${shortNumber(value)}${rule}`
}

export const DELIVERY_TONES: Record<Delivery['status'], Tone> = {
  running: 'busy',
  delivered: 'good',
  failed: 'bad',
}

/** "sending" is what waits or is being sent; what is fetched is not sent. */
export const statusWord = ({ status, recipient }: Pick<Delivery, 'status'> & Partial<Delivery>): string =>
  status !== 'running' ? status : recipient?.kind === 'mcp' ? 'waiting' : 'sending'
