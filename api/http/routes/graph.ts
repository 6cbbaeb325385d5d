/** The graph of a project, where its nodes are put, and what a draft would do. */
import type { FastifyInstance } from 'fastify'
import type { DraftPreviewRequest, GraphPositionsWrite } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body } from '../validate.ts'
import { writeBy } from '../write-by.ts'
import type { OfProject } from './projects.ts'
import { describe } from './route.ts'

const TAG = 'projects'
const BIG_BODY = 16 * 1024 * 1024

export function graphRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.get<OfProject>(
    '/api/projects/:id/graph',
    describe(TAG, 'getProjectGraph', 'The project as a graph with its live state', 200, 'project-graph.json'),
    async (request) => engine.projectGraph(request.params.id, request.identity.project !== null),
  )
  app.put<OfProject & { Body: GraphPositionsWrite }>(
    '/api/projects/:id/graph/positions',
    describe(TAG, 'placeGraphNodes', 'Replace where people put nodes', 200, 'graph-positions.json', {
      body: body('request-graph-positions.json'),
    }),
    async ({ params, body: positions }) => engine.placeNodes(params.id, positions),
  )
  app.post<OfProject & { Body: DraftPreviewRequest }>(
    '/api/projects/:id/draft/preview',
    {
      ...describe(
        TAG,
        'previewDraft',
        'What operations would do: plan, graph, problems, conflicts and catalog file; nothing is written',
        200,
        'draft-preview.json',
        { body: body('request-draft-preview.json') },
      ),
      bodyLimit: BIG_BODY,
    },
    async (request) => engine.previewDraft(request.params.id, request.body, writeBy(request)),
  )
}
