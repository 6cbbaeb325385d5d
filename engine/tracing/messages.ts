/** Conversations, tool calls and tool definitions as GenAI attributes write them: JSON, redacted, within bounds. */
import type { ModelMessage, ToolCall, ToolSpec } from '../models/types.ts'
import { ATTRIBUTE_MAX, type Clean, cut, fittedJson, leastSize, scrubbed } from './attributes.ts'

type Part =
  | { type: 'text'; content: string }
  | { type: 'tool_call'; id: string; name: string; arguments: unknown }
  | { type: 'tool_call_response'; id: string; response: string }

/** Messages that are kept whatever follows: the instructions and what is asked. */
const FIRST = 2

interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool'
  parts: Part[]
  finish_reason?: string
}

/** What a model is asked. @param system text that goes before the conversation */
export function inputMessages(system: string, messages: readonly ModelMessage[], clean: Clean): string {
  const first: Message[] = system ? [{ role: 'system', parts: [{ type: 'text', content: system }] }] : []
  return fitted(scrubbed([...first, ...messages.map(messageOf)], clean) as Message[])
}

/** What a model answers. */
export function outputMessages(
  text: string,
  calls: readonly ToolCall[],
  finishReason: string,
  clean: Clean,
): string {
  const message = scrubbed(messageOf({ role: 'assistant', text, calls: [...calls] }), clean) as Message
  return fitted([{ ...message, finish_reason: finishReason }])
}

/** Arguments of a call. */
export function argumentsOf(call: ToolCall, clean: Clean): string {
  const given = scrubbed(call.arguments, clean)
  return fittedJson(given) ?? cut(JSON.stringify(given))
}

/** Definitions without what does not fit, so that the JSON holds: schemas go first, then descriptions. */
export function definitionsOf(tools: readonly ToolSpec[]): string | null {
  if (tools.length === 0) return null
  const whole = tools.map(({ name, description, input }) => ({
    type: 'function',
    name,
    description,
    parameters: input,
  }))
  const described = whole.map(({ parameters: _schema, ...rest }) => rest)
  const named = described.map(({ description: _text, ...rest }) => rest)
  for (const form of [whole, described, named]) {
    const text = JSON.stringify(form)
    if (text.length <= ATTRIBUTE_MAX) return text
  }
  return fitting(named)
}

export const FINISH_REASONS = {
  end: 'stop',
  tools: 'tool_calls',
  length: 'length',
  refusal: 'content_filter',
} as const

function messageOf(message: ModelMessage): Message {
  if (message.role === 'user') return { role: 'user', parts: [{ type: 'text', content: message.text }] }
  if (message.role === 'tool')
    return {
      role: 'tool',
      parts: message.results.map(({ id, content }) => ({
        type: 'tool_call_response',
        id,
        response: content,
      })),
    }
  const text: Part[] = message.text ? [{ type: 'text', content: message.text }] : []
  return {
    role: 'assistant',
    parts: [
      ...text,
      ...message.calls.map(
        ({ id, name, arguments: given }): Part => ({ type: 'tool_call', id, name, arguments: given }),
      ),
    ],
  }
}

/** Texts are cut first; then messages in the middle are left out, for the first say what is asked, the last why. */
function fitted(messages: readonly Message[]): string {
  const whole = fittedJson(messages)
  if (whole !== null) return whole
  // Their sizes say how many fit: tried one by one, a long conversation takes seconds.
  const sizes = messages.map(leastSize)
  let from = messages.length
  let left = ATTRIBUTE_MAX - 2 - sizes.slice(0, FIRST).reduce((sum, size) => sum + size + 1, 0)
  while (from > FIRST && left > sizes[from - 1]!) left -= sizes[--from]! + 1
  const kept = [...messages.slice(0, FIRST), ...messages.slice(from)]
  return fittedJson(kept) ?? cut(JSON.stringify(kept))
}

/** As many of the first as fit. */
function fitting(list: readonly unknown[]): string {
  let count = list.length
  let text = JSON.stringify(list)
  while (text.length > ATTRIBUTE_MAX) {
    count = Math.floor(count * 0.9)
    text = JSON.stringify(list.slice(0, count))
  }
  return text
}
