/** A source that is polled: discovered, tested and made in the console, its events seen, and an outage told. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { share, test } from './daemon.ts'
import { goTo, press } from './go.ts'
import { startPrometheus } from './prometheus.ts'

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

share()

test('a person lets an API be discovered, tests and makes the source, and sees its events in Explore', async ({
  page,
  daemon,
}) => {
  const api = await startApi()
  await goTo(page, `${daemon.url}/sources/new?connector=http_poll`)
  await expect(page.getByRole('button', { name: 'Discover' })).toBeVisible()
  // Nothing was typed.
  await goTo(page, `${daemon.url}/sources`)
  await goTo(page, `${daemon.url}/sources/new?connector=http_poll`)
  await page.getByRole('button', { name: 'Discover' }).click()
  await expect(page.getByText(/^Draft from/)).toHaveCount(0)
  await expect(page.getByRole('alert')).toContainText('URL is required')
  await page.getByLabel('Name').fill('incidents')
  await page.getByLabel('URL').fill(api.url)
  await page.getByRole('button', { name: 'Discover' }).click()
  const proposal = page.getByRole('region', { name: 'Proposal' })
  await expect(proposal).toContainText('2 entries at data.incidents. Told apart by id.')
  await expect(proposal).toContainText('Payload key: not set → data.incidents')
  expect(await accessibilityFaults(page, 'proposal')).toEqual([])
  await proposal.getByRole('button', { name: 'Use the proposal' }).click()
  await expect(page.getByLabel('Id field')).toHaveValue('id')
  await page.getByRole('group', { name: 'Label 2' }).getByRole('radio', { name: 'Entity key' }).check()
  await page.getByLabel('Poll interval').fill('10s')
  await page.getByRole('button', { name: 'Test' }).click()
  await expect(page.getByText('2 events would be stored.')).toBeVisible()
  await page.getByRole('button', { name: 'Create source' }).click()
  await expect(page.getByText('Events arrive: 2 so far.')).toBeVisible()

  await goTo(page, `${daemon.url}/explore?source=incidents`)
  await expect(page.getByText('Payments fail in checkout').first()).toBeVisible()

  api.world.isDown = true
  const type = page.getByLabel('Event type', { exact: true })
  await goTo(page, `${daemon.url}/sources/incidents?tab=settings`)
  await expect(type).toBeVisible()
  const { config, poll } = await daemon.ask<{ config: object; poll: string }>('GET', '/api/sources/incidents')
  const theirs = {
    name: 'incidents',
    connector: 'http_poll',
    poll,
    config: { ...config, event_type: 'outage' },
  }
  await daemon.ask('PUT', '/api/sources/incidents', theirs)
  await page.reload()
  await expect(type).toHaveValue('outage')
  await expect(page.getByText(/^Draft from/)).toHaveCount(0)
  await type.fill('incident')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('tab', { name: 'Overview' }).click()
  await expect(page.getByText('Errors in a row')).toBeVisible()
  await expect(page.getByText('Worked before, fails now')).toBeVisible()
  expect(await accessibilityFaults(page, 'a source that fails')).toEqual([])
  api.stop()
})

test('a table is chosen of those that a database has, and looked at', async ({ page, daemon }) => {
  const tables = ['public.orders', 'public.refunds'].map((name) => ({ name, kind: 'table' }))
  const answers = [
    { summary: '2 tables; name one and discover again', tables, proposed_config: {} },
    { summary: '3 columns', columns: [], proposed_config: { table: 'public.orders', cursor_column: 'id' } },
  ]
  const asked: unknown[] = []
  await page.route('**/api/sources/discover', async (route) => {
    asked.push(route.request().postDataJSON().config.table)
    await route.fulfill({ json: { connector: 'postgres', ...answers[asked.length - 1] } })
  })
  await goTo(page, `${daemon.url}/sources/new?connector=postgres`)
  await page.getByRole('button', { name: 'Discover' }).click()
  const proposal = page.getByRole('region', { name: 'Proposal' })
  await expect(proposal).toContainText('2 tables')
  await expect(proposal).not.toContainText('already matches')
  expect(await accessibilityFaults(page, 'tables')).toEqual([])
  await proposal.getByRole('button', { name: 'public.orders' }).click()
  await expect(proposal).toContainText('3 columns')
  expect(asked).toEqual([undefined, 'public.orders'])
  await proposal.getByRole('button', { name: 'Use the proposal' }).click()
  await expect(page.getByRole('textbox', { name: 'Table' })).toHaveValue('public.orders')
  await expect(page.getByRole('textbox', { name: 'Cursor column' })).toHaveValue('id')
})

test('a person picks metrics of a Prometheus by keyboard, chooses the entity label, and takes the proposal over', async ({
  page,
  daemon,
}) => {
  const prometheus = await startPrometheus()
  await goTo(page, `${daemon.url}/sources/new?connector=prometheus`)
  await page.getByPlaceholder('gateway').fill('queues')
  await page.getByLabel('URL').fill(prometheus.url)
  await page.getByRole('button', { name: 'Discover' }).click()
  const picker = page.getByRole('region', { name: 'Choose metrics' })
  await expect(picker.getByRole('status')).toHaveText('3,004 metrics listed · 0 of at most 40 chosen')
  expect(await picker.getByRole('option').count()).toBeLessThan(60)

  const search = picker.getByRole('textbox', { name: 'Search metrics' })
  await search.fill('no such')
  await expect(picker.getByRole('alert')).toContainText('No name contains “no such”.')
  await search.fill('filler 17')
  await expect(picker.getByRole('button', { name: /^Choose all/ })).toBeHidden()
  await search.fill('FILLER _17')
  await picker.getByRole('option').first().waitFor()
  await search.press('ArrowDown')
  for (const key of ['End', 'Home', 'Space', 'ArrowDown', 'Space']) await press(page, key)
  await expect(picker.getByRole('status')).toContainText('2 of at most 40 chosen')
  await picker.getByRole('button', { name: 'Clear selection' }).click()

  const label = picker.getByRole('combobox', { name: 'Carries label' })
  await search.fill('')
  await label.click()
  await page.getByRole('option', { name: 'lost' }).click()
  await expect(picker.getByRole('alert')).toContainText('has the label lost at present')
  await label.fill('zone')
  await expect(page.getByRole('option', { name: 'zone', exact: true })).toBeVisible()
  await expect(page.getByRole('option', { name: 'lost', exact: true })).toHaveCount(0)
  await press(page, 'ArrowDown')
  await press(page, 'Enter')
  await picker.getByRole('button', { name: 'Choose all 2 listed' }).click()
  expect(await accessibilityFaults(page, 'the picker')).toEqual([])
  await picker.getByRole('button', { name: 'Continue' }).click()

  const proposal = page.getByRole('region', { name: 'Proposal' })
  await expect(proposal.getByRole('status')).toHaveText(
    '2 metrics; the entity is service, which is on 6 of the 6 series looked at.',
  )
  await expect(proposal.getByRole('row', { name: /^queue_depth gauge 3 / })).toContainText('zone=eu')
  await expect(proposal.getByText('3 values: cart, checkout, pay')).toBeVisible()
  await proposal.getByRole('radio', { name: 'zone' }).check()
  await expect(proposal.getByRole('status')).toHaveText(
    '2 metrics; the entity is zone, which is on 6 of the 6 series looked at.',
  )
  expect(await accessibilityFaults(page, 'what was sampled')).toEqual([])
  await proposal.getByRole('button', { name: 'Back' }).click()
  await expect(picker.getByRole('status')).toHaveText('2 metrics listed · 2 of at most 40 chosen')
  await picker.getByRole('button', { name: 'Continue' }).click()
  await expect(proposal.getByRole('radio', { name: 'zone' })).toBeChecked()
  await proposal.getByRole('button', { name: 'Use the proposal' }).click()
  await expect(page.getByRole('button', { name: 'Discover' })).toBeFocused()
  await page.getByRole('button', { name: 'Test' }).click()
  await expect(page.getByText('6 events would be stored.')).toBeVisible()
  await page.getByRole('button', { name: 'Create source' }).click()
  await expect(page.getByText('Events arrive: 6 so far.')).toBeVisible()
  prometheus.stop()
})
