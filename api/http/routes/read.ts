/** Reads (SPEC.md, Ingest and reads). */
import type { FastifyInstance } from 'fastify'
import type { HistogramRequest, InspectRequest, ReadRequest, StatsRequest } from '../../../schemas/types.ts'
import { askedBy } from '../asked.ts'
import type { Identity } from '../auth.ts'
import type { Doors } from '../doors.ts'
import { readJson, rowJson } from '../present.ts'
import { narrowToProject } from '../project-key.ts'
import { answers, body, fields } from '../validate.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

export function readRoutes(app: FastifyInstance, doors: Doors): void {
  const { engine } = doors
  const narrowed = async <T extends { project?: string; sources?: string[] }>(
    identity: Identity,
    request: T,
  ): Promise<T> =>
    identity.project === null
      ? request
      : narrowToProject(identity, request, (await engine.projectCard(identity.project)).sources)
  app.post<{ Body: ReadRequest }>(
    '/read',
    {
      schema: {
        tags: ['read'],
        operationId: 'read',
        summary: 'One entity’s events across all sources in time order',
        body: body('request-read.json'),
        response: answers(200, 'read-result.json'),
      },
    },
    async (request, reply) =>
      reply
        .type(JSON_TYPE)
        .send(
          readJson(
            await engine.read(await narrowed(request.identity, request.body), askedBy(request, reply, doors)),
          ),
        ),
  )
  app.post<{ Body: StatsRequest }>(
    '/api/stats',
    {
      schema: {
        tags: ['read'],
        operationId: 'stats',
        summary: 'A label’s values, this window against the one before',
        body: body('request-stats.json'),
        response: answers(200, 'stats-result.json'),
      },
    },
    async (request, reply) =>
      engine.stats(await narrowed(request.identity, request.body), askedBy(request, reply, doors)),
  )
  app.post<{ Body: InspectRequest }>(
    '/api/inspect',
    {
      schema: {
        tags: ['read'],
        operationId: 'inspect',
        summary:
          'The tools of agents that look: what changed, a number over time, a trace, a record in pages',
        body: body('request-inspect.json'),
        response: answers(200, 'inspect-result.json'),
      },
    },
    async (request, reply) =>
      engine.inspect(await narrowed(request.identity, request.body), askedBy(request, reply, doors)),
  )
  app.post<{ Body: HistogramRequest }>(
    '/api/histogram',
    {
      schema: {
        tags: ['read'],
        operationId: 'histogram',
        summary: 'Events over time',
        body: body('request-histogram.json'),
        response: answers(200, 'histogram-result.json'),
      },
    },
    async (request, reply) => engine.histogram(request.body, askedBy(request, reply, doors)),
  )
  app.get<{ Querystring: { label?: string; limit: number; prefix?: string } }>(
    '/api/entities',
    {
      schema: {
        tags: ['read'],
        operationId: 'listEntities',
        summary: 'Labels and their values with counts',
        querystring: fields({
          label: { type: 'string', minLength: 1 },
          limit: { type: 'integer', default: 50 },
          prefix: { type: 'string' },
        }),
        response: answers(200, 'entities-shown.json'),
      },
    },
    async ({ query }) =>
      query.label === undefined
        ? engine.entities(query.limit)
        : engine.entityValues(query.label, query.limit, query.prefix),
  )
  app.get<{ Params: { id: string } }>(
    '/api/events/:id',
    {
      schema: {
        tags: ['read'],
        operationId: 'getEvent',
        summary: 'One event with its payload',
        response: answers(200, 'event-detail.json'),
      },
    },
    async ({ params }, reply) =>
      reply.type(JSON_TYPE).send(`{"event":${rowJson(await engine.event(params.id))}}`),
  )
}
