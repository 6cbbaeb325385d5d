/** The ways to show an incident that are measured: the brief, and what `context: plain` shows. */

import type { Row } from '../calls.ts'
import { type ContextRow, cautiousTokens, makeBrief, renderBrief } from '../context/index.ts'
import { fence, renderRow, renderRows } from '../runs/fence.ts'
import { fitRows, tokensOf } from '../timeline/fit.ts'
import { renderHeading, renderTimeline } from '../timeline/present.ts'
import { type Counted, counted } from './counted.ts'
import type { Incident, IncidentEvent, NoisePool } from './incident.ts'
import { noiseOf } from './noise.ts'
import { type VariantName, variantOf } from './variants.ts'

/** Of an event context by default, and rows that a fitted read looks at. */
const PLAIN_WINDOW = 900
const PLAIN_ROWS = 200_000
const MARKER = '0000000000000000'

export interface Loaded {
  entity: string
  /** Epoch ms of the firing. */
  now: number
  /** In order of time, ids by that order, the last is the alert. */
  events: (Counted<IncidentEvent> & { id: string })[]
  /** Id of the alert. */
  fired: string
}

export type WayName = 'brief' | 'plain'

/** @param noise events of the pool around the incident's own. @param variant what is left of what they say */
export function loadedWith(
  { truth, events }: Incident,
  pool: NoisePool,
  noise: number,
  variant?: VariantName,
): Loaded {
  const { entity, id } = truth
  const all: Counted<IncidentEvent>[] = [
    ...counted(events),
    ...(noise ? noiseOf(pool, id, entity, noise) : []),
  ]
  all.push({
    ...{ source: 'alerts', type: 'page', t: 0, text: `firing: ${entity} page` },
    labels: { service: entity, severity: 'page' },
  })
  all.sort((a, b) => a.t - b.t)
  return {
    entity,
    now: Date.parse(truth.fired_at),
    events: variantOf(
      all.map((event, i) => ({ ...event, id: `evt_${i + 1}` })),
      variant,
    ),
    fired: `evt_${all.length}`,
  }
}

/** @param budget tokens. @returns the text as a model would be shown it */
export const ways: Record<WayName, (loaded: Loaded, budget: number) => string> = {
  brief: ({ entity, now, events, fired }, budget) => {
    const fencing = cautiousTokens(fence(MARKER, ''))
    const rows = events.map((event) => contextRow(event, now))
    const request = { rows, entity, label: 'service', now, fired: [fired], budget: budget - fencing }
    return fence(MARKER, renderBrief(makeBrief(request)))
  },
  plain: ({ entity, now, events }, budget) => {
    const rows = events
      .filter(({ labels, t }) => labels.service === entity && t >= -PLAIN_WINDOW)
      .slice(-PLAIN_ROWS)
      .map((event) => plainRow(event, now))
    const heading = tokensOf(renderTimeline(renderHeading({ service: entity }, undefined, '15m'), []))
    const kept = fitRows(rows, Math.max(1, budget - heading - 1), 0, { lineOf: renderRow }).rows
    kept.sort((a, b) => Date.parse(a.event_time) - Date.parse(b.event_time) || numberOf(a) - numberOf(b))
    return fence(MARKER, renderRows(kept))
  },
}

const numberOf = ({ id }: Row): number => Number(id.slice(4))

function contextRow(
  { id, source, type, t, text, labels, value }: Loaded['events'][number],
  now: number,
): ContextRow {
  return {
    ...{ id, source, type, text, labels },
    at: now + t * 1000,
    entity: labels.service ?? '',
    values: value === undefined ? {} : { value },
    isSample: value !== undefined,
  }
}

function plainRow({ id, source, type, t, text, labels, value }: Loaded['events'][number], now: number): Row {
  const at = new Date(now + t * 1000).toISOString()
  return {
    ...{ id, source, text, event_type: type, event_time: at, ingested_at: at },
    ...{ offset: `T-${Math.round(-t)}s`, source_type: 'event_stream' },
    entity: labels.service ? { label: 'service', value: labels.service } : null,
    labels: value === undefined ? labels : { ...labels, value },
  } as Row
}
