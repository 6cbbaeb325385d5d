/** Incidents that are worked through by keys: J and K move, Enter opens, A acknowledges, E marks handled. */
import { useHotkeys } from '@mantine/hooks'
import { useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import type { Incident } from '../../schemas/types.ts'
import { incidentPath } from '../lib/incidents.ts'
import { useIncidentActs } from '../lib/use-incident-acts.tsx'
import { IncidentRow } from './incident-row.tsx'
import { useNow } from './use-now.ts'

const isControl = (one: Element | null): boolean => one?.closest('a, button, input, select, textarea') != null

export function IncidentList({ incidents, label }: { incidents: readonly Incident[]; label: string }) {
  const now = useNow()
  const go = useNavigate()
  const act = useIncidentActs()
  const list = useRef<HTMLUListElement>(null)
  const [at, setAt] = useState<string | null>(null)
  const place = Math.max(
    0,
    incidents.findIndex(({ id }) => id === at),
  )
  const active = incidents[place]
  const move = (by: number): void => {
    // The first press takes hold of the row that is marked.
    const next = incidents[at === null ? place : Math.min(incidents.length - 1, Math.max(0, place + by))]
    if (!next) return
    setAt(next.id)
    list.current?.querySelector<HTMLElement>(`[data-incident="${next.id}"]`)?.focus()
  }
  useHotkeys([
    ['j', () => move(1)],
    ['k', () => move(-1)],
    [
      'Enter',
      () => active && !isControl(document.activeElement) && void go(incidentPath(active)),
      // Links and buttons take it themselves.
      { preventDefault: false },
    ],
    ['a', () => active?.state !== 'acknowledged' && active && void act(active, { action: 'acknowledge' })],
    ['e', () => active && active.state !== 'handled' && void act(active, { action: 'handle' })],
  ])
  return (
    <ul ref={list} aria-label={label} style={{ margin: 0, padding: 0, listStyle: 'none' }}>
      {incidents.map((incident) => (
        <IncidentRow
          key={incident.id}
          incident={incident}
          now={now}
          isActive={incident.id === active?.id}
          onActive={() => setAt(incident.id)}
          onAct={(of, what) => void act(of, what)}
        />
      ))}
    </ul>
  )
}
