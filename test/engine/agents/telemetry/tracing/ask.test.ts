/** A turn of Ask is one trace: the question, below it each call of the model and of a tool. */
import { expect, it, onTestFinished } from 'vitest'
import { createTracing } from '../../../../../engine/agents/telemetry/tracing.ts'
import { createEgress } from '../../../../../engine/net/fetch.ts'
import { startTraceReceiver } from '../../../../tracing/receiver.ts'
import { manualTime } from '../../../net/egress/manual-time.ts'
import { error, openAskWorld, SESSION } from '../../ask/ask-world.ts'
import { ENV } from './trace-world.ts'

it('is exported with its question, answer, tokens and tools, under the conversation', async () => {
  const receiver = await startTraceReceiver()
  const world = await openAskWorld({ tracing: { ...ENV, enabled: true, endpoint: receiver.url } })
  const time = manualTime()
  const egress = createEgress({ allowPrivate: false, timers: time })
  const faults: Error[] = []
  const onError = (fault: Error) => void faults.push(fault)
  const tracing = createTracing({ port: world.engine, egress, clock: world.clock, timers: time, onError })
  onTestFinished(async () => {
    egress.close()
    await receiver.close()
  })
  await world.post([error])
  world.models.reply('m1', [
    { calls: [{ name: 'recent_events', id: 'c1', arguments: { name: 'app' } }] },
    { text: 'checkout cannot pay.' },
    { status: 400, error: 'it broke' },
  ])
  await world.asked('What is wrong?', { session: SESSION })
  await world.asked('And now?', { session: SESSION, mode: 'build', step: 'watch' })
  for (const ended of world.ended) tracing.asked(ended)
  await tracing.flush()
  expect(faults).toEqual([])

  const spans = receiver.spans()
  const [first, second] = spans.filter(({ parentSpanId }) => parentSpanId === '')
  expect(first).toMatchObject({
    name: 'ask',
    resource: { 'service.name': 'here/ask' },
    attributes: {
      'openinference.span.kind': 'CHAIN',
      'session.id': SESSION,
      'user.id': 'here',
      'input.value': 'What is wrong?',
      'output.value': 'checkout cannot pay.',
      'svc.status': 'answered',
      'svc.rounds': 2,
      'svc.tool_calls': 1,
    },
  })
  expect(`ask_${first!.traceId}`).toBe(world.ended[0]!.turn.id)
  const below = spans.filter(({ parentSpanId }) => parentSpanId === first!.spanId)
  expect(below.map(({ name }) => name)).toEqual(['chat m1', 'recent_events', 'chat m1'])
  expect(below[0]!.attributes).toMatchObject({
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.usage.output_tokens': 5,
  })
  expect(String(below[0]!.attributes['gen_ai.tool.definitions'])).toContain('recent_events')
  expect(String(below[1]!.attributes['output.value'])).toContain('cannot pay')

  expect(second).toMatchObject({ name: 'project-builder', attributes: { 'svc.status': 'failed' } })
  const [failed] = spans.filter(({ parentSpanId }) => parentSpanId === second!.spanId)
  expect(String(failed!.attributes['gen_ai.input.messages'])).toContain('checkout cannot pay.')
})
