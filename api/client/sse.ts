/** Server-sent events (WHATWG HTML, 9.2), for every client that follows a stream: the CLI and the console. */
import { createParser } from 'eventsource-parser'

export interface ServerEvent {
  /** `event:`, message when absent. */
  type: string
  data: string
  /** Last `id:` seen so far. */
  id: string
}

/**
 * The events of a stream, in order; who stops before its end ends the stream.
 * @param onRetry is told the reconnection time the server asks for, milliseconds.
 */
export async function* readEvents(
  stream: ReadableStream<Uint8Array>,
  onRetry?: (ms: number) => void,
): AsyncGenerator<ServerEvent> {
  const found: ServerEvent[] = []
  let last = ''
  const parser = createParser({
    onEvent({ event, data, id }) {
      last = id ?? last
      found.push({ type: event ?? 'message', data, id: last })
    },
    onRetry,
  })
  const decoder = new TextDecoder()
  const reader = stream.getReader()
  let isWhole = false
  try {
    for (;;) {
      // Not `for await` over the stream, which Safari has not.
      const { done, value } = await reader.read()
      if (done) break
      parser.feed(decoder.decode(value, { stream: true }))
      yield* found.splice(0)
    }
    isWhole = true
  } finally {
    // One that broke off has told so by its read.
    if (!isWhole) void reader.cancel().catch(() => {})
  }
}
