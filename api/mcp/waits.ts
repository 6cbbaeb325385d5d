/**
 * Calls of one session that only wait. Each ends when its client cancels it or goes, and all end when no
 * more is waited for: what would be waited for is then taken by nobody.
 */
import type { RequestId } from '@modelcontextprotocol/server'

export class Waits {
  private ended = new AbortController()
  private readonly open = new Map<RequestId, AbortController>()

  /** A request is being answered. @returns what to call when it is answered */
  begin(request: RequestId): () => void {
    const gone = new AbortController()
    this.open.set(request, gone)
    return () => {
      if (this.open.get(request) === gone) this.open.delete(request)
    }
  }

  /** @param signal of the request. @returns aborted with it, by `leave` of it, and by `endAll` */
  of(request: RequestId, signal: AbortSignal): AbortSignal {
    const gone = this.open.get(request)
    return AbortSignal.any([signal, this.ended.signal, ...(gone ? [gone.signal] : [])])
  }

  /** The answer to this request would reach nobody. */
  leave(request: RequestId): void {
    this.open.get(request)?.abort()
  }

  /** @param why what those that wait now are told; absent: that nothing came, now and from now on */
  endAll(why?: Error): void {
    const { ended } = this
    if (why !== undefined) this.ended = new AbortController()
    ended.abort(why)
  }
}
