/**
 * Subscriptions: an address is told of a trigger's firings, or of all of a project's; or the firings are fetched, by
 * agents that no address leads to. A credential with scope admin sees and removes any; another only those it made.
 */
import type { FiringAcknowledge, SubscribeRequest, WhyRecord } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import type { Subscribe } from '../outbox/subscriptions.ts'
import { isAdmin, type OperationInput, PAGED } from './input.ts'
import { tagged } from './operation.ts'

const operation = tagged('subscriptions')

const TIMEOUT_SECONDS = 30
const LEASE_SECONDS = 120

type By = Pick<OperationInput, 'caller'>

/** Whom firings are told to. @throws SvcError invalid */
function receiverIn(
  { url, fetch, name, format }: Omit<SubscribeRequest, 'trigger'>,
  by: By,
): Pick<Subscribe, 'url' | 'name' | 'audience' | 'format'> {
  if ((url === undefined) === (fetch !== true))
    fail('invalid', 'give exactly one of url (firings are posted there) and fetch: true (you fetch them)', {
      field: 'url',
    })
  if (format !== undefined && !url?.startsWith('http'))
    fail('invalid', 'format is of an http or https address', { field: 'format' })
  // What an operator names may be on the private network; what another names must be public.
  return { url: url ?? null, name, format, audience: isAdmin(by) ? 'operator' : 'caller' }
}

/** Who asks: without scope admin, for what is its own. */
const fetcherOf = ({ caller }: By) => ({
  by: { id: caller.id, name: caller.name },
  own: !isAdmin({ caller }),
})

const holdingOf = ({ delivery_id, lease }: FiringAcknowledge) => ({ deliveryId: delivery_id, lease })

export const subscriptions = [
  operation({
    id: 'subscribe',
    route: 'POST /subscribe',
    scope: 'read',
    role: 'writer',
    body: 'request-subscribe.json',
    answer: 'subscription-created.json',
    status: 201,
    mayExist: true,
    summary: 'Tell an address of the firings of a trigger',
    run: (engine, { body, caller }) =>
      engine.subscribe({ trigger: body.trigger }, receiverIn(body, { caller }), caller),
  }),
  operation({
    id: 'unsubscribe',
    route: 'POST /unsubscribe',
    scope: 'read',
    projectKey: true,
    role: 'writer',
    body: 'request-unsubscribe.json',
    answer: 'done.json',
    summary: 'Tell an address no more; one removed already is no error, an unknown one is',
    run: (engine, { body, caller }) =>
      engine.unsubscribe(body.subscription_id, caller, { own: !isAdmin({ caller }), strict: false }),
  }),
  operation({
    id: 'listSubscriptions',
    route: 'GET /api/subscriptions',
    scope: 'read',
    projectKey: true,
    role: 'reader',
    query: PAGED,
    answer: 'subscriptions-result.json',
    summary: 'List subscriptions, newest first',
    run: (engine, { caller, query }) =>
      engine.listSubscriptions({ ...(isAdmin({ caller }) ? {} : { caller: caller.id }), ...query }),
  }),
  operation({
    id: 'subscribeProject',
    route: 'POST /api/projects/{id}/subscribe',
    scope: 'read',
    projectKey: true,
    role: 'writer',
    body: 'request-project-subscribe.json',
    answer: 'subscription-created.json',
    status: 201,
    mayExist: true,
    summary: 'Tell an address of every firing of a project, of triggers made later too',
    run: (engine, { params, body, caller }) =>
      engine.subscribe({ project: params.id }, receiverIn(body, { caller }), caller),
  }),
  operation({
    id: 'listProjectSubscriptions',
    route: 'GET /api/projects/{id}/subscriptions',
    scope: 'admin',
    role: 'reader',
    query: PAGED,
    answer: 'subscriptions-result.json',
    summary: 'Subscriptions of a project, newest first',
    run: async (engine, { params, query }) =>
      engine.listSubscriptions({ project: await engine.projectId(params.id), ...query }),
  }),
  operation({
    id: 'unsubscribeProject',
    route: 'DELETE /api/projects/{id}/subscribe/{sid}',
    scope: 'read',
    projectKey: true,
    role: 'writer',
    answer: 'done.json',
    summary: 'Remove a subscription of a project',
    run: (engine, { params, caller }) =>
      engine.unsubscribe(params.sid, caller, { own: !isAdmin({ caller }), project: params.id, strict: true }),
  }),
  operation({
    id: 'listExternalAgents',
    route: 'GET /api/projects/{id}/external-agents',
    scope: 'read',
    role: 'reader',
    answer: 'external-agents-result.json',
    summary: 'Outside agents subscribed to a project',
    run: async (engine, { params }) => {
      const { subscriptions } = await engine.listSubscriptions({ project: await engine.projectId(params.id) })
      const agents = subscriptions.map(({ subscription_id, name, url, last_delivery: last, ...made }) => ({
        ...{ subscription_id, name, url, key_id: made.key_id, key_name: made.created_by },
        created_at: made.created_at,
        last_delivery: last && {
          at: last.at,
          ok: last.status === 'running' ? null : last.status === 'delivered',
          error: last.reason,
          dispatch_id: last.dispatch_id,
        },
      }))
      return { agents }
    },
  }),
  operation({
    id: 'fetchFiring',
    route: 'POST /api/subscriptions/{sid}/fetch',
    scope: 'read',
    projectKey: true,
    // It waits for what the writer makes, and goes away with its caller.
    role: 'network',
    optionalBody: 'request-firing-fetch.json',
    answer: 'firing-fetched.json',
    summary: 'Wait for a firing, at most 55 seconds',
    run: (engine, { params, body, caller, asked }) => {
      const { timeout_seconds = TIMEOUT_SECONDS, lease_seconds = LEASE_SECONDS } = body ?? {}
      const how = { timeoutMs: timeout_seconds * 1000, leaseMs: lease_seconds * 1000, signal: asked.gone }
      return engine.fetchFiring(params.sid, how, fetcherOf({ caller }))
    },
  }),
  operation({
    id: 'acknowledgeFiring',
    route: 'POST /api/subscriptions/{sid}/acknowledge',
    scope: 'read',
    projectKey: true,
    role: 'writer',
    body: 'request-firing-acknowledge.json',
    answer: 'done.json',
    summary: 'It is done: the delivery is delivered',
    run: (engine, { params, body, caller }) =>
      engine.acknowledgeFiring(params.sid, holdingOf(body), fetcherOf({ caller })),
  }),
  operation({
    id: 'releaseFiring',
    route: 'POST /api/subscriptions/{sid}/release',
    scope: 'read',
    projectKey: true,
    role: 'writer',
    body: 'request-firing-acknowledge.json',
    answer: 'done.json',
    summary: 'Give back what nobody looked at; the try does not count',
    run: (engine, { params, body, caller }) =>
      engine.releaseFiring(params.sid, holdingOf(body), fetcherOf({ caller })),
  }),
  operation({
    id: 'extendLease',
    route: 'POST /api/subscriptions/{sid}/extend',
    scope: 'read',
    projectKey: true,
    role: 'writer',
    body: 'request-lease-extend.json',
    answer: 'lease-extended.json',
    summary: 'Hold it longer, from now',
    run: (engine, { params, body, caller }) => {
      const leaseMs = (body.lease_seconds ?? LEASE_SECONDS) * 1000
      return engine.extendLease(params.sid, holdingOf(body), leaseMs, fetcherOf({ caller }))
    },
  }),
]

/* Triggers at work: firings, why an event woke nobody, backtests; deliveries of firings and of findings. */

const firingOperation = tagged('firings')
const ofDeliveries = tagged('deliveries')

const WORD = { type: 'string', minLength: 1, maxLength: 1024 } as const
const LIMIT = { type: 'integer', default: 50, minimum: 1 } as const
const REASONS = [
  ...(['fired', 'no_subscriber', 'folded', 'held', 'dropped', 'cooldown', 'active', 'below'] as const),
  ...(['filter', 'no_key', 'no_value', 'unchanged', 'waiting', 'late', 'paused', 'error'] as const),
] as const satisfies readonly WhyRecord['reason'][]

export const firings = [
  firingOperation({
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
  firingOperation({
    id: 'getFiring',
    route: 'GET /api/firings/{id}',
    scope: 'read',
    role: 'reader',
    answer: 'firing-detail.json',
    summary: 'One firing, with its timeline and deliveries',
    run: (engine, { params }) => engine.getFiring(params.id),
  }),
  firingOperation({
    id: 'getFiringEvidence',
    route: 'GET /api/firings/{id}/evidence',
    scope: 'read',
    // What came after it may be very much, and is counted.
    role: 'wide',
    query: {
      before: {
        type: 'integer',
        default: 200,
        minimum: 0,
        maximum: 500,
        description: 'Events before the moment, at most; 0: nothing that led to it.',
      },
      after: {
        type: 'integer',
        default: 20,
        minimum: 1,
        maximum: 500,
        description: 'Events after the moment, at most.',
      },
    },
    answer: 'firing-evidence.json',
    summary: 'The timeline of its entity around the moment it fired, with what tripped it',
    run: (engine, { params, query }) => engine.firingEvidence(params.id, query),
  }),
  firingOperation({
    id: 'listFiringEvents',
    route: 'GET /api/firings/{id}/events',
    scope: 'read',
    role: 'reader',
    query: { after: { type: 'string', pattern: '^evt_[0-9]{1,15}$' } },
    answer: 'firing-events-result.json',
    summary: 'Ids of the events a firing carries',
    run: (engine, { params, query }) => engine.firingEvents(params.id, query.after),
  }),
  firingOperation({
    id: 'listDispatches',
    route: 'GET /api/activity/dispatches',
    scope: 'read',
    role: 'reader',
    query: { limit: { type: 'integer', default: 100, minimum: 1 } },
    answer: { listOf: 'dispatch.json' },
    summary: 'Firings, newest first; /api/firings pages',
    run: (engine, { query }) => engine.listDispatches(query.limit),
  }),
  firingOperation({
    id: 'getDispatch',
    route: 'GET /api/activity/dispatches/{id}',
    scope: 'read',
    role: 'reader',
    answer: 'dispatch.json',
    summary: 'One firing with its deliveries',
    run: (engine, { params }) => engine.getDispatch(params.id),
  }),
  firingOperation({
    id: 'why',
    route: 'GET /api/events/{id}/why',
    scope: 'read',
    role: 'reader',
    query: { trigger: WORD },
    answer: 'why-result.json',
    summary: 'Why an event fired each trigger, or did not',
    run: (engine, { params, query }) => engine.why(params.id, query.trigger),
  }),
  firingOperation({
    id: 'listEvaluations',
    route: 'GET /api/triggers/{name}/evaluations',
    scope: 'read',
    role: 'reader',
    query: { reason: { type: 'string', enum: REASONS }, before: WORD, limit: LIMIT },
    answer: 'evaluations-result.json',
    summary: 'What a trigger made of events, newest first',
    run: (engine, { params, query }) => engine.evaluations(params.name, query),
  }),
  firingOperation({
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
      kind: { type: 'string', enum: ['agent', 'webhook', 'slack', 'mcp', 'write_back', 'github'] },
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
    summary: 'What is posted to the subscriber',
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
