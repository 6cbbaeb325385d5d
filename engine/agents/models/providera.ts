/** Provider A's message format, over its own client: POST {base}/v1/messages, streamed. */
import Anthropic, { BaseAnthropic } from '@anthropic-ai/sdk'
import { Stream } from '@anthropic-ai/sdk/core/streaming'
import { isObject } from '../../model/merge.ts'
import {
  type Adapter,
  argumentsOf,
  BadReply,
  type Bounded,
  boundedArguments,
  boundedText,
  CLIENT_MS,
  CutReply,
  guardedFetch,
  isLength,
  isStream,
  jsonOf,
  MAX_CALLS,
  type Means,
  modelIds,
  type Provider,
  ReportedError,
  reportedCost,
  stopOf,
  textIn,
  type WireReply,
  type WireRequest,
  type WireUsage,
  withCut,
} from './adapter.ts'
import type { ModelMessage, ToolCall, ToolImage } from './types.ts'

type Params = Anthropic.MessageCreateParamsStreaming
type Block = Record<string, unknown> & { type: string }

const KEY_HEADER = 'x-api-key'
export const providerA: Adapter = {
  async send(provider, request, means) {
    const client = clientOf(provider, means)
    const response = await client.messages.create(paramsOf(request)).asResponse()
    if (!isStream(response)) return replyOf(await jsonOf(response), response.headers, means)
    return read(client, response, means)
  },
  async list(provider, means) {
    const client = clientOf(provider, means)
    const page = await client.models.list({ limit: 1000 })
    return modelIds(page.data)
  },
}

/** What is asked for alone: the whole client makes some sixty objects, one for each part of the API, of each call. */
class Client extends BaseAnthropic {
  readonly messages = new Anthropic.Messages(this)
  readonly models = new Anthropic.Models(this)
}

/** Everything it would look for in its own environment variables and files is given. */
function clientOf(provider: Provider, means: Means): Client {
  return new Client({
    baseURL: provider.baseUrl,
    // The credential is put on the request by guardedFetch; without any the client looks for one.
    apiKey: 'guarded',
    authToken: null,
    webhookKey: null,
    fetch: guardedFetch(means, provider.credential, KEY_HEADER),
    maxRetries: 0,
    timeout: CLIENT_MS,
    logLevel: 'off',
    openTelemetry: false,
  })
}

function paramsOf(request: WireRequest): Params {
  const { model, system, tools, choice, maxTokens } = request
  return {
    model,
    max_tokens: maxTokens,
    stream: true,
    ...(system === '' ? {} : { system: [{ type: 'text', text: system, ...KEPT }] }),
    messages: withBreakpoint(request.messages.flatMap(messageOf)),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, input }, i) => ({
            name,
            description,
            input_schema: input as Anthropic.Tool.InputSchema,
            ...(i === tools.length - 1 ? KEPT : {}),
          })),
          tool_choice: typeof choice === 'object' ? { type: 'tool', name: choice.tool } : { type: choice },
        }),
  }
}

/**
 * A breakpoint of the prompt cache: all before it is kept by the provider, and read again for less by the
 * next call that begins the same. One stands after the tools, one after the system text, which are the
 * same for all rounds and runs of an agent, and one at the last message, which the next round begins with.
 */
const KEPT = { cache_control: { type: 'ephemeral' as const } }

/** The last message is what was asked or answered, never what the model said: of that some blocks take none. */
function withBreakpoint(messages: Anthropic.MessageParam[]): Anthropic.MessageParam[] {
  const last = messages.at(-1)
  if (last?.role !== 'user') return messages
  const blocks =
    typeof last.content === 'string' ? [{ type: 'text' as const, text: last.content }] : last.content
  const block = blocks.at(-1)
  if (!block || (block.type === 'text' && block.text === '')) return messages
  const kept = { ...block, ...KEPT } as Anthropic.ContentBlockParam
  return [...messages.slice(0, -1), { role: 'user', content: [...blocks.slice(0, -1), kept] }]
}

/** A turn with nothing in it is left out: the format has none. */
function messageOf(message: ModelMessage): Anthropic.MessageParam[] {
  if (message.role === 'user')
    return [{ role: 'user', content: message.text === '' ? '' : [{ type: 'text', text: message.text }] }]
  if (message.role === 'tool')
    return [
      {
        role: 'user',
        content: message.results.map(({ id, content, isError, images }) => ({
          type: 'tool_result' as const,
          tool_use_id: id,
          content: images?.length
            ? [{ type: 'text' as const, text: content }, ...images.map(imageBlock)]
            : content,
          ...(isError ? { is_error: true } : {}),
        })),
      },
    ]
  const { raw, text, calls } = message
  const blocks =
    isObject(raw) && raw.kind === 'providera' && Array.isArray(raw.blocks)
      ? (raw.blocks as Anthropic.ContentBlockParam[])
      : [
          ...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]),
          ...calls.map(({ id, name, arguments: input }) => ({ type: 'tool_use' as const, id, name, input })),
        ]
  return blocks.length ? [{ role: 'assistant', content: blocks }] : []
}

const imageBlock = ({ type, data }: ToolImage): Anthropic.ImageBlockParam => ({
  type: 'image',
  source: { type: 'base64', media_type: type, data },
})

/** A block as it grows; `input` is the text of a call's arguments. */
interface Growing {
  block: Block
  input: Bounded | null
}

/**
 * Reads the events. The client is there for its log, which is off; else it writes what it cannot read to
 * the console. What they hold is checked as it is used: they come from anywhere.
 */
async function read(client: BaseAnthropic, response: Response, means: Means): Promise<WireReply> {
  const stream = Stream.fromSSEResponse<Anthropic.RawMessageStreamEvent>(
    response,
    new AbortController(),
    client,
  )
  const growing = new Map<number, Growing>()
  const text = boundedText()
  let model = ''
  let stop: unknown
  let usage: Record<string, unknown> | undefined
  let isComplete = false
  const learn = (more: unknown) => {
    if (!isObject(more)) return
    const known = Object.entries(more).filter(([, value]) => value !== null && value !== undefined)
    usage = { ...usage, ...Object.fromEntries(known) }
  }
  for await (const event of stream) {
    if (event.type === 'message_start') {
      model = String(event.message.model ?? '')
      learn(event.message.usage)
    } else if (event.type === 'content_block_start') {
      const block = { ...event.content_block } as Block
      growing.set(event.index, { block, input: block.type === 'tool_use' ? boundedArguments() : null })
      if (growing.size > MAX_CALLS) throw new BadReply(`the reply has over ${MAX_CALLS} parts`)
      if (block.type === 'text' && block.text) {
        text.add(textIn(block.text, 'text'))
        means.onPiece(textIn(block.text, 'text'))
      }
    } else if (event.type === 'content_block_delta') {
      const grown = growing.get(event.index)
      if (!grown) throw new BadReply('the reply adds to a part that did not begin')
      grow(grown, event.delta, text, means)
    } else if (event.type === 'message_delta') {
      stop = event.delta.stop_reason
      learn(event.usage)
    } else if (event.type === 'message_stop') isComplete = true
  }
  if (!isComplete) throw new CutReply('the reply ended before it was complete')
  const grown = [...growing.entries()].sort(([a], [b]) => a - b)
  const blocks = grown.map(([, { block, input }]) =>
    input ? { ...block, input: inputOf(block, input.text) } : block,
  )
  const texts = grown.flatMap(([, { block, input }]) => (input ? [writtenOf(block, input.text)] : []))
  return assemble({ model, blocks, texts, stop, usage }, response.headers)
}

function grow({ block, input }: Growing, delta: Anthropic.RawContentBlockDelta, text: Bounded, means: Means) {
  if (delta.type === 'text_delta') {
    const piece = textIn(delta.text, 'text')
    text.add(piece)
    block.text = `${block.text ?? ''}${piece}`
    means.onPiece(piece)
    return
  }
  if (delta.type === 'input_json_delta')
    (input ?? boundedArguments()).add(textIn(delta.partial_json, 'tool call'))
  else if (delta.type === 'thinking_delta')
    block.thinking = `${block.thinking ?? ''}${textIn(delta.thinking, 'thinking')}`
  else if (delta.type === 'signature_delta') block.signature = textIn(delta.signature, 'thinking')
  means.onPiece('')
}

/** Arguments come in pieces of text, or whole with the beginning of their block. */
const inputOf = (block: Block, text: string) =>
  text === '' && isObject(block.input) ? block.input : argumentsOf(text)

/** Its arguments as they came. */
const writtenOf = (block: Block, text: string) =>
  text === '' && isObject(block.input) && Object.keys(block.input).length ? JSON.stringify(block.input) : text

/** A reply that came whole. */
function replyOf(body: Record<string, unknown>, headers: Headers, means: Means): WireReply {
  if (isObject(body.error)) throw new ReportedError(body.error)
  if (!Array.isArray(body.content)) throw new BadReply('the reply has no content')
  const text = boundedText()
  const blocks = body.content.map((given: unknown): Block => {
    if (!isObject(given) || typeof given.type !== 'string')
      throw new BadReply('a part of the reply has no type')
    const block = given as Block
    if (block.type === 'text') text.add(textIn(block.text, 'text'))
    if (block.type !== 'tool_use') return block
    boundedArguments().add(JSON.stringify(block.input) ?? '')
    return { ...block, input: isObject(block.input) ? block.input : argumentsOf(String(block.input ?? '')) }
  })
  means.onPiece(text.text)
  const { model, stop_reason: stop, usage } = body
  return assemble(
    {
      model: typeof model === 'string' ? model : '',
      blocks,
      texts: body.content.flatMap((block: unknown) =>
        isObject(block) && block.type === 'tool_use' ? [wholeText(block.input)] : [],
      ),
      stop,
      usage: isObject(usage) ? usage : undefined,
    },
    headers,
  )
}

const wholeText = (input: unknown): string =>
  typeof input === 'string' ? input : (JSON.stringify(input) ?? '')

function assemble(
  parts: {
    model: string
    blocks: Block[]
    /** Arguments of the calls, as they came. */
    texts: string[]
    stop: unknown
    usage: Record<string, unknown> | undefined
  },
  headers: Headers,
): WireReply {
  // An empty text, or one of blanks, is one the format does not take back.
  const blocks = parts.blocks.filter(({ type, text }) => type !== 'text' || String(text ?? '').trim())
  const all = blocks.flatMap((block): ToolCall[] =>
    block.type === 'tool_use'
      ? [
          {
            id: textIn(block.id, 'tool call'),
            name: textIn(block.name, 'tool call'),
            arguments: block.input as Record<string, unknown>,
          },
        ]
      : [],
  )
  const calls = withCut(all, parts.texts, isLength(parts.stop))
  return {
    text: parts.blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    calls,
    raw: { kind: 'providera', blocks },
    model: parts.model,
    stop: stopOf(parts.stop, calls),
    usage: parts.usage && usageOf(parts.usage),
    cost: reportedCost(parts.usage, headers),
  }
}

const usageOf = (usage: Record<string, unknown>): WireUsage => ({
  input: usage.input_tokens,
  output: usage.output_tokens,
  cacheWrite: usage.cache_creation_input_tokens,
  cacheRead: usage.cache_read_input_tokens,
})
