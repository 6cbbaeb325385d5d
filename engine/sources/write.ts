/**
 * Changes of sources: made, edited, moved and deleted. Each is one transaction, with its history,
 * keys and documents; the live sources follow after the commit.
 */
import { randomBytes } from 'node:crypto'
import type { KeyCreated, Label, SourceCreated, SourceWrite } from '../../schemas/types.ts'
import { connectorOf } from '../connectors/index.ts'
import type { Caller } from '../engine.ts'
import { fail } from '../errors.ts'
import { advance, firstSnapshot, recordCreated } from '../lifecycle/advance.ts'
import { checkNew, checkWrite, DEFAULT_POLL } from './check-write.ts'
import type { LiveSource } from './live.ts'
import type { SourceStore } from './parts.ts'
import type { SourceRow } from './queries.ts'

const MEMORY_NAME = 'agent_memory'
const KEY_NAME_MAX = 64

type Config = Record<string, unknown>

export class SourceWrites {
  constructor(private readonly parts: SourceStore) {}

  /**
   * @param mintKey whether a push source that checks no signature gets an ingest key of its own.
   * @throws SvcError invalid; conflict when the name is taken
   */
  create(body: SourceWrite, caller: Caller, mintKey: boolean): SourceCreated {
    const connector = connectorOf(body.connector)
    const config = checkNew(body)
    if (connector.internal)
      fail('invalid', `connector: ${body.connector} sources are made by the service itself`, {
        field: 'connector',
      })
    return this.write(() => {
      if (this.parts.queries.byName(body.name)) fail('conflict', `a source named ${body.name} exists`)
      const ingestKey =
        connector.mode === 'push' ? `${connector.kind}-${randomBytes(16).toString('hex')}` : null
      const id = this.insert(body, config, ingestKey, caller)
      this.materialise(id, connector.kind, config)
      const needsKey = mintKey && ingestKey !== null && config.signature_scheme === undefined
      const key = needsKey ? this.mintKey(id, body.name, caller) : undefined
      return { ok: true, name: body.name, ingest_key: ingestKey, ...(key ? { key } : {}) }
    })
  }

  /**
   * Replaces the config; the ingest key, the state and secrets that are omitted stay.
   * @throws SvcError not_found; invalid
   */
  update(name: string, body: SourceWrite): { ok: true; name: string; relabeled: false } {
    const row = this.row(name)
    if (body.name !== name)
      fail('invalid', 'name must equal the name in the path: a source is not renamed', { field: 'name' })
    if (body.connector !== row.connector)
      fail('invalid', `connector must stay ${row.connector}: make another source for another connector`, {
        field: 'connector',
      })
    const config = checkWrite({ ...body, config: this.parts.configs.keep(row, body.config ?? {}) })
    return this.write(() => {
      const { queries, configs, clock } = this.parts
      const sealed = configs.seal(row.id, row.connector, config)
      queries.update(row.id, body.poll ?? row.poll, sealed, clock.now())
      if (row.state !== 'paused') this.materialise(row.id, row.connector, config)
      return { ok: true, name, relabeled: false }
    })
  }

  /**
   * Deletes a source with its URL, keys, secrets and documents; its events stay unless purged.
   * @throws SvcError not_found
   */
  remove(
    name: string,
    purgeEvents: boolean,
    caller: Caller,
  ): { ok: true; purged_events: number; deleted: string[] } {
    const row = this.row(name)
    return this.write(() => {
      const { queries, configs, keys, purge, documents } = this.parts
      const at = this.parts.clock.now()
      advance(this.parts.store.db, { kind: 'source', id: row.id, name }, 'delete', caller, at)
      queries.retire(row.id, configs.strip(row), at)
      keys.revokeOfSource(row.id, caller)
      const purged = purgeEvents ? purge.request(row.id) : 0
      documents.replace(row.id, [], null)
      return { ok: true, purged_events: purged, deleted: [] }
    })
  }

  /** @throws SvcError not_found; wrong_state */
  move(name: string, event: 'pause' | 'resume', caller: Caller): { ok: true; state: string } {
    const row = this.row(name)
    return this.write(() => {
      const { store, clock, configs } = this.parts
      const { state } = advance(store.db, { kind: 'source', id: row.id, name }, event, caller, clock.now())
      // Edits made while it was paused show from now on.
      if (event === 'resume') this.materialise(row.id, row.connector, configs.open(row).config)
      return { ok: true, state }
    })
  }

  /**
   * The memory source of that name, or the first one made; with none at all, one is made.
   * @throws SvcError not_found; invalid when the named source is of another connector
   */
  memorySource(name: string | undefined, caller: Caller): LiveSource {
    const { live } = this.parts
    if (name !== undefined) {
      const source = live.requireByName(name)
      return source.connector.kind === 'memory'
        ? source
        : fail('invalid', `source: ${name} is not a memory source`, { field: 'source' })
    }
    const first = live.all().find((source) => source.connector.kind === 'memory')
    if (first) return first
    let free = MEMORY_NAME
    for (let n = 2; live.has(free); n++) free = `${MEMORY_NAME}_${n}`
    this.create({ name: free, connector: 'memory' }, caller, false)
    return live.requireByName(free)
  }

  /** Runs a change and makes it live once it is committed. */
  private write<T>(change: () => T): T {
    const result = this.parts.store.tx(change)
    this.parts.live.reload()
    return result
  }

  private row(name: string): SourceRow {
    return this.parts.queries.byName(name) ?? fail('not_found', `no source is named ${name}`)
  }

  private insert(body: SourceWrite, config: Config, ingestKey: string | null, caller: Caller): number {
    const { queries, configs, store, clock } = this.parts
    const at = clock.now()
    const id = queries.insert({
      name: body.name,
      connector: body.connector,
      poll: body.poll ?? DEFAULT_POLL,
      // Secrets are bound to the id, which the row gives.
      config: '{}',
      ingestKey,
      snapshot: firstSnapshot('source'),
      at,
    })
    queries.setConfig(id, configs.seal(id, body.connector, config))
    recordCreated(store.db, 'source', body.name, caller, at)
    return id
  }

  private mintKey(sourceId: number, source: string, caller: Caller): KeyCreated {
    const name = `ingest ${source}`.slice(0, KEY_NAME_MAX)
    return this.parts.keys.create({ name, scopes: ['ingest'], source }, caller, { sourceId })
  }

  /** Documents that did not change keep their rows. */
  private materialise(id: number, kind: string, config: Config): void {
    const connector = connectorOf(kind)
    if (connector.mode !== 'reference') return
    const primary = ((config.labels ?? []) as Label[]).find((label) => label.primary)
    this.parts.documents.replace(id, connector.documents(config), primary?.name ?? null)
  }
}
