import { describe, expect, it } from 'vitest'
import { type Composed, type ComposeInput, compose } from '../../../engine/gitops/compose.ts'
import { plain } from '../../../engine/gitops/nodes.ts'

const texts = (files: Record<string, string>) => Object.entries(files).map(([path, text]) => ({ path, text }))
const put = (files: Record<string, string>, more: Partial<ComposeInput> = {}): Composed =>
  compose({ roots: [{ name: 'shop', files: texts(files) }], ...more })
const told = ({ problems }: Composed) =>
  problems.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`)
const warned = ({ warnings }: Composed) =>
  warnings.map(({ file, line, message }) => `${file}:${line}: ${message}`)

const gateway = 'sources:\n  - name: gateway\n    connector: webhook\n'
const slow = `kind: trigger
name: slow
sources: [gateway]
filters:
  - { field: ms, op: gt, value: ((values.limit)) }
condition: { aggregate: count, predicate: "> ((values.count))", window: 5m }
`
const values = 'values:\n  limit: 500\n  count: { type: integer, default: 5, min: 1, max: 50 }\n'

describe('many catalog files', () => {
  it('are one catalog: sections of files, and files of one part', () => {
    const { catalog, owned } = put({ 'a/sources.yaml': gateway, 'a/slow.yaml': slow, 'values.yml': values })
    expect(catalog).toEqual({
      sources: [{ name: 'gateway', connector: 'webhook' }],
      triggers: [
        {
          name: 'slow',
          sources: ['gateway'],
          filters: [{ field: 'ms', op: 'gt', value: 500 }],
          condition: { aggregate: 'count', predicate: '> 5', window: '5m' },
        },
      ],
    })
    expect(owned).toEqual([{ name: 'shop', isNamed: false, text: JSON.stringify(catalog) }])
  })

  it('of one part say its kind: one that does not is told so, and nothing else', () => {
    expect(told(put({ 'slow.yaml': slow.replace('kind: trigger\n', '') }))).toEqual([
      'slow.yaml:1:1: kind is missing: a file of one part says which it is, one of source, trigger, agent, mcp_server, project, skill, entity',
    ])
  })

  it('know the place of each value', () => {
    const { locate } = put({ 'a/sources.yaml': gateway, 'a/slow.yaml': slow, 'values.yml': values })
    expect(locate(['triggers', 0, 'filters', 0, 'value'])).toMatchObject({
      file: 'a/slow.yaml',
      line: 5,
      column: 33,
    })
    expect(locate(['sources', 0, 'config', 'nowhere'])).toMatchObject({ file: 'a/sources.yaml', line: 2 })
  })

  it('tell a rule that is broken with file, line and column', () => {
    expect(
      told(
        put({ 'a.yaml': gateway, 'b.yaml': 'triggers:\n  - name: t\n    sources: gateway\n    windw: 1\n' }),
      ),
    ).toEqual([
      'b.yaml:2:5: condition is required',
      'b.yaml:3:14: sources must be a list',
      expect.stringMatching(/^b\.yaml:4:5: windw is not a known field \(fields: name, sources, condition, /),
    ])
    expect(
      told(put({ 'a.yaml': 'sourcs: []\n', 'b.yaml': 'kind: view\nname: x\n', 'c.yaml': '- a' })),
    ).toEqual([
      'a.yaml:1:1: sourcs is not a known field (did you mean sources?)',
      'b.yaml:1:7: kind must be one of source, trigger, agent, mcp_server, project, skill, entity',
      expect.stringContaining('c.yaml:1:1: the file must be a map of sections'),
    ])
  })

  it('refuse a part that two define, with both places', () => {
    expect(told(put({ 'a.yaml': gateway, 'b.yaml': gateway }))).toEqual([
      'b.yaml:2:11: gateway is already defined at a.yaml:2:11',
    ])
    expect(told(put({ 'a.yaml': `catalog: one\n${gateway}`, 'b.yaml': `catalog: two\n${gateway}` }))).toEqual(
      ['b.yaml:3:11: gateway is already defined at a.yaml:3:11: of the catalogs one and two one can own it'],
    )
  })

  it('take merge keys, of which the own field wins', () => {
    const { catalog, problems } = put({
      'a.yaml': `sources:
  - &base { name: a, connector: webhook, config: { event_type: x } }
  - { <<: *base, name: b }
`,
    })
    expect(problems).toEqual([])
    expect(catalog!.sources![1]).toEqual({ name: 'b', connector: 'webhook', config: { event_type: 'x' } })
    expect(told(put({ 'a.yaml': 'sources:\n  - { <<: 5, name: a }\n' }))[0]).toContain(
      'a.yaml:2:7: a merge key takes a map',
    )
  })

  // As they are called from the folder above, from the folder itself, from one beside it, and by whole paths.
  it.each(['shop/', '', '../shop/', '/repo/shop/'])(
    'are of the catalog that includes them, from beside its folder, too: by %j',
    (at) => {
      const beside = `${at}../shared/sources.yaml`.replace(/[^/.]+\/\.\.\//, '')
      const { parts } = compose({
        roots: [
          { name: 'catalog', files: texts({ [`${at}catalog.yaml`]: `catalog: ops\ninclude: ${beside}\n` }) },
        ],
        read: () => [{ path: beside, text: gateway }],
      })
      expect(parts).toMatchObject([{ identity: 'gateway', owner: 'ops', files: [beside] }])
    },
  )

  it('are not of a catalog of the folder that the command runs in where they lie beside it', () => {
    const files = { 'catalog.yaml': 'catalog: ops\n', '../other/sources.yaml': gateway }
    expect(put(files).parts).toMatchObject([{ identity: 'gateway', owner: 'shop' }])
  })

  it('are read once, whether given or included, also in a circle', () => {
    const files = {
      'main.yaml': 'include: [parts/a.yaml]\n',
      'parts/a.yaml': `include: ../main.yaml\n${gateway}`,
    }
    const read = (from: string, path: string) => {
      const name = path.replace('../', '')
      if (!(name in files)) throw new Error(`cannot read ${path}, which ${from} includes`)
      return texts({ [name]: files[name as keyof typeof files] })
    }
    const of = (start: string) => put({ 'main.yaml': start }, { read })
    expect(of(files['main.yaml']).catalog).toEqual({ sources: [{ name: 'gateway', connector: 'webhook' }] })
    expect(told(of('include: gone.yaml\n'))).toEqual([
      'main.yaml:1:10: cannot read gone.yaml, which main.yaml includes',
    ])
  })

  it('are of the catalog that their folder names, or their own', () => {
    const { owned } = put({
      'catalog.yaml': 'catalog: shop\n',
      'a.yaml': gateway,
      'ops/catalog.yaml': 'catalog: ops\n',
      'ops/logs.yaml': 'kind: source\nname: logs\nconnector: webhook\n',
      'ops/own.yaml': 'catalog: own\nkind: source\nname: mine\nconnector: webhook\n',
    })
    expect(owned.map(({ name, isNamed, text }) => [name, isNamed, JSON.parse(text).sources[0].name])).toEqual(
      [
        ['shop', true, 'gateway'],
        ['ops', true, 'logs'],
        ['own', true, 'mine'],
      ],
    )
  })

  it('keep tests, lint and rules of a team beside what is declared', () => {
    const composed = put({
      'a.yaml': `${gateway}lint: { trigger-unused: off }\ntests:\n  - { name: t, expect: [{ trigger: x }] }\n`,
      'rules/team.yaml': 'rules: []\n',
    })
    expect(composed.catalog).toEqual({ sources: [{ name: 'gateway', connector: 'webhook' }] })
    expect(composed.tests.map(({ file, value }) => [file, plain(value)])).toEqual([
      ['a.yaml', [{ name: 't', expect: [{ trigger: 'x' }] }]],
    ])
    expect([composed.lint.length, composed.rules.length]).toEqual([1, 1])
  })
})

describe('an environment', () => {
  const base = { 'base.yaml': gateway, 'slow.yaml': slow, 'values.yaml': values }
  const prod = `environment: prod
values: { limit: 900 }
sources:
  - { name: gateway, config: { event_type: request } }
  - { name: extra, connector: webhook }
`

  it('holds where it is chosen alone: it patches by name, adds, and takes out', () => {
    const files = {
      ...base,
      'prod.yaml': prod,
      'dev.yaml': 'environment: dev\nkind: trigger\nname: slow\nremove: true\n',
    }
    expect(put(files).catalog!.sources).toHaveLength(1)
    const { catalog, environments } = put(files, { environment: 'prod' })
    expect(environments).toEqual(['dev', 'prod'])
    expect(catalog!.sources).toEqual([
      { name: 'gateway', connector: 'webhook', config: { event_type: 'request' } },
      { name: 'extra', connector: 'webhook' },
    ])
    expect(catalog!.triggers![0]!.filters![0]!.value).toBe(900)
    const dev = put(files, { environment: 'dev' })
    expect([told(dev), dev.catalog!.triggers]).toEqual([[], undefined])
  })

  it('takes a field out by null, and puts lists whole', () => {
    const { catalog } = put(
      {
        'a.yaml':
          'sources:\n  - { name: g, connector: webhook, paused: true, config: { a: [1, 2], b: 2 } }\n',
        'p.yaml': 'environment: p\nsources:\n  - { name: g, paused: null, config: { a: [3] } }\n',
      },
      { environment: 'p' },
    )
    expect(catalog!.sources).toEqual([{ name: 'g', connector: 'webhook', config: { a: [3], b: 2 } }])
  })

  it('may lie elsewhere, and is told when there is none', () => {
    const elsewhere = texts({ '/etc/env.yaml': 'environment: eu\nvalues: { limit: 7 }\n' })
    expect(put(base, { overlays: elsewhere }).catalog!.triggers![0]!.filters![0]!.value).toBe(7)
    expect(told(put({ ...base, 'prod.yaml': prod }, { environment: 'prd' }))[0]).toContain(
      'no file says environment: prd; there are prod',
    )
    const none = put(base, { environment: 'p', overlays: [] })
    expect(told(none)[0]).toContain('no file has one')
    // What was asked for is at fault, and no file.
    expect(none.problems[0]!.file).toBe('')
  })

  it('says where it lacks what only a whole part has that no file declares that part', () => {
    const more = { environment: 'prod' }
    const overlay = 'environment: prod\nagents:\n  - { name: gone, run_budget_usd: 2 }\n'
    expect(told(put({ 'a.yaml': gateway, 'prod.yaml': overlay }, more))).toEqual([
      'prod.yaml:3:5: prompt is required: no file of the catalog declares an agent gone that the environment could change, so this declares it whole',
    ])
    const own = 'agents: [{ name: gone }]\n'
    expect(told(put({ 'a.yaml': gateway + own, 'prod.yaml': overlay }, more))[0]).toMatch(
      /prompt is required$/,
    )
  })

  it('cannot remove what is not there', () => {
    const gone = { ...base, 'p.yaml': 'environment: p\nkind: source\nname: gone\nremove: true\n' }
    expect(told(put(gone, { environment: 'p' }))).toEqual([
      'p.yaml:3:7: gone is not in the catalog, and cannot be removed',
    ])
  })
})

describe('a value', () => {
  const use = (word: string, declared = values) =>
    put({
      'a.yaml': `${gateway.replace('webhook', 'webhook\n    config: { limit: CONFIG }').replace('CONFIG', word)}`,
      'v.yaml': declared,
    })
  const config = (composed: Composed) => (composed.catalog?.sources?.[0]?.config as { limit: unknown })?.limit

  it('keeps its type where it stands alone, and is text within a text', () => {
    expect(config(use('((values.limit))'))).toBe(500)
    expect(config(use('"(( values.limit ))"'))).toBe(500)
    expect(config(use('at ((values.limit)) ms'))).toBe('at 500 ms')
    expect(config(use('((values.list))', 'values: { list: [1, two] }'))).toEqual([1, 'two'])
    expect(config(use('((values.map))', 'values: { map: { type: map, default: { a: 1 } } }'))).toEqual({
      a: 1,
    })
  })

  it('is not mistaken for a variable, arithmetic of a shell, or an escape', () => {
    expect(config(use('"$' + '{LIMIT} $((limit + 1)) ((!values.limit))"'))).toBe(
      '$' + '{LIMIT} $((limit + 1)) ((values.limit))',
    )
  })

  it('that is not known, or that nothing refers to, is told', () => {
    expect(told(use('((values.limt))'))).toEqual([
      'a.yaml:4:22: no file of the catalog declares a value limt; there are count, limit',
    ])
    expect(warned(use('5', 'values: { limit: 5 }'))).toEqual(['v.yaml:1: nothing refers to the value limit'])
  })

  it('is written out so often as 8 MiB have room for, and no more', () => {
    const long = `values: { long: ${'x'.repeat(1_000_000)}, list: [${`${'x'.repeat(1_000)}, `.repeat(1_000)}x] }\n`
    const often = (word: string, count: number) => Array(count).fill(word).join(', ')
    expect(told(use(`[${often('((values.list))', 6)}]`, long))).toEqual([])
    const tooMuch = 'a.yaml:4:%: with its values written out, the catalog is more than 8 MiB'
    const place = (composed: Composed) =>
      told(composed).map((one) => one.replace(/^a.yaml:4:\d+:/, 'a.yaml:4:%:'))
    expect(place(use(`[${often('((values.list))', 400)}]`, long))).toEqual([tooMuch])
    expect(place(use(`"${often('((values.long))', 2_000)}"`, long))).toEqual([tooMuch])
  })

  it('has a type, bounds and choices, in defaults and in environments', () => {
    const declared = (rule: string) => told(use('((values.v))', `values:\n  v: ${rule}\n`))[0]
    expect(declared('{ type: integer, default: 1.5 }')).toBe(
      'v.yaml:2:32: the value v must be a whole number',
    )
    expect(declared('{ type: number, default: 9, max: 5 }')).toContain('must be at most 5')
    expect(declared('{ default: c, one_of: [a, b] }')).toContain('must be one of a, b')
    expect(declared('{ type: nope }')).toContain('type must be one of text, number')
    expect(declared('{ default: 1, maks: 3 }')).toContain('maks is no rule of a value')
    expect(declared('{ type: text }')).toContain('has no default: choose an environment')
    const set = (value: string) =>
      told(
        put(
          {
            'a.yaml': gateway,
            's.yaml': slow,
            'v.yaml': values,
            'e.yaml': `environment: e\nvalues: ${value}\n`,
          },
          { environment: 'e' },
        ),
      )
    expect(set('{ count: 99 }')).toEqual(['e.yaml:2:18: the value count must be at most 50'])
    expect(set('{ count: "9" }')).toEqual(['e.yaml:2:18: the value count must be a whole number'])
    expect(set('{ cuont: 9 }')[0]).toContain('e.yaml:2:11: no file of the catalog declares a value cuont')
  })
})
