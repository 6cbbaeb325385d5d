/** More tools than a request may name: chat completions take 128, and refuse the whole request over it. */
import { expect, it, onTestFinished } from 'vitest'
import type { ScriptedReply } from '../../../models/script.ts'
import { BY } from '../../triggers/trigger-world.ts'
import { conclude, error, stepsOf } from '../runs/replies.ts'
import { openRunWorld } from '../runs/run-world.ts'
import { server } from './setup.ts'

const tools = Array.from({ length: 140 }, (_, i) => ({
  name: `look_${i}`,
  annotations: { readOnlyHint: true },
}))

async function ran(
  wire: 'providera' | 'compatible',
  listed?: string,
  fallbackWire?: 'compatible',
  answers: ScriptedReply[] = [{ calls: [{ name: 'stats', arguments: {} }] }, conclude()],
) {
  const world = await openRunWorld({ wire, ...(fallbackWire ? { fallbackWire } : {}) })
  onTestFinished(() => world.close())
  const { agent, models, post, settled, run, engine } = world
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await engine.createMcpServer({ name: 'desk', url: (await server(tools)).url }, BY)
  const rows = ['*', ...(listed ? [listed] : [])].map((tool) => ({ server: 'desk', tool }))
  await agent({ name: 'first-look', trigger: 't', model: 'm1', mcp_servers: ['desk'], tools: rows })
  // The account of the first is empty: the fallback is asked at once, and reads before it concludes.
  if (fallbackWire) models.reply('m2', answers)
  models.reply('m1', ({ body }) =>
    fallbackWire
      ? { status: 400, error: 'Your credit balance is too low' }
      : wire === 'compatible' && body.tools.length > 128
        ? { status: 400, error: "Invalid 'tools': array too long. Expected an array with maximum length 128" }
        : conclude(),
  )
  await post(error)
  const [done] = await settled()
  const detail = await run(done!.id)
  const { body } = models.requests.find(({ model }) => model === (fallbackWire ? 'm2' : 'm1'))!
  const names: string[] = body.tools.map((tool: { name?: string; function?: { name: string } }) =>
    tool.function ? tool.function.name : tool.name,
  )
  return { status: detail.status, notes: stepsOf(detail, 'note').map(({ text }) => text), names }
}

it('are left out of what chat completions are asked, those that the agent lists by name last, and the run says so', async () => {
  const { status, notes, names } = await ran('compatible', 'look_139')
  expect(status).toBe('succeeded')
  expect(names).toHaveLength(128)
  expect(names).toEqual(expect.arrayContaining(['read', 'conclude', 'desk__look_139']))
  const own = names.filter((name) => !name.startsWith('desk__')).length
  const [first, ...rest] = tools.slice(128 - own - 1, -1).map(({ name }) => `desk__${name}`)
  expect(names).not.toContain(first)
  expect(notes).toEqual([
    `${[first, ...rest.slice(0, 9)].join(', ')} and ${rest.length - 9} more left out: a request to gateway names 128 tools at most, and there are ${own + 140}; list those that the agent needs under tools`,
  ])
})

it('are all told in a format that takes them', async () => {
  const { status, notes, names } = await ran('providera')
  expect(status).toBe('succeeded')
  expect(names).toContain('desk__look_139')
  expect(notes).toEqual([])
})

it.each<[string, ScriptedReply[] | undefined]>([
  ['reads and concludes', undefined],
  ['answers text alone', [{ text: 'It cannot pay.' }]],
])(
  'are left out of what a fallback is asked in such a format that %s, and the run says so once',
  async (_how, answers) => {
    const { status, notes, names } = await ran('providera', undefined, 'compatible', answers)
    expect(status).toBe('succeeded')
    expect(names).toHaveLength(128)
    expect(notes).toEqual([
      expect.stringMatching(
        / more left out: a request to gateway names 128 tools at most, and there are \d+; /,
      ),
    ])
  },
)
