/** One incident, in a fixed order: headline, acts, finding, why, evidence; what is around it stands beside. */
import { Kbd } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Suspense, useDeferredValue, useState } from 'react'
import { Link, useNavigate, useParams, useSearchParams } from 'react-router'
import type { Firing, FiringDetail, Home, IncidentDetail } from '../../../schemas/types.ts'
import { ikeys, incidents } from '../../incident-client.ts'
import { actorName } from '../../lib/actor.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import type { Act } from '../../lib/incident-acts.ts'
import { incidentPath, openTotal, SEVERITY_WORDS, stateWords } from '../../lib/incidents.ts'
import { usePageKeys } from '../../lib/page-keys.ts'
import { triggerPath } from '../../lib/paths.ts'
import { ago, count, moment } from '../../lib/time.ts'
import { useIncidentActs } from '../../lib/use-incident-acts.tsx'
import { useIsPhone } from '../../lib/use-is-phone.ts'
import type { Span } from '../../parts/brush.tsx'
import { KeysHelp } from '../../parts/keys-help.tsx'
import { PageHead, useHeadFocus, usePageTitle } from '../../parts/page.tsx'
import { Severity } from '../../parts/severity.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { useNow } from '../../parts/use-now.ts'
import { wkeys, work } from '../../trigger-client.ts'
import { DeliveryTable } from '../deliveries/delivery-table.tsx'
import { FiringKeys } from '../firings/firing-keys.tsx'
import { ActsBar } from './acts-bar.tsx'
import { EvidenceCard } from './evidence-card.tsx'
import { FindingCard } from './finding-card.tsx'
import { Rail } from './rail.tsx'
import { WhyCard } from './why-card.tsx'

/** Seldom there. */
const NameDialog = lazyFrom(() => import('../../parts/name-dialog.tsx'))('NameDialog')

const FRESH_MS = 5_000
const KEYS: readonly [string, string][] = [
  ['A', 'Acknowledge'],
  ['E', 'Mark handled'],
  ['U', 'Undo'],
  ['N', 'Add a note'],
  ['J, K', 'Next and previous open incident'],
  ['?', 'This help'],
]

export default function IncidentPage() {
  const { id = '' } = useParams()
  const { data, error, refetch } = useQuery({
    queryKey: ikeys.one(id),
    queryFn: () => incidents.one(id),
    refetchInterval: FRESH_MS,
  })
  // Drawn the first time in slices: all of it at once is 80 ms of work (2026-11-26).
  const isDrawable = useDeferredValue(data !== undefined)
  if (data && isDrawable) return <Shown key={data.id} incident={data} />
  return (
    <>
      <PageHead title="Incident" />
      {error ? <Failed what="the incident" error={error} onRetry={() => void refetch()} /> : <LoadingRows />}
    </>
  )
}

function Shown({ incident }: { incident: IncidentDetail }) {
  const [address, setAddress] = useSearchParams()
  const asked = address.get('firing')
  const chosen = asked ?? titledBy(incident.firings)?.dispatch_id ?? null
  const firing = useQuery({
    queryKey: wkeys.firing(chosen ?? ''),
    queryFn: () => work.firing(chosen!),
    enabled: chosen !== null,
    refetchInterval: 15_000,
    placeholderData: keepPreviousData,
  })
  const actOn = useIncidentActs()
  const onAct = (act: Act): Promise<boolean> => actOn({ ...incident, id: incident.id }, act)
  const [isNaming, setNaming] = useState(false)
  const onMine = (): void => {
    if (actorName() === null) setNaming(true)
    else void onAct({ action: 'assign' })
  }
  usePageKeys([
    ['a', () => incident.state === 'open' && onAct({ action: 'acknowledge' })],
    ['e', () => incident.state !== 'handled' && onAct({ action: 'handle' })],
  ])
  const props = { incident, firing: firing.data, isReading: firing.isLoading, onAct, onMine }
  return (
    <div className="has-phone-acts">
      <Head incident={incident} />
      <ActsBar {...props} />
      <div className="with-rail">
        <div className="main-column">
          <FindingCard incident={incident} />
          {firing.data ? (
            <OfFiring
              firing={firing.data}
              incident={incident}
              onFiring={(id) => setAddress({ firing: id }, { replace: true })}
            />
          ) : firing.error ? (
            <Failed what="the incident" error={firing.error} onRetry={() => void firing.refetch()} />
          ) : (
            chosen && <LoadingRows />
          )}
        </div>
        <Rail {...props} />
      </div>
      <KeysHelp keys={KEYS} />
      <Suspense>
        {isNaming && (
          <NameDialog
            onClose={() => setNaming(false)}
            onNamed={() => {
              setNaming(false)
              onAct({ action: 'assign' })
            }}
          />
        )}
      </Suspense>
    </div>
  )
}

/** The firing that the title speaks of: the first of the most severe. The list begins with the newest. */
const titledBy = (firings: readonly Firing[]): Firing | undefined =>
  ['critical', 'warning', 'info']
    .map((severity) => firings.findLast((one) => one.severity === severity && !one.resolves))
    .find((one) => one) ?? firings.at(-1)

function OfFiring({
  firing,
  incident,
  onFiring,
}: {
  firing: FiringDetail
  incident: IncidentDetail
  onFiring: (id: string) => void
}) {
  const [span, setSpan] = useSpan()
  return (
    <>
      <WhyCard firing={firing} incident={incident} onSpan={setSpan} />
      <EvidenceCard
        firing={firing}
        firings={incident.firings}
        onFiring={onFiring}
        span={span}
        onReset={() => setSpan(null)}
      />
      {firing.key_count > 1 && <FiringKeys firing={firing} />}
      {firing.deliveries.length > 0 && (
        <section aria-label="Deliveries of this firing">
          <h2 style={{ margin: '0 0 6px', fontSize: 14 }}>Deliveries of this firing</h2>
          <DeliveryTable deliveries={firing.deliveries} without="firing" />
        </section>
      )}
    </>
  )
}

/** A span of the evidence that was brushed, in the address, so that it can be sent. */
function useSpan(): [Span | null, (span: Span | null) => void] {
  const [address, setAddress] = useSearchParams()
  const [from, to] = [address.get('from'), address.get('to')]
  const set = (span: Span | null): void =>
    setAddress(
      (now) => {
        const next = new URLSearchParams(now)
        for (const end of ['from', 'to'] as const)
          if (span) next.set(end, span[end])
          else next.delete(end)
        return next
      },
      { replace: true },
    )
  const isSpan = [from, to].every((end) => end !== null && !Number.isNaN(Date.parse(end)))
  return [isSpan ? { from: from!, to: to! } : null, set]
}

function Head({ incident }: { incident: IncidentDetail }) {
  const now = useNow()
  const { number, severity, headline, entity, key, trigger, opened_at, last_fired_at, firings_total } =
    incident
  usePageTitle(`#${number} ${headline}`)
  const head = useHeadFocus<HTMLHeadingElement>()
  return (
    <header className="incident-head">
      <div className="crumbs">
        <nav aria-label="Breadcrumb">
          <Link to="/incidents">Incidents</Link> › #{number}
        </nav>
        <Neighbours id={incident.id} />
      </div>
      <h1 ref={head} tabIndex={-1} className="page-title">
        <Severity of={severity} size={22} isSaid />
        {headline}
      </h1>
      <div className="chips">
        <span className="chip" data-role={severity}>
          {SEVERITY_WORDS[severity]}
        </span>
        <span className="chip" data-role={STATE_ROLES[incident.state]} role="status">
          {stateWords(incident, now)}
        </span>
        {(entity || key) && (
          <span className="chip mono">{entity ? `${entity.label}=${entity.value}` : key}</span>
        )}
        <span>
          Trigger <Link to={triggerPath(trigger)}>{trigger}</Link>
        </span>
        <span style={{ color: 'var(--text-2)' }}>
          began{' '}
          <time dateTime={opened_at}>
            <b>{moment(Date.parse(opened_at), now, true)}</b>
          </time>
          , {ago(opened_at, now)}
        </span>
        <span style={{ color: 'var(--text-2)' }}>
          <b>{count(firings_total)}</b> {firings_total === 1 ? 'firing' : 'firings'}, last{' '}
          {ago(last_fired_at, now)}
        </span>
      </div>
    </header>
  )
}

const STATE_ROLES: Record<IncidentDetail['state'], string | undefined> = {
  open: 'critical',
  acknowledged: 'info',
  snoozed: undefined,
  handled: 'good',
}

const ACTIVE = { state: 'active' } as const

const hasAllActive = ({ counts, incidents: shown }: Home): boolean =>
  counts.snoozed === 0 && shown.length === openTotal(counts) + counts.acknowledged

const STEPS = [
  [-1, 'Previous', 'K', '‹'],
  [1, 'Next', 'J', '›'],
] as const

/** Where it stands among those that are open, and the ones before and after. */
function Neighbours({ id }: { id: string }) {
  const go = useNavigate()
  // Home, which is read for the menu, has them in the same order, where there are few and none is snoozed.
  const home = useQuery({ queryKey: ikeys.home(null), queryFn: () => incidents.home() })
  const isAll = home.data !== undefined && hasAllActive(home.data)
  const { data } = useQuery({
    queryKey: [...ikeys.all, 'neighbours'],
    queryFn: () => incidents.list(ACTIVE, undefined, 200),
    staleTime: 10_000,
    enabled: !home.isPending && !isAll,
  })
  const isPhone = useIsPhone()
  const rows = (isAll ? home.data.incidents : data?.incidents) ?? []
  const at = rows.findIndex((one) => one.id === id)
  const to = (by: number): void => {
    // From one that is not in the list, the first of it is next.
    const next = at < 0 ? rows[0] : rows[at + by]
    if (next) void go(incidentPath(next))
  }
  usePageKeys([
    ['j', () => to(1)],
    ['k', () => to(-1)],
  ])
  if (rows.length === 0) return null
  return (
    <span style={{ whiteSpace: 'nowrap' }}>
      {at >= 0 && `${at + 1} of ${rows.length}${data?.next_before ? '+' : ''} `}
      {STEPS.map(([by, name, key, sign]) => (
        <button
          key={key}
          type="button"
          className="text-button"
          // A finger needs more room, and has no keys to be told of.
          style={{ minWidth: isPhone ? 44 : 24, minHeight: isPhone ? 44 : 24 }}
          disabled={by < 0 ? at <= 0 : at === rows.length - 1}
          aria-label={`${name} incident`}
          onClick={() => to(by)}
        >
          {isPhone ? sign : <Kbd size="xs">{key}</Kbd>}
        </button>
      ))}
    </span>
  )
}
