/** The OpenAPI 3.1 document at /openapi.json and its page at /docs, from the routes' own schemas. */
import fastifySwagger from '@fastify/swagger'
import Fastify, { type FastifyInstance } from 'fastify'
import { finished, OPTIONAL_BODY } from './document/finish.ts'
import { notFound } from './not-found.ts'
import { scopeOf } from './scopes.ts'
import { isOptional } from './validate.ts'

export async function registerOpenapi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'svc',
        version,
        description:
          'Events from many systems in one store; one entity’s timeline out. Errors are `{"detail": "<plain sentence>"}`.',
        contact: { name: 'Whoever runs this instance' },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'This daemon.' }],
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'Root token or API key; open instances check nothing.',
          },
        },
      },
    },
    // A boolean that is always true is no choice of one: generators make a type with a clashing name of that.
    convertConstToEnum: false,
    refResolver: { buildLocalReference: (json) => String((json as { title?: string }).title ?? json.$id) },
    transform: ({ schema, url, route }) => {
      const method = [route.method].flat()[0] ?? 'GET'
      const scope = scopeOf(method, route.url)
      const isOpen = scope === 'public'
      return {
        schema: {
          ...schema,
          // A source that checks signatures takes what is signed without a credential.
          security: isOpen ? [] : [{ bearer: [] }, ...(scope === 'signed-or-ingest' ? [{}] : [])],
          ...(isOptional((schema as { body?: unknown })?.body) ? { [OPTIONAL_BODY]: true } : {}),
          description: `${(schema as { description?: string })?.description ?? ''} Scope: ${scope}.`.trim(),
        } as never,
        url,
      }
    },
    // Once, when the document is first asked for.
    transformObject: (made) =>
      finished((made as { openapiObject: unknown }).openapiObject) as Record<string, unknown>,
  })
  const document = () => JSON.stringify(app.swagger())
  const hidden = { schema: { hide: true } }
  for (const path of ['/openapi.json', '/docs/json'])
    app.get(path, hidden, async (_request, reply) => reply.type('application/json').send(document()))
  app.get('/docs/yaml', hidden, async (_request, reply) =>
    reply.type('application/x-yaml').send(app.swagger({ yaml: true })),
  )
  let page: Promise<FastifyInstance> | null = null
  for (const path of ['/docs', '/docs/*'])
    app.get(path, hidden, async (request, reply) => {
      page ??= openPage().catch((error: unknown) => {
        page = null
        throw error
      })
      const { method, url } = request
      const answer = await (await page).inject({ method: method as 'GET', url, headers: request.headers })
      const { connection: _, ...headers } = answer.headers
      return reply.code(answer.statusCode).headers(headers).send(answer.rawPayload)
    })
  app.addHook('onClose', async () => (await page)?.close())
}

/** The browsable page is a server of its own, made for the first who asks: its files and routes are no start's. */
async function openPage(): Promise<FastifyInstance> {
  const app = Fastify()
  // Before the files of the page: what is none of them is answered by the handler that is there when they are added.
  app.setNotFoundHandler((request, reply) => notFound(request, reply))
  const { default: swaggerUi } = await import('@fastify/swagger-ui')
  // The page fetches the document itself, from /docs/json of the daemon.
  await app.register(fastifySwagger, {
    mode: 'static',
    specification: { document: { openapi: '3.1.0' } as never },
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { docExpansion: 'list', deepLinking: true },
    theme: { title: 'svc API' },
  })
  await app.ready()
  return app
}
