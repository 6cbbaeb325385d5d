/** The time, told again every five seconds so that "3s ago" stays true. */
import { useEffect, useState } from 'react'

export function useNow(everyMs = 5_000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}
