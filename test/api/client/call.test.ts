/** One client for console, CLI and MCP server: how a call of the table of operations is asked. */
import { describe, expect, it } from 'vitest'
import { type Call, requestOf } from '../../../api/client/call.ts'
import * as calls from '../../../api/client/calls.ts'
import { operations } from '../../../engine/operations/index.ts'

describe('a call', () => {
  it('fills its path, whatever is in a name', () => {
    expect(requestOf(calls.pauseTrigger, { name: 'a b/ü?&' })).toEqual({
      method: 'POST',
      path: '/api/triggers/a%20b%2F%C3%BC%3F%26/pause',
      body: undefined,
      type: undefined,
    })
    expect(requestOf(calls.approveMcpTool, { name: '{tool}', tool: 'x' }).path).toBe(
      '/api/mcp-servers/%7Btool%7D/tools/x/approve',
    )
  })

  it('has its other fields in the query: those that are undefined not, those with several values each', () => {
    expect(requestOf(calls.listRuns, { agent: 'first', project: undefined, limit: 30 }).path).toBe(
      '/api/runs?agent=first&limit=30',
    )
    expect(requestOf(calls.deleteProject, { id: 'p', delete: '' }).path).toBe('/api/projects/p?delete=')
    expect(requestOf(calls.tail, { label: ['a=1', 'b=2&'], source: [] }).path).toBe(
      '/api/tail?label=a%3D1&label=b%3D2%26',
    )
    expect(requestOf(calls.listTriggers).path).toBe('/api/triggers')
  })

  it('has its body as JSON, or as it is where it is of another type', () => {
    expect(requestOf(calls.rerun, { id: 'r', body: { as_of: 'now' } })).toMatchObject({
      body: '{"as_of":"now"}',
      type: 'application/json',
    })
    expect(requestOf(calls.rerun, { id: 'r' })).toMatchObject({ body: undefined, type: undefined })
    expect(requestOf(calls.uploadSkill, { id: 'p', body: '# A' })).toMatchObject({
      path: '/api/projects/p/skills/upload',
      body: '# A',
      type: 'text/markdown',
    })
  })

  it('takes what its operation takes, and nothing else: the compiler refuses it', () => {
    const refused = () => {
      // @ts-expect-error a field of the path is missing
      requestOf(calls.pauseTrigger)
      // @ts-expect-error no such field
      requestOf(calls.pauseTrigger, { name: 'a', project: 'b' })
      // @ts-expect-error not of that type
      requestOf(calls.listRuns, { limit: '30' })
      // @ts-expect-error a body is missing
      requestOf(calls.createTrigger, {})
      // @ts-expect-error nothing is taken
      requestOf(calls.listTriggers, { limit: 1 })
      // @ts-expect-error an address is no call
      requestOf('GET /api/triggers')
    }
    expect(refused).toBeTypeOf('function')
  })
})

it('there is one for each operation, by its id and with its route', () => {
  const routes = calls as Readonly<Record<string, Call<unknown, never>>>
  const [missing, other] = [[] as string[], [] as string[]]
  for (const { id, route } of operations) {
    // Old addresses are for callers of before; the other only refuses.
    if (id.startsWith('legacy') || id === 'explainDiscover') continue
    if (routes[id] === undefined) missing.push(id)
    else if (routes[id].split(' ').slice(0, 2).join(' ') !== route) other.push(id)
  }
  expect({ missing, other }).toEqual({ missing: [], other: [] })
})
