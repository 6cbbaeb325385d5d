/** What `svc catalog` is given: a file, a folder, several of them or standard input, as the API takes them. */
import { readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import {
  BODY_MAX_BYTES,
  bounded,
  type CatalogText,
  type Composed,
  type ComposeInput,
  compose,
  isFolder,
  needsComposing,
  pathOfProblem,
  type Root,
  readIncluded,
  readPath,
  rootOf,
  sizeFault,
  sizeText,
  UnreadablePath,
} from '../../engine/files.ts'
import type { CatalogCheck, CatalogChecked, CatalogProblem } from '../../schemas/types.ts'
import { problemsError } from './catalog-text.ts'
import { CliError, EXIT } from './exit.ts'
import { finishChanges } from './file-changes.ts'
import { readText, STANDARD, shownFile } from './files.ts'
import type { Io } from './terminal.ts'

export interface InputFlags {
  /** Name of an environment, or a file of one. */
  env?: string
  /** What it is remembered by. */
  name?: string
  /** Whether folders without a catalog file are an empty catalog, and not a mistyped path. */
  allowEmpty?: boolean
  /** Whether they are files of before a change: an environment that none of them has is then new, and nothing was in it. */
  isBase?: boolean
}

/** What a place of the given texts is told with. */
type Placed = Partial<Pick<CatalogProblem, 'file' | 'line' | 'column' | 'end_line' | 'end_column'>> & {
  path: string
}

export interface CatalogInput {
  /** What it is called in sentences. */
  shown: string
  /** As the API takes it. */
  texts: Pick<CatalogCheck, 'yaml' | 'name' | 'file' | 'others'>
  /** What was put together; null: one file that is sent as it is. */
  composed: Composed | null
  /** Whether the environment is in none of the files of before a change. */
  isNewEnvironment?: true
  /** A problem or a conflict of the daemon with the file and line that it is about. */
  placed<T extends Placed>(told: T): T
}

/**
 * Reads what is given. One file that says all by itself is taken as it is, to the byte. Where only entries of it have
 * problems, the others are there to be looked at beside them.
 * @throws CliError 65 with every problem of what cannot be put together, 66 for a path that cannot be read
 */
export async function readInput(io: Io, paths: readonly string[], flags: InputFlags): Promise<CatalogInput> {
  finishPulls(io, paths)
  const [path = '.', ...more] = paths
  if (more.length === 0 && flags.env === undefined && (path === STANDARD || !isFolder(path))) {
    const yaml = await readCatalog(io, path, flags)
    refuseLarge(path, yaml)
    if (!needsComposing(yaml)) return oneFile(path, yaml, flags)
  }
  const composed = await composeInput(io, paths, flags)
  if (flags.isBase && composed.lacksEnvironment) return nothingYet(paths, flags)
  if (composed.files.length === 0 && !flags.allowEmpty)
    throw new CliError(`there is no catalog file (.yaml or .yml) in ${shownPaths(paths)}`, EXIT.input)
  if (composed.owned.length === 0) throw problemsError(path, composed.problems)
  const [first, ...others] = composed.owned.map(({ name, text }) => ({ name, yaml: text }))
  // A file that says all by itself is sent as it is: its comments and places are then remembered, too.
  if (composed.isPlain) {
    const { path: file, text } = composed.files[0]!
    const one = oneFile(file, text, flags)
    const isOne = more.length === 0 && !isFolder(path)
    // The command that reads the file reports its problems, so they are not reported here, too.
    return {
      ...one,
      composed: { ...composed, problems: [] },
      texts: isOne ? one.texts : { yaml: text, name: first!.name },
    }
  }
  const texts = { ...first!, ...(others.length ? { others } : {}) }
  const bytes = others.length ? Buffer.byteLength(JSON.stringify(texts)) : 0
  if (bytes > BODY_MAX_BYTES)
    throw sizeError(
      path,
      `the ${composed.owned.length} catalogs of these files have ${sizeText(bytes)} together as JSON; at most ${sizeText(BODY_MAX_BYTES)} are taken at once`,
    )
  return { shown: shownPaths(paths), texts, composed, placed: placedIn(composed) }
}

/** An environment before its first file. */
const nothingYet = (paths: readonly string[], { name = 'catalog' }: InputFlags): CatalogInput => ({
  shown: shownPaths(paths),
  texts: { yaml: '{}', name },
  composed: null,
  isNewEnvironment: true,
  placed: (told) => told,
})

/** Checks the size of a file before the command sends the file. @throws CliError 65 where the file is too large */
export function refuseLarge(path: string, text: string): void {
  const fault = sizeFault(text)
  if (fault) throw sizeError(path, fault)
}

const sizeError = (path: string, message: string): CliError =>
  problemsError(shownFile(path), [{ line: 1, column: 1, path: '', message }])

/** The folder of a path that is given. */
export const folderOf = (path: string): string => (isFolder(path) ? path : dirname(path))

/** Files that a pull was cut off in are finished before they are read. @throws CliError 65 */
function finishPulls(io: Io, paths: readonly string[]): void {
  for (const path of paths.length ? paths : ['.'])
    if (path !== STANDARD && finishChanges(folderOf(path))) io.err('finished a pull that was cut off\n')
}

/** What is told of texts that were put together, with the places of their files. */
export const placedIn =
  (composed: Composed): CatalogInput['placed'] =>
  (told) => ({ ...told, ...composed.locate(pathOfProblem(composed, told)) })

function oneFile(path: string, yaml: string, { name }: InputFlags): CatalogInput {
  const file = path === STANDARD ? {} : { file: basename(path) }
  return {
    shown: shownFile(path),
    texts: { yaml, ...file, ...(name === undefined ? {} : { name }) },
    composed: null,
    placed: (problem) => ({ ...problem, file: path }),
  }
}

/** Everything that is given, put together, with its problems. @throws CliError 65, 66 */
export async function composeInput(io: Io, paths: readonly string[], flags: InputFlags): Promise<Composed> {
  return compose(await givenTexts(io, paths, flags))
}

/** The texts that are given, before they are put together. @throws CliError 65, 66 */
export async function givenTexts(
  io: Io,
  paths: readonly string[],
  { env, name, allowEmpty }: InputFlags,
): Promise<ComposeInput> {
  finishPulls(io, paths)
  const given = paths.length ? paths : ['.']
  const roots: Root[] = []
  for (const path of given) {
    const root =
      path === STANDARD
        ? {
            name: 'catalog',
            files: [{ path: STANDARD, text: await readCatalog(io, STANDARD, { allowEmpty }) }],
          }
        : unreadable(() => rootOf(path))
    roots.push(name === undefined ? root : { ...root, name })
  }
  const isFile = env !== undefined && /[/\\]|\.ya?ml$/i.test(env)
  const overlays: CatalogText[] = isFile ? unreadable(() => readPath(env)) : []
  return { roots, read: readIncluded, environment: isFile ? null : (env ?? null), overlays }
}

/** @throws CliError 65; 66 where nothing comes on standard input, as of a program that failed */
async function readCatalog(io: Io, path: string, { allowEmpty }: InputFlags): Promise<string> {
  const text = await readText(io, path)
  if (path === STANDARD && text.trim() === '' && !allowEmpty)
    throw new CliError(
      'standard input is empty: did the program that writes the catalog fail? A catalog without parts is {}',
      EXIT.input,
    )
  return text
}

function unreadable<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof UnreadablePath)) throw error
    throw new CliError(error.message, error.isText ? EXIT.data : EXIT.input)
  }
}

const shownPaths = (paths: readonly string[]): string =>
  (paths.length ? paths : ['.']).map(shownFile).join(', ')

/** An answer with the places of the files, and what was seen as they were put together. */
export function withPlaces(
  checked: CatalogChecked,
  composed: Composed | null,
  placed: CatalogInput['placed'],
  isStrict: boolean,
): CatalogChecked {
  const seen = composed?.warnings ?? []
  const strict = isStrict ? seen : []
  const own = composed?.problems ?? []
  const isOwn = ({ path, message }: CatalogProblem) =>
    own.some((problem) => problem.path === path && problem.message === message)
  const told = checked.problems.filter((problem) => !isOwn(problem)).map(placed)
  return {
    ...checked,
    problems: bounded([...strict, ...(own.length ? inOrder([...own, ...told]) : told)]),
    ...(checked.conflicts ? { conflicts: checked.conflicts.map(placed) } : {}),
    ...(checked.kept ? { kept: checked.kept.map(placed) } : {}),
    warnings: [...(isStrict ? [] : seen), ...checked.warnings.map(placed)],
  }
}

const inOrder = (problems: readonly CatalogProblem[]): CatalogProblem[] =>
  problems.toSorted(
    (a, b) => (a.file ?? '').localeCompare(b.file ?? '') || a.line - b.line || a.column - b.column,
  )

/** A file that a test names, by its path from the file of the test. @throws Error */
export function readBeside(from: string, path: string): { path: string; bytes: Uint8Array } {
  const file = path.startsWith('/') ? path : normalize(join(dirname(from), path))
  return { path: file, bytes: readFileSync(file) }
}
