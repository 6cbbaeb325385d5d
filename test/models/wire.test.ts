/** What goes over the wire in both formats, and what comes back of it. */
import { describe, expect, it } from 'vitest'
import type { ModelMessage, ModelReply } from '../../engine/agents/models/types.ts'
import { hello, KEY, KINDS, providerAt, readTool, world } from './setup.ts'

/** A breakpoint of provider A's prompt cache. */
const KEPT = { cache_control: { type: 'ephemeral' } }

describe.each(KINDS)('%s', (kind) => {
  const isA = kind === 'providera'

  it('is asked in its format, streamed, and answers', async () => {
    const { server, ask } = await world(kind)
    server.reply('m1', [{ text: 'Hello there' }])
    const pieces: string[] = []
    const reply = await ask({ onText: (piece) => pieces.push(piece) })
    expect(reply).toMatchObject({
      text: 'Hello there',
      calls: [],
      kind,
      model: 'm1',
      keySource: 'console',
      stop: 'end',
      usage: {
        input_tokens: 10,
        output_tokens: 5,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
      tries: 1,
      firstTokenMs: 0,
    })
    expect(pieces).toEqual(['Hello ', 'there'])
    const [request] = server.requests
    expect(request!.path).toBe(isA ? '/v1/messages' : '/v1/chat/completions')
    expect(request!.body).toMatchObject({
      model: 'm1',
      stream: true,
      ...(isA
        ? {
            system: [{ type: 'text', text: 'Be short.', ...KEPT }],
            max_tokens: 100,
            messages: [{ role: 'user', content: [{ type: 'text', text: 'hello', ...KEPT }] }],
          }
        : {
            messages: [
              { role: 'system', content: 'Be short.' },
              { role: 'user', content: 'hello' },
            ],
            stream_options: { include_usage: true },
            [kind === 'providerb' ? 'max_completion_tokens' : 'max_tokens']: 100,
          }),
    })
    expect(request!.body).not.toHaveProperty('tools')
    expect(request!.body).not.toHaveProperty('tool_choice')
  })

  it('sends its headers and no others', async () => {
    const { server, ask } = await world(kind)
    server.reply('m1', [{ text: 'x' }])
    await ask()
    const { headers } = server.requests[0]!
    const sent = Object.keys(headers).filter(
      (name) => !['host', 'connection', 'content-length', 'accept-encoding'].includes(name),
    )
    expect(sent.sort()).toEqual(
      isA
        ? ['accept', 'anthropic-version', 'content-type', 'user-agent', 'x-api-key']
        : ['accept', 'authorization', 'content-type', 'user-agent'],
    )
    expect(headers['user-agent']).toBe('svc')
    if (isA) expect(headers['x-api-key']).toBe(KEY)
    else expect(headers.authorization).toBe(`Bearer ${KEY}`)
  })

  it('calls tools, and takes their results and its own turn back', async () => {
    const { server, ask } = await world(kind)
    server.reply('m1', [
      {
        text: 'Looking',
        thinking: 'hm',
        calls: [
          { name: 'read', arguments: { entity: 'a' } },
          { name: 'read', arguments: '' },
        ],
      },
      { text: 'Done' },
    ])
    const reply = await ask({ tools: [readTool], choice: 'any' })
    expect(reply.stop).toBe('tools')
    expect(reply.calls.map(({ name, arguments: args }) => [name, args])).toEqual([
      ['read', { entity: 'a' }],
      ['read', {}],
    ])
    const messages: ModelMessage[] = [
      ...hello.messages,
      { role: 'assistant', text: reply.text, calls: reply.calls, raw: reply.raw },
      {
        role: 'tool',
        results: reply.calls.map(({ id }, i) => ({ id, content: `result ${i}`, isError: i === 1 })),
      },
    ]
    await ask({ tools: [readTool], messages, choice: { tool: 'read' } })
    const [first, second] = server.requests.map(({ body }) => body)
    expect(first.tool_choice).toEqual(isA ? { type: 'any' } : 'required')
    expect(second.tool_choice).toEqual(
      isA ? { type: 'tool', name: 'read' } : { type: 'function', function: { name: 'read' } },
    )
    const [a, b] = reply.calls.map(({ id }) => id)
    expect(second.messages.slice(isA ? 1 : 2)).toEqual(
      isA
        ? [
            {
              role: 'assistant',
              content: [
                { type: 'thinking', thinking: 'hm', signature: 'signed' },
                { type: 'text', text: 'Looking' },
                { type: 'tool_use', id: a, name: 'read', input: { entity: 'a' } },
                { type: 'tool_use', id: b, name: 'read', input: {} },
              ],
            },
            {
              role: 'user',
              content: [
                { type: 'tool_result', tool_use_id: a, content: 'result 0' },
                { type: 'tool_result', tool_use_id: b, ...KEPT, content: 'result 1', is_error: true },
              ],
            },
          ]
        : [
            {
              role: 'assistant',
              content: 'Looking',
              reasoning_content: 'hm',
              tool_calls: [
                { id: a, type: 'function', function: { name: 'read', arguments: '{"entity":"a"}' } },
                { id: b, type: 'function', function: { name: 'read', arguments: '{}' } },
              ],
            },
            { role: 'tool', tool_call_id: a, content: 'result 0' },
            { role: 'tool', tool_call_id: b, content: 'result 1' },
          ],
    )
  })

  it('replays turns of another kind of provider in its own words', async () => {
    const { server, ask } = await world(kind)
    server.reply('m1', [{ text: 'x' }])
    const call = { id: 'c1', name: 'read', arguments: { entity: 'a' } }
    await ask({
      messages: [
        ...hello.messages,
        { role: 'assistant', text: '', calls: [call], raw: { kind: 'another', blocks: [], message: {} } },
        { role: 'tool', results: [{ id: 'c1', content: 'r' }] },
      ],
    })
    const turn = server.requests[0]!.body.messages[isA ? 1 : 2]
    expect(turn).toEqual(
      isA
        ? {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'c1', name: 'read', input: { entity: 'a' } }],
          }
        : {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'read', arguments: '{"entity":"a"}' } },
            ],
          },
    )
  })

  it('takes a whole answer to a request for a stream', async () => {
    const { server, ask } = await world(kind)
    server.reply('m1', [
      { text: 'whole', calls: [{ name: 'read', arguments: { entity: 'a' } }], plain: true },
    ])
    const reply = await ask({ tools: [readTool] })
    expect(reply).toMatchObject({
      text: 'whole',
      stop: 'tools',
      calls: [{ name: 'read', arguments: { entity: 'a' } }],
      usage: { input_tokens: 10, output_tokens: 5 },
    })
  })

  it('wraps arguments that are no object', async () => {
    const { server, ask } = await world(kind)
    server.reply('m1', [
      { calls: ['{"entity": "a', '[1]', '"text"'].map((given) => ({ name: 'read', arguments: given })) },
    ])
    const reply = await ask({ tools: [readTool] })
    expect(reply.calls.map((call) => call.arguments)).toEqual([
      { arguments: '{"entity": "a' },
      { arguments: '[1]' },
      { arguments: '"text"' },
    ])
  })

  it.each([
    ['end', 'end'],
    ['length', 'length'],
    ['refusal', 'refusal'],
  ] as const)('says that a reply stopped by %s', async (scripted, stop) => {
    const { server, ask } = await world(kind)
    server.reply('m1', [{ text: 'x', stop: scripted }])
    const isFiltered = stop === 'refusal' && kind !== 'providera'
    expect((await ask()).stop).toBe(isFiltered ? 'filter' : stop)
  })

  it('is asked for a call without force where it refuses force', async () => {
    const { server, ask } = await world(kind)
    server.reply('m1', ({ body }) =>
      body.tool_choice !== 'auto' && body.tool_choice?.type !== 'auto'
        ? { status: 400, error: 'tool_choice may not force a tool with this model' }
        : { text: 'by itself' },
    )
    const reply = await ask({ tools: [readTool], choice: { tool: 'read' } })
    expect([reply.text, reply.tries]).toEqual(['by itself', 2])
  })

  it('lists its models', async () => {
    const { server, models } = await world(kind)
    server.listed({ models: ['m1', 'm2', 'm1'] })
    expect(await models.list(providerAt(server, kind))).toEqual(['m1', 'm2'])
    expect(server.requests[0]!.path).toBe('/v1/models')
  })
})

it('a text of blanks is not sent back in the format of provider A, which refuses it', async () => {
  const { server, ask } = await world('providera')
  server.reply('m1', [{ text: '\n\n', calls: [{ name: 'read', arguments: {} }] }, { text: 'Done' }])
  const { text, calls, raw } = await ask({ tools: [readTool] })
  const results = calls.map(({ id }) => ({ id, content: 'r' }))
  const turn = { role: 'assistant' as const, text, calls }
  for (const replayed of [{ ...turn, raw }, turn])
    await ask({
      tools: [readTool],
      messages: [...hello.messages, replayed, { role: 'tool', results }],
    }).catch(() => {})
  const sent = server.requests.slice(1).map(({ body }) => body.messages[1].content)
  expect(sent).toMatchObject([[{ type: 'tool_use' }], [{ type: 'tool_use' }]])
})

describe('what an endpoint says beside the format', () => {
  const signed = (of: string) => ({ google: { thought_signature: of } })
  const calls = [
    { name: 'read', arguments: { entity: 'a' } },
    { name: 'read', arguments: { entity: 'b' } },
  ]
  const said = {
    thinking: 'hm',
    calls,
    extras: [signed('s1'), undefined],
    details: [
      { type: 'reasoning.text', index: 0, text: 'I ' },
      { type: 'reasoning.text', index: 0, text: 'look', signature: 'signed' },
      { type: 'reasoning.encrypted', index: 1, data: 'x', id: 'call_1' },
    ],
  }
  const turnOf = (reply: ModelReply): ModelMessage[] => [
    ...hello.messages,
    { role: 'assistant', text: reply.text, calls: reply.calls, raw: reply.raw },
    { role: 'tool', results: reply.calls.map(({ id }) => ({ id, content: 'r' })) },
  ]

  it.each([{ plain: true }, {}])('goes back with its turn, as it came (%j)', async (how) => {
    const { server, ask } = await world('compatible')
    server.reply('m1', [{ ...said, ...how }, { text: 'Done' }])
    await ask({ tools: [readTool], messages: turnOf(await ask({ tools: [readTool] })) })
    const whole = { type: 'reasoning.text', index: 0, text: 'I look', signature: 'signed' }
    expect(server.requests[1]!.body.messages[2]).toMatchObject({
      reasoning_content: 'hm',
      reasoning_details: [whole, said.details[2]],
      tool_calls: [{ extra_content: signed('s1') }, { function: { arguments: '{"entity":"b"}' } }],
    })
    expect(server.requests[1]!.body.messages[2].tool_calls[1]).not.toHaveProperty('extra_content')
  })

  it('goes to nobody else, and not to one that refuses it', async () => {
    const { server, ask } = await world('compatible')
    server.reply('m1', ({ body }) =>
      JSON.stringify(body.messages).includes('reasoning_content')
        ? {
            status: 422,
            error: 'body.messages.2.assistant.reasoning_content: Extra inputs are not permitted',
          }
        : said,
    )
    const reply = await ask({ tools: [readTool] })
    expect((await ask({ tools: [readTool], messages: turnOf(reply) })).calls).toHaveLength(2)
    expect(JSON.stringify(server.requests.at(-1)!.body)).not.toMatch(/reasoning_|extra_content/)
    const asked = server.requests.length
    const other = { ...reply, raw: { ...(reply.raw as object), provider: 'another' } }
    await ask({ tools: [readTool], messages: turnOf(other) })
    expect(server.requests).toHaveLength(asked + 1)
  })

  it.each(['named', 'unnamed'] as const)(
    'keeps calls apart that have the same index (%s)',
    async (sameIndex) => {
      const { server, ask } = await world('compatible')
      server.reply('m1', [{ calls, sameIndex }])
      const reply = await ask({ tools: [readTool] })
      expect(reply.calls.map((call) => call.arguments)).toEqual([{ entity: 'a' }, { entity: 'b' }])
      expect(new Set(reply.calls.map(({ id }) => id)).size).toBe(2)
    },
  )

  it.each([{ plain: true }, {}])('is no part of the text where that comes in parts (%j)', async (how) => {
    const { server, ask } = await world('compatible')
    server.reply('m1', [{ text: 'It is the gateway.', parts: true, ...how }])
    expect((await ask()).text).toBe('It is the gateway.')
  })
})

describe('words of those who serve models', () => {
  const chunk = (choice: object, more: object = {}) =>
    `data: ${JSON.stringify({ model: 'm1', choices: [{ index: 0, delta: { content: 'So' }, ...choice }], ...more })}\n\n`
  const streamed = async (...chunks: string[]) => {
    const { server, ask } = await world('compatible')
    const headers = { 'content-type': 'text/event-stream' }
    server.reply('m1', [{ headers, body: `${chunks.join('')}data: [DONE]\n\n` }])
    return ask({ timeoutMs: 1 })
  }

  it.each([
    // Mistral: a context that is full; Z.AI (anomalyco/opencode#18813): the same, and its filter
    ['model_length', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['sensitive', 'filter'],
  ])('say why a reply ended: %s', async (finish_reason, stop) => {
    expect(await streamed(chunk({ finish_reason }))).toMatchObject({ text: 'So', stop })
  })

  it('say that a reply failed on its way', async () => {
    await expect(streamed(chunk({ finish_reason: 'network_error' }))).rejects.toMatchObject({
      code: 'unreachable',
      later: { waitMs: null },
    })
  })

  // earendil-works/pi#2017
  it("count its tokens within the choice, as Kimi's do", async () => {
    const usage = { prompt_tokens: 12, completion_tokens: 3 }
    const reply = await streamed(chunk({}), chunk({ delta: {}, finish_reason: 'stop', usage }))
    expect(reply.usage).toMatchObject({ input_tokens: 12, output_tokens: 3 })
  })
})

describe('what was thought, where a server leaves it in the text', () => {
  it.each([
    ['<think>\nWhy <think>?\n</think>\n\nIt is the gateway.', 'It is the gateway.'],
    ['\n<think></think>It is.', 'It is.'],
    ['<thinking> is no tag of these', '<thinking> is no tag of these'],
    ['It wrote <think>x</think>.', 'It wrote <think>x</think>.'],
    ['  ', '  '],
    ['<think>and on', ''],
    ['Why? The pool.\n</think>\n\nIt is the gateway.', 'It is the gateway.'],
    ['Why? The pool. </think>\nIt is </think>\nso.', 'It is </think>\nso.'],
    ['I call it.\n</think>', ''],
    ['The tag </think> ends a thought.', 'The tag </think> ends a thought.'],
    ['As in `<think>\n</think>\n`: two tags.', 'As in `<think>\n</think>\n`: two tags.'],
  ])('is no part of it: %j', async (text, said) => {
    const { server, ask } = await world('compatible')
    server.reply('m1', [{ text }, { text, plain: true }])
    const pieces: string[] = []
    const reply = await ask({
      onText: (piece) => pieces.push(piece),
      onAgain: () => pieces.splice(0),
    })
    expect([reply.text, pieces.join('')]).toEqual([said, said])
    expect((await ask()).text).toBe(said)
  })
})

it.each([
  ['compatible', 'max_tokens', "Unsupported parameter: 'max_tokens' is not supported with this model."],
  ['providerb', 'max_completion_tokens', 'Unrecognized request argument supplied: max_completion_tokens'],
] as const)('%s: the bound of a reply has another name where %s is refused', async (kind, name, error) => {
  const { server, ask } = await world(kind)
  server.reply('m1', ({ body }) => (name in body ? { status: 400, error } : { text: 'so' }))
  const other = name === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  expect((await ask()).text).toBe('so')
  expect((await ask()).text).toBe('so')
  expect(server.requests.map(({ body }) => [body[name], body[other]])).toEqual([
    [100, undefined],
    [undefined, 100],
    [undefined, 100],
  ])
  // One that is too large is no other name.
  server.reply('m1', [{ status: 400, error: `'max_tokens' or 'max_completion_tokens' is too large: 100` }])
  await expect(ask()).rejects.toMatchObject({ code: 'refused' })
  expect(server.requests).toHaveLength(4)
})

describe('a bearer token', () => {
  it.each(KINDS)('of %s goes in Authorization, and no key with it', async (kind) => {
    const { server, ask } = await world(kind, { credential: { as: 'bearer', value: KEY } })
    server.reply('m1', [{ text: 'x' }])
    await ask()
    const { headers } = server.requests[0]!
    expect([headers.authorization, headers['x-api-key']]).toEqual([`Bearer ${KEY}`, undefined])
  })
})

describe('an endpoint without a credential', () => {
  it('is sent none', async () => {
    const { server, ask } = await world('compatible', { credential: null })
    server.reply('m1', [{ text: 'x' }])
    await ask()
    const { headers } = server.requests[0]!
    expect([headers.authorization, headers['x-api-key']]).toEqual([undefined, undefined])
  })
})

describe("the clients' own environment variables", () => {
  it.each(KINDS)('change nothing of %s', async (kind) => {
    const { server, ask } = await world(kind)
    server.reply('m1', [{ text: 'x' }])
    const names = ['ANTHROPIC', 'OPENAI'].flatMap((owner) => [
      [`${owner}_BASE_URL`, 'http://127.0.0.1:1'],
      [`${owner}_API_KEY`, 'own-key'],
      [`${owner}_AUTH_TOKEN`, 'own-token'],
      [`${owner}_CUSTOM_HEADERS`, 'x-own: 1\nauthorization: Bearer own\nx-api-key: own'],
      [`${owner}_ORG_ID`, 'own-org'],
      [`${owner}_PROJECT_ID`, 'own-project'],
    ]) as [string, string][]
    for (const [name, value] of names) process.env[name] = value
    try {
      await ask()
    } finally {
      for (const [name] of names) delete process.env[name]
    }
    expect(JSON.stringify(server.requests[0]!.headers)).not.toContain('own')
  })
})
