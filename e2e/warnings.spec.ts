/** What is worth knowing although nothing failed is on the screen: warnings of saves, notices of reads, the banner. */
import { expect } from '@playwright/test'
import { share, test } from './daemon.ts'
import { goTo, settled } from './go.ts'

test.describe('of a daemon that has a source', () => {
  share()

  test('warnings of a save are on the page it leads to, and stay in the form that is saved again', async ({
    page,
    daemon,
  }) => {
    const url = await daemon.source('gateway', {
      labels: [{ name: 'service', field: 'service', primary: true }],
    })
    await daemon.call('POST', url, { service: 'pay' })
    await page.goto(`${daemon.url}/triggers/new?source=gateway`)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('by-zone')
    await page.getByRole('button', { name: 'Add a filter' }).click()
    await page.getByRole('combobox', { name: 'Field of filter 1' }).fill('zone')
    await page.getByRole('textbox', { name: 'Value of filter 1' }).fill('a')
    await page.getByRole('button', { name: 'Add trigger' }).click()
    const warning = page
      .getByRole('main')
      .getByText(/names label zone, which the only event of gateway lacks/)
    await expect(page.getByRole('heading', { name: 'by-zone' })).toBeVisible()
    await expect(warning).toBeVisible()
    // It stands for as long as it holds, on each tab, and once.
    await page.getByRole('tab', { name: 'Edit' }).click()
    await expect(warning).toHaveCount(1)
    await page.getByRole('button', { name: /^More options/ }).click()
    await page.getByRole('textbox', { name: 'Description' }).fill('a zone is named')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByText('by-zone is saved').last()).toBeVisible()
    await expect(warning).toHaveCount(1)
  })

  test('pages that fill the window leave room for the banner of a degraded daemon', async ({
    page,
    daemon,
  }) => {
    const { id } = await daemon.ask<{ id: string }>('POST', '/api/projects', {
      template: 'webhook_watch',
      name: 'Checkout',
      params: { service: 'checkout' },
    })
    await page.goto(`${daemon.url}/projects/${id}?tab=graph`)
    await expect(page.getByRole('status').filter({ hasText: 'Degraded' })).toBeVisible()
    await expect(page.locator('.graph-canvas')).toBeVisible()
    await settled(page)
    const fits = () => page.evaluate('document.documentElement.scrollHeight <= innerHeight')
    await expect.poll(fits).toBe(true)
    await goTo(page, `${daemon.url}/explore?l=service%3Dcheckout`)
    await expect(page.getByRole('heading', { name: 'Explore' })).toBeVisible()
    await expect.poll(fits).toBe(true)
    await goTo(page, `${daemon.url}/projects/${id}/replay`)
    await expect(page.getByRole('region', { name: 'Player' })).toBeVisible()
    await settled(page)
    await expect.poll(fits).toBe(true)
  })
})

test('Explore says that no event has a label, instead of that nothing happened', async ({ page, daemon }) => {
  const url = await daemon.source('gateway', {
    labels: [{ name: 'service', field: 'service', primary: true }],
  })
  await page.goto(`${daemon.url}/explore`)
  await expect(page.getByText('No event has a label yet')).toBeVisible()
  await page.getByRole('button', { name: 'gateway', exact: true }).click()
  await expect(page).toHaveURL(/source=gateway/)
  // Back leads to what it was chosen from.
  await page.goBack()
  await expect(page.getByText('No event has a label yet')).toBeVisible()
  await daemon.call('POST', url, { service: 'pay' })
  await goTo(page, `${daemon.url}/explore?l=servce%3Dpay`)
  await expect(page.getByText('No event has the label servce (did you mean service?).')).toBeVisible()
  await expect(page.getByText('No events in this window')).toHaveCount(0)
  await goTo(page, `${daemon.url}/explore?l=service%3Dcart`)
  await expect(page.getByText('No events in this window')).toBeVisible()
})
