/** Entry of the engine's threads: starts the role it is given and says whether it could. */
import { parentPort, workerData } from 'node:worker_threads'
import { StartError } from '../errors.ts'
import { runPreparer } from './preparer.ts'
import type { FromThread, ThreadOptions } from './protocol.ts'
import { runReader } from './reader.ts'
import { Writer } from './writer.ts'

const options = workerData as ThreadOptions
const send = (message: FromThread): void => parentPort!.postMessage(message)

try {
  if (options.role === 'writer') new Writer(options, options.port).run()
  else if (options.role === 'reader') runReader(options.dataFile)
  else runPreparer(options.port)
  send({ t: 'ready' })
} catch (error) {
  send({
    t: 'not_started',
    message: (error as Error).message,
    exitCode: error instanceof StartError ? error.exitCode : 70,
  })
}
