import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readTemplates } from '../../../../engine/declared/projects/templating.ts'
import { faultsOf, folderWith, WATCH } from './template-folder.ts'

/** The template with one text replaced by another. */
const changed = (from: string, to: string): string => {
  expect(WATCH).toContain(from)
  return WATCH.replace(from, () => to)
}

/** Expects one fault, told with the file and with the line that holds `marker`. */
function expectFault(text: string, marker: string, rule: string | RegExp): void {
  const line = text.split('\n').findIndex((entry) => entry.includes(marker)) + 1
  const said = faultsOf(text)
  expect(said).toHaveLength(1)
  const [, place, sentence] = /^watch\.yaml:(\d+):\d+: (.*)$/.exec(said[0]!)!
  expect({ line: Number(place), sentence }).toEqual({
    line,
    sentence: typeof rule === 'string' ? rule : expect.stringMatching(rule),
  })
}

/** What is broken, the text replaced, what by, a piece of the line that is named, the rule. */
type Case = [what: string, from: string, to: string, marker: string, rule: string | RegExp]
const breaks = (_what: string, from: string, to: string, marker: string, rule: string | RegExp) =>
  expectFault(changed(from, to), marker, rule)

describe('the template the tests change', () => {
  it('is whole', () => {
    expect(faultsOf(WATCH)).toEqual([])
  })
})

describe('a broken template file', () => {
  it('stops the start with the exit code of a bad configuration, naming file, line, column and rule', () => {
    const folder = folderWith({ 'watch.yaml': changed('title: Watch\n', '') })
    expect(() => readTemplates(folder)).toThrow(
      expect.objectContaining({
        name: 'StartError',
        exitCode: 78,
        message: `templates of projects cannot be used:\n${join(folder, 'watch.yaml')}:1:1: title is required`,
      }),
    )
  })

  it('is told with the faults of all other files', () => {
    const folder = folderWith({ 'one.yaml': '[]', 'watch.yaml': WATCH, 'zwei.yaml': 'a: [' })
    expect(() => readTemplates(folder)).toThrow(
      /one\.yaml:1:1: body must be an object\n.*zwei\.yaml:1:\d+: is not YAML/,
    )
  })

  const cases: Case[] = [
    ['text that is no YAML', 'title: Watch', 'title: "Wat"ch', 'title', /^is not YAML: /],
    [
      'a key given twice',
      'title: Watch',
      'title: A\ntitle: B',
      'title: B',
      /^is not YAML: Map keys must be unique/,
    ],
    [
      'an expression without quotes',
      'prompt: Look at {{ system }}.',
      'prompt: {{ system }}',
      'prompt',
      /^an expression must be in quotes/,
    ],
    [
      'a field that does not exist',
      'title: Watch',
      'title: Watch\ntitel: Watch',
      'titel',
      'titel is not a known field (did you mean title?)',
    ],
    [
      'another key than its name',
      'key: watch',
      'key: other',
      'key: other',
      "key must be the file's name, watch",
    ],
  ]
  const inStep = (step: string): string => `title: Watch\nsetup:\n  - { title: Send, ${step} }`
  const steps: Case[] = [
    [
      'a step whose command has the address of no source',
      "command: 'curl $INGEST_KEY'",
      'source is required',
    ],
    [
      'a step about a source that is not planned',
      'source: other',
      'source is other, but no source has that key',
    ],
    [
      'a step with what is no parameter',
      "text: 'Ask {{ whom }}'",
      'text has {{ whom }}, which is not a parameter',
    ],
    ['a step with a secret', "command: 'echo {{ token }}'", 'command has {{ token }}, which is a secret'],
    [
      'a step that computes',
      "text: 'See {{ slug(system) }}'",
      'an expression of a step is {{ name }} of a parameter',
    ],
  ].map(([what, step, rule]) => [
    what!,
    'title: Watch',
    inStep(step!),
    'title: Send',
    new RegExp(rule!.replace(/[{}()]/g, '\\$&')),
  ])
  it.each([...cases, ...steps])('may have %s', breaks)

  it('may be a bomb of aliases', () => {
    const ten = (alias: string) => `[${Array(10).fill(alias).join(', ')}]`
    expectFault(
      `a: &a ${ten('1')}\nb: &b ${ten('*a')}\nc: ${ten('*b')}\n`,
      'a:',
      /^is not a template: .*alias/,
    )
  })

  it('may have a name that is kept for projects without a template', () => {
    const folder = folderWith({ 'custom.yaml': WATCH.replace('key: watch', 'key: custom') })
    expect(() => readTemplates(folder)).toThrow('key must not be custom')
  })
})

describe('parameters of a broken template file', () => {
  const cases: Case[] = [
    [
      'a type there is not',
      'type: integer, default: 5',
      'type: date, default: 5',
      'threshold:',
      /^params.properties.threshold.type must be one of string, number/,
    ],
    [
      'a keyword a form cannot show',
      'default: 5,',
      'default: 5, multipleOf: 5,',
      'threshold:',
      /^params\.properties\.threshold\.multipleOf is not a known field \(fields: type, title, /,
    ],
    [
      'a default that breaks its own rule',
      'default: 5,',
      'default: 500,',
      'threshold:',
      'params.properties.threshold.default must be at most 100',
    ],
    [
      'a default of another type',
      'default: 5,',
      'default: five,',
      'threshold:',
      'params.properties.threshold.default must be a whole number',
    ],
    [
      'a secret with a default',
      'x-secret: true,',
      'x-secret: true, default: s3cret,',
      'token:',
      'params.properties.token.x-secret is for a text parameter without a default',
    ],
    [
      'a required one nothing stands for',
      '      examples: [shop]\n',
      '',
      'system:',
      'params.properties.system is required, so it needs a default or examples to check the file with',
    ],
    [
      'a required one that is not there',
      'required: [system]',
      'required: [system, name]',
      'required: [system',
      'params.required names name, which is not one of the properties',
    ],
    [
      'a pattern that is none',
      "'^[A-Za-z0-9-]+$'",
      "'^[a-'",
      'pattern:',
      'params.properties.system.pattern must be a regex',
    ],
    [
      'a name that expressions use',
      'region: {',
      'item: {',
      'item:',
      'params.properties.item must have another name: item means something in expressions',
    ],
    [
      'a list of what is not said',
      'region: {',
      'many: { type: array }\n    region: {',
      'many:',
      'params.properties.many.items is required for a list',
    ],
    [
      'a secret within a list',
      'region: {',
      'many: { type: array, items: { type: string, x-secret: true } }\n    region: {',
      'many:',
      'params.properties.many.items.x-secret is for whole parameters, not for what is inside one',
    ],
  ]
  it.each(cases)('may have %s', breaks)
})

describe('expressions of a broken template file', () => {
  const LOOK = 'prompt: Look at {{ system }}.'
  const cases: Case[] = [
    [
      'read a parameter that is not there',
      LOOK,
      'prompt: Look at {{ sytem }}.',
      'sytem',
      'objects[2].spec.prompt has sytem, but there is no sytem; there are system, threshold, token, region',
    ],
    [
      'read a field of what has none',
      LOOK,
      'prompt: Look at {{ system.name }}.',
      'system.name',
      'objects[2].spec.prompt has system.name, but system has no field name',
    ],
    [
      'name an object that is not there',
      'name("events")',
      'name("event")',
      'name("event")',
      'objects[1].spec.sources[0] has name("event"), but no object has the key event',
    ],
    [
      'name objects in the name of one',
      "name: '{{ slug(system) }}-many'",
      `name: '{{ name("first") }}-many'`,
      '}}-many',
      'objects[1].name has name("first"), but there no object has a name yet',
    ],
    [
      'show a secret',
      LOOK,
      'prompt: Use {{ token }}.',
      'Use',
      'objects[2].spec.prompt has token, a secret, but this field is shown to everyone who can read',
    ],
    [
      'put a secret in a config field that is none',
      "const: '{{ system }}'",
      "const: '{{ token }}'",
      'const',
      'objects[0].spec.config.labels[0].const has token, a secret, but this field is shown to everyone who can read',
    ],
    [
      'read the arguments of an action elsewhere',
      LOOK,
      'prompt: Look at {{ args.about }}.',
      'prompt: Look',
      /^objects\[2\].spec.prompt has args.about, but there is no args/,
    ],
    [
      'read an argument that is not there',
      '{{ args.about }}',
      '{{ args.abuot }}',
      'abuot',
      'actions[0].request.url has args.abuot, but args has no field abuot',
    ],
    [
      'choose an argument of values that are not there',
      'about: { type: string, minLength: 1 }',
      'about: { type: string, x-one-of: topics.name }',
      'topics',
      /^actions\[0\]\.params\.properties\.about\.x-one-of: there is no topics/,
    ],
    [
      'put a secret in an address',
      '{{ args.about }}',
      '{{ token }}',
      'url:',
      /^actions\[0\].request.url has token, a secret/,
    ],
  ]
  it.each(cases)('may not %s', breaks)

  it.each([
    '{{ system',
    '{{ system }',
    '{{ upper(system) }}',
    '{{ system | lower }}',
    '{{ 1 + 1 }}',
    '{{ }}',
    '{{ __proto__ }}',
  ])('are not %s', (text) => {
    expectFault(
      changed(LOOK, `prompt: 'See ${text}.'`),
      'See',
      /^objects\[2\]\.spec\.prompt has (an expression|\{\{ without)/,
    )
  })
})

describe('what a broken template file plans', () => {
  const SECOND = '    spec: { prompt: Dig. }'
  const cases: Case[] = [
    [
      'a spec its kind does not allow',
      'window: 5m',
      'window: 5x',
      'window:',
      'objects[1].spec.condition.window must be a number and one of s, m, h, d, such as 15m',
    ],
    [
      'a field that does not exist',
      SECOND,
      '    spec: { prompt: Dig., promt: Dig. }',
      'promt',
      'objects[3].spec.promt is not a known field (did you mean prompt?)',
    ],
    [
      'a config its connector does not allow',
      'scheme: hmac_sha256',
      'scheme: rot13',
      'rot13',
      'objects[0].spec.config.signature_scheme must be one of github, linear, hmac_sha256, hmac_sha512, pagerduty, stripe, slack, standard_webhooks, shopify, gitlab, sns',
    ],
    [
      'a skill whose description is two paragraphs',
      SECOND,
      `${SECOND}\n  - { kind: skill, key: how, name: how-to, spec: { description: "a\\n\\nb", body: x } }`,
      'key: how',
      /^objects\[4\].spec: .*description/,
    ],
    [
      'a skill with a name none can have',
      SECOND,
      `${SECOND}\n  - { kind: skill, key: how, name: How.to, spec: { description: a, body: x } }`,
      'key: how',
      'objects[4].name must be 1 to 64 characters of lowercase letters, digits and dashes; it is How.to',
    ],
    [
      'a verdict that is reserved',
      'verdicts: [{ verdict: dig }]',
      'verdicts: [{ verdict: dig }, { verdict: no_op }]',
      'verdicts: [',
      'objects[2].spec.verdicts[1].verdict must not be no_op: it is reserved for nothing to report',
    ],
    [
      'a name no part can have',
      "'{{ slug(system) }}-second'",
      "'{{ slug(system) }} second'",
      '}} second',
      /^objects\[3\].name must be 1 to 64 letters.*; it is shop second$/,
    ],
    [
      'a source it does not make',
      `['{{ name("events") }}']`,
      '[evnts]',
      'evnts',
      'objects[1].spec.sources names evnts, which this template does not plan',
    ],
    [
      'an MCP server it does not make',
      SECOND,
      '    spec: { prompt: Dig., mcp_servers: [tools] }',
      'tools',
      'objects[3].spec.mcp_servers names tools, which this template does not plan',
    ],
    [
      'a trigger that is none',
      'trigger: many,',
      'trigger: events,',
      'trigger: events',
      'wakes[0].trigger is events, but no trigger has that key',
    ],
    [
      'a handoff to nobody',
      'to: second',
      'to: third',
      'to: third',
      'handoffs[0].to is third, but no agent has that key',
    ],
    [
      'a handoff to itself',
      'to: second',
      'to: first',
      'to: first',
      'handoffs[0].to must be another agent than shop-first',
    ],
    [
      'a handoff on a verdict nobody gives',
      'verdict: dig, to',
      'verdict: rest, to',
      'verdict: rest',
      'handoffs[0].verdict rest is not a verdict of shop-first; it has dig',
    ],
    [
      'one object for each of what is no list',
      SECOND,
      `    for_each: system\n${SECOND}`,
      'for_each',
      'objects[3].for_each must name a list',
    ],
    [
      'an object under no condition there is',
      SECOND,
      `    when: mode=x\n${SECOND}`,
      'when',
      'objects[3].when is mode, but there is no mode; there are system, threshold, token, region',
    ],
    [
      'a connector by expression',
      'connector: webhook',
      "connector: '{{ system }}'",
      'connector',
      /^objects\[0\].spec.connector must be plain text/,
    ],
    [
      'an action that does two things',
      "entity: '{{ system }}' }",
      "entity: '{{ system }}' }\n    request: { method: GET, url: 'https://example.test' }",
      'name: look',
      'actions[1] must have either a request or a run',
    ],
  ]
  it.each(cases)('may not be %s', breaks)

  it('may not be two objects of one key, of whatever kind', () => {
    const text = changed('key: second', 'key: events').replace(/handoffs:\n.*\n/, '')
    expectFault(text, 'objects:', 'objects: params gives two objects the key events')
  })

  it('is checked for every choice, not only for the default', () => {
    const text = changed(
      SECOND,
      `    when: region=us\n    spec: { prompt: Dig., max_rounds: '{{ region }}' }`,
    )
    expectFault(text, 'max_rounds', 'objects[3].spec.max_rounds must be a whole number or null')
  })
})
