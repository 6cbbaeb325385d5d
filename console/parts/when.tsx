/**
 * A time: absolute with how long ago beside it, as lists have it. Its exact instant, here and in UTC, with something
 * to copy, is shown by the card of the page (time-card.tsx) when it is hovered, focused or tapped.
 */
import { ago, moment } from '../lib/time.ts'
import { useNow } from './use-now.ts'

interface Props {
  /** Instant, ISO 8601; null: it never was. */
  at: string | null
  never?: string
  /** Absent: both. A list of a phone has no room for both; a sentence says how long ago. */
  only?: 'absolute' | 'relative'
}

export function When({ at, never = 'never', only }: Props) {
  const now = useNow()
  if (at === null) return <span>{never}</span>
  return (
    <time dateTime={at}>
      {only !== 'relative' && moment(Date.parse(at), now)}
      {only === undefined && ', '}
      {only !== 'absolute' && ago(at, now)}
    </time>
  )
}
