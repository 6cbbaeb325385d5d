/** The folders and the data file that a daemon needs, looked at before it starts: what is wrong with them as a sentence. */
import { accessSync, chmodSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from '../../config.ts'
import { CliError, EXIT } from '../exit.ts'
import { makeFolders } from '../files.ts'

/**
 * Makes the data home and the folder of the data file, for their owner alone; those that exist keep their mode.
 * @throws CliError 78 when a path is not a folder or cannot be made, or when this user may not write to a folder or to the data file
 */
export function prepareDataFolders({
  home,
  dataFile,
  auth,
}: Pick<Config, 'home' | 'dataFile' | 'auth'>): void {
  const holdsData = dirname(dataFile) === home
  // Where the data is elsewhere, the home has the root token at most.
  prepareFolder(home, '--data-dir', holdsData || auth.mode === 'stored')
  // openStore refuses an address.
  if (dataFile.startsWith('file:')) return
  if (!holdsData) prepareFolder(dirname(dataFile), 'SVC_DB', true)
  if (!existsSync(dataFile)) return
  if (statSync(dataFile).isDirectory()) {
    const instead = holdsData ? 'move it away' : `name one in it: SVC_DB=${join(dataFile, 'svc.db')}`
    throw new CliError(
      `${dataFile} is a folder, and the data file must be a file; ${instead}`,
      EXIT.configuration,
    )
  }
  use(dataFile, 'or choose another with SVC_DB', EXIT.configuration, () =>
    closeSync(openSync(dataFile, 'r+')),
  )
}

/**
 * Makes a folder for its owner alone, where there is none.
 * @param choice the flag or variable that names another. @throws CliError 78
 */
export function prepareFolder(folder: string, choice: string, isWritten: boolean): void {
  use(folder, `choose another with ${choice}`, EXIT.configuration, () => {
    // Whatever the umask took away.
    if (makeFolders(folder, 0o700)) chmodSync(folder, 0o700)
    if (!statSync(folder).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' })
    accessSync(folder, constants.X_OK | (isWritten ? constants.R_OK | constants.W_OK : 0))
  })
}

/** @throws CliError 74: there is no such folder, or this user may not write to it */
export function checkFolder(folder: string): void {
  use(folder, 'choose another file', EXIT.disk, () => {
    if (!statSync(folder).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' })
    accessSync(folder, constants.W_OK | constants.X_OK)
  })
}

/** @param way out of it, for the sentence of a fault. @throws CliError with the exit code */
function use(path: string, way: string, exit: number, look: () => void): void {
  try {
    look()
  } catch (error) {
    throw new CliError(`${path} ${whyNot((error as NodeJS.ErrnoException).code)}; ${way}`, exit)
  }
}

function whyNot(code: string | undefined): string {
  switch (code) {
    case 'ENOENT':
      return 'does not exist, and is not made'
    case 'EEXIST':
    case 'ENOTDIR':
      return 'is not a folder, or is within a file'
    case 'EACCES':
    case 'EPERM':
      return `cannot be written by this user (uid ${process.geteuid?.() ?? 'unknown'}): give it to this user with chown`
    case 'EROFS':
      return 'is on a volume that is mounted read-only'
    case 'ENOSPC':
      return 'is on a volume that is full'
    default:
      return `cannot be used (${code ?? 'no reason is given'})`
  }
}
