/** Ask over HTTP: frames with ids, taken up where they broke off, stopped, and asked by who may. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadModels } from '../../api/config-models.ts'
import { check } from '../../schemas/index.ts'
import type { AskFrame, AskSessionDetail } from '../../schemas/types.ts'
import { scripted } from '../models/setup.ts'
import { ROOT, startHere } from './instance.ts'

const SESSION = 'fedcba9876543210'
const say = (content: string, more: object = {}) => ({ messages: [{ role: 'user', content }], ...more })

async function open({ provider = true } = {}) {
  const server = await scripted()
  const env = { PROVIDERA_API_KEY: 'k', PROVIDERA_BASE_URL: server.url, SVC_AGENT_MODEL: 'm1' }
  const svc = await startHere({ secured: true, models: loadModels(provider ? env : {}) })
  onTestFinished(() => svc.stop())
  const send = (token: string, method: string, path: string, body?: object, headers = {}) =>
    fetch(svc.url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  const key = async (body: object) => (await svc.post<{ secret: string }>('/api/keys', body)).secret
  return { svc, server, send, key }
}

/** Frames of a stream with their ids; each holds its schema. */
function framesIn(text: string): { id: number; frame: AskFrame }[] {
  return text
    .split('\n\n')
    .filter((part) => part.startsWith('id: '))
    .map((part) => {
      const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(part)!
      const frame = JSON.parse(data!) as AskFrame
      expect(check('ask-frame.json', frame)).toBeNull()
      return { id: Number(id), frame }
    })
}

describe('POST /api/agent/chat', () => {
  it('answers a reader with a stream of numbered frames, and keeps the conversation for that key', async () => {
    const { svc, server, send, key } = await open()
    server.reply('m1', [{ calls: [{ name: 'list_sources', arguments: {} }] }, { text: 'There is none.' }])
    const reader = await key({ name: 'r', scopes: ['read'] })
    const answer = await send(reader, 'POST', '/api/agent/chat', say('What is here?', { session: SESSION }))
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const frames = framesIn(await answer.text())
    expect(frames.map(({ id }) => id)).toEqual(frames.map((_, i) => i + 1))
    expect(frames.map(({ frame }) => frame.type)).toEqual(
      expect.arrayContaining(['start', 'tool', 'tool_done', 'text', 'done']),
    )
    const { turns } = await svc.as(reader).get<AskSessionDetail>(`/api/ask/sessions/${SESSION}`)
    expect(turns).toMatchObject([{ question: 'What is here?', answer: 'There is none.', state: 'answered' }])
    const another = await key({ name: 'other', scopes: ['read', 'admin'] })
    expect(await svc.as(another).refused('GET', `/api/ask/sessions/${SESSION}`)).toEqual([
      404,
      expect.stringContaining('no conversation'),
    ])
    const again = await send(reader, 'GET', `/api/agent/chat/${turns[0]!.id}`, undefined, {
      'last-event-id': '2',
    })
    expect(framesIn(await again.text())[0]!.frame).toMatchObject({ type: 'start' })
    const stolen = await send(another, 'GET', `/api/agent/chat/${turns[0]!.id}`)
    expect(stolen.status).toBe(404)
  })

  it('is asked by scope read; build needs admin, and a key of a project asks nothing', async () => {
    const { svc, server, send, key } = await open()
    server.reply('m1', () => ({ text: 'ok' }))
    const { id } = await svc.post<{ id: string }>('/api/projects', {
      template: 'custom',
      name: 'P',
      objects: [],
    })
    const reader = await key({ name: 'r', scopes: ['read'] })
    const writer = await key({ name: 'i', scopes: ['ingest'] })
    const own = (
      await svc.post<{ secret: string }>(`/api/projects/${id}/keys`, { name: 'p', scopes: ['read'] })
    ).secret
    const build = { mode: 'build', step: 'watch' }
    const status = async (token: string, more: object) => {
      const answer = await send(token, 'POST', '/api/agent/chat', say('hello', more))
      const text = await answer.text()
      return answer.status === 200 ? 200 : [answer.status, (JSON.parse(text) as { detail: string }).detail]
    }
    expect(await status(reader, {})).toBe(200)
    expect(await status(reader, build)).toEqual([403, "this credential lacks the 'admin' scope"])
    expect(await status(writer, {})).toEqual([403, "this credential lacks the 'read' scope"])
    expect(await status(own, {})).toEqual([403, expect.stringContaining('only reads project P')])
    expect(await status(ROOT, build)).toBe(200)
  })

  it('without a provider is a 400 that says what to set; so is a body that breaks a rule', async () => {
    const { svc } = await open({ provider: false })
    const refused = (body: unknown) => svc.refused('POST', '/api/agent/chat', body)
    expect(await refused(say('hello'))).toEqual([400, expect.stringContaining('PROVIDERA_API_KEY')])
    expect(await refused({ messages: [] })).toEqual([400, expect.stringContaining('messages')])
    expect(await refused(say('hello', { step: 'all' }))).toEqual([400, expect.stringContaining('step')])
  })

  it('goes on for a reader whose connection broke, and is stopped by a call', async () => {
    const { server, send } = await open()
    let go = () => {}
    const pauseUntil = new Promise<void>((resolve) => {
      go = resolve
    })
    server.reply('m1', [
      { text: 'one two', pauseUntil },
      { text: 'three four', pauseUntil: new Promise(() => {}) },
    ])
    const cut = new AbortController()
    const first = await fetchUntilText(send, say('count'), cut)
    cut.abort()
    const rest = send(ROOT, 'GET', `/api/agent/chat/${first.turn}`, undefined, {
      'last-event-id': String(first.last),
    })
    const resumed = await rest
    go()
    const frames = framesIn(await resumed.text())
    expect(frames[0]!.id).toBe(first.last + 1)
    expect(frames.at(-1)!.frame).toMatchObject({ type: 'done', state: 'answered' })

    const second = await fetchUntilText(send, say('count on'), new AbortController())
    const stopped = await send(ROOT, 'POST', `/api/agent/chat/${second.turn}/cancel`)
    expect(await stopped.json()).toEqual({ ok: true, turn: second.turn })
    expect((await second.rest()).at(-1)!.frame).toMatchObject({ type: 'done', state: 'cancelled' })
    expect((await send(ROOT, 'POST', `/api/agent/chat/${second.turn}/cancel`)).status).toBe(409)
  })
})

/** Asks, and reads until the first text. */
async function fetchUntilText(
  send: Awaited<ReturnType<typeof open>>['send'],
  body: object,
  cut: AbortController,
  token = ROOT,
) {
  const answer = await send(token, 'POST', '/api/agent/chat', body)
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  cut.signal.addEventListener('abort', () => void reader.cancel())
  let text = ''
  while (!text.includes('"type":"text"')) text += (await reader.read()).value ?? ''
  const frames = framesIn(text)
  const frame = frames[0]!.frame as Extract<AskFrame, { type: 'start' }>
  return {
    turn: frame.turn,
    last: frames.at(-1)!.id,
    rest: async () => {
      for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
      return framesIn(text)
    },
  }
}

it('a key that is revoked hears no more, and its question is stopped', async () => {
  const { svc, server, send } = await open()
  server.reply('m1', [{ text: 'one two', pauseUntil: new Promise(() => {}) }])
  const { id, secret } = await svc.post<{ id: string; secret: string }>('/api/keys', {
    name: 'r',
    scopes: ['read'],
  })
  const { turn, rest } = await fetchUntilText(send, say('count'), new AbortController(), secret)
  await svc.del(`/api/keys/${id}`)
  expect((await rest()).map(({ frame }) => frame.type)).not.toContain('done')
  for (let state = 'running'; state !== 'cancelled'; ) {
    await new Promise((resolve) => setImmediate(resolve))
    state = (await svc.engine.askTurn(turn, `key:${id}`)).state
  }
})

describe('/api/ask/sessions', () => {
  it('are made, renamed and deleted; a state over 2,000,000 characters is a 413', async () => {
    const { svc } = await open()
    expect(await svc.put(`/api/ask/sessions/${SESSION}`, { title: 'Mine', state: '{"a":1}' })).toEqual({
      ok: true,
      id: SESSION,
      title: 'Mine',
    })
    expect(await svc.get(`/api/ask/sessions/${SESSION}`)).toMatchObject({
      title: 'Mine',
      state: '{"a":1}',
      turns: [],
    })
    expect(await svc.get('/api/ask/sessions')).toMatchObject({ sessions: [{ id: SESSION, turns: 0 }] })
    const big = { state: 'é'.repeat(2_000_001) }
    expect(await svc.refused('PUT', `/api/ask/sessions/${SESSION}`, big)).toEqual([
      413,
      expect.stringContaining('2,000,000'),
    ])
    expect(await svc.refused('PUT', '/api/ask/sessions/short', {})).toEqual([
      400,
      expect.stringContaining('hexadecimal'),
    ])
    await svc.del(`/api/ask/sessions/${SESSION}`)
    expect(await svc.refused('DELETE', `/api/ask/sessions/${SESSION}`)).toEqual([
      404,
      expect.stringContaining('no conversation'),
    ])
  })
})
