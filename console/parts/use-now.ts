/** The time, told again every five seconds so that "3s ago" stays true. */
import { useEffect, useState } from 'react'

const SECOND = 1_000

/** @returns epoch ms. What is drawn anew meanwhile has the second it is drawn in: what it brought is not yet to come. */
export function useNow(everyMs = 5_000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return Math.max(now, Math.floor(Date.now() / SECOND) * SECOND)
}
