/** Provider A's message format as the scripted server writes it. */
import type { ScriptedReply, Wire } from './script.ts'

const STOPS = { end: 'end_turn', tools: 'tool_use', length: 'max_tokens', refusal: 'refusal' } as const

const stopOf = (reply: ScriptedReply) => STOPS[reply.stop ?? (reply.calls?.length ? 'tools' : 'end')]
const idOf = (call: { id?: string }, i: number) => call.id ?? `toolu_${i + 1}`

function usageOf(reply: ScriptedReply) {
  if (reply.usage === null) return undefined
  return {
    input_tokens: 10,
    output_tokens: 5,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    ...reply.usage,
    ...(reply.cost === undefined ? {} : { cost: reply.cost }),
  }
}

const event = (type: string, data: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`

export const messagesWire: Wire = {
  plain: (reply, model) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(reply.thinking === undefined
        ? []
        : [{ type: 'thinking', thinking: reply.thinking, signature: 'signed' }]),
      ...(reply.text === undefined ? [] : [{ type: 'text', text: reply.text }]),
      ...(reply.calls ?? []).map((call, i) => ({
        type: 'tool_use',
        id: idOf(call, i),
        name: call.name,
        input: call.arguments,
      })),
    ],
    stop_reason: stopOf(reply),
    stop_sequence: null,
    usage: usageOf(reply),
  }),

  stream(reply, model) {
    const usage = usageOf(reply)
    const first = reply.thinking === undefined ? 0 : 1
    const open = [
      event('message_start', {
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model,
          content: [],
          stop_reason: null,
          ...(usage ? { usage: { ...usage, output_tokens: 1 } } : {}),
        },
      }),
      event('ping', {}),
    ]
    if (reply.thinking !== undefined)
      open.push(
        event('content_block_start', {
          index: 0,
          content_block: { type: 'thinking', thinking: '', signature: '' },
        }),
        event('content_block_delta', {
          index: 0,
          delta: { type: 'thinking_delta', thinking: reply.thinking },
        }),
        event('content_block_delta', {
          index: 0,
          delta: { type: 'signature_delta', signature: 'signed' },
        }),
        event('content_block_stop', { index: 0 }),
      )
    const hasText = reply.text !== undefined || reply.endless
    if (hasText)
      open.push(event('content_block_start', { index: first, content_block: { type: 'text', text: '' } }))
    const close = hasText ? [event('content_block_stop', { index: first })] : []
    reply.calls?.forEach((call, i) => {
      const index = first + (hasText ? 1 : 0) + i
      const json = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
      const half = Math.ceil(json.length / 2)
      close.push(
        event('content_block_start', {
          index,
          content_block: { type: 'tool_use', id: idOf(call, i), name: call.name, input: {} },
        }),
        ...[json.slice(0, half), json.slice(half)].map((partial_json) =>
          event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } }),
        ),
        event('content_block_stop', { index }),
      )
    })
    close.push(
      event('message_delta', {
        delta: { stop_reason: stopOf(reply), stop_sequence: null },
        ...(usage ? { usage } : {}),
      }),
      event('message_stop', {}),
    )
    return {
      open,
      text: (text) => event('content_block_delta', { index: first, delta: { type: 'text_delta', text } }),
      close,
      broken: 'event: content_block_delta\ndata: {"type":"content_block_delta","index":\n\n',
      fault: event('error', { error: reply.fault }),
    }
  },

  error: (_status, reply) => ({
    type: 'error',
    error: { type: reply.errorType ?? 'api_error', message: reply.error ?? 'scripted' },
  }),
}
