import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import { expect, it } from 'vitest'
import type { FromThread } from '../../../engine/threads/protocol.ts'
import { answer } from '../../../engine/threads/reader.ts'

it('an answer that no message can carry is a fault: whoever asked is told, and does not wait for ever', async () => {
  const { port1, port2 } = new MessageChannel()
  const target = { odd: () => ({ call: () => 1 }) }
  answer(target, { t: 'call', id: 7, method: 'odd', args: [] }, port2)
  const [fault] = (await once(port1, 'message')) as [FromThread]
  const [told] = (await once(port1, 'message')) as [FromThread]
  expect(fault).toMatchObject({ t: 'fault' })
  expect(told).toMatchObject({ t: 'settled', results: [{ id: 7, error: { code: 'internal' } }] })
  port1.close()
})
