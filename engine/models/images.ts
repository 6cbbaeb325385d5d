/**
 * Images in what a tool answered, as the wire formats take them: in a tool's result (provider A), or in a
 * message behind it (chat completions, whose tool messages are text). A model that takes none is asked
 * again without them.
 */
import type { ModelMessage, ToolImage } from './types.ts'

/** Bytes of one: both formats take 5 MB, but an image is sent again with each round. */
export const IMAGE_BYTES = 1024 * 1024
/** Of one result. */
export const IMAGES_MAX = 4
/**
 * Tokens of one at most, as providers count them: some 1,600 of provider A, up to 3,000 of chat completions,
 * a little more of the newest models (2026-11).
 */
export const IMAGE_TOKENS = 5_000

/** How each type begins, in hexadecimal; of a type that is another, a provider refuses the whole request. */
const MAGIC: Record<ToolImage['type'], RegExp> = {
  'image/png': /^89504e470d0a1a0a/,
  'image/jpeg': /^ffd8ff/,
  'image/gif': /^47494638(37|39)61/,
  'image/webp': /^52494646.{8}57454250/,
}
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** @returns the image, or why it cannot be shown */
export function imageOf(type: string, data: string): ToolImage | string {
  const magic = MAGIC[type as ToolImage['type']]
  if (!magic) return 'models take PNG, JPEG, GIF and WebP'
  const bytes = bytesOf(data)
  if (bytes > IMAGE_BYTES) return `it is over ${IMAGE_BYTES / 1024 / 1024} MB`
  if (data.length % 4 !== 0 || !BASE64.test(data)) return 'it is no base64'
  if (!magic.test(Buffer.from(data.slice(0, 24), 'base64').toString('hex'))) return `it is no ${type}`
  return { type: type as ToolImage['type'], data }
}

/** Bytes of what is written as base64. */
export const bytesOf = (data: string): number =>
  Math.floor((data.length * 3) / 4) - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0)

/** How many there are in what was said. */
export const imagesIn = (messages: readonly ModelMessage[]): number =>
  messages.reduce(
    (sum, message) =>
      sum +
      (message.role === 'tool' ? message.results.reduce((n, one) => n + (one.images?.length ?? 0), 0) : 0),
    0,
  )

/** The same without them, which each result says. */
export function withoutImages(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.map((message) =>
    message.role === 'tool'
      ? {
          ...message,
          results: message.results.map(({ images, ...result }) =>
            images?.length
              ? { ...result, content: `${result.content}\n[images left out: this model takes none]` }
              : result,
          ),
        }
      : message,
  )
}
