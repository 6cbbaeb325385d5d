/** The HTTP and gRPC doors over a real engine in memory, on ports of their own, for real exporters. */
import { pino } from 'pino'
import { buildServer } from '../../../api/http/server.ts'
import { createEngine } from '../../../engine/local.ts'
import type { Source } from '../../../schemas/types.ts'

export const ROOT = 'svc_root_test-token-with-enough-length'

export interface StoredRow {
  source: string
  event_type: string
  text: string
  event_time: string
  labels: Record<string, string | number>
  raw: Record<string, unknown>
}

export async function openReceiver(
  options: { secured?: boolean; maxDbSize?: number; clock?: { now(): number } } = {},
) {
  const { clock, maxDbSize } = options
  const engine = createEngine({ dataFile: null, maxDbSize, ...(clock ? { clock } : {}) })
  const app = await buildServer({
    engine,
    ...(clock ? { clock } : {}),
    log: pino({ level: 'silent' }),
    config: {
      host: '127.0.0.1',
      port: 0,
      rootToken: options.secured ? ROOT : null,
      publicUrl: null,
      allowedHosts: [],
      version: '1.0.0',
      hostedUrls: {},
      consoleDir: null,
    },
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const { port: grpcPort } = await app.svc.startOtlpGrpc(0)
  const authorization: Record<string, string> = options.secured ? { authorization: `Bearer ${ROOT}` } : {}
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(url + path, {
      method,
      headers: { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return (await answer.json()) as T
  }
  return {
    app,
    engine,
    url,
    grpcPort: grpcPort!,
    call,
    /** An export by hand. */
    post: (signal: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
      fetch(`${url}/v1/${signal}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      }),
    /** Makes a source; on a secured one its key comes along. */
    source: (name: string, connector: string, config: Record<string, unknown> = {}) =>
      call<{ ingest_key: string; key?: { secret: string } }>('POST', '/api/sources', {
        name,
        connector,
        config,
      }),
    sources: () => call<Source[]>('GET', '/api/sources'),
    read: async (selector: Record<string, string>): Promise<StoredRow[]> =>
      (
        await call<{ rows: StoredRow[] }>('POST', '/read', {
          selector,
          window: '1d',
          include_payload: true,
        })
      ).rows,
    key: async (scopes: string[]) =>
      (await call<{ secret: string }>('POST', '/api/keys', { name: scopes.join('+'), scopes })).secret,
    close: async () => {
      await app.close()
      await engine.close()
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof openReceiver>>
