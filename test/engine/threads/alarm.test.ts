/** What is due by the clock alone, on a daemon with a thread for each role. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startDaemon } from '../../chaos/daemon.ts'

it('a trigger on a schedule fires once it is made, though nothing else is written', {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-alarm-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const daemon = await startDaemon(join(folder, 'data'))
  onTestFinished(() => daemon.kill())
  const post = async (path: string, body: object): Promise<number> => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(daemon.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).status
  }
  expect(await post('/api/sources', { name: 'app', connector: 'webhook', config: {} })).toBe(201)
  const trigger = { name: 'hourly', sources: ['app'], condition: { every: '1h' } }
  expect(await post('/api/triggers', trigger)).toBe(201)
  const firings = async () =>
    (await (await fetch(`${daemon.url}/api/firings`)).json()) as { firings: unknown[] }
  await expect.poll(async () => (await firings()).firings.length).toBe(1)
  expect(await daemon.stop()).toBe(0)
})
