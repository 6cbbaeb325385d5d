/** A span of events over time is taken by mouse and by keys, on Home, Explore and the page of an incident, and given back. */
import { expect, type Page } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { type RunningDaemon, share, test } from './daemon.ts'
import { goTo, placeOf, press } from './go.ts'

const brush = (page: Page) => page.getByRole('slider')

/** Errors of a service over minutes, a deploy before the last, and the incident that they open. */
async function burst(daemon: RunningDaemon): Promise<void> {
  const url = await daemon.source('app', {
    event_type_field: 'type',
    event_time_field: 'at',
    text_template: '{msg}',
    labels: [{ name: 'service', field: 'service', primary: true }],
  })
  await daemon.call('POST', '/api/triggers', {
    name: 'errors',
    sources: ['app'],
    condition: { aggregate: 'count', predicate: '> 4', window: '5m', group_by: ['service'] },
    filters: [{ field: 'event_type', op: 'eq', value: 'error' }],
  })
  const now = Date.now()
  const at = (minutes: number) => new Date(now - minutes * 60_000).toISOString()
  const rows = [
    ...[8, 7, 6, 5].map((m) => ({ type: 'info', msg: `fine ${m}`, at: at(m) })),
    { type: 'deploy', msg: 'deploy v2.4.1 of checkout', at: at(2) },
    ...[0.5, 0.4, 0.3, 0.2, 0.1].map((m) => ({ type: 'error', msg: `POST /orders 503 ${m}`, at: at(m) })),
  ]
  for (const row of rows) await daemon.call('POST', url, { service: 'checkout', ...row })
}

share({ prepare: burst })

test('on Explore by keys and by mouse; Reset span shows what was shown before', async ({ page, daemon }) => {
  await page.goto(`${daemon.url}/explore?l=service%3Dcheckout&window=15m`)
  await expect(page.getByText('10 events').first()).toBeVisible()
  await brush(page).focus()
  await press(page, 'End', 'Shift+Home')
  await expect(brush(page)).toHaveAttribute('aria-valuetext', / to /)
  await press(page, 'Escape')
  await expect(brush(page)).toHaveAttribute('aria-valuetext', /steps$/)
  await press(page, 'End', 'Shift+PageDown', 'Enter')
  await expect(page).toHaveURL(/from=/)
  await expect(page.getByText('fine 8')).toHaveCount(0)
  await expect(page.getByText('POST /orders 503 0.5')).toBeVisible()
  expect(await accessibilityFaults(page, 'a span of Explore')).toEqual([])
  await page.getByRole('button', { name: 'Reset span' }).click()
  await expect(page).toHaveURL(/window=15m/)
  await expect(page.getByText('fine 8')).toBeVisible()
  const box = await placeOf(brush(page))
  await page.mouse.move(box.x + box.width * 0.2, box.y + 20)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.75, box.y + 20, { steps: 5 })
  await page.mouse.up()
  await expect(page).toHaveURL(/from=.*to=/)
  await expect(page.getByText('POST /orders 503 0.5')).toHaveCount(0)
  await expect(page.getByText('fine 6')).toBeVisible()
})

test('on an incident it narrows the evidence, and the line of why it fired shows the deploy before', async ({
  page,
  daemon,
}) => {
  await expect
    .poll(async () => (await daemon.ask<{ incidents: unknown[] }>('GET', '/api/incidents')).incidents.length)
    .toBe(1)
  await page.goto(`${daemon.url}/incidents/1`)
  const why = page.getByRole('region', { name: 'Why it fired' })
  await expect(why.locator('.change-mark text')).toHaveText('deploy v2.4.1 of checkout')
  // With its day where it was before midnight.
  await expect(why.getByRole('img')).toHaveAccessibleName(
    /deploy v2\.4\.1 of checkout at (\w+ \d+, )?\d\d:\d\d/,
  )
  await brush(page).focus()
  await press(page, 'Home', 'Shift+PageUp', 'Shift+PageUp', 'Shift+PageUp', 'Enter')
  const evidence = page.getByRole('region', { name: 'Evidence' })
  await expect(evidence.getByRole('button', { name: 'Reset span' })).toBeVisible()
  await expect(evidence.getByText(/POST .orders 503/)).toHaveCount(0)
  await expect(page).toHaveURL(/from=.*to=/)
  expect(await accessibilityFaults(page, 'a span of an incident')).toEqual([])
  // The address is the view: it can be sent.
  await page.reload()
  await evidence.getByRole('button', { name: 'Reset span' }).click()
  await expect(evidence.getByText(/POST .orders 503/).first()).toBeVisible()
  // That nothing came since says nothing while its source takes nothing in.
  await daemon.call('POST', '/api/sources/app/pause', {})
  await page.reload()
  const still = /took nothing in since (\w+ \d+, )?\d\d:\d\d:\d\d \(paused\): events may be missing$/
  await expect(evidence.getByText(still)).toBeVisible()
  await expect(why.locator('rect[data-gap]')).toBeVisible()
  await expect(why.getByRole('img')).toHaveAccessibleName(/app took nothing in for a part of it/)
  await goTo(page, `${daemon.url}/explore?l=service%3Dcheckout&window=15m`)
  await expect(page.getByText(still)).toBeVisible()
  await expect(page.locator('.density rect[data-gap]')).toBeVisible()
  await daemon.call('POST', '/api/sources/app/resume', {})
})

test('on Home it opens Explore with all that came in it', async ({ page, daemon }) => {
  await daemon.source('unused', {})
  await page.goto(`${daemon.url}/`)
  await page.getByText('1 h', { exact: true }).click()
  await expect(brush(page)).toHaveAttribute('aria-label', /Opens Explore/)
  await brush(page).focus()
  await press(page, 'End')
  await expect(brush(page)).toHaveAttribute('aria-valuetext', /error, \d+ warn, \d+ other/)
  await press(page, 'Shift+Home', 'Enter')
  await expect(page).toHaveURL(/\/explore\?from=.*&to=.*&source=app$/)
  await expect(page.getByText('POST /orders 503 0.5')).toBeVisible()
  await expect(page.getByText('deploy v2.4.1 of checkout')).toBeVisible()
  // So does the number of events of today; no list to pick from stands between.
  await goTo(page, `${daemon.url}/`)
  await page.getByRole('link', { name: /^Events today/ }).click()
  await expect(page).toHaveURL(/\/explore\?from=[^&]*&source=app$/)
})
