/** The OpenAPI 3.1 document at /openapi.json and its page at /docs, from the routes' own schemas. */
import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { scopeOf } from './scopes.ts'

const TAGS = [
  { name: 'ingest', description: 'Events in.' },
  { name: 'read', description: 'Timelines out.' },
  { name: 'ask', description: 'Questions answered by a model over reads.' },
  { name: 'sources', description: 'Where events come from.' },
  { name: 'access', description: 'Keys, sessions, identity.' },
  { name: 'instance', description: 'Health, usage, metrics.' },
]

export async function registerOpenapi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'svc',
        version,
        description:
          'Events from many systems in one store; one entity’s timeline out. Errors are {"detail": "<plain sentence>"}.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'This daemon.' }],
      tags: TAGS,
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
    refResolver: { buildLocalReference: (json) => String((json as { title?: string }).title ?? json.$id) },
    transform: ({ schema, url, route }) => {
      const method = [route.method].flat()[0] ?? 'GET'
      const scope = scopeOf(method, route.url)
      const isOpen = scope === 'public'
      return {
        schema: {
          ...schema,
          security: isOpen ? [] : [{ bearer: [] }],
          description: `${(schema as { description?: string })?.description ?? ''} Scope: ${scope}.`.trim(),
        } as never,
        url,
      }
    },
  })
  await app.register(fastifySwaggerUi, {
    routePrefix: '/docs',
    uiConfig: { docExpansion: 'list', deepLinking: true },
    theme: { title: 'svc API' },
  })
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json').send(JSON.stringify(app.swagger())),
  )
}
