/**
 * The daemon's HTTP server with an engine that stores nothing: the yardstick of single posts, by its route of the web
 * framework, as the goal has it, and ahead of that, as a post is taken (api/http/direct-ingest.ts).
 */
import { pino } from 'pino'
import { buildServer } from '../../api/http/server.ts'
import type { Engine } from '../../engine/index.ts'
import { createEngine } from '../../engine/local.ts'

const real = createEngine({ dataFile: null })
const { ingest_key } = await real.createSource(
  { name: 'none', connector: 'webhook' },
  { caller: { id: 'open', name: 'bench' }, origin: 'api' },
  false,
)
const engine: Engine = { ...real, ingest: async () => ({ ingested: 1 }) }
const app = await buildServer({
  engine,
  log: pino({ level: 'silent' }),
  config: {
    host: '127.0.0.1',
    port: 0,
    rootToken: null,
    publicUrl: null,
    allowedHosts: [],
    version: 'bench',
    hostedUrls: {},
    consoleDir: null,
  },
})
const url = await app.listen({ port: 0, host: '127.0.0.1' })
console.log(`console at ${url} ${ingest_key}`)
