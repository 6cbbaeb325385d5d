/**
 * The Docker Engine API over its socket, read only: what its containers are, and what they logged. It is
 * about a hundred lines over the way out, for three GET requests: a client library would bring
 * an SSH implementation along, and reads streams we need to cut at a line of our choice.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { getOver, type HeldAnswer } from '../../net/fetch.ts'
import { UpstreamError } from '../connectors/connector.ts'

/** An engine that has answered, and the version of the API it speaks. */
export interface DockerClient {
  /** The parsed answer of a GET. @throws DockerRefusal, UpstreamError */
  get<T>(path: string, query?: Record<string, string>): Promise<T>
  /** The body of a GET as it comes; to be read to its end, or destroyed. @throws DockerRefusal, UpstreamError */
  stream(path: string, query: Record<string, string>): Promise<Readable>
  /** What broke off a stream, as a sentence. */
  fault(error: unknown): UpstreamError
  /** That it took too long. */
  late(): UpstreamError
  /** The same with less time. */
  within(signal: AbortSignal): DockerClient
}

/** The engine answered, with an error. */
export class DockerRefusal extends UpstreamError {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message, RETRY_MS)
    this.name = 'DockerRefusal'
  }
}

const ANSWER_BYTES = 16 * 1024 * 1024
const REFUSAL_BYTES = 64 * 1024
const REFUSAL_SHOWN = 200
/** Asking a socket of this machine costs nothing: no long waits for an engine that is being started. */
export const RETRY_MS = 30_000

/**
 * Finds the engine and agrees on a version of its API: the engine's own, for answers only ever gain
 * fields, and an engine refuses versions it has left behind.
 * @throws UpstreamError with what to do where it cannot be reached.
 */
export async function openDocker(env: Environment, signal: AbortSignal): Promise<DockerClient> {
  const address = dockerAddress(env)
  const ping = await ask(address, '/_ping', signal)
  const body = await textOf(ping, REFUSAL_BYTES, address, signal)
  let version = ping.headers['api-version']
  if (typeof version !== 'string') {
    const answer = ping.status === 200 ? await ask(address, '/version', signal) : null
    version = answer ? apiVersion(await textOf(answer, ANSWER_BYTES, address, signal)) : undefined
  }
  if (ping.status !== 200 || version === undefined || !/^\d+\.\d+$/.test(version))
    throw new UpstreamError(
      `what answers at ${address.shown} is no Docker engine (HTTP ${ping.status}${body ? `: ${shorten(body)}` : ''}); correct DOCKER_HOST`,
      RETRY_MS,
    )
  return connected(address, `/v${version}`, signal)
}

function connected(address: DockerAddress, prefix: string, signal: AbortSignal): DockerClient {
  const open = async (path: string, query: Record<string, string> = {}) => {
    const search = new URLSearchParams(query).toString()
    const answer = await ask(address, `${prefix}${path}${search ? `?${search}` : ''}`, signal)
    if (answer.status === 200) return answer
    const text = await textOf(answer, REFUSAL_BYTES, address, signal)
    throw new DockerRefusal(`Docker refuses (HTTP ${answer.status}): ${messageOf(text)}`, answer.status)
  }
  return {
    get: async <T>(path: string, query?: Record<string, string>) =>
      parsed(await textOf(await open(path, query), ANSWER_BYTES, address, signal), address) as T,
    stream: async (path, query) => (await open(path, query)).stream,
    fault: (error) => unreachable(error, address, signal),
    late: () => late(address),
    within: (narrower) => connected(address, prefix, narrower),
  }
}

async function ask(address: DockerAddress, path: string, signal: AbortSignal): Promise<HeldAnswer> {
  const { socketPath, host = 'docker', port = 80, tls } = address
  const name = host.includes(':') ? `[${host}]` : host
  try {
    return await getOver(
      { origin: `${tls ? 'https' : 'http'}://${name}:${port}`, socketPath, tls },
      path,
      signal,
    )
  } catch (error) {
    throw unreachable(error, address, signal)
  }
}

async function textOf(
  { stream }: HeldAnswer,
  most: number,
  address: DockerAddress,
  signal: AbortSignal,
): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > most) throw new UpstreamError(`the answer of the Docker engine is over ${most} bytes`)
      chunks.push(chunk)
    }
  } catch (error) {
    throw unreachable(error, address, signal)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(text: string, { shown }: DockerAddress): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UpstreamError(`what answers at ${shown} is no Docker engine: its answer is not JSON`)
  }
}

function apiVersion(text: string): string | undefined {
  try {
    const { ApiVersion } = JSON.parse(text) as { ApiVersion?: unknown }
    return typeof ApiVersion === 'string' ? ApiVersion : undefined
  } catch {
    return undefined
  }
}

function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    return shorten(typeof message === 'string' ? message : text)
  } catch {
    return shorten(text)
  }
}

const shorten = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, REFUSAL_SHOWN)

const late = ({ shown }: Pick<DockerAddress, 'shown'>): UpstreamError =>
  new UpstreamError(`Docker did not answer in time at ${shown}`, RETRY_MS)

/** A failed connection as a sentence that says what to do. */
function unreachable(
  error: unknown,
  { shown, socketPath }: DockerAddress,
  signal: AbortSignal,
): UpstreamError {
  if (error instanceof UpstreamError) return error
  if (signal.aborted) return late({ shown })
  const code = (error as NodeJS.ErrnoException).code ?? 'no code'
  return new UpstreamError(sentenceOf(code, shown, socketPath !== undefined), RETRY_MS)
}

function sentenceOf(code: string, shown: string, isSocket: boolean): string {
  if (code === 'ENOENT')
    return `there is no Docker socket at ${shown}: start Docker, mount its socket into the container svc runs in, or set DOCKER_HOST`
  if (code === 'EACCES' || code === 'EPERM')
    return `svc may not use the Docker socket at ${shown}: let the user it runs as join the socket's group (usually docker), and start it again`
  if (code === 'ECONNREFUSED')
    return `nothing answers at ${shown}: start Docker${isSocket ? '' : ', or correct DOCKER_HOST'}`
  if (/CERT|SELF_SIGNED|ISSUER|ERR_TLS|ERR_SSL|EPROTO/.test(code))
    return `TLS with the Docker engine at ${shown} failed (${code}): check DOCKER_CERT_PATH and DOCKER_TLS_VERIFY`
  return `Docker cannot be reached at ${shown} (${code}): check that it runs${isSocket ? '' : ', and DOCKER_HOST'}`
}

/*
 * Where the Docker engine answers: DOCKER_HOST, as Docker's own tools read it, else the socket of this
 * machine. The variable is the operator's who starts the daemon; nothing a caller sends names an address.
 */

/** What leads to the engine. */
interface DockerAddress {
  /** As an error names it. */
  shown: string
  socketPath?: string
  host?: string
  port?: number
  /** TLS with the client's certificate. */
  tls?: { ca: Buffer; cert: Buffer; key: Buffer }
}

export type Environment = Readonly<Record<string, string | undefined>>

const SOCKET = '/var/run/docker.sock'
const PORT = 2375
const TLS_PORT = 2376

/**
 * @param env DOCKER_HOST (unix://, tcp:// or http://), DOCKER_TLS_VERIFY and DOCKER_CERT_PATH.
 * @throws UpstreamError where DOCKER_HOST is of another kind, or the certificates cannot be read.
 */
export function dockerAddress(env: Environment): DockerAddress {
  const given = env.DOCKER_HOST?.trim()
  if (!given) return { shown: SOCKET, socketPath: SOCKET }
  if (given.startsWith('unix://')) {
    const socketPath = given.slice('unix://'.length)
    return { shown: socketPath, socketPath }
  }
  const url = URL.canParse(given) ? new URL(given.replace(/^tcp:/, 'http:')) : null
  if (!url || !/^(tcp|https?):\/\//.test(given) || !url.hostname)
    throw new UpstreamError(
      'DOCKER_HOST must be unix:///path/to/docker.sock or tcp://host:port; for an engine behind ssh, forward its socket and name that',
    )
  const secure = given.startsWith('https:') || Boolean(env.DOCKER_TLS_VERIFY?.trim())
  const port = Number(url.port) || (secure ? TLS_PORT : PORT)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return { shown: `${url.hostname}:${port}`, host, port, ...(secure ? { tls: certificates(env) } : {}) }
}

function certificates(env: Environment): NonNullable<DockerAddress['tls']> {
  const folder = env.DOCKER_CERT_PATH?.trim() || join(env.HOME ?? '', '.docker')
  try {
    const [ca, cert, key] = ['ca.pem', 'cert.pem', 'key.pem'].map((name) => readFileSync(join(folder, name)))
    return { ca: ca!, cert: cert!, key: key! }
  } catch (error) {
    throw new UpstreamError(
      `the certificates of the Docker engine cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}): DOCKER_CERT_PATH must name a folder with ca.pem, cert.pem and key.pem`,
    )
  }
}

/* Times of log lines to the nanosecond, in one form of fixed width, so that they compare as texts. */

/** `2026-11-20T12:00:00.123456789Z`: always UTC, always nine digits. */
export type Stamp = string

const RFC3339 = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/

/** @param text RFC 3339 with any fraction and zone; null where it is no such time. */
export function parseStamp(text: string): Stamp | null {
  const match = RFC3339.exec(text)
  if (!match) return null
  const [, day, time, fraction = '', zone] = match
  const nanos = fraction.padEnd(9, '0')
  if (zone === 'Z') return `${day}T${time}.${nanos}Z`
  const ms = Date.parse(`${day}T${time}${zone}`)
  return Number.isNaN(ms) ? null : `${new Date(ms).toISOString().slice(0, 19)}.${nanos}Z`
}

/** @param ms epoch milliseconds. */
export const stampOf = (ms: number): Stamp => `${new Date(ms).toISOString().slice(0, 23)}000000Z`

/** Epoch milliseconds; the rest is cut. */
export const msOf = (stamp: Stamp): number => Date.parse(`${stamp.slice(0, 23)}Z`)

/** As the engine takes it in a query: Unix seconds with a fraction. @param ms epoch milliseconds */
export function sinceOf(ms: number): string {
  const from = Math.max(0, Math.floor(ms))
  return `${Math.floor(from / 1000)}.${String(from % 1000).padStart(3, '0')}000000`
}
