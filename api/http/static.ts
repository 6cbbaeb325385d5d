/** The console: files listed once at start, and its one page for every address of its own. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import send from '@fastify/send'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyReply {
    /** Answers with the console's page. */
    callNotFoundPage(): Promise<FastifyReply>
  }
}

const PAGE = 'index.html'
const NOT_BUILT =
  '<!doctype html><html lang="en"><title>svc</title><body><h1>svc</h1><p>The daemon runs; the console is not built. Run <code>npm run setup</code>, then start again.</p></body></html>'

/** @param folder the built console, or null when there is none. */
export function registerConsole(app: FastifyInstance, folder: string | null): void {
  if (folder === null || !existsSync(join(folder, PAGE))) {
    const say = (reply: FastifyReply) => reply.type('text/html').send(NOT_BUILT)
    app.get('/', { schema: { hide: true } }, (_request, reply) => say(reply))
    app.decorateReply('callNotFoundPage', async function (this: FastifyReply) {
      return say(this)
    })
    return
  }
  // What is served are the files there are now, by their exact names: a path can name nothing else.
  const files = namesOf(folder)
  const assets = new Set(namesOf(join(folder, 'assets')))
  for (const name of files)
    app.get(`/${name}`, { schema: { hide: true } }, (request, reply) =>
      sendFile(request, reply, folder, name),
    )
  app.get('/', { schema: { hide: true } }, (request, reply) => sendFile(request, reply, folder, PAGE))
  app.get<{ Params: { '*': string } }>('/assets/*', { schema: { hide: true } }, (request, reply) => {
    const name = request.params['*']
    if (!assets.has(name)) return reply.callNotFound()
    return sendFile(request, reply, folder, `assets/${name}`)
  })
  app.decorateReply('callNotFoundPage', function (this: FastifyReply) {
    return sendFile(this.request, this, folder, PAGE)
  })
}

/** Names of the files in a folder, without those of folders in it. */
function namesOf(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []))
}

/** @param name of a file that is there, under the folder. */
async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  folder: string,
  name: string,
): Promise<FastifyReply> {
  const found = await send(request.raw, `/${name}`, { root: folder, cacheControl: false, index: false })
  if (found.type === 'error') throw found.metadata.error
  return reply
    .code(found.statusCode)
    .headers(found.headers)
    .header(
      'cache-control',
      // The name of an asset has a hash of its bytes.
      name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-store',
    )
    .send(found.stream)
}
