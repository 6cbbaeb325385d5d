/**
 * How many connections there may be: fewer than the process may open files, for where none is left the store
 * cannot open its own and the daemon ends. Where they run short an idle connection makes room, and what is left
 * is kept for events that arrive and for whoever asks whether the daemon is well.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { SvcError } from '../../engine/index.ts'
import type { SlowBody } from './body-budget.ts'
import { isStreamed } from './body-time.ts'
import { writeRefusal } from './unread.ts'

/** The most there ever are. */
const CONNECTIONS_MAX = 1_024
/** Files of a daemon without a connection: the store's, and those of its threads (51 to 60 in 2026-11). */
const OWN_HANDLES = 60
/** Enough for one at a time, with two that come. */
const CONNECTIONS_MIN = 3
/** Of what is left, a third is for what the daemon itself asks: upstreams, recipients, models. */
const SHARE = 2 / 3
/** Live streams of all there may be: each holds its connection for as long as its reader likes. */
const STREAMS_SHARE = 1 / 2
const STREAMS_MAX = 256
/** Of the connections at work, when only events and probes are taken. */
const BUSY_SHARE = 3 / 4
/** What one credential may have at work, of all there may be, and all who have none together: the others find room. */
const CREDENTIAL_SHARE = 1 / 4
/** Of events: many producers may share a key and begin at once, and what is refused some of them lose. */
const INGEST_SHARE = 1 / 2
/** Bodies that have not come by then are slow: most come with their headers. */
const SLOW_MS = 2_000
const tooSlow = (short: string) => ({
  status: 503,
  reason: 'Service Unavailable',
  detail: describeSlow(short),
})
/** For its sender. @param short of what there is too little, with its verb */
export const describeSlow = (short: string): string =>
  `the body came too slowly while ${short} short; try again in a moment`
/** In place of a credential. */
const NOBODY = ''
/** Routes that are never refused for want of room. */
const ALWAYS = new Set(['/health', '/ingest/:key', '/v1/logs', '/v1/traces', '/v1/metrics'])

const isWhole = (request: IncomingMessage): boolean => !isStreamed(request)

/** What may be open at once. */
export interface ConnectionBounds {
  connections: number
  streams: number
}

/** @param handles files the process may have open (RLIMIT_NOFILE); null: not known */
export function connectionBounds(handles: number | null): ConnectionBounds {
  const left = handles === null ? CONNECTIONS_MAX : Math.floor((handles - OWN_HANDLES) * SHARE)
  const connections = Math.min(CONNECTIONS_MAX, Math.max(CONNECTIONS_MIN, left))
  return { connections, streams: Math.min(STREAMS_MAX, Math.floor(connections * STREAMS_SHARE)) }
}

const shareOf = (pattern: string | null): number =>
  pattern !== null && ALWAYS.has(pattern) ? INGEST_SHARE : CREDENTIAL_SHARE

/** How a connection is used. */
interface Use {
  /** Requests it has at work. */
  requests: number
  /** Its place in the order in which connections became idle. */
  idleFrom: number
  /** Whose place it has while it is at work; absent: nobody's that is counted. */
  holder?: string | undefined
  /** Its request was refused, and is at work no more. */
  isRefused?: boolean
  /** Of the request at work. */
  response?: ServerResponse
  /** When that came, by `performance.now`. */
  since: number
}

/** Where a connection carries its use: sets that it leaves and enters with each request cost more than the rest of this. */
const USE = Symbol('how it is used')

interface Used extends Socket {
  [USE]?: Use
}

/** The connections of a server, and its live streams. */
export class Connections {
  private readonly open = new Set<Used>()
  /** Of those that are open. */
  private busy = 0
  /** How often one became idle. */
  private idled = 0
  private streams = 0
  /** Connections at work, by credential. */
  private readonly held = new Map<string, number>()

  constructor(private readonly bounds: ConnectionBounds) {}

  /** Connections there may be at most. */
  get most(): number {
    return this.bounds.connections
  }

  /** Counts the connections of a server from now on. */
  watch(server: FastifyInstance['server']): void {
    server.maxConnections = this.bounds.connections
    server.on('connection', (socket: Used) => {
      socket[USE] = { requests: 0, idleFrom: this.idled++, since: 0 }
      this.open.add(socket)
      socket.once('close', () => {
        if (this.open.delete(socket) && socket[USE]!.requests > 0) this.busy--
        this.release(socket[USE]!)
      })
      // One place stays free, or the next would be dropped without a word.
      if (this.open.size >= this.bounds.connections) this.makeRoom(socket)
    })
    // Ahead of whoever answers, and may refuse it at once.
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.begin(socket, response)
      response.once('close', () => this.done(socket))
    })
  }

  /**
   * Where too many are at work, one whose body comes too slowly ends for the one that asks.
   * @param pattern of the route. @throws SvcError unavailable where only events and probes are taken now
   */
  admit(socket: Socket, pattern: string | null): void {
    // Without the one that asks.
    const others = this.busy - 1
    if (others <= this.bounds.connections * BUSY_SHARE || (pattern && ALWAYS.has(pattern))) return
    if (this.endSlowest(socket, isWhole)) return
    throw new SvcError('unavailable', 'too many connections are at work; try again in a moment', {
      retryAfter: 2,
    })
  }

  /**
   * Counts what a connection asks as a credential's, until it is answered.
   * @param credential null: it comes without any, and need not have one. @param pattern of the route
   * @throws SvcError too_many where as many are at work as may be
   */
  hold(socket: Socket, credential: string | null, pattern: string | null): void {
    const use = (socket as Used)[USE]
    if (!use || use.holder !== undefined) return
    const most = Math.max(1, Math.floor(this.bounds.connections * shareOf(pattern)))
    const holder = credential ?? NOBODY
    const held = this.held.get(holder) ?? 0
    if (held >= most)
      throw new SvcError(
        'too_many',
        credential === null
          ? 'too many requests without a credential are at work; try again in a moment'
          : `this credential has ${most} requests at work, as many as one may have: try again in a second, put more into one request, or give each program a key of its own`,
        { retryAfter: 1 },
      )
    this.held.set(holder, held + 1)
    use.holder = holder
  }

  /** A request was refused, and its sender may take its time: from here on its connection is one that makes room. */
  refuse(socket: Socket): void {
    const use = (socket as Used)[USE]
    if (!use || use.isRefused || use.requests === 0) return
    this.done(socket)
    use.isRefused = true
  }

  /** Takes the place of a live stream. @returns gives it back. @throws SvcError too_many */
  openStream(): () => void {
    if (this.streams >= this.bounds.streams)
      throw new SvcError(
        'too_many',
        `all ${this.bounds.streams} live streams are taken; close one, or poll`,
        {
          retryAfter: 5,
        },
      )
    this.streams++
    let isOpen = true
    return () => {
      if (isOpen) this.streams--
      isOpen = false
    }
  }

  /** Memory for bodies is short: of those that hold much of it, the one that has been coming longest, if it is slow. */
  findSlowBody(holdsMuch: (request: IncomingMessage) => boolean): SlowBody | null {
    return this.findSlowest(null, holdsMuch, 'memory was')
  }

  private begin(socket: Used, response: ServerResponse): void {
    const use = socket[USE]
    if (!use) return
    if (use.requests++ === 0 && this.open.has(socket)) this.busy++
    use.response = response
    use.since = performance.now()
  }

  private done(socket: Used): void {
    const use = socket[USE]
    if (!use) return
    if (use.isRefused) {
      use.isRefused = false
      return
    }
    if (--use.requests > 0) return
    delete use.response
    use.idleFrom = this.idled++
    if (this.open.has(socket)) this.busy--
    this.release(use)
  }

  private release(use: Use): void {
    const { holder } = use
    if (holder === undefined) return
    const left = this.held.get(holder)! - 1
    if (left === 0) this.held.delete(holder)
    else this.held.set(holder, left)
    use.holder = undefined
  }

  /** The connection that has been idle longest ends, never the one that just came; where none is idle, the slowest. */
  private makeRoom(newest: Used): void {
    const idle = [...this.open].filter((socket) => socket !== newest && socket[USE]!.requests === 0)
    const from = Math.min(...idle.map((socket) => socket[USE]!.idleFrom))
    const longest = idle.find((socket) => socket[USE]!.idleFrom === from)
    if (longest) longest.destroy()
    else if (!this.endSlowest(newest, isWhole)) this.endSlowest(newest, isStreamed)
  }

  /** Ends the slowest of them. @returns whether there was one */
  private endSlowest(asking: Used, isMeant: (request: IncomingMessage) => boolean): boolean {
    const slowest = this.findSlowest(asking, isMeant, 'connections were')
    slowest?.end()
    return slowest !== null
  }

  /**
   * The request whose body has been coming longest, of those that are slow.
   * @param asking is not meant
   * @param isMeant which may be: those that are stored while they come may take their time
   * @param short of what there is too little, for its sender
   */
  private findSlowest(
    asking: Used | null,
    isMeant: (request: IncomingMessage) => boolean,
    short: string,
  ): SlowBody | null {
    let slowest: Used | null = null
    let since = performance.now() - SLOW_MS
    for (const socket of this.open) {
      const use = socket[USE]!
      if (socket === asking || use.since > since || !use.response || use.response.req.complete) continue
      if (!isMeant(use.response.req)) continue
      slowest = socket
      since = use.since
    }
    if (!slowest) return null
    const ended = slowest
    return { since, end: () => endSlow(ended, short) }
  }
}

/** Says so, unless its answer has begun. @param short of what there is too little */
function endSlow(socket: Used, short: string): void {
  const { response } = socket[USE]!
  delete socket[USE]!.response
  if (!response || response.headersSent) socket.destroy()
  else writeRefusal(socket, tooSlow(short), () => socket.destroy())
}
