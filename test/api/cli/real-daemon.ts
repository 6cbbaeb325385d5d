/** The real daemon's server on loopback, over a store in memory. */
import { pino } from 'pino'
import { buildServer } from '../../../api/http/server.ts'
import { createEngine } from '../../../engine/local.ts'

export interface Daemon {
  url: string
  stop(): Promise<void>
}

/** Open, without a login, unless a root token is given; its clock stands still. */
export async function startDaemon(rootToken: string | null = null): Promise<Daemon> {
  const engine = createEngine({ dataFile: null, clock: { now: () => Date.parse('2026-11-20T12:00:00Z') } })
  const app = await buildServer({
    engine,
    log: pino({ level: 'silent' }),
    config: {
      host: '127.0.0.1',
      port: 0,
      rootToken,
      publicUrl: null,
      allowedHosts: [],
      version: '1.0.0',
      hostedUrls: {},
      consoleDir: null,
    },
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url, stop: () => app.close().then(() => engine.close()) }
}
