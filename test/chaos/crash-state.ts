/**
 * Power loss, replayed: runs the workload under strace, then builds data folders as a disk may
 * hold them after a cut (everything synced, and of what was not synced any part, torn too) and
 * opens each with the engine. After the method of ALICE (Pillai et al., OSDI 2014).
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import BetterSqlite3 from 'better-sqlite3'
import { buildSync } from 'esbuild'
import { StartError } from '../../engine/errors.ts'
import { missingFrom } from '../../engine/log/store/checkpoints.ts'
import { random } from '../engine/log/store/store-harness.ts'

type Operation =
  | { kind: 'write'; file: string; offset: number; bytes: Buffer }
  | { kind: 'sync'; file: string }
  | { kind: 'truncate'; file: string; length: number }
  | { kind: 'remove'; file: string }
  | { kind: 'ack'; n: number; size: number }

// The folder is inside the project, so that the bundle finds its packages. No other test builds there: tests run at once.
const BUNDLE = fileURLToPath(new URL('../../dist/chaos-power-cut/workload.mjs', import.meta.url))

let isBuilt = false

/** Builds the workload as a program, once. */
function buildWorkload(): void {
  if (isBuilt) return
  buildSync({
    entryPoints: [fileURLToPath(new URL('./workload.ts', import.meta.url))],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile: BUNDLE,
    logLevel: 'error',
  })
  cpSync(
    fileURLToPath(new URL('../../engine/log/store/migrations', import.meta.url)),
    join(dirname(BUNDLE), 'migrations'),
    { recursive: true },
  )
  isBuilt = true
}

/** Traces one run of the workload. @throws Error with strace's output when it cannot run. */
export function traceWorkload(
  folder: string,
  commits: number,
  mode: 'FULL' | 'NORMAL' | 'GROUP' | 'BESIDE',
): Operation[] {
  buildWorkload()
  const data = join(folder, 'data')
  mkdirSync(data)
  const trace = join(folder, 'trace')
  const calls = 'openat,close,pwrite64,write,fsync,fdatasync,ftruncate,unlink,rename'
  const run = spawnSync(
    'strace',
    [
      '-f',
      '-xx',
      '-s',
      '70000',
      '-e',
      `trace=${calls}`,
      '-o',
      trace,
      process.execPath,
      BUNDLE,
      join(data, 'svc.db'),
      String(commits),
      mode,
    ],
    {
      encoding: 'utf8',
    },
  )
  if (run.error) throw run.error
  const operations = parseTrace(readFileSync(trace, 'latin1'), data)
  if (!operations.some((op) => op.kind === 'ack'))
    throw new Error(`the workload did not run: ${run.stderr.slice(-2_000)}`)
  return operations
}

function parseTrace(text: string, folder: string): Operation[] {
  const files = new Map<number, string>()
  const operations: Operation[] = []
  const own = (hex: string): string | null => {
    const path = unhex(hex).toString()
    return path.startsWith(folder) && /svc\.db(-wal|\.witness)?$/.test(path) ? basename(path) : null
  }
  for (const line of wholeCalls(text)) {
    const call = /^\d+\s+(\w+)\((.*)\)\s+=\s+(-?\d+)/.exec(line)
    if (!call) continue
    const [, name, args, result] = call as unknown as [string, string, string, string]
    const fd = Number(/^(\d+)/.exec(args)?.[1] ?? -1)
    if (name === 'openat') {
      const file = own(/"((?:\\x..)*)"/.exec(args)?.[1] ?? '')
      if (file && Number(result) >= 0) files.set(Number(result), file)
    } else if (name === 'close') files.delete(fd)
    else if (name === 'unlink') {
      const file = own(/"((?:\\x..)*)"/.exec(args)?.[1] ?? '')
      if (file) operations.push({ kind: 'remove', file })
    } else if (name === 'write' && fd === 2) {
      const ack = /^ack (\d+) (\d+)/.exec(unhex(/"((?:\\x..)*)"/.exec(args)?.[1] ?? '').toString())
      if (ack) operations.push({ kind: 'ack', n: Number(ack[1]), size: Number(ack[2]) })
    } else {
      const file = files.get(fd)
      if (!file) continue
      if (name === 'pwrite64')
        operations.push({
          kind: 'write',
          file,
          bytes: unhex(/"((?:\\x..)*)"/.exec(args)![1]!),
          offset: Number(/(\d+)$/.exec(args)![1]),
        })
      else if (name === 'fsync' || name === 'fdatasync') operations.push({ kind: 'sync', file })
      else if (name === 'ftruncate')
        operations.push({ kind: 'truncate', file, length: Number(/(\d+)$/.exec(args)![1]) })
    }
  }
  return operations
}

/**
 * The lines of a trace, each with a whole call, where it ended: of one that another thread's came between strace writes the
 * beginning and the end apart, "pwrite64(… <unfinished ...>" and "<... pwrite64 resumed>) = 4096".
 */
export function wholeCalls(text: string): string[] {
  const begun = new Map<string, string>()
  return text.split('\n').flatMap((line) => {
    const thread = /^\d+/.exec(line)?.[0] ?? ''
    const [start, rest] = line.split(' <unfinished ...>')
    if (rest !== undefined) {
      begun.set(thread, start!)
      return []
    }
    const end = /^\d+\s+<\.\.\. \w+ resumed>(.*)$/.exec(line)?.[1]
    if (end === undefined) return [line]
    const whole = `${begun.get(thread) ?? ''}${end}`
    begun.delete(thread)
    return [whole]
  })
}

function unhex(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex')
}

export interface CrashStateReport {
  states: number
  /** States in which an acknowledged event was missing. */
  lost: number
  /** States the store could not be read in. */
  corrupt: number
  /** States in which part of a batch was there. */
  half: number
  /** States in which the witness says that something is missing. */
  alarms: number
}

/** @param states how many cuts to try. @param scratch a folder, best in memory. */
export function replayStates(
  operations: readonly Operation[],
  states: number,
  seed: number,
  scratch: string,
  isFound: (report: CrashStateReport) => boolean = () => false,
): CrashStateReport {
  const next = random(seed)
  const report: CrashStateReport = { states, lost: 0, corrupt: 0, half: 0, alarms: 0 }
  for (let i = 0; i < states && !isFound(report); i++) {
    const cut = Math.floor(next() * (operations.length + 1))
    const files = stateAt(operations.slice(0, cut), next)
    rmSync(scratch, { recursive: true, force: true })
    mkdirSync(scratch, { recursive: true })
    for (const [file, bytes] of files) writeFileSync(join(scratch, file), bytes)
    const acks = operations.slice(0, cut).filter((op) => op.kind === 'ack')
    if (isMissingSome(join(scratch, 'svc.db'))) report.alarms++
    const found = countByBatch(join(scratch, 'svc.db'))
    if (found === null) {
      if (acks.length) report.corrupt++
      continue
    }
    if (acks.some((ack) => (found.get(ack.n) ?? 0) < ack.size)) report.lost++
    const sizes = [1, 3, 20]
    if ([...found].some(([n, count]) => count !== sizes[n % 3])) report.half++
  }
  return report
}

/** What a start would find by the witness; a file that cannot be read has its own count. */
function isMissingSome(file: string): boolean {
  try {
    return missingFrom(file) !== null
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return false
  }
}

/** What the disk may hold: synced writes surely, others each with a half chance, some torn. */
function stateAt(operations: readonly Operation[], next: () => number): Map<string, Buffer> {
  const lastSync = new Map<string, number>()
  operations.forEach((op, i) => {
    if (op.kind === 'sync') lastSync.set(op.file, i)
  })
  const files = new Map<string, Growing>()
  operations.forEach((op, i) => {
    if (op.kind === 'sync' || op.kind === 'ack') return
    const durable = i < (lastSync.get(op.file) ?? -1)
    if (!durable && next() < 0.5) return
    if (op.kind === 'remove') files.delete(op.file)
    else if (op.kind === 'truncate') fileOf(files, op.file).truncate(op.length)
    else {
      const bytes =
        !durable && next() < 0.1 ? op.bytes.subarray(0, Math.floor(next() * op.bytes.length)) : op.bytes
      fileOf(files, op.file).write(op.offset, bytes)
    }
  })
  return new Map([...files].map(([name, file]) => [name, file.bytes()]))
}

function fileOf(files: Map<string, Growing>, name: string): Growing {
  let file = files.get(name)
  if (!file) {
    file = new Growing()
    files.set(name, file)
  }
  return file
}

/** A file in memory that grows without being copied at each write. */
class Growing {
  private buffer = Buffer.alloc(1 << 16)
  private length = 0

  write(offset: number, bytes: Buffer): void {
    const end = offset + bytes.length
    if (end > this.buffer.length) {
      const larger = Buffer.alloc(Math.max(end, this.buffer.length * 2))
      this.buffer.copy(larger, 0, 0, this.length)
      this.buffer = larger
    }
    bytes.copy(this.buffer, offset)
    this.length = Math.max(this.length, end)
  }

  truncate(length: number): void {
    if (length > this.length) this.write(length - 1, Buffer.alloc(1))
    else this.buffer.fill(0, length, this.length)
    this.length = length
  }

  bytes(): Buffer {
    return this.buffer.subarray(0, this.length)
  }
}

/** Events per batch number, or null when the file cannot be read or fails its check. */
function countByBatch(file: string): Map<number, number> | null {
  let db: BetterSqlite3.Database | undefined
  try {
    db = new BetterSqlite3(file)
    if (db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'events'").pluck().get() === 0)
      return new Map()
    if (db.pragma('quick_check', { simple: true }) !== 'ok') return null
    const found = new Map<number, number>()
    for (const raw of db.prepare('SELECT raw FROM events').pluck().all() as Buffer[]) {
      const { n } = JSON.parse(raw.toString()) as { n: number }
      found.set(n, (found.get(n) ?? 0) + 1)
    }
    return found
  } catch (error) {
    if (!(error as { code?: string }).code?.startsWith('SQLITE_')) throw error
    return null
  } finally {
    db?.close()
  }
}
