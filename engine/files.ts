/**
 * Catalog files of the machine: a path, a folder with all below it, and what a file includes. It is what the doors may
 * import for catalog files alone: read, put together, laid out and looked through without an engine, and without
 * loading one.
 */
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, normalize, sep } from 'node:path'
import { systemWords } from '../schemas/plain-words.ts'
import type { Root } from './gitops/compose.ts'
import type { CatalogText } from './gitops/nodes.ts'

export {
  type Composed,
  type ComposeInput,
  compose,
  needsComposing,
  type Root,
} from './gitops/compose.ts'
export type { CatalogText } from './gitops/nodes.ts'
export { pathOfProblem } from './gitops/nodes.ts'
export { type PulledFile, patchOf, pullInto, withFiles } from './gitops/pull.ts'
export { bounded } from './gitops/shape.ts'
export { BODY_MAX_BYTES, sizeFault, sizeText } from './gitops/tree.ts'

/** Files read of one path at most, and folders within folders. */
const FILES_MAX = 10_000
const LEVELS_MAX = 32

/** Why a path gives no texts. */
export class UnreadablePath extends Error {
  /** Whether what is there was read and is no text, rather than not there. */
  readonly isText: boolean
  constructor(message: string, isText = false) {
    super(message)
    this.name = 'UnreadablePath'
    this.isText = isText
  }
}

/**
 * The texts of a path: a file as it is; of a folder every .yaml and .yml below it in the order of their paths, without
 * hidden files and folders and node_modules.
 * @throws UnreadablePath
 */
export function readPath(path: string): CatalogText[] {
  return listPath(path).map((file) => ({ path: file, text: textOf(file) }))
}

/** The files that readPath reads. @throws UnreadablePath */
function listPath(path: string): string[] {
  const files: string[] = []
  const visited = new Set<string>()
  const visit = (at: string, level: number): void => {
    const real = realpathSync(at)
    // A link back to a folder above would be read without end.
    if (visited.has(real) || level > LEVELS_MAX) return
    visited.add(real)
    const entries = readdirSync(at, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of entries) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
      const inner = join(at, entry.name)
      const isFolder = entry.isDirectory() || (entry.isSymbolicLink() && statSync(inner).isDirectory())
      if (isFolder) visit(inner, level + 1)
      else if (/\.ya?ml$/.test(entry.name)) files.push(slashed(inner))
      if (files.length > FILES_MAX) throw new UnreadablePath(`${path} has more than ${FILES_MAX} files`)
    }
  }
  return told(path, () => {
    if (!statSync(path).isDirectory()) return [slashed(path)]
    visit(path, 0)
    return files
  })
}

/** A path as one of several that are put together: it is remembered by its last name. @throws UnreadablePath */
export const rootOf = (path: string): Root => ({
  name: told(path, () => nameOfPath(path)),
  files: readPath(path),
})

/** What `include` names, by its path from the file `from`. @throws UnreadablePath */
export function readIncluded(from: string, path: string): CatalogText[] {
  return readPath(normalize(join(dirname(from), path)))
}

/** The name of a file or folder without its ending, as an instance remembers it. */
function nameOfPath(path: string): string {
  const last = basename(realpathSync(path))
  const stem = last.replace(/\.(ya?ml|json)$/i, '').replace(/[^A-Za-z0-9_.-]/g, '-')
  return stem.replace(/^[^A-Za-z0-9]+/, '').slice(0, 64) || 'catalog'
}

/** Whether a path is a folder; false where there is nothing. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** A file as text, its byte order mark kept. @throws UnreadablePath */
function textOf(path: string): string {
  const bytes = told(path, () => readFileSync(path))
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new UnreadablePath(`${path} is not UTF-8; save it as UTF-8 first`, true)
  }
}

function told<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof UnreadablePath) throw error
    throw new UnreadablePath(`cannot read ${path}: ${systemWords(error, path)}`)
  }
}

const slashed = (path: string): string => normalize(path).split(sep).join('/')
