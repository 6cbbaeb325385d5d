/** `svc catalog` over folders, and without a daemon. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startScriptedModels } from '../../models/scripted-server.ts'
import { type Setting, svc } from './cli-harness.ts'
import { type Daemon, startDaemon } from './real-daemon.ts'

function folder(files: Record<string, string>): string {
  const root = join(mkdtempSync(join(tmpdir(), 'svc-cat-')), 'shop')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}
const files = {
  'sources/orders.yaml':
    'kind: source\nname: orders\nconnector: webhook\nconfig: { event_type: ((values.type)) }\n',
  'values.yaml': 'values: { type: order }\n',
  'environments/prod.yaml': 'environment: prod\nvalues: { type: sale }\n',
  'ops/catalog.yaml': 'catalog: ops\n',
  'ops/logs.yml': 'sources:\n  - { name: logs, connector: webhook }\n',
  '.hidden/x.yaml': 'nonsense: true\n',
}
const offline = (line: string, setting: Setting = {}) => svc(line.split(' '), setting)

describe('svc catalog over a folder', () => {
  let daemon: Daemon
  beforeEach(async () => {
    daemon = await startDaemon()
  })
  afterEach(() => daemon.stop())
  const run = (line: string, setting: Setting = {}) =>
    svc([...line.split(' '), '--svcd', daemon.url], setting)

  it('plans and applies it as one, remembers each part by its owner, and knows drift by path', async () => {
    const root = folder(files)
    const planned = await run(`catalog plan ${root} --env prod`)
    expect([planned.code, planned.out]).toEqual([2, expect.stringContaining('+ source logs')])
    expect(planned.out).toContain('+ source orders')
    expect(await run(`catalog apply ${root} --env prod --yes`)).toMatchObject({ code: 0 })
    expect((await run('sources show orders --json')).out).toContain('sale')
    expect((await run(`catalog plan ${root} --env prod`)).code).toBe(0)
    const { out } = await run('catalog drift')
    expect(out).toMatch(/^ops, imported at .*\n.*\n\nshop, imported at /)
    await run('sources pause logs')
    expect((await run(`catalog drift ${root}/ops --exit-code`)).code).toBe(2)
    expect((await run(`catalog drift ${root}/sources ${root}/values.yaml --exit-code`)).code).toBe(1)
    expect((await run(`catalog drift --file shop --exit-code`)).code).toBe(0)
  })

  it('tells what only the daemon finds with the file and line of the part', async () => {
    const root = folder({
      ...files,
      'z/t.yaml': '\nkind: trigger\nname: t\ncondition: { event: any }\nsources: [nope]\n',
    })
    const { code, err } = await run(`catalog check ${root}`)
    expect([code, err]).toEqual([
      65,
      expect.stringContaining(`${root}/z/t.yaml:5:11: triggers[0]: no source is named nope`),
    ])
  })

  it('saves a plan of it, and applies that', async () => {
    const root = folder(files)
    const saved = join(root, 'plan.json')
    expect((await run(`catalog plan ${root} --out ${saved}`)).code).toBe(2)
    writeFileSync(join(root, 'values.yaml'), 'values: { type: later }\n')
    expect((await run(`catalog apply ${saved}`)).code).toBe(0)
    expect((await run('sources show orders --json')).out).toContain('"order"')
  })

  it('names a plan for a pull request by its catalog and environment, and folds what is told elsewhere', async () => {
    const root = folder({ ...files, 'catalog.yaml': 'catalog: shop\n' })
    const { out } = await run(`catalog plan ${root} --env prod --markdown`)
    expect(out).toMatch(/^### Plan of `shop` for `prod`\n/)
    writeFileSync(
      join(root, 'p.yaml'),
      'triggers:\n  - { name: t, sources: [orders], condition: { event: any } }\nprojects:\n  - { name: P, template: custom, objects: [{ kind: trigger, name: t }] }\n',
    )
    await run(`catalog apply ${root} --yes`)
    writeFileSync(
      join(root, 'p.yaml'),
      'triggers:\n  - { name: t2, sources: [orders], condition: { event: any } }\nprojects:\n  - { name: P, template: custom, objects: [{ kind: trigger, name: t2 }] }\n',
    )
    const renamed = await run(`catalog plan ${root} --prune`)
    expect(renamed.out).toContain('~ project P\n    its parts, as this plan makes, renames or deletes them\n')
    expect(renamed.out).toContain(
      'warning: trigger t is deleted with its history, and t2, which says the same, is made anew; "moved: [{ trigger: t, to: t2 }]" in a catalog file, or "svc triggers rename", gives it the name instead\n',
    )
    writeFileSync(join(root, 'moved.yaml'), 'moved:\n  - { trigger: t, to: t2 }\n')
    const moved = await run(`catalog plan ${root} --prune`)
    expect(moved.out).toContain('~ trigger t2 (renamed from t)\n')
    expect(moved.out).not.toContain('deleted with its history')
  })

  it('writes no file of many up to date with what the others declare', async () => {
    const root = folder({ ...files, 'catalog.yaml': 'catalog: shop\n' })
    await run(`catalog apply ${root} --yes`)
    const { code, err } = await run(`catalog export --update ${root}/catalog.yaml`)
    expect([code, err]).toEqual([1, expect.stringContaining(`"svc catalog pull ${root}"`)])
    expect(readFileSync(join(root, 'catalog.yaml'), 'utf8')).toBe('catalog: shop\n')
    const alone = folder({ 'catalog.yaml': 'catalog: shop\n', 'k8s.yaml': 'kind: Deployment\nname: x\n' })
    expect((await run(`catalog export --update ${alone}/catalog.yaml`)).code).toBe(0)
    expect(readFileSync(join(alone, 'catalog.yaml'), 'utf8')).toContain('name: orders')
  })

  it('is none where a folder has no file of one, unless that is said', async () => {
    const root = folder({ 'notes.txt': 'nothing' })
    for (const verb of ['check', 'check --offline', 'plan', 'apply --yes'])
      expect(await run(`catalog ${verb} ${root}`)).toMatchObject({
        code: 66,
        err: `svc: there is no catalog file (.yaml or .yml) in ${root}\n`,
      })
    expect((await run(`catalog plan ${root} --allow-empty`)).code).toBe(0)
    const first = folder({ 'a.yaml': 'sources:\n  - { name: a, connector: webhook }\n' })
    expect((await run(`catalog plan ${first} --base ${root}`)).out).toContain('+ source a')
  })

  it('tells at once what breaks a rule, what is missing and what is wrong with its tests', async () => {
    const root = folder({
      'sources.yaml':
        'sources:\n  - { name: orders, conector: webhook }\n  - { name: logs, connector: webhook }\n',
      'a/triggers.yaml': `kind: trigger\nname: any\nsources: [orders, longs]\ncondition: { event: any }\n`,
      'more.yaml':
        'agents:\n  - { name: look, prompt: Look., trigger: all }\ntriggers:\n  - { name: any, sources: [logs], condition: { event: any } }\n',
      'tests.yaml': 'tests:\n  - { name: t, expect: [{ triger: any }] }\n',
    })
    const found = [
      'a/triggers.yaml:3:19: triggers[0]: no source is named longs (did you mean logs?)',
      'more.yaml:2:43: agents[0].trigger: no trigger is named all',
      `more.yaml:4:13: any is already defined at ${root}/a/triggers.yaml:2:7`,
      'sources.yaml:2:5: sources[0]: connector is required',
      'sources.yaml:2:21: sources[0].conector: conector is not a known field (did you mean connector?)',
    ]
    const tests = 'tests.yaml:2:35: expect[0].triger: triger is not a known field (did you mean trigger?)'
    const lines = (all: string[]) => all.map((one) => `${root}/${one}\n`).join('')
    for (const verb of ['check', 'check --offline', 'plan', 'apply --yes', `plan --base ${root}`]) {
      const all = verb.startsWith('check') ? [...found, tests] : found
      expect(await run(`catalog ${verb} ${root}`), verb).toMatchObject({
        code: 65,
        err: expect.stringContaining(`svc: ${all.length} problems\n${lines(all)}`),
      })
    }
  })

  it('tells at once what is wrong in folders of several owners', async () => {
    const trigger = (name: string, more: string) => `kind: trigger\nname: ${name}\n${more}\n`
    const root = folder({
      'a/catalog.yaml': 'catalog: a\n',
      'a/one.yaml': trigger('one', 'sources: [nowhere]\ncondition: { event: any }\ncooldwn: 5m'),
      'b/catalog.yaml': 'catalog: b\n',
      'b/two.yaml': trigger('two', 'sources: [gone]'),
      'b/three.yaml': trigger('three', 'sources: [lost]\ncondition: { event: any }'),
    })
    const found = [
      'a/one.yaml:3:11: triggers[0]: no source is named nowhere',
      'a/one.yaml:5:1: triggers[0].cooldwn: cooldwn is not a known field (did you mean cooldown?)',
      'b/three.yaml:3:11: triggers[1]: no source is named lost',
      'b/two.yaml:1:1: triggers[2]: condition is required',
      'b/two.yaml:3:11: triggers[2]: no source is named gone',
    ]
    for (const verb of ['check', 'check --offline', 'plan'])
      expect(await run(`catalog ${verb} ${root}`), verb).toMatchObject({
        code: 65,
        err: expect.stringContaining(found.map((one) => `${root}/${one}\n`).join('')),
      })
  })

  it('refuses a part that another catalog owns, with both places, and prunes none of its parts', async () => {
    const shop = folder({
      'catalog.yaml': 'catalog: shop\nsources:\n  - { name: orders, connector: webhook }\n',
    })
    await run(`catalog apply ${shop} --yes`)
    const ops = folder({
      'catalog.yaml': 'catalog: ops\nsources:\n  - { name: orders, connector: webhook }\n',
    })
    const { code, err } = await run(`catalog plan ${ops}`)
    expect([code, err]).toEqual([
      65,
      expect.stringContaining(`orders belongs to the catalog shop (shop:3:5)`),
    ])
    expect(err).toContain(`${ops}/catalog.yaml:3:`)
    writeFileSync(
      join(ops, 'catalog.yaml'),
      'catalog: ops\nsources:\n  - { name: logs, connector: webhook }\n',
    )
    expect(await run(`catalog apply ${ops} --prune --yes`)).toMatchObject({ code: 0 })
    expect((await run('sources list')).out).toMatch(/logs[\s\S]*orders/)
    writeFileSync(join(ops, 'catalog.yaml'), 'catalog: ops\n')
    await run(`catalog apply ${ops} --prune --allow-empty --yes`)
    const left = (await run('sources list')).out
    expect([left.includes('logs'), left.includes('orders')]).toEqual([false, true])
  })
})

describe('svc catalog apply --keys', () => {
  it('writes ingest keys of new sources into a new file of its owner alone, and prints none', async () => {
    const token = 'svc_root_for_this_test_alone'
    const daemon = await startDaemon(token)
    try {
      const root = folder({ 'a.yaml': 'sources:\n  - { name: a, connector: webhook }\n' })
      const keys = join(root, 'keys.txt')
      const apply = (...more: string[]) =>
        svc([
          'catalog',
          'apply',
          root,
          '--yes',
          '--keys',
          keys,
          '--svcd',
          daemon.url,
          '--token',
          token,
          ...more,
        ])
      expect(await apply('--json')).toMatchObject({ code: 64, out: '' })
      const missing = join(root, 'none', 'keys.txt')
      expect(await apply('--keys', missing)).toMatchObject({
        code: 74,
        err: expect.stringMatching(/^svc: cannot write .+none.keys\.txt: .+; nothing was applied\n$/),
      })
      expect((await svc(['sources', 'show', 'a', '--svcd', daemon.url, '--token', token])).code).toBe(1)
      const { code, out, err } = await apply()
      expect([code, out.includes('ingest key of')]).toEqual([0, false])
      expect(err).toContain(`wrote the ingest key of new sources to ${keys}\n`)
      expect(readFileSync(keys, 'utf8')).toMatch(/^ingest key of a \(\/ingest\/\S+\), shown once: svc_\S+\n$/)
      expect(statSync(keys).mode & 0o777).toBe(0o600)
      const again = join(root, 'again.txt')
      expect(await apply('--keys', again)).toMatchObject({ code: 0, err: 'nothing changed\n' })
      expect(existsSync(again)).toBe(false)
      writeFileSync(join(root, 'b.yaml'), 'sources:\n  - { name: b, connector: webhook }\n')
      expect((await apply()).err).toContain(`${keys} is there already`)
      expect((await svc(['sources', 'show', 'b', '--svcd', daemon.url, '--token', token])).code).toBe(1)
    } finally {
      await daemon.stop()
    }
  })
})

describe('svc catalog init', () => {
  it('writes a repository that has no problem and passes its tests, and writes over nothing', async () => {
    const root = join(folder({}), 'new')
    const { code, out, err } = await offline(`catalog init ${root}`)
    expect([code, err]).toEqual([0, 'wrote 17 files; README.md says what each is\n'])
    expect(out).toContain(`cd ${root} && git init && git config core.hooksPath .githooks\n`)
    expect(statSync(join(root, '.githooks/pre-commit')).mode & 0o111).toBe(0o111)
    expect(readFileSync(join(root, 'README.md'), 'utf8')).not.toContain('](../')
    expect(JSON.parse(readFileSync(join(root, '.vscode/catalog.schema.json'), 'utf8'))).toHaveProperty('$id')
    for (const env of ['staging', 'production']) {
      expect(await offline(`catalog check ${root} --offline --strict --env ${env}`)).toMatchObject({
        code: 0,
      })
      expect(await offline(`catalog lint ${root} --strict --env ${env}`)).toMatchObject({ code: 0 })
    }
    expect((await offline(`catalog test ${root} --env staging`)).out).toContain('3 passed, 0 failed')
    writeFileSync(join(root, 'agents.yaml'), 'mine')
    const again = await offline(`catalog init ${root}`)
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('nothing is written: ')])
    expect(readFileSync(join(root, 'agents.yaml'), 'utf8')).toBe('mine')
  })
})

describe('svc catalog check --format', () => {
  const broken = () => folder({ 'a.yaml': 'sources:\n  - { name: a, conector: webhook }\n' })

  it('gives SARIF, annotations of a workflow, and JSON', async () => {
    const root = broken()
    const sarif = await offline(`catalog check ${root} --offline --format sarif`)
    expect(sarif.code).toBe(65)
    const log = JSON.parse(sarif.out)
    expect(log).toMatchObject({ version: '2.1.0', runs: [{ tool: { driver: { name: 'svc' } } }] })
    expect(log.runs[0].results[0]).toMatchObject({
      ruleId: 'problem',
      level: 'error',
      locations: [{ physicalLocation: { region: { startLine: 2 } } }],
    })
    const github = await offline(`catalog check ${root} --offline --format github`)
    expect(github.out).toMatch(
      /^::error file=.*\/a\.yaml,line=2,endLine=2,col=\d+(,endColumn=\d+)?,title=problem::/,
    )
    expect(JSON.parse((await offline(`catalog check ${root} --offline --json`)).out).problems).not.toEqual([])
  })
})

describe('a variable that secrets refer to, without a daemon', () => {
  const parts = (variable: string) => `sources:
  - { name: orders, connector: webhook }
triggers:
  - { name: any, sources: [orders], condition: { event: any } }
mcp_servers:
  - { name: files, url: "stdio:files" }
  - { name: desk, url: "https://desk.example.com/mcp", auth_value: "\${${variable}}" }
tests:
  - { name: nothing comes, expect: [{ trigger: any, not_fires: true }] }
`
  const lines = (root: string) => [
    [`catalog check ${root} --offline --strict`, 0] as const,
    [`catalog plan ${root} --base ${folder({ '.gitkeep': '' })} --strict`, 2] as const,
    [`catalog test ${root}`, 0] as const,
  ]

  it('is not looked for on the machine of the command, nor are the programs of MCP servers', async () => {
    const root = folder({ 'a.yaml': parts('SVC_SECRET_SHOP') })
    for (const env of [{}, { SVC_SECRET_SHOP: 'set' }] as Record<string, string>[])
      for (const [line, code] of lines(root))
        expect(await offline(line, { env }), line).toMatchObject({ code, err: '' })
  })

  it('is refused all the same where its name is never opened, or not unless it is listed', async () => {
    for (const name of ['HOME_GROWN', 'SVC_AUTH_TOKEN']) {
      const root = folder({ 'a.yaml': parts(name) })
      for (const [line] of lines(root)) {
        const { code, out, err } = await offline(line, { env: { [name]: 'set' } })
        expect(code, line).toBe(65)
        expect(out + err, line).toContain(`the variable ${name} `)
      }
    }
    const root = folder({ 'a.yaml': parts('HOME_GROWN') })
    for (const [line, code] of lines(root))
      expect(await offline(line, { env: { SVC_SECRETS: 'HOME_GROWN' } }), line).toMatchObject({ code })
  })
})

describe('svc catalog check of tests', () => {
  it('tells what is wrong with them, with their line, of one file and of a folder', async () => {
    const root = folder({ 'a.yaml': 'sources: []\ntests:\n  - { name: t, expect: [{ triger: x }] }\n' })
    for (const path of [root, join(root, 'a.yaml')]) {
      const { code, err } = await offline(`catalog check ${path} --offline`)
      expect([code, err]).toEqual([65, expect.stringContaining('a.yaml:3:')])
      expect(err).toContain('did you mean trigger?')
    }
  })
})

describe('svc catalog fmt', () => {
  it('names what is laid out otherwise, shows how, and writes it', async () => {
    const root = folder({ 'a.yaml': 'sources:\n- {name: a,connector: webhook} # ours\n' })
    expect(await offline(`catalog fmt ${root} --check`)).toMatchObject({
      ...{ code: 1, out: `${root}/a.yaml\n` },
      err: 'svc: 1 file is laid out otherwise; "svc catalog fmt" lays it out\n',
    })
    expect((await offline(`catalog fmt ${root} --diff`)).out).toContain(
      '+  - { name: a, connector: webhook } # ours\n',
    )
    expect((await offline(`catalog fmt ${root}`)).code).toBe(0)
    expect(readFileSync(join(root, 'a.yaml'), 'utf8')).toBe(
      'sources:\n  - { name: a, connector: webhook } # ours\n',
    )
    expect(await offline(`catalog fmt ${root} --check`)).toMatchObject({ code: 0, out: '' })
    expect((await offline('catalog fmt -', { stdin: 'sources:   []\n' })).out).toBe('sources: []\n')
  })
})

describe('svc catalog lint', () => {
  it('tells findings with their rules, and exits with 1 for an error or with --strict', async () => {
    const root = folder({ 'a.yaml': 'sources:\n  - { name: a, connector: webhook }\n' })
    const { code, out } = await offline(`catalog lint ${root}`)
    expect([code, out]).toEqual([
      0,
      expect.stringContaining('a.yaml:2:13: warning: source a has no primary label'),
    ])
    expect((await offline(`catalog lint ${root} --strict`)).code).toBe(1)
    const rules = join(
      folder({
        'r.yaml':
          'rules:\n  - { id: team/none, for: source, severity: error, message: no sources, schema: false }\n'.replace(
            'schema: false',
            'schema: { not: {} }',
          ),
      }),
      'r.yaml',
    )
    const own = await offline(`catalog lint ${root} --rules ${rules} --format sarif`)
    expect(own.code).toBe(1)
    const [run] = JSON.parse(own.out).runs
    const ids = run.tool.driver.rules.map(({ id }: { id: string }) => id)
    expect(ids).toContain('team/none')
    for (const { ruleId, ruleIndex } of run.results) expect(ids[ruleIndex]).toBe(ruleId)
  })
})

describe('svc catalog test', () => {
  const test = (entity: string) => `tests:
  - name: an order fires
    events: [{ source: orders, at: 10s, body: { service: web } }]
    expect: [{ trigger: any, fires: 1, entity: ${entity}, at: 10s }]
  - name: nothing comes
    expect: [{ trigger: any, not_fires: true }]
`
  const parts = `sources:
  - { name: orders, connector: webhook, config: { labels: [{ name: service, field: service, primary: true }] } }
triggers:
  - { name: any, sources: [orders], condition: { event: any } }
`

  it('runs without a daemon, tells what failed, and writes JUnit', async () => {
    const root = folder({ 'a.yaml': parts, 'tests.yaml': test('web') })
    expect(await offline(`catalog test ${root}`)).toMatchObject({
      code: 0,
      out: expect.stringContaining('2 passed, 0 failed'),
    })
    writeFileSync(join(root, 'tests.yaml'), test('cart'))
    const junit = join(root, 'junit.xml')
    const { code, out } = await offline(`catalog test ${root} --junit ${junit}`)
    expect(code).toBe(1)
    expect(out).toContain('expected: any fires once for cart at +10s')
    expect(out).toContain('tests.yaml:4:')
    expect(readFileSync(junit, 'utf8')).toMatch(/<testsuite name=".*tests\.yaml" tests="2" failures="1"/)
    const nowhere = await offline(`catalog test ${root} --junit ${root}/none/junit.xml`)
    expect([nowhere.code, nowhere.err]).toEqual([74, expect.stringMatching(/^svc: cannot write /)])
    expect((await offline(`catalog test ${root} --only nothing`)).out).toContain('1 passed, 0 failed')
    expect((await offline(`catalog test ${root} --only absent`)).code).toBe(64)
  })

  it('tells what is wrong with the catalog at its place in its file, and runs nothing', async () => {
    const broken = parts.replace('orders]', 'order]')
    const root = folder({ 'a/parts.yaml': broken, 'tests.yaml': test('web') })
    for (const path of [root, `${root}/a/parts.yaml`])
      expect(await offline(`catalog test ${path}`)).toMatchObject({
        ...{ code: 65, out: '' },
        err: `svc: 1 problem\n${root}/a/parts.yaml:4:28: triggers[0]: no source is named order (did you mean orders?)\n`,
      })
  })

  it('records the answers of a provider, passes by them without one, and is stale once the prompt changed', async () => {
    const server = await startScriptedModels()
    server.reply('m1', () => {
      const claims = [{ text: 'It failed.', events: ['evt_1'] }]
      const conclusion = { outcome: 'finding', verdict: 'broken', summary: 'It failed.', claims }
      return { calls: [{ name: 'conclude', arguments: conclusion }] }
    })
    const agents = `agents:
  - { name: look, trigger: any, prompt: Say what broke., model: m1, verdicts: [broken, fine] }
`
    const root = folder({
      'a.yaml': `${parts}${agents}`,
      'tests.yaml': `tests:
  - name: the agent sees it
    tape: tapes/look.json
    events: [{ source: orders, at: 10s, body: { service: web } }]
    expect: [{ agent: look, verdict: broken, cites: [1] }]
`,
    })
    try {
      const none = await offline(`catalog test ${root} --record`)
      expect([none.code, none.err]).toEqual([78, expect.stringContaining('--record asks models')])
      const missing = await offline(`catalog test ${root}`)
      expect([missing.code, missing.out]).toEqual([1, expect.stringContaining('there is no tape')])
      const env = { PROVIDERA_API_KEY: 'key', PROVIDERA_BASE_URL: server.url }
      expect(await offline(`catalog test ${root} --record`, { env })).toMatchObject({ code: 0 })
      const asked = server.requests.length
      expect(await offline(`catalog test ${root}`)).toMatchObject({ code: 0 })
      expect(server.requests).toHaveLength(asked)
      writeFileSync(join(root, 'a.yaml'), `${parts}${agents.replace('Say what', 'Tell what')}`)
      const stale = await offline(`catalog test ${root}`)
      expect([stale.code, stale.out]).toEqual([1, expect.stringContaining('0 passed, 0 failed, 1 stale')])
    } finally {
      await server.close()
    }
  })

  it('runs again with each change while it watches, until it is interrupted', async () => {
    const root = folder({ 'a.yaml': parts, 'tests.yaml': test('cart') })
    const end = new AbortController()
    const seen: string[] = []
    const ran = svc(['catalog', 'test', root, '--watch'], {
      interrupted: end.signal,
      told: (text) => {
        seen.push(text)
        if (text.includes('1 passed, 1 failed')) writeFileSync(join(root, 'tests.yaml'), test('web'))
        if (text.includes('2 passed, 0 failed')) end.abort()
      },
    })
    expect((await ran).code).toBe(0)
    expect(seen.join('')).toContain('expected: any fires once for cart')
  })

  it('is nothing to an import: the file is kept with its tests, and no drift comes of them', async () => {
    const daemon = await startDaemon()
    try {
      const root = folder({ 'a.yaml': `${parts}${test('web')}` })
      const run = (line: string) => svc([...line.split(' '), '--svcd', daemon.url])
      expect((await run(`catalog apply ${root}/a.yaml --yes`)).code).toBe(0)
      expect((await run('catalog drift --exit-code')).code).toBe(0)
      const kept = readFileSync(join(root, 'a.yaml'), 'utf8')
      expect((await run('catalog export')).out).toBe(kept)
      await run('triggers pause any')
      expect((await run('catalog export')).out).toBe(
        kept.replace('condition: { event: any } }', 'condition: { event: any }, paused: true }'),
      )
    } finally {
      await daemon.stop()
    }
  })
})
