/**
 * A proxy: it passes on what it is asked for with http, and makes tunnels for https (RFC 9110, 9.3.6). Whatever host it
 * is asked for, it connects to one server of the test, so that names of the internet can be asked for.
 */
import { createServer, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'

export interface ProxyServer {
  url: string
  /** Request lines without their version, in order. */
  asked: string[]
  /** Values of Proxy-Authorization, in order; null: it had none. */
  logins: (string | null)[]
  close(): Promise<void>
}

/**
 * @param port of 127.0.0.1, to which all is passed on
 * @param refuse status that it answers with in place of passing on, if any
 */
export async function startProxy(port: number, refuse?: number): Promise<ProxyServer> {
  const asked: string[] = []
  const logins: (string | null)[] = []
  const sockets = new Set<Socket>()
  const server = createServer((incoming, response) => {
    const { method, url = '', headers } = incoming
    asked.push(`${method} ${url}`)
    logins.push(headers['proxy-authorization'] ?? null)
    if (refuse !== undefined) return void response.writeHead(refuse).end('a page for people')
    const { pathname, search } = new URL(url)
    const passedOn = request(
      { host: '127.0.0.1', port, method, path: pathname + search, headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      },
    )
    passedOn.on('error', () => response.destroy())
    incoming.pipe(passedOn)
  })
  server.on('connection', (socket) => sockets.add(socket))
  server.on('connect', ({ url, headers }, socket: Socket) => {
    asked.push(`CONNECT ${url}`)
    logins.push(headers['proxy-authorization'] ?? null)
    if (refuse !== undefined) return void socket.end(`HTTP/1.1 ${refuse} No\r\ncontent-length: 0\r\n\r\n`)
    const other = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      other.pipe(socket).pipe(other)
    })
    sockets.add(other)
    for (const one of [socket, other]) one.on('error', () => one.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    logins,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      }),
  }
}
