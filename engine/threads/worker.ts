/** Entry of the engine's threads: starts the role it is given and says whether it could. */
import { flushCompileCache } from 'node:module'
import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { StartError } from '../errors.ts'
import type { FromThread, ThreadOptions } from './protocol.ts'

const options = workerData as ThreadOptions
const send = (message: FromThread): void => parentPort!.postMessage(message)

/** As `nice` has it. */
const NICEST = 19
/** What the process was started with: only a privileged one may be less nice again. */
const own = getPriority(0)

/**
 * Lets the threads of ingest have a busy processor first. On Linux a thread has a priority of its own; elsewhere it is
 * that of the process, which has to stay.
 * @param niceness besides that of the process: each step leaves four fifths of what the one before leaves
 */
function giveWay(niceness: number): void {
  if (niceness > 0 && process.platform === 'linux') setPriority(0, Math.min(NICEST, own + niceness))
}

/** Whoever asked for a wide read waits for what its thread loads: that gives way no more than short reads do. */
const STARTING = 5

try {
  const niceness = options.role === 'reader' ? options.niceness : 0
  giveWay(Math.min(niceness, STARTING))
  await run()
  giveWay(niceness)
  send({ t: 'ready' })
  // What V8 compiled, for the next start: Node writes it at the end, which a process that is killed does not see.
  flushCompileCache()
} catch (error) {
  send({
    t: 'not_started',
    message: (error as Error).message,
    exitCode: error instanceof StartError ? error.exitCode : 70,
  })
}

/** Each role loads what it needs itself: loading the whole engine takes a tenth of a second. */
async function run(): Promise<void> {
  if (options.role === 'writer') {
    const { Writer } = await import('./writer.ts')
    new Writer(options, options.port, options.log).run()
  } else if (options.role === 'reader') {
    const { runReader } = await import('./reader.ts')
    await runReader(options)
  } else if (options.role === 'checkpointer') {
    const { runCheckpointer } = await import('./checkpointer.ts')
    runCheckpointer(options.dataFile, options.log)
  } else {
    const { runPreparer } = await import('./preparer.ts')
    runPreparer(options.port, options.clock)
  }
}
