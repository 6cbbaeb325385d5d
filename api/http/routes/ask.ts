/** Ask: a question answered as a stream that is resumed and cancelled by its turn. */
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type AskCaller, fail, SvcError } from '../../../engine/index.ts'
import type { AskRequest } from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { openEventStream, writeTo } from '../event-stream.ts'
import { answers, body, fields, headers } from '../validate.ts'

type Of = { Params: { turn: string } }
const TAG = 'ask'
/** Each message of the stream is a frame. */
const FRAMES = { media: { 'text/event-stream': 'ask-frame.json' } }
/** A reader further behind than this is cut off; it resumes where it was. */
const BUFFER_MAX = 4 * 1024 * 1024

export function askRoutes(app: FastifyInstance, doors: Doors): void {
  const { engine } = doors
  app.post<{ Body: AskRequest }>(
    '/api/agent/chat',
    {
      schema: {
        tags: [TAG],
        operationId: 'ask',
        summary: 'Ask a question; the answer is a stream of frames. Mode build needs scope admin',
        body: body('request-ask.json'),
        response: answers(200, FRAMES),
      } as never,
    },
    async (request, reply) => {
      const { turn } = await engine.ask(request.body, callerOf(request))
      await stream(request, reply, turn, 0)
    },
  )
  app.get<Of & { Querystring: { after: number } }>(
    '/api/agent/chat/:turn',
    {
      schema: {
        tags: [TAG],
        operationId: 'resumeAsk',
        summary: 'Frames of a turn after Last-Event-ID, then those to come',
        querystring: fields({ after: { type: 'integer', default: 0, minimum: 0 } }),
        ...headers('LastFrame'),
        response: answers(200, FRAMES),
      } as never,
    },
    async (request, reply) => {
      const last = request.headers['last-event-id']
      if (last !== undefined && !/^\d{1,9}$/.test(String(last)))
        fail('invalid', 'Last-Event-ID must be the number of a frame', { field: 'Last-Event-ID' })
      await stream(
        request,
        reply,
        request.params.turn,
        last === undefined ? request.query.after : Number(last),
      )
    },
  )
  /** A key that was revoked asks no more. */
  async function cancelOf(turn: string, caller: AskCaller): Promise<void> {
    try {
      await engine.cancelAsk(turn, caller)
    } catch (error) {
      // It may have ended by itself.
      if (!(error instanceof SvcError)) doors.log.warn({ err: error }, 'an answer was not stopped')
    }
  }

  async function stream(
    request: FastifyRequest,
    reply: FastifyReply,
    turn: string,
    after: number,
  ): Promise<void> {
    const caller = callerOf(request)
    // Looked for before the answer begins: a turn that is not there is a 404.
    const waiting: string[] = []
    let write = (text: string) => void waiting.push(text)
    let end = () => write('')
    const reading = await engine.followAsk(turn, after, caller, {
      frame: (n, frame) => write(`id: ${n}\ndata: ${JSON.stringify(frame)}\n\n`),
      end: () => end(),
    })
    const closed = (): void => {
      reading.stop()
      if (!doors.auth.stillHolds(request.identity)) void cancelOf(turn, caller)
    }
    let response: ServerResponse
    try {
      response = openEventStream(reply, doors, request.identity, closed)
    } catch (error) {
      // No place for one more stream: the turn is not followed.
      reading.stop()
      throw error
    }
    write = (text) => {
      if (response.writableLength > BUFFER_MAX) response.destroy()
      else writeTo(response, text)
    }
    end = () => void response.end()
    const isEnded = waiting.at(-1) === ''
    for (const text of waiting) if (text) write(text)
    if (isEnded) end()
  }
}

const callerOf = ({ identity }: FastifyRequest): AskCaller => ({
  id: identity.id,
  name: identity.name,
  scopes: identity.scopes,
})
