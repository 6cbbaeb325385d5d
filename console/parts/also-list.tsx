/** What met the trigger while it waited, and fired nothing: whoever has the incident has these, too. */
import { Link } from 'react-router'
import type { IncidentDetail } from '../../schemas/types.ts'
import { eventPath } from '../lib/explore-state.ts'
import { clock } from '../lib/time.ts'

export function AlsoList({ incident: { also, entity, opened_at } }: { incident: IncidentDetail }) {
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
