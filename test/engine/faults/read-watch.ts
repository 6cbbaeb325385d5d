/** Tells when the answer of a server that sends no more has been read as far as it was sent. */

export interface ReadWatch {
  /** A fetch that counts what is read of its answers. */
  fetch: typeof fetch
  /** @param bytes of the body, sent so far. Resolves when its reader asks for more than those. */
  readTo(bytes: number): Promise<void>
}

/** Of one answer at a time, the newest. */
export function watchReads(http: typeof fetch): ReadWatch {
  let handed = 0
  /** Whether the reader has taken what it was handed, and asks for more. */
  let asksMore = false
  let waiting: { bytes: number; resolve: () => void }[] = []
  const look = () => {
    if (!asksMore) return
    for (const { resolve } of waiting.filter(({ bytes }) => handed >= bytes)) resolve()
    waiting = waiting.filter(({ bytes }) => handed < bytes)
  }
  return {
    fetch: async (input, init) => {
      const response = await http(input, init)
      handed = 0
      asksMore = false
      const reader = response.body?.getReader()
      if (!reader) return response
      const body = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            asksMore = true
            look()
            const next = await reader.read()
            if (next.done) return controller.close()
            handed += next.value.byteLength
            asksMore = false
            controller.enqueue(next.value)
          },
          cancel: (reason) => reader.cancel(reason),
        },
        { highWaterMark: 0 },
      )
      const { status, statusText, headers } = response
      return new Response(body, { status, statusText, headers })
    },
    readTo: (bytes) =>
      new Promise((resolve) => {
        waiting.push({ bytes, resolve })
        look()
      }),
  }
}
