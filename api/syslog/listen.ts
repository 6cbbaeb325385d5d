/** The two transports of syslog: TCP (RFC 6587) and UDP (RFC 5426, a message in each datagram), on one port. */
import { createSocket, type Socket as Datagrams } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { plainAddress } from '../config-syslog.ts'
import type { SyslogSettings } from '../http/syslog-state.ts'
import { type Frame, Framer, trimmed } from './framing.ts'
import type { Inbox } from './inbox.ts'

/** An hour: a sender learns of a closed connection only by the message it loses on it. */
const IDLE_MS = 3_600_000
const KEEP_ALIVE_MS = 60_000
/** A store that takes nothing is asked for so long at the end. */
const LEAVE_MS = 3_000
const UDP_BUFFER = 1024 * 1024
/** With port 0 the port that TCP got may be taken for UDP. */
const TRIES = 5

export interface Listening {
  port: number
  /** Stores what was read, and takes no more. */
  close(): Promise<void>
}

/**
 * @param most connections at once.
 * @throws Error with the code of the system where the port cannot be bound.
 */
export async function listenSyslog(inbox: Inbox, settings: SyslogSettings, most: number): Promise<Listening> {
  const { address, family } = await lookup(settings.host)
  const tcp = new Connections(inbox, settings, most)
  const udp = await bindBoth(tcp.server, { address, port: settings.port, isV6: family === 6 })
  udp.on('message', (bytes, { address: sender }) => {
    if (!settings.isAllowed(sender))
      return inbox.lose('address', 1, `${plainAddress(sender)} is not in SVC_SYSLOG_ALLOW`)
    const message = trimmed(bytes)
    if (message.length > 0)
      inbox.take({ bytes: message, isCut: false, from: plainAddress(sender), transport: 'udp' })
  })
  return {
    port: udp.address().port,
    close: async () => {
      await Promise.all([tcp.close(), new Promise<void>((resolve) => udp.close(resolve))])
      await inbox.close(LEAVE_MS)
    },
  }
}

async function bindBoth(
  server: Server,
  { address, port, isV6 }: { address: string; port: number; isV6: boolean },
): Promise<Datagrams> {
  for (let tries = 1; ; tries++) {
    server.listen(port, address)
    await once(server, 'listening')
    const bound = server.address()
    const udp = createSocket({ type: isV6 ? 'udp6' : 'udp4', recvBufferSize: UDP_BUFFER })
    try {
      udp.bind(typeof bound === 'object' && bound !== null ? bound.port : port, address)
      await once(udp, 'listening')
      return udp
    } catch (error) {
      udp.close()
      server.close()
      await once(server, 'close')
      if (port !== 0 || tries === TRIES) throw error
    }
  }
}

/** Senders over TCP. */
class Connections {
  readonly server: Server
  private readonly open = new Map<Socket, () => void>()

  constructor(
    private readonly inbox: Inbox,
    private readonly settings: SyslogSettings,
    most: number,
  ) {
    this.server = createServer((socket) => this.admit(socket))
    this.server.maxConnections = most
    this.server.on('drop', () =>
      inbox.lose('connections', 1, `there are ${most} connections of syslog already`),
    )
    inbox.onRoom(() => {
      for (const socket of this.open.keys()) socket.resume()
    })
  }

  private admit(socket: Socket): void {
    const from = plainAddress(socket.remoteAddress ?? '')
    // Who breaks off is no fault of ours; what came before is kept.
    socket.on('error', () => socket.destroy())
    if (!this.settings.isAllowed(from)) {
      this.inbox.lose('address', 1, `${from} is not in SVC_SYSLOG_ALLOW`)
      socket.destroy()
      return
    }
    const framer = new Framer()
    const take = (frames: readonly Frame[]): void => {
      for (const frame of frames) this.inbox.take({ ...frame, from, transport: 'tcp' })
      if (this.inbox.isFull) socket.pause()
    }
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    socket.setTimeout(IDLE_MS, () => {
      // One that waits for room is not idle.
      if (!socket.isPaused()) socket.destroy()
    })
    socket.on('data', (chunk) => take(framer.push(chunk)))
    const leave = (): void => {
      if (this.open.delete(socket)) take(framer.end())
    }
    socket.once('end', leave)
    socket.once('close', leave)
    this.open.set(socket, leave)
  }

  /** What was read is handed on, the rest is not read any more. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()))
    for (const [socket, leave] of [...this.open]) {
      leave()
      socket.destroy()
    }
    await closed
  }
}
