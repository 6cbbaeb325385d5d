/** Requests of Slack: what is signed are their bytes, so they are no operation (SPEC.md, Settings: Slack). */
import type { FastifyInstance } from 'fastify'
import type { Doors } from '../doors.ts'
import { takes } from '../validate.ts'
import { describe } from './route.ts'

const EVENT_MAX = 256 * 1024

export function slackRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.register(async (raw) => {
    raw.removeAllContentTypeParsers()
    // Events are JSON, commands and buttons are forms.
    raw.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes))
    raw.post<{ Body: Buffer | undefined }>(
      '/api/slack/events',
      {
        ...describe(
          'slack',
          'slackEvents',
          'Events, commands and buttons of Slack, signed by it',
          200,
          'slack-reply.json',
          takes({
            'application/json': 'request-slack-event.json',
            'application/x-www-form-urlencoded': 'request-slack-form.json',
          }),
        ),
        bodyLimit: EVENT_MAX,
      },
      async ({ body: bytes, headers }) =>
        engine.slackRequest({
          raw: bytes ?? new Uint8Array(),
          signature: textOf(headers['x-slack-signature']),
          timestamp: textOf(headers['x-slack-request-timestamp']),
        }),
    )
  })
}

const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? undefined : header
