/** A time: how long ago, with the exact instant on hover. */
import { Tooltip } from '@mantine/core'
import { relative } from '../lib/time.ts'
import { useNow } from './use-now.ts'

export function When({ at, never = 'never' }: { at: string | null; never?: string }) {
  const now = useNow()
  if (at === null) return <span>{never}</span>
  return (
    <Tooltip label={`${new Date(at).toLocaleString()} · ${at}`}>
      <time dateTime={at}>{relative(at, now)}</time>
    </Tooltip>
  )
}
