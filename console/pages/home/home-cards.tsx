/** Cards of Home beside its incidents: findings, agents at work, sources, today, triggers that fire often. */
import { Check, CircleAlert, Clock, Pause } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { callerText } from '../../../schemas/caller-words.ts'
import type { Home } from '../../../schemas/types.ts'
import { pathOfIncident } from '../../lib/incidents.ts'
import { agentPath, runPath, triggerPath } from '../../lib/paths.ts'
import { sourceState } from '../../lib/source-words.ts'
import { count, moment, money } from '../../lib/time.ts'
import { Acts } from '../../parts/may.tsx'
import { Spark } from '../../parts/spark.tsx'
import { useNow } from '../../parts/use-now.ts'
import { VerdictChip } from '../../parts/verdict-chip.tsx'

/** Of sources that are well, none is listed by itself. */
const LISTED = 6

function Card({
  id,
  title,
  aside,
  children,
}: {
  id: string
  title: string
  aside?: ReactNode
  children: ReactNode
}) {
  return (
    <section className="card" aria-labelledby={id}>
      <div style={{ display: 'flex', justifyContent: 'space-between', gap: 8 }}>
        <h2 id={id}>{title}</h2>
        <span style={{ fontSize: 13 }}>{aside}</span>
      </div>
      {children}
    </section>
  )
}

export function NewestFindings({ findings }: Pick<Home, 'findings'>) {
  const now = useNow()
  if (findings.length === 0) return null
  return (
    <section className="card" aria-labelledby="home-findings">
      <div className="card-head">
        <h2 id="home-findings">Newest findings</h2>
        <Link className="push" to="/findings">
          All findings
        </Link>
      </div>
      {findings.map(({ run_id, at, verdict, headline, entity, handled, incident }) => (
        <div className="finding-row" key={run_id}>
          <time dateTime={at} style={{ color: 'var(--text-2)' }}>
            {moment(Date.parse(at), now)}
          </time>
          <span style={{ overflowWrap: 'anywhere' }}>
            {verdict && <VerdictChip of={verdict} isFinding />}{' '}
            <Link to={incident ? pathOfIncident(incident) : runPath(run_id)} style={{ color: 'inherit' }}>
              {headline}
            </Link>{' '}
            <span style={{ color: 'var(--text-2)' }}>{entity}</span>
          </span>
          <span style={{ color: 'var(--text-2)' }}>
            {handled ? `handled by ${callerText(handled.by)}` : ''}
          </span>
        </div>
      ))}
    </section>
  )
}

export function AgentsAtWork({ agents, total }: Pick<Home, 'agents'> & { total: number }) {
  if (agents.length === 0) return null
  return (
    <Card
      id="home-agents"
      title={`Agents at work: ${count(total)}`}
      aside={<Link to={total > agents.length ? '/runs?status=open' : '/runs'}>Runs</Link>}
    >
      {agents.map(({ run_id, agent, entity, status, round, max_rounds }) => (
        <div className="rail-row" key={run_id}>
          <Clock size={15} aria-hidden color="var(--verdict)" />
          <div>
            <Link to={agentPath(agent)}>{agent}</Link>
            {entity ? ` on ${entity}` : ''}
            <div>
              <Link
                to={runPath(run_id)}
                aria-label={`Run of ${agent} on ${entity}`}
                style={{ color: 'var(--text-2)' }}
              >
                {status === 'queued'
                  ? 'Queued'
                  : status === 'parked'
                    ? 'Waits for its model'
                    : `Round ${round} of ${max_rounds}`}
              </Link>
            </div>
          </div>
        </div>
      ))}
    </Card>
  )
}

const MARKS: Record<Home['sources'][number]['state'], ReactNode> = {
  failing: <CircleAlert size={15} role="img" aria-label="Failing" color="var(--critical)" />,
  quiet: <Clock size={15} role="img" aria-label="Quiet" color="var(--warning)" />,
  paused: <Pause size={15} role="img" aria-label="Paused" color="var(--quiet)" />,
  ok: <Check size={15} role="img" aria-label="Receiving" color="var(--good)" />,
}
const sourcePath = (name: string): string => `/sources/${encodeURIComponent(name)}`

export function SourcesCard({
  sources,
  counts,
  total,
}: Pick<Home, 'sources'> & { counts: Home['source_counts']; total: number }) {
  const unwell = sources.filter(({ state }) => state !== 'ok')
  const well = sources.filter(({ state }) => state === 'ok')
  return (
    <Card id="home-sources" title="Sources" aside={<Link to="/sources">All {count(total)}</Link>}>
      {unwell.slice(0, LISTED).map(({ name, state, reason, last_event_at }) => (
        <div className="rail-row" key={name}>
          {MARKS[state]}
          <div>
            <Link to={sourcePath(name)}>{name}</Link>
            <div style={{ color: 'var(--text-2)' }}>
              {state === 'quiet' && last_event_at === null ? 'Nothing received yet' : reason}
            </div>
          </div>
        </div>
      ))}
      {counts.ok > 0 && (
        <div className="rail-row">
          {MARKS.ok}
          <div>
            {count(counts.ok)} {sourceState('receiving').children}
            <div style={{ color: 'var(--text-2)' }}>
              {well.slice(0, LISTED).map(({ name }, i) => (
                <span key={name}>
                  {i > 0 && ', '}
                  <Link to={sourcePath(name)}>{name}</Link>
                </span>
              ))}
              {well.length > LISTED && ` and ${count(counts.ok - LISTED)} more`}
            </div>
          </div>
        </div>
      )}
    </Card>
  )
}

/** Of the heading line: sources that fail or are quiet, in a sentence each. */
export function Unwell({ sources, counts }: Pick<Home, 'sources'> & { counts: Home['source_counts'] }) {
  const first = sources.find(({ state }) => state === 'failing' || state === 'quiet')
  if (!first) return null
  // What is said of the first is said of its like alone: a source that nobody sends to yet does not fail.
  const others = counts[first.state] - 1
  const quiet = first.state === 'failing' ? counts.quiet : 0
  return (
    <span style={{ display: 'inline-flex', gap: 6, alignItems: 'center', color: 'var(--warning)' }}>
      {MARKS[first.state]}
      <span>
        <Link to={sourcePath(first.name)} style={{ color: 'inherit' }}>
          {first.name}
        </Link>{' '}
        {first.state === 'quiet' && first.last_event_at === null
          ? 'has received nothing yet'
          : `is ${first.state}`}
        {others > 0 && (
          <>
            {' '}
            and{' '}
            <Link to="/sources" style={{ color: 'inherit' }}>
              {count(others)} more
            </Link>
          </>
        )}
        {quiet > 0 && `; ${count(quiet)} ${quiet === 1 ? 'is' : 'are'} quiet`}
      </span>
    </span>
  )
}

export function Today({ today }: Pick<Home, 'today'>) {
  const since = encodeURIComponent(today.since)
  // Each leads to a list of exactly what was counted.
  const rows: [label: string, value: string, to: string][] = [
    ['Events', count(today.events), `/explore?all=1&from=${since}`],
    ['Firings', count(today.firings), `/incidents?tab=firings&state=fired&since=${since}`],
    ['Incidents opened', count(today.incidents), `/incidents?state=all&since=${since}`],
    ['Runs ended', count(today.runs), `/runs?since=${since}`],
    ['Findings of runs', count(today.findings), `/runs?outcome=finding&since=${since}`],
    ['Failed deliveries', count(today.deliveries_failed), `/deliveries?status=failed&since=${since}`],
  ]
  // Of a day whose models all have no price nothing is known.
  if (today.spent_usd > 0 || today.uncosted_calls === 0)
    rows.push(['Spent on models', money(today.spent_usd), '/usage'])
  if (today.uncosted_calls > 0) rows.push(['Calls without a price', count(today.uncosted_calls), '/usage'])
  return (
    <Card
      id="home-today"
      title="Today"
      aside={<span style={{ color: 'var(--text-2)' }}>since 00:00 UTC</span>}
    >
      <dl className="rail-facts wide">
        {rows.map(([label, value, to]) => (
          <div key={label} style={{ display: 'contents' }}>
            <dt>{label}</dt>
            <dd>
              <Link to={to} aria-label={`${label} today: ${value}`}>
                {value}
              </Link>
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

export function OftenFired({ triggers }: Pick<Home, 'triggers'>) {
  if (triggers.length === 0) return null
  return (
    <section className="card" aria-labelledby="home-often">
      <div className="card-head">
        <h2 id="home-often">Fired most this week</h2>
        <Link className="push" to="/triggers">
          All triggers
        </Link>
      </div>
      {triggers.map(({ name, firings, spark }) => (
        <div className="finding-row" key={name} style={{ gridTemplateColumns: '92px minmax(0, 1fr) auto' }}>
          <Spark days={spark} />
          <span style={{ overflowWrap: 'anywhere' }}>
            <Link to={triggerPath(name)} style={{ color: 'inherit' }}>
              {name}
            </Link>{' '}
            <span style={{ color: 'var(--text-2)' }}>
              {count(firings)} {firings === 1 ? 'firing' : 'firings'}
            </span>
          </span>
          <Acts>
            <Link to={triggerPath(name, 'edit')} aria-label={`Tune ${name}`}>
              Tune
            </Link>
          </Acts>
        </div>
      ))}
    </section>
  )
}
