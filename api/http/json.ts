/** Bodies of JSON, as all routes but those of ingest take them. */
import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { SvcError } from '../../engine/index.ts'
import { BODY_DEPTH_MAX, nestsDeeper } from '../json-body.ts'

/** Reads bodies as JSON objects; a body that is empty is none, as on pause and resume. */
export function takeJson(app: FastifyInstance): void {
  app.removeContentTypeParser(['application/json', 'text/plain'])
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, given, done) => {
    const bytes = given as Buffer
    if (bytes.length === 0) return done(null, undefined)
    // The decoder would put U+FFFD in place of bytes that are not UTF-8, and that would be stored.
    if (!isUtf8(bytes)) return done(new SvcError('invalid', 'the body is not valid UTF-8'))
    const text = bytes.toString()
    if (nestsDeeper(text, BODY_DEPTH_MAX))
      return done(new SvcError('invalid', `the body must not nest more than ${BODY_DEPTH_MAX} deep`))
    // Null would pass for a body that was not sent.
    if (text.trim() === 'null')
      return done(new SvcError('invalid', 'the body must be a JSON object, not null'))
    return void parse(request, text, done)
  })
}
