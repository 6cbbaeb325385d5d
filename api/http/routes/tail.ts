/** GET /api/tail: events as they are stored, over server-sent events (WHATWG HTML, section 9.2). */
import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { fail, rowJson, SvcError, type TailMessage } from '../../../engine/index.ts'
import type { Doors } from '../doors.ts'
import { openEventStream, writeTo } from '../event-stream.ts'
import { answers, fields, headers } from '../validate.ts'

/** A reader further behind than this is told of a gap instead of filling memory. */
const BUFFER_MAX = 1024 * 1024
const STREAMS_PER_CALLER = 20

export function tailRoutes(app: FastifyInstance, doors: Doors): void {
  const { engine } = doors
  const open = new Map<string, number>()
  app.get<{ Querystring: { label?: string[]; source?: string[] } }>(
    '/api/tail',
    {
      schema: {
        tags: ['read'],
        operationId: 'tail',
        summary: 'Live events over server-sent events',
        querystring: fields({
          label: { type: 'array', items: { type: 'string' }, maxItems: 16 },
          source: { type: 'array', items: { type: 'string' }, maxItems: 100 },
        }),
        ...headers('LastEvent'),
        response: answers(200, { media: { 'text/event-stream': 'tail-frame.json' } }),
      } as never,
    },
    async (request, reply) => {
      const { identity } = request
      const selector = parseLabels(request.query.label ?? [])
      const lastId = request.headers['last-event-id']
      if (lastId !== undefined && !/^evt_\d{1,15}$/.test(String(lastId)))
        fail('invalid', 'Last-Event-ID must be an event id', { field: 'Last-Event-ID' })
      const streams = open.get(identity.id) ?? 0
      if (identity.id !== 'open' && streams >= STREAMS_PER_CALLER)
        throw new SvcError(
          'too_many',
          `this credential has ${STREAMS_PER_CALLER} live streams open; close one`,
          { retryAfter: 5 },
        )
      open.set(identity.id, streams + 1)
      let isCounted = true
      const leave = () => {
        if (!isCounted) return
        isCounted = false
        const left = (open.get(identity.id) ?? 1) - 1
        if (left > 0) open.set(identity.id, left)
        else open.delete(identity.id)
      }
      const held: TailMessage[] = []
      let stream: Stream | null = null
      let stop = () => {}
      try {
        // A source that is not there is refused while there is a status to say it with.
        const tail = await engine.tail(
          {
            selector,
            sources: request.query.source ?? [],
            ...(typeof lastId === 'string' ? { afterId: lastId } : {}),
          },
          (message) => (stream ? stream.send(message) : held.push(message)),
        )
        stop = tail.stop
        const response = openEventStream(reply, doors, identity, () => {
          stop()
          leave()
        })
        stream = new Stream(response)
        for (const message of held) stream.send(message)
        // Its reader may have gone meanwhile.
        if (response.closed) stop()
      } catch (error) {
        stop()
        leave()
        throw error
      }
    },
  )
}

class Stream {
  private missed = 0
  private lastId = ''

  constructor(private readonly response: ServerResponse) {
    response.on('drain', () => this.tellGap())
  }

  send(message: TailMessage): void {
    if ('notice' in message) {
      writeTo(this.response, `event: notice\ndata: ${JSON.stringify({ notice: message.notice })}\n\n`)
      return
    }
    if ('incident' in message) {
      if (this.response.writableLength <= BUFFER_MAX)
        writeTo(this.response, `event: incident\ndata: ${JSON.stringify({ incident: message.incident })}\n\n`)
      return
    }
    if ('missed' in message) {
      this.missed += message.missed
      // Before anything was sent, the gap begins where the reader had left off.
      this.lastId ||= message.afterId
      this.tellGap()
      return
    }
    for (const row of message.rows) {
      if (this.response.writableLength > BUFFER_MAX) this.missed++
      else {
        this.tellGap()
        writeTo(this.response, `id: ${row.id}\nevent: event\ndata: ${rowJson(row)}\n\n`)
        this.lastId = row.id
      }
    }
  }

  private tellGap(): void {
    if (this.missed === 0 || this.response.writableLength > BUFFER_MAX) return
    writeTo(
      this.response,
      `event: gap\ndata: ${JSON.stringify({ missed: this.missed, after_id: this.lastId })}\n\n`,
    )
    this.missed = 0
  }
}

function parseLabels(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      const name = pair.slice(0, at)
      if (at < 1 || !/^[A-Za-z0-9_]{1,64}$/.test(name))
        fail('invalid', 'label must be name=value', { field: 'label' })
      return [name, pair.slice(at + 1)]
    }),
  )
}
