/**
 * A trace as a waterfall: each span below the one that began it, its bar where it was at work. Rows are opened and
 * folded by keys as those of a tree (https://www.w3.org/WAI/ARIA/apg/patterns/treegrid/).
 */
import { Box, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ChevronDown, ChevronRight, CircleAlert, Link2 } from 'lucide-react'
import { type KeyboardEvent, useMemo, useRef, useState } from 'react'
import { Link } from 'react-router'
import type { Trace, TraceRow } from '../../../schemas/types.ts'
import { api } from '../../client.ts'
import { indentJson } from '../../lib/json-text.ts'
import { runPath } from '../../lib/paths.ts'
import { count } from '../../lib/time.ts'
import { barOf, parentsOf, shownRows, tookExactly, tracePath, usedWords } from '../../lib/traces.ts'
import { CopyIcon } from '../../parts/copy.tsx'

/** Rows shown at first, and with each *Show more*: a browser draws them at once. */
const ROWS = 100
const INDENT = 14
const INDENT_MOST = 12
const TICKS = [0, 0.25, 0.5, 0.75, 1]
/** Colours of services, in the order of their first span; the name stands beside each bar. */
const COLOURS = 6

export function Waterfall({ trace }: { trace: Trace }) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [open, setOpen] = useState<string | null>(null)
  const [most, setMost] = useState(ROWS)
  const grid = useRef<HTMLDivElement>(null)
  const parents = useMemo(() => parentsOf(trace.rows), [trace.rows])
  const rows = useMemo(() => shownRows(trace.rows, closed), [trace.rows, closed])
  const [active, setActive] = useState(rows[0]?.key)
  const fold = (id: string, isClosed: boolean) =>
    setClosed((now) => new Set(isClosed ? [...now, id] : [...now].filter((one) => one !== id)))
  const go = (to: TraceRow | undefined) => {
    if (!to) return
    setActive(to.key)
    grid.current?.querySelector<HTMLElement>(`[data-row="${to.key}"]`)?.focus()
  }
  const press = (event: KeyboardEvent, row: TraceRow, at: number) => {
    const isParent = parents.has(row.key)
    const isClosed = closed.has(row.key)
    const above = rows.slice(0, at).findLast(({ depth }) => depth < row.depth)
    const acts = new Map<string, () => unknown>([
      ['ArrowDown', () => go(rows[at + 1])],
      ['ArrowUp', () => go(rows[at - 1])],
      ['Home', () => go(rows[0])],
      ['End', () => go(rows[Math.min(most, rows.length) - 1])],
      ['ArrowRight', () => (isParent && isClosed ? fold(row.key, false) : isParent && go(rows[at + 1]))],
      ['ArrowLeft', () => (isParent && !isClosed ? fold(row.key, true) : go(above))],
      ['Enter', () => setOpen(open === row.key ? null : row.key)],
    ])
    const act = event.target === event.currentTarget ? acts.get(event.key) : undefined
    if (!act) return
    event.preventDefault()
    act()
  }
  return (
    <>
      <Box className="waterfall" role="treegrid" aria-label="Spans" ref={grid}>
        <Ticks whole={trace.duration_ms} />
        {rows.slice(0, most).map((row, at) => (
          <div key={row.key}>
            <SpanRow
              row={row}
              trace={trace}
              isActive={row.key === active}
              isOpen={row.key === open}
              folded={parents.has(row.key) ? closed.has(row.key) : null}
              onFold={(isClosed) => fold(row.key, isClosed)}
              onOpen={() => {
                setActive(row.key)
                setOpen(open === row.key ? null : row.key)
              }}
              onKeyDown={(event) => press(event, row, at)}
            />
            {row.key === open && (
              <Box role="row" aria-level={row.depth + 2}>
                <Box role="gridcell">
                  <Details row={row} />
                </Box>
              </Box>
            )}
          </div>
        ))}
      </Box>
      {rows.length > most && (
        <Group mt="sm">
          <Button variant="default" onClick={() => setMost(most + 5 * ROWS)}>
            Show more: {count(rows.length - most)} rows are below
          </Button>
        </Group>
      )}
    </>
  )
}

function Ticks({ whole }: { whole: number }) {
  return (
    <Box className="waterfall-row waterfall-ticks" role="row">
      <Box role="columnheader">Span</Box>
      <Box className="waterfall-bars" role="columnheader" aria-label="When">
        {TICKS.map((part) => (
          <span
            key={part}
            className="waterfall-tick"
            data-end={part === 1}
            style={part === 1 ? { right: 0 } : { left: `${100 * part}%` }}
          >
            {part === 0 ? '0' : tookExactly(whole * part)}
          </span>
        ))}
      </Box>
      <Box role="columnheader" className="waterfall-length">
        Duration
      </Box>
    </Box>
  )
}

interface RowProps {
  row: TraceRow
  trace: Trace
  isActive: boolean
  isOpen: boolean
  /** Whether what is below it is folded; null: nothing is below it. */
  folded: boolean | null
  onFold: (isClosed: boolean) => void
  onOpen: () => void
  onKeyDown: (event: KeyboardEvent) => void
}

function SpanRow({ row, trace, isActive, isOpen, folded, onFold, onOpen, onKeyDown }: RowProps) {
  const { left, width } = barOf(row, trace.duration_ms)
  const length = row.duration_ms === null ? null : tookExactly(row.duration_ms)
  const Chevron = folded ? ChevronRight : ChevronDown
  return (
    <Box
      className="waterfall-row"
      role="row"
      tabIndex={isActive ? 0 : -1}
      aria-level={row.depth + 1}
      aria-expanded={folded === null ? undefined : !folded}
      aria-selected={isOpen}
      data-row={row.key}
      data-failed={row.is_failed}
      onKeyDown={onKeyDown}
      onClick={onOpen}
    >
      <Box
        className="waterfall-name"
        role="gridcell"
        style={{ paddingLeft: INDENT * Math.min(row.depth, INDENT_MOST) }}
      >
        {folded === null ? (
          <span className="waterfall-fold" />
        ) : (
          <button
            type="button"
            tabIndex={-1}
            className="waterfall-fold"
            aria-label={folded ? `Unfold ${row.name}` : `Fold ${row.name}`}
            onClick={(event) => {
              event.stopPropagation()
              onFold(!folded)
            }}
          >
            <Chevron size={14} aria-hidden />
          </button>
        )}
        {row.is_failed && (
          <CircleAlert size={14} className="waterfall-alert" role="img" aria-label="Failed" />
        )}
        <span className="ellipsis" title={row.text}>
          {row.name}
        </span>
        {row.links.length > 0 && (
          <Link2 size={13} className="waterfall-link" role="img" aria-label="Linked with another trace" />
        )}
        <Used row={row} />
        <span className="waterfall-service ellipsis">{row.service ?? row.source}</span>
      </Box>
      <Box
        className="waterfall-bars"
        role="gridcell"
        aria-label={`begins after ${tookExactly(row.offset_ms)}`}
      >
        <span
          className={row.duration_ms === null ? 'waterfall-point' : 'waterfall-bar'}
          data-colour={Math.max(0, trace.services.indexOf(row.service ?? '')) % COLOURS}
          style={{ left: `${left}%`, ...(row.duration_ms === null ? {} : { width: `${width}%` }) }}
        />
      </Box>
      <Box className="waterfall-length" role="gridcell">
        {length}
      </Box>
    </Box>
  )
}

/** Which round of its run it is, and its tokens; below 700 px they are among the details alone. */
function Used({ row }: { row: TraceRow }) {
  const { run, input_tokens, output_tokens } = row
  const tokens = (input_tokens ?? 0) + (output_tokens ?? 0)
  const said = [
    run?.round ? `round ${run.round}` : '',
    input_tokens === null ? '' : `${count(tokens)} ${tokens === 1 ? 'token' : 'tokens'}`,
  ].filter(Boolean)
  if (said.length === 0) return null
  return (
    <span className="waterfall-used" {...(input_tokens === null ? {} : { title: usedWords(row) })}>
      {said.join(' · ')}
    </span>
  )
}

function Details({ row }: { row: TraceRow }) {
  const said = [
    row.kind,
    row.duration_ms === null
      ? null
      : `${tookExactly(row.duration_ms)}, by itself ${tookExactly(row.self_ms ?? 0)}`,
    `begins after ${tookExactly(row.offset_ms)}`,
    row.input_tokens === null && row.output_tokens === null ? null : usedWords(row),
    row.is_orphan ? `the span that began it, ${row.parent_id}, is not stored` : null,
    row.source === null ? null : `source ${row.source}`,
  ]
  return (
    <section className="payload mono" aria-label={row.event_id ? `Payload of ${row.event_id}` : row.name}>
      <Text size="sm" ff="text" mb={4}>
        {row.text}
      </Text>
      <Text size="xs" c="dimmed" ff="text" mb={4}>
        {said.filter(Boolean).join(' · ')}
      </Text>
      <Group gap="sm" mb={4}>
        {row.event_id && (
          <Text size="xs" ff="text">
            <Link to={`/events/${row.event_id}`}>On its timeline</Link>
          </Text>
        )}
        {row.run && (
          <Text size="xs" ff="text">
            <Link to={runPath(row.run.id)}>
              {row.run.step === null ? 'The run' : `Step ${row.run.step} of the run, round ${row.run.round}`}
            </Link>
          </Text>
        )}
      </Group>
      <Links row={row} />
      {row.event_id && <Payload id={row.event_id} />}
    </section>
  )
}

/** Spans of other traces, in both directions. */
function Links({ row: { links } }: { row: TraceRow }) {
  if (links.length === 0) return null
  return (
    <ul className="waterfall-links" aria-label="Links to other traces">
      {links.map(({ trace_id, span_id, direction, name, service }) => (
        <li key={direction + trace_id + span_id}>
          {direction === 'to' ? 'links to' : 'linked from'}{' '}
          <Link to={tracePath(trace_id)}>{name ?? `trace ${trace_id.slice(0, 8)}`}</Link>
          {name === null ? ', which is not stored' : service && service !== name && ` of ${service}`}
        </li>
      ))}
    </ul>
  )
}

function Payload({ id }: { id: string }) {
  const { data, error } = useQuery({
    queryKey: ['event', id],
    queryFn: () => api.rawEvent(id),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <>
      {data !== undefined && (
        <Box style={{ float: 'right' }}>
          <CopyIcon value={data} label="Copy the payload" />
        </Box>
      )}
      <pre>{error ? error.message : data === undefined ? 'Loading…' : indentJson(data)}</pre>
    </>
  )
}
