/** The answer of a tool, as a model is shown it: text, and images of a type that models take. */
import { bytesOf, IMAGES_MAX, imageOf } from '../models/images.ts'
import type { ToolImage } from '../models/types.ts'
import type { RawResult } from './connection.ts'

interface Block {
  type?: unknown
  text?: unknown
  data?: unknown
  mimeType?: unknown
  uri?: unknown
  name?: unknown
  resource?: { uri?: unknown; text?: unknown; blob?: unknown; mimeType?: unknown }
}

/**
 * Text blocks and text of resources as they are, images as such, and of all else a note that names type and
 * size: base64 as text would tell a model nothing, and cost much.
 */
export function contentOf({ content, structured }: RawResult): { text: string; images: ToolImage[] } {
  if (content.length === 0 && structured !== undefined)
    return { text: JSON.stringify(structured), images: [] }
  const images: ToolImage[] = []
  return { text: content.map((block) => blockText((block ?? {}) as Block, images)).join('\n'), images }
}

/** @param images those before it; its own is put behind them */
function blockText(block: Block, images: ToolImage[]): string {
  const { type, text, data, mimeType, resource } = block
  if (type === 'text' && typeof text === 'string') return text
  if (type === 'image' && typeof data === 'string') return imageText('image', mimeType, data, images)
  if (type === 'resource' && typeof resource?.text === 'string')
    return `[resource ${String(resource.uri ?? '')}]\n${resource.text}`
  if (type === 'resource' && typeof resource?.blob === 'string')
    return imageText(`resource ${String(resource.uri ?? '')}`, resource.mimeType, resource.blob, images)
  if (type === 'resource_link')
    return `[resource ${String(block.uri ?? '')}: ${String(block.name ?? '')}${typeof mimeType === 'string' ? `, ${mimeType}` : ''}]`
  if (typeof data === 'string') return leftOut(String(type), mimeType, data, 'it is not shown to you')
  return JSON.stringify(block)
}

function imageText(what: string, mimeType: unknown, data: string, images: ToolImage[]): string {
  const type = typeof mimeType === 'string' ? mimeType.toLowerCase().split(';')[0]!.trim() : ''
  if (!type.startsWith('image/')) return leftOut(what, mimeType, data, 'it is not shown to you')
  const image = images.length < IMAGES_MAX ? imageOf(type, data) : `${IMAGES_MAX} of a result are shown`
  if (typeof image === 'string') return leftOut(what, mimeType, data, image)
  images.push(image)
  return `[${what}: ${type}, ${bytesOf(data)} bytes; shown as image ${images.length}]`
}

/** @param base64 of what is no text */
function leftOut(what: string, mimeType: unknown, base64: string, why: string): string {
  const type = typeof mimeType === 'string' ? mimeType : 'of no stated type'
  return `[${what} left out: ${type}, ${bytesOf(base64)} bytes; ${why}]`
}
