/** The chat-completions format as the scripted server writes it. */
import type { ScriptedReply, Wire } from './script.ts'

const STOPS = { end: 'stop', tools: 'tool_calls', length: 'length', refusal: 'content_filter' } as const

const stopOf = (reply: ScriptedReply) => STOPS[reply.stop ?? (reply.calls?.length ? 'tools' : 'end')]
const idOf = (call: { id?: string }, i: number) => call.id ?? `call_${i + 1}`
const textOf = (value: Record<string, unknown> | string) =>
  typeof value === 'string' ? value : JSON.stringify(value)

const extraOf = ({ extras }: ScriptedReply, i: number) =>
  extras?.[i] === undefined ? {} : { extra_content: extras[i] }
const partsOf = (text: string) => [
  { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
  { type: 'text', text },
]

function usageOf(reply: ScriptedReply) {
  if (reply.usage === null) return undefined
  const given = { input_tokens: 10, output_tokens: 5, ...reply.usage }
  return {
    prompt_tokens: given.input_tokens,
    completion_tokens: given.output_tokens,
    total_tokens: Number(given.input_tokens) + Number(given.output_tokens),
    prompt_tokens_details: { cached_tokens: given.cache_read_input_tokens ?? 0 },
    ...(reply.cost === undefined ? {} : { cost: reply.cost }),
  }
}

export const chatWire: Wire = {
  plain: (reply, model) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 0,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.parts ? partsOf(reply.text ?? '') : (reply.text ?? null),
          ...(reply.thinking === undefined ? {} : { reasoning_content: reply.thinking }),
          ...(reply.details ? { reasoning_details: reply.details } : {}),
          ...(reply.calls
            ? {
                tool_calls: reply.calls.map((call, i) => ({
                  id: idOf(call, i),
                  type: 'function',
                  function: { name: call.name, arguments: textOf(call.arguments) },
                  ...extraOf(reply, i),
                })),
              }
            : {}),
        },
        finish_reason: stopOf(reply),
      },
    ],
    usage: usageOf(reply),
  }),

  stream(reply, model) {
    const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`
    const chunk = (delta: object, finish: string | null = null) =>
      data({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 0,
        model,
        choices: [{ index: 0, delta, finish_reason: finish }],
      })
    const close: string[] = []
    reply.calls?.forEach((call, index) => {
      const json = textOf(call.arguments)
      const half = Math.ceil(json.length / 2)
      if (reply.sameIndex) {
        const id = reply.sameIndex === 'named' ? idOf(call, index) : ''
        const whole = { name: call.name, arguments: json }
        close.push(chunk({ tool_calls: [{ index: 0, id, type: 'function', function: whole }] }))
        return
      }
      close.push(
        chunk({
          tool_calls: [
            {
              index,
              id: idOf(call, index),
              type: 'function',
              function: { name: call.name, arguments: json.slice(0, half) },
              ...extraOf(reply, index),
            },
          ],
        }),
        chunk({ tool_calls: [{ index, function: { arguments: json.slice(half) } }] }),
      )
    })
    const usage = usageOf(reply)
    close.push(chunk({}, stopOf(reply)))
    if (usage)
      close.push(
        data({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model, choices: [], usage }),
      )
    close.push('data: [DONE]\n\n')
    return {
      open: [
        ': here it comes\n\n',
        chunk({ role: 'assistant', content: '' }),
        ...(reply.thinking === undefined ? [] : [chunk({ reasoning_content: reply.thinking })]),
        ...(reply.details ?? []).map((detail) => chunk({ reasoning_details: [detail] })),
      ],
      text: (content) => chunk({ content: reply.parts ? partsOf(content) : content }),
      close,
      broken: 'data: {"id":"chatcmpl-1","choices":[\n\n',
      fault: data({ error: reply.fault }),
    }
  },

  error: (status, reply) => ({
    error: {
      message: reply.error ?? 'scripted',
      type: reply.errorType ?? 'api_error',
      param: null,
      code: reply.errorType ?? String(status),
    },
  }),
}
