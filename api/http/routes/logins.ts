/**
 * `svc login` (SPEC.md, Authentication 10): a person approves in the console, the command exchanges the
 * one-time code for a key. The redirect is made of a port alone, so that it leads nowhere but to this
 * person's own machine.
 */
import type { FastifyInstance } from 'fastify'
import { LoginGrants, SvcError } from '../../../engine/index.ts'
import type { LoginApprove, LoginApproved, LoginExchange } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body } from '../validate.ts'
import { describe } from './route.ts'

const TAG = 'access'

export function loginRoutes(app: FastifyInstance, { engine, auth, clock }: Doors): void {
  const grants = new LoginGrants(clock)
  app.post<{ Body: LoginApprove }>(
    '/api/logins',
    describe(TAG, 'approveLogin', 'Let a machine have a key', 201, 'login-approved.json', {
      body: body('request-login-approve.json'),
    }),
    async ({ body: ask, identity }, reply): Promise<LoginApproved> => {
      const { code, expiresIn } = grants.approve(ask, { id: identity.id, name: identity.name })
      const redirect =
        ask.port === null
          ? null
          : `http://127.0.0.1:${ask.port}/?${new URLSearchParams({ code, state: ask.state })}`
      void reply.code(201).header('cache-control', 'no-store')
      return { code, redirect, expires_in: expiresIn }
    },
  )
  app.post<{ Body: LoginExchange }>(
    '/api/logins/exchange',
    describe(TAG, 'exchangeLogin', 'A one-time code for a key, shown once', 201, 'key-created.json', {
      body: body('request-login-exchange.json'),
    }),
    async (request, reply) => {
      const { machine, scopes, approver } = grants.redeem(request.body)
      if (!auth.stillHolds(approver))
        throw new SvcError('forbidden', 'the credential of the person who approved has been revoked since')
      const created = await engine.createKey({ name: `svc login, ${machine}`, scopes }, approver, true)
      await auth.refresh()
      return reply.code(201).header('cache-control', 'no-store').send(created)
    },
  )
}
