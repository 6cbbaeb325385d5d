/** The console's login: a token exchanged for an HttpOnly cookie that holds no token. */
import type { FastifyInstance } from 'fastify'
import { SvcError } from '../../../engine/index.ts'
import { SESSION_COOKIE } from '../auth.ts'
import type { Doors } from '../doors.ts'
import { answers, body } from '../validate.ts'

const MAX_AGE_SECONDS = 30 * 86_400

export function sessionRoutes(app: FastifyInstance, { auth, config }: Doors): void {
  const cookie = {
    path: '/',
    httpOnly: true,
    sameSite: 'strict' as const,
    secure: config.publicUrl?.startsWith('https://') ?? false,
  }
  app.post<{ Body: { token: string } }>(
    '/api/session',
    {
      schema: {
        tags: ['access'],
        operationId: 'openSession',
        summary: 'Log the console in',
        body: body('request-session-create.json'),
        response: answers(200, 'session-opened.json'),
      },
    },
    async (request, reply) => {
      if (!auth.secured) return { ok: true, auth_required: false }
      const token = request.body.token.trim()
      const id = await auth.openSession(token, auth.addressOf(request.raw))
      if (id === null) throw new SvcError('unauthenticated', await auth.refusalOf(token))
      return reply
        .setCookie(SESSION_COOKIE, id, { ...cookie, maxAge: MAX_AGE_SECONDS })
        .send({ ok: true, auth_required: true })
    },
  )
  app.delete(
    '/api/session',
    {
      schema: {
        tags: ['access'],
        operationId: 'closeSession',
        summary: 'Log the console out',
        response: answers(200, 'done.json'),
      },
    },
    async (request, reply) => {
      const id = request.cookies[SESSION_COOKIE]
      if (id) await auth.closeSession(id)
      return reply.clearCookie(SESSION_COOKIE, cookie).send({ ok: true })
    },
  )
}
