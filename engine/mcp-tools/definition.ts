/** What a server says of a tool, as it is pinned, shown and offered. */
import { createHash } from 'node:crypto'
import { clipped, visible } from './text.ts'

/** A tool of a server's list, as far as it is read. */
export interface ListedTool {
  name: string
  description?: string | undefined
  inputSchema: object
  annotations?: { readOnlyHint?: boolean | undefined } | undefined
}

/** Characters of a description that reach the model, its prefix included. */
const DESCRIPTION_MAX = 1_024

export interface Definition {
  description: string
  input: object
  readOnly: boolean
  /** SHA-256, hex: of the description, the schema and the read-only mark, whatever the order of keys. */
  hash: string
}

/**
 * The mark is pinned with the text: a tool that was pinned as writing must not become free to call by
 * saying that it only reads.
 */
export function definitionOf(server: string, listed: ListedTool): Definition {
  const readOnly = listed.annotations?.readOnlyHint === true
  const description = listed.description ?? ''
  const hash = createHash('sha256')
    .update(canonical([description, listed.inputSchema, readOnly]))
    .digest('hex')
  return {
    description: clipped(`[${server}] ${visible(description)}`, DESCRIPTION_MAX),
    input: cleaned(listed.inputSchema) as object,
    readOnly,
    hash,
  }
}

/** JSON with the keys of every object in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

/** A schema's texts speak to the model too; its keys are names of arguments and stay. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return visible(value)
  if (Array.isArray(value)) return value.map(cleaned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cleaned(inner)]))
}
