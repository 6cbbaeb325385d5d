/**
 * Messages of clients as they are meant. What some of them leave out, or write otherwise than the protocol has it, the SDK
 * refuses with a sentence that names nothing a client could mend, or with a dump of its check.
 */
import type { IncomingMessage } from 'node:http'

type Fields = Record<string, unknown>

/** Of a client that does not say who it is. */
const UNNAMED = { name: 'unknown', version: '0' }
/** Methods whose params have arguments. */
const WITH_ARGUMENTS = new Set<unknown>(['tools/call', 'prompts/get'])

/**
 * @param message JSON-RPC, as it came
 * @returns the same; `initialize` with the capabilities and the client that it does not name, a call without
 *   arguments where they are null, and with those that are JSON text as an object
 */
export function asMeant<T extends object>(message: T): T {
  const { method, params } = message as Fields
  if (method === 'initialize' && isObject(params)) {
    const { capabilities, clientInfo } = params
    const named = isObject(clientInfo) ? { ...UNNAMED, ...clientInfo } : UNNAMED
    return { ...message, params: { ...params, capabilities: capabilities ?? {}, clientInfo: named } }
  }
  if (!WITH_ARGUMENTS.has(method) || !isObject(params)) return message
  const { arguments: given, ...rest } = params
  if (given === null) return { ...message, params: rest }
  return typeof given === 'string' ? { ...message, params: { ...rest, arguments: objectIn(given) } } : message
}

/** A client that takes anything, or does not say what it takes, takes both that are answered (RFC 9110, section 12.5.1). */
export function acceptsAll({ headers }: IncomingMessage): void {
  const { accept = '*/*' } = headers
  if (/(^|,)\s*\*\/\*\s*(;|,|$)/.test(accept)) headers.accept = 'application/json, text/event-stream'
}

/** Depth and size of the message, which it is in, are bounded before. */
function objectIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : text
  } catch {
    // Refused as it is.
    return text
  }
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
