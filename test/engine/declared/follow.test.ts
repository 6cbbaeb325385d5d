/** A tail never repeats an event: what the backlog and the listener both give is sent once. */
import { describe, expect, it } from 'vitest'
import { follow } from '../../../engine/log/live.ts'
import { openWorld } from '../triggers/trigger-world.ts'

type Message = Parameters<Parameters<typeof follow>[3]>[0]
type Row = Extract<Message, { rows: unknown }>['rows'][number]
const row = (n: number) => ({ id: `evt_${n}` }) as Row
const idsOf = (messages: readonly Message[]) =>
  messages.flatMap((message) => ('rows' in message ? message.rows.map(({ id }) => id) : []))

describe('a tail never repeats an event', () => {
  it('that arrives while its backlog is read, and is in both', async () => {
    const got: Message[] = []
    let send: (message: Message) => void = () => {}
    await follow(
      async (listener) => {
        send = listener
        return () => {}
      },
      async () => {
        send({ rows: [row(2), row(3)] } as Message)
        send({ rows: [row(4)] } as Message)
        return { rows: [row(1), row(2), row(3)], missed: 0, notice: null }
      },
      'evt_0',
      (message) => got.push(message),
    )
    send({ rows: [row(5)] } as Message)
    expect(idsOf(got)).toEqual(['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5'])
  })

  it('D: after an id with more than 1,000 events behind it is told how many it is not given', async () => {
    const { engine, post } = await openWorld()
    const [first] = await post({ service: 'checkout', type: 'error' })
    await post(Array.from({ length: 1_234 }, (_, n) => ({ service: 'checkout', type: 'error', n })))
    const got: Message[] = []
    const filter = { selector: {}, sources: [], afterId: first! }
    const { stop } = await engine.tail(filter, (message) => got.push(message))
    expect(got[0]).toEqual({ missed: 234, afterId: first })
    expect(idsOf(got)).toHaveLength(1_000)
    stop()
  })

  it('after the id it was left at, over an engine that goes on storing', async () => {
    const { engine, post } = await openWorld()
    const error = { service: 'checkout', type: 'error' }
    const [, second] = await post([error, error, error, error])
    const got: Message[] = []
    const opening = engine.tail({ selector: {}, sources: [], afterId: second! }, (message) => {
      got.push(message)
    })
    await post([error, error])
    const { stop } = await opening
    await post(error)
    expect(idsOf(got)).toEqual(['evt_3', 'evt_4', 'evt_5', 'evt_6', 'evt_7'])
    stop()
  })
})
