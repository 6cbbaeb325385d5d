/** One event of a timeline; opened, it shows its payload as stored, and what triggers made of it. */
import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { Link } from 'react-router'
import { type ApiEvent, api } from '../../client.ts'
import { levelOf } from '../../lib/explore-state.ts'
import { indentJson } from '../../lib/json-text.ts'
import { ago, clock } from '../../lib/time.ts'
import { metricPath, traceIdOf, tracePath } from '../../lib/traces.ts'
import { CopyIcon } from '../../parts/copy.tsx'
import { EventWhy } from '../../parts/event-why.tsx'

interface Props {
  event: ApiEvent
  now: number
  open: boolean
  active: boolean
  isNew?: boolean
  /** What sets it apart from its neighbours, in a word. */
  mark?: string
  onToggle: () => void
  /** Adds a label to the selector. */
  onLabel?: (name: string, value: string) => void
}

export function EventRow({ event, now, open, active, isNew = false, mark, onToggle, onLabel }: Props) {
  const labels = Object.entries(event.labels)
  const button = useId()
  return (
    <div className="timeline-event">
      <div
        className="timeline-row"
        data-level={levelOf(event) ?? undefined}
        data-active={active}
        data-new={isNew}
        data-mark={mark}
      >
        {/* The button's area is the whole row (see timeline.css); what it says and the label buttons lie above it. */}
        <button
          id={button}
          type="button"
          className="row-open mono"
          data-event={event.id}
          aria-expanded={open}
          aria-label={`${event.text}, ${event.source}, ${ago(event.event_time, now)}${mark ? `, ${mark}` : ''}`}
          onClick={onToggle}
        >
          <time
            dateTime={event.event_time}
            title={`${event.event_time} · ${ago(event.event_time, now)} · stored ${event.ingested_at}`}
          >
            {event.reference ? 'reference' : clock(event.event_time, now)}
          </time>
        </button>
        {/* Plain elements: forty rows are drawn anew as events arrive, and with the kit's components that is a long task. */}
        <div className="ellipsis row-cell">{event.source}</div>
        <div className="ellipsis row-cell row-type">{event.event_type}</div>
        {/* A label of the button: its text can be marked and copied, and a click that marks nothing opens the row. */}
        <label htmlFor={button} className="ellipsis row-cell row-text" title={event.text}>
          {mark && <span className="row-mark">{mark}</span>}
          {event.text}
        </label>
        <div className="row-labels">
          {labels.slice(0, 3).map(([name, value]) =>
            onLabel && typeof value === 'string' ? (
              <button
                key={name}
                type="button"
                className="row-badge row-label"
                title={`Only ${name}=${value}`}
                onClick={() => onLabel(name, value)}
              >
                <span className="ellipsis">
                  {name}={value}
                </span>
              </button>
            ) : (
              <span key={name} className="row-badge">
                <span className="ellipsis">
                  {name}={String(value)}
                </span>
              </span>
            ),
          )}
        </div>
      </div>
      {open && (
        <>
          <Payload event={event} />
          {!event.reference && <EventWhy event={event.id} />}
        </>
      )}
    </div>
  )
}

function Payload({ event }: { event: ApiEvent }) {
  const trace = traceIdOf(event.labels)
  const metric = metricPath(event)
  const { data, error } = useQuery({
    queryKey: ['event', event.id],
    queryFn: () => api.rawEvent(event.id),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <section className="payload mono" aria-label={`Payload of ${event.id}`}>
      <Group justify="space-between" wrap="nowrap" mb={4}>
        <Text size="xs" c="dimmed">
          {event.id} · happened {event.event_time} · stored {event.ingested_at}
          {event.entity ? ` · ${event.entity.label}=${event.entity.value}` : ' · on no timeline'}
        </Text>
        <Group gap="xs" wrap="nowrap">
          {trace && (
            <Text size="xs" ff="text">
              <Link to={tracePath(trace)}>Open the trace</Link>
            </Text>
          )}
          {metric && (
            <Text size="xs" ff="text">
              <Link to={metric}>Open the metric</Link>
            </Text>
          )}
          {data !== undefined && <CopyIcon value={data} label="Copy the payload" />}
        </Group>
      </Group>
      <pre>{error ? error.message : data === undefined ? 'Loading…' : indentJson(data)}</pre>
    </section>
  )
}
