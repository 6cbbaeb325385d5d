/** What the image holds besides the package, read off its last stage: no container is started here. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from './project-files.ts'

const stage = readFileSync(join(root, 'Dockerfile'), 'utf8')
  .split(/^FROM /m)
  .at(-1)!

describe('the image', () => {
  it('has the programs that following a repository takes, and authorities for https', () => {
    const [, installed = ''] = /apt-get install -y --no-install-recommends ([^\\]+)/.exec(stage) ?? []
    expect(installed.trim().split(' ')).toEqual(['ca-certificates', 'git', 'openssh-client'])
  })

  it('runs commands beside the daemon on the same data, as svc', () => {
    const home = /\bSVC_HOME=(\S+)/.exec(stage)?.[1]
    expect(home).toBe('/data')
    expect(stage).toContain(`VOLUME ${home}\n`)
    expect(stage).toContain(`"--data-dir", "${home}"]`)
    expect(stage).toContain('ln -s /app/bin/svc.mjs /usr/local/bin/svc\n')
    expect(statSync(join(root, 'bin/svc.mjs')).mode & 0o111, 'it can be run').toBe(0o111)
  })

  it('names its user by a number, which is not that of root', () => {
    expect(/^USER (.*)$/m.exec(stage)?.[1]).toMatch(/^[1-9]\d*:[1-9]\d*$/)
  })
})

describe('the health check of the image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-image-'))
  let status = 200
  let started = 0
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/health' ? status : 404).end()
  })
  let port = 0
  const [, program] = /HEALTHCHECK .*CMD \["node", "([^"]+)"\]/.exec(stage) ?? []

  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server.close()
    rmSync(folder, { recursive: true })
  })

  /** A proxy of the network that the container is in, which knows nothing of what listens within it. */
  const PROXY = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.1.2.3:9' }

  /** What it says of a container that was started with these words. */
  async function check(words: string, env: Record<string, string> = {}) {
    const line = join(folder, `cmdline-${started++}`)
    writeFileSync(line, ['node', 'bin/svc.mjs', ...words.split(' '), ''].join('\0'))
    const run = spawn(process.execPath, [join(root, String(program)), line], { env, stdio: 'pipe' })
    let said = ''
    run.stderr.on('data', (part) => (said += part))
    const [code] = await once(run, 'close')
    return { code, said }
  }

  it('asks where the process listens: by its flags, else by its variables, else at the port of its command', async () => {
    const well = { code: 0, said: '' }
    // Nothing listens there, also where a daemon does at its own port.
    const [away, mcp] = ['--host 127.1.2.3', 'mcp --transport streamable-http']
    const awayAt = (asked: number) => expect.stringContaining(`http://127.1.2.3:${asked}/health: `)
    expect(
      await Promise.all([
        check(`up --host 0.0.0.0 --port ${port}`),
        check(`up --port=${port}`, { SVC_PORT: '1', ...PROXY }),
        check('up', { SVC_PORT: String(port), SVC_HOST: '[::]' }),
        check(`up ${away}`, { SVC_PORT: 'tcp://10.96.1.2:9' }),
        check(`${mcp} --port ${port}`),
        check(`${mcp} ${away}`, { SVC_PORT: String(port) }),
        check('mcp'),
        check('telemetry', { SVC_TELEMETRY_PORT: String(port) }),
      ]),
    ).toEqual([
      ...[well, well, well, { code: 1, said: awayAt(8787) }],
      ...[well, { code: 1, said: awayAt(8788) }, well, well],
    ])
    status = 503
    const said = `http://127.0.0.1:${port}/health: HTTP 503\n`
    expect(await check(`up --port ${port}`)).toEqual({ code: 1, said })
  })
})
