/** The HTTP door over a real engine in memory, asked without a port. */
import { pino } from 'pino'
import { buildServer } from '../../../api/http/server.ts'
import { createEngine } from '../../../engine/local.ts'

export const ROOT = 'svc_root_test-token-with-enough-length'
export const T0 = Date.parse('2026-11-20T12:00:00Z')

export async function openDoor(
  options: {
    secured?: boolean
    maxDbSize?: number
    publicUrl?: string
    allowedHosts?: string[]
    isProxy?: (address: string) => boolean
    userHeader?: string
    /** Path; none: in memory. */
    dataFile?: string
    /** Folder of a built console; none: it is not built. */
    consoleDir?: string
  } = {},
) {
  const clock = { at: T0, now: () => clock.at }
  const engine = createEngine({ dataFile: options.dataFile ?? null, clock, maxDbSize: options.maxDbSize })
  const app = await buildServer({
    engine,
    clock,
    log: pino({ level: 'silent' }),
    config: {
      host: '127.0.0.1',
      port: 8787,
      rootToken: options.secured ? ROOT : null,
      publicUrl: options.publicUrl ?? null,
      allowedHosts: options.allowedHosts ?? [],
      isProxy: options.isProxy ?? null,
      userHeader: options.userHeader ?? null,
      version: '1.0.0',
      hostedUrls: {},
      consoleDir: options.consoleDir ?? null,
    },
  })
  const call = async (method: string, url: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await app.inject({
      method: method as 'GET',
      url,
      headers: {
        host: '127.0.0.1:8787',
        ...(body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
          ? {}
          : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
    })
    return {
      status: answer.statusCode,
      text: answer.body,
      headers: answer.headers,
      json: () => JSON.parse(answer.body) as Record<string, never> & { detail: string },
    }
  }
  const as = (token: string) => ({ authorization: `Bearer ${token}` })
  /** Makes a source as root and returns its ingest URL and minted key. */
  const source = async (name: string, config: Record<string, unknown> = {}, connector = 'webhook') => {
    const answer = await call(
      'POST',
      '/api/sources',
      { name, connector, config },
      options.secured ? as(ROOT) : {},
    )
    const { ingest_key, key } = answer.json() as unknown as {
      ingest_key: string
      key?: { id: string; secret: string }
    }
    return { url: `/ingest/${ingest_key}`, key }
  }
  const key = async (scopes: string[], more: Record<string, unknown> = {}) =>
    (
      await call('POST', '/api/keys', { name: scopes.join('+'), scopes, ...more }, as(ROOT))
    ).json() as unknown as { id: string; secret: string }
  return {
    app,
    engine,
    clock,
    call,
    as,
    source,
    key,
    close: async () => {
      await app.close()
      await engine.close()
    },
  }
}
