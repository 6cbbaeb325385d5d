import { describe, expect, it } from 'vitest'
import { lintCatalog } from '../../../engine/declared/catalog/lint.ts'
import { compose } from '../../../engine/gitops/compose.ts'

const lint = (text: string, rules = '') => {
  const files = [{ path: 'shop.yaml', text }, ...(rules ? [{ path: 'rules.yaml', text: rules }] : [])]
  const composed = compose({ roots: [{ name: 'shop', files }] })
  expect(composed.problems).toEqual([])
  const { findings, problems } = lintCatalog(composed)
  return {
    found: findings.map(({ rule, severity, line }) => `${line} ${rule} ${severity}`),
    messages: findings.map(({ message }) => message),
    problems: problems.map(({ file, line, message }) => `${file}:${line}: ${message}`),
  }
}
const source = (name: string, labels: string, more = '') =>
  `  - name: ${name}\n    connector: webhook\n    config: { labels: [${labels}]${more} }\n`
const primary = '{ name: service, field: service, primary: true }'
const trigger = '  - { name: t, sources: [a], condition: { event: any } }\n'
const agent = (name: string, more: string) => `  - { name: ${name}, prompt: Look, ${more} }\n`

describe('the rules of svc', () => {
  it('find nothing in a catalog that is as it should be', () => {
    expect(
      lint(
        `sources:\n${source('a', primary)}triggers:\n${trigger}agents:\n${agent('x', 'trigger: t, run_budget_usd: 1')}`,
      ).found,
    ).toEqual([])
  })

  it('find an agent without a budget, or that nothing reaches, and a trigger and a source that nothing uses', () => {
    expect(
      lint(
        `sources:\n${source('a', primary)}${source('b', primary)}triggers:\n${trigger}agents:\n${agent('x', 'daily_cap: 5')}`,
      ).found,
    ).toEqual([
      '5 source-unused note',
      '9 trigger-unused warning',
      '11 agent-without-budget warning',
      '11 agent-unreachable warning',
    ])
  })

  it('find a source without a primary label, but where its connector knows the entity', () => {
    const found = (labels: string, connector: string) =>
      lint(`sources:\n${source('a', labels).replace('webhook', connector)}triggers:\n${trigger}`).found
    expect(found('{ name: status, field: status }', 'webhook')).toContain(
      '2 source-without-primary-label warning',
    )
    expect(found('', 'otlp').join()).not.toContain('primary')
  })

  it('find what there is to find where a label is none: what is wrong with it is told when it is applied', () => {
    for (const odd of ['null', '5', 'x', '[]']) {
      const found = lint(
        `sources:\n${source('a', `${odd}, ${primary}, { name: Service, field: s }`)}triggers:\n${trigger}`,
      )
      expect(found.messages).toContain('label Service of a is called service in a')
    }
  })

  it('find a label that no source of a trigger has, and a verdict that its agent never concludes with', () => {
    const labels = `${primary}, { name: status, field: s, type: number }`
    const text = (more: string, preset = '') =>
      `sources:\n${source('a', labels, preset)}triggers:\n  - name: t\n    sources: [a]\n    filters: [{ field: ${more}, op: exists, value: true }]\n    key_field: servce\n    condition: { aggregate: avg, field: payload.ms, predicate: "> 5", window: 5m }\n`
    const agents =
      'agents:\n  - name: x\n    prompt: Look\n    trigger: t\n    run_budget_usd: 1\n    verdicts: [known, { verdict: deep, when: odd }]\n    handoffs:\n      - { verdict: Deep, agent: y }\n      - { verdict: dep, agent: y }\n  - { name: y, prompt: Dig, run_budget_usd: 1 }\n'
    const { found, messages } = lint(text('statuss') + agents)
    expect(found).toEqual([
      '8 label-unknown warning',
      '9 label-unknown warning',
      '19 verdict-unknown warning',
    ])
    expect(messages).toEqual([
      'trigger t goes by label statuss, which none of its sources has (did you mean status?)',
      'trigger t goes by label servce, which none of its sources has (did you mean service?)',
      'agent x never concludes with verdict dep, so it is not handed over (did you mean deep?)',
    ])
    // What a preset or a sender brings is not in the file.
    expect(lint(text('statuss', ', preset: grafana')).found.join()).not.toContain('label-unknown')
    expect(lint(text('repository')).found).not.toContain('8 label-unknown warning')
  })

  it('find labels that drift in name or type', () => {
    const { messages } = lint(
      `sources:\n${source('a', `${primary}, { name: status, field: s, type: number }`)}${source('b', `{ name: Service, field: s, primary: true }, { name: status, field: s }`)}triggers:\n${trigger.replace('[a]', '[a, b]')}`,
    )
    expect(messages).toContain('label Service of b is called service in a')
    expect(messages).toContain('label status of b is string, and number in a')
  })

  it('find patterns of two joined entities that one name fits, at the second', () => {
    const rule = (name: string, pattern: string, other: string) =>
      `  - { name: ${name}, is: ["service=${pattern}", "${other}=$\{n}"] }\n`
    const { found, messages } = lint(
      `entities:\n${rule('all', '(?<n>[a-z-]+)', 'pod')}${rule('web', 'web-(?<n>[a-z]+)', 'host')}`,
    )
    expect(found).toEqual(['3 entity-overlap warning'])
    expect(messages[0]).toContain('a name such as service=web-prod would be of entity all and of entity web')
  })

  it('find handoffs that go in a circle, once', () => {
    const { messages } = lint(
      `sources:\n${source('a', primary)}triggers:\n${trigger}agents:\n${agent('x', 'trigger: t, budget_usd: 1, verdicts: [go], handoffs: [{ verdict: go, agent: y }]')}${agent('y', 'budget_usd: 1, verdicts: [go], handoffs: [{ verdict: go, agent: x }]')}`,
    )
    expect(messages).toEqual(['handoffs go in a circle: x → y → x'])
  })

  it('find a secret in plain text, without saying it', () => {
    const { found, messages } = lint(
      `sources:\n${source('a', primary, ', signature_scheme: github, signature_secret: CANARY-9')}${source('b', primary, ', signature_scheme: github, signature_secret: "$' + '{SVC_SECRET_B}"')}triggers:\n${trigger.replace('[a]', '[a, b]')}`,
    )
    expect(found).toEqual(['4 plain-secret error', '9 trigger-unused warning'])
    expect(messages.join()).not.toContain('CANARY')
  })
})

describe('a rule', () => {
  const unused = `sources:\n${source('a', primary)}triggers:\n${trigger}`

  it('is switched off or made more severe in the files, and one that is not there is told', () => {
    expect(lint(`${unused}lint: { trigger-unused: error }\n`).found).toEqual(['6 trigger-unused error'])
    expect(lint(`${unused}lint: { trigger-unused: off }\n`).found).toEqual([])
    expect(lint(`${unused}lint: { trigger-unusd: off }\n`).problems).toEqual([
      'shop.yaml:7: no lint rule is called trigger-unusd',
    ])
  })

  it('is switched off by a comment on the part, above it, or for the file', () => {
    const above = unused.replace(
      '  - { name: t',
      '  # lint-off trigger-unused: read by people\n  - { name: t',
    )
    expect(lint(above).found).toEqual([])
    expect(lint(unused.replace('any } }', 'any } } # lint-off trigger-unused')).found).toEqual([])
    expect(lint(`# lint-off-file trigger-unused\n${unused}`).found).toEqual([])
    expect(lint(above.replace('lint-off trigger', 'lint-off agent')).found).toHaveLength(1)
  })

  it('of a team is a JSON Schema that each part of a kind fits', () => {
    const rules = `rules:
  - id: team/cooldown
    for: trigger
    severity: error
    message: a trigger says its cooldown
    schema: { required: [cooldown] }
`
    const { found, messages } = lint(`${unused}lint: { trigger-unused: off }\n`, rules)
    expect(found).toEqual(['6 team/cooldown error'])
    expect(messages).toEqual(['t: a trigger says its cooldown (cooldown is required)'])
    expect(lint(unused, rules.replace('[cooldown]', '5')).problems[0]).toContain('rules.yaml:6: schema:')
    expect(lint(unused, rules.replace('for: trigger', 'for: view')).problems).toEqual([
      'rules.yaml:2: for must be one of source, trigger, agent, mcp_server, project, skill, entity',
    ])
  })
})
