/** What a route says of itself in the API document. */
import type { RouteShorthandOptions } from 'fastify'
import { type Answer, answers, fields } from '../validate.ts'

/** A call of the API that takes no query refuses one. Probes and scrapers may send what they like. */
export const NO_QUERY = { querystring: fields({}) }

/** @param answer what it gives, as `answers` takes it. */
export const describe = (
  tag: string,
  operationId: string,
  summary: string,
  status: number,
  answer: Answer,
  more: Record<string, unknown> = {},
): RouteShorthandOptions => ({
  schema: { tags: [tag], operationId, summary, response: answers(status, answer), ...more } as never,
})
