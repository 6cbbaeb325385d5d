/** Acts on incidents: shown at once, sent, and taken back for 8 seconds; where somebody was first, that is said. */

import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { Home, Incident, IncidentDetail, IncidentsResult } from '../../schemas/types.ts'
import { ApiError } from '../client.ts'
import { ikeys, incidents } from '../incident-client.ts'
import { useMay } from '../parts/may.tsx'
import { actorName } from './actor.ts'
import { type Act, actBack, doneWords, firstWords, foreseen, type Worked } from './incident-acts.ts'
import { notifications } from './notices.ts'
import { sayDone } from './undo.tsx'

/** More acts than any way back takes. */
const STEPS_MAX = 4
/** What a list and a page both have of it. */
export type Acted = Worked & Pick<Incident, 'id' | 'number' | 'version'>

/**
 * @returns does an act, and whether it was done; what it is taken back by is on the screen for 8 seconds. Of who may not
 * act, whose keys lead here too, nothing is asked
 */
export function useIncidentActs(): (incident: Acted, act: Act) => Promise<boolean> {
  const queries = useQueryClient()
  const may = useMay('respond')
  return useCallback(
    async (incident, act) => {
      if (!may) return false
      const at = new Date().toISOString()
      await queries.cancelQueries({ queryKey: ikeys.all })
      let isDone = false
      show(queries, foreseen(incident, act, actorName() ?? 'you', at))
      try {
        const now = await incidents.act(incident, act, actorName())
        show(queries, now)
        isDone = true
        sayDone(
          `undo-${now.id}`,
          doneWords(act, now.number),
          act.action === 'note' ? undefined : () => void undo(queries, incident, now),
        )
      } catch (error) {
        refused(queries, incident, error as Error)
      }
      void queries.invalidateQueries({ queryKey: ikeys.all })
      return isDone
    },
    [queries, may],
  )
}

async function undo(queries: QueryClient, before: Acted, done: Incident): Promise<void> {
  let now = done
  try {
    for (let step = 0; step < STEPS_MAX; step++) {
      const back = actBack(now, before)
      if (back === null) break
      now = await incidents.act(now, back, actorName())
    }
    show(queries, now)
    notifications.show({ message: `Undone: #${now.number} is as before` })
  } catch (error) {
    refused(queries, now, error as Error)
  }
  void queries.invalidateQueries({ queryKey: ikeys.all })
}

/** It is as it was, or as somebody else made it meanwhile. */
function refused(queries: QueryClient, incident: Acted, error: Error): void {
  const now = error instanceof ApiError ? error.incident : null
  show(queries, now ?? incident)
  notifications.show({
    color: now ? 'yellow' : 'red',
    title: (now && firstWords(now)) ?? `Couldn’t change #${incident.number}`,
    message: now ? 'The page now shows the current state. Your action was not applied.' : error.message,
    autoClose: 15_000,
  })
}

/** In everything that was read of it, without asking. */
function show(queries: QueryClient, incident: Acted): void {
  const put = <T extends Acted>(one: T): T => (one.id === incident.id ? { ...one, ...shared(incident) } : one)
  queries.setQueriesData<Home>({ queryKey: [...ikeys.all, 'home'] }, (home) =>
    home ? { ...home, incidents: home.incidents.map(put) } : home,
  )
  queries.setQueriesData<{ pages: IncidentsResult[]; pageParams: unknown[] }>(
    { queryKey: [...ikeys.all, 'list'] },
    (list) =>
      list
        ? { ...list, pages: list.pages.map((page) => ({ ...page, incidents: page.incidents.map(put) })) }
        : list,
  )
  queries.setQueriesData<IncidentDetail>({ queryKey: [...ikeys.all, 'one'] }, (one) => (one ? put(one) : one))
}

/** Without what a page has another shape for. */
const shared = ({
  state,
  severity,
  assignee,
  acknowledged,
  snoozed,
  snoozed_until,
  handled,
  version,
  ...rest
}: Acted): Partial<Incident> => ({
  ...{ state, severity, assignee, acknowledged, snoozed, snoozed_until, handled, version },
  ...('accepts' in rest ? { accepts: rest.accepts as string[] } : {}),
})
