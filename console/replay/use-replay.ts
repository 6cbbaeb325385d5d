/** The replay of a page: the stretch of it that is loaded, and ways to load more of it. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Replay } from '../../schemas/types.ts'
import { ApiError } from '../client.ts'
import { RETRY_MS } from '../lib/keep-shown.ts'
import type { Subject } from './address.ts'
import { readReplay } from './client.ts'
import { around, earlier, isWhole, later, openAt, type Read, type Stretch, type Where } from './loading.ts'
import { mergePages } from './merge.ts'

export interface ReplayPages {
  /** What is loaded of it; null: nothing yet. */
  replay: Replay | null
  stretch: Stretch | null
  error: Error | null
  isWhole: boolean
  isLoading: boolean
  loadEarlier: () => void
  loadLater: () => void
  /** @param at epoch ms */
  loadAround: (at: number) => void
  retry: () => void
}

type Load = (read: Read, have: Stretch | null) => Promise<Stretch>

/** @param where one looks when it is opened */
export function useReplay(project: string, subject: Subject, where: Where): ReplayPages {
  const [first] = useState(() => ({ subject, where }))
  const [stretch, setStretch] = useState<Stretch | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [isLoading, setLoading] = useState(true)
  const at = useRef<{ stop: AbortController; load: Load } | null>(null)
  const have = useRef<Stretch | null>(null)
  const run = useCallback(
    (load: Load) => {
      at.current?.stop.abort()
      const stop = new AbortController()
      at.current = { stop, load }
      setLoading(true)
      load(readOf(project, first.subject, stop.signal), have.current)
        .then((found) => {
          if (stop.signal.aborted) return
          have.current = found
          setStretch(found)
          setError(null)
        })
        .catch((fault: Error) => !stop.signal.aborted && setError(fault))
        .finally(() => !stop.signal.aborted && setLoading(false))
    },
    [project, first],
  )
  useEffect(() => {
    run((read) => openAt(read, first.where))
    return () => at.current?.stop.abort()
  }, [run, first])
  const retry = useCallback(() => at.current && run(at.current.load), [run])
  useEffect(() => {
    // As other reads: what fails in the daemon, or on the way to it, is read again by itself.
    if (isLoading || !(error instanceof ApiError && (error.status === 0 || error.status >= 500))) return
    const again = setTimeout(retry, RETRY_MS)
    return () => clearTimeout(again)
  }, [error, isLoading, retry])
  const replay = useMemo(() => (stretch ? mergePages(stretch.pages) : null), [stretch])
  return {
    replay,
    stretch,
    error,
    isWhole: stretch !== null && isWhole(stretch),
    isLoading,
    loadEarlier: useCallback(() => run((read, now) => earlier(read, now!)), [run]),
    loadLater: useCallback(() => run((read, now) => later(read, now!)), [run]),
    loadAround: useCallback((to: number) => run((read, now) => around(read, now!, to)), [run]),
    retry,
  }
}

function readOf(project: string, subject: Subject, signal: AbortSignal): Read {
  const iso = (at: number): string => new Date(at).toISOString()
  if ('result' in subject)
    return (from, to) =>
      readReplay(
        project,
        {
          result: subject.result,
          ...(from === undefined ? {} : { from: iso(from) }),
          ...(to === undefined ? {} : { to: iso(to) }),
        },
        signal,
      )
  return (from, to) =>
    readReplay(
      project,
      {
        from: from === undefined ? subject.from : iso(from),
        to: to === undefined ? subject.to : iso(to),
      },
      signal,
    )
}
