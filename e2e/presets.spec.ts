/** Issue 21, 6: a webhook of a known sender: chosen from the list, and offered by what an address received. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { share, test } from './daemon.ts'
import { goTo } from './go.ts'

const presets = JSON.parse(
  readFileSync(fileURLToPath(new URL('../catalog/presets.json', import.meta.url)), 'utf8'),
) as Record<string, { examples: { headers: Record<string, string>; body: unknown }[] }>

share()

test('a sender is searched and chosen; its source says where the address goes, and reads what it documents', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/sources/new?connector=webhook`)
  const senders = page.getByRole('region', { name: 'Known senders' })
  await expect(senders.getByRole('listitem')).toHaveCount(Object.keys(presets).length)
  await page.getByRole('textbox', { name: 'Search senders' }).fill('alerts of grafana')
  await expect(senders.getByRole('listitem')).toHaveCount(1)
  await page.getByRole('textbox', { name: 'Search senders' }).press('Enter')
  const chosen = page.getByRole('region', { name: 'Preset Grafana' })
  await expect(chosen).toContainText('Contact points')
  await expect(chosen).toContainText('HMAC Signature')
  await expect(senders).toBeHidden()
  await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue('grafana')
  expect(await accessibilityFaults(page, 'chosen')).toEqual([])
  await page.getByRole('button', { name: 'Create source' }).click()
  await expect(page.getByText('Waiting for the first event…')).toBeVisible()
  const { ingest_key, config } = await daemon.ask<{ ingest_key: string; config: object }>(
    'GET',
    '/api/sources/grafana',
  )
  expect(config).toEqual({ preset: 'grafana' })
  await daemon.call('POST', `/ingest/${ingest_key}`, presets.grafana!.examples[0]!.body as object)
  await expect(page.getByText('Events arrive: 2 so far.')).toBeVisible()
  await expect(page.getByText('is firing: This alert was triggered').first()).toBeVisible()
})

test('what an address received looks like a known sender: its preset is taken by a click', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/sources/new`)
  await page.getByRole('button', { name: 'Make an address' }).click()
  await expect(page.getByText('Waiting for the first event…')).toBeVisible()
  const { ingest_key } = await daemon.ask<{ ingest_key: string }>('GET', '/api/sources/webhook')
  await daemon.call('POST', `/ingest/${ingest_key}`, presets.pagerduty!.examples[0]!.body as object)
  const offer = page.getByRole('region', { name: 'This looks like PagerDuty' })
  await expect(offer).toBeVisible()
  expect(await accessibilityFaults(page, 'offer')).toEqual([])
  await offer.getByRole('button', { name: 'Use the preset' }).click()
  const after = page.getByRole('list', { name: 'Rows after' })
  await expect(after).toContainText('service=API Service')
  await expect(after).toContainText('incident.triggered')
  await page.getByRole('button', { name: 'Apply' }).click()
  await expect
    .poll(() => daemon.ask<{ config: object }>('GET', '/api/sources/webhook').then(({ config }) => config))
    .toEqual({ preset: 'pagerduty' })
})

test('a pasted event offers it, too', async ({ page, daemon }) => {
  await goTo(page, `${daemon.url}/sources/new`)
  await page.getByLabel('Paste an event').fill(JSON.stringify(presets.uptime_kuma!.examples[0]!.body))
  await page.getByRole('button', { name: 'Use the preset' }).click()
  await expect(page.getByRole('list', { name: 'On the timeline' })).toContainText('monitor=checkout')
  await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue('uptime-kuma')
  await page.getByRole('button', { name: 'Create source' }).click()
  await expect(page.getByText('Waiting for the first event…')).toBeVisible()
  await expect(page.locator('pre', { hasText: /^curl/ })).toContainText('connect ECONNREFUSED')
})
