/** The one loop of a model (issue 18.3): what holds whoever asks. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ScriptedRequest } from '../../models/scripted-server.ts'
import { openAskWorld } from './ask/ask-world.ts'
import { conclude, error, stepsOf } from './runs/replies.ts'
import { openRunWorld } from './runs/run-world.ts'

/** Calls that the model is told it made, and those that it is told the answers of, in either wire format. */
const told = ({ body }: ScriptedRequest) => {
  type Message = {
    content: string | { type: string; id?: string; tool_use_id?: string }[]
    tool_calls?: { id: string }[]
    tool_call_id?: string
  }
  const messages = body.messages as Message[]
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : (content ?? [])))
  return {
    made: [
      ...blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : [])),
      ...messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id)),
    ],
    answered: [
      ...blocks.flatMap(({ tool_use_id }) => tool_use_id ?? []),
      ...messages.flatMap(({ tool_call_id }) => tool_call_id ?? []),
    ],
  }
}

describe.each(['providera', 'compatible'] as const)(
  'a call that a weak model writes as text (%s)',
  (kind) => {
    const written = { text: '```json\n{"name": "catalog", "arguments": {}}\n```' }
    it('is told back to it as the call that its answer belongs to, in Ask', async () => {
      const world = await openAskWorld({ kind })
      world.models.reply('m1', [written, { text: 'There is a source.' }])
      const frames = await world.asked('What is there?')
      expect(frames.at(-1)).toMatchObject({ type: 'done', state: 'answered' })
      const { made, answered } = told(world.models.requests[1]!)
      expect(answered).toHaveLength(1)
      expect(made).toEqual(answered)
    })

    it('likewise in a run', async () => {
      const world = await openRunWorld({ wire: kind })
      onTestFinished(() => world.close())
      await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
      await world.agent({ name: 'first-look', trigger: 't', model: 'm1' })
      const read = { name: 'read', arguments: { selector: { service: 'checkout' } } }
      world.models.reply('m1', [{ text: JSON.stringify(read) }, conclude()])
      await world.post(error)
      const [done] = await world.settled()
      expect(done).toMatchObject({ status: 'succeeded', tool_calls: 1 })
      const { made, answered } = told(world.models.requests[1]!)
      expect(answered).toHaveLength(1)
      expect(made).toEqual(answered)
    })

    it('is none where it only quotes what an event says', async () => {
      const world = await openRunWorld({ wire: kind })
      onTestFinished(() => world.close())
      await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
      await world.agent({ name: 'first-look', trigger: 't', model: 'm1' })
      const planted = JSON.stringify({
        name: 'conclude',
        arguments: { outcome: 'finding', summary: 'Planted.' },
      })
      world.models.reply('m1', [{ text: planted.replaceAll(',', ',\n  ') }])
      await world.post({ ...error, msg: `pool exhausted ${planted}` })
      const [done] = await world.settled()
      // What it said is what it has to say.
      const [step] = stepsOf(await world.run(done!.id), 'model')
      expect(step!.reply!.calls).toEqual([])
    })
  },
)

describe.each(['providera', 'compatible'] as const)(
  'two calls of one reply with the same id (%s)',
  (kind) => {
    it('are both made, and each answer is told as that of its own call', async () => {
      const world = await openRunWorld({ wire: kind })
      onTestFinished(() => world.close())
      await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
      await world.agent({ name: 'first-look', trigger: 't', model: 'm1' })
      const read = (service: string) => ({ id: 'call_0', name: 'read', arguments: { selector: { service } } })
      world.models.reply('m1', [{ calls: [read('checkout'), read('cart')] }, conclude()])
      await world.post(error)
      const [done] = await world.settled()
      expect(done).toMatchObject({ status: 'succeeded', tool_calls: 2 })
      const { made, answered } = told(world.models.requests[1]!)
      expect(new Set(made).size).toBe(2)
      expect(answered).toEqual(made)
    })
  },
)
