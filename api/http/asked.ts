/** Who waits for a wide read. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Asked } from '../../engine/index.ts'

/** The caller, and that it has gone: its connection closed before it was answered. */
export function askedBy({ identity }: FastifyRequest, { raw }: FastifyReply): Required<Asked> {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return { by: identity.id, gone: gone.signal }
}
