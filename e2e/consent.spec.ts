/** A client is signed in by OAuth: login, the consent page, the answer to the client, the list of Settings, signing out. */

import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, type Page } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { share, test } from './daemon.ts'
import { walkThrough } from './walk.ts'

const COMMAND = fileURLToPath(new URL('../bin/svc.mjs', import.meta.url))

/** A program on the person's computer that waits for the answer. */
async function startClient(url: string, name: string) {
  const answers: URL[] = []
  const server = createServer((request, response) => {
    answers.push(new URL(request.url!, 'http://127.0.0.1'))
    response.end('The client goes on.')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const redirect = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`
  const post = (path: string, body: string, type: string) =>
    fetch(url + path, { method: 'POST', body, headers: { 'content-type': type } })
  const registered = await post(
    '/oauth/register',
    JSON.stringify({ client_name: name, redirect_uris: [redirect] }),
    'application/json',
  )
  const { client_id: clientId } = (await registered.json()) as { client_id: string }
  const verifier = randomBytes(32).toString('base64url')
  const query = (more: Record<string, string> = {}) =>
    new URLSearchParams({
      ...{ response_type: 'code', client_id: clientId, redirect_uri: redirect, state: 'x', scope: 'read' },
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      ...{ code_challenge_method: 'S256', resource: `${url}/telemetry/mcp` },
      ...more,
    })
  return {
    answers,
    address: (more?: Record<string, string>) => `${url}/oauth/authorize?${query(more)}`,
    exchange: async (code: string) => {
      const fields = { grant_type: 'authorization_code', code, client_id: clientId, redirect_uri: redirect }
      const form = new URLSearchParams({ ...fields, code_verifier: verifier })
      const answer = await post('/oauth/token', form.toString(), 'application/x-www-form-urlencoded')
      return (await answer.json()) as { access_token: string }
    },
    stop: () => new Promise((resolve) => server.close(resolve)),
  }
}

const ask = (url: string, token: string) =>
  fetch(`${url}/telemetry/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })

const inFour = async (page: Page, what: string): Promise<void> => {
  for (const width of [1440, 390])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      // The menu slides while the page becomes narrow.
      await expect
        .poll(async () => Number(await page.evaluate('document.documentElement.scrollWidth')), {
          message: `${what} at ${width}`,
        })
        .toBeLessThanOrEqual(width)
      if (process.env.SVC_SHOTS)
        await page.screenshot({
          path: `${process.env.SVC_SHOTS}/${what}-${width}-${colorScheme}.png`,
          fullPage: true,
          animations: 'disabled',
        })
    }
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
}

share({ args: ['--auth'] })

test('a client is consented to, listed, and signed out', async ({ page, daemon }) => {
  const client = await startClient(daemon.url, '<b>Agent</b> of the desk')
  await page.goto(client.address())
  // By keys alone.
  await expect(page.getByLabel('Token')).toBeFocused()
  await page.keyboard.insertText(new URL(daemon.loginUrl).searchParams.get('token')!)
  await page.keyboard.press('Enter')
  // What the client calls itself is text.
  await expect(page.getByText('<b>Agent</b> of the desk')).toBeVisible()
  await expect(page.getByText('a program on your own computer')).toBeVisible()
  await expect(page.getByRole('checkbox', { name: 'Read telemetry' })).toBeChecked()
  await expect(page.getByRole('checkbox', { name: 'Create API keys' })).not.toBeChecked()
  expect(await accessibilityFaults(page, 'consent')).toEqual([])
  expect((await walkThrough(page)).faults).toEqual([])
  await inFour(page, 'consent')
  await page.getByRole('button', { name: 'Allow' }).click()
  await expect(page.getByText('The client goes on.')).toBeVisible()
  const { searchParams } = client.answers[0]!
  expect([searchParams.get('state'), searchParams.get('iss')]).toEqual(['x', daemon.url])
  const { access_token: token } = await client.exchange(searchParams.get('code')!)
  expect((await ask(daemon.url, token)).status).toBe(200)

  await page.goto(`${daemon.url}/settings`)
  await expect(page.getByRole('heading', { name: 'Signed-in clients' })).toBeVisible()
  await expect(page.getByText('<b>Agent</b> of the desk')).toBeVisible()
  expect(await accessibilityFaults(page, 'signed-in')).toEqual([])
  await inFour(page, 'signed-in')
  await page.getByRole('button', { name: 'Sign <b>Agent</b> of the desk out' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('asks you to sign it in')).toBeVisible()
  expect((await ask(daemon.url, token)).status).toBe(401)
  await page.goto(`${daemon.url}/settings?tab=agents`)
  await expect(page.getByText(`${daemon.url}/telemetry/mcp`).first()).toBeVisible()
  await inFour(page, 'telemetry-address')
  await client.stop()
})

test('a request that is not right goes back to its client only by the person’s hand', async ({
  page,
  daemon,
}) => {
  const client = await startClient(daemon.url, 'Agent')
  await page.goto(daemon.loginUrl)
  await expect(page.getByRole('link', { name: 'Settings' })).toBeVisible()
  await page.goto(client.address({ resource: 'https://evil.example/mcp' }))
  await expect(page.getByText('cannot be signed in')).toBeVisible()
  await inFour(page, 'refused')
  expect(client.answers).toEqual([])
  await page.getByRole('button', { name: 'Go back to the client' }).click()
  await expect(page.getByText('The client goes on.')).toBeVisible()
  expect(client.answers[0]!.searchParams.get('error')).toBe('invalid_target')

  // An address that the client did not register gets nothing at all.
  await page.goto(client.address({ redirect_uri: 'https://evil.example/callback' }))
  await expect(page.getByText('not one that the client registered')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Go back' })).toHaveCount(0)

  await page.goto(client.address())
  await page.getByRole('button', { name: 'Decline' }).click()
  await expect(page.getByText('The client goes on.')).toBeVisible()
  expect(client.answers.at(-1)!.searchParams.get('error')).toBe('access_denied')
  await client.stop()
})

test('svc telemetry serves the same apart, and ends when it is told to', async ({ daemon }) => {
  const root = new URL(daemon.loginUrl).searchParams.get('token')!
  const args = [COMMAND, 'telemetry', '--svcd', daemon.url, '--port', '0']
  const child = spawn(process.execPath, args, { env: { PATH: '', HOME: '/nonexistent' } })
  const ended = once(child, 'exit')
  const url = await new Promise<string>((resolve) => {
    let said = ''
    child.stderr.on('data', (text: Buffer) => {
      said += text
      const found = /svc telemetry: (\S+)\/telemetry\/mcp/.exec(said)?.[1]
      if (found) resolve(found)
    })
  })
  const answer = await ask(url, root)
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain('create_api_key')
  const refused = await ask(url, 'svc_wrong')
  expect(refused.status).toBe(401)
  expect(refused.headers.get('www-authenticate')).toContain(
    `resource_metadata="${url}/.well-known/oauth-protected-resource/telemetry/mcp"`,
  )
  child.kill('SIGTERM')
  expect((await ended)[0]).toBe(0)
})
