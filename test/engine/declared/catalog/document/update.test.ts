import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sameEntry } from '../../../../../engine/declared/catalog/import-run.ts'
import { readCatalog, renderCatalog, updateCatalog } from '../../../../../engine/gitops/update.ts'
import type { Catalog } from '../../../../../schemas/types.ts'
import { longOr } from '../../../../chaos/scale.ts'
import { catalogs } from './arbitrary.ts'
import { inNameOrder } from './compare.ts'
import { styles } from './styles.ts'

// Entries are changed as the JSON they are.
// biome-ignore lint/suspicious/noExplicitAny: tests reach into entries of every kind
type Loose = Record<string, any[]>

/** The text after its catalog was changed; reads back as what it was to say. */
function changed(text: string, change: (catalog: Loose) => void): string {
  const { catalog, problems } = readCatalog(text)
  expect(problems).toEqual([])
  const wanted = structuredClone(catalog) as unknown as Loose
  change(wanted)
  const updated = updateCatalog(text, wanted as unknown as Catalog)
  expect(readCatalog(updated).problems).toEqual([])
  expect(inNameOrder(readCatalog(updated).catalog!)).toEqual(inNameOrder(wanted as unknown as Catalog))
  return updated
}

/** The lines that differ, as a diff of texts with equally many lines. */
function diff(before: string, after: string): string[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  expect(b).toHaveLength(a.length)
  return a.flatMap((line, i) => (line === b[i] ? [] : [`-${line}`, `+${b[i]}`]))
}

/** 300 lines with comments, odd spacing and many styles. */
const LONG = `# The catalog of the shop.   Reviewed by the platform team.

sources:   # where events come from
${Array.from(
  { length: 25 },
  (_, i) => `  # gateway ${i}
  -   name: gateway-${i}
      connector:   webhook
      config:
        event_type: 'request'   # fixed
        labels:
          # the entity
          - {name: service, field: service,   primary: true}
          - name: status
            field: "status"   # HTTP

`,
).join('')}
triggers:
${Array.from(
  { length: 12 },
  (_, i) => `- name: errors-${i}
  sources: [ gateway-${i} ,  gateway-24 ]   # both
  condition: {aggregate: count,predicate: "> 5", window: 5m}
  cooldown: 10m # long enough
`,
).join('')}
# ---- skills ----
skills:
  - name: roll-back
    description: >-
      How to roll back
      a deploy.
    body: |
        # Roll back

        1. Look   twice.
        2. Act.
# the end`

describe('a field that changes in a long file', () => {
  it.each<[string, (catalog: Loose) => void, string[]]>([
    [
      'plain',
      (c) => (c.triggers![7].cooldown = '1h'),
      ['-  cooldown: 10m # long enough', '+  cooldown: 1h # long enough'],
    ],
    [
      'in single quotes',
      (c) => (c.sources![3].config.event_type = "it's"),
      ["-        event_type: 'request'   # fixed", "+        event_type: 'it''s'   # fixed"],
    ],
    [
      'in double quotes',
      (c) => (c.sources![3].config.labels[1].field = 'code'),
      ['-            field: "status"   # HTTP', '+            field: "code"   # HTTP'],
    ],
    [
      'in a map on one line',
      (c) => (c.sources![24].config.labels[0].primary = false),
      [
        '-          - {name: service, field: service,   primary: true}',
        '+          - {name: service, field: service,   primary: false}',
      ],
    ],
    [
      'in a list on one line',
      (c) => (c.triggers![11].sources[1] = 'gateway-9'),
      [
        '-  sources: [ gateway-11 ,  gateway-24 ]   # both',
        '+  sources: [ gateway-11 ,  gateway-9 ]   # both',
      ],
    ],
    [
      'a line of a text',
      (c) => (c.skills![0].body = '# Roll back\n\n1. Look   twice.\n2. Wait.\n'),
      ['-        2. Act.', '+        2. Wait.'],
    ],
  ])('changes its own characters alone when it is %s', (_style, change, lines) => {
    expect(LONG.split('\n').length).toBeGreaterThan(290)
    expect(diff(LONG, changed(LONG, change))).toEqual(lines)
    const crlf = LONG.replaceAll('\n', '\r\n')
    expect(changed(crlf, change)).toBe(changed(LONG, change).replaceAll('\n', '\r\n'))
  })
})

describe('a file that says the catalog already', () => {
  it.each([
    ['is long and commented', LONG],
    ['has the line breaks of Windows', LONG.replaceAll('\n', '\r\n')],
    ['mixes line breaks', 'sources:\r\n  - name: a\n    connector: memory\r\n'],
    ['is empty', ''],
    ['is a comment', '# nothing yet\n'],
    ['has sections without entries', 'sources:\n  # - name: a\ntriggers: []\n'],
    ['is JSON', '{"sources":[{"name":"a","connector":"memory"}]}'],
    ['has document marks and unindented lists', "--- # x\nsources:\n- name: 'a'\n  connector: memory\n...\n"],
    ['uses the old words', 'usecases:\n  - recipe: custom\n    name: x\n'],
    [
      'writes numbers its own way',
      'projects:\n  - {template: t, name: p, params: {a: 1.0, b: 0x1F, c: +1e3, d: !!str 5}}\n',
    ],
    ['has explicit keys', 'sources:\n  - ? name\n    : a\n    ? connector\n    : memory\n'],
    [
      'has anchors and aliases',
      'triggers:\n  - {name: t, sources: &s [a], condition: &c {every: 5m}}\n  - {name: u, sources: *s, condition: *c}\n',
    ],
  ])('is left as it is when it %s', (_what, text) => {
    expect(updateCatalog(text, readCatalog(text).catalog!)).toBe(text)
  })

  it('is left as it is in any style', () => {
    fc.assert(
      fc.property(catalogs, styles, (catalog, style) => {
        const text = style(catalog)
        const read = readCatalog(text)
        fc.pre(read.catalog !== null)
        expect(updateCatalog(text, read.catalog!)).toBe(text)
      }),
      { numRuns: longOr(300, 60) },
    )
  })
})

describe('a file brought to say another catalog', () => {
  const FILE = `# Ours.

sources:
  # the first
  - name: a
    connector: memory
    # poll: 5s

  # the second,
  # in two lines
  - name: b
    connector: memory

# What wakes whom.
triggers:
  - name: t
    cooldown: 5m
    condition: {every: 5m}
    # not b
    sources: [a]
`

  it('has new entries at the end of their section, set apart as the others are', () => {
    expect(
      changed(FILE, (c) =>
        c.sources!.push({ name: 'c', connector: 'memory', config: { labels: [{ name: 'x', const: '1' }] } }),
      ),
    ).toBe(
      FILE.replace(
        '\n\n# What',
        '\n\n  - name: c\n    connector: memory\n    config:\n      labels:\n        - { name: x, const: "1" }\n\n# What',
      ),
    )
  })

  it('has an entry taken away with the comment directly above it', () => {
    expect(changed(FILE, (c) => c.sources!.splice(0, 1))).toBe(
      FILE.replace('  # the first\n  - name: a\n    connector: memory\n    # poll: 5s\n\n', ''),
    )
    expect(changed(FILE, (c) => c.sources!.splice(1, 1))).toBe(
      FILE.replace('  # the second,\n  # in two lines\n  - name: b\n    connector: memory\n\n', ''),
    )
  })

  it('has new fields where the order of fields puts them', () => {
    const change = (c: Loose) => Object.assign(c.triggers![0], { description: 'x', project: 'P' })
    expect(changed(FILE, change)).toBe(
      FILE.replace('- name: t\n', '- name: t\n    project: P\n').replace(
        '[a]\n',
        '[a]\n    description: x\n',
      ),
    )
  })

  it('has a field taken away with its line and its comment', () => {
    const text = FILE.replace('    sources: [a]', '    key_field: k # why\n    sources: [a]')
    expect(changed(text, (c) => delete c.triggers![0].key_field)).toBe(FILE.replace('    # not b\n', ''))
    expect(changed(FILE, (c) => delete c.triggers![0].cooldown)).toBe(FILE.replace('    cooldown: 5m\n', ''))
  })

  it('has new sections in the order of sections', () => {
    const wiring = [{ project: 'P', wake: 't', agent: 'x' }]
    expect(
      changed(FILE, (c) => Object.assign(c, { wiring, agents: [{ name: 'x', prompt: 'Look.' }] })),
    ).toBe(`${FILE}
agents:
  - name: x
    prompt: Look.

wiring:
  - { project: P, wake: t, agent: x }
`)
    expect(changed('triggers: []\n', (c) => Object.assign(c, { sources: [] }))).toBe(
      'sources: []\n\ntriggers: []\n',
    )
    expect(changed('# mine', (c) => Object.assign(c, { sources: [] }))).toBe('# mine\nsources: []\n')
  })

  it('has a section taken away that the catalog lacks', () => {
    expect(changed(FILE, (c) => delete c.triggers)).toBe(FILE.slice(0, FILE.indexOf('\n# What')))
    expect(changed(FILE, (c) => delete c.sources)).toContain('# Ours.\n')
  })

  it('changes lists item by item', () => {
    const text = `sources:
  - name: a
    connector: webhook
    config:
      labels:
        # who
        - name: service
          field: svc   # dotted
        # where
        - {name: env, const: prod}
        # how
        - {name: status, field: status}
`
    const updated = changed(text, (c) => {
      const { labels } = c.sources![0].config
      c.sources![0].config.labels = [{ ...labels[0], primary: true }, labels[2], { name: 'z', const: 'end' }]
    })
    expect(updated).toBe(
      text
        .replace('svc   # dotted\n', 'svc   # dotted\n          primary: true\n')
        .replace('        # where\n        - {name: env, const: prod}\n', '')
        .concat('        - name: z\n          const: end\n'),
    )
  })

  it('edits collections on one line in place', () => {
    const text = 'triggers: [ {name: t,  sources: [a ,b, c], condition: { every: 5m } } ]  # one line\n'
    expect(changed(text, (c) => (c.triggers![0].sources = ['b', 'd']))).toBe(
      text.replace('[a ,b, c]', '[b, d]'),
    )
    expect(changed(text, (c) => (c.triggers![0].cooldown = '1m'))).toBe(
      text.replace('every: 5m }', 'every: 5m }, cooldown: 1m'),
    )
    expect(
      changed(text, (c) => c.triggers!.push({ name: 'u', sources: ['a'], condition: { every: '1m' } })),
    ).toBe(
      text
        .replace(' ]  #', ', { name: u, sources: [a], condition: { every: 1m } } ]  #')
        .replace(' } , {', ' } }, {'),
    )
  })

  it('keeps JSON a JSON file', () => {
    const text = '{\n  "sources": [\n    {"name": "a", "connector": "memory"}\n  ]\n}\n'
    const updated = changed(text, (c) => {
      c.sources![0].poll = '5s'
      c.sources!.push({ name: 'b', connector: 'webhook', config: { event_type: 'x\u007f' } })
    })
    expect(updated).toContain('{"name": "a", "connector": "memory", "poll": "5s"}')
    expect(JSON.parse(updated).sources).toHaveLength(2)
  })

  it('takes another kind of value where there was one', () => {
    const text =
      'triggers:\n  - name: t # x\n    sources: [a]\n    condition: # when\n      every: 5m\n      summary: rich   # all\n    cooldown: 5m\n'
    const summary = { by_entity: true, numbers: ['ms'] }
    expect(changed(text, (c) => (c.triggers![0].condition.summary = summary))).toBe(
      text.replace(
        'summary: rich   # all\n',
        'summary:   # all\n        by_entity: true\n        numbers: [ms]\n',
      ),
    )
    expect(
      changed(
        text,
        (c) => (c.triggers![0].condition = { aggregate: 'count', predicate: '> 1', window: '5m' }),
      ),
    ).toBe(
      text.replace(
        / {6}every[\s\S]* # all\n/,
        '      aggregate: count\n      predicate: "> 1"\n      window: 5m\n',
      ),
    )
  })

  it('writes an alias out where it is to differ, and only there', () => {
    const text = `triggers:
  - {name: t, sources: &s [a, b], condition: &c {every: 5m}}
  - {name: u, sources: *s, condition: *c}
  - {name: v, sources: *s, condition: *c}
`
    expect(changed(text, (c) => (c.triggers![1].sources = ['a']))).toBe(
      text.replace('u, sources: *s', 'u, sources: [a]'),
    )
    expect(changed(text, (c) => (c.triggers![0].sources = ['a']))).toBe(
      text.replace('[a, b]', '[a]').replaceAll('sources: *s', 'sources: [a, b]'),
    )
    expect(
      changed(text, (c) => {
        for (const trigger of c.triggers!) trigger.condition.every = '9m'
      }),
    ).toBe(text.replace('every: 5m', 'every: 9m'))
    expect(changed(text, (c) => c.triggers!.shift())).toBe(
      'triggers:\n  - {name: u, sources: [a, b], condition: { every: 5m }}\n  - {name: v, sources: [a, b], condition: { every: 5m }}\n',
    )
  })

  it('keeps the blank lines that are part of a text', () => {
    const text =
      'skills:\n  - name: a\n    description: d\n    body: |+\n      one\n\n\n  - name: b\n    description: d\n    body: x\n'
    const head = text.slice(0, text.indexOf('  - name: b'))
    expect(changed(text, (c) => c.skills!.pop())).toBe(head)
    expect(changed(head, (c) => c.skills!.push({ name: 'c', description: 'd', body: 'x' }))).toBe(
      `${head}  - name: c\n    description: d\n    body: x\n`,
    )
  })

  it('keeps the old words of a file that has them', () => {
    const text = 'usecases:\n  - recipe: custom\n    name: x # mine\n'
    expect(changed(text, (c) => (c.projects![0].goal = 'g'))).toBe(`${text}    goal: g\n`)
    expect(changed(text, (c) => c.projects!.push({ template: 'custom', name: 'z' }))).toContain(
      '- name: z\n    recipe: custom\n',
    )
  })

  it('tells wires apart by their ends', () => {
    const text =
      'wiring:\n  - {project: P, wake: t, agent: a, enabled: true}\n  # on trouble\n  - {project: P, agent: a, verdict: bad, to: b}\n'
    expect(changed(text, (c) => (c.wiring![0].enabled = false))).toBe(text.replace('true', 'false'))
    expect(changed(text, (c) => (c.wiring![1].cooldown = '5m'))).toBe(
      text.replace('to: b', 'to: b, cooldown: 5m'),
    )
    expect(changed(text, (c) => (c.wiring![1].to = 'c'))).toBe(
      text.replace(/ {2}# on trouble[\s\S]*/, '  - { project: P, agent: a, verdict: bad, to: c }\n'),
    )
  })

  it('leaves alone what means the same, also in an entry that changes', () => {
    const text = `sources:
  - name: a
    connector: memory
    ingest_key: ignored
triggers:
  - name: t
    sources: [a]
    cooldown: 5m   # the default
    condition: {every: 5m}
    description: old
skills:
`
    const catalog = structuredClone(readCatalog(text).catalog!)
    delete catalog.triggers![0]!.cooldown
    catalog.triggers![0]!.description = 'new'
    delete catalog.sources![0]!.ingest_key
    expect(updateCatalog(text, { ...catalog, skills: [], agents: [] }, sameEntry)).toBe(
      text.replace(': old', ': new'),
    )
    expect(updateCatalog(text, catalog)).not.toContain('the default')
  })

  it('is written anew when it is no YAML', () => {
    const catalog: Catalog = { sources: [{ name: 'a', connector: 'memory' }] }
    expect(updateCatalog('sources: [', catalog)).toBe(renderCatalog(catalog))
  })

  it('says that catalog, whatever the two are, in any style', () => {
    fc.assert(
      fc.property(catalogs, catalogs, styles, (before, after, style) => {
        const updated = readCatalog(updateCatalog(style(before), after))
        expect(updated.problems).toEqual([])
        expect(inNameOrder(updated.catalog!)).toEqual(inNameOrder(after))
      }),
      { numRuns: longOr(500, 100) },
    )
  })
})
