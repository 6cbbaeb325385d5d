/** Home: what is wrong, why, what now; in one of three states: nothing was ever sent, quiet, or on fire. */
import { Button, Group, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { GitBranch } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import type { Home } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { ikeys, incidents } from '../../incident-client.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { incidentPath, openTotal, stateWords } from '../../lib/incidents.ts'
import { lasting, moment, count as thousands } from '../../lib/time.ts'
import { AskAbout } from '../../parts/ask-about.tsx'
import { IncidentList } from '../../parts/incident-list.tsx'
import { KeysHelp, KeysHint, LIST_KEYS } from '../../parts/keys-help.tsx'
import { Acts, useMay } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Severity } from '../../parts/severity.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { useNow } from '../../parts/use-now.ts'
import { Checklist } from './checklist.tsx'
import { AgentsAtWork, NewestFindings, OftenFired, SourcesCard, Today, Unwell } from './home-cards.tsx'
import { Strip } from './strip.tsx'

const FRESH_MS = 5_000
/** Most instances have events, and never show it. */
const Doors = lazyFrom(() => import('./doors.tsx'))('Doors')

export function HomePage() {
  const may = useMay()
  const [hours, setHours] = useState<number | null>(null)
  const { data, error, refetch } = useQuery({
    queryKey: ikeys.home(hours),
    queryFn: () => incidents.home(hours ?? undefined),
    refetchInterval: FRESH_MS,
    placeholderData: keepPreviousData,
  })
  const go = useNavigate()
  if (!data)
    return (
      <>
        <PageHead title="Home" />
        {error ? <Failed what="Home" error={error} onRetry={() => void refetch()} /> : <LoadingRows />}
      </>
    )
  if (data.state === 'empty')
    return (
      <>
        <PageHead title="Send your first event" tab="Home" />
        <Text size="sm" mt={-10} mb="md">
          svc keeps the events of your systems on one timeline. Triggers say which events matter, open
          incidents, and wake agents that look for the cause.
        </Text>
        <Acts says>
          <Suspense fallback={<LoadingRows />}>
            <Doors />
          </Suspense>
          <Checklist done={data.checklist} />
        </Acts>
      </>
    )
  const open = openTotal(data.counts)
  return (
    <>
      <PageHead title={open === 0 ? 'No open incidents' : count(open, 'open incident')} tab="Home">
        <AskAbout question="What changed in the last hours, and what is unusual?" />
      </PageHead>
      <HeadLine home={data} />
      <div className="with-rail">
        <div className="main-column">
          <Strip
            strip={data.strip}
            onHours={setHours}
            onSpan={(span) => void go(`/explore?${new URLSearchParams({ all: '1', ...span })}`)}
          />
          {may && !data.checklist.trigger && <GoOn sources={data.sources} />}
          {data.incidents.length > 0 && <Incidents home={data} />}
          <NewestFindings findings={data.findings} />
          {data.state === 'quiet' && <OftenFired triggers={data.triggers} />}
        </div>
        <aside className="rail" aria-label="At work">
          <AgentsAtWork agents={data.agents} total={data.agents_total} />
          <SourcesCard sources={data.sources} counts={data.source_counts} total={data.sources_total} />
          <Today today={data.today} />
          {may && !Object.values(data.checklist).every(Boolean) && <Checklist done={data.checklist} />}
        </aside>
      </div>
      <KeysHelp keys={LIST_KEYS} />
    </>
  )
}

/** Events come, and nothing watches them: what to do next. */
function GoOn({ sources }: Pick<Home, 'sources'>) {
  const name = sources.find(({ last_event_at }) => last_event_at !== null)?.name
  if (name === undefined) return null
  const asked = encodeURIComponent(name)
  return (
    <section className="card" aria-labelledby="home-next" style={{ padding: '12px 14px' }}>
      <h2 id="home-next">Events arrive from {name}</h2>
      <Text size="sm" my="xs">
        The events are stored, and nothing watches them yet. A trigger says which events matter, and tells
        somebody.
      </Text>
      <Group gap="xs">
        <Button component={Link} to={`/triggers/new?source=${asked}`}>
          Add a trigger
        </Button>
        <Button component={Link} to={`/explore?source=${asked}`} variant="default">
          See the events
        </Button>
      </Group>
    </section>
  )
}

const count = (n: number, word: string): string => `${thousands(n)} ${word}${n === 1 ? '' : 's'}`

/** Counts, the oldest, the last one handled; and sources that are not well, in all states. */
function HeadLine({
  home: { counts, oldest_opened_at: oldest, last_handled, sources, source_counts: sourceCounts },
}: {
  home: Home
}) {
  const now = useNow()
  return (
    <Group gap="md" mt={-10} mb="sm" fz={14} c="var(--text-2)">
      {(['critical', 'warning', 'info'] as const).map((severity) =>
        counts.open[severity] > 0 ? (
          <Group key={severity} gap={6} wrap="nowrap">
            <Severity of={severity} size={15} isSaid />
            <span>
              {thousands(counts.open[severity])} {severity}
            </span>
          </Group>
        ) : null,
      )}
      {oldest !== null && <span>oldest {lasting(now - Date.parse(oldest))}</span>}
      {counts.acknowledged > 0 && <span>{thousands(counts.acknowledged)} acknowledged</span>}
      {oldest === null && last_handled?.handled && (
        <span>
          Last one: <Link to={incidentPath(last_handled)}>{last_handled.headline}</Link>,{' '}
          {moment(Date.parse(last_handled.handled.at), now)}, {lower(stateWords(last_handled, now))}
        </span>
      )}
      <Unwell sources={sources} counts={sourceCounts} />
      <Repository />
    </Group>
  )
}

/** Where the followed repository says something else than the instance has. */
function Repository() {
  const { data } = useQuery({ queryKey: keys.health, queryFn: ({ signal }) => api.health(signal) })
  const state = data?.catalog_sync?.state
  if (state !== 'out_of_sync' && state !== 'failed') return null
  return (
    <span style={{ display: 'inline-flex', gap: 6, alignItems: 'center', color: 'var(--warning)' }}>
      <GitBranch size={15} aria-hidden />
      <Link to="/changes?tab=catalog&view=repository" style={{ color: 'inherit' }}>
        {state === 'failed' ? 'Sync of the repository failed' : 'The repository is out of sync'}
      </Link>
    </span>
  )
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** More of them are on their own page: a list that nobody can take in at a glance makes Home slow. */
const INCIDENTS_SHOWN = 15

function Incidents({ home: { incidents: rows, counts } }: { home: Home }) {
  const open = openTotal(counts)
  return (
    <section className="card" aria-labelledby="home-incidents">
      <div className="card-head">
        <h2 id="home-incidents">Incidents</h2>
        <span style={{ color: 'var(--text-2)', fontSize: 13.5 }}>
          {thousands(open)} open, {thousands(counts.acknowledged)} acknowledged
        </span>
        <KeysHint />
        <Link to="/incidents">All</Link>
      </div>
      <IncidentList incidents={rows.slice(0, INCIDENTS_SHOWN)} label="Incidents" />
      {open > INCIDENTS_SHOWN && (
        <div className="finding-row" style={{ display: 'block' }}>
          <Link to="/incidents">All {thousands(open)} open incidents</Link>
        </div>
      )}
      {counts.snoozed > 0 && (
        <div className="finding-row" style={{ display: 'block' }}>
          <Link to="/incidents?state=snoozed">{counts.snoozed} snoozed</Link>
        </div>
      )}
    </section>
  )
}
