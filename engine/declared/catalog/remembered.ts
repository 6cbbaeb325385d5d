/** The catalog files that were imported, each by its own name, as text without secrets. */
import { fail } from '../../errors.ts'
import type { Database } from '../../log/store/handle.ts'

/** A file that is named by nothing else. */
const UNNAMED = 'catalog'
const NAME_MAX = 64

export interface RememberedFile {
  name: string
  /** Without the secrets it may have held. */
  text: string
  /** Epoch ms. */
  imported_at: number
}

export interface RememberedFiles {
  keep(name: string, text: string, at: number): void
  /** By name. */
  all(): RememberedFile[]
  /** The one imported last. */
  newest(): RememberedFile | undefined
  /** @throws SvcError not_found */
  forget(name: string): void
}

export function rememberedFiles(db: Database): RememberedFiles {
  // A replaced row gets a new rowid, so that the newest is the last whatever the clock says.
  const keep = db.prepare('INSERT OR REPLACE INTO catalog_files (name, text, imported_at) VALUES (?, ?, ?)')
  const all = db.prepare<[], RememberedFile>(
    'SELECT name, text, imported_at FROM catalog_files ORDER BY name',
  )
  const newest = db.prepare<[], RememberedFile>(
    'SELECT name, text, imported_at FROM catalog_files ORDER BY rowid DESC LIMIT 1',
  )
  const forget = db.prepare('DELETE FROM catalog_files WHERE name = ?')
  return {
    keep: (name, text, at) => void keep.run(name, text, at),
    all: () => all.all(),
    newest: () => newest.get(),
    forget: (name) => {
      if (forget.run(name).changes === 0)
        fail('not_found', `no catalog file is remembered by the name ${name}`, { field: 'name' })
    },
  }
}

/**
 * The name a file is remembered by: the one it carries under `catalog`, the one it is given, or that
 * of the file without its folder and ending.
 * @throws SvcError invalid when it carries one and is given another
 */
export function nameOfFile(
  carried: string | null,
  { name, file }: { name?: string | undefined; file?: string | undefined },
): string {
  if (carried !== null && name !== undefined && carried !== name)
    fail('invalid', `name must be ${carried}, which the file carries under catalog`, { field: 'name' })
  return carried ?? name ?? baseName(file ?? '')
}

function baseName(file: string): string {
  const last = file.split(/[/\\]/).at(-1) ?? ''
  const stem = last.replace(/\.(ya?ml|json)$/i, '').replace(/[^A-Za-z0-9_.-]/g, '-')
  return stem.replace(/^[^A-Za-z0-9]+/, '').slice(0, NAME_MAX) || UNNAMED
}
