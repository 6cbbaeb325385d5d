/**
 * Answers of tools made short, for a conversation that has grown longer than its model takes. What was
 * shown stays shown: the ids of the events stay, so that they can be cited and looked up again.
 */

/** Characters that stay of an answer, of its beginning. */
const KEPT = 300
const FENCE = /^(<<<data \w+\n)([\s\S]*)(\ndata \w+>>>)$/
const EVENT_ID = /\bevt_\d+\b/g

/** @returns the answer made short, the same each time; itself where that would be no shorter */
export function shortened(content: string): string {
  const [, open = '', inner = content, close = ''] = FENCE.exec(content) ?? []
  const kept = inner.slice(0, KEPT)
  const ids = [...new Set(inner.match(EVENT_ID) ?? [])]
  const events = ids.length ? `; events in it: ${ids.join(', ')}` : ''
  const short = `${open}${kept}…\n[shortened for want of room: it had ${inner.length} characters${events}]${close}`
  return short.length < content.length ? short : content
}
