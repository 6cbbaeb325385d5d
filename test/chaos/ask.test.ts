/**
 * The daemon is stopped, and killed, while a question waits for its model: the real, built daemon, and a scripted
 * server in place of the provider.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import type { AskSessionDetail } from '../../schemas/types.ts'
import { type ScriptedReply, startScriptedModels } from '../models/scripted-server.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { questionWaited } from './outage.ts'

const SESSION = '0123456789abcdef'
const LOOK_MS = 50
const AWAY: ScriptedReply = {
  status: 529,
  error: 'Overloaded',
  errorType: 'overloaded_error',
  headers: { 'retry-after': '600' },
}

const folder = mkdtempSync(join(tmpdir(), 'svc-ask-'))
afterAll(() => rmSync(folder, { recursive: true }))

const turnOf = async ({ url }: Daemon): Promise<AskSessionDetail['turns'][number]> => {
  const answer = await fetch(`${url}/api/ask/sessions/${SESSION}`)
  return ((await answer.json()) as AskSessionDetail).turns[0]!
}

/** The stream of an answer, read to its end or to the first frame of a type. */
async function readTo(response: Response, type: string | null): Promise<string> {
  expect(response.status).toBe(200)
  let text = ''
  try {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (type !== null && text.includes(`"type":"${type}"`)) return text
    }
  } catch (error) {
    // A daemon that was killed breaks it off.
    if (type !== null) throw error
  }
  return text
}

it('a question that waits goes on after a stop and after a kill, and its model is asked once more', async () => {
  const models = await startScriptedModels()
  models.reply('m1', [
    { calls: [{ name: 'catalog', id: 'c1', arguments: {} }] },
    AWAY,
    { text: 'The database was full.' },
  ])
  const env = { PROVIDERA_BASE_URL: models.url, PROVIDERA_API_KEY: 'scripted', SVC_AGENT_MODEL: 'm1' }
  let daemon = await startDaemon(folder, [], env)
  const asked = await fetch(`${daemon.url}/api/agent/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'What broke?' }], session: SESSION }),
  })
  const before = await readTo(asked, 'wait')
  const { id, parked } = await turnOf(daemon)
  expect(parked).toMatchObject({ reason: expect.stringContaining('Overloaded') })

  expect(await daemon.stop()).toBe(0)
  daemon = await startDaemon(folder, [], env)
  expect(await turnOf(daemon)).toMatchObject({ id, state: 'running', parked })
  const health = (await (await fetch(`${daemon.url}/health`)).json()) as object
  expect(health).toMatchObject({ status: 'degraded', parked_turns: { turns: 1, until: parked!.until } })
  expect(await (await fetch(`${daemon.url}/metrics`)).text()).toMatch(/^svc_ask_turns_parked 1$/m)

  await daemon.kill()
  questionWaited(folder, 600_000)
  daemon = await startDaemon(folder, [], env)
  // Whoever read it before is told it whole.
  const last = [...before.matchAll(/^id: (\d+)$/gm)].at(-1)![1]!
  const again = await fetch(`${daemon.url}/api/agent/chat/${id}`, { headers: { 'last-event-id': last } })
  const told = await readTo(again, 'done')
  expect([...told.matchAll(/"type":"(\w+)"/g)].map(([, type]) => type)[0]).toBe('start')
  while ((await turnOf(daemon)).state === 'running') await pause(LOOK_MS)
  expect(await turnOf(daemon)).toMatchObject({
    state: 'answered',
    answer: 'The database was full.',
    rounds: 2,
    parked: null,
  })
  expect(models.requests).toHaveLength(3)
  expect((await (await fetch(`${daemon.url}/health`)).json()) as object).not.toHaveProperty('parked_turns')
  await daemon.stop()
  await models.close()
})
