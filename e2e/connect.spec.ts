/** How machines and agents connect: `svc login` by the browser, and the page Connect with its live check. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { startDaemon, test } from './daemon.ts'

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

test('a machine logs in by the browser, and by a code where it has none', async ({ page }) => {
  const daemon = await startDaemon(['--auth'])
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
  await daemon.stop()
  rmSync(home, { recursive: true })
})
