/** Files named on the command line; `-` is standard input, and where one is written standard output. */
import {
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { systemWords } from '../../schemas/plain-words.ts'
import { CliError, EXIT } from './exit.ts'
import { type Io, printText } from './terminal.ts'

/** Stands for standard input or output where a file is named (POSIX, Utility Syntax Guideline 13). */
export const STANDARD = '-'

/** What was read of a standard input, which says it once: whoever reads it again is given the same. */
const drained = new WeakMap<Io['stdin'], Promise<Uint8Array>>()

async function drain(stdin: Io['stdin']): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const chunk of stdin) parts.push(chunk)
  return Buffer.concat(parts)
}

/** @throws CliError 66 when it cannot be read. */
export async function readBytes(io: Io, file: string): Promise<Uint8Array> {
  if (file === STANDARD) {
    const read = drained.get(io.stdin) ?? drain(io.stdin)
    drained.set(io.stdin, read)
    return read
  }
  try {
    return readFileSync(file)
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${systemWords(error, file)}`, EXIT.input)
  }
}

/**
 * A file as text, its byte order mark kept.
 * @throws CliError 66 when it cannot be read, 65 when it is not UTF-8: other bytes would come back as
 * replacement characters, and be written as them.
 */
export async function readText(io: Io, file: string): Promise<string> {
  const bytes = await readBytes(io, file)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CliError(`${shownFile(file)} is not UTF-8; save it as UTF-8 first`, EXIT.data)
  }
}

/** A file as the prompt of an agent: editors end it with a line break. @throws CliError 65, 66 */
export const readPrompt = async (io: Io, file: string): Promise<string> =>
  (await readText(io, file)).replace(/^\ufeff/, '').trimEnd()

/** What a file is called in sentences. */
export const shownFile = (file: string): string => (file === STANDARD ? 'standard input' : file)

/** All of it or nothing. @throws CliError 74 when it cannot be written. */
export function writeText(io: Io, file: string, text: string): void {
  try {
    if (file === STANDARD) printText(io, text)
    else writeWhole(file, text)
  } catch (error) {
    throw cannotWrite(file, error)
  }
}

/** Writes a file, all of it or nothing; makes its folder first if it is missing. @throws CliError 74 when the file cannot be written. */
export function writeInFolder(file: string, data: string | Uint8Array): void {
  try {
    makeFolders(dirname(file))
    writeWhole(file, data)
  } catch (error) {
    throw cannotWrite(file, error)
  }
}

/** What a file is called until all of it is there. */
export const partOf = (place: string): string => `${place}.part`

/** Why nothing is put in the place of a file though the file itself may be written: rights, a mount, a name that is long. */
const IN_PLACE: readonly unknown[] = ['EACCES', 'EPERM', 'EBUSY', 'EXDEV', 'EROFS', 'ENAMETOOLONG']

/**
 * Writes beside the file, and puts that in its place: a catalog that is laid out, or exported over, is what it was
 * where the disk has no room for it.
 * @throws the system's error
 */
function writeWhole(file: string, data: string | Uint8Array): void {
  const place = placeOf(file)
  if (place === null) {
    writeFileSync(file, data)
    return
  }
  try {
    writePart(place, data)
    renameSync(partOf(place), place)
  } catch (error) {
    rmSync(partOf(place), { force: true })
    if (!IN_PLACE.includes((error as NodeJS.ErrnoException).code)) throw error
    writeFileSync(file, data)
  }
}

/** As open to others as what it takes the place of. What lies there goes first: a link would be followed. */
function writePart(place: string, data: string | Uint8Array): void {
  const there = statSync(place, { throwIfNoEntry: false })
  rmSync(partOf(place), { force: true })
  const part = openSync(partOf(place), 'wx')
  try {
    writeFileSync(part, data)
    if (!there) return
    const { uid, gid } = statSync(partOf(place))
    if (uid !== there.uid || gid !== there.gid) fchownSync(part, there.uid, there.gid)
    fchmodSync(part, there.mode)
  } finally {
    closeSync(part)
  }
}

/**
 * Checks that a file can be written, before work that may be paid for fills it. Leaves what the file holds as it is.
 * @param makesFolder whether to make the file's folder if it is missing
 * @throws CliError 74 when it cannot be written.
 */
export function checkWritable(file: string, makesFolder = false): void {
  if (file === STANDARD) return
  try {
    if (makesFolder) makeFolders(dirname(file))
    const there = statSync(file, { throwIfNoEntry: false })
    // Whoever reads a pipe would take an opening of it that writes nothing for its end.
    if (there && !there.isFile() && !there.isDirectory()) return
    closeSync(openSync(file, 'a'))
    if (!there) rmSync(file)
  } catch (error) {
    throw cannotWrite(file, error)
  }
}

/**
 * Where a file is to be put that is written beside its place first: what a link leads to, and not in place of the link.
 * @returns null for a pipe or a device, which nothing may take the place of: whoever reads it would wait for ever
 * @throws CliError 74
 */
export function placeOf(file: string): string | null {
  try {
    const there = statSync(file, { throwIfNoEntry: false })
    if (!there) return file
    return there.isFile() ? realpathSync(file) : null
  } catch (error) {
    throw cannotWrite(file, error)
  }
}

/** Where a path leads to through links, also where nothing is there yet. */
export function realPathOf(path: string): string {
  const whole = resolve(path)
  return existsSync(whole) ? realpathSync(whole) : join(realPathOf(dirname(whole)), basename(whole))
}

/** The git repository that a folder is in; null: it is in none. */
export function repositoryOf(folder: string): string | null {
  for (let at = realPathOf(folder); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (at === dirname(at)) return null
  }
}

/** Whether what a path leads to is in a folder, or below it. @param folder as `realPathOf` has it */
export const isWithin = (folder: string, path: string): boolean =>
  relative(folder, realPathOf(path)).split(sep)[0] !== '..'

const cannotWrite = (file: string, error: unknown): CliError =>
  new CliError(`cannot write ${file}: ${systemWords(error, file)}`, EXIT.disk)

/**
 * Makes a folder, and those above it that are missing. One level after another: mkdir with `recursive` hides why a
 * level cannot be made, and in /proc never returns.
 * @returns whether any was missing. @throws the system's error
 */
export function makeFolders(folder: string, mode = 0o777): boolean {
  const missing: string[] = []
  for (let at = folder; !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.unshift(at)
  for (const one of missing) makeOne(one, mode)
  return missing.length > 0
}

function makeOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Made by another meanwhile.
    const isMade = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false
    if (!isMade) throw error
  }
}
