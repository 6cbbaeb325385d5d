/**
 * Incidents that are worked through by keys: J and K move, Enter opens, A acknowledges, E marks handled, and X selects
 * where several can be acted on together; A and E are then the bar's, for all that are selected.
 */
import { useRef, useState } from 'react'
import { useNavigate } from 'react-router'
import type { Incident } from '../../schemas/types.ts'
import { takesAct } from '../lib/incident-acts.ts'
import { incidentPath } from '../lib/incidents.ts'
import { usePageKeys } from '../lib/page-keys.ts'
import { useIncidentActs } from '../lib/use-incident-acts.tsx'
import { IncidentRow } from './incident-row.tsx'
import { useNow } from './use-now.ts'
import type { Selection } from './use-selection.ts'

const isControl = (one: Element | null): boolean => one?.closest('a, button, input, select, textarea') != null

interface Props {
  incidents: readonly Incident[]
  label: string
  /** Absent: one is acted on at a time. */
  selection?: Selection<Incident>
}

export function IncidentList({ incidents, label, selection }: Props) {
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
  const isAlone = active !== undefined && !selection?.selected.length
  const move = (by: number): void => {
    // The first press takes hold of the row that is marked.
    const next = incidents[at === null ? place : Math.min(incidents.length - 1, Math.max(0, place + by))]
    if (!next) return
    setAt(next.id)
    list.current?.querySelector<HTMLElement>(`[data-incident="${next.id}"]`)?.focus()
  }
  usePageKeys([
    ['j', () => move(1)],
    ['k', () => move(-1)],
    [
      'Enter',
      () => active && !isControl(document.activeElement) && void go(incidentPath(active)),
      // Links and buttons take it themselves.
      { preventDefault: false },
    ],
    ['x', () => active && selection?.toggle(active)],
    ['a', () => isAlone && takesAct(active, 'acknowledge') && void act(active, { action: 'acknowledge' })],
    ['e', () => isAlone && takesAct(active, 'handle') && void act(active, { action: 'handle' })],
  ])
  return (
    <ul
      ref={list}
      className="incident-list"
      aria-label={label}
      style={{ margin: 0, padding: 0, listStyle: 'none' }}
    >
      {incidents.map((incident) => (
        <IncidentRow
          key={incident.id}
          incident={incident}
          now={now}
          isActive={incident.id === active?.id}
          hasKeys={isAlone}
          onActive={() => setAt(incident.id)}
          onAct={(of, what) => void act(of, what)}
          {...(selection
            ? { isSelected: selection.isOn(incident.id), onSelect: () => selection.toggle(incident) }
            : {})}
        />
      ))}
    </ul>
  )
}
