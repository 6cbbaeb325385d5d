/**
 * What changed among the alerts of a Prometheus since the poll before. Pure. An alert counts as resolved
 * when it is gone and its rule says that it was evaluated since; a Prometheus that has just started lists
 * none before its first evaluation, and that is no news.
 */
import { createHash } from 'node:crypto'
import type { SeriesLabels } from './api.ts'

/** An alert as Prometheus lists it. */
export interface Alert {
  labels: SeriesLabels
  annotations: SeriesLabels
  state: string
  /** ISO 8601. */
  activeAt: string
  value: number | null
}

/** An alert as the cursor keeps it. */
export interface KnownAlert extends Alert {
  /** Since when it is gone without a word of its rule, epoch ms. */
  gone?: number
}

export type KnownAlerts = Record<string, KnownAlert>

/** What is stored of an alert that changed. */
export interface AlertPayload extends Alert {
  fingerprint: string
  /** Absent where the alert is seen for the first time. */
  previous_state?: string
  /** ISO 8601; of those that are resolved. */
  resolvedAt?: string
}

export interface Wanted {
  /** In small letters; none: all. */
  severities: readonly string[]
  includePending: boolean
}

/** How long an alert that is gone is waited for where its rule does not say that it was evaluated. */
const UNCONFIRMED_MS = 300_000

/** 64 bits of the labels, in any order. */
export function fingerprintOf(labels: SeriesLabels): string {
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha1').update(JSON.stringify(sorted)).digest('hex').slice(0, 16)
}

/**
 * Compares what is listed with what is known.
 * @param isEvaluated whether the rule of an alert that is gone was evaluated without a fault.
 * @param now epoch ms. @param most payloads; what is over waits, and stays as it was in `known`.
 * @returns the payloads to store, the alerts to know next, how many are waited for, and whether more waits.
 */
export function compareAlerts(
  listed: readonly Alert[],
  known: KnownAlerts,
  wanted: Wanted,
  isEvaluated: (alert: Alert) => boolean,
  now: number,
  most: number,
): { payloads: AlertPayload[]; next: KnownAlerts; waiting: number; more: boolean } {
  const present = new Map(listed.map((alert) => [fingerprintOf(alert.labels), alert]))
  const changes: { fingerprint: string; payload: AlertPayload; next: KnownAlert | null }[] = []
  const next: KnownAlerts = {}
  let waiting = 0
  for (const [fingerprint, alert] of present) {
    const before = known[fingerprint]
    if (!isWanted(alert, wanted)) continue
    if (before && before.state === alert.state && before.activeAt === alert.activeAt)
      next[fingerprint] = alert
    else changes.push({ fingerprint, payload: payloadOf(fingerprint, alert, before), next: alert })
  }
  for (const [fingerprint, before] of Object.entries(known)) {
    const listedNow = present.get(fingerprint)
    // Listed and not wanted: pending may be how a Prometheus begins anew; another severity was not asked for.
    if (listedNow && (isWanted(listedNow, wanted) || listedNow.state !== 'pending')) continue
    if (!isSelected(before, wanted)) continue
    const gone = before.gone ?? now
    const isOver = (!listedNow && isEvaluated(before)) || now - gone >= UNCONFIRMED_MS
    if (isOver) changes.push({ fingerprint, payload: resolvedOf(fingerprint, before, now), next: null })
    else {
      next[fingerprint] = { ...before, gone }
      waiting++
    }
  }
  const ordered = changes.sort((a, b) => Date.parse(a.payload.activeAt) - Date.parse(b.payload.activeAt))
  for (const [i, { fingerprint, next: after }] of ordered.entries()) {
    const kept = i < most ? after : known[fingerprint]
    if (kept) next[fingerprint] = kept
  }
  return {
    payloads: ordered.slice(0, most).map(({ payload }) => payload),
    next,
    waiting,
    more: ordered.length > most,
  }
}

function isWanted(alert: Alert, wanted: Wanted): boolean {
  return isSelected(alert, wanted) && (wanted.includePending || alert.state !== 'pending')
}

function isSelected({ labels }: Alert, { severities }: Wanted): boolean {
  return severities.length === 0 || severities.includes((labels.severity ?? '').toLowerCase())
}

function payloadOf(fingerprint: string, alert: Alert, before: KnownAlert | undefined): AlertPayload {
  return { ...alert, fingerprint, ...(before ? { previous_state: before.state } : {}) }
}

function resolvedOf(fingerprint: string, { gone: _gone, ...before }: KnownAlert, now: number): AlertPayload {
  return {
    ...before,
    state: 'resolved',
    fingerprint,
    previous_state: before.state,
    resolvedAt: new Date(now).toISOString(),
  }
}
