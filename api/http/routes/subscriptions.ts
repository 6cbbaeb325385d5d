/**
 * Subscriptions: an address is told of a trigger's firings, or of all of a project's. A credential
 * with scope admin sees and removes any; another only those it made.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fail } from '../../../engine/index.ts'
import type { ProjectSubscribe, SubscribeRequest, UnsubscribeRequest } from '../../../schemas/types.ts'
import type { Identity } from '../auth.ts'
import type { Doors } from '../doors.ts'
import { answers, body } from '../validate.ts'
import { describe } from './route.ts'

type Project = { Params: { id: string } }
const TAG = 'subscriptions'
/** Made, or the one there is. */
const MADE = { ...answers(201, 'subscription-created.json'), ...answers(200, 'subscription-created.json') }

export function subscriptionRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.post<{ Body: SubscribeRequest }>(
    '/subscribe',
    describe(
      TAG,
      'subscribe',
      'Tell an address of the firings of a trigger',
      201,
      'subscription-created.json',
      { body: body('request-subscribe.json'), response: MADE },
    ),
    async (request, reply) => {
      const { trigger, name } = request.body
      const url = urlOf(request.body)
      const made = await engine.subscribe(
        { trigger },
        { url, name, audience: audienceOf(request.identity) },
        callerOf(request),
      )
      return reply.code(made.existing ? 200 : 201).send(made)
    },
  )
  app.post<{ Body: UnsubscribeRequest }>(
    '/unsubscribe',
    describe(
      TAG,
      'unsubscribe',
      'Tell an address no more; one removed already is no error, an unknown one is',
      200,
      'done.json',
      { body: body('request-unsubscribe.json') },
    ),
    async (request) =>
      engine.unsubscribe(request.body.subscription_id, callerOf(request), {
        own: !isAdmin(request.identity),
        strict: false,
      }),
  )
  app.get(
    '/api/subscriptions',
    describe(TAG, 'listSubscriptions', 'List subscriptions', 200, 'subscriptions-result.json'),
    async ({ identity }) => engine.listSubscriptions(isAdmin(identity) ? {} : { caller: identity.id }),
  )
  app.post<Project & { Body: ProjectSubscribe }>(
    '/api/projects/:id/subscribe',
    describe(
      TAG,
      'subscribeProject',
      'Tell an address of every firing of a project, of triggers made later too',
      201,
      'subscription-created.json',
      { body: body('request-project-subscribe.json'), response: MADE },
    ),
    async (request, reply) => {
      const { name } = request.body
      const url = urlOf(request.body)
      const made = await engine.subscribe(
        { project: request.params.id },
        { url, name, audience: audienceOf(request.identity) },
        callerOf(request),
      )
      return reply.code(made.existing ? 200 : 201).send(made)
    },
  )
  app.get<Project>(
    '/api/projects/:id/subscriptions',
    describe(TAG, 'listProjectSubscriptions', 'Subscriptions of a project', 200, 'subscriptions-result.json'),
    async ({ params }) => engine.listSubscriptions({ project: await engine.projectId(params.id) }),
  )
  app.delete<{ Params: { id: string; sid: string } }>(
    '/api/projects/:id/subscribe/:sid',
    describe(TAG, 'unsubscribeProject', 'Remove a subscription of a project', 200, 'done.json'),
    async (request) =>
      engine.unsubscribe(request.params.sid, callerOf(request), {
        own: !isAdmin(request.identity),
        project: request.params.id,
        strict: true,
      }),
  )
  app.get<Project>(
    '/api/projects/:id/external-agents',
    describe(
      TAG,
      'listExternalAgents',
      'Outside agents subscribed to a project',
      200,
      'external-agents-result.json',
    ),
    async ({ params }) => {
      const { subscriptions } = await engine.listSubscriptions({ project: await engine.projectId(params.id) })
      return {
        agents: subscriptions.map(
          ({ subscription_id, name, url, key_id, created_by, created_at, last_delivery }) => ({
            subscription_id,
            name,
            url,
            key_id,
            key_name: created_by,
            created_at,
            last_delivery: last_delivery && {
              at: last_delivery.at,
              ok: last_delivery.status === 'running' ? null : last_delivery.status === 'delivered',
              error: last_delivery.reason,
              dispatch_id: last_delivery.dispatch_id,
            },
          }),
        ),
      }
    },
  )
}

/** Null: firings are fetched. @throws SvcError invalid */
function urlOf({ url, fetch }: { url?: string; fetch?: boolean }): string | null {
  if ((url === undefined) === (fetch !== true))
    fail('invalid', 'give exactly one of url (firings are posted there) and fetch: true (you fetch them)', {
      field: 'url',
    })
  return url ?? null
}

const isAdmin = (identity: Identity): boolean => identity.scopes.includes('admin')

/** What an operator names may be on the private network; what a key names must be public. */
const audienceOf = (identity: Identity): 'operator' | 'caller' => (isAdmin(identity) ? 'operator' : 'caller')

const callerOf = ({ identity }: FastifyRequest) => ({ id: identity.id, name: identity.name })
