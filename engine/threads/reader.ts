/** A reader's thread: answers reads on a connection of its own, so that none holds up ingest. */
import { once } from 'node:events'
import { parentPort } from 'node:worker_threads'
import { clockIn } from '../clock.ts'
import { openReader } from '../roles/reader.ts'
import { openReading } from '../store/open.ts'
import { answer } from './answer.ts'
import type { SharedOptions, ToThread } from './protocol.ts'

/** Waits until the file can be opened, then runs until the thread is ended. @throws StartError */
export async function runReader(options: SharedOptions): Promise<void> {
  const port = parentPort!
  await once(port, 'message')
  const db = openReading(options.dataFile)
  const calls = openReader(db, options, clockIn(options.clock))
  port.on('message', (message: ToThread) => {
    if (message.t === 'call') answer(calls, message, port)
  })
}
