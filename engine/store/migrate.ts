/**
 * Forward-only schema versions: engine/store/migrations/NNNN_name.sql, each applied in one
 * transaction together with its number in `user_version`, so a crash leaves the old version or
 * the new one. A file of a newer version is refused: nothing here knows how to read it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { StartError } from '../errors.ts'
import type { Database } from './handle.ts'

/** Marks a file as ours in the SQLite header ("svc1"). */
export const APPLICATION_ID = 0x73766331

interface Migration {
  version: number
  name: string
  sql: string
}

/** The migrations beside this module; the build copies them beside the bundle. */
export function readMigrations(): Migration[] {
  const folder = new URL('./migrations/', import.meta.url)
  return readdirSync(folder)
    .filter((name) => /^\d{4}_[a-z0-9-]+\.sql$/.test(name))
    .sort()
    .map((name) => ({
      version: Number(name.slice(0, 4)),
      name,
      sql: readFileSync(new URL(name, folder), 'utf8'),
    }))
}

/**
 * Brings the file to the newest version.
 * @returns how many migrations ran.
 * @throws StartError 78 when the file is newer than this program, or belongs to another program.
 */
export function migrate(db: Database, migrations = readMigrations()): number {
  const applicationId = db.pragma('application_id', { simple: true }) as number
  const version = db.pragma('user_version', { simple: true }) as number
  const tables = db
    .prepare("SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
    .pluck()
    .get() as number
  if (tables > 0 && applicationId !== APPLICATION_ID)
    throw new StartError(
      `${db.name} is a database of another program; choose another --data-dir or SVC_DB`,
      78,
    )
  const newest = migrations.at(-1)?.version ?? 0
  if (version > newest)
    throw new StartError(
      `${db.name} was made by a newer svc (schema ${version}; this one knows ${newest}); start that version, or restore a backup made before the upgrade`,
      78,
    )
  const due = migrations.filter((migration) => migration.version > version)
  for (const migration of due) {
    db.transaction(() => {
      db.exec(migration.sql)
      db.pragma(`user_version = ${migration.version}`)
      db.pragma(`application_id = ${APPLICATION_ID}`)
    }).immediate()
  }
  return due.length
}
