import { describe, expect, it } from 'vitest'
import { type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

interface Checked {
  problems: Fields[]
  warnings: { code: string }[]
  plan: { updates: number; changes: { action: string; name: string; fields: Fields[] }[] }
  fingerprint: string
}

let svc: Instance
let reader: ReturnType<Instance['as']>
const file = (secret: string) =>
  `mcp_servers:\n  - { name: m, url: "https://m.example/", auth_value: "${secret}" }\n`

startBeforeEach(async () => {
  svc = await startInstance({ secured: true })
  const { secret } = await svc.post<{ secret: string }>('/api/keys', { name: 'ci', scopes: ['read'] })
  reader = svc.as(secret)
  await svc.post('/api/catalog/import', { yaml: file('CANARY-5519') })
  return svc
})

describe('a read key and the catalog', () => {
  it('checks, plans and exports without secrets, and applies and forgets nothing', async () => {
    const exported = await reader.call('GET', '/api/catalog/export')
    expect([exported.status, exported.text.includes('CANARY')]).toEqual([200, false])
    const updated = await reader.call('POST', '/api/catalog/export', { yaml: file('CANARY-5519') })
    expect([updated.status, updated.text]).toEqual([200, file('••••••••')])
    const yaml = 'sources:\n  - { name: a, connector: webhook }\n'
    const planned = await reader.post<Checked>('/api/catalog/check', { yaml })
    expect(planned).toMatchObject({ problems: [], plan: { creates: 1 } })
    for (const [method, path] of [
      ['POST', '/api/catalog/import'],
      ['DELETE', '/api/catalog/files/catalog'],
    ] as const)
      expect((await reader.refused(method, path, method === 'POST' ? { yaml } : undefined))[0]).toBe(403)
    // What it planned is what an admin applies.
    const done = await svc.post<Fields>('/api/catalog/import', { yaml, fingerprint: planned.fingerprint })
    expect(done).toMatchObject({ change_set: expect.any(Number) })
  })

  it('does not learn by a plan whether a secret is the one that is stored', async () => {
    const plans = []
    for (const guess of ['CANARY-5519', 'CANARY-0000']) {
      const { plan, warnings } = await reader.post<Checked>('/api/catalog/check', { yaml: file(guess) })
      expect(warnings.map(({ code }) => code)).toEqual(['plain_secret', 'secret_not_compared'])
      plans.push(plan)
    }
    expect(plans[0]).toEqual(plans[1])
    expect(plans[0]).toMatchObject({ updates: 1 })
    const known = await svc.post<Checked>('/api/catalog/check', { yaml: file('CANARY-5519') })
    expect(known.plan.updates).toBe(0)
  })

  it('of a project reads none of it', async () => {
    const { id } = await svc.post<{ id: string }>('/api/projects', { template: 'custom', name: 'Shop' })
    const key = await svc.post<{ secret: string }>(`/api/projects/${id}/keys`, { name: 'scout' })
    const scout = svc.as(key.secret)
    expect((await scout.refused('GET', '/api/catalog/export'))[0]).toBe(403)
    expect((await scout.refused('POST', '/api/catalog/check', { yaml: '' }))[0]).toBe(403)
  })
})
