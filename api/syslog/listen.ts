/**
 * The transports of syslog: TCP (RFC 6587) and UDP (RFC 5426, a message in each datagram) on one port, and TLS (RFC 5425)
 * on another.
 */
import { createSocket, type Socket as Datagrams } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import {
  createSecureContext,
  createServer as createTlsServer,
  type TlsOptions,
  type Server as TlsServer,
} from 'node:tls'
import { plainAddress } from '../config-syslog.ts'
import type { SyslogSettings, Transport } from '../http/syslog-state.ts'
import { type Frame, Framer, isPackedStream, trimmed, unpacked } from './framing.ts'
import type { Inbox } from './inbox.ts'

/** An hour: a sender learns of a closed connection only by the message it loses on it. */
const IDLE_MS = 3_600_000
const KEEP_ALIVE_MS = 60_000
const HANDSHAKE_MS = 10_000
const MIN_VERSION = 'TLSv1.2'
const UDP_BUFFER = 1024 * 1024
/** With port 0 the port that TCP got may be taken for UDP. */
const TRIES = 5

export interface Listening {
  port: number
  /** Hands on what was read, and takes no more. */
  close(): Promise<void>
}

export type TlsKeys = Pick<TlsOptions, 'cert' | 'key' | 'ca'>

export interface ListeningTls extends Listening {
  /** Connections from now on are shown these. @throws Error with the code of OpenSSL where they are none; nothing is changed then */
  setKeys(keys: TlsKeys): void
}

/**
 * @param most connections at once.
 * @throws Error with the code of the system where the port cannot be bound.
 */
export async function listenPlain(
  inbox: Inbox,
  settings: SyslogSettings & { port: number },
  most: number,
): Promise<Listening> {
  const { address, family } = await lookup(settings.host)
  const tcp = new Connections(inbox, settings, most)
  const udp = await bindBoth(tcp.server, { address, port: settings.port, isV6: family === 6 })
  udp.on('message', (bytes, { address: sender }) => {
    if (!settings.isAllowed(sender))
      return inbox.lose('address', 1, `${plainAddress(sender)} is not in SVC_SYSLOG_ALLOW`)
    const message = trimmed(unpacked(bytes))
    if (message.length > 0)
      inbox.take({ bytes: message, isCut: false, from: plainAddress(sender), transport: 'udp' })
  })
  return {
    port: udp.address().port,
    close: async () => {
      await Promise.all([tcp.close(), new Promise<void>((resolve) => udp.close(resolve))])
    },
  }
}

/**
 * @param port 0: any that is free. @param keys read from their files. @param most connections at once.
 * @throws Error with the code of the system where the port cannot be bound, or of OpenSSL where the keys are none.
 */
export async function listenTls(
  inbox: Inbox,
  settings: SyslogSettings,
  { port, keys, most }: { port: number; keys: TlsKeys; most: number },
): Promise<ListeningTls> {
  const { address } = await lookup(settings.host)
  const tls = new Connections(inbox, settings, most, {
    ...keys,
    minVersion: MIN_VERSION,
    handshakeTimeout: HANDSHAKE_MS,
    requestCert: keys.ca !== undefined,
    rejectUnauthorized: keys.ca !== undefined,
  })
  tls.server.listen(port, address)
  await once(tls.server, 'listening')
  const bound = tls.server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : port,
    close: () => tls.close(),
    setKeys: (renewed) => tls.setKeys(renewed),
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

/** Senders over TCP, in the clear or by TLS. */
class Connections {
  readonly server: Server
  private readonly open = new Map<Socket, () => void>()
  private readonly transport: Transport
  /** Connections whose handshake may be under way. */
  private readonly bare = new Set<Socket>()
  private secured: TlsServer | null = null

  constructor(
    private readonly inbox: Inbox,
    private readonly settings: SyslogSettings,
    most: number,
    tls: TlsOptions | null = null,
  ) {
    this.transport = tls === null ? 'tcp' : 'tls'
    const begin = tls === null ? (socket: Socket) => this.admit(socket) : this.securing(tls)
    // An address that may not send learns of no certificate.
    this.server = createServer((socket) => this.isFromAllowed(socket) && begin(socket))
    this.server.maxConnections = most
    this.server.on('drop', () =>
      inbox.lose('connections', 1, `there are ${most} connections of syslog already`),
    )
    inbox.onRoom(() => {
      for (const socket of this.open.keys()) socket.resume()
    })
  }

  private isFromAllowed(socket: Socket): boolean {
    const from = plainAddress(socket.remoteAddress ?? '')
    if (this.settings.isAllowed(from)) return true
    this.inbox.lose('address', 1, `${from} is not in SVC_SYSLOG_ALLOW`)
    socket.destroy()
    return false
  }

  /** What begins TLS on a connection. */
  private securing(tls: TlsOptions): (socket: Socket) => void {
    const secured = createTlsServer(tls, (socket) => this.admit(socket))
    this.secured = secured
    secured.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
      socket.destroy()
      this.inbox.lose('tls', 1, `a connection did not come to TLS (${error.code ?? 'it broke off'})`)
    })
    return (socket) => {
      this.bare.add(socket)
      socket.once('close', () => this.bare.delete(socket))
      secured.emit('connection', socket)
    }
  }

  setKeys(keys: TlsKeys): void {
    const context = { ...keys, minVersion: MIN_VERSION } as const
    // By itself first: a server that refuses them half-way would have some of either.
    createSecureContext(context)
    this.secured?.setSecureContext(context)
  }

  private admit(socket: Socket): void {
    const from = plainAddress(socket.remoteAddress ?? '')
    // Who breaks off is no fault of ours; what came before is kept.
    socket.on('error', () => socket.destroy())
    const framer = new Framer()
    const take = (frames: readonly Frame[]): void => {
      for (const frame of frames) this.inbox.take({ ...frame, from, transport: this.transport })
      if (this.inbox.isFull) socket.pause()
    }
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    socket.setTimeout(IDLE_MS, () => {
      // One that waits for room is not idle.
      if (!socket.isPaused()) socket.destroy()
    })
    let isFirst = true
    socket.on('data', (chunk) => {
      const isPacked = isFirst && isPackedStream(chunk)
      isFirst = false
      if (!isPacked) return take(framer.push(chunk))
      this.inbox.lose('packed', 1, `${from} packs its connection: leave out compression.mode of rsyslog`)
      this.open.delete(socket)
      socket.destroy()
    })
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
    for (const socket of this.bare) socket.destroy()
    await closed
  }
}
