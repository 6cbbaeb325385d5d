/** `svc catalog pull` and `--merge`: what was changed by hand goes into the files, or stays, or is a conflict. */
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changeFiles } from '../../../api/cli/file-changes.ts'
import { type Setting, svc } from './cli-harness.ts'
import { type Daemon, startDaemon } from './real-daemon.ts'

const FILES = {
  'catalog.yaml': '# The shop.\ncatalog: shop\nvalues: { errors: 5 }\n',
  'sources/gateway.yaml': '# Ours.\nkind: source\nname: gateway # the way in\nconnector: webhook\n',
  'triggers/errors.yaml': `kind: trigger
name: errors
# Never more.
sources: [gateway]
condition: { aggregate: count, predicate: "> ((values.errors))", window: 5m } # five minutes
cooldown: 10m
`,
  'agents.yaml': `agents:
  # Looks first.
  - name: look
    prompt: Say what broke.
    run_budget_usd: 1

  - name: dig
    prompt: Find the cause.   # slow
`,
  'environments/prod.yaml': 'environment: prod\nagents:\n  - { name: look, run_budget_usd: 2 } # dear\n',
}

/** Throws at the n-th write. */
const cutOffAt = (n: number) => {
  let steps = 0
  return () => {
    if (++steps === n) throw new Error('cut off')
  }
}

describe('svc catalog pull', () => {
  let daemon: Daemon
  let root: string
  beforeEach(async () => {
    daemon = await startDaemon()
    root = join(mkdtempSync(join(tmpdir(), 'svc-pull-')), 'shop')
    for (const [path, text] of Object.entries(FILES)) put(path, text)
    expect(await run(`catalog apply ${root} --env prod --yes`)).toMatchObject({ code: 0 })
  })
  afterEach(() => daemon.stop())
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const text = (path: string) => readFileSync(join(root, path), 'utf8')
  const run = (line: string, setting: Setting = {}) =>
    svc([...line.split(' '), '--svcd', daemon.url], setting)
  const git = (...args: string[]) =>
    spawnSync('git', ['-C', root, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      encoding: 'utf8',
    })
  /** Changes what the instance has, as a person does. */
  const byHand = async (yaml: string) => {
    expect(await run('catalog apply - --yes --name hand', { stdin: yaml })).toMatchObject({ code: 0 })
    expect(await run('catalog forget hand')).toMatchObject({ code: 0 })
  }
  const errors = (more: string) =>
    `triggers:\n  - { name: errors, sources: [gateway], condition: { aggregate: count, predicate: "> 5", window: 5m }, ${more} }\n`
  const look = (budget: number) =>
    `agents:\n  - { name: look, prompt: Say what broke., run_budget_usd: ${budget} }\n`

  it('has nothing to write where nothing was changed', async () => {
    expect(await run(`catalog pull ${root} --env prod`)).toMatchObject({
      code: 0,
      out: 'no change: the files say all that was changed by hand\n',
    })
    for (const [path, before] of Object.entries(FILES)) expect(text(path)).toBe(before)
  })

  it('keeps lines that say what holds anyway, with their comments', async () => {
    put(
      'lent.yaml',
      `sources:
  - { name: lent, connector: webhook }
projects:
  - template: custom
    name: Lender
    objects: [{ kind: source, name: lent }]
  - template: custom
    name: Shop
    objects:
      - { kind: source, name: lent, shared: true } # lent
triggers:
  - name: reads
    project: Shop
    sources: [lent]
    condition: { event: any }
agents:
  - name: idle
    prompt: Wait.
    enabled: true # once wired
skills:
  - name: mend
    project: Shop
    used_by: [Shop] # who made it
    description: How to mend.
    body: Do it.
`,
    )
    expect(await run(`catalog apply ${root} --env prod --yes`)).toMatchObject({ code: 0 })
    expect(await run(`catalog plan ${root} --env prod`)).toMatchObject({ code: 0 })
    const before = text('lent.yaml')
    expect((await run(`catalog pull ${root} --env prod`)).out).toMatch(/^no change/)
    expect(text('lent.yaml')).toBe(before)
    const remarks = before.split('\n').filter((line) => line.includes('#'))
    await run('agents rename idle waiter')
    expect((await run(`catalog pull ${root} --env prod`)).code).toBe(0)
    expect(text('lent.yaml')).toContain('name: waiter')
    for (const remark of remarks) expect(text('lent.yaml').split('\n')).toContain(remark)
    const alone = join(root, '..', 'alone.yaml')
    writeFileSync(alone, before)
    await run('agents rename waiter idle')
    expect((await run(`catalog export --update ${alone}`)).code).toBe(0)
    for (const remark of remarks) expect(readFileSync(alone, 'utf8').split('\n')).toContain(remark)
  })

  it('writes each field where it lives, to the byte, and the plan is then no change', async () => {
    await byHand(errors('cooldown: 1h, description: Too many'))
    await byHand(look(9))
    const shown = await run(`catalog pull ${root} --env prod --dry-run`)
    expect(shown.code).toBe(2)
    expect(shown.out).toContain('-cooldown: 10m\n+cooldown: 1h')
    expect(text('triggers/errors.yaml')).toBe(FILES['triggers/errors.yaml'])
    expect(await run(`catalog pull ${root} --env prod`)).toMatchObject({ code: 0 })
    expect(text('triggers/errors.yaml')).toBe(
      FILES['triggers/errors.yaml'].replace('cooldown: 10m', 'cooldown: 1h\ndescription: Too many'),
    )
    expect(text('environments/prod.yaml')).toBe(
      FILES['environments/prod.yaml'].replace('run_budget_usd: 2', 'run_budget_usd: 9'),
    )
    for (const path of ['catalog.yaml', 'sources/gateway.yaml', 'agents.yaml'] as const)
      expect(text(path)).toBe(FILES[path])
    expect(await run(`catalog plan ${root} --env prod`)).toMatchObject({ code: 0 })
  })

  it('may be done again and again: of what was pulled and changed by hand once more the newest is written', async () => {
    for (const cooldown of ['1h', '2h', '3h']) {
      await byHand(errors(`cooldown: ${cooldown}`))
      expect(await run(`catalog pull ${root} --env prod`)).toMatchObject({ code: 0, err: '' })
      expect(text('triggers/errors.yaml')).toContain(`cooldown: ${cooldown}`)
    }
    expect(await run(`catalog plan ${root} --env prod`)).toMatchObject({ code: 0 })
    // What the file says of itself, and the instance never had, is a conflict still.
    put('triggers/errors.yaml', text('triggers/errors.yaml').replace('3h', '7h'))
    await byHand(errors('cooldown: 5h'))
    expect(await run(`catalog pull ${root} --env prod`)).toMatchObject({
      code: 65,
      err: expect.stringContaining('cooldown'),
    })
  })

  it('that was cut off is finished by the next command, whichever it is', async () => {
    const path = join(root, 'triggers/errors.yaml')
    const [before, after] = [
      text('triggers/errors.yaml'),
      `${text('triggers/errors.yaml')}severity: critical\n`,
    ]
    expect(() => changeFiles(root, [{ path, before, after }], cutOffAt(4))).toThrow('cut off')
    expect(text('triggers/errors.yaml')).toBe(before)
    expect(await run(`catalog plan ${root} --env prod`)).toMatchObject({
      code: 2,
      err: expect.stringContaining('finished a pull that was cut off'),
    })
    expect(text('triggers/errors.yaml')).toBe(after)
  })

  it('makes a file for a new part as the folder has them, and takes a removed one out', async () => {
    await byHand('sources:\n  - { name: logs, connector: webhook }\n')
    expect(await run('triggers delete errors')).toMatchObject({ code: 0 })
    expect(await run('agents delete dig')).toMatchObject({ code: 0 })
    expect(await run(`catalog pull ${root} --env prod`)).toMatchObject({ code: 0 })
    expect(text('sources/logs.yaml')).toBe('kind: source\nname: logs\nconnector: webhook\n')
    expect(existsSync(join(root, 'triggers/errors.yaml'))).toBe(false)
    expect(text('agents.yaml')).toBe(
      FILES['agents.yaml'].slice(0, FILES['agents.yaml'].indexOf('\n  - name: dig')),
    )
    expect((await run(`catalog plan ${root} --env prod`)).out).toMatch(
      /^0 to .*\nshop comes to own source logs\n$/,
    )
  })

  it('takes a removed part out of the files of every environment', async () => {
    put(
      'environments/staging.yaml',
      'environment: staging\nagents:\n  # dear\n  - { name: dig, run_budget_usd: 3 }\n  - { name: look, run_budget_usd: 4 }\n',
    )
    put('environments/dev.yaml', 'environment: dev\nagents: [{ name: dig, remove: true }]\n')
    put('environments/dev/dig.yaml', 'environment: dev\nkind: agent\nname: dig\nrun_budget_usd: 3\n')
    expect(await run('agents delete dig')).toMatchObject({ code: 0 })
    expect(await run(`catalog pull ${root} --env prod`)).toMatchObject({ code: 0 })
    expect(text('agents.yaml')).not.toContain('dig')
    expect(text('environments/staging.yaml')).toBe(
      'environment: staging\nagents:\n  - { name: look, run_budget_usd: 4 }\n',
    )
    expect(text('environments/dev.yaml')).not.toContain('dig')
    expect(existsSync(join(root, 'environments/dev/dig.yaml'))).toBe(false)
    for (const env of ['prod', 'staging', 'dev'])
      expect(await svc(['catalog', 'check', '--offline', '--env', env, root])).toMatchObject({ code: 0 })
  })

  it('leaves what is in a project of another catalog or refers to its parts, and says so; export --update, too', async () => {
    const other = `catalog: kk
sources: [{ name: theirs, connector: webhook }]
projects: [{ template: custom, name: K }]
`
    expect(await run('catalog apply - --yes', { stdin: other })).toMatchObject({ code: 0 })
    await byHand(`triggers:
  - { name: of-project, project: K, sources: [gateway], condition: { event: any } }
  - { name: of-source, sources: [theirs], condition: { event: any } }
  - { name: free, sources: [gateway], condition: { event: any } }
agents:
  - { name: after, trigger: of-source, prompt: Look. }
`)
    const pulled = await run(`catalog pull ${root} --env prod`)
    expect(pulled).toMatchObject({ code: 0, err: expect.stringContaining('left, since') })
    for (const name of ['trigger of-project', 'trigger of-source', 'agent after'])
      expect(pulled.err).toContain(name)
    expect(text('triggers/free.yaml')).toContain('name: free')
    expect(existsSync(join(root, 'triggers/of-project.yaml'))).toBe(false)
    expect(text('agents.yaml')).toBe(FILES['agents.yaml'])
    expect(await svc(['catalog', 'check', '--offline', '--env', 'prod', root])).toMatchObject({ code: 0 })
    const theirs = join(root, '..', 'kk.yaml')
    writeFileSync(theirs, other)
    expect(await run(`catalog export --update ${theirs}`)).toMatchObject({ code: 0 })
    const updated = readFileSync(theirs, 'utf8')
    expect(updated).toContain('of-source')
    expect(updated).not.toContain('gateway')
    expect(updated).not.toContain('errors')
    expect((await run(`catalog plan ${theirs}`)).out).toMatch(/^0 to create, 0 to change, 0 to delete, /)
  })

  it('writes in the layout of svc catalog fmt', async () => {
    expect(await run(`catalog apply ${root} --env prod --yes`)).toMatchObject({ code: 0 })
    expect((await svc(['catalog', 'fmt', root])).code).toBe(0)
    await byHand(errors('cooldown: 1h, filters: [{ field: status, op: gte, value: 500 }]'))
    await byHand(
      'sources:\n  - name: logs\n    connector: webhook\n    config: { labels: [{ name: a, field: a, primary: true }] }\n',
    )
    await byHand(
      `${look(9)}  - name: think\n    prompt: Think.\n    verdicts: [{ verdict: bad, when: it is }]\n`,
    )
    expect(await run(`catalog pull ${root} --env prod`)).toMatchObject({ code: 0 })
    expect(text('sources/logs.yaml')).toContain('- { name: a, field: a, primary: true }')
    expect(text('agents.yaml')).toContain('- { verdict: bad, when: it is }')
    expect(await svc(['catalog', 'fmt', '--check', root])).toMatchObject({ code: 0, out: '' })
  })

  it('reports a field that comes from a value of the environment', async () => {
    await byHand(errors('cooldown: 1h').replace('> 5', '> 50'))
    const { code, err } = await run(`catalog pull ${root} --env prod`)
    expect(code).toBe(1)
    expect(err).toContain(`${root}/triggers/errors.yaml:5:`)
    expect(err).toContain('> ((values.errors))')
    expect(text('triggers/errors.yaml')).toContain('> ((values.errors))')
    expect(text('triggers/errors.yaml')).toContain('cooldown: 1h')
  })

  it('never writes over edits that are not committed, unless it is forced to', async () => {
    git('init', '-q')
    git('add', '.')
    git('commit', '-qm', 'all')
    await byHand(errors('cooldown: 1h'))
    put('triggers/errors.yaml', `${FILES['triggers/errors.yaml']}# mine\n`)
    const refused = await run(`catalog pull ${root} --env prod`)
    expect([refused.code, refused.err]).toEqual([
      65,
      expect.stringContaining('triggers/errors.yaml has edits'),
    ])
    expect(text('triggers/errors.yaml')).toContain('cooldown: 10m')
    expect(await run(`catalog pull ${root} --env prod --force`)).toMatchObject({ code: 0 })
    expect(text('triggers/errors.yaml')).toContain('cooldown: 1h\n# mine\n')
    git('commit', '-qam', 'pulled')
    // What a link leads to has no commit, and may be anybody's.
    const shared = join(dirname(root), 'errors.yaml')
    renameSync(join(root, 'triggers/errors.yaml'), shared)
    symlinkSync(shared, join(root, 'triggers/errors.yaml'))
    git('commit', '-qam', 'a link')
    await byHand(errors('cooldown: 3h'))
    const outside = await run(`catalog pull ${root} --env prod`)
    expect([outside.code, outside.err]).toEqual([65, expect.stringContaining(`(${shared}) is outside of`)])
    expect(text('triggers/errors.yaml')).toContain('cooldown: 1h')
    renameSync(shared, join(root, 'shared'))
    rmSync(join(root, 'triggers/errors.yaml'))
    symlinkSync('../shared', join(root, 'triggers/errors.yaml'))
    git('add', 'triggers')
    git('commit', '-qm', 'a link within')
    expect((await run(`catalog pull ${root} --env prod`)).err).toContain('errors.yaml has edits')
    expect(text('shared')).toContain('cooldown: 1h')
    rmSync(join(root, 'triggers/errors.yaml'))
    renameSync(join(root, 'shared'), join(root, 'triggers/errors.yaml'))
    git('add', 'triggers')
    git('commit', '-qm', 'no link')
    // What was pulled is agreed on once it is applied, as the repository does.
    expect(await run(`catalog apply ${root} --env prod --yes`)).toMatchObject({ code: 0 })
    await byHand(errors('cooldown: 2h'))
    expect(await run(`catalog pull ${root} --env prod`)).toMatchObject({ code: 0 })
    expect(text('triggers/errors.yaml')).toContain('cooldown: 2h')
  })

  it('tells a conflict with all three values and its place; plan, apply and pull take a side with --ours', async () => {
    await byHand(errors('cooldown: 1h'))
    put('triggers/errors.yaml', FILES['triggers/errors.yaml'].replace('10m', '30m'))
    for (const line of [`plan ${root} --merge`, `apply ${root} --merge --yes`, `pull ${root}`]) {
      const { code, err } = await run(`catalog ${line} --env prod`)
      expect(code).toBe(65)
      expect(err).toContain(`${root}/triggers/errors.yaml:6:11: trigger errors, cooldown:`)
      expect(err).toContain('was applied as "10m", the instance has "1h", the file says "30m"')
    }
    expect(text('triggers/errors.yaml')).toContain('cooldown: 30m')
    expect(await run(`catalog pull ${root} --env prod --ours instance`)).toMatchObject({ code: 0 })
    expect(text('triggers/errors.yaml')).toContain('cooldown: 1h')
  })

  it('keeps what was changed by hand with --merge, says so, and a saved plan does the same', async () => {
    await byHand(look(9))
    put('agents.yaml', FILES['agents.yaml'].replace('Find the cause.', 'Find why.'))
    const saved = join(root, '..', 'plan.json')
    const planned = await run(`catalog plan ${root} --env prod --merge --out ${saved}`)
    expect([planned.code, planned.out]).toEqual([
      2,
      expect.stringContaining('run_budget_usd: 9, the file says 2'),
    ])
    expect(planned.out).toContain('0 to create, 1 to change, 0 to delete')
    expect(await run(`catalog apply ${saved}`)).toMatchObject({ code: 0 })
    expect((await run('agents show look --json')).out).toContain('"run_budget_usd":9')
    expect((await run(`catalog plan ${root} --env prod --merge`)).code).toBe(0)
    expect((await run(`catalog plan ${root} --env prod`)).code).toBe(2)
  })

  it('gives a part that was renamed in the instance its name where it is said, and says so under moved', async () => {
    const test = `tests:
  - name: too many # of them
    events:
      - { source: gateway, at: 30s, every: 1s, times: 9, body: {} }
    until: 10m
    expect:
      - { trigger: errors, not_fires: true } # never
`
    put(
      'agents.yaml',
      FILES['agents.yaml'].replace(
        'prompt: Say what broke.',
        'trigger: errors # wakes\n    prompt: Say what broke.',
      ),
    )
    put('triggers/errors.yaml', `${FILES['triggers/errors.yaml']}${test}`)
    put(
      'environments/prod.yaml',
      `${FILES['environments/prod.yaml']}triggers: [{ name: errors, cooldown: 20m }] # calm\n`,
    )
    const staging = 'environment: staging\ntriggers:\n  - { name: errors, cooldown: 1m } # lively\n'
    put('environments/staging.yaml', staging)
    expect(await run(`catalog apply ${root} --env prod --yes`)).toMatchObject({ code: 0 })
    const before = Object.fromEntries(
      ['agents.yaml', 'triggers/errors.yaml', 'environments/prod.yaml'].map((path) => [path, text(path)]),
    )
    expect(await run('triggers rename errors failures')).toMatchObject({ code: 0 })
    await byHand(
      errors('cooldown: 30m, description: Too many').replace('errors', 'failures').replace('> 5', '> 50'),
    )
    expect(await run(`catalog pull ${root} --env prod`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('> ((values.errors))'),
    })
    expect(text('triggers/errors.yaml')).toBe(
      `${before['triggers/errors.yaml']!.replace('name: errors', 'name: failures').replace('trigger: errors', 'trigger: failures').replace('cooldown: 10m\n', 'cooldown: 10m\ndescription: Too many\n')}moved:\n  - { trigger: errors, to: failures }\n`,
    )
    expect(text('environments/prod.yaml')).toBe(
      before['environments/prod.yaml']!.replace(
        'name: errors, cooldown: 20m',
        'name: failures, cooldown: 30m',
      ),
    )
    expect(text('environments/staging.yaml')).toBe(staging.replace('errors', 'failures'))
    expect(text('agents.yaml')).toBe(before['agents.yaml']!.replace('trigger: errors', 'trigger: failures'))
    expect(existsSync(join(root, 'triggers/failures.yaml'))).toBe(false)
    const planned = await run(`catalog plan ${root} --env prod`)
    expect(planned.out).toContain('0 to create, 1 to change, 0 to delete')
    expect(await svc(['catalog', 'test', root, '--env', 'staging'])).toMatchObject({ code: 0 })
  })

  it('puts what moved below the sections of a file as svc catalog fmt does, and brings its lines up to date', async () => {
    expect((await svc(['catalog', 'fmt', root])).code).toBe(0)
    const before = text('agents.yaml')
    for (const [from, to] of [
      ['dig', 'think'],
      ['think', 'ponder'],
    ]) {
      expect(await run(`agents rename ${from} ${to}`)).toMatchObject({ code: 0 })
      expect(await run(`catalog pull ${root} --env prod`)).toMatchObject({ code: 0, err: '' })
      const lines =
        to === 'think'
          ? '{ agent: dig, to: think }'
          : '{ agent: dig, to: ponder }\n  - { agent: think, to: ponder }'
      expect(text('agents.yaml')).toBe(
        `${before.replace('name: dig', `name: ${to}`)}\nmoved:\n  - ${lines}\n`,
      )
      expect(await svc(['catalog', 'fmt', '--check', root])).toMatchObject({ code: 0, out: '' })
      expect(await run(`catalog apply ${root} --env prod --yes`)).toMatchObject({ code: 0 })
    }
    expect(await run('agents rename ponder dig')).toMatchObject({ code: 0 })
    expect(await run(`catalog pull ${root} --env prod`)).toMatchObject({ code: 0, err: '' })
    expect(text('agents.yaml')).toContain('- { agent: think, to: dig }')
    expect(text('agents.yaml')).not.toContain('agent: dig')
    expect((await run(`catalog plan ${root} --env prod`)).out).toMatch(
      /^0 to .*\nshop comes to own agent dig\n$/,
    )
  })

  it('plans the name of the file back for a part that was renamed in the instance; a merge keeps the other', async () => {
    expect(await run('triggers rename errors failures')).toMatchObject({ code: 0 })
    const planned = await run(`catalog plan ${root} --env prod`)
    expect(planned.code).toBe(2)
    expect(planned.out).toContain('~ trigger errors (renamed from failures)')
    expect(planned.out).toContain('0 to create, 2 to change, 0 to delete')
    expect((await run('catalog drift')).out).toMatch(/errors.*failures/)
    expect((await run('catalog drift')).out).not.toContain('in no file')
    const merged = await run(`catalog plan ${root} --env prod --merge`)
    expect(merged.out).toContain('trigger failures, name: "failures", the file says "errors"')
    expect(merged.code).toBe(0)
    expect(await run(`catalog apply ${root} --env prod --yes --merge`)).toMatchObject({ code: 0 })
    expect((await run('triggers list --json')).out).toContain('failures')
    expect(await run(`catalog apply ${root} --env prod --yes`)).toMatchObject({ code: 0 })
    const { out } = await run('triggers list --json')
    expect([out.includes('"errors"'), out.includes('failures')]).toEqual([true, false])
  })

  it('leaves a name that comes of a value, and reports it', async () => {
    put('catalog.yaml', `${FILES['catalog.yaml'].replace(' }', ', pages: errors }')}`)
    put(
      'triggers/errors.yaml',
      FILES['triggers/errors.yaml'].replace('name: errors', 'name: ((values.pages))'),
    )
    expect(await run('triggers rename errors failures')).toMatchObject({ code: 0 })
    await byHand(errors('cooldown: 30m').replace('errors', 'failures'))
    const { code, err } = await run(`catalog pull ${root} --env prod`)
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(
        'triggers/errors.yaml:2:7: triggers[0].name is errors in the files and failures in the instance',
      ),
    ])
    expect(text('triggers/errors.yaml')).toContain('name: ((values.pages))')
    expect(text('triggers/errors.yaml')).toContain('cooldown: 30m')
    expect(existsSync(join(root, 'triggers/failures.yaml'))).toBe(false)
  })
})
