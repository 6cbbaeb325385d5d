/** Issue 16, A11: a refusal is always readable, and a large post gets its turn. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { callGrpc, framed, openGrpc } from './grpc-call.ts'
import { openReceiver, type Receiver, ROOT } from './receiver.ts'

const MIB = 1024 * 1024

/** A field of protobuf. */
function field(number: number, bytes: Buffer): Buffer {
  const length: number[] = []
  for (let rest = bytes.length; ; rest = Math.floor(rest / 128)) {
    length.push(rest >= 128 ? (rest % 128) | 128 : rest)
    if (rest < 128) break
  }
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), bytes])
}
/** 14 records of a mebibyte less a little. */
const LARGE = field(
  1,
  field(
    2,
    Buffer.concat(
      Array.from({ length: 14 }, () => field(2, field(5, field(1, Buffer.alloc(MIB - 1_000, 'x'))))),
    ),
  ),
)

describe('A11: under overload', () => {
  let receiver: Receiver
  // Time stands still: how long a body may take, and wait for its turn, is not what is promised here, and sender and
  // receiver of hundreds of megabytes share one processor.
  beforeEach(
    () =>
      void vi.useFakeTimers({
        toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
      }),
  )
  afterEach(async () => {
    vi.useRealTimers()
    await receiver.close()
  })

  describe('of large posts', () => {
    beforeEach(async () => {
      receiver = await openReceiver()
    })

    it('all 12 of 14 MB that come at once over gRPC get their turn', async () => {
      await receiver.source('otlp', 'otlp')
      const calls = Array.from({ length: 12 }, () => callGrpc(receiver.grpcPort, {}, framed(LARGE)))
      const outcomes = await Promise.all(calls)
      expect(outcomes.map(({ status }) => status)).toEqual(Array(12).fill(0))
    })
  })

  it('of senders that leave in the middle, the room they took is free again', async () => {
    receiver = await openReceiver()
    await receiver.source('otlp', 'otlp')
    const { host, port } = new URL(receiver.url)
    for (let n = 0; n < 12; n++) {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => undefined)
      socket.write(
        `POST /v1/logs HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${16 * MIB}\r\n\r\n{`,
      )
      await once(socket, 'connect')
      socket.end()
      socket.destroy()
    }
    expect((await receiver.post('logs', '{}')).status).toBe(200)
    expect((await receiver.post('logs', `{}${' '.repeat(15 * MIB)}`)).status).toBe(200)
  })

  it('of messages that are announced over gRPC and do not come, one ends for what does come', async () => {
    receiver = await openReceiver()
    await receiver.source('otlp', 'otlp')
    const announced = framed(Buffer.alloc(16 * MIB)).subarray(0, 6)
    const silent = Array.from({ length: 8 }, () => openGrpc(receiver.grpcPort, announced))
    // The last of them waits for memory, and what comes after it waits behind it.
    const answer = receiver.post('logs', '{}').then(({ status }) => status)
    const first = Promise.race(silent.map(({ outcome }) => outcome))
    const settled: string[] = []
    void first.then(({ message }) => settled.push(message))
    await expect
      .poll(() => {
        if (settled.length === 0) vi.advanceTimersByTime(2_500)
        return settled
      })
      .toEqual(['the body came too slowly while memory was short; try again in a moment'])
    expect(await first).toMatchObject({ status: 14 })
    expect(await answer).toBe(200)
    for (const { close } of silent) close()
  })

  describe('of refusals', () => {
    beforeEach(async () => {
      receiver = await openReceiver({ secured: true })
    })

    /** Sends all of it before it reads a byte, as many clients do. @returns what it reads then. */
    async function sendAll(headers: string[], body: Buffer): Promise<string> {
      const socket: Socket = connect(Number(new URL(receiver.url).port), '127.0.0.1')
      await once(socket, 'connect')
      socket.pause()
      let text = ''
      const closed = new Promise<void>((resolve, reject) => {
        socket.once('close', () => resolve()).once('error', reject)
      })
      const head = ['POST /v1/logs HTTP/1.1', `Host: ${new URL(receiver.url).host}`, ...headers]
      socket.write(`${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n`)
      await new Promise((resolve, reject) => {
        socket.write(body, (error) => (error ? reject(error) : resolve(null)))
      })
      socket.on('data', (part) => {
        text += String(part)
        if (text.includes('"detail"')) socket.destroy()
      })
      socket.resume()
      await closed
      return text
    }

    it.each([['Connection: keep-alive'], ['Connection: close']])(
      '30 of 30 are read, with %s',
      async (connection) => {
        const body = Buffer.alloc(14 * MIB, ' ')
        const headers = [connection, 'Content-Type: application/json']
        const answers = await Promise.all(Array.from({ length: 30 }, () => sendAll(headers, body)))
        for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 401 [\s\S]*authentication required/)
      },
    )

    it('one that is too large is read, too, and the connection goes on', async () => {
      const headers = [`Authorization: Bearer ${ROOT}`, 'Content-Type: application/json']
      const answer = await sendAll(headers, Buffer.alloc(20 * MIB, ' '))
      expect(answer).toMatch(/^HTTP\/1\.1 413 /)
      expect(answer).not.toMatch(/connection: close/i)
    })
  })
})
