/** The console's sessions (SPEC.md, Authentication): a cookie instead of the token, by hashes alone. */
import type { StoreHandle } from '../../log/store/handle.ts'

export interface SessionRecord {
  /** Lower-case hex SHA-256 of the cookie's value. */
  idHash: string
  /** Lower-case hex SHA-256 of the token it was opened with. */
  tokenHash: string
  /** Epoch ms. */
  usedAt: number
}

export interface Sessions {
  /** Those used since `after`, epoch ms; older ones are forgotten. */
  load(after: number): SessionRecord[]
  /** Keeps a session, or notes that it was used. */
  save(sessions: readonly SessionRecord[]): void
  drop(idHash: string): void
}

export function createSessions({ db, tx }: StoreHandle): Sessions {
  const all = db.prepare<[], SessionRecord>(
    'SELECT id_hash AS idHash, token_hash AS tokenHash, used_at AS usedAt FROM sessions',
  )
  const expire = db.prepare('DELETE FROM sessions WHERE used_at < ?')
  const put = db.prepare<SessionRecord>(
    'INSERT OR REPLACE INTO sessions (id_hash, token_hash, used_at) VALUES (@idHash, @tokenHash, @usedAt)',
  )
  const remove = db.prepare('DELETE FROM sessions WHERE id_hash = ?')
  return {
    load: (after) => {
      expire.run(after)
      return all.all()
    },
    save: (sessions) =>
      tx(() => {
        for (const session of sessions) put.run(session)
      }),
    drop: (idHash) => {
      remove.run(idHash)
    },
  }
}
