/** How a source is doing, and why (SPEC.md, Storage: a refusal shows on the source's health). */
import type { SourceHealth } from '../../schemas/types.ts'
import { untimedHealth } from '../log/ingest/time.ts'
import type { CredentialLookup } from '../model/credentials.ts'
import { withCredential } from './config-secrets.ts'
import type { LiveSource } from './live.ts'
import type { PollRow, SourceRow } from './queries.ts'

/**
 * @param storageReason why ingest is refused for want of storage, or null.
 * @param poll where a source that is polled stands. @param drift labels of it that do not come, in sentences.
 */
export function healthOf(
  row: SourceRow,
  live: LiveSource,
  storageReason: string | null,
  poll: PollRow | undefined,
  credentials: CredentialLookup,
  drift: readonly string[] = [],
): SourceHealth {
  const [status, reason] = statusOf(row, live, storageReason, poll, credentials)
  const drifts = drift.map((sentence) => `Its ${sentence}.`)
  const { untimed } = live.counters
  const times = untimed ? [untimedHealth(untimed)] : []
  const notices = [poll?.restarted, poll?.notice, ...times, ...drifts].filter(
    (notice) => typeof notice === 'string',
  )
  return {
    status,
    reason,
    last_poll_at: iso(poll?.last_poll_at),
    last_ok_at: iso(poll?.last_ok_at),
    next_poll_at: poll && row.state === 'active' ? iso(poll.next_at) : null,
    last_error: status === 'error' || status === 'refused' ? reason : null,
    consecutive_errors: poll?.consecutive_errors ?? 0,
    notice: notices.length ? notices.join(' ') : null,
    polls: live.counters.polls,
    events_since_start: live.counters.events,
    events_total: row.events,
    last_ingest: iso(row.last_ingest),
    rejected: live.counters.rejected,
  }
}

function statusOf(
  row: SourceRow,
  live: LiveSource,
  storageReason: string | null,
  poll: PollRow | undefined,
  credentials: CredentialLookup,
): [SourceHealth['status'], string | null] {
  const { mode } = live.connector
  if (row.state === 'paused') return ['paused', PAUSED[mode]]
  if (mode === 'reference') return ['ok', null]
  if (storageReason) return ['refused', storageReason]
  if (mode === 'poll') return statusOfPolls(live, poll, credentials)
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

const PAUSED = {
  push: 'paused; resume it to ingest',
  poll: 'paused; resume it to poll, from where it stopped',
  reference: 'paused; its documents stay as they are until it is resumed',
} as const

function statusOfPolls(
  live: LiveSource,
  poll: PollRow | undefined,
  credentials: CredentialLookup,
): [SourceHealth['status'], string | null] {
  const fault = faultOfSecrets(live, credentials)
  if (fault !== null) return ['error', fault]
  if (!poll || poll.last_poll_at === null) return ['starting', null]
  return poll.last_error === null ? ['ok', null] : ['error', poll.last_error]
}

/** Why a source cannot be polled for want of a secret; null: it can. */
export function faultOfSecrets(
  { unreadable, unresolved, connector, config }: LiveSource,
  credentials: CredentialLookup,
): string | null {
  if (unreadable[0] !== undefined)
    return `its ${unreadable[0]} cannot be read here, so it is not polled; enter it again`
  if (unresolved[0])
    return `its ${unresolved[0].field} refers to what is not there, so it is not polled: ${unresolved[0].reason}`
  const found = withCredential(connector.kind, config, credentials)
  return typeof found === 'string' ? `it is not polled: ${found}` : null
}

const iso = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : new Date(ms).toISOString()
