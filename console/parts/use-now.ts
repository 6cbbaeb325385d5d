/** The time, told again every five seconds so that "3s ago" stays true. */
import { useEffect, useState } from 'react'

const SECOND = 1_000

/**
 * @returns epoch ms, never earlier than the current second: data that arrives between two ticks would otherwise seem to
 *   lie in the future
 */
export function useNow(everyMs = 5_000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return Math.max(now, Math.floor(Date.now() / SECOND) * SECOND)
}
