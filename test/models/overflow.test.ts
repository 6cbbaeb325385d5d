/**
 * A conversation that is longer than its model takes, in the words of those that serve models. Each text was written by
 * that server; the issue or code that shows it stands behind it.
 */
import { describe, expect, it } from 'vitest'
import { ModelFault } from '../../engine/agents/models/types.ts'
import type { ScriptedReply } from './scripted-server.ts'
import { type KINDS, modelsOf, providerAt, scripted, world } from './setup.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const json = (status: number, body: object): ScriptedReply => ({
  status,
  headers: JSON_TYPE,
  body: JSON.stringify(body),
})
const said = (status: number, message: string, more: object = {}): ScriptedReply =>
  json(status, { error: { message, ...more } })

async function faultOf(
  reply: ScriptedReply,
  kind: (typeof KINDS)[number] = 'compatible',
): Promise<ModelFault> {
  const { server, ask } = await world(kind)
  server.reply('m1', [reply])
  // No time is left for a second try.
  const error = await ask({ timeoutMs: 1 }).then(
    () => null,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(ModelFault)
  return error as ModelFault
}

const GROQ =
  'Request too large for model `llama-3.3-70b-versatile` in organization `org_1` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing'

/** Who says it, what comes, and words that must be in the reason. */
const TOO_LONG: [string, ScriptedReply, string][] = [
  // cline/cline#3120
  [
    'xAI',
    said(400, "This model's maximum prompt length is 131072 but the request contains 136973 tokens."),
    '136973 tokens',
  ],
  // MoonshotAI/kimi-code: "(requested: …)" is of its coding endpoint alone
  [
    'Kimi',
    said(400, 'Invalid request: Your request exceeded model token limit: 262144 (requested: 268371)', {
      type: 'invalid_request_error',
    }),
    'exceeded model token limit',
  ],
  // QwenLM/qwen-code#98, agentscope-ai/QwenPaw#6255
  [
    'Qwen',
    said(400, '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 983616]', {
      code: 'invalid_parameter_error',
      type: 'invalid_request_error',
    }),
    'Range of input length',
  ],
  // cline/cline#2115, Aider-AI/aider#2296
  [
    'GitHub Models',
    said(413, 'Request body too large for gpt-4o model. Max size: 8000 tokens.', {
      code: 'tokens_limit_reached',
    }),
    'Max size: 8000 tokens',
  ],
  // earendil-works/pi: packages/ai/src/utils/overflow.ts
  [
    'GitHub Copilot',
    said(400, 'prompt token count of 138000 exceeds the limit of 128000', {
      code: 'model_max_prompt_tokens_exceeded',
    }),
    'exceeds the limit of 128000',
  ],
  // QwenLM/Qwen3#1321
  [
    'SGLang',
    json(400, {
      object: 'error',
      message: "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
      type: 'BadRequestError',
      code: 400,
    }),
    '61709 tokens',
  ],
  // sgl-project/sglang#4048
  [
    'SGLang, of its memory',
    json(400, {
      object: 'error',
      message: 'Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).',
    }),
    '59862 tokens',
  ],
  // vllm-project/vllm#20409
  [
    'vLLM',
    json(400, {
      object: 'error',
      message:
        "This model's maximum context length is 16384 tokens. However, you requested 19591 tokens (9591 in the messages, 10000 in the completion). Please reduce the length of the messages or completion. None",
      type: 'BadRequestError',
      code: 400,
    }),
    '19591 tokens',
  ],
  // xorbitsai/inference#3785
  [
    'vLLM, of its engine',
    said(400, 'The decoder prompt (length 21535) is longer than the maximum model length of 16384.'),
    'length 21535',
  ],
  // ggml-org/llama.cpp#19774, both
  [
    'llama.cpp',
    said(400, 'request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it', {
      type: 'exceed_context_size_error',
      code: 400,
    }),
    '4390 tokens',
  ],
  [
    'llama.cpp within a reply',
    said(500, 'Context size has been exceeded.', { code: 500, type: 'server_error' }),
    'Context size has been exceeded',
  ],
  // Gitlawb/openclaude#353
  [
    'LM Studio',
    json(400, {
      error:
        'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.',
    }),
    'n_keep: 13055',
  ],
  // bytedance/UI-TARS-desktop#626; opea-project/GenAIInfra#487 has it in a reply that streams
  [
    'Hugging Face TGI',
    json(422, {
      error:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 65537. Given: 79993 `inputs` tokens and 1024 `max_new_tokens`',
      error_type: 'validation',
    }),
    '79993',
  ],
  [
    'Hugging Face TGI within a reply',
    {
      headers: { 'content-type': 'text/event-stream' },
      body: 'data: {"error":"Input validation error: `inputs` must have less than 1024 tokens. Given: 1887","error_type":"validation"}\n\ndata: [DONE]\n\n',
    },
    'Given: 1887',
  ],
  // entropy-research/Devon#88
  [
    'LiteLLM',
    said(
      400,
      'litellm.ContextWindowExceededError: litellm.BadRequestError: AnthropicException - Error code: 400. Received Model Group=big',
      { type: null, param: null, code: '400' },
    ),
    'ContextWindowExceededError',
  ],
  // earendil-works/pi#6378
  [
    'OpenRouter',
    said(
      400,
      "This endpoint's maximum context length is 262000 tokens. However, you requested about 263390 tokens (658 of text input, 732 of tool input, 262000 in the output).",
      { code: 400, metadata: { provider_name: null } },
    ),
    '263390 tokens',
  ],
  // cline/cline#13194
  [
    'OpenRouter, of a provider behind it',
    said(400, 'Provider returned error', {
      code: 400,
      metadata: {
        raw: '{"error":{"message":"This model\'s maximum context length is 262144 tokens. However, your messages resulted in 262897 tokens. Please reduce the length of the messages.","type":"Bad Request","code":400}}',
        provider_name: 'Nvidia',
        is_byok: false,
      },
    }),
    "This model's maximum context length is 262144 tokens. However, your messages resulted in 262897 tokens.",
  ],
  // aws-samples/bedrock-chat#95
  ['Bedrock', said(400, 'Input is too long for requested model.'), 'Input is too long'],
  // google-gemini/gemini-cli#6678
  [
    'Vertex and Gemini',
    {
      ...json(400, {}),
      body: '[{"error":{"code":400,"message":"The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]',
    },
    '1200293',
  ],
  // cline/cline#5474
  [
    'Azure and provider B',
    said(
      400,
      'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 289650 tokens. Please reduce the length of the messages.',
      { code: 'context_length_exceeded' },
    ),
    '289650 tokens',
  ],
  // thepersonalaicompany/amurex-backend#51, without its code
  ['Groq', said(400, 'Please reduce the length of the messages or completion.'), 'Please reduce'],
  // cline/cline#5140
  [
    'Cerebras',
    json(400, {
      message:
        'Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000',
      type: 'invalid_request_error',
      param: 'messages',
    }),
    '42328',
  ],
  // stanford-crfm/helm#2079
  [
    'Together',
    said(
      422,
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 2019 `inputs` tokens and 30 `max_new_tokens`',
    ),
    '2019',
  ],
  // anomalyco/opencode: packages/llm/test/provider-error.test.ts
  [
    'Poolside',
    said(400, 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.'),
    '131393',
  ],
  // ogx-ai/ogx#697
  [
    'Fireworks',
    said(400, 'The prompt is too long: 33182, model maximum context length: 32767', {
      type: 'invalid_request_error',
    }),
    '33182',
  ],
  // RooCodeInc/Roo-Code#322
  [
    'DeepSeek',
    said(
      400,
      "This model's maximum context length is 65536 tokens. However, you requested 65853 tokens (65853 in the messages, 0 in the completion).",
    ),
    '65853',
  ],
  // earendil-works/pi: packages/ai/src/utils/overflow.ts
  [
    'Mistral',
    json(400, {
      object: 'error',
      message:
        'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      type: 'invalid_request_prompt',
      code: '3051',
    }),
    '40000 tokens',
  ],
  // cohere-ai/sandbox-topically#4
  [
    'Cohere',
    json(400, {
      message:
        'too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354. Try using a shorter prompt or a smaller max_tokens value.',
    }),
    'received 6354',
  ],
  // tashfeenahmed/freellmapi#873
  ['Zhipu', said(400, 'Prompt exceeds max length', { code: '1261' }), 'Prompt exceeds max length'],
  // The list of error codes of Baidu's ERNIE
  ['ERNIE', said(400, 'prompt tokens too long', { code: '336103' }), 'prompt tokens too long'],
  // vllm-project/vllm: what is left for the reply of a prompt that is too long, where none is asked for
  ['vLLM, of what is left', said(400, 'max_tokens must be at least 1, got -1312.'), 'got -1312'],
  // anomalyco/opencode#27629
  [
    'Z.AI',
    said(400, 'tokens in request more than max tokens allowed', { code: '1210' }),
    'more than max tokens allowed',
  ],
  // MiniMax-AI: error 2013
  [
    'MiniMax',
    said(400, 'invalid params, context window exceeds limit (2013)', { type: 'bad_request_error' }),
    'context window exceeds limit',
  ],
  // earendil-works/pi: packages/ai/src/utils/overflow.ts
  [
    'Ollama',
    json(400, { error: { message: 'prompt too long; exceeded max context length by 312 tokens' } }),
    'by 312 tokens',
  ],
  // triton-inference-server/tensorrtllm_backend#565
  [
    'TensorRT-LLM',
    said(
      400,
      'Encountered an error when fetching new request: Prompt length (5200) exceeds maximum input length (4096)',
    ),
    'Prompt length (5200)',
  ],
  // antirez/ds4#150
  [
    'ds4',
    said(400, 'Prompt tokens (9000) exceeds context size (8192)', { type: 'context_exceeded' }),
    '9000',
  ],
  // abetlen/llama-cpp-python#416
  ['llama-cpp-python', said(500, 'Requested tokens (2285) exceed context window of 2048'), '2285'],
  // continuedev/continue#10218: the limit is of a minute, and no minute has room for it
  [
    'Groq, over all tokens of a minute',
    said(413, GROQ, { type: 'tokens', code: 'rate_limit_exceeded' }),
    'Limit 12000, Requested 14137',
  ],
  // continuedev/continue#10602
  [
    'provider B, over all tokens of a minute',
    said(
      429,
      'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 61337. The input or output tokens must be reduced in order to run successfully.',
      { type: 'tokens', code: 'rate_limit_exceeded' },
    ),
    'Limit 30000, Requested 61337',
  ],
  // earendil-works/pi: packages/ai/src/utils/overflow.ts, of Cerebras
  ['413 without a body', { status: 413, body: '' }, '413'],
  // QwenLM/qwen-code#10408
  [
    '413 of a proxy, as a page',
    {
      status: 413,
      headers: { 'content-type': 'text/html' },
      body: '<html><head><title>413 Request Entity Too Large</title></head></html>',
    },
    'larger than what stands before the provider lets through',
  ],
]

describe('a conversation that is too long', () => {
  it.each(TOO_LONG)(
    'is known by the words of %s, and not asked for again as it is',
    async (_who, reply, words) => {
      const fault = await faultOf(reply)
      expect([fault.code, fault.later]).toEqual(['overflow', null])
      expect(fault.message).toContain(words)
    },
  )

  it.each<[string, ScriptedReply, string]>([
    // entropy-research/Devon#88
    ['a prompt', { status: 400, error: 'prompt is too long: 209353 tokens > 199999 maximum' }, '209353'],
    // kortix-ai/suna#172
    [
      'a prompt with the room for its reply',
      {
        status: 400,
        error:
          'input length and `max_tokens` exceed context limit: 174167 + 64000 > 200000, decrease input length or `max_tokens` and try again',
      },
      '174167',
    ],
    // damianvtran/local-operator#596
    [
      'its bytes',
      { status: 413, error: 'Request exceeds the maximum size', errorType: 'request_too_large' },
      'maximum size',
    ],
  ])("is known by provider A's words, too: %s", async (_what, reply, words) => {
    const fault = await faultOf({ errorType: 'invalid_request_error', ...reply }, 'providera')
    expect(fault.code).toBe('overflow')
    expect(fault.message).toContain(words)
  })
})

describe('what is not too long', () => {
  it.each<[string, ScriptedReply]>([
    // elizaOS/eliza#4040
    [
      'a minute that is used up',
      said(
        429,
        'Rate limit reached for model `llama-3.1-8b-instant` in organization `org_1` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Used 5034, Requested 1443. Please try again in 4.77s. Need more tokens? Upgrade to Dev Tier today',
        { type: 'tokens', code: 'rate_limit_exceeded' },
      ),
    ],
    ['a minute of Bedrock', said(429, 'Too many tokens, please wait before trying again.')],
    [
      'the same by a status that a gateway chose',
      said(503, 'ThrottlingException: Too many tokens, please wait before trying again.'),
    ],
    [
      'a limit within a reply',
      { fault: { type: 'rate_limit_error', message: 'Too many tokens per minute' } },
    ],
    ['a time-out in Go', said(504, 'context deadline exceeded')],
  ])('is waited for: %s', async (_what, reply) => {
    expect(await faultOf(reply)).toMatchObject({ code: 'overloaded', later: { waitMs: null } })
  })

  it.each<[string, ScriptedReply]>([
    // QwenLM: of the reply, whatever is said before it
    ['the room for a reply', said(400, 'Range of max_tokens should be [1, 8192]')],
    [
      'too many tools',
      said(
        400,
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 130 instead.",
      ),
    ],
    ['a name', said(400, "Invalid 'user': string too long. Expected a string with maximum length 64")],
    ['a bad request', said(400, 'messages must not be empty')],
  ])('is refused: %s', async (_what, reply) => {
    expect(await faultOf(reply)).toMatchObject({ code: 'refused', later: null })
  })
})

it('over all tokens of a minute is asked of the fallback, whose minute may have more', async () => {
  const [small, large] = [await scripted(), await scripted()]
  small.reply('m1', () => said(413, GROQ, { type: 'tokens', code: 'rate_limit_exceeded' }))
  large.reply('m1', () => ({ text: 'there is room' }))
  const { ask } = modelsOf({
    providers: [
      { ...providerAt(small, 'compatible'), id: 'small' },
      { ...providerAt(large, 'compatible'), id: 'large' },
    ],
  })
  const fallback = { provider: 'large', model: 'm1' }
  expect(await ask({ fallback })).toMatchObject({ text: 'there is room', provider: 'large' })
  // A model that is too small by itself is what it is: the conversation is shortened for it.
  small.reply('m1', () => said(400, 'prompt is too long: 9 tokens > 8 maximum'))
  await expect(ask({ fallback })).rejects.toMatchObject({ code: 'overflow' })
})
