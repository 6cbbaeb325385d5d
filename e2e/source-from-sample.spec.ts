/** Issue 19, 6: a source from a pasted event, from what was sent to an address, and a webhook that is discovered. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { share, test } from './daemon.ts'
import { goTo, press } from './go.ts'

const shell = promisify(execFile)
const PAYLOAD = {
  service: 'checkout',
  event: 'payment.failed',
  details: { message: 'the card was declined', region: 'eu-1' },
  created_at: '2026-11-20T12:00:00Z',
  host: 'web-1',
}

share()

test('a pasted event becomes a source: its row, roles by a click, and the shown command reads well', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/sources/new`)
  await page.getByLabel('Paste an event').fill(JSON.stringify(PAYLOAD))
  const row = page.getByRole('list', { name: 'On the timeline' })
  await expect(row).toContainText('the card was declined')
  await expect(row).toContainText('payment.failed')
  await expect(row).toContainText('service=checkout')
  await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue('service-events')
  expect(await accessibilityFaults(page, 'proposal')).toEqual([])

  // By keyboard: the host is whose timeline it is.
  await page.getByRole('button', { name: /^host: / }).focus()
  await press(page, 'Enter')
  const roles = page.getByRole('group', { name: 'Role of host' })
  await expect(roles.getByRole('button', { name: 'Label' })).toHaveAttribute('aria-pressed', 'true')
  expect(await accessibilityFaults(page, 'roles')).toEqual([])
  await roles.getByRole('button', { name: 'Entity' }).press('Enter')
  await expect(row).toContainText('host=web-1')

  // What was typed and clicked is there after a reload.
  await expect
    .poll(() =>
      page.evaluate(
        `Object.values(localStorage).some((text) => text.includes('"value":"host","primary":true'))`,
      ),
    )
    .toBe(true)
  await page.reload()
  await expect(page.getByText(/^Draft from .* restored\.$/)).toBeVisible()
  await expect(page.getByRole('list', { name: 'On the timeline' })).toContainText('host=web-1')

  // Errors stand at the field, on blur.
  const name = page.getByRole('textbox', { name: 'Name', exact: true })
  await name.fill('no spaces please')
  await name.blur()
  await expect(page.getByText('1 to 64 letters, digits')).toBeVisible()
  await name.fill('shop')
  await page.getByRole('button', { name: 'Create source' }).click()
  await expect(page.getByText('Waiting for the first event…')).toBeVisible()

  // The command is run as it is shown.
  const command = await page.locator('pre', { hasText: /^curl/ }).textContent()
  await shell('sh', ['-c', command ?? ''])
  await expect(page.getByText('Events arrive: 1 so far.')).toBeVisible()
  await expect(page.getByRole('button', { name: /: hello from curl, shop/ })).toBeVisible()
  await page.getByRole('link', { name: 'Timeline of host=example-host' }).click()
  await expect(page.getByText('hello from curl').first()).toBeVisible()
})

test('an address is made, an event is sent to it, and it is discovered on the same page', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/sources/new`)
  await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue('webhook')
  await page.getByRole('button', { name: 'Make an address' }).click()
  await expect(page.getByText('Waiting for the first event…')).toBeVisible()
  const { ingest_key } = await daemon.ask<{ ingest_key: string }>('GET', '/api/sources/webhook')
  await daemon.call('POST', `/ingest/${ingest_key}`, PAYLOAD)
  const proposal = page.getByRole('region', { name: 'Proposal' })
  await expect(proposal).toContainText('entity service')
  await expect(proposal.getByRole('list', { name: 'Rows before' })).toContainText('no entity')
  await expect(proposal.getByRole('list', { name: 'Rows after' })).toContainText('service=checkout')
  expect(await accessibilityFaults(page, 'discovered')).toEqual([])
  await proposal.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByText('webhook saved. New events follow the mapping')).toBeVisible()
  await daemon.call('POST', `/ingest/${ingest_key}`, PAYLOAD)
  await expect(page.getByRole('link', { name: 'Timeline of service=checkout' })).toBeVisible()
})

test('a webhook that received something has Discover on its page, and connectors are searched by keyboard', async ({
  page,
  daemon,
}) => {
  const ingest = await daemon.source('hook', {})
  await daemon.call('POST', ingest, PAYLOAD)
  await goTo(page, `${daemon.url}/sources/hook`)
  await page.getByRole('button', { name: 'Discover' }).click()
  const proposal = page.getByRole('region', { name: 'Proposal' })
  await expect(proposal.getByRole('list', { name: 'Rows after' })).toContainText('the card was declined')
  await proposal.getByRole('button', { name: 'Close' }).click()
  await expect(page.getByRole('button', { name: 'Discover' })).toBeFocused()
  await page.getByRole('button', { name: 'Discover' }).click()
  await proposal.getByRole('button', { name: 'Apply' }).click()
  await expect(page.getByText('service = service · entity key')).toBeVisible()

  await goTo(page, `${daemon.url}/sources/new`)
  for (const group of ['Push', 'Poll', 'Files', 'Memory and reference'])
    await expect(page.getByRole('region', { name: group })).toBeVisible()
  await page.getByLabel('Search connectors').fill('postgres')
  await page.getByLabel('Search connectors').press('Enter')
  await expect(page).toHaveURL(/connector=postgres/)
  expect(await accessibilityFaults(page, 'connector')).toEqual([])
})
