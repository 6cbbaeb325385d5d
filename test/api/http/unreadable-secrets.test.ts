/** What Settings shows after a restore without secret.key. */
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
