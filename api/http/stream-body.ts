/** The body of a request as it comes: inflated within bounds, and given up where nothing comes any more. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { fail, SvcError } from '../../engine/index.ts'
import { BODY_MS, keepsTime } from './body-time.ts'

/** A real log compresses to a tenth; a bomb to a thousandth. */
export const RATIO_MAX = 100
export const RATIO_FREE = 1024 * 1024

/** @param given a Content-Encoding, if there is one. @throws SvcError unsupported_media */
export function isGzipped(given: string | undefined): boolean {
  const encoding = (given ?? 'identity').trim().toLowerCase()
  if (encoding === 'identity' || encoding === '') return false
  if (encoding === 'gzip' || encoding === 'x-gzip') return true
  return fail('unsupported_media', 'the Content-Encoding must be gzip, once, or none')
}

/**
 * @param idleMs how long nothing may come while it is waited for.
 * @throws SvcError invalid, too_large, unsupported_media
 */
export async function* streamOf(request: IncomingMessage, idleMs = BODY_MS): AsyncGenerator<Buffer> {
  keepsTime(request)
  if (!isGzipped(request.headers['content-encoding'])) {
    yield* parts(request, idleMs)
    return
  }
  const gunzip = createGunzip()
  request.on('error', (error) => gunzip.destroy(error)).pipe(gunzip)
  let size = 0
  try {
    for await (const part of parts(gunzip, idleMs)) {
      size += part.length
      if (size > Math.max(RATIO_FREE, gunzip.bytesWritten * RATIO_MAX))
        fail('too_large', 'the body decompresses to more than 100 times its size')
      yield part
    }
  } finally {
    // The answer needs the connection: what is still to come is left there.
    request.unpipe(gunzip)
    gunzip.destroy()
  }
}

async function* parts(stream: Readable, idleMs: number): AsyncGenerator<Buffer> {
  const iterator = stream.iterator({ destroyOnReturn: false })
  for (;;) {
    const next = await inTime(iterator.next(), idleMs).catch((error: NodeJS.ErrnoException) => {
      if (error instanceof SvcError) throw error
      if (error.code?.startsWith('Z_')) fail('invalid', 'the body is not valid gzip')
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
