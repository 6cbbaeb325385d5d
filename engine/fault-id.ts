/** Faults of ours: the caller is told an id, the log has the rest under it. */
import { randomBytes } from 'node:crypto'
import { SvcError } from './errors.ts'

/** @param onFault is given the error and its id, for the log. @returns what makes the error to answer with */
export function faultTold(onFault?: (error: Error, id: string) => void): (error: Error) => SvcError {
  return (error) => {
    const id = randomBytes(6).toString('hex')
    onFault?.(error, id)
    return new SvcError('internal', `a fault of ours; the log has it under ${id}`)
  }
}
