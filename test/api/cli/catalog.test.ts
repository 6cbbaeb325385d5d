import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Setting, svc } from './cli-harness.ts'
import { type Daemon, startDaemon } from './real-daemon.ts'

let daemon: Daemon
beforeEach(async () => {
  daemon = await startDaemon()
})
afterEach(() => daemon.stop())

const run = (line: string, setting: Setting = {}) => svc([...line.split(' '), '--svcd', daemon.url], setting)
const folder = () => mkdtempSync(join(tmpdir(), 'svc-cat-'))
const fileOf = (text: string, name = 'shop.yaml'): string => {
  const file = join(folder(), name)
  writeFileSync(file, text)
  return file
}
const shop = 'sources:\n  - { name: orders, connector: webhook }\n  - { name: carts, connector: webhook }\n'
const secret =
  'sources:\n  - name: s\n    connector: webhook\n    config: { signature_scheme: github, signature_secret: CANARY-31 }\n'

describe('svc catalog plan --out and svc catalog apply of it', () => {
  it('does what was reviewed, without asking, and again where nothing is left to do', async () => {
    const saved = join(folder(), 'plan.json')
    const planned = await run(`catalog plan ${fileOf(shop)} --out ${saved}`)
    expect([planned.code, planned.out]).toEqual([2, expect.stringContaining('+ source orders')])
    const applied = await run(`catalog apply ${saved} --why reviewed`)
    expect([applied.code, applied.out]).toEqual([0, planned.out])
    expect((await run('changes list')).out).toContain('reviewed')
    const again = await run(`catalog apply ${saved}`)
    expect([again.code, again.err]).toEqual([0, 'nothing changed\n'])
    const json = await run(`catalog apply ${saved} --json`)
    expect([json.code, JSON.parse(json.out)]).toEqual([0, expect.objectContaining({ change_set: null })])
    expect(JSON.parse((await run('changes list --json')).out).change_sets).toHaveLength(1)
  })

  it('does nothing when the instance changed since, and shows what it would do now', async () => {
    await run(`catalog apply ${fileOf(shop)} --yes`)
    const saved = join(folder(), 'plan.json')
    const smaller = fileOf('sources:\n  - { name: orders, connector: webhook }\n')
    await run(`catalog plan ${smaller} --prune --out ${saved}`)
    await run('sources add made-meanwhile --connector webhook')
    const { code, err } = await run(`catalog apply ${saved}`)
    expect([code, err]).toEqual([1, expect.stringContaining('- source made-meanwhile\n')])
    const json = await run(`catalog apply ${saved} --json`)
    expect(JSON.parse(json.err)).toMatchObject({ exit_code: 1, plan: { deletes: 2 } })
    expect((await run('sources list')).out).toMatch(/made-meanwhile[\s\S]*orders/)
  })

  it('takes its options from the plan, refuses one that was edited, and holds no secret', async () => {
    const saved = join(folder(), 'plan.json')
    await run(`catalog plan ${fileOf(shop)} --name ops --out ${saved}`)
    expect((await run(`catalog apply ${saved} --prune`)).code).toBe(64)
    const text = readFileSync(saved, 'utf8')
    writeFileSync(saved, text.replace('orders, connector', 'other, connector'))
    expect(await run(`catalog apply ${saved}`)).toMatchObject({ code: 1 })
    writeFileSync(saved, text.slice(0, 200))
    expect(await run(`catalog apply ${saved}`)).toMatchObject({ code: 65 })
    writeFileSync(saved, text)
    await run(`catalog apply ${saved}`)
    expect((await run('catalog drift')).out).toContain('ops, imported at ')
    const refused = await run(`catalog plan ${fileOf(secret)} --out ${saved}`)
    expect([refused.code, refused.err]).toEqual([
      65,
      expect.stringContaining('shop.yaml:4 sources[0].config'),
    ])
    expect(readFileSync(saved, 'utf8')).toBe(text)
  })
})

describe('a catalog on standard input that is put together', () => {
  const project = `${shop}projects:
  - { name: P, template: custom, objects: [{ kind: source, name: orders }] }
`
  it('is read whole by check, plan and apply, as an export is', async () => {
    const broken = project.replace('name: orders }]', 'name: nope }]')
    const checked = await run('catalog check -', { stdin: broken })
    expect([checked.code, checked.err]).toEqual([65, expect.stringContaining('nope')])
    const planned = await run('catalog plan -', { stdin: project })
    expect([planned.code, planned.out]).toEqual([2, expect.stringContaining('+ project P\n')])
    const applied = await run('catalog apply - --yes', { stdin: project })
    expect([applied.code, applied.err]).toEqual([0, expect.stringContaining('applied as change-set')])
    const { out } = await run('catalog export')
    expect(out).toContain('name: P')
    const pruned = await run('catalog plan - --prune', { stdin: out })
    expect([pruned.code, pruned.out]).toEqual([0, expect.stringContaining('no change')])
    const valued = 'values: { name: later }\nsources:\n  - { name: ((values.name)), connector: webhook }\n'
    expect((await run('catalog plan -', { stdin: valued })).out).toContain('+ source later\n')
  })
})

describe('svc catalog check', () => {
  it('tells all that is wrong with an entry at once, and speaks of no front matter', async () => {
    const file = fileOf(`sources:
  - name: shop
    connector: postgres
    config: { dsn: "\${PG_DSN_SHOP}", table: orders, cursor: id }
skills:
  - name: Roll Back
    description: "one\\n\\ntwo"
    body: ""
  - { name: sound, description: One, body: Do it. }
`)
    const { code, err } = await run(`catalog check --offline ${file}`)
    expect(code).toBe(65)
    const lines = err.trimEnd().split('\n').slice(1)
    expect(lines.map((line) => line.slice(file.length))).toEqual([
      expect.stringContaining('sources[0].config: cursor_column is required'),
      expect.stringContaining('sources[0].config.cursor: cursor is not a known field'),
      expect.stringContaining(':4:20: sources[0]: config.dsn: the variable PG_DSN_SHOP may not be opened'),
      expect.stringContaining(':6:11: skills[0]: name must be 1 to 64 characters'),
      expect.stringContaining(':7:18: skills[0]: description must be one paragraph'),
      ':8:11: skills[0]: a body is required: what is to be done, as Markdown',
    ])
    expect((await run(`catalog check ${file}`)).err).toContain('6 problems')
  })
})

describe('svc catalog plan of what only gets another owner', () => {
  it('says who comes to own what and who gives it up, with the exit code of a change, until it is applied', async () => {
    await run('sources add orders --connector webhook')
    const orders = '  - { name: orders, connector: webhook }\n'
    const file = fileOf(`catalog: ops\nsources:\n${orders}  - { name: carts, connector: webhook }\n`)
    const planned = await run(`catalog plan ${file}`)
    expect([planned.code, planned.out]).toEqual([
      2,
      expect.stringMatching(/^ops comes to own source orders$/m),
    ])
    // Of what is made here it is plain who owns it.
    expect(planned.out).not.toContain('own source carts')
    await run(`catalog apply ${file} --yes`)
    expect(await run(`catalog plan ${file}`)).toMatchObject({ code: 0, out: 'no change: 2 as they are\n' })
    writeFileSync(file, `catalog: ops\nsources:\n${orders}`)
    const less = '0 to create, 0 to change, 0 to delete, 1 as they are\nops gives up source carts\n'
    expect(await run(`catalog plan ${file}`)).toMatchObject({ code: 2, out: less })
    expect((await run(`catalog plan ${file} --markdown`)).out).toContain('- ops gives up source carts\n')
    expect(await run(`catalog apply ${file} --yes`)).toMatchObject({
      code: 0,
      out: less,
      err: 'nothing changed but who owns it\n',
    })
    expect((await run(`catalog plan ${file}`)).code).toBe(0)
    // A part that goes is given up by that.
    writeFileSync(file, 'catalog: ops\n')
    const gone = await run(`catalog plan ${file} --prune --allow-empty`)
    expect([gone.code, gone.out]).toEqual([2, expect.stringMatching(/^- source orders$/m)])
    expect(gone.out).not.toContain('gives up')
  })
})

describe('svc catalog export', () => {
  it('of several catalogs is in the name of none, and can be applied', async () => {
    for (const name of ['one', 'two'])
      await run('catalog apply - --yes', {
        stdin: `catalog: ${name}\nsources: [{ name: ${name}, connector: webhook }]\n`,
      })
    const { out } = await run('catalog export')
    expect(out).toMatch(/^sources:\n {2}- name: one[\s\S]*- name: two/)
    expect(await run('catalog plan -', { stdin: out })).toMatchObject({ code: 0 })
  })
})

describe('a file over 8 MiB', () => {
  it.each([
    'check',
    'check --offline',
    'plan',
    'apply --yes',
    'lint',
    'fmt',
    'test',
    'drift',
    'export --update',
  ])('is told with its size and the bound by svc catalog %s, before it is sent', async (command) => {
    const file = fileOf(`${shop}# ${'x'.repeat(9 * 1024 * 1024)}\n`)
    const isOffline = /offline|lint|fmt|test/.test(command)
    const { code, err } = await (isOffline ? svc : (line: string[]) => run(line.join(' ')))(
      `catalog ${command} ${file}`.split(' '),
    )
    expect([code, err]).toEqual([
      65,
      expect.stringMatching(
        /shop\.yaml:1:1: the file has 9 MiB \(9,\d{3},\d{3} bytes\); a catalog file has at most 8 MiB \(8,388,608 bytes\)/,
      ),
    ])
  })
})

describe('svc catalog apply --prune', () => {
  it('needs --allow-empty for an empty file, and --max-deletions for more than ten objects', async () => {
    const many = Array.from({ length: 11 }, (_, i) => `  - { name: s${i}, connector: webhook }\n`).join('')
    await run(`catalog apply ${fileOf(`sources:\n${many}`)} --yes`)
    const empty = fileOf('')
    const refused = await run(`catalog apply ${empty} --prune --yes`)
    expect([refused.code, refused.err]).toEqual([65, expect.stringContaining('--allow-empty')])
    expect(refused.out).toContain('- source s0\n')
    const bounded = await run(`catalog plan ${empty} --prune --allow-empty`)
    expect([bounded.code, bounded.err]).toEqual([65, expect.stringContaining('--max-deletions 11')])
    const applied = await run(`catalog apply ${empty} --prune --allow-empty --max-deletions 11 --yes`)
    expect(applied.code).toBe(0)
    expect(await run(`catalog plan ${empty} --max-deletions x`)).toMatchObject({ code: 64 })
  })
})

describe('svc catalog drift', () => {
  it('is told by file and field, lists what is in no file, and exits with 2 when asked', async () => {
    expect(await run('catalog drift --exit-code')).toMatchObject({
      code: 0,
      out: 'no file was imported yet\n',
    })
    await run(`catalog apply ${fileOf(shop)} --yes`)
    await run(
      `catalog apply ${fileOf('sources:\n  - { name: logs, connector: webhook }\n', 'ops.yaml')} --yes`,
    )
    expect((await run('catalog drift --exit-code')).code).toBe(0)
    await run('sources pause orders')
    await run('sources add by-hand --connector webhook')
    const { code, out } = await run('catalog drift --exit-code')
    expect(code).toBe(2)
    expect(out).toMatch(
      /^ops, imported at .*:\nno change: 1 as they are\n\nshop, imported at .*:\n~ source orders\n/,
    )
    expect(out).toContain('paused: true → false (the default)')
    expect(out).toMatch(/\nin no file that is remembered:\n {2}source by-hand\n$/)
    expect(await run('catalog drift')).toMatchObject({ code: 0 })
    expect((await run('catalog drift --file ops --exit-code')).code).toBe(0)
    expect((await run('catalog drift --file shop --exit-code')).code).toBe(2)
    expect((await run('catalog drift ops --exit-code')).code).toBe(0)
    expect((await run('catalog drift shop ops --exit-code')).code).toBe(2)
    for (const nobody of ['--file nope', 'nope'])
      expect(await run(`catalog drift ${nobody}`)).toMatchObject({
        code: 1,
        err: 'svc: no catalog file is remembered by the name nope; there are ops, shop\n',
      })
    expect((await run('catalog forget shop')).code).toBe(0)
    expect((await run('catalog drift')).out).not.toContain('shop')
  })
})

describe('svc catalog export --json', () => {
  it('is JSON, and imports as the YAML does', async () => {
    await run(`catalog apply ${fileOf(shop)} --yes`)
    const { out } = await run('catalog export --json')
    expect(JSON.parse(out)).toMatchObject({ sources: [{ name: 'carts' }, { name: 'orders' }] })
    expect((await run(`catalog plan ${fileOf(out, 'again.json')}`)).code).toBe(0)
    expect((await run(`catalog export --json --update ${fileOf(shop)}`)).code).toBe(64)
  })
})

describe('what svc catalog export writes', () => {
  it('is in the layout of svc catalog fmt, as is what it puts into a file', async () => {
    const every = readFileSync(new URL('../../contract/every-section.yaml', import.meta.url), 'utf8')
    expect(await run(`catalog apply ${fileOf(every)} --yes`)).toMatchObject({ code: 0 })
    expect(await run('catalog forget shop')).toMatchObject({ code: 0 })
    const { out } = await run('catalog export')
    expect(out).toContain('- { field: status, op: gte, value: 500 }')
    expect(await svc('catalog fmt --check -'.split(' '), { stdin: out })).toMatchObject({ code: 0 })
    const mine = fileOf('# Ours.\nsources:\n  - {name: docs,connector: reference}   # mine\n')
    expect(await run(`catalog export --update ${mine}`)).toMatchObject({ code: 0 })
    expect(readFileSync(mine, 'utf8')).toContain('# Ours.\nsources:\n  - {name: docs,connector: reference')
    expect(readFileSync(mine, 'utf8')).toContain('- { field: status, op: gte, value: 500 }')
    const laid = fileOf('# Ours.\nsources:\n  - { name: docs, connector: reference } # mine\n')
    expect(await run(`catalog export --update ${laid}`)).toMatchObject({ code: 0 })
    expect(await run(`catalog plan ${laid}`)).toMatchObject({ code: 0 })
    expect(await svc(`catalog fmt --check ${laid}`.split(' '))).toMatchObject({ code: 0, out: '' })
  })
})

describe('a catalog file with merge keys', () => {
  const fields = '    sources: [orders]\n    condition: { aggregate: count, predicate: "> 5", window: 5m }\n'
  const merging = `sources:
  - { name: orders, connector: webhook }
triggers:
  - &each
    name: late
${fields}    cooldown: 10m
  - <<: *each # as late
    name: lost
`
  it.each(['export --update', 'pull --name shop'])(
    'keeps them with %s, and says beside them what they give otherwise',
    async (command) => {
      const file = fileOf(merging)
      expect(await run(`catalog apply ${file} --yes`)).toMatchObject({ code: 0 })
      expect(await run(`catalog ${command} ${file}`)).toMatchObject({ code: 0 })
      expect(readFileSync(file, 'utf8')).toBe(merging)
      const hand = `triggers:\n  - name: lost\n${fields}    cooldown: 1h\n`
      expect(await run('catalog apply - --yes --name hand', { stdin: hand })).toMatchObject({ code: 0 })
      expect(await run('catalog forget hand')).toMatchObject({ code: 0 })
      expect(await run(`catalog ${command} ${file}`)).toMatchObject({ code: 0 })
      expect(readFileSync(file, 'utf8')).toBe(`${merging}    cooldown: 1h\n`)
      expect(await run(`catalog plan ${file}`)).toMatchObject({ code: 0 })
    },
  )
})

describe('a secret in plain text in a catalog file', () => {
  it('is a warning, an error with --strict, and stays in an updated file as a mask', async () => {
    const file = fileOf(secret)
    const checked = await run(`catalog check ${file}`)
    expect([checked.code, checked.err]).toEqual([
      0,
      expect.stringContaining(
        'signature_secret is a secret in plain text; refer to a variable as $' +
          '{SVC_SECRET_SIGNATURE_SECRET} instead',
      ),
    ])
    expect((await run(`catalog check ${file} --strict`)).code).toBe(65)
    expect((await run(`catalog plan ${file} --strict`)).code).toBe(65)
    expect((await run(`catalog apply ${file} --strict --yes`)).code).toBe(65)
    await run(`catalog apply ${file} --yes`)
    await run(`catalog export --update ${file}`)
    const text = readFileSync(file, 'utf8')
    expect(text).toBe(secret.replace('CANARY-31', '"••••••••"'))
    expect((await run(`catalog plan ${file}`)).code).toBe(0)
  })

  it('a variable that is not set is a warning, an error with --strict', async () => {
    const file = fileOf(secret.replace('CANARY-31', '"$' + '{SVC_SECRET_SHOP}"'))
    const { code, err } = await run(`catalog plan ${file}`)
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^warning: .*:4:\d+: .*SVC_SECRET_SHOP is not set/),
    ])
    const strict = await run(`catalog check ${file} --strict`)
    expect([strict.code, strict.err]).toEqual([65, expect.stringContaining('SVC_SECRET_SHOP is not set')])
  })
})

describe('svc catalog check without a daemon', () => {
  const away = { env: { SVC_PORT: '9' } }
  const alone = (line: string, setting: Setting = away) => svc(line.split(' '), setting)

  it('checks the file by itself where no daemon answers and none was named', async () => {
    const good = await alone(`catalog check ${fileOf(shop)}`)
    expect([good.code, good.err]).toEqual([0, expect.stringContaining('no daemon answers here')])
    const bad = fileOf('sources:\n  - { name: a, connector: pigeon }\n')
    expect(await alone(`catalog check ${bad}`)).toMatchObject({
      code: 65,
      err: expect.stringContaining(`${bad}:2:`),
    })
    expect(await alone(`catalog check ${bad} --offline`)).toMatchObject({ code: 65 })
  })

  it('is told from a daemon that was named and is not there', async () => {
    expect(await alone(`catalog check ${fileOf(shop)} --svcd http://127.0.0.1:9`)).toMatchObject({ code: 69 })
    expect((await alone(`catalog plan ${fileOf(shop)}`)).code).toBe(69)
    expect((await alone('catalog check /nowhere/at-all.yaml')).code).toBe(66)
  })
})
