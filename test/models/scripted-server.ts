/**
 * A scripted model server: no model answers here, the test says what is answered. It speaks both real
 * wire formats, streamed and plain: provider A's messages at `<url>/v1/messages`, chat completions at
 * `<url>/v1/chat/completions`, and lists its models at `<url>/v1/models`. So provider A's base address
 * is `url`, that of a chat-completions endpoint `${url}/v1`.
 *
 *   const server = await startScriptedModels()
 *   server.reply('m1', [{ calls: [{ name: 'read', arguments: {} }] }, { text: 'done' }])
 *   server.reply('m2', ({ body }, n) => ({ text: `call ${n}, ${body.messages.length} messages` }))
 *
 * A list is answered in order; one reply more than it has is a 400 that says so. A function is called
 * with the request and its number, from 0. A model without a script is a 404, as real ones answer.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Place, Script, ScriptedReply, ScriptedRequest, Wire } from './script.ts'
import { chatWire } from './wire-chat.ts'
import { messagesWire } from './wire-messages.ts'

export type { Place, Script, ScriptedReply, ScriptedRequest } from './script.ts'

export interface ScriptedModels {
  /** Without a trailing slash. */
  url: string
  /** Every request, in order of arrival. */
  requests: ScriptedRequest[]
  /** Says what a model answers from now on. */
  reply(model: string, script: Script): void
  /** What the list of models answers; the scripted models unless said. */
  listed(reply: ScriptedReply & { models?: string[] }): void
  /** What was said and asked so far is no more: for another daemon that asks it. */
  forget(): void
  close(): Promise<void>
}

/** Starts it on a free port of loopback. */
export async function startScriptedModels(): Promise<ScriptedModels> {
  const scripts = new Map<string, { script: Script; n: number }>()
  const requests: ScriptedRequest[] = []
  let list: ScriptedReply & { models?: string[] } = {}
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const body = text ? JSON.parse(text) : {}
    const path = request.url!.split('?')[0]!
    const seen = {
      method: request.method!,
      path,
      headers: request.headers,
      body,
      model: String(body.model ?? ''),
    }
    requests.push(seen)
    if (path.endsWith('/models')) return answerList(response, list, [...scripts.keys()])
    const wire = path.endsWith('/v1/messages')
      ? messagesWire
      : path.endsWith('/chat/completions')
        ? chatWire
        : null
    if (!wire) return send(response, 404, {}, 'not found')
    await answer(response, wire, seen, await next(scripts, seen))
  })
  // What is cut off on purpose is no fault.
  server.on('clientError', (_error, socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    reply: (model, script) => void scripts.set(model, { script, n: 0 }),
    listed: (reply) => {
      list = reply
    },
    forget: () => {
      scripts.clear()
      requests.length = 0
      list = {}
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function next(
  scripts: Map<string, { script: Script; n: number }>,
  request: ScriptedRequest,
): Promise<ScriptedReply> {
  const scripted = scripts.get(request.model)
  if (!scripted)
    return {
      status: 404,
      error: `The model ${request.model} does not exist`,
      errorType: 'not_found_error',
    }
  const n = scripted.n++
  if (typeof scripted.script === 'function') return scripted.script(request, n)
  return (
    scripted.script[n] ?? {
      status: 400,
      error: `the script of ${request.model} has no reply number ${n + 1}`,
    }
  )
}

async function answer(
  response: ServerResponse,
  wire: Wire,
  { body, model }: ScriptedRequest,
  reply: ScriptedReply,
): Promise<void> {
  await reply.delayUntil
  if (reply.cut === 'before') return void response.destroy()
  const status = reply.status ?? 200
  if (reply.body !== undefined) return send(response, status, reply.headers, reply.body)
  if (status >= 400) return send(response, status, reply.headers, JSON.stringify(wire.error(status, reply)))
  const named = reply.model ?? model
  if (body.stream !== true || reply.plain)
    return send(response, status, reply.headers, JSON.stringify(wire.plain(reply, named)))
  response.writeHead(status, { 'content-type': 'text/event-stream', ...reply.headers })
  await stream(response, wire, reply, named)
}

async function stream(
  response: ServerResponse,
  wire: Wire,
  reply: ScriptedReply,
  model: string,
): Promise<void> {
  const { open, text, close, broken, fault } = wire.stream(reply, model)
  if (reply.place)
    return streamUpTo(
      response,
      reply,
      reply.place,
      [...open, ...piecesOf(reply.text ?? '').map(text), ...close],
      fault,
    )
  for (const event of open) response.write(event)
  const [first, ...rest] = piecesOf(reply.text ?? '')
  // Handed to the system before anything is cut off: what a program holds is lost with a connection.
  if (first !== undefined) await new Promise((resolve) => response.write(text(first), resolve))
  await reply.pauseUntil
  if (reply.cut === 'within') return void response.destroy()
  if (reply.malformed) response.write(broken)
  if (reply.fault) return void response.end(fault)
  for (const piece of rest) response.write(text(piece))
  while (reply.endless && !response.closed && !response.destroyed) {
    // Written as fast as it is taken, so that one that takes all of it without end shows.
    if (!response.write(text('and on and on '.repeat(500))))
      await new Promise<void>((resolve) => {
        response.once('drain', resolve)
        response.once('close', resolve)
      })
    else await new Promise((resolve) => setImmediate(resolve))
  }
  for (const event of close) response.write(event)
  response.end()
}

/** What an event at a place holds. */
const AT: Record<Place, RegExp> = {
  start: /./,
  thinking: /thinking_delta|reasoning_content/,
  text: /text_delta|"content":"[^"]/,
  tool: /input_json_delta|"arguments"/,
}

/** Sends all events up to the first of the place, and then what goes wrong there. */
async function streamUpTo(
  response: ServerResponse,
  reply: ScriptedReply,
  place: Place,
  events: string[],
  fault: string,
): Promise<void> {
  const at = events.findIndex((event) => AT[place].test(event))
  if (at < 0) throw new Error(`the reply has no ${place}`)
  // Handed to the system before anything is cut off: what a program holds is lost with a connection.
  const head = events.slice(0, at + 1).join('')
  await new Promise<void>((resolve) => response.write(head, () => resolve()))
  if (reply.stalled) return reply.stalled(Buffer.byteLength(head))
  if (reply.cut) return void response.destroy()
  response.end(reply.fault ? fault : '')
}

/** Two pieces, so that a reader has to put them together; a large text in more. */
function piecesOf(text: string): string[] {
  if (text.length < 2) return text ? [text] : []
  const size = Math.min(64 * 1024, Math.ceil(text.length / 2))
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))
}

function answerList(
  response: ServerResponse,
  list: ScriptedReply & { models?: string[] },
  scripted: string[],
): void {
  const status = list.status ?? 200
  const written = list.body ?? (status >= 400 ? JSON.stringify(chatWire.error(status, list)) : undefined)
  const data = (list.models ?? scripted).map((id) => ({
    id,
    type: 'model',
    object: 'model',
    display_name: id,
    created: 0,
    created_at: '2026-01-01T00:00:00Z',
    owned_by: 'test',
  }))
  send(response, status, list.headers, written ?? JSON.stringify({ object: 'list', data, has_more: false }))
}

function send(
  response: ServerResponse,
  status: number,
  headers: Record<string, string> | undefined,
  body: string,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(body)
}
