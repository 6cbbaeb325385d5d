import { afterEach, describe, expect, it } from 'vitest'
import { composed, type EngineServer, idOf, serveEngine } from '../engine/sources/docker/engine-server.ts'
import { type Instance, startInstance } from './instance.ts'

let docker: EngineServer
let svc: Instance
afterEach(() => Promise.all([svc?.stop(), docker?.close()]))

const SCAN = '/api/discover/environment?provider=docker'
const start = async (env?: Record<string, string>, secured = false) => {
  docker = await serveEngine([
    { id: idOf(1), name: 'shop-api-1', labels: composed('shop', 'api'), log: [] },
    { id: idOf(2), name: 'job', running: false, log: [] },
    { id: idOf(3), name: 'quiet', driver: 'none', log: [] },
  ])
  svc = await startInstance({ env: env ?? docker.env, secured })
}

describe('GET /api/discover/environment', () => {
  it('proposes sources that can be made as they are, and leaves those out that are', async () => {
    await start()
    const scan = await svc.get<{ proposed_sources: { name: string; connector: string; config: object }[] }>(
      SCAN,
    )
    expect(scan).toMatchObject({
      provider: 'docker',
      summary: { containers: 3, proposed: 1 },
      skipped: [{ service: 'job' }, { service: 'quiet' }],
    })
    const { name, connector, config } = scan.proposed_sources[0]!
    await svc.post('/api/sources', { name, connector, config })
    expect(await svc.get(SCAN)).toMatchObject({
      proposed_sources: [],
      skipped: expect.arrayContaining([
        expect.objectContaining({ service: 'api', reason: 'source api_logs reads it already' }),
      ]),
    })
  })

  it('answers 404 for another provider, and 400 with what to do where there is no engine', async () => {
    await start({ DOCKER_HOST: 'unix:///nowhere/docker.sock' })
    expect(await svc.call('GET', '/api/discover/environment?provider=podman')).toMatchObject({
      status: 404,
      body: { detail: 'provider podman is not known; there is docker' },
    })
    expect(await svc.call('GET', SCAN)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('there is no Docker socket at /nowhere/docker.sock') },
    })
  })
})

describe('GET /api/capabilities', () => {
  it('says whether a Docker engine answers, and looks again after half a minute', async () => {
    await start()
    const there = async () =>
      (await svc.get<{ discover_docker: boolean }>('/api/capabilities')).discover_docker
    // A busy machine may take longer than whoever asks first waits.
    await expect.poll(there).toBe(true)
    await docker.close()
    expect(await there()).toBe(true)
    svc.clock.at += 30_000
    expect(await there()).toBe(false)
  })

  it('says that there is a Docker engine once one that took longer has answered', async () => {
    let answer = () => {}
    const ready = new Promise<void>((resolve) => {
      answer = resolve
    })
    docker = await serveEngine([], { ready })
    svc = await startInstance({ env: docker.env })
    const there = async () =>
      (await svc.get<{ discover_docker: boolean }>('/api/capabilities')).discover_docker
    expect(await there()).toBe(false)
    answer()
    await expect.poll(there).toBe(true)
    expect(docker.asked).toEqual(['/_ping'])
  })
})
