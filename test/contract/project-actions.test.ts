/** Actions of templates that run an agent: bootstrap and summarize (SPEC.md, Projects: actions). */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

let svc: Instance
startBeforeEach(async () => {
  svc = await startInstance()
  await svc.post('/api/integrations/github', { name: 'main', token: 'ghp-for-tests' })
  return svc
})

/** Template, its parameters, the action, its argument, and what is looked at. */
const ACTIONS: [string, Fields, string, string, string][] = [
  [
    'shared_code_context',
    { credential: 'main', source_repos: [{ repo: 'acme/shop' }], context_repo: 'acme/context' },
    'bootstrap',
    'repo',
    'acme/shop',
  ],
  ['challenger_workflow', {}, 'summarize', 'session', 'ses_1'],
]

describe.each(ACTIONS)('D: of %s, %j, the action %s', (template, params, action, argument, entity) => {
  interface Project {
    id: string
    objects: { kind: string; name: string }[]
  }
  const make = async () => {
    const project = await svc.post<Project>('/api/projects', { template, name: 'P', params })
    const agent = project.objects.find(({ kind }) => kind === 'agent')!.name
    return { id: project.id, agent, path: `/api/projects/${project.id}/actions/${action}` }
  }

  it('runs its agent once on what is named, in the project, and says which run that is', async () => {
    const { id, agent, path } = await make()
    const { templates } = await svc.get<{ templates: { key: string; actions: { name: string }[] }[] }>(
      '/api/projects/templates',
    )
    expect(templates.find(({ key }) => key === template)!.actions.map(({ name }) => name)).toContain(action)
    const said = await svc.post<{ run_id: string }>(path, { [argument]: entity })
    expect(said).toEqual({
      ok: true,
      action,
      message: `${agent} looks at ${entity}`,
      run_id: expect.stringMatching(/^run_/),
    })
    expect(await svc.get(`/api/runs/${said.run_id}`)).toMatchObject({
      agent,
      key: entity,
      status: 'queued',
      practice: false,
      projects: [id],
      dispatch_id: null,
    })
    expect((await svc.get<{ total: number }>('/api/runs')).total).toBe(1)
  })

  it('refuses what is missing, misspelt or empty, a project that is paused, and an agent that is gone', async () => {
    const { id, agent, path } = await make()
    for (const body of [{}, { [argument]: '' }, { [argument]: entity, more: 1 }]) {
      const [status, sentence] = await svc.refused('POST', path, body)
      expect([status, sentence]).toEqual([400, expect.stringMatching(new RegExp(`${argument}|more`))])
    }
    await svc.post(`/api/projects/${id}/pause`)
    expect((await svc.refused('POST', path, { [argument]: entity }))[0]).toBe(409)
    await svc.post(`/api/projects/${id}/resume`)
    await svc.del(`/api/agents/builtin/${agent}`)
    expect(await svc.refused('POST', path, { [argument]: entity })).toEqual([
      409,
      `action ${action}: agent ${agent} is not there; repair it first`,
    ])
    expect((await svc.get<{ total: number }>('/api/runs')).total).toBe(0)
  })
})

describe('An action that calls another system', () => {
  it('cannot lead to where clouds hand out credentials', async () => {
    const inside = await svc.post<{ id: string }>('/api/projects', {
      template: 'ai_sre_demo',
      name: 'inside',
      params: { prometheus_url: 'http://127.0.0.1:9', api_server_url: 'http://169.254.169.254' },
    })
    expect(await svc.refused('POST', `/api/projects/${inside.id}/actions/clear`)).toEqual([
      502,
      '169.254.169.254 cannot be reached: target address is not allowed',
    ])
  })
})

describe('A13: the log of a project', () => {
  it('has the actions that ask another system, those that failed too, and those that run an agent', async () => {
    const asked: unknown[] = []
    const shop = createServer(async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      asked.push([request.url, JSON.parse(Buffer.concat(parts).toString())])
      response.writeHead(asked.length === 1 ? 200 : 503).end()
    })
    shop.listen(0, '127.0.0.1')
    await once(shop, 'listening')
    const host = `127.0.0.1:${(shop.address() as AddressInfo).port}`
    const made = (template: string, params: Fields) =>
      svc.post<{ id: string }>('/api/projects', { template, name: template, params })
    const demo = await made('ai_sre_demo', {
      prometheus_url: 'http://127.0.0.1:9',
      api_server_url: `http://${host}`,
    })
    await svc.post(`/api/projects/${demo.id}/actions/inject`, { scenario: 'latency' })
    expect(await svc.refused('POST', `/api/projects/${demo.id}/actions/clear`)).toEqual([
      502,
      `action clear: ${host} answered 503`,
    ])
    await new Promise((resolve) => shop.close(resolve))
    expect(asked).toEqual([
      ['/demo/inject', { scenario: 'latency' }],
      ['/demo/inject', { scenario: 'clear' }],
    ])
    const sessions = await made('challenger_workflow', {})
    await svc.post(`/api/projects/${sessions.id}/actions/summarize`, { session: 'ses_1' })
    const logged = async (id: string) =>
      (await svc.get<{ log: { detail: string }[] }>(`/api/projects/${id}/summary`)).log
        .map(({ detail }) => detail)
        .filter((detail) => detail.includes('action '))
    expect(await logged(demo.id)).toEqual([
      expect.stringContaining(`action clear failed: ${host} answered 503`),
      expect.stringContaining(`action inject (scenario: latency): ${host} answered 200`),
    ])
    expect(await logged(sessions.id)).toEqual([
      expect.stringMatching(/action summarize \(session: ses_1\): .+ looks at ses_1/),
    ])
  })
})
