/** Who waits for a wide read. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { NetworkInput } from '../../engine/index.ts'
import type { Doors } from './doors.ts'

/** The caller, and that nobody waits any more: its connection closed before it was answered, or the daemon stops. */
export function askedBy(
  { identity }: FastifyRequest,
  { raw }: FastifyReply,
  { onStop }: Pick<Doors, 'onStop'>,
): NetworkInput['asked'] {
  const gone = new AbortController()
  const offStop = onStop(() => gone.abort())
  raw.once('close', () => {
    offStop()
    if (!raw.writableFinished) gone.abort()
  })
  return { by: identity.id, gone: gone.signal }
}
