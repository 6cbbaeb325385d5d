/** The OpenAPI 3.1 document at /openapi.json and its page at /docs, from the routes' own schemas. */
import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { finished, OPTIONAL_BODY } from './document/finish.ts'
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
          'Events from many systems in one store; one entity’s timeline out. Errors are {"detail": "<plain sentence>"}.',
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
  await app.register(fastifySwaggerUi, {
    routePrefix: '/docs',
    uiConfig: { docExpansion: 'list', deepLinking: true },
    theme: { title: 'svc API' },
  })
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('application/json').send(JSON.stringify(app.swagger())),
  )
}
