/** Pushes to the repository of the catalog: what is signed are their bytes, so they are no operation. */
import type { FastifyInstance } from 'fastify'
import type { Doors } from '../doors.ts'
import { takes } from '../validate.ts'
import { describe } from './route.ts'

/** Pushes of many commits list each; GitHub stops at 25 MB, of which only the branch is read here. */
const PUSH_MAX = 4 * 1024 * 1024

export function pushRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.register(async (raw) => {
    raw.removeAllContentTypeParsers()
    raw.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes))
    raw.post<{ Body: Buffer | undefined }>(
      '/hooks/catalog',
      {
        ...describe(
          'catalog',
          'takeCatalogPush',
          'A push to the repository of the catalog, signed by its host: the repository is looked at now',
          200,
          'catalog-push-taken.json',
          takes({ 'application/json': null, 'application/x-www-form-urlencoded': null }),
        ),
        bodyLimit: PUSH_MAX,
      },
      async ({ body: bytes, headers }) =>
        engine.takeCatalogPush({ raw: bytes ?? new Uint8Array(), headers: textsOf(headers) }),
    )
  })
}

const textsOf = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
