import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LocalEngine } from '../../engine/local.ts'
import { random } from '../engine/log/store/store-harness.ts'
import { buildWorld, OPERATIONS, openWorld } from './declared-operations.ts'
import { digestFile, dumpDifference, dumpFile } from './declared-state.ts'
import { foreseeRandom, installFaults } from './faults.ts'
import { longOr, seed } from './scale.ts'

const next = random(seed)
/** Statements of each operation that fail, of some hundred at most. */
const FAILED_MAX = longOr(Number.POSITIVE_INFINITY, 8)
const scratch = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'svc-throw-'))
const base = join(scratch, 'base')
const faults = installFaults()
const noFault = (): void => {}

beforeAll(async () => {
  const engine = openWorld(join(base, 'svc.db'))
  await buildWorld(engine)
  await engine.close()
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** An engine on its own copy of the world. */
function copyOfWorld(): { engine: LocalEngine; file: string; remove: () => Promise<void> } {
  const folder = mkdtempSync(join(scratch, 'world-'))
  cpSync(base, folder, { recursive: true })
  const file = join(folder, 'svc.db')
  const engine = openWorld(file)
  return {
    engine,
    file,
    remove: async () => {
      await engine.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Ids of documents count on past those of a write that was undone, as those of events do. */
const dump = (file: string): string => dumpFile(file, ['documents.id', 'meta.value'])

/** What the engine answers, from its rows and from what it holds in memory. */
async function answers(engine: LocalEngine): Promise<string> {
  const projects = (await engine.listProjects()).map(({ id }) => id)
  return JSON.stringify({
    directory: await engine.directory(),
    sources: await engine.listSources(),
    resources: await engine.resources(),
    catalog: await engine.exportCatalog(),
    keys: await engine.listKeys(),
    changeSets: await engine.listChangeSets({ limit: 200 }),
    projects: await Promise.all(
      projects.map(async (id) => [await engine.getProject(id), await engine.projectOutline(id)]),
    ),
  })
}

/** The operation with the same ids and keys each time. */
async function run(engine: LocalEngine, operation: string): Promise<void> {
  foreseeRandom()
  await OPERATIONS[operation]!(engine)
}

class DiskFault extends Error {
  readonly code = 'SQLITE_FULL'
}

/** As callers are told, and as SQLite says it where no transaction was open. */
const DISK_FULL = { code: expect.stringMatching(/^(storage_full|SQLITE_FULL)$/) }

/** The first, the last, and of those between one of each stretch. */
function failing(statements: number): number[] {
  if (statements <= FAILED_MAX) return Array.from({ length: statements }, (_, i) => i + 1)
  const stretch = (statements - 2) / (FAILED_MAX - 2)
  const between = Array.from({ length: FAILED_MAX - 2 }, (_, i) => 2 + Math.floor((i + next()) * stretch))
  return [1, ...between, statements]
}

describe(`a disk that fails at any one statement (CHAOS_SEED=${seed})`, () => {
  // The time of ingest is never used twice, so that an event that is sent again is stored with a later one.
  it.each(Object.keys(OPERATIONS).filter((operation) => !operation.startsWith('firing ')))(
    '%s changes nothing, and does it all when it is asked again',
    async (operation) => {
      const clean = copyOfWorld()
      faults.arm(noFault)
      await run(clean.engine, operation)
      const statements = faults.count()
      const [after, afterAnswers] = [dump(clean.file), await answers(clean.engine)]
      await clean.remove()

      const { engine, file, remove } = copyOfWorld()
      const [before, beforeAnswers] = [dump(file), await answers(engine)]
      let bytes = ''
      for (const n of failing(statements)) {
        faults.arm((count) => {
          if (count === n) throw new DiskFault(`statement ${n} failed`)
        })
        await expect(run(engine, operation)).rejects.toMatchObject(DISK_FULL)
        faults.arm(noFault)
        // A statement that was undone mostly leaves the files as they were.
        const now = digestFile(file)
        if (now !== bytes) expect(dumpDifference(before, dump(file))).toEqual([])
        bytes = now
        expect(await answers(engine)).toBe(beforeAnswers)
      }
      await run(engine, operation)
      expect(dumpDifference(after, dump(file))).toEqual([])
      expect(await answers(engine)).toBe(afterAnswers)
      await remove()
    },
    60_000,
  )

  it('the same check finds what the first half of a split transaction left', async () => {
    const { engine, file, remove } = copyOfWorld()
    const before = dump(file)
    faults.arm((count, db) => {
      if (count === 20) db.exec('COMMIT; BEGIN IMMEDIATE')
      if (count === 30) throw new DiskFault('statement 30 failed')
    })
    await expect(run(engine, 'update of parameters')).rejects.toThrow()
    faults.arm(noFault)
    expect(dumpDifference(before, dump(file)).length).toBeGreaterThan(5)
    await remove()
  })
})
