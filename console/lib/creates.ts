/**
 * Creates that got no answer, such as over a line that broke. Sent again as they were they have the same
 * Idempotency-Key: the daemon does them once, and answers as it did the first time.
 */

const CREATES =
  /^POST \/api\/(change-sets|setup\/apply|sources|triggers|agents\/builtin|mcp-servers|entities\/joined|keys|projects(\/[^/]+\/(skills|keys))?)$/

export class Creates {
  private readonly unanswered = new Map<string, string>()

  /** The header of a call that makes something; nothing for others. @param body as it is sent */
  headerOf(method: string, path: string, body: unknown): Record<string, string> {
    if (!CREATES.test(`${method} ${path}`)) return {}
    const sent = `${path} ${body}`
    const key = this.unanswered.get(sent) ?? crypto.getRandomValues(new Uint32Array(4)).join('-')
    this.unanswered.set(sent, key)
    return { 'idempotency-key': key }
  }

  /** A call was answered. @param status of the answer; a proxy gives some for a daemon that did not */
  answered(method: string, path: string, body: unknown, status: number): void {
    if (status < 502) this.unanswered.delete(`${path} ${body}`)
    // What got no answer may be what is gone now.
    if (method === 'DELETE') this.unanswered.clear()
  }
}
