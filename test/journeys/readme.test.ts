/**
 * README's steps, followed to the letter on the built daemon: its shell blocks run one after the other, in a folder
 * of their own. Replaced are the port, the program whose logs are sent, and the model, which is scripted: no
 * model answers here. `svc` is the command of this checkout.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../chaos/daemon.ts'
import { eventually } from '../eventually.ts'
import { type ScriptedModels, startScriptedModels } from '../models/scripted-server.ts'

const COMMAND = fileURLToPath(new URL('../../bin/svc.mjs', import.meta.url))
const README = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8')

/** The shell blocks of a section, by what its heading begins with. */
function blocksOf(heading: string): string[] {
  const section = README.split(/^## /m).find((part) => part.startsWith(heading))
  if (!section) throw new Error(`README has no section ${heading}`)
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map((match) => match[1]!)
}

/** The step of the first five minutes that begins with this. */
function stepOf(title: string): string {
  const step = README.split(/^(?:\*\*(?=\d\. )|## )/m).find((part) => part.startsWith(title))
  if (!step) throw new Error(`README has no step ${title}`)
  return [...step.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map((match) => match[1]!).join('\n')
}

let models: ScriptedModels
let daemon: Daemon
let folder: string
let environment: Record<string, string>

beforeAll(async () => {
  models = await startScriptedModels()
  models.reply('scripted', () => ({
    calls: [
      {
        name: 'conclude',
        arguments: { outcome: 'finding', headline: 'cards are declined', summary: 'Cards are declined.' },
      },
    ],
  }))
  folder = mkdtempSync(join(tmpdir(), 'svc-readme-'))
  daemon = await startDaemon(join(folder, 'data'), [], {
    PROVIDERA_BASE_URL: models.url,
    PROVIDERA_API_KEY: 'scripted',
    SVC_AGENT_MODEL: 'scripted',
  })
  environment = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    SVCD_URL: daemon.url,
    SECRET: 'a-signing-secret',
  }
})

afterAll(async () => {
  await daemon?.stop()
  await models?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs lines as a person's shell would, in one shell; ends at the first that fails. @returns what they print */
async function follow(lines: string): Promise<string> {
  const script = `
    set -euo pipefail
    svc() { "${process.execPath}" "${COMMAND}" "$@"; }
    my-program() { echo '{"service":"checkout","level":"info","msg":"from a pipe"}'; }
    [ -f kept.sh ] && . ./kept.sh
    ${lines.replaceAll('http://127.0.0.1:8787', daemon.url)}
    echo "INGEST_KEY=\${INGEST_KEY:-}" > kept.sh
  `
  const child = spawn('bash', ['-c', script], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (part) => (output += part))
  child.stderr.on('data', (part) => (output += part))
  const [code] = await once(child, 'close')
  expect(code, output).toBe(0)
  return output
}

/** Follows a live tail until it shows something; events are sent until then, since it takes its time to begin. */
async function followTail(line: string, send: () => Promise<unknown>): Promise<string> {
  const args = line.split('#')[0]!.trim().split(' ').slice(1)
  const child = spawn(process.execPath, [COMMAND, ...args], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let shown = ''
  child.stdout.on('data', (part) => (shown += part))
  while (shown === '' && child.exitCode === null) await send()
  child.kill('SIGINT')
  await once(child, 'close')
  return shown
}

describe('README: the first five minutes', () => {
  it('2 and 3: sources are added, and logs are sent from a file, a pipe and with curl', async () => {
    expect(await follow(stepOf('2. Add a source for logs'))).toContain('/ingest/')
    expect(await follow(stepOf('3. Send logs'))).toContain('"ingested":2')
  })

  it('4: a second system is added', async () => {
    expect(await follow(stepOf('4. Add a second system'))).toContain('/ingest/')
  })

  it('5: one read returns the events of both sources, and a tail shows new ones', async () => {
    const lines = stepOf('5. Read the merged timeline').split('\n')
    const tail = lines.find((line) => line.startsWith('svc tail'))!
    const read = await follow(lines.filter((line) => line !== tail).join('\n'))
    expect(read.match(/payment timed out/g)!.length).toBeGreaterThanOrEqual(4)
    const event = '{"service":"checkout","level":"info","msg":"as it happens"}'
    expect(await followTail(tail, () => follow(`echo '${event}' | svc send logs`))).toContain('as it happens')
  })

  it('6: a trigger fires', async () => {
    const output = await follow(stepOf('6. Fire when it gets bad'))
    expect(output).toContain('checkout-errors')
    const firings = (await (await fetch(`${daemon.url}/api/firings`)).json()) as {
      firings: { trigger: string }[]
    }
    expect(firings.firings.map(({ trigger }) => trigger)).toEqual(['checkout-errors'])
  })

  it('7: an agent is woken, and its finding is on the timeline', async () => {
    await follow(stepOf('7. Let an agent look first'))
    await eventually(async () =>
      expect(await follow('svc read service=payments')).toContain('cards are declined'),
    )
    expect(await follow('svc runs list')).toMatch(/first-look/)
  })
})

describe('README: your own agents, over MCP', () => {
  it('the key records a finding through the command, started outside the checkout', async () => {
    const key = (await follow(blocksOf('Your own agents, over MCP')[0]!)).trim().split('\n').at(-1)!
    const settings = /^```json\n([\s\S]*?)^```/m.exec(README.split('## Your own agents, over MCP')[1]!)![1]!
    const { command, args, env } = JSON.parse(
      settings.replace('/path/to/svc/bin/svc.mjs', COMMAND).replace('<key>', key),
    ).mcpServers.svc as { command: string; args: string[]; env: Record<string, string> }
    const client = new Client({ name: 'readme', version: '1.0.0' })
    await client.connect(
      new StdioClientTransport({
        command: command === 'node' ? process.execPath : command,
        args,
        env: { ...environment, ...env },
        cwd: tmpdir(),
        stderr: 'ignore',
      }),
    )
    const answer = await client.callTool({
      name: 'record_finding',
      arguments: {
        entity: 'checkout',
        label: 'service',
        headline: 'found from outside',
        finding: 'Found by an agent of my own.',
      },
    })
    await client.close()
    expect(answer.isError, JSON.stringify(answer.content)).not.toBe(true)
    expect(await follow('svc read service=checkout')).toContain('found from outside')
  })
})
