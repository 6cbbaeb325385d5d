/** Server-sent events as the WHATWG HTML standard (section 9.2) defines their stream. */

export interface ServerEvent {
  /** `event:`, message when absent. */
  type: string
  data: string
  /** Last `id:` seen so far. */
  id: string
}

/**
 * The events of a stream, in order.
 * @param onRetry is told the reconnection time the server asks for, milliseconds.
 */
export async function* readEvents(
  stream: AsyncIterable<Uint8Array>,
  onRetry: (ms: number) => void,
): AsyncGenerator<ServerEvent> {
  let id = ''
  let type = ''
  let data: string[] = []
  for await (const line of readLines(stream)) {
    if (line === '') {
      if (data.length) yield { type: type || 'message', data: data.join('\n'), id }
      type = ''
      data = []
      continue
    }
    const colon = line.indexOf(':')
    // A line that begins with a colon is a comment: the server's sign of life.
    if (colon === 0) continue
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'data') data.push(value)
    else if (field === 'event') type = value
    else if (field === 'id' && !value.includes('\0')) id = value
    else if (field === 'retry' && /^\d+$/.test(value)) onRetry(Number(value))
  }
}

/** Lines of a byte stream; CR LF, LF and CR end one. What follows the last end is dropped. */
async function* readLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true })
    // A CR at the end may be the first half of CR LF.
    const held = rest.endsWith('\r') ? 1 : 0
    const parts = rest.slice(0, rest.length - held).split(/\r\n|\n|\r/)
    rest = parts.pop()! + (held ? '\r' : '')
    yield* parts
  }
}
