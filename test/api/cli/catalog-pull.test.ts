/** `svc catalog pull` and `--merge`: what was changed by hand goes into the files, or stays, or is a conflict. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
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
      out: 'no change: the files say what the instance has\n',
    })
    for (const [path, before] of Object.entries(FILES)) expect(text(path)).toBe(before)
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
    expect(await run(`catalog plan ${root} --env prod`)).toMatchObject({ code: 0 })
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
})
