/** Observations that agents keep (SPEC.md, Ingest and reads: POST /remember), as events of a memory source. */
import type { IngestResult, RememberRequest, RememberResult } from '../schemas/types.ts'
import type { Caller, IngestCall } from './calls.ts'
import type { Declared } from './declared/declared.ts'
import { memorySource } from './declared/source-writes.ts'

/** @throws SvcError invalid; not_found for a source that is none */
export async function remember(
  declared: Declared,
  ingest: (call: IngestCall) => Promise<IngestResult>,
  request: RememberRequest,
  caller: Caller,
  idempotencyKey: string | undefined,
): Promise<RememberResult> {
  const source = memorySource(declared, request.source, { caller, origin: 'api' })
  const { source: _source, ...payload } = request
  const body = Buffer.from(JSON.stringify({ memory_type: 'observation', ...payload }))
  const result = await ingest({
    ingestKey: source.ingestKey,
    body,
    bypassCooldown: false,
    caller: caller.id,
    idempotencyKey,
  })
  return {
    ok: true,
    source: source.name,
    ingested: result.ingested,
    ...(result.ids?.[0] === undefined ? {} : { id: result.ids[0] }),
  }
}
