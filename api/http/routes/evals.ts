/** Reports of svc evals, handed in by the command and read by the console. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { packReport } from '../../../engine/index.ts'
import type { EvalReport } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body } from '../validate.ts'
import { describe } from './route.ts'

type Id = { Params: { id: string } }
const TAG = 'evals'
/** Bytes of a report. */
const REPORT_MAX = 32 * 1024 * 1024
const gunzipAside = promisify(gunzip)

export function evalRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.get(
    '/api/evals/reports',
    describe(
      TAG,
      'listEvalReports',
      'Reports that were handed in, newest first',
      200,
      'eval-reports-result.json',
    ),
    async () => engine.listEvalReports(),
  )
  app.get<Id>(
    '/api/evals/reports/:id',
    describe(TAG, 'getEvalReport', 'One report, as it was handed in', 200, 'eval-report.json'),
    async ({ params }, reply) =>
      reply.type('application/json').send(await gunzipAside(await engine.getEvalReport(params.id))),
  )
  app.post<{ Body: EvalReport }>(
    '/api/evals/reports',
    {
      ...describe(
        TAG,
        'handInEvalReport',
        'Hand in a report; the newest 50 are kept',
        201,
        'eval-report-handed-in.json',
        {
          body: body('eval-report.json'),
        },
      ),
      bodyLimit: REPORT_MAX,
    },
    async (request, reply) =>
      reply
        .code(201)
        .send(await engine.handInEvalReport(await packReport(request.body), request.identity.name)),
  )
  app.delete<Id>(
    '/api/evals/reports/:id',
    describe(TAG, 'deleteEvalReport', 'Delete a report', 200, 'done.json'),
    async ({ params }) => engine.deleteEvalReport(params.id),
  )
}
