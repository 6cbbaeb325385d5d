/** Calls of the engine's methods by name, answered by message. */
import type { MessagePort } from 'node:worker_threads'
import { SvcError } from '../errors.ts'
import { faultOf } from './fault.ts'
import type { FromThread, ToThread } from './protocol.ts'

/** Calls a method and sends its result; a thread answers in order of arrival. */
export function answer(
  target: Record<string, unknown>,
  { id, method, args }: Extract<ToThread, { t: 'call' }>,
  port: MessagePort,
): void {
  const send = (message: FromThread): void => port.postMessage(message)
  const run = async (): Promise<unknown> => (target[method] as (...args: unknown[]) => unknown)(...args)
  run().then(
    (value) => send({ t: 'settled', results: [{ id, value }] }),
    (error: Error) => {
      const told = error instanceof SvcError ? error : faultOf(error, send)
      send({ t: 'settled', results: [{ id, error: told.toWire() }] })
    },
  )
}
