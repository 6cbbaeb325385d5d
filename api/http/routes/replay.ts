/** What happened in a project between two instants, or in the chain of runs of one result. */
import type { FastifyInstance } from 'fastify'
import { askedBy } from '../asked.ts'
import type { Doors } from '../doors.ts'
import { fields } from '../validate.ts'
import type { OfProject } from './projects.ts'
import { describe } from './route.ts'

interface ReplayQuery {
  from?: string
  to?: string
  result?: string
  limit: number
}

const instant = { type: 'string', minLength: 1, maxLength: 40 }

export function replayRoutes(app: FastifyInstance, doors: Doors): void {
  const { engine } = doors
  app.get<OfProject & { Querystring: ReplayQuery }>(
    '/api/projects/:id/replay',
    describe(
      'projects',
      'getReplay',
      'What happened between two instants, or in the chain of one result',
      200,
      'replay.json',
      {
        querystring: fields({
          from: instant,
          to: instant,
          result: { type: 'string', minLength: 1, maxLength: 64 },
          limit: { type: 'integer', default: 2_000, minimum: 1, maximum: 5_000 },
        }),
      },
    ),
    async (request, reply) => {
      const { params, query, identity } = request
      const asked = { ...query, isAlone: identity.project !== null }
      return engine.replay(params.id, asked, askedBy(request, reply, doors))
    },
  )
}
