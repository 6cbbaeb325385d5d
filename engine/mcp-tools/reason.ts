/** Why a server is left out or a call failed, as a sentence for people and models. */
import { storedFault, withoutSecrets } from '../stored-fault.ts'
import { CutOff } from './bound.ts'
import { clipped, visible } from './text.ts'
import type { McpServerRef } from './types.ts'

const REASON_MAX = 300

/**
 * What went wrong. Of what a server wrote only the message of a protocol error is told, bounded and without
 * our credential; the body of an answer that is none of MCP may be a page of another service's insides.
 */
export function reasonOf(error: unknown, server: McpServerRef): string {
  return clipped(storedFault(visible(sentenceOf(error)), server.secrets ?? []), REASON_MAX)
}

/** Text without the server's credential: a server may echo what it was sent. */
export function scrubbed(text: string, { secrets }: McpServerRef): string {
  return withoutSecrets(text, secrets ?? [])
}

/** Classes of the client by name, since it is loaded only when it is used. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection failed'
  if (error instanceof CutOff) return error.message
  if (error.name === 'AbortError') return 'cut off'
  const { name } = error.constructor
  const code = (error as { code?: unknown }).code
  if (name === 'SdkHttpError') return httpSentence(Number((error as { status?: unknown }).status))
  if (name === 'SdkError') return sdkSentence(error, code)
  // Its classes keep the name of the first of them.
  if (error.name === 'ProtocolError')
    return `the server says: ${error.message.replace(/^MCP error -?\d+: /, '')}`
  if (name === 'EgressError') return error.message
  if (/^(ZodError|\$ZodError|SyntaxError)$/.test(name) || error.name === 'ZodError')
    return 'the answer is not MCP: check the address'
  if (error instanceof TypeError) return 'the server cannot be reached'
  return error.message
}

/** Of the client itself: what it met is told where it is an error, and else that it is no MCP. */
function sdkSentence({ message, cause }: Error, code: unknown): string {
  if (code === 'CONNECTION_CLOSED') return 'the connection was closed'
  if (cause instanceof Error && cause.constructor.name !== 'SdkError') return sentenceOf(cause)
  if (/^(ERA_NEGOTIATION_FAILED|INVALID_RESULT|CLIENT_HTTP_UNEXPECTED_CONTENT)$/.test(String(code)))
    return 'the answer is not MCP: check the address'
  return message
}

function httpSentence(status: number): string {
  if (status === 401 || status === 403) return `the server answered ${status}: check its credential`
  if (status === 404 || status === 405) return `the server answered ${status}: check its address`
  if (status >= 300 && status < 400)
    return `the server answered ${status}, a redirect to elsewhere, which is not followed`
  return status > 0 ? `the server answered ${status}` : 'the answer is not MCP: check the address'
}
