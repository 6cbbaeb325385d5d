import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { StartError } from '../../../../engine/errors.ts'
import { restoreDatabase } from '../../../../engine/log/store/backup.ts'
import { missingFrom, noteCopying, readWitness } from '../../../../engine/log/store/checkpoints.ts'
import { openStore } from '../../../../engine/log/store/open.ts'

import { addSource, event, openHarness, type StoreHarness, T0 } from './store-harness.ts'

const COMMITS = 40

let folder: string
let file: string
/** The data folder as a killed daemon leaves it. */
let killed: string
let harness: StoreHarness

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-witness-'))
  file = join(folder, 'svc.db')
  killed = join(folder, 'killed.db')
  harness = openHarness(file)
  addSource(harness.store, 'app')
  for (let n = 0; n < COMMITS; n++) harness.append([event({ order: `o${n}` }, T0 + n)])
})
afterEach(() => {
  harness.store.close()
  rmSync(folder, { recursive: true, force: true })
})

/** What is on disk now, under another name. */
function kill(): void {
  for (const suffix of ['', '-wal', '.incarnation', '.witness'])
    if (existsSync(file + suffix)) copyFileSync(file + suffix, killed + suffix)
}

function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(StartError)
    expect((error as StartError).exitCode).toBe(78)
    return (error as StartError).message
  }
  throw new Error('it started')
}

const eventsIn = (path: string): unknown => {
  const store = openStore(path, T0)
  try {
    return store.db.prepare('SELECT count(*) FROM events').pluck().get()
  } finally {
    store.close()
  }
}

/** All of the log is copied; it begins anew with the next commit. */
const copyLog = (): boolean =>
  noteCopying(file, 'writer', () => {
    harness.store.db.pragma('wal_checkpoint(FULL)')
    return true
  })

describe('after a kill', () => {
  it('a file with its whole log starts, with all that was acknowledged', () => {
    kill()
    expect(eventsIn(killed)).toBe(COMMITS)
  })

  const damages: [string, (log: string) => void, RegExp][] = [
    ['deleted', (log) => rmSync(log), /log .* is missing/],
    ['emptied', (log) => truncateSync(log, 0), /log .* is missing/],
    ['cut to its header', (log) => truncateSync(log, 32), /is damaged or cut off/],
    ['cut in half', (log) => truncateSync(log, statSync(log).size / 2), /is damaged or cut off/],
    ['cut in its last frame', (log) => truncateSync(log, statSync(log).size - 1), /is damaged or cut off/],
    [
      'garbage',
      (log) => writeFileSync(log, Buffer.alloc(statSync(log).size, 'garbage')),
      /is damaged or cut off/,
    ],
    [
      'damaged in one byte',
      (log) => {
        const bytes = readFileSync(log)
        bytes[Math.floor(bytes.length / 3)]! ^= 1
        writeFileSync(log, bytes)
      },
      /is damaged or cut off/,
    ],
  ]

  it.each(damages)(
    'a log that is %s stops the start with what is missing, and changes nothing',
    (_, damage, state) => {
      kill()
      damage(`${killed}-wal`)
      const before = existsSync(`${killed}-wal`) ? readFileSync(`${killed}-wal`) : Buffer.alloc(0)
      for (let again = 0; again < 2; again++) {
        const message = refusal(() => openStore(killed, T0))
        expect(message).toMatch(state)
        expect(message).toMatch(
          /the last \d+ of \d+ commits (is|are) missing, with up to \d+ events? after evt_\d+/,
        )
        expect(message).toContain('svc restore FILE')
        expect(message).toContain('svc up --accept-loss')
      }
      const after = existsSync(`${killed}-wal`) ? readFileSync(`${killed}-wal`) : Buffer.alloc(0)
      expect(after.equals(before)).toBe(true)
      // The log as it was makes it whole again.
      copyFileSync(`${file}-wal`, `${killed}-wal`)
      expect(eventsIn(killed)).toBe(COMMITS)
    },
  )

  it('says how many commits and events are missing, to the number', () => {
    copyLog()
    harness.append([event({ order: 'a' }, T0), event({ order: 'b' }, T0)])
    harness.append([event({ order: 'c' }, T0)])
    kill()
    rmSync(`${killed}-wal`)
    const total = readWitness(file)!.commits
    expect(refusal(() => openStore(killed, T0))).toContain(
      `the last 2 of ${total} commits are missing, with up to 3 events after evt_${COMMITS};`,
    )
  })

  it('--accept-loss goes on with what is there, says what is missing, keeps the log, and begins a new witness', () => {
    kill()
    truncateSync(`${killed}-wal`, statSync(`${killed}-wal`).size / 2)
    const store = openStore(killed, T0, { acceptLoss: true })
    expect(store.loss).toMatch(/^started with --accept-loss: .* lacks acknowledged data: the last \d+ of/)
    expect(store.db.prepare('SELECT count(*) FROM events').pluck().get()).toBeLessThan(COMMITS)
    store.close()
    expect(readdirSync(folder)).toContain('killed.db.before-accept-loss-2026-11-20T12-00-00-000Z-wal')
    const again = openStore(killed, T0, { acceptLoss: true })
    expect(again.loss).toBeNull()
    again.close()
  })

  it('a log that was all copied is not missed, nor is one that another program has folded in', () => {
    copyLog()
    kill()
    rmSync(`${killed}-wal`)
    expect(eventsIn(killed)).toBe(COMMITS)
    harness.append([event({ order: 'later' }, T0)])
    kill()
    const other = new BetterSqlite3(killed)
    other.prepare('SELECT 1 FROM meta').get()
    other.close()
    expect(existsSync(`${killed}-wal`)).toBe(false)
    expect(eventsIn(killed)).toBe(COMMITS + 1)
  })

  it('in the middle of copying the log, the log is needed although the count of commits is in the file', () => {
    expect(() =>
      noteCopying(file, 'checkpointer', () => {
        harness.store.db.pragma('wal_checkpoint(FULL)')
        throw new Error('killed')
      }),
    ).toThrow('killed')
    for (const damage of [rmSync, (log: string) => truncateSync(log, 32)]) {
      kill()
      damage(`${killed}-wal`)
      expect(refusal(() => openStore(killed, T0))).toContain('ended while it copied the log into it')
    }
    kill()
    expect(eventsIn(killed)).toBe(COMMITS)
  })

  it('emptying a log that has nothing left to copy is no copying: a kill meanwhile is no loss', () => {
    const { store } = harness
    store.foldLog()
    expect(statSync(`${file}-wal`).size).toBe(0)
    const pragma = vi.spyOn(store.db, 'pragma').mockImplementation((...of) => {
      kill()
      expect(missingFrom(killed), of[0]).toBeNull()
      return BetterSqlite3.prototype.pragma.apply(store.db, of)
    })
    store.foldLog()
    expect(pragma).toHaveBeenCalledWith('wal_checkpoint(TRUNCATE)')
    pragma.mockRestore()
    expect(eventsIn(killed)).toBe(COMMITS)
  })

  it('the log is not emptied while the other connection may be copying it', () => {
    let done = () => {}
    const checkpointer = { ask: vi.fn(), onDone: (listener: () => void) => (done = listener) }
    const other = join(folder, 'other.db')
    const store = openStore(other, T0, { checkpointer })
    const body = 'x'.repeat(8_000)
    const insert = store.db.prepare('INSERT INTO meta VALUES (?, ?)')
    for (let n = 0; !checkpointer.ask.mock.calls.length; n++) store.tx(() => insert.run(`n${n}`, body))
    store.foldLog()
    expect(statSync(`${other}-wal`).size).toBeGreaterThan(0)
    done()
    store.foldLog()
    expect(statSync(`${other}-wal`).size).toBe(0)
    store.close()
  })

  it.each([
    ['nothing', 0],
    ['a part of its first commit', 1],
  ])('a log that had just begun anew, with %s in it, is none that is missing', (_, frames) => {
    expect(() =>
      noteCopying(file, 'checkpointer', () => {
        harness.store.db.pragma('wal_checkpoint(FULL)')
        throw new Error('killed')
      }),
    ).toThrow('killed')
    kill()
    const old = readFileSync(`${killed}-wal`)
    harness.append([event({ order: 'new log' }, T0)])
    // The header of the new log, and frames of the old one behind it.
    const begun = 32 + frames * (24 + 8_192)
    expect(old.length).toBeGreaterThan(begun)
    writeFileSync(
      `${killed}-wal`,
      Buffer.concat([readFileSync(`${file}-wal`).subarray(0, begun), old.subarray(begun)]),
    )
    expect(eventsIn(killed)).toBe(COMMITS)
  })

  it('a data file that is gone is not taken for a new one', () => {
    kill()
    rmSync(killed)
    rmSync(`${killed}-wal`)
    expect(refusal(() => openStore(killed, T0))).toContain(`knows of ${COMMITS}`)
    expect(existsSync(killed)).toBe(false)
  })

  it('a witness that a power cut tore says nothing', () => {
    kill()
    rmSync(`${killed}-wal`)
    const torn = readFileSync(`${killed}.witness`)
    torn[40]! ^= 1
    writeFileSync(`${killed}.witness`, torn)
    expect(readWitness(killed)).toBeNull()
    openStore(killed, T0).close()
  })
})

describe('another data file', () => {
  it('starts after a clean stop, which leaves no witness', () => {
    harness.store.close()
    expect(existsSync(`${file}.witness`)).toBe(false)
    const old = join(folder, 'old.db')
    copyFileSync(file, old)
    harness = openHarness(file)
    harness.append([event({ order: 'later' }, T0)])
    kill()
    // Put back by hand beside the witness of a later start.
    copyFileSync(old, killed)
    rmSync(`${killed}-wal`)
    expect(eventsIn(killed)).toBe(COMMITS)
  })

  it('of the same start is refused beside its witness, and restored without it', () => {
    copyLog()
    kill()
    const older = join(folder, 'older.db')
    copyFileSync(killed, older)
    harness.append([event({ order: 'later' }, T0)])
    kill()
    copyFileSync(older, killed)
    rmSync(`${killed}-wal`)
    expect(refusal(() => openStore(killed, T0))).toContain(
      'if you have just put back an older data file by hand',
    )
    const kept = restoreDatabase(older, killed, T0)
    expect(kept.map((path) => path.slice(-8))).toContain('.witness')
    expect(eventsIn(killed)).toBe(COMMITS)
  })

  it('under a second name, a hard link, is no way to a second daemon', () => {
    const link = join(folder, 'link.db')
    linkSync(file, link)
    const program = `import { openStore } from ${JSON.stringify(new URL('../../../../engine/log/store/open.ts', import.meta.url).href)}
      try { openStore(process.argv[1], 0); console.log('opened') } catch (error) { console.log(error.exitCode + ' ' + error.message) }`
    const run = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program, link], {
      encoding: 'utf8',
    })
    expect(run.stdout).toMatch(/^78 .*link\.db has 2 names \(hard links\)/)
    rmSync(link)
  })
})

describe('the witness', () => {
  it('knows each commit once it is on disk, and none that was undone or changed nothing', () => {
    const { store } = harness
    const { commits, lastEvent } = readWitness(file)!
    expect(lastEvent).toBe(COMMITS)
    expect(store.db.prepare('SELECT n FROM commits').pluck().get()).toBe(commits)
    const insert = () => store.db.prepare("INSERT INTO meta VALUES ('a', 'b')").run()
    expect(() =>
      store.tx(() => {
        insert()
        throw new Error('undone')
      }),
    ).toThrow('undone')
    store.rehearse(insert)
    store.tx(() => store.db.prepare('SELECT 1').get())
    expect(readWitness(file)!.commits).toBe(commits)
    store.tx(insert)
    expect(readWitness(file)!.commits).toBe(commits + 1)
    expect(store.db.prepare('SELECT n FROM commits').pluck().get()).toBe(commits + 1)
  })
})
