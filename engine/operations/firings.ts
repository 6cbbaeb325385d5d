/** Triggers at work: firings, why an event woke nobody, backtests; deliveries of firings and of findings. */
import { tagged } from './operation.ts'

const operation = tagged('firings')
const ofDeliveries = tagged('deliveries')

const WORD = { type: 'string', minLength: 1, maxLength: 1024 } as const
const LIMIT = { type: 'integer', default: 50 } as const

export const firings = [
  operation({
    id: 'listFirings',
    route: 'GET /api/firings',
    scope: 'read',
    role: 'reader',
    query: {
      ...{ trigger: WORD, project: WORD, key: WORD, before: WORD },
      state: { type: 'string', enum: ['gathering', 'held', 'fired', 'dropped'] },
      limit: LIMIT,
    },
    answer: 'firings-result.json',
    summary: 'List firings, newest first',
    run: (engine, { query }) => engine.listFirings(query),
  }),
  operation({
    id: 'getFiring',
    route: 'GET /api/firings/{id}',
    scope: 'read',
    role: 'reader',
    answer: 'firing-detail.json',
    summary: 'One firing, with its timeline and deliveries',
    run: (engine, { params }) => engine.getFiring(params.id),
  }),
  operation({
    id: 'listFiringEvents',
    route: 'GET /api/firings/{id}/events',
    scope: 'read',
    role: 'reader',
    query: { after: { type: 'string', pattern: '^evt_[0-9]{1,15}$' } },
    answer: 'firing-events-result.json',
    summary: 'Ids of the events a firing carries',
    run: (engine, { params, query }) => engine.firingEvents(params.id, query.after),
  }),
  operation({
    id: 'listDispatches',
    route: 'GET /api/activity/dispatches',
    scope: 'read',
    role: 'reader',
    query: { limit: { type: 'integer', default: 100 } },
    answer: { listOf: 'dispatch.json' },
    summary: 'Firings, newest first; /api/firings pages',
    run: (engine, { query }) => engine.listDispatches(query.limit),
  }),
  operation({
    id: 'getDispatch',
    route: 'GET /api/activity/dispatches/{id}',
    scope: 'read',
    role: 'reader',
    answer: 'dispatch.json',
    summary: 'One firing with its deliveries',
    run: (engine, { params }) => engine.getDispatch(params.id),
  }),
  operation({
    id: 'why',
    route: 'GET /api/events/{id}/why',
    scope: 'read',
    role: 'reader',
    query: { trigger: WORD },
    answer: 'why-result.json',
    summary: 'Why an event fired each trigger, or did not',
    run: (engine, { params, query }) => engine.why(params.id, query.trigger),
  }),
  operation({
    id: 'listEvaluations',
    route: 'GET /api/triggers/{name}/evaluations',
    scope: 'read',
    role: 'reader',
    query: { reason: WORD, before: WORD, limit: LIMIT },
    answer: 'evaluations-result.json',
    summary: 'What a trigger made of events, newest first',
    run: (engine, { params, query }) => engine.evaluations(params.name, query),
  }),
  operation({
    id: 'backtest',
    route: 'POST /api/triggers/backtest',
    scope: 'read',
    role: 'wide',
    body: 'request-backtest.json',
    answer: 'backtest-result.json',
    summary: 'When a trigger would have fired over stored events',
    run: (engine, { body }) => engine.backtest(body),
  }),
]

export const deliveries = [
  ofDeliveries({
    id: 'listDeliveries',
    route: 'GET /api/deliveries',
    scope: 'read',
    role: 'reader',
    query: {
      ...{ trigger: WORD, recipient: WORD, run: WORD, before: WORD },
      status: { type: 'string', enum: ['running', 'delivered', 'failed'] },
      kind: { type: 'string', enum: ['agent', 'webhook', 'slack', 'mcp', 'write_back'] },
      limit: LIMIT,
    },
    answer: 'deliveries-result.json',
    summary: 'List deliveries of firings and findings, newest first',
    run: (engine, { query }) => engine.listDeliveries(query),
  }),
  ofDeliveries({
    id: 'getDelivery',
    route: 'GET /api/deliveries/{id}',
    scope: 'read',
    role: 'reader',
    answer: 'delivery.json',
    summary: 'One delivery with its tries',
    run: (engine, { params }) => engine.getDelivery(params.id),
  }),
  ofDeliveries({
    id: 'getDeliveryMessage',
    route: 'GET /api/deliveries/{id}/message',
    scope: 'read',
    role: 'reader',
    answer: 'firing-message.json',
    summary: 'What is posted to the recipient',
    run: (engine, { params }) => engine.deliveryMessage(params.id),
  }),
  ofDeliveries({
    id: 'redeliver',
    route: 'POST /api/deliveries/{id}/redeliver',
    scope: 'admin',
    role: 'writer',
    answer: 'delivery.json',
    summary: 'Send a delivery again, under the same id',
    run: async (engine, { params }) => {
      await engine.redeliver(params.id)
      return engine.getDelivery(params.id)
    },
  }),
]
