import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { random } from '../engine/log/store/store-harness.ts'
import { dumpRestarted } from './declared-every.ts'
import { buildChild, killAt, lookAtEach } from './declared-kill.ts'
import { buildWorld, OPERATIONS, openWorld } from './declared-operations.ts'
import { dumpDifference, dumpFile } from './declared-state.ts'
import { isDone, longOr, seed } from './scale.ts'

const next = random(seed)
const scratch = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'svc-declared-'))
const base = join(scratch, 'base')
const nothing = join(scratch, 'nothing')
/**
 * How often each operation is really killed here, before its commit or at one of the statements before it;
 * `npm run chaos -- declared` does it at each statement.
 */
const KILLS = longOr(2, 1)

beforeAll(async () => {
  await buildChild()
  mkdirSync(nothing)
  const engine = openWorld(join(base, 'svc.db'))
  await buildWorld(engine)
  await engine.close()
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** The commit and some of the statements before it; where one is enough, now the one and now the other. */
function instants(statements: number): number[] {
  const all = [
    statements,
    ...Array.from({ length: Math.max(1, KILLS - 1) }, () => 1 + Math.floor(next() * (statements - 1))),
  ]
  return KILLS > 1 ? all : [all[next() < 0.5 ? 0 : 1]!]
}

describe(`killed before any of its statements (CHAOS_SEED=${seed})`, () => {
  it.each(Object.keys(OPERATIONS))(
    '%s leaves the old state or the new one',
    async (operation) => {
      const killing = { base, scratch, operation, look: dumpFile }
      const seen = await lookAtEach(killing)
      const before = dumpFile(join(base, 'svc.db'))
      const after = seen.pop()!
      expect(after).not.toBe(before)
      // Its commit is its last statement: whatever dies before that leaves nothing.
      expect(seen.map((state) => state === before)).toEqual(seen.map(() => true))
      // The images show each instant; that a kill leaves what they hold is looked at for some operations in each run.
      if (!isDone(Object.keys(OPERATIONS).indexOf(operation), 4)) return
      for (const state of await killAt(killing, instants(seen.length))) expect(state === before).toBe(true)
    },
    60_000,
  )

  it('the same check finds the state between the halves of a transaction that was split', async () => {
    const killing = { base, scratch, operation: 'pause', look: dumpFile, splitAt: 10 }
    const seen = await lookAtEach(killing)
    const before = dumpFile(join(base, 'svc.db'))
    const isBetween = (state: string) => state !== before && state !== seen.at(-1)
    expect(seen.findIndex(isBetween)).toBe(9)
    expect((await killAt(killing, [15])).map(isBetween)).toEqual([true])
  })
})

describe('a first start that is killed before any of its statements', () => {
  const look = dumpRestarted
  const endOf = async (operation: string): Promise<string> =>
    (await lookAtEach({ base: nothing, scratch, operation, look })).at(-1)!

  it('has imported all of the catalog or nothing, and seeded the project or not', async () => {
    const operation = 'start with a catalog and a seed'
    const steps = [await endOf('start with nothing'), await endOf('start with a catalog')]
    const seen = await lookAtEach({ base: nothing, scratch, operation, look })
    steps.push(seen.at(-1)!)
    expect(new Set(steps).size).toBe(3)
    expect(dumpDifference(steps[0]!, seen[0]!)).toEqual([])
    const reached = seen.map((state) => steps.indexOf(state))
    expect(reached).toEqual(reached.toSorted())
    expect(new Set(reached)).toEqual(new Set([0, 1, 2]))
  })
})
