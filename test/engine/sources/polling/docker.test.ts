/** Logs of containers through the whole way in, before a server that speaks Docker's API. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { stampOf } from '../../../../engine/sources/upstreams/docker.ts'
import { composed, idOf, type LoggedLine, serveEngine } from '../docker/engine-server.ts'
import { ME, setup } from './setup.ts'

describe('a source of container logs', () => {
  it('stores each line once, as events of its service, poll after poll', async () => {
    const log: LoggedLine[] = []
    const docker = await serveEngine([
      { id: idOf(1), name: 'shop-api-1', labels: composed('shop', 'api'), log },
    ])
    onTestFinished(() => docker.close())
    const { engine, time, until, asleep, texts, settled } = setup({ env: docker.env })
    const say = (text: string) => log.push({ at: stampOf(time.now()), text })
    say('ERROR no stock')
    const labels = [
      { name: 'service', field: 'service', primary: true },
      { name: 'level', field: 'level' },
    ]
    await engine.createSource(
      { name: 'api_logs', connector: 'docker_logs', config: { container: 'api', labels } },
      ME,
      false,
    )
    await until(1)
    const wait = await asleep()
    expect(wait).toBe(5_000)
    say('{"level":"info","msg":"paid"}')
    time.advance(wait)
    await until(2)
    expect(await texts('api_logs')).toEqual(['ERROR no stock', 'paid'])
    expect(settled.every((made) => !('error' in made))).toBe(true)
    const [newest] = await engine.sourceEvents('api_logs', 1)
    expect(newest).toMatchObject({
      event_type: 'log',
      labels: { service: 'api', level: 'info' },
    })
  })
})
