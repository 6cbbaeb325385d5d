/** Bodies as they come over a real connection: in parts, too many of them, or not to their end. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../../chaos/daemon.ts'

let folder: string
let daemon: Daemon
let path: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-body-'))
  daemon = await startDaemon(join(folder, 'data'))
  const made = await fetch(`${daemon.url}/api/sources`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'app', connector: 'webhook', config: {} }),
  })
  path = `/ingest/${((await made.json()) as { ingest_key: string }).ingest_key}`
})
afterAll(async () => {
  await daemon.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Sends without a Content-Length, so that only counting tells the size. */
function sendChunks(parts: string[]): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${daemon.url}${path}`, { method: 'POST' }, async (answer) => {
      let text = ''
      for await (const part of answer) text += String(part)
      resolve({ status: answer.statusCode!, text })
    })
    outgoing.on('error', reject)
    for (const part of parts) outgoing.write(part)
    outgoing.end()
  })
}

async function stored(): Promise<number> {
  const answer = await fetch(`${daemon.url}/metrics`)
  return Number(/^svc_events_stored (\d+)$/m.exec(await answer.text())![1])
}

describe('a body', () => {
  it('is one whatever parts it comes in, even in the middle of a character', async () => {
    const text = JSON.stringify({ a: `é${'x'.repeat(200_000)}` })
    const parts = Array.from({ length: 30 }, (_, i) => text.slice(i * 8_000, (i + 1) * 8_000))
    expect(await sendChunks(parts)).toMatchObject({
      status: 202,
      text: expect.stringContaining('"ingested":1'),
    })
  })

  it('of more than 16 MiB is refused while it is read', async () => {
    const part = ' '.repeat(1024 * 1024)
    const answer = await sendChunks(Array.from({ length: 17 }, () => part)).catch((error: Error) => error)
    // The connection is closed with the answer, which a sender in full flow may not see.
    if (!(answer instanceof Error)) expect(answer).toMatchObject({ status: 413 })
    expect(await sendChunks(['{"a":1}'])).toMatchObject({ status: 202 })
  })

  it('of NDJSON is stored while it still comes, and longer than 16 MiB', async () => {
    const lines = `${JSON.stringify({ pad: 'x'.repeat(1_000) })}\n`.repeat(5_000)
    const outgoing = request(`${daemon.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
    })
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
    const before = await stored()
    outgoing.write(lines)
    while ((await stored()) === before) await new Promise((resolve) => setTimeout(resolve, 10))
    for (let n = 0; n < 3; n++) outgoing.write(lines)
    outgoing.end()
    const [answer] = await answered
    let text = ''
    for await (const part of answer) text += String(part)
    expect(JSON.parse(text)).toMatchObject({ ingested: 20_000 })
    expect(await stored()).toBe(before + 20_000)
  })

  it('that is cut short stores nothing and is no fault of ours', async () => {
    const { hostname, port } = new URL(daemon.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.write(`POST ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Length: 1000\r\n\r\n{"cut":`)
    await new Promise((resolve) => setTimeout(resolve, 100))
    socket.destroy()
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await sendChunks(['{"a":1}'])).toMatchObject({ status: 202 })
    expect(daemon.output.join('\n')).not.toContain('fault of ours')
  })
})
