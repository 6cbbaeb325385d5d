/** Sources (SPEC.md, Sources and labels; reference shapes of the rows). */
import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import { SvcError } from '../../../engine/index.ts'
import type { DiscoverRequest, SourceWrite } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { rowsJson } from '../present.ts'
import { type Answer, body, fields } from '../validate.ts'
import { withEtag, writeBy } from '../write-by.ts'
import { describe as describeRoute } from './route.ts'

type Named = { Params: { name: string } }

const describe = (
  operationId: string,
  summary: string,
  status: number,
  answer: Answer,
  more: Record<string, unknown> = {},
): RouteShorthandOptions => describeRoute('sources', operationId, summary, status, answer, more)

export function sourceRoutes(app: FastifyInstance, { engine, auth }: Doors): void {
  app.get(
    '/api/sources',
    describe('listSources', 'List sources with health', 200, { listOf: 'source.json' }),
    async () => engine.listSources(),
  )
  app.post<{ Body: SourceWrite }>(
    '/api/sources',
    describe(
      'createSource',
      'Make a source; a push source on a secured instance mints an ingest key, shown once',
      201,
      'source-created.json',
      { body: body('request-source-write.json') },
    ),
    async (request, reply) => {
      const created = await engine.createSource(request.body, writeBy(request), auth.secured)
      await auth.refresh()
      return withEtag(reply.code(201).header('cache-control', 'no-store'), created)
    },
  )
  app.get(
    '/api/sources/discover',
    describe('explainDiscover', 'Explains that discover is POST-only', 405, 'problem.json'),
    async (_request, reply) => {
      reply.header('allow', 'POST')
      throw new SvcError(
        'method_not_allowed',
        'discover is POST-only: POST {connector, config} with what you know of the upstream, and the answer proposes a config',
      )
    },
  )
  app.post<{ Body: DiscoverRequest }>(
    '/api/sources/discover',
    describe('discoverSource', 'Introspect an upstream and propose a config', 200, 'source-proposal.json', {
      body: body('request-discover.json'),
    }),
    async (request) => engine.discoverSource(request.body),
  )
  app.get<{ Querystring: { provider: string } }>(
    '/api/discover/environment',
    describe(
      'discoverEnvironment',
      'Look at what runs on this machine, and propose sources',
      200,
      'environment-scan.json',
      {
        querystring: fields({ provider: { type: 'string', default: 'docker' } }),
      },
    ),
    async ({ query }) => engine.discoverEnvironment(query.provider),
  )
  app.post<{ Body: SourceWrite }>(
    '/api/sources/test',
    describe('testSource', 'Try a config without saving it', 200, 'source-test-result.json', {
      body: body('request-source-write.json'),
    }),
    async (request) => engine.testSource(request.body),
  )
  app.get<Named>(
    '/api/sources/:name',
    describe('getSource', 'One source', 200, 'source.json'),
    async ({ params }, reply) => withEtag(reply, await engine.getSource(params.name)),
  )
  app.put<Named & { Body: SourceWrite }>(
    '/api/sources/:name',
    describe(
      'updateSource',
      'Replace the config; masked or omitted secrets are kept',
      200,
      'source-updated.json',
      {
        body: body('request-source-write.json'),
      },
    ),
    async (request, reply) => {
      const result = await engine.updateSource(request.params.name, request.body, writeBy(request))
      await auth.refresh()
      return withEtag(reply, result)
    },
  )
  app.delete<Named & { Querystring: { purge_events: boolean; cascade: boolean } }>(
    '/api/sources/:name',
    describe(
      'deleteSource',
      'Delete a source, with its events when purge_events is true',
      200,
      'source-deleted.json',
      {
        querystring: fields({
          purge_events: { type: 'boolean', default: false },
          cascade: { type: 'boolean', default: false },
        }),
      },
    ),
    async (request) => {
      const result = await engine.deleteSource(
        request.params.name,
        { purgeEvents: request.query.purge_events, cascade: request.query.cascade },
        writeBy(request),
      )
      await auth.refresh()
      return result
    },
  )
  for (const event of ['pause', 'resume'] as const)
    app.post<Named>(
      `/api/sources/:name/${event}`,
      describe(
        `${event}Source`,
        event === 'pause' ? 'Stop taking events' : 'Take events again',
        200,
        'part-moved.json',
      ),
      async (request) => {
        const result = await engine.moveSource(request.params.name, event, writeBy(request))
        await auth.refresh()
        return result
      },
    )
  app.get<Named & { Querystring: { limit: number } }>(
    '/api/sources/:name/events',
    describe(
      'listSourceEvents',
      'Newest events of a source',
      200,
      { listOf: 'event.json' },
      {
        querystring: fields({ limit: { type: 'integer', default: 50 } }),
      },
    ),
    async ({ params, query }, reply) =>
      reply
        .type('application/json; charset=utf-8')
        .send(rowsJson(await engine.sourceEvents(params.name, query.limit))),
  )
  app.get<Named & { Querystring: { limit: number } }>(
    '/api/sources/:name/fields',
    describe('listSourceFields', 'Fields with their actual coverage', 200, 'fields-result.json', {
      querystring: fields({ limit: { type: 'integer', default: 500 } }),
    }),
    async ({ params, query }) => engine.sourceFields(params.name, query.limit),
  )
}
