/** A TCP server that says what a test tells it to, HTTP or not. */
import net from 'node:net'

export interface RawServer {
  url: string
  connections: number
  /** The first connection is there. */
  connected: Promise<void>
  close(): Promise<void>
}

/** @param onRequest called with what came on a connection, and how many times something did, from 1. */
export async function startRaw(onRequest: (socket: net.Socket, times: number) => void): Promise<RawServer> {
  const sockets = new Set<net.Socket>()
  let wasConnected = () => {}
  const connected = new Promise<void>((resolve) => {
    wasConnected = resolve
  })
  const server = net.createServer((socket) => {
    raw.connections++
    wasConnected()
    sockets.add(socket)
    let times = 0
    socket.on('error', () => {})
    socket.on('data', () => onRequest(socket, ++times))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const raw: RawServer = {
    url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}/`,
    connections: 0,
    connected,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
  return raw
}
