import { afterEach, describe, expect, it } from 'vitest'
import type { AskFrame } from '../../../schemas/types.ts'
import { answer, type Handler, type Stub, startStub, svc } from './cli-harness.ts'

const start: AskFrame = {
  type: 'start',
  turn: 'ask_1',
  session: 'aa',
  mode: 'ask',
  provider: 'providera',
  model: 'm1',
}
const done: AskFrame = {
  type: 'done',
  state: 'answered',
  rounds: 1,
  input_tokens: 10,
  output_tokens: 5,
  cost_usd: 0.00125,
  ms: 1_200,
}
const text = (of: string): AskFrame => ({ type: 'text', text: of })
const events = (frames: AskFrame[], from = 1) =>
  frames.map((frame, i) => `id: ${from + i}\ndata: ${JSON.stringify(frame)}\n\n`).join('')

let stub: Stub
afterEach(() => stub.close())
const daemon = async (handler: Handler) => {
  stub = await startStub(handler)
  return ['--svcd', stub.url]
}
const stream = (response: Parameters<Handler>[1], body: string) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(body)
}

describe('svc ask', () => {
  it('prints the answer, and what was looked at on standard error', async () => {
    const tool: AskFrame = { type: 'tool', id: 'c', name: 'read', input: { selector: { service: 'pay' } } }
    const toolDone: AskFrame = { type: 'tool_done', id: 'c', ms: 12, ok: true, preview: 'evt_1' }
    const at = await daemon((_seen, response) =>
      stream(response, events([start, tool, toolDone, text('pay is '), text('down\u001b[2J.'), done])),
    )
    const ran = await svc([
      'ask',
      'what',
      'broke?',
      '--session',
      'aaaaaaaaaaaaaaaa',
      '--build',
      'watch',
      ...at,
    ])
    expect(ran).toMatchObject({ code: 0, out: 'pay is down\\u001b[2J.\n' })
    expect(ran.err).toContain('read {"selector":{"service":"pay"}} 12 ms')
    expect(ran.err).toContain('15 tokens, $0.00125, 1.2 s')
    expect(ran.err).toContain('--session aaaaaaaaaaaaaaaa')
    expect(JSON.parse(stub.requests[0]!.body)).toEqual({
      messages: [{ role: 'user', content: 'what broke?' }],
      session: 'aaaaaaaaaaaaaaaa',
      mode: 'build',
      step: 'watch',
    })
  })

  it('prints each frame as a line of JSON with --json', async () => {
    const at = await daemon((_seen, response) => stream(response, events([start, text('a'), done])))
    const ran = await svc(['ask', 'x', '--json', ...at])
    expect(
      ran.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([start, text('a'), done])
    expect(ran.err).toBe('')
  })

  it('takes a stream that broke up again after the last frame it saw', async () => {
    const at = await daemon((seen, response, index) => {
      if (index === 0) return stream(response, events([start, text('one ')]))
      expect(seen).toMatchObject({ url: '/api/agent/chat/ask_1', headers: { 'last-event-id': '2' } })
      stream(response, events([text('two'), done], 3))
    })
    const ran = await svc(['ask', 'count', ...at])
    expect(ran).toMatchObject({ code: 0, out: 'one two\n' })
  })

  it('shows a proposal with what it would change', async () => {
    const payload = {
      kind: 'trigger' as const,
      name: 'errors',
      reasoning: 'Many errors.',
      needs: [],
      body: {},
      plan: {
        changes: [
          { action: 'create' as const, kind: 'trigger' as const, key: 'errors', name: 'errors', fields: [] },
        ],
        creates: 1,
        updates: 0,
        deletes: 0,
        unchanged: 0,
      },
      base: 1,
      sentence: null,
    }
    const card: AskFrame = { type: 'proposal', kind: 'trigger', id: 'p', payload: payload as never }
    const at = await daemon((_seen, response) => stream(response, events([start, card, done])))
    const { out } = await svc(['ask', 'watch', ...at])
    expect(out).toContain('Proposed: trigger errors')
    expect(out).toContain('+ trigger errors')
    expect(out).toContain('nothing has changed')
  })

  it.each([
    [
      'the daemon refuses',
      (r: Parameters<Handler>[1]) => answer(r, 400, { detail: 'no model provider is set' }),
    ],
    [
      'there is no answer',
      (r: Parameters<Handler>[1]) =>
        stream(r, events([start, { type: 'error', detail: 'no model provider is set' }])),
    ],
  ])('exits with 1 and the sentence when %s', async (_, reply) => {
    const ran = await svc(['ask', 'x', ...(await daemon((_seen, response) => reply(response)))])
    expect(ran.code).toBe(1)
    expect(ran.err).toContain('no model provider is set')
  })

  it('stops the answer when it is interrupted', async () => {
    const interrupt = new AbortController()
    const at = await daemon((seen, response, index) => {
      if (seen.url.endsWith('/cancel')) return answer(response, 200, { ok: true, turn: 'ask_1' })
      if (index === 0) return stream(response, events([start, text('one ')]))
      // It asks for the rest: it has seen the turn by now.
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      interrupt.abort()
    })
    const ran = await svc(['ask', 'count', ...at], { interrupted: interrupt.signal })
    expect(ran.code).toBe(130)
    expect(stub.requests.at(-1)).toMatchObject({ method: 'POST', url: '/api/agent/chat/ask_1/cancel' })
  })
})
