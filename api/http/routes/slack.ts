/** Slack's bot token and signing secret, and the channels findings can go to (SPEC.md, Settings: Slack). */
import type { FastifyInstance } from 'fastify'
import type { SlackBotTokenWrite, SlackSigningSecretWrite } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body, optionalBody, takes } from '../validate.ts'
import { describe } from './route.ts'

const TAG = 'slack'
const EVENT_MAX = 256 * 1024
const TOKEN = '/api/settings/slack-bot-token'
const SECRET = '/api/settings/slack-signing-secret'

export function slackRoutes(app: FastifyInstance, { engine }: Doors): void {
  const answered = (id: string, summary: string, more = {}) =>
    describe(TAG, id, summary, 200, 'slack-secret.json', more)
  app.get(TOKEN, answered('getSlackBotToken', 'Whether Slack has a bot token'), async () =>
    engine.slackSecret('bot_token'),
  )
  app.put<{ Body: SlackBotTokenWrite }>(
    TOKEN,
    answered('saveSlackBotToken', 'Store the bot token', {
      body: body('request-slack-bot-token-write.json'),
    }),
    async (request) => engine.storeSlackSecret('bot_token', request.body.token),
  )
  app.delete(TOKEN, answered('forgetSlackBotToken', 'Forget the stored bot token'), async () =>
    engine.forgetSlackSecret('bot_token'),
  )
  app.post(
    `${TOKEN}/test`,
    describe(TAG, 'testSlack', 'Ask Slack whose the bot token is', 200, 'slack-tested.json'),
    async () => engine.testSlack(),
  )
  app.get(SECRET, answered('getSlackSigningSecret', 'Whether Slack has a signing secret'), async () =>
    engine.slackSecret('signing_secret'),
  )
  app.put<{ Body: SlackSigningSecretWrite }>(
    SECRET,
    answered('saveSlackSigningSecret', 'Store the signing secret', {
      body: body('request-slack-signing-secret-write.json'),
    }),
    async (request) => engine.storeSlackSecret('signing_secret', request.body.secret),
  )
  app.delete(SECRET, answered('forgetSlackSigningSecret', 'Forget the stored signing secret'), async () =>
    engine.forgetSlackSecret('signing_secret'),
  )
  app.get(
    '/api/slack/channels',
    describe(
      TAG,
      'listSlackChannels',
      'Every public channel, and private ones the bot is in',
      200,
      'slack-channels-result.json',
    ),
    async () => engine.slackChannels(),
  )
  app.register(async (raw) => {
    raw.removeAllContentTypeParsers()
    // What is signed are the bytes; events are JSON, commands and buttons are forms.
    raw.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes))
    raw.post<{ Body: Buffer | undefined }>(
      '/api/slack/events',
      {
        ...describe(
          TAG,
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
  app.post(
    '/api/slack/channels/changed',
    describe(TAG, 'dropSlackChannels', 'Read the channels anew at the next list', 200, 'done.json', {
      body: optionalBody('request-slack-channels-changed.json'),
    }),
    async () => engine.dropSlackChannels(),
  )
}

const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? undefined : header
