/** Kills each operation of the declared side right before each of its statements, and a first start too. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildChild, type Killing, killAt, lookAtEach } from './declared-kill.ts'
import { buildWorld, OPERATIONS, openWorld } from './declared-operations.ts'
import { dumpDifference, dumpFile } from './declared-state.ts'

export interface KilledOperation {
  operation: string
  kills: number
  /** Statements whose kill left neither the old state nor the new one, with how it differs. */
  between: { statement: number; difference: string[] }[]
}

const FIRST_START = 'start with a catalog and a seed'
/** Each does one thing more than the one before, and a first start does them in this order. */
const STEPS = ['start with nothing', 'start with a catalog', FIRST_START]

/** @param scratch folder to work in, best in memory. */
export async function* killEverywhere(scratch: string): AsyncGenerator<KilledOperation> {
  await buildChild()
  const base = join(scratch, 'base')
  const engine = openWorld(join(base, 'svc.db'))
  await buildWorld(engine)
  await engine.close()
  const before = dumpFile(join(base, 'svc.db'))
  for (const operation of Object.keys(OPERATIONS)) {
    const killing = { base, scratch, operation, look: dumpFile }
    const statements = (await lookAtEach(killing)).length - 1
    // Its commit is its last statement: whatever dies before that leaves nothing.
    yield await killEach(killing, statements, [before])
  }
  yield await killFirstStart(scratch)
}

async function killFirstStart(scratch: string): Promise<KilledOperation> {
  const base = join(scratch, 'nothing')
  mkdirSync(base)
  const killing = (operation: string): Killing => ({ base, scratch, operation, look: dumpRestarted })
  const allowed: string[] = []
  let statements = 0
  for (const step of STEPS) {
    const seen = await lookAtEach(killing(step))
    allowed.push(seen.at(-1)!)
    statements = seen.length - 1
  }
  return killEach(killing(FIRST_START), statements, allowed)
}

/** @param allowed what a kill may leave; differences are told against the first. */
async function killEach(
  killing: Killing,
  statements: number,
  allowed: readonly string[],
): Promise<KilledOperation> {
  const every = Array.from({ length: statements }, (_, i) => i + 1)
  const left = await killAt(killing, every)
  const between = every
    .filter((_, i) => !allowed.includes(left[i]!))
    .map((statement) => ({ statement, difference: dumpDifference(allowed[0]!, left[statement - 1]!) }))
  return { operation: killing.operation, kills: statements, between }
}

/** The file as the next start finds it, with nothing to import. */
export function dumpRestarted(file: string): string {
  void openWorld(file).close()
  return dumpFile(file, ['meta.value'])
}
