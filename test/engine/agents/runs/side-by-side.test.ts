/** Calls of one reply (issue 17, part 2.3): those that only read are made side by side, and the tape is exact. */
import { expect, it, onTestFinished } from 'vitest'
import { startMcpServer } from '../../../mcp/server.ts'
import { BY } from '../../triggers/trigger-world.ts'
import { conclude, error, stepsOf } from './replies.ts'
import { openRunWorld } from './run-world.ts'

it('tools that only read are asked at the same time, one that writes alone, all in their order on the tape', async () => {
  const world = await openRunWorld()
  onTestFinished(() => world.close())
  const atWork = new Set<string>()
  const together: string[][] = []
  let both = () => {}
  const met = new Promise<void>((resolve) => {
    both = resolve
  })
  const slow = (name: string) => async () => {
    atWork.add(name)
    together.push([...atWork])
    if (name !== 'write') {
      if (atWork.size === 2) both()
      // The first is answered after the second, which shows that it does not wait for it.
      await met
    }
    atWork.delete(name)
    return `said by ${name}`
  }
  const mcp = await startMcpServer([
    { name: 'one', annotations: { readOnlyHint: true }, answer: slow('one') },
    { name: 'two', annotations: { readOnlyHint: true }, answer: slow('two') },
    { name: 'write', answer: slow('write') },
  ])
  onTestFinished(() => mcp.close())
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await world.engine.createMcpServer({ name: 'tools', url: mcp.url }, BY)
  await world.agent({
    name: 'first-look',
    trigger: 't',
    model: 'm1',
    mcp_servers: ['tools'],
    tools: [
      { server: 'tools', tool: 'one' },
      { server: 'tools', tool: 'two' },
      { server: 'tools', tool: 'write' },
    ],
  })
  const read = { name: 'read', arguments: { selector: { service: 'checkout' } } }
  const names = ['read', 'stats', 'nothing', 'tools__one', 'tools__two', 'tools__write', 'read']
  const calls = names.map((name, i) => ({
    ...(name === 'read' ? read : { name, arguments: {} }),
    id: `c${i}`,
  }))
  world.models.reply('m1', [{ calls }, conclude()])
  await world.post(error)
  const [done] = await world.settled()
  expect(done).toMatchObject({ status: 'succeeded', tool_calls: 7 })
  expect(together).toEqual([['one'], ['one', 'two'], ['write']])
  const detail = await world.run(done!.id)
  const answered = detail.steps.filter(({ kind }) => kind === 'tool' || kind === 'refused')
  expect(answered.map(({ data }) => (data.call as { id: string }).id)).toEqual(
    names.map((_name, i) => `c${i}`),
  )
  expect(stepsOf(detail, 'tool').map(({ result }) => result?.split('\n')[1])).toContain('said by one')
  const told = world.models.requests[1]!.body.messages.at(-1).content as { tool_use_id: string }[]
  expect(told.map(({ tool_use_id }) => tool_use_id)).toEqual(names.map((_name, i) => `c${i}`))
})
