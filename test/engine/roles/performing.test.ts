/** What a call says crosses to the role that runs its operation. */
import { expect, it } from 'vitest'
import { performOver } from '../../../engine/engine.ts'
import type { NetworkInput } from '../../../engine/operations/input.ts'

it('all that a call says reaches the writer, who acts by a header included, but not who waits for it', async () => {
  const told: unknown[][] = []
  const take = async (...args: unknown[]): Promise<unknown> => told.push(args)
  const never = () => {
    throw new Error('another role was asked')
  }
  const perform = performOver({ writer: take, short: never, wide: never } as never, never)
  const said = {
    ...{ params: { id: 'inc_1' }, query: {}, body: { version: 1 }, project: null, secured: true },
    by: { caller: { id: 'key:k', name: 'k' }, origin: 'api' },
    caller: { id: 'key:k', name: 'k', scopes: ['respond'] },
    user: 'mara',
  }
  await perform('acknowledgeIncident', {
    ...said,
    asked: { by: 'key:k', gone: new AbortController().signal },
  } as NetworkInput)
  expect(told).toEqual([['perform', ['acknowledgeIncident', said]]])
})
