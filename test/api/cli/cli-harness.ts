/** Runs command lines in process against a stub daemon on loopback. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { run } from '../../../api/cli/program.ts'
import type { Io } from '../../../api/cli/terminal.ts'

/** One request the stub got. */
export interface Seen {
  method: string
  url: string
  headers: IncomingMessage['headers']
  /** Inflated. */
  body: string
}

export type Handler = (seen: Seen, response: ServerResponse, index: number) => void

export interface Stub {
  url: string
  requests: Seen[]
  close(): Promise<void>
}

/** A daemon that answers as `handler` says. */
export async function startStub(handler: Handler): Promise<Stub> {
  const requests: Seen[] = []
  const server: Server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const bytes = Buffer.concat(parts)
    const body = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8')
    const seen = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
    requests.push(seen)
    handler(seen, response, requests.length - 1)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  }
}

/** Answers with JSON text. */
export function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

export interface Ran {
  code: number
  out: string
  err: string
  /** What the command waited for, milliseconds. */
  waits: number[]
}

export interface Setting {
  env?: Record<string, string>
  /** What is typed; a function types what it makes of what the command has said so far. */
  stdin?: AsyncIterable<Uint8Array> | string | ((said: () => string) => AsyncIterable<Uint8Array>)
  isTerminal?: boolean
  /** What a person answers when asked, at once or after doing something else. */
  confirm?: boolean | (() => Promise<boolean>)
  /** What opening the browser does. */
  browse?: Io['browse']
  interrupted?: AbortSignal
  /** Told what the command says on standard output, as it does. */
  told?(text: string): void
}

/** Runs one command line with an empty data home; waiting takes no time. */
export async function svc(argv: string[], setting: Setting = {}): Promise<Ran> {
  const home = mkdtempSync(join(tmpdir(), 'svc-cli-'))
  const result: Ran = { code: -1, out: '', err: '', waits: [] }
  const { stdin = '' } = setting
  const io: Io = {
    out: (text) => {
      result.out += text
      setting.told?.(text)
    },
    err: (text) => {
      result.err += text
    },
    stdin:
      typeof stdin === 'string'
        ? chunks(stdin)
        : typeof stdin === 'function'
          ? stdin(() => result.err)
          : stdin,
    isTerminal: setting.isTerminal ?? false,
    colour: false,
    env: { SVC_HOME: home, ...setting.env },
    fetch: globalThis.fetch,
    confirm: async () =>
      typeof setting.confirm === 'function' ? setting.confirm() : (setting.confirm ?? false),
    sleep: async (ms) => void result.waits.push(ms),
    browse: setting.browse ?? ((_url, failed) => failed('no browser in a test')),
    interrupted: setting.interrupted ?? new AbortController().signal,
  }
  try {
    result.code = await run(io, argv)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
  return result
}

/** Text as a stream of the given parts. */
export async function* chunks(...parts: string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) if (part !== '') yield Buffer.from(part)
}
