/** A plan under the hands of a person: each edit is checked and kept, and the checked plan is shown. */
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { Plan, Setup, SetupChecked } from '../../../schemas/types.ts'
import { ApiError, UNREACHED } from '../../client.ts'
import { setups, skeys } from '../../setup-client.ts'

const SETTLED_MS = 350
const RETRY_MS = 5_000

export interface EditedPlan extends SetupChecked {
  edit(change: (plan: Plan) => Plan): void
  /** An edit is not checked yet. */
  isChecking: boolean
  error: Error | null
  /** Of what was kept of it last: a write is made from that, or refused. */
  version: number
  /** What was kept since in another tab, or by somebody else; null: nothing was. */
  newer: Setup | null
  /** Shows what is newer; what was changed here is given up. */
  takeTheirs(): void
  /** Keeps what is here in its place. */
  keepMine(): void
}

/** Secrets that were typed are in this plan alone: what is kept is without them. */
export function usePlan(setup: Setup, given: Plan): EditedPlan {
  const queries = useQueryClient()
  const [checked, setChecked] = useState<SetupChecked>({
    plan: given,
    problems: setup.problems,
    changes: setup.changes,
  })
  const [isTouched, setTouched] = useState(false)
  const [isChecking, setChecking] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const under = useRef<{ timer: number | null; abort: AbortController }>({
    timer: null,
    abort: new AbortController(),
  })
  const latest = useRef(given)
  const { version, keep, look } = useKept(setup)
  const isGone = useRef(false)

  const check = useCallback(async () => {
    const { abort } = under.current
    under.current.timer = null
    try {
      const answer = await setups.check(setup.project, latest.current, abort.signal)
      const saved = await keep(answer.plan, abort.signal)
      if (abort.signal.aborted || !saved) return
      latest.current = answer.plan
      setChecked(answer)
      setError(null)
      queries.setQueryData(skeys.of(setup.project), saved)
      setChecking(false)
    } catch (failed) {
      if (abort.signal.aborted) return
      const isUnreached = failed instanceof ApiError && failed.status === 0
      const isRefused = failed instanceof ApiError && failed.status > 403
      const isOther = isRefused && (await look().catch(() => false))
      if (abort.signal.aborted) return
      // What is newer is told by itself.
      if (isOther) setError(null)
      else setError(isUnreached ? new Error(UNREACHED) : (failed as Error))
      setChecking(false)
      // What was typed is not lost with the daemon: it is checked and kept once that is back.
      if (isUnreached && !isGone.current)
        under.current.timer = window.setTimeout(() => void check(), RETRY_MS)
    }
  }, [queries, setup.project, keep, look])

  const edit = useCallback(
    (change: (plan: Plan) => Plan) => {
      setTouched(true)
      latest.current = change(latest.current)
      setChecked((now) => ({ ...now, plan: latest.current }))
      setChecking(true)
      const { timer, abort } = under.current
      if (timer !== null) window.clearTimeout(timer)
      abort.abort()
      under.current = {
        abort: new AbortController(),
        timer: window.setTimeout(() => void check(), SETTLED_MS),
      }
    },
    [check],
  )

  useEffect(() => {
    isGone.current = false
    return () => {
      isGone.current = true
      // What was typed last is kept, too.
      if (under.current.timer === null) return
      window.clearTimeout(under.current.timer)
      void check()
    }
  }, [check])

  const takeTheirs = () => {
    if (!setup.plan) return
    version.current = setup.version
    latest.current = setup.plan
    setError(null)
    setChecked({ plan: setup.plan, problems: setup.problems, changes: setup.changes })
  }
  const keepMine = () => {
    version.current = setup.version
    edit((plan) => plan)
  }
  // While an edit is kept here, what is newer may be that.
  const isOlder = !isChecking && setup.version > version.current
  // Nothing was changed here: what is newer is shown, such as what was typed as this page was left a moment ago.
  useEffect(() => {
    if (isOlder && !isTouched) takeTheirs()
  })
  const newer = isOlder && isTouched ? setup : null
  return { ...checked, edit, isChecking, error, version: version.current, newer, takeTheirs, keepMine }
}

/** What is kept of a plan: saves from the version that is known, and what is there where that is another. */
function useKept({ project, version: begun }: Setup) {
  const queries = useQueryClient()
  const version = useRef(begun)
  const saving = useRef<Promise<unknown>>(Promise.resolve())

  /** One after the other, and none is cut off: each is made from the version that the one before came to. */
  const keep = useCallback(
    (plan: Plan, signal: AbortSignal): Promise<Setup | null> => {
      const next = saving.current.then(async () => {
        if (signal.aborted) return null
        const saved = await setups.save(project, plan, version.current)
        version.current = saved.version
        return saved
      })
      saving.current = next.catch(() => undefined)
      return next
    },
    [project],
  )

  /** After a refusal. @returns whether what is there now is another version */
  const look = useCallback(async () => {
    // Where it is gone the page says so.
    const now = await queries.fetchQuery({
      queryKey: skeys.of(project),
      queryFn: () => setups.get(project),
      staleTime: 0,
    })
    return now.version !== version.current
  }, [queries, project])
  return { version, keep, look }
}
