/** An incident in a list: how bad, what, for whom, what was found and what is next; with the act that is due. */
import { Button, Kbd } from '@mantine/core'
import { Check, CircleAlert, Loader } from 'lucide-react'
import { Link } from 'react-router'
import { claimWords } from '../../schemas/claim-words.ts'
import type { Incident } from '../../schemas/types.ts'
import type { Act } from '../lib/incident-acts.ts'
import { incidentPath, runRole, runWords, stateWords } from '../lib/incidents.ts'
import { count, lasting } from '../lib/time.ts'
import { CutName } from './cut-name.tsx'
import { useMay } from './may.tsx'
import { RowCheckbox } from './row-checkbox.tsx'
import { Severity } from './severity.tsx'
import { VerdictChip } from './verdict-chip.tsx'

interface Props {
  incident: Incident
  now: number
  isActive: boolean
  onAct: (incident: Incident, act: Act) => void
  /** It is looked at, by keys or by focus. */
  onActive: () => void
  isSelected?: boolean
  /** Absent: it cannot be selected. */
  onSelect?: () => void
  /** The keys act on this row; else on all that are selected. */
  hasKeys: boolean
}

export function IncidentRow(props: Props) {
  const may = useMay('respond')
  const { incident, now, isActive, onAct, onActive, isSelected, onSelect, hasKeys } = props
  const { id, number, severity, headline, firings, last_fired_at, opened_at } = incident
  return (
    <li
      className="incident-row"
      data-active={isActive}
      data-state={incident.state}
      data-selected={isSelected}
    >
      <span className="severity-cell">
        {onSelect && (
          <RowCheckbox label={`Select #${number}`} checked={isSelected ?? false} onToggle={onSelect} />
        )}
        <Severity of={severity} />
      </span>
      <div style={{ minWidth: 0 }}>
        <Link to={incidentPath(number)} className="incident-link" data-incident={id} onFocus={onActive}>
          {headline}
        </Link>
        <Chips incident={incident} />
        {!incident.result && incident.event?.text && !isTitle(headline, incident.event.text) && (
          <div className="incident-event" title={incident.event.text}>
            {incident.event.text}
          </div>
        )}
        {incident.result?.next_step && (
          <div style={{ fontSize: 13.5, overflowWrap: 'anywhere' }}>
            <span className="next-word">Next</span>
            {incident.result.next_step}
          </div>
        )}
      </div>
      <div className="incident-side incident-fired">
        <RowSpark incident={incident} />
        {count(firings)} {firings === 1 ? 'firing' : 'firings'}, last{' '}
        {lasting(now - Date.parse(last_fired_at))} ago
      </div>
      <div className="incident-side incident-acts">
        {incident.state === 'open' ? (
          <>
            {may && (
              <Button
                size="xs"
                className="above"
                variant={isActive && hasKeys ? 'filled' : 'default'}
                aria-label={`Acknowledge #${number}`}
                onClick={() => onAct(incident, { action: 'acknowledge' })}
                rightSection={isActive && hasKeys ? <Kbd size="xs">A</Kbd> : undefined}
              >
                Acknowledge
              </Button>
            )}
            <div>
              {incident.assignee ? `${incident.assignee}, ` : ''}open {lasting(now - Date.parse(opened_at))}
            </div>
          </>
        ) : (
          <span
            className="chip"
            data-role={ROLES[incident.state]}
            style={{ display: 'inline-block', maxWidth: '100%' }}
          >
            {stateWords(incident, now)}
          </span>
        )}
      </div>
    </li>
  )
}

/** Whether the title says what an event does; of a burst it ends with how many more there are. */
const isTitle = (headline: string, text: string): boolean =>
  text.includes(headline.replace(/…?( and [\d,]+ more)?$/, ''))

const ROLES: Partial<Record<Incident['state'], string>> = { acknowledged: 'info', handled: 'good' }

function Chips({ incident: { entity, key, result, claims, run, trigger } }: { incident: Incident }) {
  const whose = entity ? `${entity.label}=${entity.value}` : key
  return (
    <div className="chips">
      {whose && (
        <span className="chip mono incident-entity" title={whose}>
          <CutName>{whose}</CutName>
        </span>
      )}
      {result?.verdict && <VerdictChip of={result.verdict} isFinding={result.kind === 'action'} />}
      {claims && <ClaimsHeld claims={claims} />}
      {!result && run && <RunChip run={run} />}
      <span style={{ color: 'var(--text-2)', overflowWrap: 'anywhere' }}>{trigger}</span>
    </div>
  )
}

/** What the newest run is at, where nothing was found: only one at work has the sign of work. */
function RunChip({ run }: { run: NonNullable<Incident['run']> }) {
  const role = runRole(run)
  const words = runWords(run)
  return (
    // A run that failed says all of its error: here the line ends, and the whole of it is pointed at.
    <span className="chip" data-role={role} title={words}>
      {role === 'info' && <Loader size={12} aria-hidden />}
      {role === 'warning' && <CircleAlert size={12} aria-hidden />}
      <span className="ellipsis">{words}</span>
    </span>
  )
}

/** Claims that do not hold are shown as loudly as those that do. */
export function ClaimsHeld({ claims }: { claims: { held: number; total: number } }) {
  const all = claims.held === claims.total
  return (
    <span className="chip" data-role={all ? 'good' : 'warning'}>
      {all ? <Check size={12} aria-hidden /> : <CircleAlert size={12} aria-hidden />} {claimWords(claims)}
    </span>
  )
}

const WIDTH = 144
const HEIGHT = 22

/** Its firings in each of the last 24 hours. */
function RowSpark({ incident: { spark, severity } }: { incident: Incident }) {
  const top = Math.max(1, ...spark)
  const step = WIDTH / spark.length
  return (
    <svg
      className="row-spark"
      data-role={severity}
      width={WIDTH}
      height={HEIGHT}
      aria-hidden
      style={{ display: 'inline-block' }}
    >
      {spark.map((n, i) => {
        const tall = n === 0 ? 1.5 : Math.max(3, (n / top) * HEIGHT)
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: an hour is its place.
            key={i}
            className={n === 0 ? undefined : 'spark-on'}
            x={i * step + 0.5}
            y={HEIGHT - tall}
            width={step - 1}
            height={tall}
          />
        )
      })}
    </svg>
  )
}
