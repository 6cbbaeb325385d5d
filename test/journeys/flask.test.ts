/**
 * Issue 16: a Flask service's exception, sent by the OpenTelemetry SDK for Python (recorded bytes), is found by its
 * message with `svc read`, and an agent is told it before it asks. In the console: e2e/exporters.spec.ts.
 * The daemon and the command are the built ones; the model is scripted, since none answers here.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RECORDED_HEADERS, recordedExport } from '../api/otlp/recorded/recorded.ts'
import { type Daemon, startDaemon } from '../chaos/daemon.ts'
import { eventually } from '../eventually.ts'
import { type ScriptedModels, startScriptedModels } from '../models/scripted-server.ts'

const COMMAND = fileURLToPath(new URL('../../bin/svc.mjs', import.meta.url))
const MESSAGE = 'card declined: insufficient funds (customer 42)'

let models: ScriptedModels
let daemon: Daemon
let folder: string

async function call(method: string, path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(daemon.url + path, { method, headers, body: JSON.stringify(body) })
  expect(answer.ok, await answer.text()).toBe(true)
}

/** Runs the command. @returns what it prints */
async function svc(...args: string[]): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', HOME: folder, SVCD_URL: daemon.url }
  return (await promisify(execFile)(process.execPath, [COMMAND, ...args], { env })).stdout
}

beforeAll(async () => {
  models = await startScriptedModels()
  models.reply('scripted', () => ({ text: 'Cards are declined.' }))
  folder = mkdtempSync(join(tmpdir(), 'svc-flask-'))
  daemon = await startDaemon(join(folder, 'data'), [], {
    PROVIDERA_BASE_URL: models.url,
    PROVIDERA_API_KEY: 'scripted',
    SVC_AGENT_MODEL: 'scripted',
  })
  await call('POST', '/api/sources', { name: 'telemetry', connector: 'otlp' })
  await call('POST', '/api/triggers', {
    name: 'errors',
    sources: ['telemetry'],
    filters: [{ field: 'event_type', op: 'eq', value: 'ERROR' }],
    condition: { event: 'any' },
    cooldown: '1h',
  })
  await call('POST', '/api/agents/builtin', {
    name: 'first-look',
    prompt: 'Look at what happened.',
    trigger: 'errors',
  })
  await call('POST', '/api/agents/builtin/first-look/enable', {})
  const now = Date.now()
  for (const signal of ['traces', 'logs'] as const) {
    const body = new Uint8Array(recordedExport('flask', signal, now))
    const answer = await fetch(`${daemon.url}/v1/${signal}`, {
      method: 'POST',
      headers: RECORDED_HEADERS,
      body,
    })
    expect([answer.status, (await answer.arrayBuffer()).byteLength]).toEqual([200, 0])
  }
})

afterAll(async () => {
  await daemon?.stop()
  await models?.close()
  rmSync(folder, { recursive: true, force: true })
})

describe("a Flask service's exception", () => {
  it('is found by its message with svc read, with its type, its place and the request', async () => {
    const lines = (await svc('read', 'service=shop', '--text', 'insufficient funds')).split('\n')
    const log = lines.find((line) => line.includes('Exception on /pay/42 [POST]'))
    expect(log).toContain(`CardDeclined: ${MESSAGE}`)
    expect(log).toContain('/srv/shop/record.py')
    const span = lines.find((line) => line.includes('POST /pay/<int:cid>'))
    expect(span).toContain(MESSAGE)
    expect(span).toContain('500')
    // What the service said besides is not what was searched for.
    expect(lines.join('\n')).not.toContain('charging customer')
    expect(await svc('read', 'service=shop')).toContain('INFO: charging customer 42')
  })

  it('is in the first message of the agent that it woke, beside the span of its trace', async () => {
    await eventually(() => expect(models.requests.some(({ model }) => model === 'scripted')).toBe(true))
    const { messages } = models.requests.find(({ model }) => model === 'scripted')!.body as {
      messages: { role: string; content: unknown }[]
    }
    expect(messages.map(({ role }) => role)).toEqual(['user'])
    const first = JSON.stringify(messages[0]!.content)
    expect(first).toContain('The trigger errors fired for service=shop')
    expect(first).toContain(`CardDeclined: ${MESSAGE}`)
    expect(first).toMatch(/trace_id=[0-9a-f]{32}/)
    expect(first).toContain('POST /pay/<int:cid>')
  })
})
