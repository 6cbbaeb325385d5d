/** The first page of a run over a store of many events, read and made in one go, against the bare read of the same rows. */
import BetterSqlite3 from 'better-sqlite3'
import { loadedWith } from '../../engine/agents/evals/incident.ts'
import { openEvalWorld } from '../../engine/agents/evals/run.ts'
import { briefInSteps } from '../../engine/agents/runs/run-reads.ts'
import { createEngine, ownPack } from '../../engine/local.ts'
import { atOnce } from '../../engine/log/steps.ts'
import { openReading } from '../../engine/log/store/open.ts'
import { createReadContext } from '../../engine/log/timeline/context.ts'

/** Before those that count, for V8 to compile what is hot. */
const WARM_RUNS = 5
const RUNS = 15
const BUDGET = 6_000
const HOUR_MS = 3_600_000

export interface BriefMeasure {
  rows: number
  /** Milliseconds of a first look, which reads all rows, and of one that comes after another; medians. */
  ms: number
  againMs: number
  /** Of the bare statement that reads the same rows. */
  ratio: number
  /** Processor time of the thread alone, which the load of others moves less: of a first look and of a next one; medians. */
  cpuMs: number
  cpuAgainMs: number
}

/** Milliseconds of user and system of this thread so far. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** @param file of its own, made here. @param noise events around an incident of the pack. */
export async function measureBrief(file: string, noise: number): Promise<BriefMeasure> {
  const { incidents, noise: pool } = ownPack()
  const loaded = loadedWith(incidents[0]!.load(), pool, noise)
  const world = await openEvalWorld((options) => createEngine({ ...options, dataFile: file }), loaded, [])
  await world.close()
  const db = openReading(file)
  const question = {
    ...{ label: 'service', entity: loaded.entity, fired: [], budget: BUDGET },
    ...{ to: loaded.now, asOf: loaded.now + HOUR_MS },
  }
  const bare = new BetterSqlite3(file, { readonly: true })
  const all = bare.prepare('SELECT id, ts, labels, entity, numbers, text FROM events')
  const times: number[] = []
  const againTimes: number[] = []
  const bareTimes: number[] = []
  const cpuTimes: number[] = []
  const cpuAgainTimes: number[] = []
  let rows = 0
  for (let i = 0; i < WARM_RUNS + RUNS; i++) {
    const ctx = createReadContext(db, false, 'bench')
    ctx.index.refresh(true)
    const cpuBegan = threadMs()
    const began = performance.now()
    atOnce(briefInSteps(ctx, [], question))
    const once = performance.now()
    const cpuOnce = threadMs()
    atOnce(briefInSteps(ctx, [], question))
    const made = performance.now()
    const cpuMade = threadMs()
    rows = all.all().length
    if (i < WARM_RUNS) continue
    times.push(once - began)
    againTimes.push(made - once)
    bareTimes.push(performance.now() - made)
    cpuTimes.push(cpuOnce - cpuBegan)
    cpuAgainTimes.push(cpuMade - cpuOnce)
  }
  bare.close()
  db.close()
  return {
    ...{ rows, ms: median(times), againMs: median(againTimes), ratio: median(times) / median(bareTimes) },
    ...{ cpuMs: median(cpuTimes), cpuAgainMs: median(cpuAgainTimes) },
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
