import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import Fastify from 'fastify'
import { afterEach, expect, it } from 'vitest'
import { limitBodyTime } from '../../../api/http/body-time.ts'
import { readOutRefused } from '../../../api/http/read-out.ts'
import { streamOf } from '../../../api/http/stream-body.ts'

const LIMIT_MS = 20
const app = Fastify()
afterEach(() => app.close())

/** Nothing of this process runs. */
const holdUp = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

it('a process that was held up for longer than a body may rest finds what came meanwhile', async () => {
  let asked = () => {}
  readOutRefused(app, () => {}, LIMIT_MS)
  limitBodyTime(app, LIMIT_MS)
  app.addContentTypeParser('application/x-ndjson', (_request, payload, done) => done(null, payload))
  app.addHook('onRequest', async ({ url }, reply) => {
    asked()
    if (url === '/refused') return reply.code(401).header('connection', 'close').send('no')
  })
  app.post('/refused', async () => 'yes')
  app.post('/whole', async ({ body }) => body)
  app.post('/stream', async ({ raw }) => {
    let text = ''
    for await (const part of streamOf(raw, LIMIT_MS)) text += String(part)
    return text
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo

  /** Sends half, and the rest once it is read for, right before the process is held up. @returns the answer */
  const send = async (path: string, type: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 9\r\n\r\n"one`)
    const answered = once(socket, 'data') as Promise<[Buffer]>
    await isAsked
    await new Promise((resolve) => setImmediate(resolve))
    socket.write(' two"')
    holdUp(10 * LIMIT_MS)
    const [answer] = await answered
    socket.destroy()
    return String(answer)
  }

  const refused = await send('/refused', 'application/json')
  expect(refused).toMatch(/^HTTP\/1\.1 401 /)
  // It read the rest, so the connection goes on.
  expect(refused).not.toMatch(/connection: close/i)
  expect(await send('/whole', 'application/json')).toMatch(/^HTTP\/1\.1 200 [\s\S]*one two$/)
  expect(await send('/stream', 'application/x-ndjson')).toMatch(/^HTTP\/1\.1 200 [\s\S]*"one two"$/)
})
