/** Triggers at work: firings, deliveries, why an event woke nobody, backtests. */
import type { FastifyInstance } from 'fastify'
import type { BacktestRequest } from '../../../schemas/types.ts'
import { askedBy } from '../asked.ts'
import type { Doors } from '../doors.ts'
import { body, fields } from '../validate.ts'
import { describe } from './route.ts'

type Id = { Params: { id: string } }
type Query<T extends string> = { Querystring: Partial<Record<T, string>> }
type Page<T extends string> = { Querystring: Partial<Record<T, string>> & { limit: number } }
const TAG = 'firings'

const word = { type: 'string', minLength: 1, maxLength: 1024 }
/** Query of a list: filters by word, and how many. */
const page = (filters: readonly string[], limit = 50, more: Record<string, unknown> = {}) => ({
  querystring: fields({
    ...Object.fromEntries(filters.map((name) => [name, word])),
    ...more,
    limit: { type: 'integer', default: limit },
  }),
})
const one = (filter: string, of: Record<string, unknown> = word) => ({
  querystring: fields({ [filter]: of }),
})
const oneOf = (...values: string[]) => ({ type: 'string', enum: values })

export function firingRoutes(app: FastifyInstance, doors: Doors): void {
  const { engine } = doors
  app.get<Page<'trigger' | 'project' | 'key' | 'state' | 'before'>>(
    '/api/firings',
    describe(
      TAG,
      'listFirings',
      'List firings, newest first',
      200,
      'firings-result.json',
      page(['trigger', 'project', 'key', 'before'], 50, {
        state: oneOf('gathering', 'held', 'fired', 'dropped'),
      }),
    ),
    async ({ query }) => engine.listFirings(query),
  )
  app.get<Id>(
    '/api/firings/:id',
    describe(TAG, 'getFiring', 'One firing, with its timeline and deliveries', 200, 'firing-detail.json'),
    async ({ params }) => engine.getFiring(params.id),
  )
  app.get<Id & Query<'after'>>(
    '/api/firings/:id/events',
    describe(
      TAG,
      'listFiringEvents',
      'Ids of the events a firing carries',
      200,
      'firing-events-result.json',
      one('after', { type: 'string', pattern: '^evt_[0-9]{1,15}$' }),
    ),
    async ({ params, query }) => engine.firingEvents(params.id, query.after),
  )
  app.get<Page<never>>(
    '/api/activity/dispatches',
    describe(
      TAG,
      'listDispatches',
      'Firings, newest first; /api/firings pages',
      200,
      { listOf: 'dispatch.json' },
      page([], 100),
    ),
    async ({ query }) => engine.listDispatches(query.limit),
  )
  app.get<Id>(
    '/api/activity/dispatches/:id',
    describe(TAG, 'getDispatch', 'One firing with its deliveries', 200, 'dispatch.json'),
    async ({ params }) => engine.getDispatch(params.id),
  )
  app.get<Id & Query<'trigger'>>(
    '/api/events/:id/why',
    describe(
      TAG,
      'why',
      'Why an event fired each trigger, or did not',
      200,
      'why-result.json',
      one('trigger'),
    ),
    async ({ params, query }) => engine.why(params.id, query.trigger),
  )
  app.get<{ Params: { name: string } } & Page<'reason' | 'before'>>(
    '/api/triggers/:name/evaluations',
    describe(
      TAG,
      'listEvaluations',
      'What a trigger made of events, newest first',
      200,
      'evaluations-result.json',
      page(['reason', 'before']),
    ),
    async ({ params, query }) => engine.evaluations(params.name, query),
  )
  app.post<{ Body: BacktestRequest }>(
    '/api/triggers/backtest',
    describe(
      TAG,
      'backtest',
      'When a trigger would have fired over stored events',
      200,
      'backtest-result.json',
      {
        body: body('request-backtest.json'),
      },
    ),
    async (request, reply) => engine.backtest(request.body, askedBy(request, reply, doors)),
  )
}

export function deliveryRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.get<Page<'status' | 'trigger' | 'recipient' | 'kind' | 'run' | 'before'>>(
    '/api/deliveries',
    describe(
      'deliveries',
      'listDeliveries',
      'List deliveries of firings and findings, newest first',
      200,
      'deliveries-result.json',
      page(['trigger', 'recipient', 'run', 'before'], 50, {
        status: oneOf('running', 'delivered', 'failed'),
        kind: oneOf('agent', 'webhook', 'slack', 'mcp', 'write_back'),
      }),
    ),
    async ({ query }) => engine.listDeliveries(query),
  )
  app.get<Id>(
    '/api/deliveries/:id',
    describe('deliveries', 'getDelivery', 'One delivery with its tries', 200, 'delivery.json'),
    async ({ params }) => engine.getDelivery(params.id),
  )
  app.get<Id>(
    '/api/deliveries/:id/message',
    describe(
      'deliveries',
      'getDeliveryMessage',
      'What is posted to the recipient',
      200,
      'firing-message.json',
    ),
    async ({ params }) => engine.deliveryMessage(params.id),
  )
  app.post<Id>(
    '/api/deliveries/:id/redeliver',
    describe('deliveries', 'redeliver', 'Send a delivery again, under the same id', 200, 'delivery.json'),
    async ({ params }) => {
      await engine.redeliver(params.id)
      return engine.getDelivery(params.id)
    },
  )
}
