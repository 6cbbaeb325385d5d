/** How machines and agents connect: `svc login` by the browser, and the page Connect with its live check. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { share, test } from './daemon.ts'

const COMMAND = fileURLToPath(new URL('../bin/svc.mjs', import.meta.url))

/** The command without a browser of its own. */
function run(args: string[], home: string, env: Record<string, string> = {}) {
  const child: ChildProcess = spawn(process.execPath, [COMMAND, ...args], {
    env: { PATH: '', HOME: home, SVC_HOME: home, ...env },
  })
  const ended = once(child, 'exit')
  let said = ''
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (text: Buffer) => {
      said += text
      for (const listener of listeners) listener()
    })
  const says = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(said)
        if (match) resolve(match[1] ?? match[0])
      }
      listeners.add(look)
      void ended.then(() => reject(new Error(`it ended, having said: ${said}`)))
      look()
    })
  return { says, child, ended: async () => [(await ended)[0], said] as [number, string] }
}

share({ args: ['--auth'] })

test('a machine logs in by the browser, and by a code where it has none', async ({ page, daemon }) => {
  const home = mkdtempSync(join(tmpdir(), 'svc-e2e-home-'))
  const login = run(['login', daemon.url], home)
  const address = await login.says(/(http:\S+connect\/login\S+)/)
  await page.goto(address)
  await page.getByLabel('Token').fill(new URL(daemon.loginUrl).searchParams.get('token')!)
  await page.getByRole('button', { name: 'Log in' }).click()
  await expect(page.getByText('Did you start this?')).toBeVisible()
  await expect(page.getByText(await login.says(/console shows (\S{9})/))).toBeVisible()
  expect(await accessibilityFaults(page, 'approve')).toEqual([])
  await page.getByRole('radio', { name: 'Read and send' }).check()
  await page.getByRole('button', { name: 'Approve' }).click()
  await expect(page.getByText('This machine is logged in')).toBeVisible()
  const [code, said] = await login.ended()
  expect([code, said]).toEqual([0, expect.stringContaining('with read, ingest')])
  const { key } = JSON.parse(readFileSync(join(home, 'login.json'), 'utf8')) as { key: string }
  expect(daemon.logLines().join('\n')).not.toContain(key)

  const byHand = run(['login', daemon.url, '--no-browser'], home)
  await page.goto(await byHand.says(/(http:\S+connect\/login\S+)/))
  await page.getByRole('button', { name: 'Approve' }).click()
  await expect(page.getByText('paste this code')).toBeVisible()
  byHand.child.stdin!.write(`${await page.locator('pre').textContent()}\n`)
  expect((await byHand.ended())[0]).toBe(0)
  rmSync(home, { recursive: true })
})

test('an agent is connected: its key, the text to copy, and the moment it lists its tools', async ({
  page,
  daemon,
}) => {
  const home = mkdtempSync(join(tmpdir(), 'svc-e2e-home-'))
  await page.clock.install()
  await page.goto(daemon.loginUrl)
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('tab', { name: 'Agents' }).click()
  await expect(page.getByText('None since the daemon started.')).toBeVisible()
  await page.getByRole('radio', { name: 'Everything' }).check()
  await expect(page.getByText('may change and delete everything')).toBeVisible()
  expect(await accessibilityFaults(page, 'connect')).toEqual([])
  await page.getByRole('radio', { name: 'Read', exact: true }).check()
  await page.getByLabel('Name of the key').fill('my-editor')
  await page.getByRole('button', { name: 'Create the key' }).click()
  await expect(page.getByText('my-editor: the key is shown once')).toBeVisible()
  await expect(page.getByText('Waiting for the client.')).toBeVisible()
  await page.clock.fastForward(31_000)
  await expect(page.getByText('No client yet')).toBeVisible()

  interface File {
    mcpServers: { svc: { command: string; args: string[]; env: Record<string, string> } }
  }
  const text = (await page.locator('pre').filter({ hasText: 'mcpServers' }).textContent())!
  const { command, args, env } = (JSON.parse(text) as File).mcpServers.svc
  expect(command).toBe('svc')
  const client = run(args, home, env)
  const send = (message: object) =>
    client.child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  send({
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'my-editor-app', version: '2.1' },
    },
  })
  await client.says(/"serverInfo"/)
  send({ method: 'notifications/initialized' })
  send({ id: 2, method: 'tools/list' })
  await expect(page.getByText('Connected: my-editor-app 2.1')).toBeVisible()
  await expect(page.getByText(/^It listed its tools/)).toBeVisible()
  await expect(page.getByRole('cell', { name: 'my-editor', exact: true })).toBeVisible()
  expect(await accessibilityFaults(page, 'connected')).toEqual([])
  client.child.stdin!.end()
  await client.ended()
  rmSync(home, { recursive: true })
})
