/** Runs as a receiver of traces gets them: the tree, its attributes, sessions, chains, errors and caps. */
import { afterEach, describe, expect, it } from 'vitest'
import { startMcpServer } from '../../../../mcp/server.ts'
import { BY } from '../../../triggers/trigger-world.ts'
import { conclude, error, look, openTraceWorld, type TraceWorld } from './trace-world.ts'

let world: TraceWorld
afterEach(() => world?.close())
const open = async (...of: Parameters<typeof openTraceWorld>) => {
  world = await openTraceWorld({ enabled: true, endpoint: 'URL', apiKey: 'trace-key-1', ...of[0] }, of[1])
  return world
}

const texts = (attribute: unknown): string[] =>
  (JSON.parse(String(attribute)) as { parts: { content?: string; response?: string; name?: string }[] }[])
    .flatMap(({ parts }) => parts)
    .map(({ content, response, name }) => content ?? response ?? name ?? '')

describe('a run read as a trace', () => {
  it('has the ids under which it is exported, and its rounds, tokens and handoffs', async () => {
    const { agent, models, post, traced, spansOf, engine } = await open()
    await agent({ name: 'digger', prompt: 'Dig.', model: 'm2' })
    await agent({
      ...{ name: 'first-look', trigger: 't', prompt: 'Look.', model: 'm1' },
      verdicts: [{ verdict: 'investigate', when: 'Needs a look.' }],
      handoffs: [{ verdict: 'investigate', agent: 'digger' }],
    })
    models.reply('m1', [look, conclude({ verdict: 'investigate', headline: 'Card gateway down' })])
    models.reply('m2', [conclude()])
    await post(error)
    const [first, second] = await traced()
    const trace = await engine.trace({ id: first!.id })
    expect(trace.run).toEqual({ id: first!.id, agent: 'first-look', status: 'succeeded', is_open: false })
    const exported = spansOf(first!.id)
    const spans = trace.rows.filter(({ duration_ms }) => duration_ms !== null)
    expect(trace.id).toBe(exported[0]!.traceId)
    const byId = (all: { span: string; name: string }[]) => all.sort((a, b) => (a.span < b.span ? -1 : 1))
    expect(byId(spans.map(({ span_id, name }) => ({ span: span_id!, name })))).toEqual(
      byId(exported.map(({ spanId, name }) => ({ span: spanId, name }))),
    )
    expect(trace.rows.map(({ name, depth, run }) => [depth, name, run!.round]).slice(0, 5)).toEqual([
      [0, 'first-look', null],
      [1, 'chat m1', 1],
      [1, 'read', 1],
      [1, 'chat m1', 2],
      [1, 'conclude', 2],
    ])
    expect(trace.rows.at(-1)!.name).toContain('hands over to digger, verdict investigate')
    expect(trace.rows[0]).toMatchObject({
      event_id: null,
      input_tokens: first!.input_tokens + first!.cache_creation_input_tokens + first!.cache_read_input_tokens,
      output_tokens: first!.output_tokens,
      links: [{ trace_id: second!.id.slice(4), direction: 'from', name: 'digger' }],
    })
    expect(trace.rows[1]!.input_tokens! + trace.rows[3]!.input_tokens!).toBe(trace.rows[0]!.input_tokens)
    // By the id of its trace, and from the one that took over.
    const next = await engine.trace({ id: second!.id.slice(4) })
    expect(next.rows[0]!.links).toMatchObject([
      { trace_id: trace.id, direction: 'to', name: 'first-look', span_id: exported[0]!.spanId },
    ])
    const { heading, text } = await engine.inspect({ tool: 'trace', id: trace.id })
    expect(heading).toContain(`the run ${first!.id} of the agent first-look, which succeeded`)
    expect(text).toMatch(/ {2}\+\d+ms \d+ms providera round 1, \d+ tokens in, \d+ out: m1 asks for read\n/)
    expect(text).toContain(`[linked from trace ${second!.id.slice(4)}`)
    await expect(engine.trace({ id: first!.id, project: 'Other' })).rejects.toThrow(/Other/)
  })

  it('shows what failed, and a call that is under way until now', async () => {
    const { agent, models, post, traced, engine } = await open()
    await agent({ name: 'first-look', trigger: 't', prompt: 'Look.', model: 'm1' })
    models.reply('m1', [{ calls: [{ name: 'read', arguments: { window: 'soon' } }] }, conclude()])
    await post(error)
    const [run] = await traced()
    const trace = await engine.trace({ id: run!.id })
    expect(trace.rows.filter(({ is_failed }) => is_failed)).toMatchObject([
      { name: 'read', status: 'unset', text: expect.stringContaining('window') },
    ])
    expect(trace.failed).toBe(1)
  })
})

describe('a run', () => {
  it('is a trace: the run, below it each call of its model and each call of a tool', async () => {
    const { agent, models, post, traced, spansOf, run, receiver } = await open()
    await agent({ name: 'first-look', trigger: 't', prompt: 'Look at it.', model: 'm1' })
    models.reply('m1', [look, conclude({ headline: 'Card gateway down' })])
    await post({ ...error, region: 'eu' })
    const [done] = await traced()
    const detail = await run(done!.id)
    const [root, ...rest] = spansOf(done!.id)
    expect(rest.map(({ name }) => name).sort()).toEqual(['chat m1', 'chat m1', 'conclude', 'read'])
    expect(new Set(rest.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([root!.spanId]))
    expect(`run_${root!.traceId}`).toBe(done!.id)
    expect(new Set(receiver.spans().map(({ spanId }) => spanId)).size).toBe(5)
    expect(root).toMatchObject({
      name: 'first-look',
      kind: 1,
      parentSpanId: '',
      status: { code: 0 },
      scope: 'svc',
      start: Date.parse(done!.started_at!),
      end: Date.parse(done!.finished_at!),
      resource: {
        'service.name': 'here/first-look',
        'service.instance.id': 'here',
        'service.version': '9.9.9',
        'svc.instance': 'here',
        'svc.agent': 'first-look',
        'svc.version': '9.9.9',
      },
    })
    expect(root!.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'openinference.span.kind': 'AGENT',
      'session.id': done!.id,
      'user.id': 'here',
      'gen_ai.agent.name': 'first-look',
      'gen_ai.agent.version': done!.definition_hash,
      'output.value': 'The card gateway is down.',
      'svc.run_id': done!.id,
      'svc.dispatch_id': done!.dispatch_id,
      'svc.trigger': 't',
      'svc.key': 'checkout',
      'svc.label.service': 'checkout',
      'svc.label.region': 'eu',
      'svc.provider': 'providera',
      'svc.status': 'succeeded',
      'svc.outcome': 'finding',
      'svc.rounds': 2,
      'svc.model_calls': 2,
      'svc.tool_calls': 1,
      'svc.note': 'The card gateway is down.',
    })
    expect(root!.attributes['svc.cost_usd']).toBeCloseTo(done!.cost_usd!, 12)
    expect(root!.attributes['input.value']).toContain('The trigger t fired for service=checkout')
    for (const absent of ['svc.verdict', 'svc.results', 'svc.run.skipped_reason', 'error.type'])
      expect(root!.attributes).not.toHaveProperty([absent])
    const [first, second] = rest.filter(({ name }) => name === 'chat m1')
    expect(first).toMatchObject({ kind: 3, events: [{ name: 'gen_ai.first_token' }] })
    expect(second!.attributes).toMatchObject({
      'session.id': done!.id,
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'providera',
      'gen_ai.request.model': 'm1',
      'gen_ai.request.max_tokens': 4096,
      'gen_ai.response.model': 'm1',
      'gen_ai.response.finish_reasons': ['tool_calls'],
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read_input_tokens': 0,
    })
    const [system, message, said, call, result] = texts(second!.attributes['gen_ai.input.messages'])
    expect([system, message, said, call]).toEqual([
      expect.stringMatching(/^Look at it\./),
      root!.attributes['input.value'],
      'Let me see.',
      'read',
    ])
    expect(result).toContain('cannot pay')
    expect(texts(second!.attributes['gen_ai.output.messages'])).toEqual(['conclude'])
    const tools = JSON.parse(String(first!.attributes['gen_ai.tool.definitions'])) as { name: string }[]
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['read', 'changed', 'conclude']))
    const read = rest.find(({ name }) => name === 'read')!
    expect(read.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'read',
      'gen_ai.tool.call.id': expect.any(String) as unknown as string,
      'output.value': (detail.steps[2]!.data as { result: string }).result,
    })
    expect(JSON.parse(String(read.attributes['input.value']))).toEqual(look.calls![0]!.arguments)
    expect(read.attributes).not.toHaveProperty(['svc.tool_error'])
    expect(receiver.requests).toHaveLength(1)
    expect(receiver.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'content-type': 'application/x-protobuf', authorization: 'Bearer trace-key-1' },
    })
  })

  it('is a session of its own, also where another handed over to it', async () => {
    const { agent, models, post, traced, spansOf } = await open()
    await agent({ name: 'digger', model: 'm2', webhook_key_label: 'region' })
    await agent({
      name: 'first-look',
      trigger: 't',
      model: 'm1',
      verdicts: [{ verdict: 'investigate' }],
      handoffs: [{ verdict: 'investigate', agent: 'digger' }],
    })
    models.reply('m1', [conclude({ verdict: 'investigate' })])
    models.reply('m2', [conclude()])
    await post({ ...error, region: 'eu' })
    const [first, second] = await traced()
    const [root] = spansOf(first!.id)
    const [next, ...below] = spansOf(second!.id)
    expect(root!.attributes).toMatchObject({ 'session.id': first!.id, 'svc.verdict': 'investigate' })
    expect(next!.attributes).toMatchObject({ 'session.id': second!.id, 'svc.parent_run_id': first!.id })
    expect(new Set(below.map(({ attributes }) => attributes['session.id']))).toEqual(new Set([second!.id]))
    expect(next!.links).toEqual([{ traceId: root!.traceId, spanId: root!.spanId }])
    expect(next!.resource['service.name']).toBe('here/digger')
  })

  it('does not fail where a tool does', async () => {
    const mcp = await startMcpServer([
      {
        name: 'look',
        annotations: { readOnlyHint: true },
        answer: () => {
          throw new Error('it broke')
        },
      },
    ])
    const { agent, models, post, traced, spansOf, engine } = await open()
    await engine.createMcpServer({ name: 'tools', url: mcp.url }, BY)
    await agent({ name: 'first-look', trigger: 't', model: 'm1', mcp_servers: ['tools'] })
    models.reply('m1', [
      { calls: [{ name: 'tools__look', arguments: {} }] },
      { calls: [{ name: 'no_such', arguments: {} }] },
      conclude(),
    ])
    await post(error)
    const [done] = await traced()
    await mcp.close()
    expect(done).toMatchObject({ status: 'succeeded' })
    const spans = spansOf(done!.id)
    expect(new Set(spans.map(({ status }) => status.code))).toEqual(new Set([0]))
    for (const name of ['tools__look', 'no_such'])
      expect(spans.find((span) => span.name === name)!.attributes).toMatchObject({
        'svc.tool_error': true,
        'error.type': 'tool_error',
      })
    expect(spans.find(({ name }) => name === 'tools__look')!.attributes).toMatchObject({
      'svc.mcp_server': 'tools',
    })
    expect(spans.find(({ name }) => name === 'conclude')!.attributes).not.toHaveProperty(['error.type'])
  })

  it('that a cap does not let start is traced with the reason', async () => {
    const { agent, models, post, traced, spansOf } = await open()
    await agent({ name: 'first-look', trigger: 't', model: 'm1', daily_cap: 1 })
    await agent({ name: 'frugal', trigger: 't', model: 'm1', run_budget_usd: 0.000_001 })
    models.reply('m1', () => conclude())
    await post(error)
    await traced()
    world.pass(2_000)
    await post({ ...error, service: 'cart' })
    const runs = await traced()
    const reasons = runs
      .filter(({ status }) => status === 'capped')
      .map(({ id, agent: name }) => {
        const [root] = spansOf(id)
        return [name, root!.attributes['svc.run.skipped_reason'], root!.attributes['svc.status']]
      })
    expect(reasons.sort()).toEqual([
      ['first-look', 'daily_run_cap', 'capped'],
      ['frugal', 'budget', 'capped'],
      ['frugal', 'budget', 'capped'],
    ])
  })

  it('without a provider fails with the reason, and so does its span', async () => {
    const { agent, post, traced, spansOf } = await open({}, { provider: false })
    await agent({ name: 'first-look', trigger: 't', model: 'm1' })
    await post(error)
    const [done] = await traced()
    const [root, chat] = spansOf(done!.id)
    expect(root).toMatchObject({
      status: { code: 2, message: expect.stringContaining('no model provider is set') as unknown as string },
      attributes: { 'svc.run.skipped_reason': 'no_provider', 'error.type': 'no_provider' },
    })
    expect(chat).toMatchObject({ name: 'chat m1', status: { code: 2 } })
  })
})
