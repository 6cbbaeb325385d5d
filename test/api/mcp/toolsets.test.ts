/** Sets of tools that a process of svc mcp offers (issue 17, Part 2.3). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadMcpSettings } from '../../../api/mcp/settings.ts'
import { tools } from '../../../api/mcp/tools/index.ts'
import { TOOLSETS, toolsOf } from '../../../api/mcp/toolsets.ts'
import { type Instance, startInstance } from '../../contract/instance.ts'
import { call, called, toolsOf as listedTo, type McpWorld, startMcp } from './mcp-world.ts'

let svc: Instance
let mcp: McpWorld
beforeAll(async () => {
  svc = await startInstance()
  mcp = await startMcp(svc.url)
})
afterAll(async () => {
  await mcp.stop()
  await svc.stop()
})

describe('issue 17, 2.3: tool sets', () => {
  it('hold each tool once', () => {
    expect(Object.values(TOOLSETS).flat().sort()).toEqual(tools.map(({ name }) => name).sort())
  })

  it('come of the flags or the environment', () => {
    const settings = (flags: object, env = {}) => loadMcpSettings(flags, env, false)
    expect(settings({ toolsets: 'events, findings', readOnly: true })).toMatchObject({
      toolsets: ['events', 'findings'],
      readOnly: true,
    })
    expect(settings({}, { SVC_MCP_TOOLSETS: 'runs', SVC_MCP_READ_ONLY: 'on' })).toMatchObject({
      toolsets: ['runs'],
      readOnly: true,
    })
    expect(settings({})).toMatchObject({ toolsets: null, readOnly: false })
    expect(() => settings({ toolsets: 'events,magic' })).toThrow(/not magic/)
  })

  it('are all that is listed, and all that can be called', async () => {
    mcp.shared.tools = toolsOf(['events', 'findings'], true)
    const client = await mcp.connect()
    const names = await listedTo(client)
    expect(names).toContain('changed')
    expect(names).toContain('list_findings')
    for (const left of ['record_finding', 'remember', 'list_runs', 'apply_change'])
      expect(names).not.toContain(left)
    await expect(call(client, 'remember', { content: 'x', entity: 'y' })).rejects.toThrow(
      /no tool is named remember/,
    )
    expect((await called(client, 'list_projects')).isError).toBe(false)
  })
})
