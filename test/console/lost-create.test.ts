import { afterEach, describe, expect, it } from 'vitest'
import { Creates } from '../../console/lib/creates.ts'
import { isRepeatable, operations } from '../../engine/operations/index.ts'
import { type Fields, type Instance, startInstance } from '../contract/instance.ts'

let svc: Instance
afterEach(() => svc?.stop())

/** Sends as the console does. @param isLost its answer does not arrive */
function page() {
  const creates = new Creates()
  return async (method: string, path: string, body?: Fields, isLost = false) => {
    const text = body && JSON.stringify(body)
    const answer = await svc.call<Fields>(method, path, body, creates.headerOf(method, path, text))
    if (!isLost) creates.answered(method, path, text, answer.status)
    return answer
  }
}

describe('a create that got no answer', () => {
  it('is done once when it is sent again as it was, and answered as the first, with the key shown once', async () => {
    svc = await startInstance({ secured: true })
    const send = page()
    const source = { name: 'orders', connector: 'webhook', config: {} }
    const first = await send('POST', '/api/sources', source, true)
    await send('POST', '/api/sources', source, true)
    const again = await send('POST', '/api/sources', source)
    expect([again.status, again.body]).toEqual([201, first.body])
    expect(again.body).toMatchObject({ key: { secret: expect.any(String) } })
    // Once it is answered, the same again is another.
    expect((await send('POST', '/api/sources', source)).status).toBe(409)
  })

  it('is another one where it was changed, or something was deleted since', async () => {
    svc = await startInstance()
    const send = page()
    const agent = { name: 'triage', prompt: 'Look.' }
    const path = '/api/agents/builtin'
    await send('POST', path, agent, true)
    expect((await send('POST', path, { ...agent, prompt: 'Look well.' })).status).toBe(409)
    await send('DELETE', `${path}/triage`)
    expect((await send('POST', path, agent)).status).toBe(201)
    expect((await svc.get<Fields>(`${path}/triage`)).name).toBe('triage')
  })

  it('is answered as the first where an edited draft was applied: its own change is nobody else’s', async () => {
    svc = await startInstance()
    const send = page()
    const spec = { connector: 'webhook', config: { text_template: '{msg}' } }
    const body = {
      operations: [{ op: 'put', kind: 'source', name: 'orders', spec }],
      why: 'Edited on the graph',
    }
    const first = await send('POST', '/api/change-sets', body, true)
    expect(first.status).toBe(200)
    expect((await send('POST', '/api/change-sets', body)).body).toEqual(first.body)
  })

  it('is of a call that takes the key: credentials, that are tried over the network, take none', () => {
    const given = operations.flatMap((operation) => {
      const [method, path] = operation.route.split(' ') as [string, string]
      const header = new Creates().headerOf(method, path.replaceAll(/\{\w+\}/g, 'x'), '{}')
      return 'idempotency-key' in header ? [{ route: operation.route, takesIt: isRepeatable(operation) }] : []
    })
    expect(given.filter(({ takesIt }) => !takesIt)).toEqual([])
    expect(given.map(({ route }) => route).sort()).toEqual([
      'POST /api/agents/builtin',
      'POST /api/change-sets',
      'POST /api/entities/joined',
      'POST /api/keys',
      'POST /api/mcp-servers',
      'POST /api/projects',
      'POST /api/projects/{id}/keys',
      'POST /api/projects/{id}/skills',
      'POST /api/setup/apply',
      'POST /api/sources',
      'POST /api/triggers',
    ])
  })
})
