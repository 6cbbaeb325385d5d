/**
 * The Docker Engine API over its socket, read only: what its containers are, and what they logged. It is
 * Node's own HTTP client and about a hundred lines, for three GET requests: a client library would bring
 * an SSH implementation along, and reads streams we need to cut at a line of our choice.
 */
import http from 'node:http'
import https from 'node:https'
import { UpstreamError } from '../connectors/connector.ts'
import { type DockerAddress, dockerAddress, type Environment } from './address.ts'

/** An engine that has answered, and the version of the API it speaks. */
export interface DockerClient {
  /** The parsed answer of a GET. @throws DockerRefusal, UpstreamError */
  get<T>(path: string, query?: Record<string, string>): Promise<T>
  /** The body of a GET as it comes; to be read to its end, or destroyed. @throws DockerRefusal, UpstreamError */
  stream(path: string, query: Record<string, string>): Promise<http.IncomingMessage>
  /** What broke off a stream, as a sentence. */
  fault(error: unknown): UpstreamError
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
    const answer = ping.statusCode === 200 ? await ask(address, '/version', signal) : null
    version = answer ? apiVersion(await textOf(answer, ANSWER_BYTES, address, signal)) : undefined
  }
  if (ping.statusCode !== 200 || version === undefined || !/^\d+\.\d+$/.test(version))
    throw new UpstreamError(
      `what answers at ${address.shown} is no Docker engine (HTTP ${ping.statusCode}${body ? `: ${shorten(body)}` : ''}); correct DOCKER_HOST`,
      RETRY_MS,
    )
  return connected(address, `/v${version}`, signal)
}

function connected(address: DockerAddress, prefix: string, signal: AbortSignal): DockerClient {
  const open = async (path: string, query: Record<string, string> = {}) => {
    const search = new URLSearchParams(query).toString()
    const answer = await ask(address, `${prefix}${path}${search ? `?${search}` : ''}`, signal)
    if (answer.statusCode === 200) return answer
    const text = await textOf(answer, REFUSAL_BYTES, address, signal)
    throw new DockerRefusal(
      `Docker refuses (HTTP ${answer.statusCode}): ${messageOf(text)}`,
      answer.statusCode ?? 0,
    )
  }
  return {
    get: async <T>(path: string, query?: Record<string, string>) =>
      parsed(await textOf(await open(path, query), ANSWER_BYTES, address, signal), address) as T,
    stream: open,
    fault: (error) => unreachable(error, address, signal),
    within: (narrower) => connected(address, prefix, narrower),
  }
}

function ask(address: DockerAddress, path: string, signal: AbortSignal): Promise<http.IncomingMessage> {
  const { socketPath, host, port, tls } = address
  return new Promise((resolve, reject) => {
    const options = { socketPath, host, port, path, signal, agent: false, headers: { host: 'docker' } }
    const request = tls ? https.request({ ...options, ...tls, servername: host }) : http.request(options)
    request.on('error', (error) => reject(unreachable(error, address, signal)))
    request.on('response', resolve)
    request.end()
  })
}

async function textOf(
  answer: http.IncomingMessage,
  most: number,
  address: DockerAddress,
  signal: AbortSignal,
): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
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

/** A failed connection as a sentence that says what to do. */
function unreachable(
  error: unknown,
  { shown, socketPath }: DockerAddress,
  signal: AbortSignal,
): UpstreamError {
  if (error instanceof UpstreamError) return error
  if (signal.aborted) return new UpstreamError(`Docker did not answer in time at ${shown}`, RETRY_MS)
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
