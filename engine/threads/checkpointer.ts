/** The checkpointer's thread: copies the log into the data file when the writer asks, and knows nothing else. */
import { once } from 'node:events'
import { type MessagePort, parentPort } from 'node:worker_threads'
import { openCheckpointing } from '../log/store/checkpoints.ts'
import { type FromThread, faultOf, type ToThread } from './protocol.ts'

/**
 * Waits until the file can be opened, then runs until the thread is ended.
 * @param writer the port to the writer; each of its messages is answered.
 */
export async function runCheckpointer(dataFile: string, writer: MessagePort): Promise<void> {
  const main = parentPort!
  const send = (message: FromThread): void => main.postMessage(message)
  await once(main, 'message')
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
