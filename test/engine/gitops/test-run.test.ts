import { describe, expect, it } from 'vitest'
import { planTests, runTest, type TestOutcome } from '../../../engine/agents/evals/test-run.ts'
import type { Models } from '../../../engine/agents/models/types.ts'
import { type Composed, compose } from '../../../engine/gitops/compose.ts'
import { createEngine, recorded, replayed, type TapeFile } from '../../../engine/local.ts'

const shop = `sources:
  - name: gateway
    connector: webhook
    config:
      event_type: request
      signature_scheme: github
      signature_secret: \${SHOP_SECRET}
      labels:
        - { name: service, field: service, primary: true }
        - { name: status, field: status, type: number }
triggers:
  - name: errors
    sources: [gateway]
    filters: [{ field: status, op: gte, value: 500 }]
    condition: { aggregate: count, predicate: "> 2", window: 5m }
    cooldown: 10m
  - name: silent
    sources: [gateway]
    condition: { absent_for: 10m }
agents:
  - name: first-look
    trigger: errors
    prompt: Say what broke.
    verdicts: [investigate, fine]
    handoffs: [{ verdict: investigate, agent: digger }]
  - name: digger
    prompt: Find the cause.
`
const put = (text: string): Composed =>
  compose({ roots: [{ name: 'shop', files: [{ path: 'shop.yaml', text }] }] })
const burst = '{ source: gateway, at: 30s, every: 10s, times: 3, body: { service: checkout, status: 503 } }'

const noModel = (): { models: Models } => ({ models: replayed(null, 'none.json') })

async function run(
  tests: string,
  models: () => { models: Models; done?(): void } = noModel,
  catalog = shop,
): Promise<TestOutcome[]> {
  const composed = put(`${catalog}tests:\n${tests}`)
  expect(composed.problems).toEqual([])
  const planned = planTests(composed.tests, () => {
    throw new Error('no file')
  })
  expect(planned.problems).toEqual([])
  const world = { open: createEngine, catalog: composed.catalog!, env: {}, modelsOf: models }
  return Promise.all(planned.tests.map((test) => runTest(world, test)))
}
const told = (outcomes: TestOutcome[]) =>
  outcomes.flatMap(({ failures }) => failures.map(({ message }) => message))

describe('a test of a catalog', () => {
  it('passes where the trigger fires for that entity at that time, and not for those', async () => {
    const outcomes = await run(`  - name: burst
    events: [${burst}]
    expect:
      - { trigger: errors, fires: 1, entity: checkout, at: +50s }
      - { trigger: errors, not_fires: true, entity: cart }
      - { event: 2, type: request, labels: { service: checkout, status: 503, region: null } }
`)
    expect(told(outcomes)).toEqual([])
  })

  it('expects that what fired is over, by events that say so, and says what resolved instead', async () => {
    const catalog = shop.replace(
      'agents:',
      `  - name: alerts
    sources: [gateway]
    filters: [{ field: status, op: gte, value: 500 }]
    condition: { event: any, resolve: { filters: [{ field: status, op: lt, value: 500 }] } }
agents:`,
    )
    const events = `[{ source: gateway, at: 1m, body: { service: checkout, status: 503 } }, { source: gateway, at: 9m, body: { service: checkout, status: 200 } }]`
    const tests = (...expected: string[]) => `  - name: over
    events: ${events}
    expect:\n${expected.map((one) => `      - { trigger: alerts, ${one} }\n`).join('')}`
    const met = tests(
      'fires: 1, entity: checkout, at: 1m',
      'resolves: 1, entity: checkout, at: 9m',
      'resolves: true',
      'resolves: 0, entity: cart',
    )
    expect(told(await run(met, noModel, catalog))).toEqual([])
    const [never, early] = told(await run(tests('resolves: 0', 'resolves: true, at: 2m'), noModel, catalog))
    expect(never).toContain(
      'expected: alerts does not resolve\ninstead it resolved once:\n  alerts at +540s for checkout: over',
    )
    expect(never).toContain('it fired once:\n  alerts at +60s for checkout')
    expect(early).toContain('expected: alerts resolves at +120s\ninstead it resolved once:')
  })

  it('says what was expected, and what fired instead, when and for whom, with the events', async () => {
    const [wrong] = told(
      await run(`  - name: burst
    events: [${burst}]
    expect: [{ trigger: errors, entity: cart, at: 1m }]
`),
    )
    expect(wrong).toContain(
      'expected: errors fires for cart at +60s\ninstead it fired once:\n  errors at +50s for checkout',
    )
    expect(wrong).toContain('events (3):\n  1. +30s gateway request service=checkout status=503')
    const [none] = told(
      await run(`  - name: one
    events: [{ source: gateway, body: { service: a, status: 500 } }]
    expect: [{ trigger: errors }, { event: 1, labels: { status: 404 } }, { event: 2, type: x }]
`),
    )
    expect(none).toContain('expected: errors fires\ninstead it did not fire')
  })

  it('moves the clock on to what is due: a trigger of absence fires to the second', async () => {
    const outcomes = await run(`  - name: quiet
    events: [{ source: gateway, at: 5s, body: { service: a, status: 200 } }]
    until: 30m
    expect: [{ trigger: silent, at: 605s }]
`)
    expect(told(outcomes)).toEqual([])
  })

  it('counts every firing, however many there are', async () => {
    const each = shop
      .replace('predicate: "> 2", window: 5m', 'predicate: "> 0", window: 5m')
      .replace('10m\n', '1s\n')
    const outcomes = await run(
      `  - name: many
    events: [{ source: gateway, every: 10m, times: 620, body: { service: a, status: 500 } }]
    expect: [{ trigger: errors, fires: 620 }]
`,
      noModel,
      each,
    )
    expect(told(outcomes)).toEqual([])
  })

  it('fails where an event is refused, or a source is not there', async () => {
    expect(
      told(
        await run(`  - name: nowhere
    events: [{ source: nope, body: {} }]
    expect: [{ trigger: errors, not_fires: true }]
`),
      ),
    ).toEqual(['the catalog has no source nope that takes events'])
  })
})

describe('a test of an agent', () => {
  const agent = `  - name: agent
    tape: tape.json
    events: [${burst}]
    expect: [{ agent: first-look, verdict: investigate, cites: [3], hands_over_to: digger }]
`
  /** A model that concludes at once, citing the last event. */
  const answering: Models = {
    ceilingUsd: async () => 0,
    resolve: async (provider, model) => ({ provider, kind: 'compatible', model, outputTokens: 4_096 }),
    call: async () => ({
      ...{ text: '', stop: 'tools', model: 'm', provider: 'p', kind: 'compatible', raw: null },
      calls: [
        {
          id: 'c1',
          name: 'conclude',
          arguments: {
            ...{ outcome: 'finding', verdict: 'investigate', summary: 'It broke.' },
            claims: [{ text: 'It failed', role: 'cause', events: ['evt_3'] }],
          },
        },
      ],
      usage: {
        ...{ input_tokens: 1, output_tokens: 1 },
        ...{ cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
      },
      ...{ keySource: 'tape', costUsd: 0, costFrom: null, ms: 0, firstTokenMs: null, tries: 1 },
    }),
  }

  it('passes by its tape, is stale with another prompt, and is recorded anew', async () => {
    let tape: TapeFile | null = null
    const keep = (made: TapeFile) => {
      tape = made
    }
    const record = () => {
      const kept = recorded(answering, { scenario: 'agent', noise: 0, variant: 'test' })
      return { models: kept.models, done: () => keep(kept.tape()) }
    }
    expect(await run(agent, record)).toMatchObject([{ failures: [], stale: null }])
    const replay = () => ({ models: replayed(tape, 'tape.json') })
    expect(await run(agent, replay)).toMatchObject([{ failures: [], stale: null }])
    const other = await run(agent, replay, shop.replace('Say what broke.', 'Say it in one word.'))
    expect(other).toMatchObject([{ failures: [], stale: expect.stringContaining('differs') }])
    const wrong = agent.replace('cites: [3]', 'cites: [1]').replace('verdict: investigate', 'verdict: fine')
    const [message] = told(await run(wrong, replay))
    expect(message).toContain('verdict: expected fine, is investigate')
    expect(message).toContain('cites: expected event 1, are 3')
  })
})

describe('the tests of files', () => {
  const faultsOf = (tests: string) =>
    planTests(put(`${shop}tests:\n${tests}`).tests, () => ({
      path: 'x',
      bytes: Buffer.from('{"source":"gateway","at":"1s","body":{}}\n{"t":5,"source":"gateway","type":"x"}\n'),
    }))

  it('are told with the place of each fault', () => {
    const { problems } = faultsOf(`  - { name: a, expect: [{ trigger: x, agent: y }] }
  - { name: a, expect: [{ trigger: x }] }
  - { name: b, expect: [] }
  - { name: c, expect: [{ trigger: x, labels: { a: 1 } }] }
  - { name: d, expect: [{ agent: x, verdict: v }] }
  - { name: e, expect: [{ trigger: x }], events: [{ source: gateway, at: soon, body: 1 }] }
`)
    expect(problems.map(({ line, message }) => [line, message.slice(0, 60)])).toEqual([
      [29, expect.stringContaining('is about one of trigger, event, agent')],
      [30, expect.stringContaining('a test of this name is already at shop.yaml:29')],
      [31, expect.stringContaining('expect must not be empty')],
      [32, expect.stringContaining('labels says nothing of trigger')],
      [33, expect.stringContaining('a test of an agent has a tape')],
      [34, expect.stringContaining('at must')],
    ])
  })

  it('take lines of a file, those of a recorded incident, too', () => {
    const { tests, problems } = faultsOf('  - { name: a, events_file: x.ndjson, expect: [{ trigger: x }] }\n')
    expect(problems).toEqual([])
    expect(tests[0]!.sent.map(({ at, body }) => [at - tests[0]!.start, String(body)])).toEqual([
      [0, '{"type":"x","at":"2026-01-01T00:00:00.000Z"}'],
      [1000, '{}'],
    ])
  })
})
