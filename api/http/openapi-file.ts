/** The API document as the repository keeps it: written by `npm run generate`, checked for drift by the tests. */
import { pino } from 'pino'
import { createEngine } from '../../engine/local.ts'
import { buildServer } from './server.ts'

/** The text of api/http/openapi.json. @param version of the package. */
export async function renderOpenapi(version = '1.0.0'): Promise<string> {
  const engine = createEngine({ dataFile: null })
  const app = await buildServer({
    engine,
    log: pino({ level: 'silent' }),
    config: {
      host: '127.0.0.1',
      port: 0,
      rootToken: null,
      publicUrl: null,
      allowedHosts: [],
      version,
      hostedUrls: {},
      consoleDir: null,
    },
  })
  await app.ready()
  const text = `${JSON.stringify(app.swagger(), null, 2)}\n`
  await app.close()
  await engine.close()
  return text
}
