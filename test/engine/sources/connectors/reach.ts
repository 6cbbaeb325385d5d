/** What a connector reaches its upstream with: the real way out, and a clock that stands still. */
import { onTestFinished } from 'vitest'
import { systemTimers } from '../../../../engine/clock.ts'
import type { PreparedEvent } from '../../../../engine/log/ingest/packed.ts'
import { compileSource } from '../../../../engine/log/ingest/prepare.ts'
import { createEgress, fetchOver } from '../../../../engine/net/fetch.ts'
import {
  ANSWER_BYTES,
  type MappedEvent,
  type MappingConnector,
  type Polled,
  type Reach,
} from '../../../../engine/sources/connectors/connector.ts'
import { file } from '../../../../engine/sources/connectors/file.ts'

export const NOW = Date.UTC(2026, 10, 20, 12, 0, 0)

/** Its `now` moves the clock. */
export function reach(): Reach & { now: number } {
  const egress = createEgress({ allowPrivate: true, timers: systemTimers })
  onTestFinished(() => egress.close())
  const one = {
    now: NOW,
    fetch: fetchOver(egress, { audience: 'operator', timeoutMs: 10_000, maxResponseBytes: ANSWER_BYTES }),
    clock: { now: () => one.now },
    timers: systemTimers,
    signal: new AbortController().signal,
  }
  return one
}

const itemOf = (raw: string) => {
  const value: unknown = JSON.parse(raw)
  return { raw: Buffer.from(raw), value, whole: () => value }
}

/** What a connector makes of what a poll brought. */
export function mapped(
  connector: MappingConnector,
  config: Record<string, unknown>,
  { items }: Polled,
): MappedEvent[] {
  const map = connector.compile(config)
  return items.flatMap((raw, index) => map(itemOf(raw), undefined, index, NOW))
}

/** The same with labels and times, as it is stored. */
export function prepared(
  connector: MappingConnector,
  config: Record<string, unknown>,
  { items }: Polled,
): PreparedEvent[] {
  const prepare = compileSource(connector, config)
  return items.flatMap((raw, index) => prepare(itemOf(raw), undefined, index, NOW))
}

/** A source of files; each `poll` goes on at the cursor of the one before. @param files SVC_FILES */
export function fileSource(given: Record<string, unknown> & { path: string }, files: string) {
  const config = { labels: [], ...given }
  const out = { ...reach(), env: { SVC_FILES: files } }
  let cursor: string | null = null
  const poll = async (at = cursor) => {
    const polled = await file.poll(config, at, out)
    cursor = polled.cursor
    const events = mapped(file, config, polled)
    return { ...polled, events, lines: events.map(({ context }) => context.raw as string) }
  }
  return { config, out, poll, at: () => cursor }
}
