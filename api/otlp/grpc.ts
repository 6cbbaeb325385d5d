/**
 * OTLP/gRPC (SPEC.md, SVC_OTLP_GRPC_PORT): the three Export calls, on a port of their own. A gRPC call is a
 * POST over HTTP/2 whose outcome is in the trailers; Node has HTTP/2, so no library is needed, and as on
 * HTTP the credential is looked at before the body is read.
 */
import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import { fail, type OtlpSignal, SvcError } from '../../engine/index.ts'
import { type Identity, requireScope } from '../http/auth.ts'
import type { SlowBody } from '../http/body-budget.ts'
import { ACCEPTED } from '../http/compression.ts'
import { describeSlow } from '../http/connections.ts'
import type { Doors } from '../http/doors.ts'
import { asSvcError } from '../http/problems.ts'
import { inTime } from '../http/stream-body.ts'
import { decode, WIRE_MAX } from '../http/whole-body.ts'
import { codeOf, protobufAnswer, protobufStatus } from './answer.ts'
import { receive } from './receive.ts'

const SIGNALS: Record<string, OtlpSignal> = {
  '/opentelemetry.proto.collector.logs.v1.LogsService/Export': 'logs',
  '/opentelemetry.proto.collector.trace.v1.TraceService/Export': 'traces',
  '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export': 'metrics',
}
const IDLE_MS = 300_000
/** A client that does not leave by itself is cut. */
const LEAVE_MS = 3_000
const WINDOW_BYTES = 1024 * 1024
const OK = 0

/** Messages that are being read, in the order they began. */
type Incoming = Map<ServerHttp2Stream, SlowBody>

export interface OtlpGrpc {
  port: number
  close(): Promise<void>
}

/** Listens. @throws Error with the code of the system where the port cannot be bound. */
export async function listenGrpc(doors: Doors, host: string, port: number): Promise<OtlpGrpc> {
  const server = createServer({
    settings: { maxConcurrentStreams: 100, maxHeaderListSize: 16_384, initialWindowSize: WINDOW_BYTES },
  })
  // Of those of HTTP, a quarter: a client of gRPC needs one.
  server.maxConnections = Math.max(2, Math.floor(doors.connections.most / 4))
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => {
    sessions.add(session)
    session.setLocalWindowSize(WINDOW_BYTES * 4)
    session.setTimeout(IDLE_MS, () => session.close())
    session.on('close', () => sessions.delete(session))
    session.on('error', () => session.destroy())
  })
  const incoming: Incoming = new Map()
  doors.bodies.relieveBy((holdsMuch) => {
    for (const [stream, message] of incoming) if (holdsMuch(stream)) return message
    return null
  })
  server.on('stream', (stream, headers) => void serve(doors, incoming, stream, headers))
  await bind(server, host, port)
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () => close(server, sessions),
  }
}

function bind(server: Http2Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** Calls under way are answered first. */
function close(server: Http2Server, sessions: ReadonlySet<ServerHttp2Session>): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      for (const session of sessions) session.destroy()
    }, LEAVE_MS)
    server.close(() => {
      clearTimeout(cut)
      resolve()
    })
    for (const session of sessions) session.close()
  })
}

async function serve(
  doors: Doors,
  incoming: Incoming,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
): Promise<void> {
  stream.on('error', (error) => doors.log.debug({ err: error }, 'a gRPC call broke off'))
  stream.once('close', () => doors.bodies.abandon(stream))
  try {
    const answer = await doors.bodies.during(stream, () => exported(doors, incoming, stream, headers))
    respond(stream, OK, '', answer)
  } catch (thrown) {
    const error = asSvcError(thrown as Error, doors.log)
    respond(stream, codeOf(error), error.message, protobufStatus(error))
  }
}

/** @returns the answer's message. @throws SvcError */
async function exported(
  doors: Doors,
  incoming: Incoming,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
): Promise<Buffer> {
  const address = stream.session ? doors.auth.addressOf({ headers, socket: stream.session.socket }) : ''
  const caller = identify(doors, headers, address)
  if (doors.stopping()) throw new SvcError('unavailable', 'the daemon is stopping', { retryAfter: 5 })
  const path = headers[':path'] ?? ''
  const isGrpc = /^application\/grpc(\+proto)?(;|$)/i.test(headers['content-type'] ?? '')
  const signal = Object.hasOwn(SIGNALS, path) && isGrpc ? SIGNALS[path] : undefined
  if (headers[':method'] !== 'POST' || signal === undefined)
    return fail('method_not_allowed', 'this port takes the Export calls of OTLP: logs, traces and metrics')
  const hold = (bytes: number): Promise<void> => doors.bodies.hold(stream, bytes)
  const { isCompressed, message } = await readMessage(stream, hold, incoming)
  const encoding = isCompressed ? textOf(headers['grpc-encoding']) : undefined
  const plain = await decode(encoding, [message], hold)
  const result = await receive(doors, {
    form: { signal, encoding: 'protobuf' },
    body: plain?.body ?? message,
    source: textOf(headers['x-svc-source'])?.trim(),
    idempotencyKey: undefined,
    caller,
  })
  return protobufAnswer(result)
}

/** As over HTTP: a bearer token with the scope ingest. @throws SvcError unauthenticated, forbidden, too_many */
function identify({ auth }: Doors, headers: IncomingHttpHeaders, address: string): Identity {
  const token = /^bearer +(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1] ?? textOf(headers['x-svc-token'])
  return requireScope(auth.identifyToken(token?.trim() || null, address), 'ingest')
}

const textOf = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined

/** One message and the outcome, or the outcome alone where it is a refusal. */
function respond(stream: ServerHttp2Stream, code: number, message: string, body: Buffer): void {
  if (stream.destroyed || stream.closed) return
  const outcome = {
    'grpc-status': String(code),
    ...(message === '' ? {} : { 'grpc-message': encodeURIComponent(message) }),
    ...(code === OK ? {} : { 'grpc-status-details-bin': body.toString('base64').replaceAll('=', '') }),
  }
  const head = {
    ':status': 200,
    'content-type': 'application/grpc+proto',
    'grpc-accept-encoding': `identity,${ACCEPTED}`,
  }
  if (code !== OK) {
    stream.respond({ ...head, ...outcome }, { endStream: true })
    // What is still being sent is read and forgotten: a reset would overtake the refusal.
    const cut = setTimeout(() => stream.close(), LEAVE_MS)
    stream.resume().once('close', () => clearTimeout(cut))
    return
  }
  stream.respond(head, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers(outcome))
  stream.end(framed(body))
}

/*
 * The one message of a unary gRPC call (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md): five
 * bytes, whether it is compressed and how long it is, and the message.
 */

const PREFIX_BYTES = 5
/** As long as any request may take to send its body. */
const BODY_MS = 30_000

/**
 * Reads until the client has sent all, its time is over, or another needs the memory that it holds and does not fill.
 * How long the message is comes first: what follows is left with the client until there is room for all of it, so that a
 * long one gets its turn.
 * @param hold returns once there is memory for so many bytes.
 * @param incoming has it meanwhile
 * @throws SvcError too_large: longer than ingest takes; invalid: cut short, or not one message; unavailable: it came too
 *   slowly while memory was short; what `hold` throws
 */
async function readMessage(
  stream: ServerHttp2Stream,
  hold: (bytes: number) => Promise<void>,
  incoming: Incoming,
): Promise<{ isCompressed: boolean; message: Buffer }> {
  let end = (): void => undefined
  const ended = new Promise<never>((_resolve, reject) => {
    end = () => {
      incoming.delete(stream)
      reject(new SvcError('unavailable', describeSlow('memory was'), { retryAfter: 1 }))
    }
  })
  // It may be ended between two parts, when nobody listens.
  ended.catch(() => undefined)
  incoming.set(stream, { since: performance.now(), end: () => end() })
  try {
    return await joinParts(partsOf(stream, ended), hold)
  } finally {
    incoming.delete(stream)
  }
}

async function joinParts(
  coming: AsyncIterable<Buffer>,
  hold: (bytes: number) => Promise<void>,
): Promise<{ isCompressed: boolean; message: Buffer }> {
  const parts: Buffer[] = []
  let size = 0
  let whole: number | null = null
  for await (const part of coming) {
    parts.push(part)
    size += part.length
    if (whole === null && size >= PREFIX_BYTES) {
      whole = PREFIX_BYTES + Buffer.concat(parts).readUInt32BE(1)
      if (whole > PREFIX_BYTES + WIRE_MAX) fail('too_large', 'the message is larger than 16 MiB')
      await hold(whole)
    }
    if (whole !== null && size > whole) fail('invalid', 'the call holds not one message')
  }
  if (whole === null) return fail('invalid', 'the call holds no message')
  if (size < whole) fail('invalid', 'the call holds not one message')
  const bytes = Buffer.concat(parts)
  return { isCompressed: bytes[0] === 1, message: bytes.subarray(PREFIX_BYTES) }
}

/**
 * What comes, as it is asked for.
 * @param ended rejects where it is not waited for any more
 * @throws SvcError invalid: it ends too soon, or does not come in time; what `ended` rejects with
 */
async function* partsOf(stream: ServerHttp2Stream, ended: Promise<never>): AsyncGenerator<Buffer> {
  const slow = new SvcError('invalid', `the message did not come within ${BODY_MS / 1_000} s`)
  const iterator = stream.iterator({ destroyOnReturn: false })
  let left = BODY_MS
  try {
    for (;;) {
      const began = performance.now()
      const next = await inTime(Promise.race([iterator.next(), ended]), left, slow).catch((error: Error) => {
        throw error instanceof SvcError ? error : new SvcError('invalid', 'the message was cut short')
      })
      if (next.done) return
      left -= performance.now() - began
      yield next.value as Buffer
    }
  } finally {
    // Lets go of the stream, so that what still comes can be read and forgotten.
    void iterator.return?.()
  }
}

/** A message as it goes over the wire, not compressed. */
export function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}
