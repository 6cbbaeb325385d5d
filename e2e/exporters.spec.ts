/** Add a source: one that exporters send to says how they do, and shows what arrives. */
import { expect } from '@playwright/test'
import { RECORDED_HEADERS, recordedExport } from '../test/api/otlp/recorded/recorded.ts'
import { accessibilityFaults } from './axe.ts'
import { test } from './daemon.ts'
import { goTo } from './go.ts'

test('OpenTelemetry is added, told how to reach, and its records arrive; a drain says its endpoint', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/sources/new`)
  await page.getByRole('button', { name: /^OpenTelemetry/ }).click()
  await page.getByPlaceholder('gateway').fill('telemetry')
  await expect(page.getByRole('combobox', { name: 'Payload field' })).toHaveValue(
    'resourceAttributes.service.name',
  )
  await page.getByRole('button', { name: 'Create source' }).click()
  await expect(page.getByText('Waiting for the first event')).toBeVisible()
  await expect(page.getByText(`OTEL_EXPORTER_OTLP_ENDPOINT=${daemon.url}`)).toBeVisible()
  await expect(page.getByText('SVC_OTLP_GRPC_PORT is off where the daemon runs.')).toBeVisible()
  expect(await accessibilityFaults(page, 'created')).toEqual([])
  await page.getByRole('tab', { name: 'Collector' }).click()
  await expect(page.getByText(`endpoint: ${daemon.url}`)).toBeVisible()
  const attributes = [{ key: 'service.name', value: { stringValue: 'checkout' } }]
  const logRecords = [{ severityText: 'ERROR', body: { stringValue: 'payment refused' } }]
  const sent = await daemon.call('POST', '/v1/logs', {
    resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords }] }],
  })
  expect(sent.status).toBe(200)
  await expect(page.getByText('Events arrive: 1 so far.')).toBeVisible()
  await page.getByRole('link', { name: 'Open the source' }).click()
  await page.getByRole('tab', { name: 'Fields' }).click()
  await expect(page.getByText('resourceAttributes.service.name').first()).toBeVisible()
  await page.getByRole('tab', { name: 'Events' }).click()
  await expect(page.getByText('payment refused').first()).toBeVisible()

  // Issue 16: what Flask logs of an exception is found by the message of the exception.
  for (const signal of ['logs', 'traces'] as const)
    await fetch(`${daemon.url}/v1/${signal}`, {
      method: 'POST',
      headers: RECORDED_HEADERS,
      body: new Uint8Array(recordedExport('flask', signal, Date.now())),
    })
  await goTo(page, `${daemon.url}/explore?l=service%3Dshop&q=${encodeURIComponent('card declined')}`)
  await expect(page.getByText('CardDeclined: card declined: insufficient funds').first()).toBeVisible()
  await expect(page.getByText('charging customer 42')).toBeHidden()

  await goTo(page, `${daemon.url}/sources/new?connector=vercel`)
  await page.getByPlaceholder('gateway').fill('web')
  await page.getByLabel('Signature secret', { exact: true }).fill('drain')
  await page.getByRole('button', { name: 'Create source' }).click()
  await expect(page.getByText('Endpoint of the drain')).toBeVisible()
  await page.getByRole('link', { name: 'Open the source' }).click()
  await expect(page.getByText('Signatures are checked')).toBeVisible()
})
