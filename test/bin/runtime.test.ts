/**
 * A machine whose Node is too old: the project's own launcher in a copy that asks for a newer Node than the one
 * the tests run under. The Node it fetches is a package of a registry on this machine, whose program starts the
 * Node of the tests; npm itself is the real one.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { npmCommand } from '../../bin/runtime.mjs'
import { run } from '../../scripts/run.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SYSTEM = `${process.platform}-${process.arch}`

let folder: string
let registry: Server | null

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-runtime-'))
  registry = null
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'dist'))
  for (const file of ['node.mjs', 'runtime.mjs', 'svc.mjs'])
    copyFileSync(join(ROOT, 'bin', file), join(folder, 'bin', file))
  needs('>=99.1.0')
  writeReleases('sha512-none')
})

afterEach(() => {
  registry?.close()
  rmSync(folder, { recursive: true, force: true })
})

function needs(node: string): void {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', engines: { node } }))
}

function writeReleases(integrity: string): void {
  const release = { package: 'fetched-node', version: '24.99.0', program: 'bin/node', integrity }
  const releases = { 22: {}, 24: { [SYSTEM]: release }, 26: {} }
  writeFileSync(join(folder, 'bin', 'node-releases.json'), JSON.stringify(releases))
}

/** The program the launcher runs in place of the daemon. */
function writeProgram(text: string): void {
  writeFileSync(join(folder, 'dist', 'svc.mjs'), text)
}

/** A Node of its own version, which is the one of the tests. */
function writeNode(path: string, version: string): string {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(
    path,
    `#!/bin/sh\n[ "$1" = --version ] && { echo v${version}; exit 0; }\nexec "${process.execPath}" "$@"\n`,
  )
  chmodSync(path, 0o755)
  return path
}

const kept = () => writeNode(join(folder, '.node', '24.99.0', 'bin', 'node'), '24.99.0')

function svc(args: string[], env: Record<string, string | undefined> = {}) {
  const { SVC_NODE: _, ...rest } = process.env
  return run(process.execPath, [join(folder, 'bin', 'svc.mjs'), ...args], {
    cwd: folder,
    env: { ...rest, SVC_NODE: undefined, npm_config_registry: 'http://127.0.0.1:1', ...env },
  })
}

/** Serves one package of a Node. @returns the integrity of its bytes, and the address. */
async function serveNode(): Promise<{ integrity: string; address: string }> {
  const work = join(folder, 'work')
  writeNode(join(work, 'package', 'bin', 'node'), '24.99.0')
  writeFileSync(
    join(work, 'package', 'package.json'),
    JSON.stringify({
      name: 'fetched-node',
      version: '24.99.0',
      // Would leave a trace if it ran: nothing that is fetched may need its install script.
      scripts: { install: `touch ${join(folder, 'install-script-ran')}` },
    }),
  )
  expect((await run('tar', ['czf', 'node.tgz', 'package'], { cwd: work })).code).toBe(0)
  const bytes = readFileSync(join(work, 'node.tgz'))
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  const server = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) return void response.end(bytes)
    const { port } = server.address() as AddressInfo
    const dist = { integrity, tarball: `http://127.0.0.1:${port}/fetched-node/-/node.tgz` }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        name: 'fetched-node',
        'dist-tags': { latest: '24.99.0' },
        versions: { '24.99.0': { name: 'fetched-node', version: '24.99.0', dist, hasInstallScript: true } },
      }),
    )
  })
  registry = server
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { integrity, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

describe('a Node that is new enough', () => {
  it('is used as it is, in the same process', async () => {
    needs('>=20.0.0')
    writeProgram(
      'console.log(JSON.stringify([process.argv.slice(2), process.ppid, process.connected ?? false]))',
    )
    const { code, output } = await svc(['up', '--port', '0'])
    expect(code).toBe(0)
    expect(JSON.parse(output)).toEqual([['up', '--port', '0'], process.pid, false])
    expect(existsSync(join(folder, '.node'))).toBe(false)
  })

  it('gives way to the one that SVC_NODE names', async () => {
    needs('>=20.0.0')
    writeProgram('console.log(process.argv[2], process.env.SVC_NODE_CHOSEN)')
    const named = writeNode(join(folder, 'named', 'node'), '25.0.0')
    const { code, output } = await svc(['there'], { SVC_NODE: named })
    expect([code, output]).toEqual([0, 'there undefined\n'])
  })
})

describe('a Node that is too old', () => {
  it('fetches one once, says so in one sentence, and goes on with it', async () => {
    const { integrity, address } = await serveNode()
    writeReleases(integrity)
    writeProgram('console.log("ran", process.argv[2])')
    const first = await svc(['here'], {
      npm_config_registry: address,
      npm_config_cache: join(folder, 'cache'),
    })
    expect(first.output).toBe(
      'svc: fetching Node 24.99.0 from the npm registry into .node (once, about a quarter of a minute)…\nran here\n',
    )
    expect(first.code).toBe(0)
    const second = await svc(['again'])
    expect([second.code, second.output]).toEqual([0, 'ran again\n'])
    expect(existsSync(join(folder, 'install-script-ran'))).toBe(false)
    expect(readdirSync(join(folder, '.node'))).toEqual(['24.99.0'])
  })

  it('refuses a package with other bytes than those it knows, and keeps nothing of it', async () => {
    const { address } = await serveNode()
    writeReleases(`sha512-${createHash('sha512').update('other bytes').digest('base64')}`)
    writeProgram('console.log("program began")')
    const { code, output } = await svc([], {
      npm_config_registry: address,
      npm_config_cache: join(folder, 'cache'),
    })
    expect(code).toBe(1)
    expect(output).toContain('could not be fetched from the npm registry')
    expect(output).not.toContain('program began')
    expect(readdirSync(join(folder, '.node'))).toEqual([])
  })

  it('without a network says what is missing and where to put it', async () => {
    writeProgram('console.log("program began")')
    const { code, output } = await svc([], { npm_config_cache: join(folder, 'cache') })
    expect(code).toBe(1)
    expect(output).toContain(`svc: Node 99.1.0 or newer is needed; this is ${process.versions.node}`)
    expect(output).toContain('SVC_NODE=/path/to/node')
    expect(output).toContain(join(folder, '.node', '24.99.0', 'bin', 'node'))
  })

  it('says that a Node which SVC_NODE names is too old, or does not run', async () => {
    writeProgram('')
    const named = writeNode(join(folder, 'named', 'node'), '18.20.0')
    expect((await svc([], { SVC_NODE: named })).output).toMatch(
      /SVC_NODE names Node 18\.20\.0, and Node 99\.1\.0/,
    )
    const missing = await svc([], { SVC_NODE: join(folder, 'nowhere') })
    expect([missing.code, missing.output]).toEqual([
      1,
      `svc: SVC_NODE names ${join(folder, 'nowhere')}, which does not run\n`,
    ])
  })

  it('passes on standard input, what is written, and the exit code', async () => {
    kept()
    writeProgram(`
      let text = ''
      for await (const part of process.stdin) text += part
      console.log(text.toUpperCase())
      process.exitCode = 42
    `)
    const child = start([])
    child.stdin?.end('from a pipe')
    const output = await read(child)
    expect([child.exitCode, output.trim()]).toEqual([42, 'FROM A PIPE'])
  })

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'passes on %s, and ends as the program ends',
    async (signal) => {
      kept()
      writeProgram(`
      process.on('${signal}', () => { console.log('got ${signal}'); clearInterval(timer); process.exitCode = 7 })
      const timer = setInterval(() => {}, 1000)
      console.log('ready')
    `)
      const child = start([])
      await once(child.stdout!, 'data')
      const rest = read(child)
      child.kill(signal)
      expect([(await rest).trim(), child.exitCode]).toEqual([`got ${signal}`, 7])
    },
  )

  it('ends by the signal that ended the program', async () => {
    kept()
    writeProgram(`process.kill(process.pid, 'SIGKILL')`)
    const child = start([])
    await once(child, 'close')
    expect(child.signalCode).toBe('SIGKILL')
  })

  it('that is killed leaves no program behind: it ends in good order', async () => {
    kept()
    writeProgram(`
      import { writeFileSync } from 'node:fs'
      process.on('SIGTERM', () => { console.log('ended in good order'); process.exit(0) })
      setInterval(() => {}, 1000)
      console.log('ready')
    `)
    const child = start([])
    await once(child.stdout!, 'data')
    const rest = read(child)
    child.kill('SIGKILL')
    // The pipe closes when the program, which has it too, is gone.
    expect((await rest).trim()).toBe('ended in good order')
  })
})

describe.skipIf(process.platform !== 'linux')('a daemon', () => {
  const ABOUT_MEMORY = `console.log(JSON.stringify({
    pid: process.pid, args: process.argv.slice(2), flags: process.execArgv, arenas: process.env.MALLOC_ARENA_MAX,
    left: Object.keys(process.env).filter((name) => name.startsWith('SVC_NODE_')),
  }))`

  it('has little memory to keep, under the process id that its supervisor knows', async () => {
    needs('>=20.0.0')
    writeProgram(ABOUT_MEMORY)
    const child = start(['up', '--port', '0'])
    expect(JSON.parse(await read(child))).toEqual({
      pid: child.pid,
      args: ['up', '--port', '0'],
      flags: ['--min-semi-space-size=4', '--max-semi-space-size=4'],
      arenas: '2',
      left: [],
    })
  })

  it('keeps what its operator set', async () => {
    needs('>=20.0.0')
    writeProgram(ABOUT_MEMORY)
    const child = start(['up'], { MALLOC_ARENA_MAX: '7' })
    expect(JSON.parse(await read(child))).toMatchObject({ pid: child.pid, arenas: '7' })
  })

  it('is what takes so little: another command starts once', async () => {
    needs('>=20.0.0')
    writeProgram(ABOUT_MEMORY)
    expect(JSON.parse(await read(start(['sources'])))).toMatchObject({ flags: [] })
  })
})

describe('a script of npm', () => {
  it('ends in good order when npm is told to stop, although npm tells its shell alone', async () => {
    const scripts = { go: 'node bin/node.mjs dist/svc.mjs' }
    const pack = { type: 'module', engines: { node: '>=20.0.0' }, scripts }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(pack))
    writeProgram(`
      process.on('SIGTERM', () => { console.log('ended in good order'); process.exit(0) })
      setInterval(() => {}, 1000)
      console.log('ready')
    `)
    const { command, args } = npmCommand()
    const npm = spawn(command, [...args, 'run', '--silent', 'go'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(npm.stdout!, 'data')
    const rest = read(npm)
    npm.kill('SIGTERM')
    expect((await rest).trim()).toBe('ended in good order')
  })
})

function start(args: string[], more: Record<string, string> = {}): ChildProcess {
  const { SVC_NODE: _, ...own } = process.env
  const env = { ...own, ...more }
  return spawn(process.execPath, [join(folder, 'bin', 'svc.mjs'), ...args], {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}

async function read(child: ChildProcess): Promise<string> {
  let text = ''
  child.stdout?.on('data', (part) => (text += part))
  await once(child, 'close')
  return text
}

describe('the Nodes that can be fetched', () => {
  const releases = JSON.parse(readFileSync(join(ROOT, 'bin', 'node-releases.json'), 'utf8')) as Record<
    string,
    Record<string, { package: string; version: string; program: string; integrity: string }>
  >
  const least = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).engines.node as string

  it.each(Object.entries(releases))('are new enough and pinned by their integrity: %s', (major, systems) => {
    expect(least).toMatch(/^>=22\.\d+\.\d+$/)
    expect(Object.keys(systems)).toContain('linux-x64')
    for (const { version, integrity } of Object.values(systems)) {
      expect(version.split('.')[0]).toBe(major)
      expect(Number(version.split('.')[1])).toBeGreaterThanOrEqual(major === '22' ? 15 : 0)
      expect(integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/)
    }
  })
})
