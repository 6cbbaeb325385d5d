/** `svc events export`, and plans of two files over what it wrote, without a daemon. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { CatalogChecked } from '../../../schemas/types.ts'
import { svc } from './cli-harness.ts'
import { type Daemon, startDaemon } from './real-daemon.ts'

let daemon: Daemon
beforeEach(async () => {
  daemon = await startDaemon()
})
afterEach(() => daemon.stop())

const run = (...argv: string[]) => svc([...argv, '--svcd', daemon.url])
const folder = mkdtempSync(join(tmpdir(), 'svc-events-'))
const fileOf = (name: string, cooldown: string): string => {
  const file = join(folder, name)
  writeFileSync(
    file,
    `sources:
  - name: app
    connector: webhook
    config: { labels: [{ name: service, field: service, primary: true }] }
triggers:
  - { name: any, sources: [app], condition: { event: any }, cooldown: ${cooldown} }
`,
  )
  return file
}

/** So that a device itself is never taken the place of. */
function linkTo(device: string): string {
  const link = join(folder, 'device')
  symlinkSync(device, link)
  return link
}

async function sent(): Promise<void> {
  await run('catalog', 'apply', fileOf('base.yaml', '1h'), '--yes')
  const { ingest_key } = JSON.parse((await run('sources', 'show', 'app', '--json')).out) as {
    ingest_key: string
  }
  const body = JSON.stringify(['pay', 'cart', 'pay'].map((service) => ({ service, api_key: 'abcd1234efgh' })))
  await fetch(`${daemon.url}/ingest/${ingest_key}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
}

describe('svc events export', () => {
  it.each(['events.ndjson', 'events.ndjson.gz', 'events.ndjson.zst'])(
    'writes %s, over which a plan of two files says what the daemon does',
    async (name) => {
      await sent()
      const file = join(folder, name)
      const other = join(folder, 'other')
      writeFileSync(other, 'of somebody else')
      // What somebody put where the file is written first is not written to.
      symlinkSync(other, `${file}.part`)
      const ran = await run('events', 'export', file, '--window', '1h')
      expect([readFileSync(other, 'utf8'), lstatSync(file).isFile()]).toEqual(['of somebody else', true])
      expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('wrote 3 events')])
      expect(existsSync(`${file}.part`)).toBe(false)
      const changed = fileOf('changed.yaml', '1s')
      const alone = await svc([
        'catalog',
        'plan',
        changed,
        '--base',
        join(folder, 'base.yaml'),
        '--events',
        file,
        '--json',
      ])
      const asked = await run('catalog', 'plan', changed, '--prune', '--backtest', '1h', '--json')
      expect([alone.code, alone.err]).toEqual([2, ''])
      const of = (text: string) => (JSON.parse(text) as CatalogChecked).backtest
      expect(of(alone.out)).toEqual(of(asked.out))
      expect(of(alone.out)!.triggers[0]).toMatchObject({ added: 0, same: 2, before: { cooldown: 1 } })
    },
  )

  it('redacts secrets, and refuses more than is asked for and files that are no events', async () => {
    await sent()
    const file = join(folder, 'plain.ndjson')
    await run('events', 'export', file)
    const text = readFileSync(file, 'utf8')
    expect([text.includes('abcd1234efgh'), text.includes('[redacted]')]).toEqual([false, true])
    const many = await run('events', 'export', join(folder, 'none'), '--max-events', '2')
    expect([many.code, many.err]).toEqual([
      1,
      expect.stringContaining('there are 3 events, and 2 are exported at most'),
    ])
    expect(existsSync(join(folder, 'none'))).toBe(false)
    const two = ['catalog', 'plan', fileOf('changed.yaml', '2h'), '--base', fileOf('base.yaml', '1h')]
    const notEvents = await svc([...two, '--events', fileOf('base.yaml', '1h')])
    expect([notEvents.code, notEvents.err]).toEqual([65, expect.stringContaining('is not JSON')])
    writeFileSync(file, text.replace('"stored_at"', '"at"'))
    const cut = await svc([...two, '--events', file])
    expect([cut.code, cut.err]).toEqual([
      65,
      expect.stringContaining('plain.ndjson:2: the line is no recorded event'),
    ])
    expect((await svc([...two, '--backtest', '7d'])).code).toBe(64)
    expect((await svc([...two, '--events', file, '--out', 'x'])).code).toBe(64)
  })

  it('writes what a link leads to, and into a pipe or a device, without taking their place', async () => {
    await sent()
    const [own, other] = ['own.ndjson', 'other'].map((name) => join(folder, name)) as [string, string]
    writeFileSync(other, 'of somebody else')
    symlinkSync(other, `${own}.part`)
    expect((await run('events', 'export', own)).code).toBe(0)
    expect(lstatSync(own).isFile()).toBe(true)
    expect(readFileSync(other, 'utf8')).toBe('of somebody else')
    const [shared, link, pipe] = ['shared.ndjson', 'link.ndjson', 'pipe'].map((name) =>
      join(folder, name),
    ) as [string, string, string]
    writeFileSync(shared, '')
    symlinkSync(shared, link)
    await run('events', 'export', link)
    expect(readFileSync(shared, 'utf8').split('\n')).toHaveLength(5)
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    execFileSync('mkfifo', [pipe])
    const reader = spawn('cat', [pipe])
    onTestFinished(() => void reader.kill())
    let read = ''
    reader.stdout.on('data', (part) => (read += part))
    // It may end before the command does.
    const closed = once(reader, 'close')
    const ran = await run('events', 'export', pipe)
    expect([ran.code, lstatSync(pipe).isFIFO(), existsSync(`${pipe}.part`)]).toEqual([0, true, false])
    await closed
    expect(read.split('\n')).toHaveLength(5)
    const full = await run('events', 'export', linkTo('/dev/full'))
    expect([full.code, full.err]).toEqual([74, expect.stringContaining('no space left')])
  })

  it('plans one file against another without events, too', async () => {
    const base = fileOf('base.yaml', '1h')
    const { code, out } = await svc(['catalog', 'plan', fileOf('changed.yaml', '2h'), '--base', base])
    expect([code, out]).toEqual([2, expect.stringContaining('cooldown: "1h" → "2h"')])
    expect((await svc(['catalog', 'plan', base, '--base', base])).code).toBe(0)
  })

  it('plans an environment that no file had before as new, and still tells a name that is mistyped', async () => {
    const rootOf = (name: string, files: Record<string, string>) => {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(join(folder, name, path, '..'), { recursive: true })
        writeFileSync(join(folder, name, path), text)
      }
      return join(folder, name)
    }
    const before = {
      'catalog.yaml': 'catalog: shop\nvalues: { kind: { type: text } }\n',
      'sources/app.yaml':
        'kind: source\nname: app\nconnector: webhook\nconfig: { event_type: ((values.kind)) }\n',
      'environments/prod.yaml': 'environment: prod\nvalues: { kind: sale }\n',
    }
    const was = rootOf('one-environment', before)
    const is = rootOf('two-environments', {
      ...before,
      'environments/dev.yaml': 'environment: dev\nvalues: { kind: try }\n',
    })
    const plan = (env: string, ...more: string[]) =>
      svc(['catalog', 'plan', is, '--base', was, '--env', env, ...more])
    const { code, out, err } = await plan('dev')
    expect([code, err]).toEqual([
      2,
      'new environment dev: no file had it before, so the plan makes all of it\n',
    ])
    expect(out).toContain('+ source app\n')
    const markdown = await plan('dev', '--markdown')
    expect([markdown.code, markdown.err]).toEqual([2, ''])
    expect(markdown.out).toMatch(
      /^### Plan of `shop` for `dev`\n\n2 to create.*\n\nnew environment dev: no file had it/,
    )
    expect(await plan('prod')).toMatchObject({ code: 0, err: '' })
    const mistyped = await plan('porduction')
    expect([mistyped.code, mistyped.err]).toEqual([
      65,
      expect.stringContaining('no file says environment: porduction; there are dev, prod'),
    ])
    // What cannot be read is no new environment: its file may be the one that has it.
    writeFileSync(join(was, 'environments', 'other.yaml'), 'environment: [dev')
    expect(await plan('dev')).toMatchObject({ code: 65 })
  })

  it('knows a part of one file that has its old name again in another', async () => {
    const [was, is] = [fileOf('named.yaml', '1h'), fileOf('again.yaml', '1h')]
    const text = readFileSync(was, 'utf8').replaceAll(/\bapp\b/g, 'shop')
    writeFileSync(was, `${text}moved: [{ source: app, to: shop }]\n`)
    const { code, out } = await svc(['catalog', 'plan', is, '--base', was])
    expect([code, out]).toEqual([2, expect.stringContaining('0 to create, 3 to change, 0 to delete')])
  })

  it('plans folders against folders with an environment on both sides, and says what the instance says', async () => {
    /** Two catalogs, one of which reads the source of the other. */
    const catalogs = (name: string, cooldown: string) => {
      const root = join(folder, name)
      const files = {
        'app/catalog.yaml':
          'catalog: app\nsources:\n  - name: app\n    connector: webhook\n    config: { labels: [{ name: service, field: service, primary: true }] }\n',
        'ops/catalog.yaml': 'catalog: ops\nvalues: { wait: 1h }\n',
        'ops/triggers/any.yaml':
          'kind: trigger\nname: any\nsources: [app]\ncondition: { event: any }\ncooldown: ((values.wait))\n',
        'ops/environments/prod.yaml': `environment: prod\nvalues: { wait: ${cooldown} }\n`,
      }
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(join(root, path, '..'), { recursive: true })
        writeFileSync(join(root, path), text)
      }
      return ['app', 'ops'].map((catalog) => join(root, catalog))
    }
    const base = catalogs('base', '2h')
    const changed = catalogs('changed', '1s')
    const env = ['--env', 'prod']
    expect((await run('catalog', 'apply', ...base, ...env, '--yes')).code).toBe(0)
    const { ingest_key } = JSON.parse((await run('sources', 'show', 'app', '--json')).out) as {
      ingest_key: string
    }
    const services = ['pay', 'cart', 'pay']
    await fetch(`${daemon.url}/ingest/${ingest_key}`, {
      method: 'POST',
      body: JSON.stringify(services.map((service) => ({ service }))),
      headers: { 'content-type': 'application/json' },
    })
    const file = join(folder, 'several.ndjson')
    await run('events', 'export', file, '--window', '1h')
    const offline = ['--base', ...base, ...env, '--events', file, '--json']
    const alone = await svc(['catalog', 'plan', ...changed, ...offline])
    const asked = await run('catalog', 'plan', ...changed, ...env, '--backtest', '1h', '--json')
    expect([alone.code, alone.err, asked.code]).toEqual([2, '', 2])
    const [told, expected] = [alone, asked].map(({ out }) => JSON.parse(out) as CatalogChecked)
    const changesOf = ({ plan }: CatalogChecked) => plan!.changes.filter(({ action }) => action !== 'none')
    expect(changesOf(told!)).toEqual(changesOf(expected!))
    expect(changesOf(told!)).toMatchObject([{ name: 'any', fields: [{ from: '2h', to: '1s' }] }])
    expect(told!.backtest).toEqual(expected!.backtest)
    expect(told!.backtest!.triggers).toMatchObject([{ trigger: 'any', same: 2, before: { cooldown: 1 } }])
    // Without the environment its values are left out on both sides, and nothing differs.
    expect((await svc(['catalog', 'plan', ...changed, '--base', ...base])).code).toBe(0)
    // A part one catalog has no more, while the other still reads it, is a problem as it is for an instance.
    writeFileSync(join(changed[0]!, 'catalog.yaml'), 'catalog: app\n')
    const gone = await svc(['catalog', 'plan', ...changed, '--base', ...base, ...env])
    expect([gone.code, gone.err]).toEqual([65, expect.stringContaining('app')])
  })
})
