/**
 * The traced process of crash-state.ts: ingests in process and writes `ack <n>` to standard error
 * after each answer, so that the trace orders acknowledgements with the writes to disk.
 * Arguments: data file, commits, and `NORMAL` for the control that must lose events, or `BESIDE` for
 * another connection that copies the log meanwhile, as the daemon's checkpointer does.
 */
import { writeSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import { createEngine } from '../../engine/local.ts'
import { openCheckpointing } from '../../engine/log/store/checkpoints.ts'

const [dataFile, commits, mode] = process.argv.slice(2) as [string, string, string | undefined]
let now = Date.parse('2026-11-20T12:00:00Z')
if (mode === 'NORMAL') weaken()
const engine = createEngine({ dataFile, clock: { now: () => now++ } })
const { ingest_key } = await engine.createSource(
  { name: 'app', connector: 'webhook', config: { labels: [{ name: 'entity', field: 'e', primary: true }] } },
  { caller: { id: 'open', name: 'test' }, origin: 'api' },
  false,
)
const beside = mode === 'BESIDE' ? openCheckpointing(dataFile) : null
const post = async (n: number): Promise<void> => {
  const size = [1, 3, 20][n % 3]!
  const body = JSON.stringify(
    Array.from({ length: size }, (_, i) => ({ e: `e${n % 7}`, n, i, pad: 'x'.repeat((n * 37) % 900) })),
  )
  await engine.ingest({
    ingestKey: ingest_key!,
    body: Buffer.from(body),
    bypassCooldown: false,
    caller: 'open',
    idempotencyKey: `k${n}`,
  })
  writeSync(2, `ack ${n} ${size}\n`)
  if (n % 6 === 5) beside?.run()
}
// GROUP: ten requests at a time, to see how many flushes they share.
const atOnce = mode === 'GROUP' ? 10 : 1
for (let n = 0; n < Number(commits); n += atOnce)
  await Promise.all(Array.from({ length: atOnce }, (_, i) => post(n + i)))
// No close: the last states are those of a process that is simply gone.
process.kill(process.pid, 'SIGKILL')

/** The control: the same program, but commits no longer wait for the disk. */
function weaken(): void {
  const { prototype } = BetterSqlite3
  const pragma = prototype.pragma
  prototype.pragma = function (source: string, options?: BetterSqlite3.PragmaOptions) {
    if (source === 'synchronous = FULL') return pragma.call(this, 'synchronous = NORMAL')
    return source === 'synchronous' ? 2 : pragma.call(this, source, options)
  }
}
