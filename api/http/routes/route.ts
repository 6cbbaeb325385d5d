/** What a route says of itself in the API document. */
import type { RouteShorthandOptions } from 'fastify'
import { answers } from '../validate.ts'

/** @param answer $id of the schema of the answer; null: an object of no schema. */
export const describe = (
  tag: string,
  operationId: string,
  summary: string,
  status: number,
  answer: string | null,
  more: Record<string, unknown> = {},
): RouteShorthandOptions => ({
  schema: { tags: [tag], operationId, summary, response: answers(status, answer), ...more } as never,
})
