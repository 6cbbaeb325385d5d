/** Sources that make themselves (SPEC.md, Ingest and reads): by the first that is sent to their connector. */

import type { Caller, IngestCall } from '../calls.ts'
import type { MappingConnector } from '../connectors/connector.ts'
import { connectorOf } from '../connectors/index.ts'
import { fail } from '../errors.ts'
import { itemsOf } from '../ingest/otlp/export-items.ts'
import { compileSource } from '../ingest/prepare.ts'
import { type PrepareParts, prepareBody } from '../ingest/prepare-body.ts'
import type { Declared } from './declared.ts'
import { createSource } from './source-writes.ts'

/** What is sent first. */
export type FirstPost = Pick<IngestCall, 'body' | 'headers' | 'otlp'>

/**
 * Makes a source of that connector unless there is one, where the body holds an event for it: what is
 * refused, or holds nothing, leaves no source behind.
 * @returns whether there is one now.
 * @throws SvcError invalid, too_large: as ingest would refuse the body
 */
export function makeFirstSource(
  declared: Declared,
  kind: string,
  post: FirstPost,
  { caller, nowMs, prepare }: { caller: Caller; nowMs: number; prepare: PrepareParts },
): boolean {
  const { sources } = declared
  if (sources.live().some(({ connector }) => connector.kind === kind)) return true
  const connector = connectorOf(kind)
  if (connector.mode !== 'push' || !connector.makesItself)
    return fail('invalid', `a ${kind} source does not make itself`)
  const config = { labels: connector.labels ?? [] }
  if (!holdsEvent(connector, config, post, nowMs, prepare)) return false
  let name = kind
  for (let n = 2; sources.has(name); n++) name = `${kind}_${n}`
  createSource(declared, { name, connector: kind, config }, { caller, origin: 'api' }, false)
  return true
}

function holdsEvent(
  connector: MappingConnector,
  config: Record<string, unknown>,
  post: FirstPost,
  nowMs: number,
  parts: PrepareParts,
): boolean {
  const source = { id: 0, prepare: compileSource(connector, config, connector.kind) }
  const { events, rejected } = prepareBody(source, itemsOf(post), post, nowMs, parts)
  const [first] = rejected
  if (events.n === 0 && first) fail('invalid', `no item could be stored; item ${first.index}: ${first.error}`)
  return events.n > 0
}
