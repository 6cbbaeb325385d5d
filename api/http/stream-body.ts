/** The body of a request as it comes: inflated, and given up where nothing comes any more. Who reads it bounds it. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { fail, SvcError } from '../../engine/index.ts'
import { BODY_MS, keepsTime } from './body-time.ts'
import { compressionOf, inflateParts } from './compression.ts'

/**
 * @param idleMs how long nothing may come while it is waited for.
 * @throws SvcError invalid, unsupported_media
 */
export async function* streamOf(request: IncomingMessage, idleMs = BODY_MS): AsyncGenerator<Buffer> {
  keepsTime(request)
  const compression = compressionOf(request.headers['content-encoding'])
  if (compression === null) {
    yield* parts(request, idleMs)
    return
  }
  yield* inflateParts(compression, parts(request, idleMs))
}

async function* parts(stream: Readable, idleMs: number): AsyncGenerator<Buffer> {
  const iterator = stream.iterator({ destroyOnReturn: false })
  const late = new SvcError('invalid', `nothing more of the body came within ${idleMs / 1_000} s`)
  try {
    for (;;) {
      const next = await inTime(iterator.next(), idleMs, late).catch((error: NodeJS.ErrnoException) => {
        if (error instanceof SvcError) throw error
        return fail('invalid', 'the body was cut short')
      })
      if (next.done) return
      yield next.value as Buffer
    }
  } finally {
    // Lets go of the stream, so that what still comes can be read and forgotten.
    void iterator.return?.()
  }
}

/** @throws the error given where it takes longer than so many milliseconds, and what `next` throws. */
export async function inTime<T>(next: Promise<T>, ms: number, late: Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<never>((_resolve, reject) => {
    // A process that was held up sees its timers before what came meanwhile: it reads once more, then it is sure.
    timer = setTimeout(() => setImmediate(() => reject(late)), ms)
  })
  try {
    return await Promise.race([next, over])
  } finally {
    clearTimeout(timer)
  }
}
