/**
 * A running server for a test: real HTTP on a free port, a clock moved by hand. Its engine is on the thread of the
 * test, with a store in memory, or where the project of the run says so (vitest.config.ts) a thread for each role.
 * Every answer is checked against what the API document promises of it.
 */
import { type Logger, pino } from 'pino'
import { afterAll, afterEach, beforeEach, inject } from 'vitest'
import { buildServer } from '../../api/http/server.ts'
import type { Engine } from '../../engine/index.ts'
import { createEngine, type EngineOptions } from '../../engine/local.ts'
import { openThreaded } from '../engine/roles/threaded.ts'
import { expectPromised } from './promised.ts'

export const T0 = Date.parse('2026-11-20T12:00:00Z')
export const ROOT = 'svc_root_contract-token-with-enough-length'

export type Fields = Record<string, unknown>
export type Instance = Awaited<ReturnType<typeof startInstance>>

export interface Answer<T> {
  status: number
  headers: Headers
  text: string
  body: T
}

export interface TestClock {
  at: number
  now(): number
}

const clockAt = (at: number): TestClock => {
  const clock = { at, now: () => clock.at }
  return clock
}

type Options = Pick<
  EngineOptions,
  'webhookAllowPrivate' | 'onPending' | 'models' | 'tracing' | 'slack' | 'repository' | 'maxDbSize'
> & {
  secured?: boolean
  env?: Record<string, string>
  /** To listen on; a free one when 0. */
  port?: number
  /** Another instance's, for one that goes on where it ended. */
  clock?: TestClock
  dataFile?: string | null
  log?: Logger
  /** Sentences of the start, for GET /health. */
  bootFailures?: readonly string[]
}

/** An instance, on threads where the project of the run says so. */
export async function startInstance(options: Options = {}) {
  const { clock = clockAt(T0) } = options
  const engine: Engine =
    inject('roles') === 'threads'
      ? await openThreaded(engineOptions(options, clock))
      : createEngine(engineOptions(options, clock))
  return serve(engine, clock, options)
}

/** An instance on this thread, whatever the project: for tests that look at its writer. */
export async function startHere(options: Options = {}) {
  const { clock = clockAt(T0) } = options
  return serve(createEngine(engineOptions(options, clock)), clock, options)
}

function engineOptions(
  { secured: _secured, port: _port, log: _log, bootFailures: _failures, ...options }: Options,
  clock: TestClock,
) {
  return { dataFile: null, env: {}, ...options, clock }
}

/** Serves an engine that is there already. */
export async function serve<E extends Engine>(
  engine: E,
  clock: TestClock,
  { secured = false, port = 0, log = pino({ level: 'silent' }), bootFailures = [] }: Options,
) {
  const app = await buildServer({
    engine,
    clock,
    log,
    config: {
      host: '127.0.0.1',
      port: 0,
      rootToken: secured ? ROOT : null,
      publicUrl: null,
      allowedHosts: [],
      version: '1.0.0',
      hostedUrls: {},
      bootFailures,
      consoleDir: null,
    },
  })
  const url = await app.listen({ host: '127.0.0.1', port })
  let changes = 0
  const changed = () => void changes++
  const stop = () => {
    changed()
    return app.close().then(() => engine.close())
  }
  return {
    ...clientOf(url, secured ? ROOT : null, changed),
    clock,
    stop,
    /** How often something may have changed it: whoever takes its engine or its address may do anything. */
    changes: () => changes,
    get engine() {
      changed()
      return engine
    },
    get url() {
      changed()
      return url
    },
  }
}

/**
 * An instance before each test of a file. One that a test only read, or that refused all it was told, is as it was: the next
 * test has it, too, as a start is most of what such a test costs.
 * @param start starts one, with what the tests of the file begin with
 */
export function startBeforeEach(start: () => Promise<Instance>): void {
  let kept: { instance: Instance; changes: number; at: number } | null = null
  const end = async () => {
    await kept?.instance.stop()
    kept = null
  }
  beforeEach(async () => {
    if (kept) return
    const instance = await start()
    kept = { instance, changes: instance.changes(), at: instance.clock.at }
  })
  afterEach(async ({ task }) => {
    const isAsItWas = kept?.instance.changes() === kept?.changes && kept?.instance.clock.at === kept?.at
    if (!isAsItWas || task.result?.state === 'fail') await end()
  })
  afterAll(end)
}

/**
 * Calls to a daemon.
 * @param token sent unless a call names another
 * @param changed told of each call that may have changed something
 */
export function clientOf(url: string, token: string | null = null, changed = () => {}) {
  async function call<T = Fields>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const isText = typeof body === 'string' || body instanceof Uint8Array
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined || isText ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isText ? (body as string) : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') ?? false
    const answer = { status: response.status, headers: response.headers, text, body: undefined as T }
    if (isJson) answer.body = JSON.parse(text) as T
    if (method !== 'GET' && !isRefusal(answer)) changed()
    expectPromised(method, path, answer, body)
    return answer
  }
  /** A call that succeeds. @returns its body. @throws Error with the refusal. */
  async function ok<T = Fields>(...of: Parameters<typeof call>): Promise<T> {
    const answer = await call<T>(...of)
    if (answer.status >= 300) throw new Error(`${of[0]} ${of[1]}: ${answer.status} ${answer.text}`)
    return answer.body
  }
  /** A call that is refused. @returns its status and sentence. */
  async function refused(...of: Parameters<typeof call>): Promise<[number, string]> {
    const answer = await call(...of)
    return [answer.status, String(answer.body?.detail ?? answer.text)]
  }
  return {
    url,
    call,
    refused,
    ok,
    get: <T = Fields>(path: string) => ok<T>('GET', path),
    post: <T = Fields>(path: string, body?: unknown, headers?: Record<string, string>) =>
      ok<T>('POST', path, body, headers),
    put: <T = Fields>(path: string, body: unknown, headers?: Record<string, string>) =>
      ok<T>('PUT', path, body, headers),
    del: <T = Fields>(path: string) => ok<T>('DELETE', path),
    upload: <T = Fields>(path: string, file: string | Uint8Array) =>
      ok<T>('POST', path, file, { 'content-type': 'text/markdown' }),
    /** The same daemon with another credential. */
    as: (other: string) => clientOf(url, other, changed),
  }
}

/** Of what would change something, that it was refused, or planned alone. */
const isRefusal = ({ status, body }: Answer<unknown>): boolean =>
  (status >= 400 && status < 500) || (body as { change_set?: unknown } | undefined)?.change_set === null
