/**
 * The thread of a scripted model: provider A's messages, streamed. It answers without reading what it is asked, after 1 to
 * 3 s as a fast model does: a `read`, and `conclude` once it is told that it is over.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { messagesWire } from '../models/wire-messages.ts'

const MODEL = 'm1'
const { thinksMs, runs } = workerData as { thinksMs: number; runs: number }

const piecesOf = (name: string, args: Record<string, unknown>): string[] => {
  const { open, close } = messagesWire.stream({ calls: [{ name, arguments: args }] }, MODEL)
  return [...open, ...close]
}
const READ = piecesOf('read', { selector: { job: 'none' } })
const CONCLUDE = piecesOf('conclude', { outcome: 'no_op' })
const LIST = JSON.stringify({ data: [{ type: 'model', id: MODEL, display_name: MODEL }], has_more: false })

let isOver = false
let calls = 0
let callsOfRound = 0
parentPort!.on('message', (message: 'begin' | 'over' | 'count' | 'close') => {
  if (message === 'begin') callsOfRound = 0
  if (message === 'begin' || message === 'over') isOver = message === 'over'
  if (message === 'count') parentPort!.postMessage({ calls })
  if (message !== 'close') return
  server.close()
  server.closeAllConnections()
  parentPort!.close()
})

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    if (!request.url!.endsWith('/v1/messages')) return void response.end(LIST)
    calls++
    if (++callsOfRound === runs) parentPort!.postMessage('begun')
    const answer = (pieces: string[]): void => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const piece of pieces) response.write(piece)
      response.end()
    }
    if (isOver) return answer(CONCLUDE)
    setTimeout(() => answer(READ), thinksMs * (0.5 + Math.random()))
  })
})
server.listen(0, '127.0.0.1', () => {
  parentPort!.postMessage({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
