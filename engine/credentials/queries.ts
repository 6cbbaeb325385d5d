/** The SQL of stored credentials. */
import type { Database } from '../store/handle.ts'

/** Times are epoch ms. */
export interface CredentialRow {
  name: string
  kind: string
  /** Sealed. */
  token: string
  api_url: string
  account: string | null
  expires_at: number | null
  created_at: number
  updated_at: number
  rotated_at: number
}

/** The statements of credentials, prepared once. */
export function credentialQueries(db: Database) {
  const one = db.prepare<[string], CredentialRow>('SELECT * FROM credentials WHERE name = ?')
  const all = db.prepare<[], CredentialRow>('SELECT * FROM credentials ORDER BY name')
  const put = db.prepare<[CredentialRow]>(
    `INSERT OR REPLACE INTO credentials (name, kind, token, api_url, account, expires_at, created_at, updated_at, rotated_at)
     VALUES (@name, @kind, @token, @api_url, @account, @expires_at, @created_at, @updated_at, @rotated_at)`,
  )
  const seen = db.prepare(
    'UPDATE credentials SET account = @account, expires_at = @expiresAt WHERE name = @name AND rotated_at = @rotatedAt',
  )
  const remove = db.prepare('DELETE FROM credentials WHERE name = ?')
  return {
    find: (name: string) => one.get(name),
    all: () => all.all(),
    put: (row: CredentialRow) => void put.run(row),
    /** What GitHub said of a token, while it is that token still. */
    seen: (of: { name: string; rotatedAt: number; account: string | null; expiresAt: number | null }) =>
      void seen.run(of),
    remove: (name: string) => void remove.run(name),
  }
}
