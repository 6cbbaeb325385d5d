/** The console: files listed once at start, and its one page for every address of its own. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'

declare module 'fastify' {
  interface FastifyReply {
    /** Answers with the console's page. */
    callNotFoundPage(): FastifyReply
  }
}

const NOT_BUILT =
  '<!doctype html><html lang="en"><title>svc</title><body><h1>svc</h1><p>The daemon runs; the console is not built. Run <code>npm run setup</code>, then start again.</p></body></html>'

/** @param folder the built console, or null when there is none. */
export async function registerConsole(app: FastifyInstance, folder: string | null): Promise<void> {
  const built = folder !== null && existsSync(join(folder, 'index.html'))
  if (built)
    await app.register(fastifyStatic, {
      root: folder,
      // Routes are made from the files there are now: a path can name nothing else.
      wildcard: false,
      index: 'index.html',
      setHeaders: (response, path) =>
        response.header(
          'cache-control',
          path.includes('/assets/') ? 'public, max-age=31536000, immutable' : 'no-store',
        ),
    })
  else app.get('/', { schema: { hide: true } }, (_request, reply) => reply.type('text/html').send(NOT_BUILT))
  app.decorateReply('callNotFoundPage', function (this: FastifyReply) {
    return built ? this.sendFile('index.html') : this.type('text/html').send(NOT_BUILT)
  })
}
