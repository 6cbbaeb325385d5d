import { describe, expect, it } from 'vitest'
import { BODY_MAX_BYTES } from '../../../../../engine/gitops/tree.ts'
import { readCatalog } from '../../../../../engine/gitops/update.ts'
import { catalog as operations } from '../../../../../engine/operations/catalog.ts'
import { faults } from '../../../../../schemas/index.ts'

/** Problems of a text as "line:column-line:column path: message". */
const told = (text: string): string[] =>
  readCatalog(text).problems.map(
    (p) => `${p.line}:${p.column}-${p.end_line}:${p.end_column} ${p.path}: ${p.message}`,
  )

describe('a catalog file that is read', () => {
  it.each([
    ['no text at all', ''],
    ['comments alone', '# nothing yet\n'],
    ['a byte order mark', '\ufeffsources: []\n'],
    ['sections with all entries commented out', 'sources:\n  # - name: a\ntriggers:\n'],
    ['JSON', '{"sources": [{"name": "a", "connector": "memory"}]}'],
  ])('accepts %s', (_what, text) => {
    expect(told(text)).toEqual([])
    expect(readCatalog(text).catalog).not.toBeNull()
  })

  it.each([
    ['YAML that is not closed', 'sources: [', /^1:11-1:12 : not valid YAML: flow sequence/],
    [
      'a field given twice',
      'sources: []\nsources: []\n',
      /^2:1-2:8 sources: sources is already given at line 1$/,
    ],
    ['an unknown section', 'sorces: []\n', /^1:1-1:7 sorces: .*did you mean sources\?\)$/],
    [
      'an unknown field',
      'sources:\n  - name: a\n    connector: memory\n    pol: 5s\n',
      /^4:5-4:8 sources\[0\]\.pol: .*did you mean poll\?\)$/,
    ],
    [
      'a number for a name',
      'sources:\n  - name: 7\n    connector: memory\n',
      /^2:11-2:12 sources\[0\]\.name: .*put it in quotes$/,
    ],
    [
      'a missing field, at its entry',
      'sources:\n\n  - name: a\n',
      /^3:5-3:12 sources\[0\]: connector is required$/,
    ],
    ['a section that is no list', 'agents: {a: 1}\n', /^1:9-1:15 agents: must be a list of entries$/],
    [
      'an entry that is no map',
      'agents:\n  - first-look\n',
      /^2:5-2:15 agents\[0\]: must be a map of fields$/,
    ],
    ['what moved that is no map', 'moved:\n  - x\n', /moved\[0\]: must be a map of fields$/],
    [
      'an entry that is no text, within a list of an entry',
      'triggers:\n  - {name: t, sources: [5], condition: {event: any}}\n',
      /^2:25-2:26 triggers\[0\]\.sources\[0\]: sources\[0\] must be text; put it in quotes$/,
    ],
    [
      'a number where quotes would not be enough, by the rule that it breaks',
      'triggers:\n  - {name: t, sources: [a], condition: {absent_for: 5}}\n',
      /absent_for: absent_for must be a number and one of s, m, h, d, such as 15m$/,
    ],
    [
      'a merge that git left to people, and nothing of what it is in YAML',
      'sources:\n  - name: a\n<<<<<<< HEAD\n    connector: memory\n=======\n    connector: webhook\n>>>>>>> x\n',
      /^3:1-3:8 : git left a merge conflict here: keep what is right of both sides/,
    ],
    [
      'A13: views, which 1.38.0 removed',
      'views:\n  - name: v\n    source: a\n',
      /^1:1-1:6 views: views were removed in 1\.38\.0: a trigger reads sources itself\. Give its sources and, as filters, what the view selected, and take this out$/,
    ],
    [
      'A13: a trigger over a view',
      'triggers:\n  - {name: t, view: v, sources: [a], condition: {event: any}}\n',
      /^2:15-2:19 triggers\[0\]\.view: views were removed in 1\.38\.0: /,
    ],
    ['a file that is a list', '- a\n', /^1:1-1:4 : the file must be a map of sections/],
    ['two documents', 'sources: []\n---\nagents: []\n', /^3:1-3:2 : the file holds several documents/],
    ['a directive', '%YAML 1.1\n---\nsources: []\n', /^1:1-1:2 : directives/],
    ['a tag', 'sources: !!js/function []\n', /^1:10-1:24 sources: tags are not accepted$/],
    ['a tag of YAML that is no JSON', 'sources: !!set {}\n', /tags are not accepted|not valid YAML/],
    [
      'a merge key',
      'sources:\n  - {<<: {name: a}, name: b, connector: memory}\n',
      /^2:6-2:8 sources\[0\]\["<<"\]: merge keys are not accepted/,
    ],
    [
      'a key that is no text',
      'sources:\n  - name: a\n    connector: webhook\n    config: {labels: [{name: s, field: s, map: {200: ok}}]}\n',
      /^4:49-4:52 .*map\[?"?\.?200"?\]?: a key must be text; put it in quotes$/,
    ],
    [
      'a key that would change every object',
      'sources: []\n__proto__: []\n',
      /^2:1-2:10 __proto__: is not accepted as a key$/,
    ],
    [
      'an alias without an anchor',
      'sources: *gone\n',
      /^1:10-1:15 sources: no value above has the anchor &gone$/,
    ],
    [
      'a value that holds itself',
      'sources: &a [*a]\n',
      /^1:14-1:16 sources\[0\]: the value of &a cannot hold itself$/,
    ],
    [
      'a number that loses digits',
      'projects:\n  - {template: t, name: p, params: {id: 12345678901234567890}}\n',
      /^2:41-2:61 projects\[0\]\.params\.id: has more digits/,
    ],
    [
      'a number that is none',
      'projects:\n  - {template: t, name: p, params: {x: .nan}}\n',
      /params\.x: must be a finite number$/,
    ],
    ['a control character', 'sources: "\u0001"\n', /^1:11-1:12 : the control character U\+0001/],
    [
      'a name that is taken',
      'sources:\n  - {name: a, connector: memory}\n  - {name: a, connector: memory}\n',
      /^3:12-3:13 sources\[1\]\.name: a is already defined at line 2$/,
    ],
    [
      'a skill that is there twice',
      'skills:\n  - {name: a, description: d, body: b}\n  - {project: P, name: a, description: d, body: b}\n',
      /^3:24-3:25 skills\[1\]\.name: a is already defined at line 2$/,
    ],
    [
      'a wire that is there twice',
      'wiring:\n  - {project: P, wake: t, agent: a}\n  - {project: P, wake: t, agent: a, enabled: false}\n',
      /^3:5-3:52 wiring\[1\]: this wire is already defined at line 2$/,
    ],
    ['both words for projects', 'projects: []\nusecases: []\n', /^2:1-2:9 usecases: .*give one of the two$/],
    [
      'recipe under projects',
      'projects:\n  - recipe: custom\n    name: x\n',
      /^2:5-2:11 projects\[0\]\.recipe: recipe is the old word/,
    ],
    [
      'a project without a name',
      'projects:\n  - template: custom\n',
      /^2:5-2:21 projects\[0\]: name is required$/,
    ],
  ])('tells the place of %s', (_what, text, told_) => {
    expect(told(text)[0]).toMatch(told_)
    expect(readCatalog(text).catalog).toBeNull()
  })

  it('tells every problem, in the order of the file', () => {
    const text = `sources:
  - name: a
    colour: red
  - connector: memory
triggers:
  - name: t
    sources: [a]
    condition: {evry: 10m}
    filters: [{field: a, op: is, value: 1}]
  - name: t
    sources: [a, a]
    condition: {aggregate: count, window: soon}
wiring:
  - {project: P, wake: t}
`
    expect(readCatalog(text).problems.map(({ line, path }) => `${line} ${path}`)).toEqual([
      '2 sources[0]',
      '3 sources[0].colour',
      '4 sources[1]',
      '8 triggers[0].condition',
      '9 triggers[0].filters[0].op',
      '10 triggers[1].name',
      '11 triggers[1].sources',
      '12 triggers[1].condition',
      '12 triggers[1].condition.window',
      '14 wiring[0]',
    ])
  })

  it('says of a condition of no kind which kinds there are, and which may be meant', () => {
    const text = 'triggers:\n  - name: t\n    sources: [a]\n    condition: {evry: 10m}\n'
    expect(readCatalog(text).problems[0]?.message).toBe(
      'condition must have one of aggregate, event, absent_for, change_of, sequence, every, cron (did you mean every?)',
    )
  })

  it('says of two kinds in one that they exclude each other, and of none that one is to be given', () => {
    const of = (id: string, value: unknown) => faults(id, value).map(({ path, message }) => [path, message])
    expect(of('label.json', { name: 'a', field: 'x', const: 'y' })).toEqual([
      [[], 'body: const and field exclude each other; give one of the two'],
    ])
    expect(of('label.json', { name: 'a' })).toEqual([[[], 'body: give exactly one of const or field']])
    expect(of('label.json', { name: 'a', feild: 'x' })).toEqual([
      [[], 'field is required'],
      [['feild'], 'feild is not a known field (did you mean field?)'],
    ])
    expect(told('triggers:\n  - { name: t, sources: [a], condition: { event: any, every: 5m } }\n')).toEqual([
      '2:41-2:66 triggers[0].condition: condition: event and every exclude each other; give one of the two',
    ])
  })

  it('never repeats a value in a problem', () => {
    const text =
      'agents:\n  - name: a\n    prompt: p\n    slack_webhook: [hunter2]\n    webhook_url: hunter2\n  - "hunter2'
    expect(JSON.stringify(readCatalog(text).problems)).not.toContain('hunter2')
    expect(JSON.stringify(readCatalog(text.replace('  - "hunter2', '')).problems)).not.toContain('hunter2')
  })

  it('reads the old words as the new ones', () => {
    const { catalog } = readCatalog(
      'usecases:\n  - recipe: custom\n    name: x\n  - template: default\n    goal: g\n',
    )
    expect(catalog).toEqual({
      projects: [
        { template: 'custom', name: 'x' },
        { template: 'default', goal: 'g' },
      ],
    })
  })

  it('reads an alias as the value of its anchor', () => {
    const text =
      'triggers:\n  - {name: t, sources: &s [a, b], condition: {every: 5m}}\n  - {name: u, sources: *s, condition: {every: 5m}}\n'
    expect(readCatalog(text).catalog?.triggers?.[1]?.sources).toEqual(['a', 'b'])
  })

  it('refuses a swarm of aliases without writing them out', () => {
    const lines = ['a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]']
    for (let i = 1; i < 20; i++) {
      const [to, from] = [String.fromCharCode(97 + i), String.fromCharCode(96 + i)]
      lines.push(`${to}: &${to} [${Array.from({ length: 10 }, () => `*${from}`).join(', ')}]`)
    }
    expect(told(lines.join('\n'))).toEqual([
      expect.stringMatching(/^7:\d+-7:\d+ g: with its aliases written out, this is more than 8 MiB$/),
    ])
  })

  it.each([
    [
      'is larger than 8 MiB',
      '#'.repeat(8 * 1024 * 1024 + 1),
      'has 8 MiB (8,388,609 bytes); a catalog file has at most 8 MiB (8,388,608',
    ],
    ['is nested deeper than 100', `a: ${'['.repeat(200_000)}`, 'nested more than 100 deep'],
    ['is nested deeper than 100 in blocks', '- '.repeat(200_000), 'nested more than 100 deep'],
    ['holds more values than memory is good for', '- a\n'.repeat(120_000), 'too many values'],
    [
      'holds more lists than are good for the time it takes',
      `a: [${'[],'.repeat(200_000)}]`,
      'too many values',
    ],
  ])('refuses a file that %s', (_what, text, message) => {
    expect(told(text)).toEqual([expect.stringContaining(message)])
  })

  it('stops where more is broken than is told: a megabyte of closing brackets', () => {
    expect(told(']'.repeat(1_048_576)).length).toBeLessThanOrEqual(101)
  })

  it('looks at forty thousand keys without comparing each with each', () => {
    const text = `sources:\n  - name: a\n    connector: webhook\n    config:\n${Array.from({ length: 40_000 }, (_, i) => `      k${i}: v\n`).join('')}`
    const { catalog } = readCatalog(text)
    expect(Object.keys(catalog!.sources![0]!.config!)).toHaveLength(40_000)
  })

  it('finds the place of a path, and of what is nearest to one that is absent', () => {
    const { locate } = readCatalog(
      'sources:\n  - name: a\n    connector: memory\nusecases:\n  - {recipe: custom, name: x}\n',
    )
    expect(locate(['sources', 0, 'name'])).toEqual({ line: 2, column: 11, end_line: 2, end_column: 12 })
    expect(locate(['sources', 0, 'config', 'labels', 3])).toEqual({
      line: 2,
      column: 5,
      end_line: 2,
      end_column: 12,
    })
    expect(locate(['sources', 9])).toEqual({ line: 2, column: 3, end_line: 2, end_column: 12 })
    expect(locate(['projects', 0, 'template'])).toMatchObject({ line: 5, column: 14 })
    expect(locate(['nowhere'])).toMatchObject({ line: 1, column: 1 })
  })
})

it('the daemon takes as large a body as the command sends', () => {
  const limits = new Set(operations.flatMap(({ bodyLimit }) => bodyLimit ?? []))
  expect([...limits]).toEqual([BODY_MAX_BYTES])
})
