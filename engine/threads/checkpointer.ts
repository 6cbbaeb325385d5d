/** The checkpointer's thread: copies the log into the data file when the writer asks, and knows nothing else. */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { openCheckpointing } from '../log/store/checkpoints.ts'
import { type FromThread, faultOf, type ToThread } from './protocol.ts'

/**
 * Runs until the thread is ended; the writer has the file open already.
 * @param writer the port to the writer; each of its messages is answered.
 */
export function runCheckpointer(dataFile: string, writer: MessagePort): void {
  const main = parentPort!
  const send = (message: FromThread): void => main.postMessage(message)
  const log = openCheckpointing(dataFile)
  writer.on('message', () => {
    try {
      log.run()
    } catch (error) {
      // The log stays as it is and nothing is lost: the writer asks again, and meets a broken disk itself.
      faultOf(error as Error, send)
    }
    writer.postMessage(null)
  })
  main.on('message', (message: ToThread) => {
    if (message.t !== 'call') return
    log.close()
    send({ t: 'settled', results: [{ id: message.id, value: null }] })
  })
}
