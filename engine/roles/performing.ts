/** Which role runs an operation, and what is told to it. */
import { operationOf, roleOf } from '../operations/index.ts'
import type { NetworkInput, OperationInput } from '../operations/input.ts'
import type { NetworkCalls } from '../operations/network.ts'
import type { Answering } from './who-answers.ts'

/**
 * @param network what operations of that role call; it is asked for with each
 * @returns each operation run where its role is
 */
export function performOver({ writer, short, wide }: Answering, network: () => NetworkCalls) {
  return async (id: string, input: NetworkInput): Promise<unknown> => {
    const operation = operationOf(id)
    const role = roleOf(operation, input)
    if (role === 'network') return operation.run(network(), input)
    const args = [id, sent(input)]
    if (role === 'wide') return wide('perform', args, { asked: input.asked, advice: operation.advice })
    return role === 'writer' ? writer('perform', args) : short('perform', args)
  }
}

/** Without who waits, which is looked at on this side alone. */
const sent = ({ params, query, body, by, caller, user, project, secured }: OperationInput): OperationInput =>
  ({ params, query, body, by, caller, user, project, secured }) satisfies Record<
    keyof OperationInput,
    unknown
  >
