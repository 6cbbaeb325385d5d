/** The built command as a process: starts, refusals, signals, files. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { currentDaemon } from '../../../../scripts/build.mjs'
import { SHORT_LIVED } from '../../../short-lived.ts'
import { svc } from '../cli-harness.ts'

let command: string
let home: string
let running: Daemon[] = []

interface Daemon {
  child: ChildProcess
  /** Everything on standard output and standard error so far. */
  output(): string
  url: string
}

beforeAll(async () => {
  command = await currentDaemon('dist/test-up')
})
beforeEach(() => {
  home = join(mkdtempSync(join(tmpdir(), 'svc-up-')), 'home')
})
afterEach(async () => {
  for (const { child } of running) {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  running = []
  rmSync(join(home, '..'), { recursive: true })
})

function launch(
  args: string[],
  env: Record<string, string> = {},
): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, [...SHORT_LIVED, command, ...args], {
    env: {
      PATH: process.env.PATH,
      HOME: join(home, '..'),
      SVC_HOME: home,
      SVC_OTLP_GRPC_PORT: 'off',
      // As the command keeps it, which is not started here: its process is the one to signal.
      NODE_COMPILE_CACHE: join(dirname(command), '.compiled'),
      ...env,
    },
  })
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  child.stderr.on('data', (chunk) => {
    text += chunk
  })
  return { child, output: () => text }
}

/** Runs a command that ends by itself. */
async function ended(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; output: string }> {
  const { child, output } = launch(args, env)
  const [code] = (await once(child, 'close')) as [number]
  return { code, output: output() }
}

/** Starts a daemon on a free port and waits until it says where it is. */
async function started(args: string[] = [], env: Record<string, string> = {}): Promise<Daemon> {
  const { child, output } = launch(['up', '--port', '0', ...args], env)
  const daemon: Daemon = { child, output, url: '' }
  running.push(daemon)
  while (daemon.url === '') {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${output()}`)
    await once(child.stdout!, 'data')
    daemon.url = /console at (\S+)/.exec(output())?.[1] ?? ''
  }
  return daemon
}

/** Ends it by a signal, and expects 0 and a complete data file. */
async function expectClean(daemon: Daemon, signal: NodeJS.Signals): Promise<void> {
  expect(await stop(daemon, signal)).toBe(0)
  expect(daemon.output()).toContain('stopped')
  expect(existsSync(join(home, 'svc.db-wal'))).toBe(false)
  expect(existsSync(join(home, 'svc.db.pid'))).toBe(false)
}

async function stop(daemon: Daemon, signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
  daemon.child.kill(signal)
  const [code] = (await once(daemon.child, 'close')) as [number]
  return code
}

describe('svc up', () => {
  it('makes the data home, serves /health and says where it is, open; SIGTERM leaves a complete data file', async () => {
    const daemon = await started()
    expect(daemon.output()).toContain(
      `svc: console at ${daemon.url}  ·  data in ${home}  ·  auth OFF (open; run with --auth to require a login)\n`,
    )
    const health = await fetch(`${daemon.url}/health`)
    expect(await health.json()).toMatchObject({ status: 'ok', auth_required: false })
    await expectClean(daemon, 'SIGTERM')
  })

  it('ends with 0 by a signal that comes before it listens', async () => {
    const { child, output } = launch(['up', '--port', '0'], { SVC_UNKNOWN: '1' })
    running.push({ child, output, url: '' })
    while (!output().includes('SVC_UNKNOWN')) await once(child.stdout!, 'data')
    child.kill('SIGTERM')
    expect(await once(child, 'close')).toEqual([0, null])
  })

  it('takes syslog where SVC_SYSLOG_PORT says, and stores before it ends what it has read', async () => {
    const daemon = await started([], { SVC_SYSLOG_PORT: '0' })
    const place = /syslog at 127\.0\.0\.1:(\d+), TCP and UDP\n/
    while (!place.test(daemon.output())) await once(daemon.child.stdout!, 'data')
    const socket = connect(Number(place.exec(daemon.output())![1]), '127.0.0.1')
    socket.on('error', () => {})
    socket.write('<11>Oct 11 22:14:15 web-1 app: one\n<11>Oct 11 22:14:15 web-1 app: two\n')
    const metrics = async () => (await fetch(`${daemon.url}/metrics`)).text()
    while (!(await metrics()).includes('svc_syslog_messages_total{transport="tcp"} 2\n'));
    expect(await stop(daemon)).toBe(0)
    const again = await started()
    const answer = await fetch(`${again.url}/read`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ selector: { host: 'web-1' }, window: '365d' }),
    })
    const { rows } = (await answer.json()) as { rows: { text: string; source: string }[] }
    expect(rows).toMatchObject([
      { source: 'syslog', text: 'app: one' },
      { source: 'syslog', text: 'app: two' },
    ])
    expect(again.output()).not.toContain('syslog')
  })

  it('logs once that ingest is refused for want of storage, with figures and what to do, and once that it is taken', async () => {
    const daemon = await started([], { SVC_MAX_DB_SIZE: '4M', SVC_LOG_FORMAT: 'json' })
    const call = async (method: string, path: string, body?: string) =>
      fetch(`${daemon.url}${path}`, {
        method,
        ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
      })
    const make = JSON.stringify({ name: 'app', connector: 'webhook' })
    const { ingest_key: key } = (await (await call('POST', '/api/sources', make)).json()) as Record<
      string,
      string
    >
    const bulk = JSON.stringify(Array.from({ length: 100 }, () => ({ text: 'x'.repeat(2_000) })))
    const lines = () =>
      daemon
        .output()
        .split('\n')
        .filter((line) => /"msg":"ingest is /.test(line))
        .map((line) => JSON.parse(line) as Record<string, string>)
    await expect.poll(async () => (await call('POST', `/ingest/${key}`, bulk)).status).toBe(507)
    for (let i = 0; i < 3; i++) expect((await call('POST', `/ingest/${key}`, bulk)).status).toBe(507)
    await expect.poll(lines).toMatchObject([
      {
        level: 'warn',
        msg: 'ingest is refused with 507 until there is room',
        why: expect.stringMatching(/raise SVC_MAX_DB_SIZE$/),
      },
    ])
    await call('DELETE', '/api/sources/app?cascade=true&purge_events=true')
    await expect
      .poll(lines, { timeout: 10_000 })
      .toMatchObject([
        { level: 'warn' },
        { level: 'info', msg: 'ingest is taken again', why: expect.stringMatching(/^storage is at /) },
      ])
  })

  it('goes on without syslog where its port is in use, and says so; SIGINT leaves a complete data file', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as { port: number }
    const daemon = await started([], { SVC_SYSLOG_PORT: String(port) })
    const line = `svc: syslog is off: port ${port} on 127.0.0.1 is in use`
    while (!daemon.output().includes(line)) await once(daemon.child.stdout!, 'data')
    expect((await fetch(`${daemon.url}/health`)).status).toBe(200)
    taken.close()
    await expectClean(daemon, 'SIGINT')
  })

  it('requires the login it prints, and prints the same one the next time; all in the data home is for its owner alone', async () => {
    const first = await started(['--auth'])
    expect(statSync(home).mode & 0o777).toBe(0o700)
    const files = readdirSync(home)
    expect(files).toEqual(expect.arrayContaining(['svc.db', 'root_token', 'secret.key']))
    for (const file of files)
      expect(`${file} ${(statSync(join(home, file)).mode & 0o077).toString(8)}`).toBe(`${file} 0`)
    const token = readFileSync(join(home, 'root_token'), 'utf8').trim()
    expect(first.output()).toContain(`svc: auth ON; log in at ${first.url}/?token=${token}\n`)
    expect((await fetch(`${first.url}/api/sources`)).status).toBe(401)
    expect(
      (await fetch(`${first.url}/api/sources`, { headers: { authorization: `Bearer ${token}` } })).status,
    ).toBe(200)
    // A client command has the root token of the data home.
    const { code, output } = await ended(['sources', 'list', '--json', '--svcd', first.url])
    expect([code, output]).toEqual([0, '[]\n'])
    expect(await stop(first)).toBe(0)
    expect((await started(['--auth'])).output()).toContain(`?token=${token}\n`)
  })

  it('never writes a token into its log', async () => {
    const daemon = await started(['--auth=canary-token'], { SVC_LOG_LEVEL: 'debug', SVC_LOG_FORMAT: 'json' })
    await fetch(`${daemon.url}/?token=canary-token`)
    await fetch(`${daemon.url}/api/sources?token=canary-token`, {
      headers: { authorization: 'Bearer canary-token', cookie: 'a=canary-token' },
    })
    await stop(daemon)
    const log = daemon
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
    expect(log.length).toBeGreaterThan(2)
    expect(log.join('\n')).not.toContain('canary-token')
    expect(existsSync(join(home, 'root_token'))).toBe(false)
  })

  it('warns loudly when others can reach it without a login, and starts; SIGHUP leaves a complete data file', async () => {
    const daemon = await started(['--host', '0.0.0.0'])
    expect(daemon.output()).toMatch(
      /!{20}[\s\S]*WITHOUT a login[\s\S]*--auth[\s\S]*!{20}\nsvc: console at http:\/\/127\.0\.0\.1:/,
    )
    await expectClean(daemon, 'SIGHUP')
  })

  it('names the port that is in use and the way out', async () => {
    const blocker: Server = createServer().listen(0, '127.0.0.1')
    await once(blocker, 'listening')
    const { port } = blocker.address() as { port: number }
    const { code, output } = await ended(['up', '--port', String(port)])
    const byVariable = await ended(['up'], { SVC_PORT: String(port) })
    blocker.close()
    expect([code, byVariable.code]).toEqual([1, 1])
    expect(output).toContain(`port ${port} on 127.0.0.1 is in use`)
    expect(output).toContain('choose another port with --port\n')
    expect(byVariable.output).toContain('choose another port with SVC_PORT\n')
  })

  // An address of documentation (RFC 5737) is of no machine.
  it.each([
    [['up', '--port', '0'], { SVC_HOST: '192.0.2.1' }, 'SVC_HOST'],
    [['up', '--port', '0', '--host', '192.0.2.1'], { SVC_HOST: '127.0.0.1' }, '--host'],
    [['up', '--port', '0'], { SVC_SYSLOG_PORT: '0', SVC_SYSLOG_HOST: '192.0.2.1' }, 'SVC_SYSLOG_HOST'],
  ] as const)('refuses an address of another machine with 78: %j %j', async (args, env, named) => {
    const { code, output } = await ended([...args], env)
    expect(code).toBe(78)
    expect(output).toContain(`192.0.2.1 is not an address of this machine; choose another with ${named}\n`)
  })

  it.each([
    [['up'], { NAVFLOW_DB: 'x' }, 'NAVFLOW_DB -> SVC_DB'],
    [['up'], { SVC_INGEST_TOKEN: 'x' }, 'this would start svc open, without any login'],
    [['up'], { SVC_DEMO_LOKI_URL: 'loki' }, 'SVC_DEMO_LOKI_URL must be an absolute http or https address'],
    [['up', '--auth='], {}, '--auth='],
    [['up', '--host', '0.0.0.0'], { SVC_AUTH_TOKEN: '' }, 'SVC_AUTH_TOKEN is blank'],
    [['up', '--port', 'x'], {}, '--port'],
    [['up'], { SVC_CATALOG_REPO_SSH_KEY: '/none/key' }, 'SVC_CATALOG_REPO_SSH_KEY must name a file'],
    [['up'], { SVC_JOURNAL: 'yes' }, 'SVC_JOURNAL must be on'],
    [['up'], { SVC_MAX_DB_SIZE: 'big' }, 'SVC_MAX_DB_SIZE must be a size'],
  ] as const)('refuses to start with %j %j and creates nothing', async (args, env, message) => {
    const { code, err } = await svc([...args], { env: { SVC_HOME: home, ...env } })
    expect(code).toBe(78)
    expect(err).toContain(message)
    expect(existsSync(home)).toBe(false)
  })

  it('refuses to start beside a data file from before 1.0 and prints the move', async () => {
    const folder = join(home, '..')
    writeFileSync(join(folder, 'navflow.db'), '')
    const { code, err } = await svc(['up', '--data-dir', folder])
    expect(code).toBe(78)
    expect(err).toContain(`mv ${folder}/navflow.db ${folder}/svc.db`)
    expect(readdirSync(folder)).toEqual(['navflow.db'])
  })

  it('refuses a data home that is a file with 78, and says what to choose', async () => {
    const file = join(home, '..', 'a-file')
    writeFileSync(file, '')
    const { code, output } = await ended(['up', '--data-dir', file])
    expect(code).toBe(78)
    expect(output).toBe(`svc: ${file} is not a folder, or is within a file; choose another with --data-dir\n`)
  })

  it('refuses a file that is not its own with 78', async () => {
    const file = join(home, '..', 'x.db')
    writeFileSync(file, 'not a database, but long enough to look at: '.repeat(20))
    const { code, output } = await ended(['up', '--port', '0'], { SVC_DB: file })
    expect(code).toBe(78)
    expect(output).toContain(file)
  })

  it('finishes a request that is under way before it exits', async () => {
    const daemon = await started()
    const body = new TransformStream<Uint8Array, Uint8Array>()
    const writer = body.writable.getWriter()
    const request = fetch(`${daemon.url}/remember`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: body.readable,
      duplex: 'half',
    } as RequestInit & { duplex: 'half' })
    const text = JSON.stringify({ key: 'checkout', content: 'kept' })
    await writer.write(Buffer.from(text.slice(0, 10)))
    await fetch(`${daemon.url}/health`)
    const end = stop(daemon)
    await expect.poll(() => daemon.output()).toContain('stopping')
    await writer.write(Buffer.from(text.slice(10)))
    await writer.close()
    expect((await request).status).toBe(202)
    expect(await end).toBe(0)
  })

  it('refuses a second daemon on the same data, naming the first one, which exits at once on a second signal', async () => {
    const daemon = await started()
    const second = await ended(['up', '--port', '0'])
    expect(second.code).toBe(75)
    expect(second.output).toContain(`pid ${daemon.child.pid}`)
    const tail = await fetch(`${daemon.url}/health`, { keepalive: true })
    expect(tail.status).toBe(200)
    // A request that never ends keeps the first signal from finishing.
    const body = new TransformStream()
    const hanging = fetch(`${daemon.url}/remember`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: body.readable,
      duplex: 'half',
    } as RequestInit & { duplex: 'half' })
    hanging.catch(() => {})
    await body.writable.getWriter().write(Buffer.from('{'))
    await fetch(`${daemon.url}/health`)
    daemon.child.kill('SIGTERM')
    await expect.poll(() => daemon.output()).toContain('stopping')
    // Again until it counts: right after the first it would be taken for the same signal.
    const again = setInterval(() => daemon.child.kill('SIGTERM'), 100)
    const [code] = (await once(daemon.child, 'close')) as [number]
    clearInterval(again)
    expect(code).toBe(1)
  })

  it('backs up while it runs, and the backup restores after it stopped', async () => {
    const daemon = await started()
    const remember = (content: string) =>
      fetch(`${daemon.url}/remember`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ key: 'k', content }),
      })
    await remember('before the backup')
    const file = join(home, '..', 'backup.db')
    expect(await ended(['backup', file])).toMatchObject({ code: 0 })
    expect((await ended(['backup', file])).output).toContain('exists')
    await remember('after the backup')
    expect((await ended(['restore', file])).code).toBe(75)
    expect(await ended(['backup', join(home, 'none', 'b.db')])).toMatchObject({
      ...{ code: 74, output: expect.stringContaining('none does not exist') },
    })
    await stop(daemon)
    const restored = await ended(['restore', file, '--json'])
    expect(restored.code).toBe(0)
    expect(JSON.parse(restored.output)).toMatchObject({ ok: true, file: join(home, 'svc.db') })
    const elsewhere = join(home, '..', 'elsewhere')
    const moved = await ended(['restore', file, '--data-dir', elsewhere])
    expect(moved).toMatchObject({
      code: 0,
      output: expect.stringMatching(/elsewhere.secret\.key is not there: put/),
    })
    const again = await started()
    const { output } = await ended(['read', 'key=k', '--window', '1h', '--svcd', again.url])
    expect(output).toContain('before the backup')
    expect(output).not.toContain('after the backup')
  })
})

describe('a command whose standard output nobody takes', () => {
  const catalog = (name: string) => {
    const file = join(home, '..', `${name}.yaml`)
    writeFileSync(file, `sources:\n  - { name: ${name}, connector: webhook }\n`)
    return file
  }
  /** @param lost closes standard output, or both, before the command writes */
  const unread = async (args: string[], lost: 'out' | 'both' = 'out') => {
    const { child, output } = launch(args)
    child.stdout!.destroy()
    if (lost === 'both') child.stderr!.destroy()
    const [code] = (await once(child, 'close')) as [number]
    return { code, output: output() }
  }

  it('does what it is for, and exits with what that came to; a tail ends', async () => {
    const { url } = await started()
    const at = ['--svcd', url]
    expect((await unread(['catalog', 'plan', catalog('a'), ...at])).code).toBe(2)
    expect(await unread(['catalog', 'apply', catalog('a'), '--yes', ...at])).toMatchObject({
      code: 0,
      output: expect.stringContaining('applied as change-set'),
    })
    expect((await unread(['catalog', 'apply', catalog('b'), '--yes', ...at], 'both')).code).toBe(0)
    expect((await ended(['sources', 'list', ...at])).output).toMatch(/^a .*\nb /m)
    const source = (await (await fetch(`${url}/api/sources/a`)).json()) as { ingest_key: string }
    const tail = { ...launch(['tail', ...at]), url }
    running.push(tail)
    tail.child.stdout!.destroy()
    await expect
      .poll(async () => {
        await fetch(`${url}/ingest/${source.ingest_key}`, { method: 'POST', body: '{"x":1}' })
        return tail.child.exitCode
      })
      .toBe(0)
  })

  it.skipIf(!existsSync('/dev/full'))('says what it cannot write, and exits with 74', async () => {
    const { url } = await started()
    const full = openSync('/dev/full', 'w')
    const args = ['catalog', 'apply', catalog('c'), '--yes', '--svcd', url]
    const child = spawn(process.execPath, [command, ...args], {
      env: { PATH: process.env.PATH, HOME: join(home, '..'), SVC_HOME: home },
      stdio: ['ignore', full, 'pipe'],
    })
    let said = ''
    child.stderr!.on('data', (chunk) => {
      said += chunk
    })
    expect(await once(child, 'close')).toEqual([74, null])
    closeSync(full)
    expect(said).toMatch(/^svc: cannot write standard output: ENOSPC.*\napplied as change-set/)
  })
})
