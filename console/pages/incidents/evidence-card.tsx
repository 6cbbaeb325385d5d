/** The evidence of a firing, pinned at the moment it fired: what came later is below the line, and never hides it. */
import { Button, SegmentedControl, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import {
  type CSSProperties,
  type RefObject,
  Suspense,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { Link } from 'react-router'
import type { Firing, FiringDetail } from '../../../schemas/types.ts'
import { type ApiEvent, api } from '../../client.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { eventPath } from '../../lib/explore-state.ts'
import { explorePath, valueWords } from '../../lib/firings.ts'
import { type EvidenceItem, evidenceItems, momentOf, type Side } from '../../lib/incident-evidence.ts'
import { clock, count, countEvents, moment } from '../../lib/time.ts'
import { useRoomBelow } from '../../lib/use-room-below.ts'
import type { Span } from '../../parts/brush.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { useEvidence, useTripped } from './use-evidence.ts'

/** Pixels it has at least, where the page then scrolls. */
const LEAST = 170
/** Events of a span that are shown here; Explore has the rest. */
const SPAN_MAX = 200
const SIDES = [
  { value: 'evidence', label: 'Evidence' },
  { value: 'around', label: 'Around' },
  { value: 'all', label: 'All' },
]

interface Props {
  firing: FiringDetail
  /** All firings of the incident, newest first. */
  firings: readonly Firing[]
  onFiring: (id: string) => void
}

interface Brushed {
  /** Of the chart above: only its events are shown; null: those around the moment. */
  span: Span | null
  onReset: () => void
}

export function EvidenceCard({ span, onReset, ...around }: Props & Brushed) {
  // Each is drawn anew: what is pinned when one comes back to it is pinned again.
  return span && around.firing.entity ? (
    <OfSpan firing={around.firing} entity={around.firing.entity} span={span} onReset={onReset} />
  ) : (
    <AroundMoment {...around} />
  )
}

function AroundMoment({ firing, firings, onFiring }: Props) {
  const [side, setSide] = useState<Side>('evidence')
  const { entity } = firing
  const { tripped, events, gaps, newer, error, isPending, reload } = useEvidence(firing, side)
  const at = momentOf(firing)
  const items = evidenceItems(events, { moment: at, tripped, isFolded: side === 'evidence', gaps })
  const changes = items.filter((item) => item.kind === 'event' && item.role === 'change').length
  const box = useRef<HTMLDivElement>(null)
  const room = useRoomBelow(box, LEAST)
  usePinned(box, `${firing.dispatch_id} ${side}`, `${isPending} ${items.length} ${room}`)
  return (
    <section className="card" aria-labelledby="incident-evidence">
      <div className="card-head">
        <h2 id="incident-evidence">Evidence</h2>
        <span style={{ fontSize: 13, color: 'var(--text-2)' }}>
          {countEvents(firing.events)} tripped it
          {changes > 0 && `, ${changes} ${changes === 1 ? 'change' : 'changes'} shortly before`}
        </span>
        <span className="push" style={{ display: 'flex', flexWrap: 'wrap', gap: 10, alignItems: 'center' }}>
          {firings.length > 1 && <WhichFiring firing={firing} firings={firings} onFiring={onFiring} />}
          {entity && (
            <SegmentedControl
              size="xs"
              aria-label="What is shown"
              value={side}
              onChange={(value) => setSide(value as Side)}
              data={SIDES}
            />
          )}
          {entity && <Link to={explorePath(entity, at)}>Explore</Link>}
        </span>
      </div>
      <div ref={box} className="evidence-rows" style={{ '--room': room } as CSSProperties}>
        {isPending ? (
          <LoadingRows rows={4} />
        ) : error && events.length === 0 ? (
          <Failed what="the evidence" error={error} onRetry={reload} />
        ) : (
          <Items items={items} firing={firing} newer={newer} />
        )}
      </div>
    </section>
  )
}

/** Events of a span that was brushed, oldest first, with the moment where that is in it. */
function OfSpan({
  firing,
  entity,
  span: { from, to },
  onReset,
}: {
  firing: FiringDetail
  entity: NonNullable<FiringDetail['entity']>
  span: Span
  onReset: () => void
}) {
  const request = {
    selector: { [entity.label]: entity.value },
    from,
    to,
    order: 'asc',
    limit: SPAN_MAX,
  } as const
  const { data, error, refetch } = useQuery({
    queryKey: ['timeline', 'span', request],
    queryFn: ({ signal }) => api.read(request, signal),
  })
  const tripped = useTripped(firing)
  const at = momentOf(firing)
  const isIn = Date.parse(from) <= Date.parse(at) && Date.parse(at) < Date.parse(to)
  const items = evidenceItems(data?.rows ?? [], {
    ...{ moment: at, tripped, isFolded: false },
    gaps: data?.gaps ?? [],
  }).filter(({ kind }) => kind !== 'fired' || isIn)
  const now = Date.parse(to)
  const box = useRef<HTMLDivElement>(null)
  const room = useRoomBelow(box, LEAST)
  return (
    <section className="card" aria-labelledby="incident-evidence">
      <div className="card-head">
        <h2 id="incident-evidence">Evidence</h2>
        <span style={{ fontSize: 13, color: 'var(--text-2)' }} role="status">
          {moment(Date.parse(from), now, true)} to {moment(now, now, true)}
          {data && `, ${data.next_cursor ? 'the first ' : ''}${countEvents(data.rows.length)}`}
        </span>
        <span className="push" style={{ display: 'flex', flexWrap: 'wrap', gap: 10, alignItems: 'center' }}>
          <Button size="compact-sm" variant="default" onClick={onReset}>
            Reset span
          </Button>
          <Link to={`/explore?${new URLSearchParams({ l: `${entity.label}=${entity.value}`, from, to })}`}>
            Explore
          </Link>
        </span>
      </div>
      <div ref={box} className="evidence-rows of-span" style={{ '--room': room } as CSSProperties}>
        {data ? (
          <>
            {items.map((item) => (
              <Item key={keyOf(item)} item={item} firing={firing} />
            ))}
            {data.rows.length === 0 && <div className="evidence-fold">No events in this span</div>}
          </>
        ) : error ? (
          <Failed what="events" error={error} onRetry={() => void refetch()} />
        ) : (
          <LoadingRows rows={4} />
        )}
      </div>
    </section>
  )
}

/** What a person scrolls with. */
const SCROLLS = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const

/**
 * The moment stands at the lower end of what is seen, with what followed it, until somebody scrolls.
 * @param what is shown: another is pinned anew @param drawn changes with the rows, and with how many there is room for
 */
function usePinned(box: RefObject<HTMLElement | null>, what: string, drawn: string): void {
  const left = useRef<string | null>(null)
  useEffect(() => {
    const shown = box.current
    const leave = () => {
      left.current = what
    }
    for (const by of SCROLLS) shown?.addEventListener(by, leave, { passive: true })
    return () => {
      for (const by of SCROLLS) shown?.removeEventListener(by, leave)
    }
  }, [box, what])
  // biome-ignore lint/correctness/useExhaustiveDependencies: pinned again as rows come and the room changes.
  useLayoutEffect(() => {
    const shown = box.current
    const line = shown?.querySelector<HTMLElement>('.evidence-fired')
    if (!shown || !line || left.current === what) return
    const end = line.offsetTop - shown.offsetTop + line.offsetHeight
    shown.scrollTop = Math.max(0, end - shown.clientHeight + 34)
  }, [box, what, drawn])
}

function WhichFiring({ firing, firings, onFiring }: Props) {
  const now = Date.now()
  const names = firings.map((one, i) => ({
    value: one.dispatch_id,
    label: `${moment(Date.parse(momentOf(one)), now, true)}${i === firings.length - 1 ? ', first' : ''}`,
  }))
  return (
    <Select
      size="xs"
      w={150}
      aria-label="Firing"
      data={names}
      value={firing.dispatch_id}
      allowDeselect={false}
      onChange={(value) => value && onFiring(value)}
    />
  )
}

function Items({
  items,
  firing,
  newer,
}: {
  items: readonly EvidenceItem[]
  firing: FiringDetail
  newer: number | null
}) {
  const { entity } = firing
  const at = momentOf(firing)
  const fired = items.findIndex(({ kind }) => kind === 'fired')
  const later = items.slice(fired).filter(({ kind }) => kind === 'event').length
  const rest = (newer ?? 0) - later
  return (
    <>
      {items.map((item) => (
        <Item key={keyOf(item)} item={item} firing={firing} />
      ))}
      {entity && rest > 0 && (
        <Link
          className="evidence-fold"
          style={{ display: 'block', textDecoration: 'none' }}
          to={laterPath(entity, at)}
        >
          › {count(rest)} newer {rest === 1 ? 'event' : 'events'}
        </Link>
      )}
      {items.every(({ kind }) => kind === 'fired' || kind === 'gap') && firing.events > 0 && (
        <div className="evidence-fold">Events expired</div>
      )}
      {firing.events === 0 && <div className="evidence-fold">No events: fired on schedule</div>}
    </>
  )
}

const keyOf = (item: EvidenceItem): string =>
  item.kind === 'event'
    ? item.event.id
    : item.kind === 'fold'
      ? item.events[0]!.id
      : item.kind === 'gap'
        ? item.gap.source + item.gap.from
        : 'fired'

function Item({ item, firing }: { item: EvidenceItem; firing: FiringDetail }) {
  const at = momentOf(firing)
  if (item.kind === 'event') return <Row event={item.event} as={item.role} firing={firing} />
  if (item.kind === 'fold') return <Fold events={item.events} firing={firing} />
  if (item.kind === 'gap')
    return (
      <div className="evidence-fold" data-gap style={{ cursor: 'default' }}>
        <Suspense>
          <GapLine gap={item.gap} now={Date.parse(at)} />
        </Suspense>
      </div>
    )
  return (
    <div className="evidence-fired">
      <span>◆ Fired {clock(at, Date.parse(at))}</span>
      <span>{valueWords(firing) ?? firing.reason}</span>
    </div>
  )
}

/** Explore from the moment on. */
const laterPath = ({ label, value }: { label: string; value: string }, from: string): string =>
  `/explore?${new URLSearchParams({ l: `${label}=${value}`, from })}`

/** Seldom there. */
const GapLine = lazyFrom(() => import('../../parts/source-gaps.tsx'))('GapLine')

const ROLE_WORDS = { tripped: 'Tripped it: ', change: 'Change: ', other: '' }

interface RowProps {
  event: ApiEvent
  as: keyof typeof ROLE_WORDS
  firing: FiringDetail
}

function Row({ event, as: role, firing }: RowProps) {
  return (
    <div className="evidence-row" data-kind={role} data-event={event.id}>
      <time className="mono" dateTime={event.event_time}>
        {/* An event can say a day that is not the one on which it came and fired. */}
        {clock(event.event_time, Date.parse(momentOf(firing)))}
      </time>
      <span className="ellipsis">{event.source}</span>
      <span className="ellipsis">{event.event_type}</span>
      <Link
        to={eventPath(event.id, firing.entity ?? undefined)}
        title={event.text}
        aria-label={ROLE_WORDS[role] + event.text}
      >
        {event.text}
      </Link>
    </div>
  )
}

function Fold({ events, firing }: { events: readonly ApiEvent[]; firing: FiringDetail }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="evidence-fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? '⌄' : '›'} {count(events.length)} other events
      </button>
      {isOpen && events.map((event) => <Row key={event.id} event={event} as="other" firing={firing} />)}
    </>
  )
}
