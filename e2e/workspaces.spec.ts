/** The console of a hosted instance: workspaces to go to, Slack to connect, and signing out at the platform. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { test as base, type RunningDaemon, startDaemon } from './daemon.ts'
import { goTo } from './go.ts'

/** A small server that lists workspaces, and has the pages that a platform has. It is no platform. */
async function startPlatform() {
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo
    const isList = request.url === '/v1/workspaces'
    response.setHeader('content-type', isList ? 'application/json' : 'text/html')
    const list = [
      { id: 'w1', name: 'Acme production', url: `http://127.0.0.1:${port}/prod`, current: true },
      { id: 'w2', name: 'Acme staging', url: `http://127.0.0.1:${port}/staging` },
    ]
    response.end(isList ? JSON.stringify({ workspaces: list }) : `<title>${request.url}</title>`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const test = base.extend<{ platform: Awaited<ReturnType<typeof startPlatform>>; hosted: RunningDaemon }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the fixtures destructured.
  platform: async ({}, use) => {
    const platform = await startPlatform()
    await use(platform)
    platform.stop()
  },
  hosted: async ({ platform }, use) => {
    const daemon = await startDaemon([], {
      SVC_WORKSPACES_URL: `${platform.url}/workspaces`,
      SVC_WORKSPACE_API_URL: `${platform.url}/v1/workspaces`,
      SVC_LOGOUT_URL: `${platform.url}/bye`,
      SVC_SLACK_CONNECT_URL: `${platform.url}/connect-slack`,
    })
    await use(daemon)
    await daemon.stop()
  },
})

test('the switcher lists workspaces and goes to one; signing out and connecting Slack lead to the platform', async ({
  page,
  hosted,
  platform,
}) => {
  await goTo(page, `${hosted.url}/settings?tab=slack`)
  await expect(page.getByRole('link', { name: 'Connect Slack' })).toHaveAttribute(
    'href',
    `${platform.url}/connect-slack`,
  )
  await page.getByRole('button', { name: 'Workspace Acme production: switch' }).click()
  await expect(page.getByRole('link', { name: 'All workspaces' })).toHaveAttribute(
    'href',
    `${platform.url}/workspaces`,
  )
  expect(await accessibilityFaults(page, 'switcher of workspaces')).toEqual([])
  await page.getByRole('link', { name: 'Acme staging' }).click()
  await expect(page).toHaveURL(`${platform.url}/staging`)
  await goTo(page, hosted.url)
  await page.getByRole('button', { name: 'Log out' }).click()
  await expect(page).toHaveURL(`${platform.url}/bye`)
})
