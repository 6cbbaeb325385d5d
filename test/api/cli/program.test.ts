import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildProgram } from '../../../api/cli/program.ts'
import type { Io } from '../../../api/cli/terminal.ts'
import { createEngine } from '../../../engine/local.ts'
import { svc } from './cli-harness.ts'

describe('the command line', () => {
  it('prints help and exits with 0 without a command', async () => {
    const ran = await svc([])
    expect(ran.code).toBe(0)
    expect(ran.out).toContain('Usage: svc')
    for (const group of ['Daemon', 'Timeline', 'Setup', 'Data', 'Examples:']) expect(ran.out).toContain(group)
  })

  it('keeps descriptions beside the options on a terminal of 60 columns', () => {
    const sync = buildProgram({ out: () => {}, err: () => {}, env: {} } as unknown as Io)
      .commands.find((one) => one.name() === 'catalog')!
      .commands.find((one) => one.name() === 'sync')!
    sync.configureOutput({ getOutHelpWidth: () => 60 })
    const lines = sync.helpInformation().split('\n')
    expect(lines.filter((line) => line.length > 60)).toEqual([])
    expect(lines.filter((line) => /^ {20}\S/.test(line))).toEqual([])
  })

  it('prints its version', async () => {
    const ran = await svc(['--version'])
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out).toMatch(/^svc \d+\.\d+\.\d+\n$/)
  })

  it.each([
    [['nope'], "unknown command 'nope'"],
    [['help', 'nope'], "unknown command 'nope'\nusage: svc ["],
    [['help', 'sources', 'lst'], "unknown command 'lst' (did you mean list?)\nusage: svc sources "],
    [['sources', 'help', 'lst'], "unknown command 'lst' (did you mean list?)\nusage: svc sources "],
    [['sources', 'lst'], "unknown command 'lst' (did you mean list?)\nusage: svc sources "],
    [['sources', 'delete', 'x', '--yes'], "unknown command 'delete'"],
    [['up', '--nope'], "unknown option '--nope'"],
    [['up', 'extra'], 'too many arguments'],
    [['read'], 'give labels such as service=checkout, or --source'],
    [['sources', 'add', 'x'], "required option '--connector <kind>'"],
    [['keys', 'create', 'x'], '--scope is required'],
    [['read', 'service'], '"service" is not of the form label=value'],
    [['read', 'a=1', 'a=2'], 'a is given twice'],
    [['read', 'a=1', '--limit', 'many'], '--limit must be a whole number'],
    [['read', 'a=1', '--order', 'up'], '--order must be asc or desc'],
    [['read', 'a=1', '--window', '1h', '--from', '2026-01-01T00:00:00Z'], '--window or --from'],
    [['send', 'logs', '--type', 'csv'], '--type must be json or ndjson'],
    [
      ['keys', 'create', 'x', '--scope', 'root'],
      '--scope root: must be one of read, ingest, admin, findings',
    ],
    [['sources', 'add', 'x', '--connector', 'webhook', '--primary', 'service'], 'give that label'],
  ])('%j exits with 64 and names the mistake on standard error', async (argv, message) => {
    const ran = await svc(argv)
    expect(ran.code).toBe(64)
    expect(ran.out).toBe('')
    expect(ran.err).toContain(message)
  })

  it.each([
    [['send', 'logs', 'missing.json', '--json'], 66, 'there is no file missing.json'],
    [['read', 'service', '--json'], 64, '"service" is not of the form label=value'],
    [['up', '--nope', '--json'], 64, "unknown option '--nope'"],
    [['sources', '--json', '--svcd', 'http://127.0.0.1:9'], 69, 'http://127.0.0.1:9'],
  ])('F: %j tells its mistake as JSON, alone on standard error, with %d', async (argv, code, error) => {
    const ran = await svc(argv)
    expect([ran.code, ran.out]).toEqual([code, ''])
    expect(JSON.parse(ran.err)).toMatchObject({ error: expect.stringContaining(error), exit_code: code })
  })

  it.each([
    [['help'], 'Usage: svc ['],
    [['help', 'help'], 'Usage: svc ['],
    [['sources', 'help'], 'Usage: svc sources ['],
    [['help', 'sources', 'list'], 'Usage: svc sources list ['],
    [['sources', 'help', 'list'], 'Usage: svc sources list ['],
  ])('%j is the help of what it names', async (argv, begins) => {
    const ran = await svc(argv)
    expect([ran.code, ran.err, ran.out.slice(0, begins.length)]).toEqual([0, '', begins])
  })

  it('exits with 66 for a file that is not there', async () => {
    const ran = await svc(['send', 'logs', 'missing.json'])
    expect([ran.code, ran.err]).toEqual([66, 'svc: there is no file missing.json\n'])
  })

  it('exits with 66 for a backup or a data file that cannot be read, with 65 for one that is none', async () => {
    const home = mkdtempSync(join(tmpdir(), 'svc-program-'))
    const text = join(home, 'notes.txt')
    writeFileSync(text, 'no database')
    const missing = join(home, 'missing.db')
    for (const [argv, code, says] of [
      [['restore', missing], 66, `there is no backup at ${missing}`],
      [['restore', home], 66, `cannot read ${home}: it is a folder`],
      [['restore', text], 65, `${text} cannot be read as a backup`],
      [['backup', join(home, 'copy.db')], 66, 'there is no data file at'],
    ] as const) {
      const ran = await svc([...argv, '--data-dir', join(home, 'data'), '--json'])
      expect([ran.code, JSON.parse(ran.err)]).toEqual([
        code,
        { error: expect.stringContaining(says), exit_code: code },
      ])
    }
    rmSync(home, { recursive: true })
  })

  it('backs up the data file of this machine, and says so where SVCD_URL names another', async () => {
    const home = mkdtempSync(join(tmpdir(), 'svc-program-'))
    onTestFinished(() => rmSync(home, { recursive: true }))
    const engine = createEngine({ dataFile: join(home, 'svc.db') })
    await engine.close()
    const backup = (name: string, url: string) =>
      svc(['backup', join(home, name), '--data-dir', home], { env: { SVCD_URL: url } })
    expect(await backup('a.db', 'http://localhost:8787')).toMatchObject({ code: 0, err: '' })
    expect(await backup('b.db', 'https://svc.example.com')).toMatchObject({
      code: 0,
      err: 'svc: https://svc.example.com is not asked: a backup copies the data file of this machine\n',
    })
  })

  it('needs no folder to be run in, and says so in a line where a relative path does', async () => {
    const from = process.cwd()
    const gone = mkdtempSync(join(tmpdir(), 'svc-gone-'))
    process.chdir(gone)
    rmSync(gone, { recursive: true })
    try {
      const away = await svc(['status', '--svcd', 'http://127.0.0.1:9'])
      expect([away.code, away.err]).toEqual([69, expect.stringContaining('http://127.0.0.1:9')])
      for (const argv of [
        ['status', '--data-dir', 'data'],
        ['backup', 'copy.db'],
      ])
        expect(await svc(argv)).toMatchObject({
          code: 66,
          err: expect.stringMatching(/^svc: the folder this is run in no longer exists, .*\n$/),
        })
    } finally {
      process.chdir(from)
    }
  })

  it('makes no folder where none can be, and does not wait for one', async () => {
    expect(await svc(['catalog', 'init', '/proc/x'])).toMatchObject({
      code: 74,
      err: expect.stringMatching(/^svc: cannot write \/proc\/x: .*\n$/),
    })
  })

  it('shows the usage of the command a mistake was made in', async () => {
    const ran = await svc(['keys', 'revoke'])
    expect(ran.err).toContain('usage: svc keys revoke [options] <id>')
  })

  it.each([
    ['read', 'a=b'],
    ['tail'],
    ['send', 'x'],
    ['sources'],
    ['keys'],
    ['status'],
    ['up'],
    ['backup', 'x'],
    ['restore', 'x'],
  ])('%s refuses variables with the old prefix with exit code 78 and lists each rename', async (...argv) => {
    const ran = await svc(argv, { env: { NAVFLOW_DB: 'x', NAVFLOW_AUTH_TOKEN: 'hidden-value' } })
    expect(ran.code).toBe(78)
    expect(ran.err).toContain('NAVFLOW_AUTH_TOKEN -> SVC_AUTH_TOKEN')
    expect(ran.err).toContain('NAVFLOW_DB -> SVC_DB')
    expect(ran.err).not.toContain('hidden-value')
  })

  it('lists the environment in the help of up', async () => {
    const ran = await svc(['up', '--help'])
    expect(ran.out).toContain('SVC_MAX_DB_SIZE')
    expect(ran.out).toContain('SVC_DEMO_PROMETHEUS_URL')
  })
})
