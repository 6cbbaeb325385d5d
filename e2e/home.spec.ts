/** Home in its three states: nothing was ever sent, quiet, on fire. */
import { expect } from '@playwright/test'
import { test } from './agents.ts'
import { accessibilityFaults } from './axe.ts'
import { share } from './daemon.ts'
import { goTo, placeOf, press, settled } from './go.ts'
import { actOnAll, HEADLINE, incidentsOf, NEXT, onScreen, prepare } from './incidents.ts'

test('Home is empty at first, becomes quiet with the first event, and lists what is at work', async ({
  page,
  daemon,
}) => {
  await page.goto(daemon.url)
  await expect(page.getByRole('heading', { level: 1, name: 'Send your first event' })).toBeVisible()
  await expect(page.getByText('svc keeps the events of your systems on one timeline.')).toBeVisible()
  for (const door of ['Send an event', 'Describe a goal', 'Load the demo'])
    await expect(page.getByRole('region', { name: door })).toBeVisible()
  const faults = await accessibilityFaults(page, 'empty Home')
  await page.getByRole('button', { name: 'Make a source' }).click()
  const command = page.getByRole('region', { name: 'Send an event' }).locator('pre')
  await expect(command).toContainText('/ingest/')
  await expect(page.getByText('Waiting for the first event of app.')).toBeVisible()
  const [, path] = /(\/ingest\/[^\s']+)/.exec((await command.textContent())!)!
  await daemon.call('POST', path!, { service: 'checkout', level: 'info', msg: 'hello' })
  await expect(page.getByRole('heading', { level: 1, name: 'No open incidents' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Events today: 1' })).toBeVisible()
  const next = page.getByRole('region', { name: 'Events arrive from app' })
  await expect(next.getByRole('link', { name: 'Add a trigger' })).toHaveAttribute(
    'href',
    '/triggers/new?source=app',
  )
  await expect(next.getByRole('link', { name: 'See the events' })).toBeVisible()
  const table = page.getByRole('table', { name: /^Events of the last 24 hours$/ })
  await expect(table.getByRole('row')).toHaveCount(2)
  await settled(page)
  faults.push(...(await accessibilityFaults(page, 'quiet Home')))
  expect(faults).toEqual([])
})

test.describe('on fire', () => {
  share({
    prepare: async (daemon, models) => {
      const { fail } = await prepare(daemon, models)
      await fail('checkout')
      await expect.poll(async () => (await incidentsOf(daemon, 1))[0]!.headline).toBe(HEADLINE)
    },
  })
  test.afterEach(({ daemon }) => actOnAll(daemon, 'reopen'))

  test('Paged: from /, name, cause and next step of the worst incident are readable without scrolling, and one key acknowledges it', async ({
    page,
    daemon,
  }) => {
    await page.goto(daemon.url)
    await expect(page.getByRole('heading', { level: 1, name: '1 open incident' })).toBeVisible()
    const first = page.getByRole('list', { name: 'Incidents' }).getByRole('listitem').first()
    for (const text of [HEADLINE, 'investigate', '2 of 2 claims hold', NEXT, 'service=checkout']) {
      const shown = first.getByText(text, { exact: false }).first()
      await expect(shown).toBeVisible()
      await onScreen(page, shown, text)
    }
    // The title and the icon of the tab say that an incident is open.
    await expect(page).toHaveTitle('(1) Home · svc')
    await expect(page.locator('link[rel="icon"]')).toHaveAttribute('href', /^data:image\/svg\+xml,.*e5342b/)
    await press(page, 'a')
    await expect(first).toHaveAttribute('data-state', 'acknowledged')
    await expect.poll(async () => (await incidentsOf(daemon, 1))[0]!.state).toBe('acknowledged')
    await expect(page).toHaveTitle('Home · svc')
    await expect(page.getByRole('heading', { level: 1, name: 'No open incidents' })).toBeVisible()
  })

  test('Paged on a phone: one tap acknowledges', async ({ page, daemon }) => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(daemon.url)
    await page.getByRole('button', { name: 'Acknowledge #1' }).click()
    await expect.poll(async () => (await incidentsOf(daemon, 1))[0]!.state).toBe('acknowledged')
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(async () => (await incidentsOf(daemon, 1))[0]!.state).toBe('open')
    await page.goto(`${daemon.url}/incidents/1`)
    const tap = page
      .getByRole('region', { name: 'Acts on a phone' })
      .getByRole('button', { name: 'Acknowledge' })
    expect((await placeOf(tap)).height).toBeGreaterThanOrEqual(44)
    await tap.click()
    await expect.poll(async () => (await incidentsOf(daemon, 1))[0]!.state).toBe('acknowledged')
  })

  test('Access: Home on fire has no fault; going to a page moves the focus to its heading', async ({
    page,
    daemon,
  }) => {
    await page.goto(daemon.url)
    await expect(page.getByRole('list', { name: 'Incidents' })).toBeVisible()
    await settled(page)
    const faults = await accessibilityFaults(page, 'Home on fire')
    await page.setViewportSize({ width: 390, height: 844 })
    await settled(page)
    faults.push(...(await accessibilityFaults(page, 'Home on a phone')))
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(faults).toEqual([])
    await page.setViewportSize({ width: 1440, height: 900 })
    await goTo(page, `${daemon.url}/incidents`)
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Triggers' }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'Triggers' })).toBeFocused()
  })
})
