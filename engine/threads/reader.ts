/** A reader's thread: answers reads on a connection of its own, so that none holds up ingest. */
import { once } from 'node:events'
import { type MessagePort, parentPort } from 'node:worker_threads'
import type { Tell } from '../calls.ts'
import { clockIn } from '../clock.ts'
import { SvcError } from '../errors.ts'
import { openReading } from '../log/store/open.ts'
import type { OperationInput } from '../operations/input.ts'
import { openReader } from '../roles/reader.ts'
import { type FromThread, faultOf, type SharedOptions, type ToThread } from './protocol.ts'

/** Waits until the file can be opened, then runs until the thread is ended. @throws StartError */
export async function runReader(options: SharedOptions): Promise<void> {
  const port = parentPort!
  await once(port, 'message')
  const db = openReading(options.dataFile)
  const calls = openReader(db, options, clockIn(options.clock))
  port.on('message', (message: ToThread) => {
    if (message.t === 'call') void answer(calls, message, port)
  })
}

/* Calls of the engine's methods by name, answered by message. */

/** Calls a method and sends its result; a thread answers in order of arrival. */
export function answer(
  target: Record<string, unknown>,
  { id, method, args, tells }: Extract<ToThread, { t: 'call' }>,
  port: MessagePort,
): Promise<void> {
  const send = (message: FromThread): void => port.postMessage(message)
  const told: Tell[] = tells ? [(progress) => send({ t: 'progress', id, progress })] : []
  const run = async (): Promise<unknown> =>
    (target[method] as (...args: unknown[]) => unknown)(...args, ...told)
  // What cannot be sent is a fault as any other: whoever waits is told.
  return run()
    .then((value) =>
      port.postMessage(
        { t: 'settled', results: [{ id, value }] } satisfies FromThread,
        handedOver(method, args, value),
      ),
    )
    .catch((error: Error) => {
      const told = error instanceof SvcError ? error : faultOf(error, send)
      send({ t: 'settled', results: [{ id, error: told.toWire() }] })
    })
}

/** Texts of operations, which are made for this answer alone, are handed over instead of copied. */
const handedOver = (method: string, args: readonly unknown[], value: unknown): ArrayBuffer[] =>
  method === 'perform' && (args[1] as OperationInput).asText
    ? [(value as Uint8Array<ArrayBuffer>).buffer]
    : []
