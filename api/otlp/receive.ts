/**
 * An export of OpenTelemetry, whatever the door it comes by (SPEC.md, Ingest and reads: /v1/logs, /v1/traces,
 * /v1/metrics): which source takes it, and what is stored of it. One request is one call of the engine.
 */
import { fail, type IngestRoute, type OtlpForm, SvcError } from '../../engine/index.ts'
import type { IngestResult } from '../../schemas/types.ts'
import type { Identity } from '../http/auth.ts'
import type { Doors } from '../http/doors.ts'

const CONNECTOR = 'otlp'
/**
 * A full store is a state that ends: room is made, by hand or by retention. Seconds, and under the 10 that the
 * OpenTelemetry SDKs give an export in all: one that is to wait for longer is dropped at once.
 */
const FULL_RETRY = 5

export interface Export {
  form: OtlpForm
  /** Inflated. Ownership passes to the engine. */
  body: Uint8Array | readonly Uint8Array[]
  /** X-SVC-Source, or the metadata of that name. */
  source: string | undefined
  idempotencyKey: string | undefined
  caller: Identity
}

/**
 * Stores an export; what is answered is on disk.
 * @throws SvcError not_found: no source of that name; forbidden: the key is another source's; invalid: it is
 *   not said which of several sources takes it; storage_full with `retryAfter`, so that an exporter keeps what
 *   it has (OTLP specification, Failures); and as ingest refuses
 */
export async function receive(doors: Doors, given: Export): Promise<IngestResult> {
  try {
    return await store(doors, given)
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'storage_full') throw error
    throw new SvcError(error.code, error.message, { ...error.extra, retryAfter: FULL_RETRY })
  }
}

async function store(doors: Doors, given: Export): Promise<IngestResult> {
  const route = routeFor(doors, given) ?? (await makeRoute(doors, given))
  if (!route) return { ingested: 0 }
  return doors.engine.ingest({
    ingestKey: route.ingestKey,
    body: given.body,
    otlp: given.form,
    bypassCooldown: false,
    ...(given.idempotencyKey === undefined ? {} : { idempotencyKey: given.idempotencyKey }),
    caller: given.caller.id,
  })
}

function routeFor({ auth }: Doors, { source, caller }: Export): IngestRoute | null {
  const routes = auth.routesOf(CONNECTOR)
  const own = routes.find((route) => route.sourceId === caller.sourceId)
  const isBound = caller.sourceId !== null
  if (source !== undefined && source !== '') {
    const named = routes.find((route) => route.source === source)
    if (!named) return fail('not_found', `X-SVC-Source: no otlp source is named ${source.slice(0, 64)}`)
    if (isBound && named !== own)
      return fail('forbidden', 'this key only writes to the source it was made for')
    return named
  }
  if (isBound) return own ?? fail('forbidden', 'this key only writes to the source it was made for')
  if (routes.length > 1)
    fail(
      'invalid',
      `there are several otlp sources; name one in the header X-SVC-Source: ${routes.map((route) => route.source).join(', ')}`,
      { field: 'X-SVC-Source' },
    )
  return routes[0] ?? null
}

/** Makes the first source. @returns null where the export holds nothing. */
async function makeRoute(
  { engine, auth }: Doors,
  { form, body, caller }: Export,
): Promise<IngestRoute | null> {
  const whole = body instanceof Uint8Array ? body : Buffer.concat(body)
  if (!(await engine.makeFirstSource(CONNECTOR, { body: whole, otlp: form }, caller))) return null
  await auth.refresh()
  return auth.routesOf(CONNECTOR)[0] ?? null
}
