/** What met the trigger while it waited, and fired nothing; alerts that say when they are over. Whoever has the incident has these, too. */
import { Link } from 'react-router'
import type { IncidentDetail } from '../../schemas/types.ts'
import { eventPath } from '../lib/explore-state.ts'
import { clock } from '../lib/time.ts'

export function AlsoList({ incident }: { incident: IncidentDetail }) {
  const { also, entity, opened_at } = incident
  if (incident.alerts.length > 0) return <AlertList incident={incident} />
  return (
    <section aria-label="Also" style={{ padding: '0 14px 10px', fontSize: 13.5 }}>
      <b>Also</b>{' '}
      <span style={{ color: 'var(--text-2)' }}>came within the cooldown, and fired nothing of its own:</span>
      <ul style={{ margin: '4px 0 0', paddingLeft: 18 }}>
        {also.map(({ event_type, events, id, text, at }) => (
          <li key={event_type} style={{ overflowWrap: 'anywhere' }}>
            <span className="mono" style={{ fontSize: 12.5, color: 'var(--text-2)' }}>
              {clock(at, Date.parse(opened_at)).slice(0, 8)}
            </span>{' '}
            <Link to={eventPath(id, entity ?? undefined)}>{text || event_type}</Link>
            {events > 1 && ` and ${events - 1} more of ${event_type}`}
          </li>
        ))}
      </ul>
    </section>
  )
}

function AlertList({ incident: { alerts, entity, opened_at } }: { incident: IncidentDetail }) {
  const from = Date.parse(opened_at)
  const on = alerts.filter(({ over_at }) => over_at === null).length
  return (
    <section aria-label="Alerts" style={{ padding: '0 14px 10px', fontSize: 13.5 }}>
      <b>Alerts</b>{' '}
      <span style={{ color: 'var(--text-2)' }}>
        {on} of {alerts.length} on; the incident is over with the last
      </span>
      <ul style={{ margin: '4px 0 0', paddingLeft: 18 }}>
        {alerts.map(({ event_type, id, text, began_at, over_at, told }) => (
          <li key={id} style={{ overflowWrap: 'anywhere', color: over_at ? 'var(--text-2)' : undefined }}>
            <span className="mono" style={{ fontSize: 12.5, color: 'var(--text-2)' }}>
              {clock(began_at, from).slice(0, 8)}
            </span>{' '}
            <Link to={eventPath(id, entity ?? undefined)}>{text || event_type}</Link>
            {over_at !== null && ` over at ${clock(over_at, from).slice(0, 8)}`}
            {over_at === null && !told && ' came within the cooldown, fires when that ends'}
          </li>
        ))}
      </ul>
    </section>
  )
}
