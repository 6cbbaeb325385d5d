/**
 * Firings that are fetched, for agents that no address leads to: wait for one, hold it by a lease,
 * acknowledge it. What is not acknowledged in time goes to whoever asks next.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { FiringAcknowledge, FiringFetch, LeaseExtend } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body, optionalBody } from '../validate.ts'
import { describe } from './route.ts'

type Of = { Params: { sid: string } }
const TAG = 'subscriptions'
const TIMEOUT_SECONDS = 30
const LEASE_SECONDS = 120

export function fetchingRoutes(app: FastifyInstance, { engine, onStop }: Doors): void {
  app.post<Of & { Body: FiringFetch | undefined }>(
    '/api/subscriptions/:sid/fetch',
    describe(TAG, 'fetchFiring', 'Wait for a firing, at most 55 seconds', 200, 'firing-fetched.json', {
      body: optionalBody('request-firing-fetch.json'),
    }),
    async (request, reply) => {
      const { timeout_seconds: timeout = TIMEOUT_SECONDS, lease_seconds: lease = LEASE_SECONDS } =
        request.body ?? {}
      const gone = new AbortController()
      const leave = () => gone.abort()
      const offStop = onStop(leave)
      reply.raw.on('close', leave)
      try {
        return await engine.fetchFiring(
          request.params.sid,
          { timeoutMs: timeout * 1000, leaseMs: lease * 1000, signal: gone.signal },
          fetcherOf(request),
        )
      } finally {
        offStop()
      }
    },
  )
  app.post<Of & { Body: FiringAcknowledge }>(
    '/api/subscriptions/:sid/acknowledge',
    describe(TAG, 'acknowledgeFiring', 'It is done: the delivery is delivered', 200, 'done.json', {
      body: body('request-firing-acknowledge.json'),
    }),
    async (request) =>
      engine.acknowledgeFiring(request.params.sid, holdingOf(request.body), fetcherOf(request)),
  )
  app.post<Of & { Body: FiringAcknowledge }>(
    '/api/subscriptions/:sid/release',
    describe(
      TAG,
      'releaseFiring',
      'Give back what nobody looked at; the try does not count',
      200,
      'done.json',
      {
        body: body('request-firing-acknowledge.json'),
      },
    ),
    async (request) => engine.releaseFiring(request.params.sid, holdingOf(request.body), fetcherOf(request)),
  )
  app.post<Of & { Body: LeaseExtend }>(
    '/api/subscriptions/:sid/extend',
    describe(TAG, 'extendLease', 'Hold it longer, from now', 200, 'lease-extended.json', {
      body: body('request-lease-extend.json'),
    }),
    async (request) =>
      engine.extendLease(
        request.params.sid,
        holdingOf(request.body),
        (request.body.lease_seconds ?? LEASE_SECONDS) * 1000,
        fetcherOf(request),
      ),
  )
}

const holdingOf = ({ delivery_id, lease }: FiringAcknowledge) => ({ deliveryId: delivery_id, lease })

/** Who asks: without scope admin, for what is its own. */
const fetcherOf = ({ identity }: FastifyRequest) => ({
  by: { id: identity.id, name: identity.name },
  own: !identity.scopes.includes('admin'),
})
