/**
 * A server that speaks the Docker Engine API on a unix socket, for tests: no Docker engine can run where
 * tests run. It answers /_ping, /version, /containers/json with its filters, /containers/{id}/json and
 * /containers/{id}/logs as the engine does: frames without a terminal, raw lines with one.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface LoggedLine {
  /** RFC 3339 as the engine writes it, with nanoseconds. */
  at: string
  text: string
  stream?: 'stdout' | 'stderr'
  /** Not the end of its line: the next part has the rest. */
  partial?: boolean
}

export interface ServedContainer {
  id: string
  name: string
  image?: string
  tty?: boolean
  running?: boolean
  /** Its logging driver. */
  driver?: string
  /** Epoch seconds. */
  created?: number
  labels?: Record<string, string>
  ports?: { PrivatePort: number; PublicPort?: number; Type: string }[]
  log: LoggedLine[]
  /** Answers its log with this status and message instead. */
  refuses?: [status: number, message: string]
  /** Its log never comes. */
  hangs?: boolean
}

export interface EngineServer {
  /** The value of DOCKER_HOST. */
  host: string
  env: { DOCKER_HOST: string }
  containers: ServedContainer[]
  /** Paths with their query, as they were asked for. */
  asked: string[]
  close(): Promise<void>
}

/** 64 hexadecimal digits that begin with those of `n`. */
export const idOf = (n: number): string => n.toString(16).padStart(4, '0').padEnd(64, 'a')

/** Labels of a container that Docker Compose made. */
export const composed = (project: string, service: string, file = `/srv/${project}/compose.yaml`) => ({
  'com.docker.compose.project': project,
  'com.docker.compose.service': service,
  'com.docker.compose.project.config_files': file,
})

/** @param options `pingVersion` null: as engines that do not name it in the head of /_ping; `ready` once it answers that. */
export async function serveEngine(
  containers: ServedContainer[],
  { pingVersion = '1.47', ready }: { pingVersion?: string | null; ready?: Promise<void> } = {},
): Promise<EngineServer> {
  const folder = mkdtempSync(join(tmpdir(), 'docker-'))
  const socket = join(folder, 'docker.sock')
  const asked: string[] = []
  const server = http.createServer((request, response) => {
    asked.push(request.url!)
    const url = new URL(request.url!, 'http://docker')
    const versioned = /^\/v(1\.\d+)(\/.*)$/.exec(url.pathname)
    if (url.pathname === '/_ping') {
      if (pingVersion !== null) response.setHeader('Api-Version', pingVersion)
      void (ready ?? Promise.resolve()).then(() => response.end('OK'))
    } else if (url.pathname === '/version') json(response, 200, { ApiVersion: '1.43', MinAPIVersion: '1.24' })
    else if (!versioned || request.method !== 'GET')
      json(response, 400, { message: 'client version is too old' })
    else answer(state.containers, versioned[2]!, url.searchParams, response)
  })
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  const host = `unix://${socket}`
  const state: EngineServer = {
    host,
    env: { DOCKER_HOST: host },
    containers,
    asked,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return state
}

function json(response: http.ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

function answer(
  containers: readonly ServedContainer[],
  path: string,
  query: URLSearchParams,
  response: http.ServerResponse,
): void {
  const [, id, what] = /^\/containers\/([0-9a-f]+)\/(json|logs)$/.exec(path) ?? []
  const found = containers.find((one) => one.id === id)
  if (path === '/containers/json') json(response, 200, listed(containers, query))
  else if (!found) json(response, 404, { message: `No such container: ${id}` })
  else if (what === 'json') json(response, 200, inspected(found))
  else if (found.refuses) json(response, found.refuses[0], { message: found.refuses[1] })
  else if (!found.hangs) logs(found, query, response)
}

const inspected = ({ id, tty = false, running = true, driver = 'json-file' }: ServedContainer) => ({
  Id: id,
  Config: { Tty: tty },
  State: { Running: running },
  HostConfig: { LogConfig: { Type: driver } },
})

function listed(containers: readonly ServedContainer[], query: URLSearchParams): unknown[] {
  const filters = JSON.parse(query.get('filters') ?? '{}') as { name?: string[]; label?: string[] }
  const isAll = query.get('all') === '1'
  return containers
    .filter((one) => isAll || one.running !== false)
    .filter((one) => filters.name?.every((name) => new RegExp(name).test(`/${one.name}`)) ?? true)
    .filter(
      (one) =>
        filters.label?.every((label) => {
          const [key, value] = label.split('=')
          return one.labels?.[key!] === value
        }) ?? true,
    )
    .map((one) => ({
      Id: one.id,
      Names: [`/${one.name}`],
      Image: one.image ?? 'app:1',
      State: one.running === false ? 'exited' : 'running',
      Status: 'Up 2 hours',
      Created: one.created ?? 1_763_600_000,
      Labels: one.labels ?? {},
      Ports: one.ports ?? [],
    }))
}

function logs(found: ServedContainer, query: URLSearchParams, response: http.ServerResponse): void {
  const since = nanosOf(query.get('since') ?? '0')
  const tail = query.get('tail')
  const wanted = found.log.filter((line) => stampNanos(line.at) >= since)
  const lines = tail === null ? wanted : wanted.slice(-Number(tail))
  const type = found.tty ? 'raw' : 'multiplexed'
  response.writeHead(200, { 'content-type': `application/vnd.docker.${type}-stream` })
  for (const { at, text, stream = 'stdout', partial } of lines) {
    const body = Buffer.from(`${at} ${text}${partial ? '' : found.tty ? '\r\n' : '\n'}`)
    const header = Buffer.alloc(8)
    header[0] = stream === 'stderr' ? 2 : 1
    header.writeUInt32BE(body.length, 4)
    response.write(found.tty ? body : Buffer.concat([header, body]))
  }
  response.end()
}

/** Unix seconds with a fraction, as `since` has them. */
function nanosOf(since: string): bigint {
  const [seconds = '0', fraction = ''] = since.split('.')
  return BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0').slice(0, 9) || '0')
}

function stampNanos(at: string): bigint {
  const [, fraction = ''] = /\.(\d+)/.exec(at) ?? []
  return BigInt(Date.parse(at.replace(/\.\d+/, ''))) * 1_000_000n + BigInt(fraction.padEnd(9, '0') || '0')
}
