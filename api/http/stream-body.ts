/** The body of a request as it comes: inflated within bounds, and given up where nothing comes any more. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { fail, SvcError } from '../../engine/index.ts'
import { BODY_MS, keepsTime } from './body-time.ts'
import { compressionOf, inflateParts } from './compression.ts'

/** A real log compresses to a tenth; a bomb to a thousandth. */
export const RATIO_MAX = 100
export const RATIO_FREE = 1024 * 1024

/**
 * @param idleMs how long nothing may come while it is waited for.
 * @throws SvcError invalid, too_large, unsupported_media
 */
export async function* streamOf(request: IncomingMessage, idleMs = BODY_MS): AsyncGenerator<Buffer> {
  keepsTime(request)
  const compression = compressionOf(request.headers['content-encoding'])
  if (compression === null) {
    yield* parts(request, idleMs)
    return
  }
  let wire = 0
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const part of parts(request, idleMs)) {
      wire += part.length
      yield part
    }
  }
  let size = 0
  for await (const part of inflateParts(compression, counted())) {
    size += part.length
    if (size > Math.max(RATIO_FREE, wire * RATIO_MAX))
      fail('too_large', 'the body decompresses to more than 100 times its size')
    yield part
  }
}

async function* parts(stream: Readable, idleMs: number): AsyncGenerator<Buffer> {
  const iterator = stream.iterator({ destroyOnReturn: false })
  for (;;) {
    const next = await inTime(iterator.next(), idleMs).catch((error: NodeJS.ErrnoException) => {
      if (error instanceof SvcError) throw error
      return fail('invalid', 'the body was cut short')
    })
    if (next.done) return
    yield next.value as Buffer
  }
}

async function inTime<T>(next: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new SvcError('invalid', `nothing more of the body came within ${ms / 1_000} s`)),
      ms,
    )
  })
  try {
    return await Promise.race([next, late])
  } finally {
    clearTimeout(timer)
  }
}
