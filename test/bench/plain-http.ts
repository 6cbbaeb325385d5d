/**
 * Node's own HTTP server, which reads a post and answers it: a yardstick of single posts that is no code of ours. Against
 * the daemon's server without a store a faster server of ours looks like a slower store.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const ANSWER = JSON.stringify({ ingested: 1 })

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(202, { 'content-type': 'application/json; charset=utf-8' }).end(ANSWER)
  })
})
server.listen(0, '127.0.0.1', () => {
  console.log(`console at http://127.0.0.1:${(server.address() as AddressInfo).port} none`)
})
