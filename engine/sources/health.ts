/** How a source is doing, and why (SPEC.md, Storage: a refusal shows on the source's health). */
import type { SourceHealth } from '../../schemas/types.ts'
import type { LiveSource } from './live.ts'
import type { SourceRow } from './queries.ts'

/** @param storageReason why ingest is refused for want of storage, or null. */
export function healthOf(row: SourceRow, live: LiveSource, storageReason: string | null): SourceHealth {
  const [status, reason] = statusOf(row, live, storageReason)
  return {
    status,
    reason,
    last_poll_at: null,
    last_ok_at: null,
    last_error: status === 'error' || status === 'refused' ? reason : null,
    consecutive_errors: 0,
    polls: 0,
    events_since_start: live.counters.events,
    events_total: row.events,
    last_ingest: row.last_ingest === null ? null : new Date(row.last_ingest).toISOString(),
    rejected: live.counters.rejected,
  }
}

function statusOf(
  row: SourceRow,
  live: LiveSource,
  storageReason: string | null,
): [SourceHealth['status'], string | null] {
  const isReference = live.connector.mode === 'reference'
  if (row.state === 'paused')
    return [
      'paused',
      isReference
        ? 'paused; its documents stay as they are until it is resumed'
        : 'paused; resume it to ingest',
    ]
  if (isReference) return ['ok', null]
  if (storageReason) return ['refused', storageReason]
  if (live.unreadable.includes('signature_secret'))
    return [
      'error',
      'its signing secret cannot be read here, so it refuses everything; enter the secret again',
    ]
  const [missing] = live.unresolved
  if (missing)
    return [
      'error',
      `its ${missing.field} refers to what is not there, so it refuses everything: ${missing.reason}`,
    ]
  if (live.signature && live.signature.secrets.length === 0)
    return [
      'error',
      'it checks signatures but has no signing secret, so it refuses everything; enter the secret',
    ]
  return ['push', null]
}
