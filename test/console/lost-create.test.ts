import { afterEach, describe, expect, it } from 'vitest'
import { Creates } from '../../console/lib/creates.ts'
import { type Fields, type Instance, startInstance } from '../contract/instance.ts'

let svc: Instance
afterEach(() => svc.stop())

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

  it('may be any of them: each takes the key, and what is no create gets none', async () => {
    svc = await startInstance()
    const send = page()
    const { id } = await svc.post<{ id: string }>('/api/projects', { template: 'custom', name: 'Shop' })
    const paths = ['sources', 'triggers', 'agents/builtin', 'mcp-servers', 'entities/joined', 'keys']
    for (const path of [
      ...paths,
      'integrations/github',
      'projects',
      `projects/${id}/skills`,
      `projects/${id}/keys`,
    ]) {
      expect(new Creates().headerOf('POST', `/api/${path}`, '{}')).toHaveProperty('idempotency-key')
      expect(JSON.stringify((await send('POST', `/api/${path}`, {})).body), path).not.toContain(
        'Idempotency-Key',
      )
    }
    expect(new Creates().headerOf('POST', '/api/sources/test', '{}')).toEqual({})
  })
})
