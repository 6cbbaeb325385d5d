/** Calls of one reply (issue 17, part 2.3): those that only read are made side by side, and the tape is exact. And what there is to call. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startMcpServer } from '../../../mcp/server.ts'
import { startScriptedModels } from '../../../models/scripted-server.ts'
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

it('tools that a call makes a server list are offered from the next round on, pinned, and answered', async () => {
  const world = await openRunWorld()
  onTestFinished(() => world.close())
  const readOnly = { annotations: { readOnlyHint: true } }
  const first = { name: 'enable_toolset', ...readOnly, answer: () => enable() }
  const mcp = await startMcpServer([first], { listChanged: true })
  const enable = () => {
    const issues = { name: 'list_issues', ...readOnly, answer: () => 'issue 7' }
    mcp.tools = [first, issues, { name: 'close_issue', answer: () => 'closed' }]
    return 'enabled'
  }
  onTestFinished(() => mcp.close())
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await world.engine.createMcpServer({ name: 'code', url: mcp.url }, BY)
  await world.agent({ name: 'first-look', trigger: 't', model: 'm1', mcp_servers: ['code'] })
  world.models.reply('m1', [
    { calls: [{ name: 'code__enable_toolset', arguments: {} }] },
    { calls: [{ name: 'code__list_issues', arguments: {} }] },
    conclude(),
  ])
  await world.post(error)
  const [done] = await world.settled()
  const offered = world.models.requests.map(({ body }) =>
    (body.tools as { name: string }[]).map(({ name }) => name).filter((name) => name.startsWith('code__')),
  )
  expect(offered).toEqual([
    ['code__enable_toolset'],
    // What may change things is not listed by the agent.
    ['code__enable_toolset', 'code__list_issues'],
    ['code__enable_toolset', 'code__list_issues'],
  ])
  const detail = await world.run(done!.id)
  expect(stepsOf(detail, 'tool')[1]!.result).toContain('issue 7')
  expect(stepsOf(detail, 'note')).toMatchObject([{ text: 'there are more tools to call: code__list_issues' }])
  const pinned = await world.engine.listMcpTools('code')
  expect(pinned.map(({ name, state }) => [name, state])).toEqual([
    ['close_issue', 'pinned'],
    ['enable_toolset', 'pinned'],
    ['list_issues', 'pinned'],
  ])
})

it('a tool whose server is away when its run goes on after a stop is refused with the reason, not as one that nobody named', async () => {
  const dataFile = join(mkdtempSync(join(tmpdir(), 'svc-away-')), 'svc.db')
  onTestFinished(() => rmSync(dirname(dataFile), { recursive: true }))
  const models = await startScriptedModels()
  onTestFinished(() => models.close())
  const mcp = await startMcpServer([{ name: 'look', annotations: { readOnlyHint: true } }])
  let isDown = false
  const first = await openRunWorld({
    scripted: models,
    dataFile,
    fault: (when, call) => {
      isDown ||= when === 'before' && call === 'recordSteps' && models.requests.length > 0
      if (isDown) throw new Error('the daemon is down')
    },
  })
  await first.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await first.engine.createMcpServer({ name: 'code', url: mcp.url }, BY)
  await first.agent({ name: 'first-look', trigger: 't', model: 'm1', mcp_servers: ['code'] })
  models.reply('m1', (_request, n) =>
    n < 2 ? { calls: [{ name: 'code__look', arguments: {} }] } : conclude(),
  )
  await first.post(error)
  await first.settled().catch(() => {})
  await first.close()
  await mcp.close()
  const second = await openRunWorld({ scripted: models, dataFile, clock: first.clock })
  onTestFinished(() => second.close())
  const [done] = await second.settled()
  expect(done!.status).toBe('succeeded')
  expect(stepsOf(await second.run(done!.id), 'refused')).toMatchObject([
    { reason: 'code__look cannot be called since the run was taken up again: connection refused' },
  ])
})
