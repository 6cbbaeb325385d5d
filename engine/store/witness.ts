/**
 * A witness of the last commit, outside the data file: `<data file>.witness`. SQLite takes a log that
 * is missing, cut off or damaged for one that ends earlier, so that after a kill acknowledged commits
 * could be gone without a word. The witness knows how many there were.
 *
 * It is written after a commit's flush has returned and is not flushed itself: it survives the end of
 * the process, after a power cut it may be some commits behind, and it is never ahead. It counts for
 * one incarnation of the data file (open.ts) alone, so that a restored backup has none.
 *
 * Layout, ASCII, so that it can be read by people: incarnation, commits and newest event, CRC-32 of
 * these; then for each copier of the log whether it is at work. While one is, the data file is whole
 * only together with the log.
 */
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'

export interface Witnessed {
  incarnation: string
  /** Commits of the data file, ever. */
  commits: number
  /** Id of the newest event, 0 when there is none. */
  lastEvent: number
  /** Whether the log was being copied into the data file, or had been in part. */
  isCopying: boolean
}

/** Who copies the log: the writer itself, or the connection that does nothing else. */
export type Copier = 'writer' | 'checkpointer'

const NUMBER_WIDTH = 16
const RECORD_BYTES = 36 + 1 + NUMBER_WIDTH + 1 + NUMBER_WIDTH + 1 + 8 + 1
const FLAG_AT: Record<Copier, number> = { writer: RECORD_BYTES, checkpointer: RECORD_BYTES + 1 }

export const witnessFile = (dataFile: string): string => `${dataFile}.witness`

/** The witness of a data file; null where there is none, or a power cut tore it. */
export function readWitness(dataFile: string): Witnessed | null {
  let text: string
  try {
    text = readFileSync(witnessFile(dataFile), 'latin1')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  const [incarnation, commits, lastEvent, checksum] = text.slice(0, RECORD_BYTES - 1).split(' ')
  if (recordOf(incarnation!, Number(commits), Number(lastEvent)) !== text.slice(0, RECORD_BYTES)) return null
  return {
    incarnation: incarnation!,
    commits: Number(commits),
    lastEvent: Number(lastEvent),
    isCopying: checksum !== undefined && text.slice(RECORD_BYTES).includes('1'),
  }
}

/** Removes the witness: after a clean stop the data file is complete by itself. */
export function removeWitness(dataFile: string): void {
  rmSync(witnessFile(dataFile), { force: true })
}

/** The writer's handle. */
export class Witness {
  private readonly descriptor: number

  /** Begins anew for an incarnation of the data file. */
  constructor(
    private readonly dataFile: string,
    private readonly incarnation: string,
    commits: number,
    lastEvent: number,
  ) {
    removeWitness(dataFile)
    this.descriptor = openSync(witnessFile(dataFile), 'w', 0o600)
    writeSync(this.descriptor, `${recordOf(incarnation, commits, lastEvent)}00\n`, 0, 'latin1')
    fdatasyncSync(this.descriptor)
  }

  /** To be called once a commit is on disk, and not before. About 5 µs. */
  committed(commits: number, lastEvent: number): void {
    writeSync(this.descriptor, recordOf(this.incarnation, commits, lastEvent), 0, 'latin1')
  }

  /** It stays for the next start. */
  leave(): void {
    closeSync(this.descriptor)
  }

  /** After a clean stop. */
  remove(): void {
    this.leave()
    removeWitness(this.dataFile)
  }
}

/**
 * Copies the log into the data file, and notes meanwhile that the data file is not whole by itself. Not for a log
 * of which nothing is left to copy: it may be empty, and a kill in between would look as if it had been lost.
 * @param copy answers whether all of the log was copied; what it throws leaves the note.
 * @returns what `copy` answered.
 */
export function noteCopying(dataFile: string, copier: Copier, copy: () => boolean): boolean {
  const descriptor = openExisting(dataFile)
  if (descriptor === null) return copy()
  try {
    writeSync(descriptor, '1', FLAG_AT[copier], 'latin1')
    const isWhole = copy()
    // All of the log is copied, so what the other one had copied in part is whole as well.
    if (isWhole) clearFlags(descriptor)
    return isWhole
  } finally {
    closeSync(descriptor)
  }
}

/** Notes that the data file is whole by itself: all of the log is in it, whoever copied it. */
export function noteWhole(dataFile: string): void {
  const descriptor = openExisting(dataFile)
  if (descriptor === null) return
  try {
    clearFlags(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function clearFlags(descriptor: number): void {
  writeSync(descriptor, '00', RECORD_BYTES, 'latin1')
  // The next commit may begin the log anew: by then the note must not come back with a power cut.
  fdatasyncSync(descriptor)
}

function openExisting(dataFile: string): number | null {
  try {
    return openSync(witnessFile(dataFile), 'r+')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function recordOf(incarnation: string, commits: number, lastEvent: number): string {
  const facts = `${incarnation} ${padded(commits)} ${padded(lastEvent)}`
  return `${facts} ${crc32(facts).toString(16).padStart(8, '0')}\n`
}

const padded = (n: number): string => String(n).padStart(NUMBER_WIDTH, '0')
