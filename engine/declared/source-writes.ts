/** Writes of sources: made, edited, moved and deleted, each one change-set. */
import type {
  ChangePlan,
  DependentsResult,
  IngestKeys,
  IngestResult,
  KeyCreated,
  PartMoved,
  RememberRequest,
  RememberResult,
  SourceCreated,
  SourceDeleted,
  SourceWrite,
} from '../../schemas/types.ts'
import type { Caller, IngestCall } from '../calls.ts'
import { leftWithoutTrigger, otherSourcesOf, readersOf, refuseRead } from '../documents/wiring.ts'
import { fail } from '../errors.ts'
import { itemsOf } from '../log/ingest/otlp.ts'
import { compileSource, type PrepareParts, prepareBody } from '../log/ingest/prepare.ts'
import type { Edit } from '../model/documents.ts'
import { checkNew, credentialOf, normaliseSource } from '../sources/config-secrets.ts'
import type { ConnectorDefinition, MappingConnector } from '../sources/connectors/connector.ts'
import { connectorOf } from '../sources/connectors/index.ts'
import type { LiveSource } from '../sources/live.ts'
import {
  checkName,
  type Declared,
  deletedBy,
  joiningProject,
  makerOf,
  movePart,
  requireCredential,
  stageEdit,
  stageNew,
  type WriteBy,
  withWarnings,
} from './declared.ts'

const MEMORY_NAME = 'agent_memory'
const KEY_NAME_MAX = 64

/**
 * @param mintKey whether a push source that checks no signature gets an ingest key of its own.
 * @throws SvcError invalid; conflict when the name is taken
 */
export function createSource(
  declared: Declared,
  body: SourceWrite,
  by: WriteBy,
  mintKey: boolean,
): SourceCreated {
  checkNewSource(declared, body)
  if (by.origin !== 'boot') refuseInternal(body.connector)
  return declared.store.tx(() => {
    const committed = declared.changes.commit(by, (edit) => stageNewSource(edit, body))
    const row = declared.sources.store.queries.byName(body.name)!
    const isSigned = checksSignatures(connectorOf(body.connector), body.config ?? {})
    const key =
      mintKey && row.ingest_key !== null && !isSigned ? mint(declared, row.id, body.name, by) : undefined
    return {
      ok: true,
      name: body.name,
      ingest_key: row.ingest_key,
      project: makerOf(declared, 'source', body.name),
      version: row.change_set,
      change_set: committed.changeSet,
      ...withWarnings(committed),
      ...(key ? { key } : {}),
    }
  })
}

/** Whether bodies prove by themselves where they come from. */
function checksSignatures(connector: ConnectorDefinition, config: Record<string, unknown>): boolean {
  if (config.signature_scheme !== undefined) return true
  return (
    connector.mode === 'push' &&
    (connector.signatureOf?.(config)?.scheme ?? connector.signatureScheme) !== undefined &&
    Boolean(config.signature_secret)
  )
}

/** A source that is to be made. @throws SvcError invalid; not_found for a credential it names */
export function checkNewSource(declared: Declared, body: SourceWrite): void {
  checkNew(body)
  requireCredential(declared, credentialOf(body.connector, body.config ?? {}), null)
}

/** Connectors of the service's own. @throws SvcError invalid */
export function refuseInternal(connector: string): void {
  if (connectorOf(connector).internal)
    fail('invalid', `connector: ${connector} sources are made by the service itself`, { field: 'connector' })
}

/** Stages a new source, whose body was checked. @throws SvcError invalid; conflict when the name is taken */
export function stageNewSource(edit: Edit, body: SourceWrite): void {
  checkName('source', body.name)
  const doc = normaliseSource(specOf(body), undefined)
  stageNew(edit, 'source', body.name, doc, joiningProject(edit, body.project))
}

/**
 * Replaces the config; the ingest key, the state and secrets that are omitted stay.
 * @throws SvcError not_found; invalid; conflict
 */
export function updateSource(
  declared: Declared,
  name: string,
  body: SourceWrite,
  by: WriteBy,
): {
  ok: true
  name: string
  relabeled: false
  version: number
  change_set: number | null
  warnings?: string[]
} {
  const committed = declared.changes.commit(by, (edit) => {
    const now = edit.require('source', name)
    const row = declared.sources.store.queries.byName(name)!
    const stored = { connector: row.connector, ...declared.sources.store.configs.open(row) }
    const doc = normaliseSource({ ...specOf(body), poll: body.poll ?? row.poll }, stored)
    const before = credentialOf(row.connector, stored.config)
    requireCredential(declared, credentialOf(row.connector, body.config ?? {}), before)
    stageEdit(edit, 'source', name, body, now.paused ? { ...doc, paused: true } : doc, by.base)
  })
  const version = declared.kinds.source.find(name)!.changeSet
  return {
    ok: true,
    name,
    relabeled: false,
    version,
    change_set: committed.changeSet,
    ...withWarnings(committed),
  }
}

/**
 * Deletes a source with its URL, keys and documents; its events stay unless purged. With `cascade` the triggers that
 * read it go, too; agents that they woke stay, as with any delete of a trigger (SPEC.md, Events: Outbound 2).
 * @throws SvcError not_found; conflict, naming the triggers that read it, without `cascade`
 */
export function deleteSource(
  declared: Declared,
  name: string,
  { cascade, purgeEvents }: { cascade: boolean; purgeEvents: boolean },
  by: WriteBy,
): SourceDeleted {
  return declared.store.tx(() => {
    const committed = declared.changes.commit(by, (edit) => {
      edit.require('source', name)
      const readers = readersOf(edit, name)
      const left = leftWithoutTrigger(edit, readers)
      if (cascade) for (const trigger of readers) edit.remove('trigger', trigger)
      else refuseRead(edit, name, readers, 'cascade=true (--cascade) deletes them too')
      edit.remove('source', name, by.base)
      return left
    })
    const { '@id': id } = JSON.parse(lastSealed(declared, committed.changeSet!, name)) as { '@id': number }
    const purged = purgeEvents ? declared.purge(id) : 0
    const deleted = deletedBy(committed).filter((entry) => entry !== `source:${name}`)
    return {
      ok: true,
      purged_events: purged,
      deleted,
      agents_without_trigger: committed.result,
      change_set: committed.changeSet,
    }
  })
}

/** @throws SvcError not_found; wrong_state */
export function moveSource(
  declared: Declared,
  name: string,
  event: 'pause' | 'resume',
  by: WriteBy,
): PartMoved {
  return movePart(declared, 'source', name, event, by)
}

/**
 * The memory source of that name, or the first one made; with none at all, one is made.
 * @throws SvcError not_found; invalid when the named source is of another connector
 */
export function memorySource(declared: Declared, name: string | undefined, by: WriteBy): LiveSource {
  const { sources } = declared
  if (name !== undefined) {
    const source = sources.requireByName(name)
    return source.connector.kind === 'memory'
      ? source
      : fail('invalid', `source: ${name} is not a memory source`, { field: 'source' })
  }
  const first = sources.live().find((source) => source.connector.kind === 'memory')
  if (first) return first
  let free = MEMORY_NAME
  for (let n = 2; sources.has(free); n++) free = `${MEMORY_NAME}_${n}`
  createSource(declared, { name: free, connector: 'memory' }, by, false)
  return sources.requireByName(free)
}

/**
 * What a delete of a source or trigger changes: the triggers that a cascade deletes with a source, and the agents that
 * nothing wakes any more then, which stay.
 */
export function dependentsOf(
  edit: Edit,
  kind: 'source' | 'trigger',
  name: string,
): DependentsResult['dependents'] {
  const triggers = kind === 'source' ? readersOf(edit, name) : []
  return [
    ...triggers.map((trigger) => {
      const also = otherSourcesOf(edit, trigger, name)
      return { kind: 'trigger', name: trigger, stays: false, ...(also.length ? { also_reads: also } : {}) }
    }),
    ...leftWithoutTrigger(edit, kind === 'source' ? triggers : [name]).map((agent) => ({
      kind: 'agent',
      name: agent,
      stays: true,
    })),
  ]
}

function specOf({ connector, poll, config }: SourceWrite) {
  return { connector, ...(poll === undefined ? {} : { poll }), ...(config === undefined ? {} : { config }) }
}

function lastSealed({ changes }: Declared, changeSet: number, name: string): string {
  return changes.sealedBefore(changeSet, 'source', name)
}

/**
 * Ingest keys of the sources that a change-set made and that events are sent to; those that check
 * signatures need none. In the transaction of the change-set, whose answer alone tells them.
 */
export function mintForNew(declared: Declared, plan: ChangePlan, by: WriteBy): { ingest_keys?: IngestKeys } {
  if (!by.mintKeys) return {}
  const ingest_keys = plan.changes.flatMap(({ action, kind, name }) => {
    if (kind !== 'source' || action !== 'create') return []
    const row = declared.sources.store.queries.byName(name)!
    const connector = connectorOf(row.connector)
    if (row.ingest_key === null || connector.internal) return []
    if (checksSignatures(connector, JSON.parse(row.config) as Record<string, unknown>)) return []
    return [{ source: name, ingest_url: `/ingest/${row.ingest_key}`, key: mintIngestKey(declared, name, by) }]
  })
  return ingest_keys.length ? { ingest_keys } : {}
}

/** An ingest key of one source alone, in the transaction that makes the source. @throws SvcError not_found */
export function mintIngestKey(declared: Declared, source: string, by: WriteBy): KeyCreated {
  const row =
    declared.sources.store.queries.byName(source) ?? fail('not_found', `no source is named ${source}`)
  return mint(declared, row.id, source, by)
}

function mint({ keys }: Declared, sourceId: number, source: string, { caller }: WriteBy): KeyCreated {
  const name = `ingest ${source}`.slice(0, KEY_NAME_MAX)
  return keys.create({ name, scopes: ['ingest'], source }, caller, { sourceId })
}

/* Sources that make themselves (SPEC.md, Ingest and reads): by the first that is sent to their connector. */

/** What is sent first. */
type FirstPost = Pick<IngestCall, 'body' | 'headers' | 'otlp'>

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

/* The source that findings are written to. */

const OWN_SOURCES = { finding: 'findings', catalog: 'catalog' } as const
const SERVICE: Caller = { id: 'svc', name: 'svc' }

/**
 * Makes it, unless there is one.
 * @param project id of the project it is made in; absent: Default. @returns its name; null: there was one
 */
export function makeFindingsSource(declared: Declared, project?: string): string | null {
  return makeOwnSource(declared, 'finding', project)
}

/** The same of any connector of the service's own. */
export function makeOwnSource(
  declared: Declared,
  connector: keyof typeof OWN_SOURCES,
  project?: string,
): string | null {
  if (declared.kinds.source.list().some(({ doc }) => doc.connector === connector)) return null
  const first = OWN_SOURCES[connector]
  let name: string = first
  for (let n = 2; declared.sources.has(name); n++) name = `${first}_${n}`
  const write = { name, connector, ...(project === undefined ? {} : { project }) }
  createSource(declared, write, { caller: SERVICE, origin: 'boot' }, false)
  return name
}

/* Observations that agents keep (SPEC.md, Ingest and reads: POST /remember), as events of a memory source. */

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
