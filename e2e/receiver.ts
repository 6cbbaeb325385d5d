/** A local address that firings are posted to; it keeps what came. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Post {
  headers: IncomingHttpHeaders
  body: string
}

export async function startReceiver(): Promise<{ url: string; posts: Post[]; stop(): Promise<void> }> {
  const posts: Post[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    posts.push({ headers: request.headers, body: Buffer.concat(chunks).toString('utf8') })
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/secret-part`,
    posts,
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
