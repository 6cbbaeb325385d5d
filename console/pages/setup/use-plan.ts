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
}

/** Secrets that were typed are in this plan alone: what is kept is without them. */
export function usePlan(setup: Setup, given: Plan): EditedPlan {
  const queries = useQueryClient()
  const [checked, setChecked] = useState<SetupChecked>({
    plan: given,
    problems: setup.problems,
    changes: setup.changes,
  })
  const [isChecking, setChecking] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const under = useRef<{ timer: number | null; abort: AbortController }>({
    timer: null,
    abort: new AbortController(),
  })
  const latest = useRef(given)
  const isGone = useRef(false)

  const check = useCallback(async () => {
    const { abort } = under.current
    under.current.timer = null
    try {
      const answer = await setups.check(setup.project, latest.current, abort.signal)
      const saved = await setups.save(setup.project, answer.plan, abort.signal)
      if (abort.signal.aborted) return
      latest.current = answer.plan
      setChecked(answer)
      setError(null)
      queries.setQueryData(skeys.of(setup.project), saved)
      setChecking(false)
    } catch (failed) {
      if (abort.signal.aborted) return
      const isUnreached = failed instanceof ApiError && failed.status === 0
      setError(isUnreached ? new Error(UNREACHED) : (failed as Error))
      setChecking(false)
      // What was typed is not lost with the daemon: it is checked and kept once that is back.
      if (isUnreached && !isGone.current)
        under.current.timer = window.setTimeout(() => void check(), RETRY_MS)
    }
  }, [queries, setup.project])

  const edit = useCallback(
    (change: (plan: Plan) => Plan) => {
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
  return { ...checked, edit, isChecking, error }
}
