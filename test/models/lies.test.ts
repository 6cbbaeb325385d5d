/** Endpoints that lie: sizes, numbers and formats that are none. A call then fails, or is uncosted. */
import { describe, expect, it } from 'vitest'
import { costOf, likelyTokens, priceOf, withOwnPrices } from '../../engine/agents/models/usage.ts'
import type { ScriptedReply } from './scripted-server.ts'
import { hello, KINDS, modelsOf, providerAt, readTool, scripted, world } from './setup.ts'

const NONE = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
}

describe.each(KINDS)('%s', (kind) => {
  it.each<[string, ScriptedReply]>([
    ['an event that is no JSON', { text: 'half', malformed: true }],
    ['a text without end', { endless: true }],
    ['a text of over 1 MB', { text: 'x'.repeat(1024 * 1024 + 1) }],
    ['a whole text of over 1 MB', { text: 'x'.repeat(1024 * 1024 + 1), plain: true }],
    [
      'arguments of over 256 KB',
      { calls: [{ name: 'read', arguments: `{"a":"${'x'.repeat(256 * 1024)}"}` }] },
    ],
    [
      'whole arguments of over 256 KB',
      { calls: [{ name: 'read', arguments: { a: 'x'.repeat(256 * 1024) } }], plain: true },
    ],
    ['a body of over 32 MB', { body: ' '.repeat(33 * 1024 * 1024) }],
    ['a page', { body: '<html>hello</html>' }],
    ['nothing of its format', { body: '{"ok":true}' }],
    ['a list', { body: '[]' }],
    ['too many calls', { calls: Array.from({ length: 200 }, () => ({ name: 'read', arguments: {} })) }],
  ])('fails on %s', async (_what, reply) => {
    const { server, ask } = await world(kind)
    server.reply('m1', () => reply)
    await expect(ask({ tools: [readTool] })).rejects.toMatchObject({ code: 'malformed' })
    expect(server.requests).toHaveLength(1)
  })

  it('fails on an event stream that is none', async () => {
    const { server, ask } = await world(kind)
    server.reply('m1', () => ({
      body: 'data: {"a":1}\n\n',
      headers: { 'content-type': 'text/event-stream' },
    }))
    // A reply without its end may have been cut off: it is asked for again until the time is up.
    await expect(ask({ timeoutMs: 400 })).rejects.toMatchObject({ code: 'unreachable' })
  })

  it.each<[string, ScriptedReply]>([
    ['negative tokens', { usage: { output_tokens: -5 } }],
    ['tokens that are text', { usage: { input_tokens: 'many' } }],
    ['tokens beyond all numbers', { usage: { input_tokens: 1e300 } }],
    ['no tokens', { usage: null }],
  ])('is uncosted with %s', async (_what, reply) => {
    const { server, ask } = await world(kind)
    server.reply('claude-sonnet-5-5', [{ text: 'x', ...reply }])
    expect(await ask({ model: 'claude-sonnet-5-5' })).toMatchObject({
      usage: NONE,
      costUsd: null,
      costFrom: null,
    })
  })

  it.each([-5, '1', 1e300, { a: 1 }])('is uncosted where it reports a cost of %j', async (cost) => {
    const { server, ask } = await world(kind)
    server.reply('claude-sonnet-5-5', [{ text: 'x', cost }])
    expect(await ask({ model: 'claude-sonnet-5-5' })).toMatchObject({
      usage: { input_tokens: 10 },
      costUsd: null,
      costFrom: null,
    })
  })

  it('takes the cost it reports, also of a model without a price', async () => {
    const { server, ask } = await world(kind)
    server.reply('m1', [
      { text: 'x', cost: 0.25 },
      { text: 'x', headers: { 'x-router-response-cost': '0.125' } },
    ])
    expect(await ask()).toMatchObject({ costUsd: 0.25, costFrom: 'reply' })
    expect(await ask()).toMatchObject({ costUsd: 0.125, costFrom: 'reply' })
  })

  it('is priced by the model the reply names', async () => {
    const { server, ask } = await world(kind)
    server.reply('m1', [
      { text: 'x', model: 'vendor/claude-sonnet-5-5-20260901' },
      { text: 'x', model: 'nobody-knows-it' },
    ])
    expect(await ask()).toMatchObject({
      model: 'vendor/claude-sonnet-5-5-20260901',
      costUsd: (10 * 2 + 5 * 10) / 1e6,
      costFrom: 'table',
    })
    expect(await ask()).toMatchObject({
      model: 'nobody-knows-it',
      costUsd: null,
      usage: { output_tokens: 5 },
    })
  })
})

describe('a price', () => {
  const prices = [
    { prefix: 'm', input: 1, output: 2 },
    { prefix: 'm-large', input: 10, output: 20, cached: 0.5 },
  ]
  const usage = {
    input_tokens: 100,
    output_tokens: 10,
    cache_creation_input_tokens: 40,
    cache_read_input_tokens: 60,
  }

  it('is that of the longest prefix of the last part of the name', () => {
    expect(priceOf(prices, 'a/b/m-large-2')?.input).toBe(10)
    expect(priceOf(prices, 'm-small')?.input).toBe(1)
    expect(priceOf(prices, 'm/x')).toBe(null)
  })

  it('counts cached tokens beside the input of provider A, and within it of chat completions', () => {
    expect(costOf('providera', prices, 'm', usage)).toBeCloseTo((100 + 40 * 1.25 + 60 * 0.1 + 20) / 1e6, 12)
    expect(costOf('providera', prices, 'm-large', usage)).toBeCloseTo(
      ((100 + 40 * 1.25 + 60 * 0.5) * 10 + 200) / 1e6,
      12,
    )
    expect(costOf('compatible', prices, 'm', usage)).toBeCloseTo((100 + 20) / 1e6, 12)
    expect(costOf('providerb', prices, 'm-large', usage)).toBeCloseTo(((40 + 60 * 0.5) * 10 + 200) / 1e6, 12)
  })

  it('of the operator holds over the shipped one', () => {
    const own = withOwnPrices([{ prefix: 'claude-sonnet-5-5', input: 7, output: 8 }])
    expect(priceOf(own, 'claude-sonnet-5-5')?.input).toBe(7)
    expect(priceOf(own, 'claude-haiku-4-5')?.input).toBe(1)
  })
})

describe('the ceiling of a call', () => {
  it('is above what it costs, and none without a price', async () => {
    const { models } = modelsOf({ providers: [providerAt({ url: 'http://127.0.0.1:1' }, 'providera')] })
    const ask = { ...hello, tools: [readTool], maxTokens: 1_000 }
    const tokens = likelyTokens(JSON.stringify([ask.system, ask.messages, ask.tools]))
    const costOf = (n: number) => (n * 2 * 1.25 + 1_000 * 10) / 1e6
    const ceiling = (more: object) => models.ceilingUsd({ ...ask, ...more, model: 'claude-sonnet-5-5' })
    const first = await ceiling({})
    // What is said is counted part by part, each a token more at most.
    expect(first).toBeGreaterThanOrEqual(costOf(tokens))
    expect(first).toBeLessThanOrEqual(costOf(tokens + 10))
    // The same again, and with what is said after it.
    expect(await ceiling({})).toBe(first)
    const said = 'what else is there to be said of it '.repeat(20)
    const results = [{ id: 'c1', content: said, isError: false }]
    const later = [...ask.messages, { role: 'user', text: said }, { role: 'tool', results }]
    const all = likelyTokens(JSON.stringify([ask.system, later, ask.tools]))
    expect(await ceiling({ messages: later })).toBeGreaterThanOrEqual(costOf(all))
    expect(await ceiling({ messages: later })).toBeLessThanOrEqual(costOf(all + 10))
    expect(await models.ceilingUsd({ ...ask, model: 'unknown' })).toBe(null)
  })

  it('is of the provider that is called then: another that was chosen in between is asked by the next call', async () => {
    const [first, second] = [await scripted(), await scripted()]
    for (const server of [first, second]) server.reply('m1', () => ({ text: 'ok' }))
    let at = first
    let reads = 0
    const { models } = modelsOf({
      get providers() {
        reads++
        return [providerAt(at, 'providera')]
      },
    })
    reads = 0
    await models.ceilingUsd(hello)
    at = second
    await models.call(hello)
    expect([first.requests.length, second.requests.length, reads]).toEqual([1, 0, 1])
    await models.call(hello)
    expect([first.requests.length, second.requests.length, reads]).toEqual([1, 1, 2])
  })
})
