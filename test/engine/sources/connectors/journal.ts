/**
 * Journals of systemd that are real files, written by its own `systemd-journal-remote` from their export
 * (https://systemd.io/JOURNAL_EXPORT_FORMATS/), to be read by the `journalctl` of this machine. `npm test` takes the first from
 * Debian's packages where it is not on the path.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { CACHE, findProgram } from '../../../../scripts/programs.mjs'

const writer = findProgram('systemd-journal-remote')
const environment = { ...process.env, LD_LIBRARY_PATH: CACHE }

/** Whether journals can be made and read here. */
export const hasJournal = findProgram('journalctl') !== null && writer !== null && isRunning(writer)

function isRunning(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { env: environment, stdio: 'ignore' })
    return true
  } catch {
    // A library that it needs is not there.
    return false
  }
}

type Fields = Readonly<Record<string, string | Buffer | readonly string[]>>

const BOOT = '5f8f4b7c1e3d4a3b9c1d2e3f4a5b6c7d'
/** 20 November 2026, 12:00:00 UTC. */
export const FIRST_MICROS = 1_795_176_000_000_000

export interface Journal {
  folder: string
  /** Adds entries, a second apart. @param name of its file: another one is what a rotation makes. */
  add(entries: readonly Fields[], name?: string): void
  /** Takes a file away, as systemd does with the oldest where they take too much room. */
  clear(name?: string): void
}

/** An empty journal that ends with its test. */
export function makeJournal(): Journal {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-journal-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  let made = 0
  const fileOf = (name: string) => join(folder, `${name}.journal`)
  return {
    folder,
    add(entries, name = 'system') {
      const parts = entries.flatMap((fields) => {
        const at = made++
        return [
          lineOf('__REALTIME_TIMESTAMP', String(FIRST_MICROS + at * 1_000_000)),
          lineOf('__MONOTONIC_TIMESTAMP', String((at + 1) * 1_000_000)),
          lineOf('_BOOT_ID', BOOT),
          ...Object.entries(fields).flatMap(([field, value]) =>
            (Array.isArray(value) ? value : [value]).map((one) => lineOf(field, one)),
          ),
          Buffer.from('\n'),
        ]
      })
      execFileSync(writer!, ['--split-mode=none', `--output=${fileOf(name)}`, '-'], {
        env: environment,
        input: Buffer.concat(parts),
        stdio: ['pipe', 'ignore', 'ignore'],
      })
    },
    clear(name = 'system') {
      rmSync(fileOf(name))
    },
  }
}

/** Text is a line; what has line breaks or is no text has its length before it: 64 bits, the least first. */
function lineOf(field: string, value: string | Buffer): Buffer {
  if (typeof value === 'string' && !value.includes('\n')) return Buffer.from(`${field}=${value}\n`)
  const bytes = Buffer.from(value as string)
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(bytes.length))
  return Buffer.concat([Buffer.from(`${field}\n`), length, bytes, Buffer.from('\n')])
}
