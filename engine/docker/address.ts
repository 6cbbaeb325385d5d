/**
 * Where the Docker engine answers: DOCKER_HOST, as Docker's own tools read it, else the socket of this
 * machine. The variable is the operator's who starts the daemon; nothing a caller sends names an address.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UpstreamError } from '../connectors/connector.ts'

/** What of Node's HTTP options leads to the engine. */
export interface DockerAddress {
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
