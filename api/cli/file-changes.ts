/**
 * Many files changed as one: what is to be is written beside them, then said in a journal, then put in its place. A kill
 * before the journal leaves all of them as they were; one after it leaves a journal, by which the next command finishes.
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { PulledFile } from '../../engine/files.ts'
import { CliError, EXIT } from './exit.ts'
import { isWithin, makeFolders, placeOf, realPathOf, repositoryOf } from './files.ts'

/** Hidden, so that no catalog has it. */
const JOURNAL = '.svc-pull.json'
const besideOf = (path: string): string => `${path}.pulled`

/** Its path absolute, and hashes in place of its texts. */
type Line = PulledFile

/**
 * Changes files, all or none.
 * @param folder where the journal lies. @param step told before each write to the disk, for tests of kills
 * @throws CliError 74; then all are as they were
 */
export function changeFiles(folder: string, files: readonly PulledFile[], step = () => {}): void {
  if (files.length === 0) return
  const placed = files.map((file) => ({ ...file, path: placeFor(file) }))
  const lines = placed.map(
    ({ path, before, after }): Line => ({ path, before: hashOf(before), after: hashOf(after) }),
  )
  try {
    for (const { path, after } of placed)
      if (after !== null) {
        step()
        makeFolders(dirname(path))
        writeBeside(path, after)
      }
    step()
    writeBeside(join(folder, JOURNAL), JSON.stringify(lines))
    step()
    renameSync(besideOf(join(folder, JOURNAL)), join(folder, JOURNAL))
    put(lines, step)
    step()
    rmSync(join(folder, JOURNAL))
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    for (const { path, before } of placed) {
      remove(besideOf(path))
      if (before === null) remove(path)
      else if (textAt(path) !== before) writeThrough(path, before)
    }
    for (const path of [join(folder, JOURNAL), besideOf(join(folder, JOURNAL))]) remove(path)
    throw new CliError(`cannot write: ${error.message}`, EXIT.disk)
  }
}

/**
 * Finishes what a kill came between. @returns whether there was something
 * @throws CliError 65 where a file was edited since, or lies outside of the repository: whoever wrote that may have put the
 *   journal into it, and would delete files of whoever checks its catalog
 */
export function finishChanges(folder: string): boolean {
  const journal = join(folder, JOURNAL)
  if (!existsSync(journal)) return false
  const lines = JSON.parse(readFileSync(journal, 'utf8')) as Line[]
  const whole = repositoryOf(folder) ?? realPathOf(folder)
  const outside = lines.filter(({ path }) => !isWithin(whole, dirname(path)))
  if (outside.length)
    throw new CliError(
      `${journal} says that a pull was cut off which changes files outside of ${whole}: ${outside.map(({ path }) => path).join(', ')}; if it was yours, finish it by hand (the new texts are beside the files, as *.pulled), then remove ${journal}`,
      EXIT.data,
    )
  const edited = lines.filter(({ path, before, after }) => ![before, after].includes(hashOf(textAt(path))))
  if (edited.length)
    throw new CliError(
      `${edited.map(({ path }) => path).join(', ')} changed since a pull was cut off; finish it by hand (the new texts are beside the files, as *.pulled), then remove ${journal}`,
      EXIT.data,
    )
  put(lines, () => {})
  rmSync(journal)
  return true
}

/** Its path absolute: of a link what it leads to, for that is what others read, too; one that goes is the link itself. */
const placeFor = ({ path, after }: PulledFile): string =>
  resolve(after === null ? path : (placeOf(path) ?? path))

/** Puts each in its place; one that is there already stays. */
function put(lines: readonly Line[], step: () => void): void {
  for (const { path, after } of lines) {
    step()
    if (after === null) rmSync(path, { force: true })
    else if (existsSync(besideOf(path))) renameSync(besideOf(path), path)
  }
}

/** Below what is no folder there is nothing. */
const remove = (path: string): void => {
  if (existsSync(path)) rmSync(path)
}

const textAt = (path: string): string | null => (existsSync(path) ? readFileSync(path, 'utf8') : null)

const hashOf = (text: string | null): string | null =>
  text === null ? null : createHash('sha256').update(text).digest('hex')

/**
 * Writes what is to take the place of a file, as open to others as that is. What lies there goes first: a link that somebody
 * put there would be followed to wherever it leads.
 */
function writeBeside(path: string, text: string): void {
  rmSync(besideOf(path), { force: true })
  writeThrough(besideOf(path), text, 'wx', statSync(path, { throwIfNoEntry: false })?.mode)
}

/** On the disk, and not in its cache alone, when it returns. */
function writeThrough(path: string, text: string, flags = 'w', mode?: number): void {
  const file = openSync(path, flags, mode)
  try {
    // All of it, or a fault: what a full disk takes of one write may be less.
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
