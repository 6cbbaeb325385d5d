/** A source that is polled: discovered, tested and made in the console, its events seen, and an outage told. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { test } from './daemon.ts'

async function startApi() {
  const world = { isDown: false }
  const incidents = ['checkout', 'cart'].map((service, i) => ({
    id: `inc-${i}`,
    service,
    title: `Payments fail in ${service}`,
  }))
  const server = createServer((_request, response) => {
    if (world.isDown) response.writeHead(503, { 'retry-after': '600' }).end()
    else response.end(JSON.stringify({ data: { incidents } }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/incidents`,
    world,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

test('a person lets an API be discovered, tests and makes the source, and sees its events in Explore', async ({
  page,
  daemon,
}) => {
  const api = await startApi()
  await page.goto(`${daemon.url}/sources/new?connector=http_poll`)
  await page.getByRole('button', { name: 'Discover' }).click()
  await expect(page.getByRole('alert')).toContainText('url is required')
  await page.getByLabel('Name').fill('incidents')
  await page.getByLabel('URL').fill(api.url)
  await page.getByRole('button', { name: 'Discover' }).click()
  const proposal = page.getByRole('region', { name: 'Proposal' })
  await expect(proposal).toContainText('2 entries at data.incidents. Told apart by id.')
  await expect(proposal).toContainText('Payload key: not set → data.incidents')
  expect(await accessibilityFaults(page, 'proposal')).toEqual([])
  await proposal.getByRole('button', { name: 'Take it over' }).click()
  await expect(page.getByLabel('Id field')).toHaveValue('id')
  await page.getByRole('group', { name: 'Label 2' }).getByRole('radio', { name: 'Entity key' }).check()
  await page.getByLabel('Asks every').fill('10s')
  await page.getByRole('button', { name: 'Test' }).click()
  await expect(page.getByText('2 events would be stored.')).toBeVisible()
  await page.getByRole('button', { name: 'Create source' }).click()
  await expect(page.getByText('Events arrive: 2 so far.')).toBeVisible()

  await page.goto(`${daemon.url}/explore?source=incidents`)
  await expect(page.getByText('Payments fail in checkout').first()).toBeVisible()

  api.world.isDown = true
  await page.goto(`${daemon.url}/sources/incidents?tab=settings`)
  await page.getByLabel('Event type', { exact: true }).fill('incident')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('tab', { name: 'Overview' }).click()
  await expect(page.getByText('Errors in a row')).toBeVisible()
  await expect(page.getByText('It worked before, and fails now')).toBeVisible()
  expect(await accessibilityFaults(page, 'a source that fails')).toEqual([])
  api.stop()
})
