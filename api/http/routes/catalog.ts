/** Connectors and dependents. */
import type { FastifyInstance } from 'fastify'
import type { LabelsPreview } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { answers, body, fields } from '../validate.ts'

export function catalogRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.get(
    '/api/connectors',
    {
      schema: {
        tags: ['sources'],
        operationId: 'listConnectors',
        summary: 'Every connector, its fields and whether it can discover',
        response: answers(200, null),
      },
    },
    async () => engine.listConnectors(),
  )
  app.get<{ Querystring: { kind: string; name: string } }>(
    '/api/catalog/dependents',
    {
      schema: {
        tags: ['sources'],
        operationId: 'listDependents',
        summary: 'What depends on a source',
        querystring: fields(
          { kind: { type: 'string', default: 'source' }, name: { type: 'string', minLength: 1 } },
          ['name'],
        ),
        response: answers(200, 'dependents-result.json'),
      },
    },
    async ({ query }) => engine.dependents(query.kind, query.name),
  )
  app.post<{ Body: LabelsPreview }>(
    '/api/labels/preview',
    {
      schema: {
        tags: ['sources'],
        operationId: 'previewLabel',
        summary: 'Dry run of a label over recent payloads or a sample',
        body: body('request-labels-preview.json'),
        response: answers(200, 'labels-preview-result.json'),
      },
    },
    async (request) => engine.previewLabel(request.body),
  )
}
