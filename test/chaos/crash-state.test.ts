import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CrashStateReport, replayStates, traceWorkload, wholeCalls } from './crash-state.ts'
import { longOr, seed } from './scale.ts'

// strace is Linux only and may be refused in a container; npm test installs it where it can.
const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0
const STATES = longOr(1_000, 80)
const scratch = join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), `svc-crash-${process.pid}`)

type Mode = Parameters<typeof traceWorkload>[2]

const traced = new Map<Mode, ReturnType<typeof traceWorkload>>()

/** What the workload does to its files; run once for each mode, since it does the same each time. */
function trace(mode: Mode): ReturnType<typeof traceWorkload> {
  const known = traced.get(mode)
  if (known) return known
  const folder = mkdtempSync(join(tmpdir(), 'svc-crash-'))
  try {
    const operations = traceWorkload(folder, 40, mode)
    traced.set(mode, operations)
    return operations
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function run(mode: Mode, states = STATES, isFound?: (report: CrashStateReport) => boolean) {
  try {
    return replayStates(trace(mode), states, seed, scratch, isFound)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** For each acknowledgement, the flushes of the log since the one before. */
function flushesPerAck(mode: Mode): number[] {
  const flushes: number[] = []
  let n = 0
  for (const operation of trace(mode)) {
    if (operation.kind === 'sync' && operation.file === 'svc.db-wal') n++
    if (operation.kind !== 'ack') continue
    flushes.push(n)
    n = 0
  }
  return flushes
}

describe.skipIf(!canTrace)('an acknowledgement', () => {
  it('is given only after a flush of the log', () => {
    const flushes = flushesPerAck('FULL')
    expect(flushes).toHaveLength(40)
    expect(Math.min(...flushes)).toBeGreaterThanOrEqual(1)
  })

  it('shares its flush with the requests that arrived with it', () => {
    const flushes = flushesPerAck('GROUP')
    // Ten at a time: the first of each ten waits for a flush, the other nine need none of their own.
    expect(flushes.filter((n) => n > 0)).toHaveLength(4)
  })
})

describe.skipIf(!canTrace)(`after a power cut (CHAOS_SEED=${seed})`, () => {
  it('every acknowledged event is there, no batch is there in part, the file opens, and the witness asks for no more, in each state of the disk', () => {
    expect(run('FULL')).toEqual({ states: STATES, lost: 0, corrupt: 0, half: 0, alarms: 0 })
  })

  it('nor is anything lost where another connection copied the log meanwhile', () => {
    expect(run('BESIDE')).toEqual({ states: STATES, lost: 0, corrupt: 0, half: 0, alarms: 0 })
  })

  it('the same check finds losses when commits do not wait for the disk', () => {
    expect(run('NORMAL', 2_000, ({ lost }) => lost > 0).lost).toBeGreaterThan(0)
  })
})

it('a call that another thread came between is read whole, where it ended', () => {
  const lines = [
    '7  pwrite64(24, "\\x00", 1, 8 <unfinished ...>',
    '9  write(2, "\\x61", 1) = 1',
    '7  <... pwrite64 resumed>)          = 1',
    '7  fdatasync(24)                    = 0',
  ]
  expect(wholeCalls(lines.join('\n'))).toEqual([
    lines[1],
    '7  pwrite64(24, "\\x00", 1, 8)          = 1',
    lines[3],
  ])
})
