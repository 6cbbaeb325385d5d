/**
 * Which stored secrets this key file cannot open: after the data file was restored without its
 * secret.key, or beside another one. They are looked for in the rows themselves, so that none that
 * is used rarely is found out about only then.
 */

import { SvcError } from '../../errors.ts'
import type { Database } from '../../log/store/handle.ts'
import { placeOf, sealedParts } from '../../net/address-secrets.ts'
import { isSealed, type Secrets } from '../../net/secrets.ts'

/** A sealed value, the place it is bound to, and how people find it. */
interface Place {
  sealed: string
  aad: string
  words: string
}

/** How the words for a proposal begin: its changes cannot be entered again, but be proposed again. */
const PROPOSED = 'changes of proposal '
/** Named in a sentence; the rest is counted. */
const NAMED = 10

interface UnreadableSecrets {
  /** In words, such as `signature_secret of source app`; none: all can be opened. */
  names: string[]
  /** What cannot be opened and what to do; null: all can be. */
  sentence: string | null
}

/** A list that is kept while all can be opened, and made anew while some cannot. */
export interface SealedSecrets {
  look(): UnreadableSecrets
}

/** @param keyFile path, for the sentence. */
export function watchSealedSecrets(db: Database, secrets: Secrets, keyFile: string): SealedSecrets {
  let isWell = false
  const unreadable = (): string[] => {
    // What this process seals it can open, so once all is well it stays so.
    if (isWell) return []
    const found = unreadableOf(db, secrets)
    isWell = found.length === 0
    return found
  }
  return {
    look: () => {
      const names = unreadable()
      return { names, sentence: names.length === 0 ? null : sentenceOf(names, keyFile) }
    },
  }
}

function sentenceOf(found: readonly string[], keyFile: string): string {
  const more = found.length > NAMED ? ` and ${found.length - NAMED} more` : ''
  const isAnyProposed = found.some((words) => words.startsWith(PROPOSED))
  return `${keyFile} does not open ${found.length} stored ${found.length === 1 ? 'secret' : 'secrets'}: ${found.slice(0, NAMED).join(', ')}${more}; stop the daemon and put back the secret.key they were stored with, or enter them again${isAnyProposed ? ' and decline what is proposed' : ''}`
}

function unreadableOf(db: Database, secrets: Secrets): string[] {
  return placesOf(db)
    .filter(({ sealed, aad }) => !opens(secrets, sealed, aad))
    .map(({ words }) => words)
}

function opens(secrets: Secrets, sealed: string, aad: string): boolean {
  try {
    secrets.open(sealed, aad)
    return true
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return false
  }
}

interface DocumentRow {
  key: string | number
  name: string
  doc: string
}

function placesOf(db: Database): Place[] {
  const documents = (sql: string, place: string, noun: string): Place[] =>
    (db.prepare(sql).all() as DocumentRow[]).flatMap(({ key, name, doc }) =>
      fieldsOf(doc).map(([field, sealed]) => ({
        sealed,
        aad: `${place}/${key}/${field}`,
        words: `${field} of ${noun} ${name}`,
      })),
    )
  return [
    ...documents(
      "SELECT id AS key, name, config AS doc FROM sources WHERE state <> 'deleted' ORDER BY name",
      'sources',
      'source',
    ),
    ...['agents', 'mcp_servers'].flatMap((table) =>
      documents(
        `SELECT name AS key, name, spec AS doc FROM ${table} WHERE state <> 'deleted' ORDER BY name`,
        table,
        table === 'agents' ? 'agent' : 'MCP server',
      ),
    ),
    ...documents(
      "SELECT id AS key, name, coalesce(json_extract(spec, '$.params'), '{}') AS doc FROM projects WHERE state <> 'deleted' ORDER BY name",
      'projects',
      'project',
    ),
    ...columnsOf(db),
    ...settingsOf(db),
  ]
}

function columnsOf(db: Database): Place[] {
  const rows = db
    .prepare(
      `SELECT token AS sealed, 'credentials/' || name || '/token' AS aad, 'token of credential ' || name AS words FROM credentials
       UNION ALL SELECT url, 'subscriptions/' || id || '/url', 'address of subscription ' || name FROM subscriptions WHERE removed_at IS NULL AND masked <> ''
       UNION ALL SELECT secret, 'subscriptions/' || id || '/secret', 'secret of subscription ' || name FROM subscriptions WHERE removed_at IS NULL
       UNION ALL SELECT operations, 'proposals/' || id || '/operations', '${PROPOSED}' || id FROM proposals WHERE state = 'open'`,
    )
    .all() as Place[]
  return rows.filter(({ sealed }) => isSealed(sealed))
}

/** Keys such as model_provider:<id> are bound to settings/model_provider/<id>. */
function settingsOf(db: Database): Place[] {
  const rows = db.prepare('SELECT key, value FROM settings ORDER BY key').all() as {
    key: string
    value: string
  }[]
  return rows.flatMap(({ key, value }) => {
    const place = `settings/${key.replace(':', '/')}`
    return fieldsOf(value).map(([field, sealed]) => ({
      sealed,
      aad: `${place}/${field}`,
      words: field === 'value' ? `setting ${key}` : `${field} of setting ${key}`,
    }))
  })
}

/**
 * Sealed fields of a JSON document, those inside addresses by field and parameter; a sealed text by itself is
 * the field `value`.
 */
function fieldsOf(json: string): [field: string, sealed: string][] {
  const doc = JSON.parse(json) as unknown
  if (isSealed(doc)) return [['value', doc]]
  if (typeof doc !== 'object' || doc === null) return []
  return Object.entries(doc).flatMap(([name, value]): [string, string][] =>
    isSealed(value)
      ? [[name, value]]
      : sealedParts(value).map(({ part, sealed }) => [placeOf(name, part), sealed]),
  )
}
