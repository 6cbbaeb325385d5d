import { describe, expect, it } from 'vitest'
import { say } from '../../net/egress/receiver.ts'
import { receiver } from '../../net/egress/setup.ts'
import { setup } from './setup.ts'

const CONFIG = {
  payload_key: 'items',
  id_field: 'id',
  labels: [{ name: 'host', field: 'meta.host', primary: true }],
}

describe('a source that is polled is seen elsewhere', () => {
  it('in its fields and label previews, as its labels look them up', async () => {
    const api = await receiver(say(200, {}, '{"items":[{"id":1,"meta":{"host":"a"}},{"id":2,"meta":{}}]}'))
    const { create, engine, until } = setup()
    await create('api', { ...CONFIG, url: api.url })
    await until(1)
    const { fields } = await engine.sourceFields('api', 100)
    expect(fields.find(({ name }) => name === 'meta.host')).toMatchObject({ is_key: true, coverage: 0.5 })
    expect(
      await engine.previewLabel({ source: 'api', label: { name: 'h', field: 'meta.host' } }),
    ).toMatchObject({ sampled: 2, matched: 1 })
  })

  it('in its project: it waits, receives, or wants attention with why', async () => {
    const world = { answer: say(200, {}, '{"items":[]}') }
    const api = await receiver((received, response) => world.answer(received, response))
    const { create, update, engine, until } = setup()
    await create('api', { ...CONFIG, url: api.url })
    const state = async () => {
      const [watched] = (await engine.projectOutline('Default')).watches
      const node = (await engine.projectGraph('Default')).nodes.find(({ name }) => name === 'api')
      return [watched!.state, watched!.detail, node!.health]
    }
    await until(1)
    expect(await state()).toEqual(['waiting', null, 'waiting'])
    world.answer = say(200, {}, '{"items":[{"id":1}]}')
    await update('api', { ...CONFIG, url: api.url, event_type: 'x' })
    await until(2)
    expect(await state()).toEqual(['receiving', null, 'ok'])
    world.answer = say(500)
    await update('api', { ...CONFIG, url: api.url, event_type: 'y' })
    await until(3)
    expect(await state()).toEqual(['error', 'the API failed (500)', 'attention'])
  })

  it('in no ingest URL: a body for an empty key finds nothing', async () => {
    const { create, engine } = setup()
    await create('api', { ...CONFIG, url: 'http://127.0.0.1:9/' })
    const call = { ingestKey: '', body: Buffer.from('{}'), bypassCooldown: false, caller: 'open' }
    await expect(engine.ingest(call)).rejects.toMatchObject({ code: 'not_found' })
    expect((await engine.directory()).routes).toEqual([])
    expect(engine.sourceSpec('')).toBeNull()
  })

  it('in the catalog file, without the interval its connector suggests', async () => {
    const { create, engine } = setup()
    await create('api', { ...CONFIG, url: 'http://127.0.0.1:9/' }, '1m')
    await create('often', { ...CONFIG, url: 'http://127.0.0.1:9/' }, '30s')
    const file = await engine.exportCatalog()
    expect(JSON.stringify(file)).toContain('often')
    expect(JSON.stringify(file)).not.toContain('1m')
  })
})
