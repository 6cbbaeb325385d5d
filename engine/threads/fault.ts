/** Faults in a thread: the main thread logs those of ours under the id that the caller is told. */
import { randomBytes } from 'node:crypto'
import { SvcError } from '../errors.ts'
import { survivableDiskFault } from '../store/disk-fault.ts'
import type { FromThread } from './protocol.ts'

/** @returns the error to answer with. A volume that is full is no fault of ours: 507, and nothing is logged. */
export function faultOf(error: Error, send: (message: FromThread) => void): SvcError {
  const survivable = survivableDiskFault(error)
  if (survivable) return survivable
  const id = randomBytes(6).toString('hex')
  send({ t: 'fault', id, stack: error.stack ?? error.message })
  return new SvcError('internal', `a fault of ours; the log has it under ${id}`)
}
