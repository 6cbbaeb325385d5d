/** Writes the documents of reference sources: each edit supersedes the versions before. */
import type { ReferenceDocument } from './connectors/connector.ts'
import type { Appender } from './store/append.ts'
import type { StoreHandle } from './store/handle.ts'
import { keepHighId } from './store/remove.ts'
import type { Stamp } from './store/stamp.ts'

export interface DocumentsWriter {
  /**
   * Makes these the current documents of a source; none removes them from reads. Documents that did
   * not change keep their row.
   * @param entity name of the label that is the entity key, or null.
   */
  replace(sourceId: number, documents: readonly ReferenceDocument[], entity: string | null): void
}

interface CurrentRow {
  id: number
  labels: string
  entity: string | null
  text: string
  raw: Uint8Array
}

export function createDocumentsWriter(store: StoreHandle, appender: Appender, stamp: Stamp): DocumentsWriter {
  const { db } = store
  const current = db.prepare<[number], CurrentRow>(
    'SELECT id, labels, entity, text, raw FROM documents WHERE source_id = ? AND superseded_at IS NULL',
  )
  const supersede = db.prepare('UPDATE documents SET superseded_at = ? WHERE id = ?')
  const insert = db.prepare(
    'INSERT INTO documents (id, source_id, ingested_at, labels, entity, text, raw) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  return {
    replace: (sourceId, documents, entity) =>
      store.tx(() => {
        const at = stamp.next()
        const identity = (labels: string, ownEntity: string | null, text: string, raw: Uint8Array) =>
          `${labels}\0${ownEntity}\0${text}\0${Buffer.from(raw).toString('base64')}`
        const existing = new Map(
          current.all(sourceId).map((row) => [identity(row.labels, row.entity, row.text, row.raw), row.id]),
        )
        for (const document of documents) {
          const labels = JSON.stringify(document.labels)
          const key = identity(labels, entity, document.text, document.raw)
          if (existing.delete(key)) continue
          const id = appender.reserveId()
          insert.run(id, sourceId, at, labels, entity, document.text, document.raw)
          keepHighId(store, id)
        }
        for (const id of existing.values()) supersede.run(at, id)
      }),
  }
}
