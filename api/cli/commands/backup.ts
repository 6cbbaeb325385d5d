/**
 * `svc backup` and `svc restore`: the data file itself, without the daemon's help. A backup is
 * consistent while the daemon runs; a restore needs it stopped.
 */
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { SvcError, systemClock } from '../../../engine/index.ts'
import { backupDatabase, keyFileOf, restoreDatabase } from '../../../engine/local.ts'
import { systemWords } from '../../../schemas/plain-words.ts'
import { type Config, loadConfig } from '../../config.ts'
import { readVariable } from '../../environment.ts'
import { guardOldDataFile } from '../../guards.ts'
import { isLoopback } from '../credentials.ts'
import { checkFolder, prepareDataFolders } from '../daemon/data-folder.ts'
import { CliError, EXIT } from '../exit.ts'
import type { Io } from '../terminal.ts'

interface FileFlags {
  dataDir?: string
  json?: boolean
}

/** Where the data is, by flags and environment. @throws ConfigError for an old data file. */
function configOf(io: Io, flags: FileFlags): Config {
  const config = loadConfig(flags, io.env)
  guardOldDataFile(config)
  process.umask(0o077)
  return config
}

/** Copies the data file, consistent while the daemon writes. */
export async function backup(io: Io, file: string, flags: FileFlags): Promise<void> {
  const { dataFile } = configOf(io, flags)
  const target = resolve(file)
  checkFolder(dirname(target))
  let shown = -1
  await backupDatabase(dataFile, target, (done, total) => {
    const percent = Math.floor((done / Math.max(1, total)) * 100)
    if (!io.isTerminal || percent === shown) return
    shown = percent
    io.err(`\rsvc: ${percent} %`)
  }).catch((error) => refuseFile(error, target))
  if (shown >= 0) io.err('\r          \r')
  const bytes = statSync(target).size
  io.out(
    flags.json
      ? `${JSON.stringify({ ok: true, file: target, bytes })}\n`
      : `backup of ${dataFile} in ${target}, ${bytes} bytes\n`,
  )
  const daemon = readVariable(io.env, 'SVCD_URL')
  if (daemon !== undefined && URL.canParse(daemon) && !isLoopback(daemon))
    io.err(`svc: ${daemon} is not asked: a backup copies the data file of this machine\n`)
}

/**
 * What the engine says of a file, with the exit code of a file that cannot be read, breaks a rule or has no room.
 * @param written the file that was to be made
 */
function refuseFile(error: unknown, written: string): never {
  const exits: Readonly<Record<string, number>> = { not_found: EXIT.input, invalid: EXIT.data }
  const { code, message } = error as Error & { code?: string }
  if (code === 'SQLITE_FULL' || code === 'ENOSPC')
    throw new CliError(
      `the volume of ${written} is full; nothing was changed. Free some space, or choose another volume`,
      EXIT.disk,
    )
  const exit = error instanceof SvcError ? exits[error.code] : undefined
  throw exit === undefined ? error : new CliError(message, exit)
}

/** Puts a backup in place of the data file; what was there is kept beside it. */
export async function restore(io: Io, file: string, flags: FileFlags): Promise<void> {
  const config = configOf(io, flags)
  const from = resolve(file)
  if (existsSync(from)) {
    checkReadable(from)
    // Nothing is made for a backup that is not there.
    prepareDataFolders(config)
  }
  const { dataFile } = config
  const kept = restored(from, dataFile)
  if (flags.json) io.out(`${JSON.stringify({ ok: true, file: dataFile, kept })}\n`)
  else
    io.out(
      `restored ${dataFile}${kept.length ? `; what was there is kept as\n  ${kept.join('\n  ')}` : ''}\n`,
    )
  const key = keyFileOf(dataFile)
  // A start makes a new one, which opens none of the secrets that were stored with the old one.
  if (!existsSync(key))
    io.err(
      `svc: ${key} is not there: put the one that was kept with the backup there before the start, or enter again the secrets that are stored in it\n`,
    )
}

function restored(file: string, dataFile: string): string[] {
  try {
    return restoreDatabase(file, dataFile, systemClock.now())
  } catch (error) {
    return refuseFile(error, dataFile)
  }
}

/** @throws CliError 66: it is a folder, or this user may not read it */
function checkReadable(file: string): void {
  try {
    closeSync(openSync(file, 'r'))
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${systemWords(error, file)}`, EXIT.input)
  }
  if (statSync(file).isDirectory()) throw new CliError(`cannot read ${file}: it is a folder`, EXIT.input)
}
