/** Agents at work: runs with their steps, repeated and cancelled; what an agent would be told, and cost. */
import type { FastifyInstance } from 'fastify'
import type { RerunRequest, ScenarioAsk } from '../../../schemas/types.ts'
import { askedBy } from '../asked.ts'
import type { Doors } from '../doors.ts'
import { body, fields, optionalBody } from '../validate.ts'
import { callerOf } from '../write-by.ts'
import { describe } from './route.ts'

type Id = { Params: { id: string } }
type Name = { Params: { name: string } }
interface RunQuery {
  agent?: string
  project?: string
  status?: string
  entity?: string
  practice?: boolean
  limit: number
  offset: number
}
const TAG = 'runs'

const word = { type: 'string', minLength: 1, maxLength: 1024 }
const page = {
  limit: { type: 'integer', default: 50, minimum: 1, maximum: 200 },
  offset: { type: 'integer', default: 0, minimum: 0 },
}
const STATUSES = [
  ...['successful', 'unsuccessful', 'failed', 'open'],
  ...['queued', 'running', 'parked', 'succeeded', 'exhausted', 'cancelled', 'capped', 'empty', 'ok'],
]
const narrowed = { status: { type: 'string', enum: STATUSES }, project: word }

export function runRoutes(app: FastifyInstance, doors: Doors): void {
  const { engine } = doors
  app.get<{ Querystring: RunQuery }>(
    '/api/runs',
    describe(TAG, 'listRuns', 'List runs of agents, newest first', 200, 'runs-result.json', {
      querystring: fields({ ...narrowed, agent: word, entity: word, practice: { type: 'boolean' }, ...page }),
    }),
    async ({ query }) => engine.listRuns(query),
  )
  app.get<Id>(
    '/api/runs/:id',
    describe(TAG, 'getRun', 'One run with its steps, claims and chain', 200, 'run-detail.json'),
    async ({ params }) => engine.getRun(params.id),
  )
  app.post<Id & { Body: RerunRequest | null }>(
    '/api/runs/:id/rerun',
    describe(TAG, 'rerun', 'Repeat a finished run against its agent as it is', 201, 'rerun-result.json', {
      body: optionalBody('request-rerun.json'),
    }),
    async ({ params, body: asked }, reply) =>
      reply.code(201).send(await engine.rerun(params.id, howOf(asked))),
  )
  app.post<Id>(
    '/api/runs/:id/cancel',
    describe(TAG, 'cancelRun', 'End a run that waits or is at work', 200, 'done.json'),
    async ({ params, identity }) => engine.cancelRun(params.id, callerOf(identity)),
  )
  app.post<Id & { Body: ScenarioAsk }>(
    '/api/runs/:id/scenario',
    describe(
      TAG,
      'previewScenario',
      'What a scenario for svc evals would hold, made from this run: nothing is stored, and nothing leaves',
      200,
      'scenario-preview.json',
      { body: body('request-scenario.json') },
    ),
    async (request, reply) =>
      engine.previewScenario(request.params.id, request.body, askedBy(request, reply, doors)),
  )
  app.post<Id & { Body: ScenarioAsk }>(
    '/api/runs/:id/scenario/file',
    describe(
      TAG,
      'downloadScenario',
      'The scenario as one file that svc evals reads, with stand-ins for names',
      200,
      'scenario-file.json',
      { body: body('request-scenario.json') },
    ),
    async (request, reply) =>
      reply
        .header('content-disposition', `attachment; filename="${request.params.id}.scenario.json"`)
        .send(await engine.scenarioOfRun(request.params.id, request.body, askedBy(request, reply, doors))),
  )
  app.get<Name & { Querystring: RunQuery }>(
    '/api/agents/builtin/:name/runs',
    describe(
      TAG,
      'listAgentRuns',
      'Runs of one agent, newest first',
      200,
      { listOf: 'run.json' },
      {
        querystring: fields({ ...narrowed, ...page }),
      },
    ),
    async ({ params, query }) => (await engine.listRuns({ ...query, agent: params.name })).runs,
  )
  app.post<{ Params: { name: string; run: string }; Body: RerunRequest | null }>(
    '/api/agents/builtin/:name/runs/:run/rerun',
    describe(
      TAG,
      'rerunOfAgent',
      'Repeat a finished run; the same as /api/runs/{id}/rerun',
      201,
      'rerun-result.json',
      {
        body: optionalBody('request-rerun.json'),
      },
    ),
    async ({ params, body: asked }, reply) =>
      reply.code(201).send(await engine.rerun(params.run, howOf(asked))),
  )
  app.get<Name & { Querystring: { firing: string } }>(
    '/api/agents/builtin/:name/preview',
    describe(TAG, 'previewAgent', 'What an agent would be told of a past firing', 200, 'agent-preview.json', {
      querystring: fields({ firing: word }, ['firing']),
    }),
    async ({ params, query }) => engine.previewAgent(params.name, query.firing),
  )
  app.get<Name>(
    '/api/agents/builtin/:name/forecast',
    describe(TAG, 'agentForecast', 'What an agent may cost', 200, 'agent-forecast.json'),
    async ({ params }) => engine.agentForecast(params.name),
  )
}

/** It counts, unless practice is asked for. @param asked null: no body was sent */
function howOf(asked: RerunRequest | null) {
  const { as_of = 'same', practice = false, ...other } = asked ?? {}
  return { asOf: as_of, practice, ...other }
}
