/** The catalog file on the machine, as text. */
import { readFileSync } from 'node:fs'

/** Reads a catalog file of the machine; null when there is none. @throws Error when it cannot be read */
export function readCatalogFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
