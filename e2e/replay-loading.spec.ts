/** Where a replay opens, and what it says before all of it is there. */
import { expect, type Page } from '@playwright/test'
import { share, test } from './daemon.ts'
import { goTo } from './go.ts'
import { each, imported, partsOf, removeAll, source, trigger } from './graphs.ts'

share()
test.afterEach(({ daemon }) => removeAll(daemon))

const player = (page: Page) => page.getByRole('region', { name: 'Player' })

/** Answers of replays wait until they are let go. */
async function heldBack(page: Page): Promise<() => void> {
  let letGo = () => {}
  const gate = new Promise<void>((resolve) => {
    letGo = resolve
  })
  await page.route(/\/api\/projects\/[^/]+\/replay\?/, async (route) => {
    await gate
    await route.continue()
  })
  return letGo
}

const shop = () => ({
  sources: [source('gateway')],
  triggers: [trigger('gateway-errors', ['gateway'])],
  projects: [partsOf([source('gateway')])],
})

test('a span in which nothing happened is called so once it is loaded, and never before', async ({
  page,
  daemon,
}) => {
  const id = await imported(daemon, shop())
  const letGo = await heldBack(page)
  const day = 'from=2026-01-01T00:00:00Z&to=2026-01-01T01:00:00Z'
  await goTo(page, `${daemon.url}/projects/${id}/replay?${day}`)
  await expect(page.getByText('Loading what happened')).toBeVisible()
  await expect(page.getByText('Nothing in this span')).toHaveCount(0)
  // What was opened while it loads stays open once it is there.
  await page.getByRole('button', { name: 'Another span' }).click()
  const span = page.getByRole('menuitem', { name: 'Another span…' })
  await expect(span).toBeVisible()
  letGo()
  await expect(player(page)).toContainText('Nothing in this span')
  await expect(span).toBeVisible()
})

test('a replay opens at the newest moment, at the firing that is asked for, and loads around where one goes', async ({
  page,
  daemon,
}) => {
  const id = await imported(daemon, shop())
  const { ingest_key } = await daemon.ask<{ ingest_key: string }>('GET', '/api/sources/gateway')
  for (const service of ['pay', 'cart', 'search'])
    for (const status of each(12, (i) => 500 + i))
      await daemon.call('POST', `/ingest/${ingest_key}`, { service, status })
  const firings = async () =>
    (
      await daemon.ask<{ firings: { dispatch_id: string; fired_at: string; key: string }[] }>(
        'GET',
        '/api/firings',
      )
    ).firings
  await expect.poll(async () => (await firings()).length).toBe(3)
  const first = (await firings()).find(({ key }) => key === 'pay')!
  // An answer holds few moments here, so that a short span is a long one.
  let asked = 0
  await page.route(/\/api\/projects\/[^/]+\/replay\?/, async (route) => {
    asked++
    await route.continue({
      url: route
        .request()
        .url()
        .replace(/limit=\d+/, 'limit=20'),
    })
  })
  await page.clock.install()
  await goTo(page, `${daemon.url}/projects/${id}/replay`)
  // The last event of the last service.
  await expect(player(page)).toContainText('12 events in 5m')
  await expect(page.getByRole('button', { name: 'Load earlier' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Next firing' })).toBeDisabled()
  await expect(page.getByText('Nothing in this span')).toHaveCount(0)

  // At the start nothing is loaded yet, until it is.
  const before = asked
  await page.clock.pauseAt(Date.now() + 60_000)
  await page.getByRole('slider').focus()
  await page.getByRole('slider').press('Home')
  await expect(player(page)).toContainText('Not loaded yet')
  await page.clock.runFor(300)
  await expect(player(page)).toContainText('Before the first moment')
  expect(asked).toBeGreaterThan(before)
  await expect(page.getByRole('button', { name: 'Load later' })).toBeVisible()

  // Straight on to the end, before the page has settled at the start, whose loading is not asked for once more.
  await page.getByRole('slider').press('End')
  await page.clock.runFor(300)
  await expect(player(page)).toContainText('12 events in 5m')
  await page.clock.resume()

  const span = `from=${encodeURIComponent(new Date(Date.parse(first.fired_at) - 60_000).toISOString())}`
  await page.goto(
    `${daemon.url}/projects/${id}/replay?${span}&at=${encodeURIComponent(first.fired_at)}&firing=${first.dispatch_id}`,
  )
  await expect(player(page)).toContainText('gateway-errors fired for pay')
})
