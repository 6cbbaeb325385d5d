/**
 * 15 A12: a built daemon on a small volume that really fills up. Ingest and every write of an operator answer
 * 507 and never 500, nothing that was acknowledged is lost, and writing goes on once there is room.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { backup } from '../../api/cli/commands/backup.ts'
import type { Io } from '../../api/cli/terminal.ts'
import { svc } from '../api/cli/cli-harness.ts'
import { eventually } from '../eventually.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { mountVolume, type Volume } from './volume.ts'

type Fields = Record<string, unknown>
interface Answer {
  status: number
  body: Fields
}

const MEGABYTES = 96
const mounted = mountVolume(MEGABYTES)
const volume = mounted as Volume

let daemon: Daemon
let key = ''
/** Events that were acknowledged and not purged since. */
let stored = 0

async function ask(method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await fetch(`${daemon.url}${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  return { status: answer.status, body: (await answer.json()) as Fields }
}

/** 50 events of some 4 KB. */
async function send(): Promise<Answer> {
  const text = 'x'.repeat(4_000)
  const answer = await ask(
    'POST',
    `/ingest/${key}`,
    Array.from({ length: 50 }, () => ({ service: 'pay', text })),
  )
  if (answer.status < 300) stored += 50
  return answer
}

async function makeSource(name: string): Promise<string> {
  const labels = [{ name: 'service', field: 'service', primary: true }]
  const { status, body } = await ask('POST', '/api/sources', {
    name,
    connector: 'webhook',
    config: { labels },
  })
  expect(status).toBe(201)
  return String(body.ingest_key)
}

/** The one form of an error, saying what the operator does about it. */
function expectFull({ status, body }: Answer): void {
  expect({ status, ...body }).toMatchObject({
    status: 507,
    detail: expect.stringMatching(/the volume (is full|has .* free)|storage is at .* %/),
  })
}

const health = async () => (await ask('GET', '/health')).body

describe.skipIf(typeof mounted === 'string')(
  `on a volume of ${MEGABYTES} MB${typeof mounted === 'string' ? ` (${mounted})` : ''}`,
  () => {
    beforeAll(async () => {
      daemon = await startDaemon(volume.folder)
      key = await makeSource('app')
      // Paused and resumed below: a pause that is done with the last byte must not refuse what `app` is sent.
      await makeSource('paused')
    })
    afterAll(async () => {
      await daemon.kill()
      volume.remove()
    })

    it('ingest is refused with 507 before the end of the room, and reads and /health go on', async () => {
      let answer = await send()
      while (answer.status < 300) answer = await send()
      expectFull(answer)
      expect(stored).toBeGreaterThan(2_000)
      expect(await health()).toMatchObject({ status: 'degraded', ingest_paused: true })
      expect((await ask('GET', '/api/usage')).body).toMatchObject({ ingest_paused: true, events: stored })
    })

    it('writes of an operator answer 507 or are done while there is no byte left, and never 500', async () => {
      volume.fill()
      const writes: [string, string, unknown?][] = [
        ['POST', '/api/sources', { name: 'more', connector: 'webhook' }],
        ['POST', '/api/triggers', { name: 'any', sources: ['app'], condition: { event: 'any' } }],
        ['POST', '/api/agents/builtin', { name: 'triage', prompt: 'Look at it. '.repeat(4_000) }],
        ['POST', '/api/mcp-servers', { name: 'desk', url: 'https://mcp.example/' }],
        ['POST', '/api/projects', { template: 'custom', name: 'Shop' }],
        ['POST', '/api/keys', { name: 'k', scopes: ['read'] }],
        ['PUT', '/api/settings/agents', { daily_cap: 7 }],
        ['PUT', '/api/settings/prices', { prices: [{ prefix: 'm', input: 1, output: 2 }] }],
        ['POST', '/api/catalog/import', { yaml: 'sources:\n  - name: other\n    connector: webhook\n' }],
        ['PUT', '/api/ask/sessions/0123456789abcdef', { title: 'Why' }],
        ['POST', '/api/sources/paused/pause'],
        ['POST', '/api/sources/paused/resume'],
      ]
      // The log has some room of its own, and more of it after each time it is copied into the file.
      let refused = 0
      for (let round = 0; round < 40 || (refused === 0 && round < 400); round++)
        for (const [i, [method, path, body]] of writes.entries()) {
          const named =
            body && typeof body === 'object' && 'name' in body ? { ...body, name: `n-${round}-${i}` } : body
          const answer = await ask(method, path, named)
          if (answer.status === 507) {
            refused++
            expectFull(answer)
          } else expect({ path, ...answer, status: answer.status < 500 }).toMatchObject({ status: true })
        }
      expect(refused).toBeGreaterThan(0)
      expectFull(await send())
      expect(await health()).toMatchObject({ status: 'degraded', ingest_paused: true })
      expect((await ask('POST', '/read', { selector: { service: 'pay' }, limit: 1 })).status).toBe(200)
    })

    it('a backup that has no room says so, and leaves nothing of itself', async () => {
      const io = { env: {}, out: () => {}, err: () => {}, isTerminal: false } as unknown as Io
      const target = join(volume.folder, 'copy.db')
      await expect(backup(io, target, { dataDir: volume.folder })).rejects.toMatchObject({
        message: expect.stringMatching(/^the volume of .*copy\.db is full; nothing was changed/),
        exitCode: 74,
      })
      expect(readdirSync(volume.folder).filter((name) => name.startsWith('copy'))).toEqual([])
    })

    it('a command that has no room leaves a catalog as it was, and nothing half written', async () => {
      const run = (...argv: string[]) => svc(argv, { env: { SVCD_URL: daemon.url } })
      const file = join(volume.folder, 'catalog.yaml')
      // Laid out it takes a page more.
      const text = `sources:\n${Array.from({ length: 225 }, (_, i) => `- {connector: webhook, name: s-${i}}\n`).join('')}`
      volume.free()
      writeFileSync(file, text)
      const before = () => readdirSync(volume.folder).filter((name) => name !== 'filler')
      const there = before()
      volume.fill()
      expect(await run('catalog', 'fmt', file)).toMatchObject({
        code: 74,
        err: expect.stringContaining(file),
      })
      expect(await run('catalog', 'export', file)).toMatchObject({ code: 74 })
      expect(readFileSync(file, 'utf8')).toBe(text)
      expect(await run('catalog', 'export', join(volume.folder, 'new.yaml'))).toMatchObject({ code: 74 })
      expect(await run('catalog', 'init', join(volume.folder, 'shop'))).toMatchObject({ code: 74 })
      expect(before()).toEqual(there)
      rmSync(file)
      volume.fill()
    })

    it('a daemon that stops and starts there loses nothing and says what is the matter', async () => {
      expect(await daemon.stop()).toBe(0)
      const refused = await startDaemon(volume.folder).then(
        (begun) => {
          daemon = begun
          return null
        },
        (error: Error) => error.message,
      )
      if (refused !== null) {
        expect(refused).toMatch(/the volume .* is full/)
        volume.free()
        daemon = await startDaemon(volume.folder)
      }
      expect((await ask('GET', '/api/usage')).body).toMatchObject({ events: stored })
    })

    it('writing goes on within seconds once there is room, also after a kill', async () => {
      volume.fill()
      expectFull(await ask('POST', '/api/keys', { name: 'k', scopes: ['read'] }))
      await daemon.kill()
      volume.free()
      daemon = await startDaemon(volume.folder)
      expect((await ask('GET', '/api/usage')).body).toMatchObject({ events: stored })
      await eventually(async () => {
        const { status } = await ask('POST', '/api/keys', { name: 'k', scopes: ['read'] })
        expect(status).toBe(201)
      })
    })

    it('a purge makes room for new events within seconds', async () => {
      let answer = await send()
      while (answer.status < 300) answer = await send()
      const { status } = await ask('DELETE', '/api/sources/app?cascade=true&purge_events=true')
      expect(status).toBe(200)
      stored = 0
      key = await makeSource('app')
      await eventually(async () => expect((await send()).status).toBe(202))
      // On so small a volume the log needs a third of the room, and is copied into the file every ten seconds at most.
      for (let i = 0; i < 40; i++) await eventually(async () => expect((await send()).status).toBe(202))
      await eventually(async () => expect(await health()).toMatchObject({ status: 'ok' }))
      expect((await ask('GET', '/api/usage')).body).toMatchObject({ events: stored })
      expect(await daemon.stop()).toBe(0)
      daemon = await startDaemon(volume.folder)
      expect((await ask('GET', '/api/usage')).body).toMatchObject({ events: stored })
    })
  },
)
