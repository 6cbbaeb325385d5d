import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import Fastify from 'fastify'
import { afterEach, expect, it } from 'vitest'
import { limitBodyTime } from '../../../api/http/body-time.ts'
import { streamOf } from '../../../api/http/stream-body.ts'

const app = Fastify()
limitBodyTime(app, 20)
app.post('/whole', async () => 'whole')
app.addContentTypeParser('application/x-ndjson', (_request, payload, done) => done(null, payload))
app.post('/stream', async (request) => {
  let size = 0
  for await (const part of streamOf(request.raw, 200)) size += part.length
  return `${size}`
})
afterEach(() => app.close())

it('a body that does not come is given up, and one that is taken while it comes once nothing more comes', async () => {
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const send = async (path: string, type: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${type}\r\nContent-Length: 10\r\n\r\n{`,
    )
    let text = ''
    socket.on('data', (part) => {
      text += String(part)
    })
    await once(socket, 'close')
    return text
  }
  const late = await send('/whole', 'application/json')
  expect(late).toMatch(/^HTTP\/1\.1 408 /)
  expect(late).toContain('the body did not come within 0.02 s')
  expect(await send('/stream', 'application/x-ndjson')).toMatch(/nothing more of the body came within 0\.2 s/)
})
