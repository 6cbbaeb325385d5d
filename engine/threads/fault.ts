/** A fault of ours in a thread: the main thread logs it under the id that its caller is told. */
import { randomBytes } from 'node:crypto'
import { SvcError } from '../errors.ts'
import type { FromThread } from './protocol.ts'

/** @returns the error to answer with. */
export function faultOf(error: Error, send: (message: FromThread) => void): SvcError {
  const id = randomBytes(6).toString('hex')
  send({ t: 'fault', id, stack: error.stack ?? error.message })
  return new SvcError('internal', `a fault of ours; the log has it under ${id}`)
}
