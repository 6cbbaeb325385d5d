/** What is kept of keys that are watched for silence. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { MINUTE, openWorld } from './trigger-world.ts'

it('a key that fell silent is kept no longer, is heard again, and does not fire for the same silence', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-silence-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const dataFile = join(folder, 'svc.db')
  const watched = () => {
    const db = new Database(dataFile, { readonly: true })
    const keys = db.prepare('SELECT key FROM watched_keys ORDER BY key').pluck().all()
    db.close()
    return keys
  }
  const before = await openWorld({ dataFile })
  await before.trigger({ condition: { absent_for: '10m' }, cooldown: '1s' })
  await before.post([{ service: 'gone' }, { service: 'flaky' }])
  before.pass(11 * MINUTE)
  expect(watched()).toEqual([])
  await before.post({ service: 'flaky' })
  expect(watched()).toEqual(['flaky'])
  await before.engine.close()
  const { engine, pass, firings } = await openWorld({ dataFile, clock: before.clock })
  pass(11 * MINUTE)
  expect((await firings()).map(({ key }) => key).sort()).toEqual(['flaky', 'flaky', 'gone'])
  expect(watched()).toEqual([])
  await engine.close()
})
