/** Effects of machines carried out: by the name the machine returned, inside the transaction of its step. */
import type { Effect } from '../../machines/step.ts'

/** What each effect of a machine is. @param of what was moved */
export type Executors<T> = Readonly<Record<string, (of: T, params: never) => void>>

/**
 * Carries out what a step asks for, in order.
 * @param kind of the machine, for the error
 * @throws Error for an effect that nothing carries out: a fault of ours, and the step is rolled back
 * @example
 * carryOut('delivery', effects, asked, { rows, id, at, moved })
 */
export function carryOut<T>(kind: string, executors: Executors<T>, asked: readonly Effect[], of: T): void {
  for (const { type, params } of asked) {
    const executor = executors[type]
    if (!executor) throw new Error(`nothing carries out the effect ${type} of a ${kind}`)
    executor(of, params as never)
  }
}
