/**
 * Documents as of a change-set, read from the record of changes without the key file: what is sealed
 * in them, and what is secret in an address, shows as a mask, as wherever documents leave the engine.
 */

import { maskAddresses } from '../address-secrets.ts'
import { isSealed } from '../secrets.ts'
import type { Database } from '../store/handle.ts'
import type { ChangeKind, Doc, DocumentOf } from './declared.ts'
import { documentOf } from './documents.ts'
import { MASK } from './plan.ts'

const TABLES = {
  source: 'sources',
  trigger: 'triggers',
  agent: 'agents',
  mcp_server: 'mcp_servers',
  skill: 'skills',
} as const

interface Recorded {
  change_set: number
  text: string | null
}

/** @returns the document of an object as of a change-set; undefined: it was not there */
export type DocumentAt = <K extends ChangeKind>(
  kind: K,
  key: string,
  changeSet: number,
) => DocumentOf<K> | undefined

/** The rule of `ChangeSets.documentAt`, on a connection that only reads. */
export function maskedDocuments(db: Database): DocumentAt {
  const upTo = db.prepare<[string, string, number], Recorded>(
    `SELECT change_set, after AS text FROM changes WHERE kind = ? AND key = ? AND change_set <= ?
     ORDER BY change_set DESC, seq DESC LIMIT 1`,
  )
  const after = db.prepare<[string, string, number], Recorded>(
    `SELECT change_set, before AS text FROM changes WHERE kind = ? AND key = ? AND change_set > ?
     ORDER BY change_set, seq LIMIT 1`,
  )
  const parsed = new Map<string, Doc | undefined>()
  return <K extends ChangeKind>(kind: K, key: string, changeSet: number) => {
    const found = upTo.get(kind, key, changeSet)
    // With no change up to then, it was what the first change after it found.
    const next = found ? undefined : after.get(kind, key, changeSet)
    const recorded = found ?? next
    const version = found ? `=${found.change_set}` : next ? `<${next.change_set}` : 'now'
    const id = `${kind}:${key}${version}`
    if (!parsed.has(id)) {
      const text = recorded ? recorded.text : unrecorded(db, kind, key)
      parsed.set(id, text === null ? undefined : shown(kind, text))
    }
    const doc = parsed.get(id)
    return doc && documentOf(kind, doc)
  }
}

/** What no change-set ever touched is what it is now. */
function unrecorded(db: Database, kind: ChangeKind, key: string): string | null {
  if (kind === 'project') return null
  const columns = kind === 'source' ? "json_object('connector', connector, 'config', json(config))" : 'spec'
  return (
    db
      .prepare<[string], string>(
        `SELECT ${columns} FROM ${TABLES[kind]} WHERE name = ? AND state <> 'deleted'`,
      )
      .pluck()
      .get(key) ?? null
  )
}

/** What a trigger compares with is no address of ours, and is evaluated as it is. */
function shown(kind: ChangeKind, text: string): Doc {
  const {
    '@id': _id,
    '@name': _name,
    ...doc
  } = JSON.parse(text, (_key, value: unknown) => (isSealed(value) ? MASK : value)) as Record<string, unknown>
  return kind === 'trigger' ? doc : maskAddresses(doc)
}
