import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { buildServer } from '../../../api/http/server.ts'
import { createEngine } from '../../../engine/local.ts'
import { ROOT, T0 } from './door.ts'

/** A secured server over a data file, as after a start of the daemon. */
async function start(dataFile: string, at: number) {
  const clock = { now: () => at }
  const engine = createEngine({ dataFile, clock })
  const config = {
    host: '127.0.0.1',
    port: 8787,
    rootToken: ROOT,
    publicUrl: null,
    allowedHosts: [],
    version: '1.0.0',
    hostedUrls: {},
    consoleDir: null,
  }
  const app = await buildServer({ engine, clock, log: pino({ level: 'silent' }), config })
  const call = async (method: 'GET' | 'POST' | 'DELETE', url: string, cookie = '', payload?: object) =>
    app.inject({ method, url, headers: { host: '127.0.0.1:8787', cookie }, ...(payload ? { payload } : {}) })
  return { call, stop: () => app.close().then(() => engine.close()) }
}

const DAY = 86_400_000

it('keeps the console logged in over a restart, until it logs out or is idle for 30 days', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-')), 'svc.db')
  const first = await start(file, T0)
  const login = async (server: typeof first) =>
    String((await server.call('POST', '/api/session', '', { token: ROOT })).headers['set-cookie']).split(
      ';',
    )[0]!
  const [kept, left] = [await login(first), await login(first)]
  await first.call('DELETE', '/api/session', left)
  await first.stop()

  const second = await start(file, T0 + 29 * DAY)
  expect((await second.call('GET', '/api/sources', kept)).statusCode).toBe(200)
  expect((await second.call('GET', '/api/sources', left)).statusCode).toBe(401)
  await second.stop()

  const third = await start(file, T0 + 58 * DAY)
  expect((await third.call('GET', '/api/sources', kept)).statusCode).toBe(200)
  await third.stop()

  const last = await start(file, T0 + 89 * DAY)
  expect((await last.call('GET', '/api/sources', kept)).statusCode).toBe(401)
  await last.stop()
})
