/** What a request of `subscriptions/listen` asks for, and why it cannot be had. */
import { ProtocolErrorCode } from '@modelcontextprotocol/server'
import { explain } from '../call-tool.ts'
import { DaemonError } from '../daemon.ts'
import type { Session } from '../session.ts'
import { ToolError } from '../tool.ts'
import type { Told } from '../watches.ts'
import type { WireError } from './revisions.ts'

/** The method that takes the place of resources/subscribe and of the stream of notifications. */
export const LISTEN = 'subscriptions/listen'

/** @returns the resources it wants to hear of; [] where it has none, or is not right, which the SDK says */
export function watchedBy(message: object): string[] {
  const { params } = message as { params?: { notifications?: { resourceSubscriptions?: unknown } } }
  const uris = params?.notifications?.resourceSubscriptions
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : []
}

/**
 * Begins what it asks for, all or nothing: a resource that cannot be watched is told, not left out.
 * @returns ends it, or the error to answer with. @throws what is a fault of ours
 */
export async function beginListen(
  session: Pick<Session, 'watch'>,
  message: object,
  signal: AbortSignal,
  told: Told,
): Promise<(() => void) | WireError> {
  try {
    return await session.watch(watchedBy(message), signal, told)
  } catch (error) {
    if (error instanceof ToolError) return { code: ProtocolErrorCode.InvalidParams, message: error.message }
    if (!(error instanceof DaemonError)) throw error
    return {
      code: error.isClients ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
      message: explain(error),
    }
  }
}
