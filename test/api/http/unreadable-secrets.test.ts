/** What Settings and reads show after a restore without secret.key. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { openDoor, ROOT } from './door.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-health-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('GET /health lists the secrets that secret.key does not open, to whoever has a credential', async () => {
  const dataFile = join(folder, 'svc.db')
  const before = await openDoor({ secured: true, dataFile })
  await before.source('orders', { signature_scheme: 'github', signature_secret: 'hunter2' })
  expect((await before.call('GET', '/health', undefined, before.as(ROOT))).json()).toMatchObject({
    status: 'ok',
  })
  await before.close()
  rmSync(join(folder, 'secret.key'))

  const door = await openDoor({ secured: true, dataFile })
  try {
    const told = (await door.call('GET', '/health', undefined, door.as(ROOT))).json()
    expect(told).toMatchObject({
      status: 'degraded',
      unreadable_secrets: ['signature_secret of source orders'],
    })
    expect((await door.call('GET', '/health')).text).not.toContain('orders')
  } finally {
    await door.close()
  }
})

it('a read says since when a source refused everything for want of its secret, and until when', async () => {
  const dataFile = join(folder, 'gaps.db')
  const before = await openDoor({ dataFile })
  const config = { signature_scheme: 'gitlab', signature_secret: 'hunter2' }
  const { url } = await before.source('orders', config)
  await before.close()
  rmSync(join(folder, 'secret.key'))

  const door = await openDoor({ dataFile })
  const send = async () =>
    (await door.call('POST', url, { order: 'o-1' }, { 'x-gitlab-token': 'hunter2' })).status
  const gaps = async () => {
    const { gaps: found } = (await door.call('POST', '/read', { sources: ['orders'] })).json()
    return found
  }
  try {
    door.clock.at += 60_000
    const from = new Date(door.clock.at).toISOString()
    for (let i = 0; i < 3; i++) {
      expect(await send()).toBe(401)
      door.clock.at += 1_000
    }
    const why = 'secret_missing'
    expect(await gaps()).toEqual([{ source: 'orders', why, from, to: null }])
    const whole = { name: 'orders', connector: 'webhook', config }
    expect((await door.call('PUT', '/api/sources/orders', whole)).status).toBe(200)
    const to = new Date(door.clock.at).toISOString()
    expect(await send()).toBe(202)
    expect(await gaps()).toEqual([{ source: 'orders', why, from, to }])
  } finally {
    await door.close()
  }
})
