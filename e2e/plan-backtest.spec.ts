/** Under a plan, what its change would have done: run when it is asked for, with its chart and entities, and cancelled. */
import { expect, type Page } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { type RunningDaemon, share, test } from './daemon.ts'
import { goTo } from './go.ts'

const CATALOG = (cooldown: string) => `sources:
  - name: gw
    connector: webhook
    config: { labels: [{ name: service, field: service, primary: true }] }
triggers:
  - { name: errs, sources: [gw], condition: { event: any }, cooldown: ${cooldown} }
`

async function sent(daemon: RunningDaemon): Promise<void> {
  await daemon.call('POST', '/api/catalog/import', { yaml: CATALOG('1h') })
  const { ingest_key } = await daemon.ask<{ ingest_key: string }>('GET', '/api/sources/gw')
  const services = ['pay', 'cart', 'pay', 'cart', 'pay', 'search']
  await daemon.call(
    'POST',
    `/ingest/${ingest_key}`,
    services.map((service) => ({ service })),
  )
}

const section = (page: Page) => page.getByRole('region', { name: 'Backtest of the plan' })

/** Pictures of what is on the screen, where somebody asked for them. */
async function shots(page: Page, name: string): Promise<void> {
  const folder = process.env.SVC_TEST_SHOTS
  if (!folder) return
  for (const width of [1440, 390])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png`, fullPage: true })
    }
  await page.setViewportSize({ width: 1440, height: 900 })
}

share({ prepare: sent })

test('a proposal shows what it would have fired before and after, and which entities', async ({
  page,
  daemon,
}) => {
  const { id } = await daemon.ask<{ id: string }>('POST', '/api/proposals', {
    operations: [
      {
        op: 'patch',
        kind: 'trigger',
        name: 'errs',
        spec: { cooldown: '1s', filters: [{ field: 'service', op: 'neq', value: 'search' }] },
      },
    ],
    why: 'Less noise',
  })
  // Where a link of an agent or a message leads.
  await goTo(page, `${daemon.url}/changes?proposal=${id}`)
  await expect(page.getByRole('article')).toHaveCount(1)
  await page.getByRole('link', { name: 'All proposals' }).click()
  await expect(section(page)).toContainText('Stored events run through the triggers')
  await shots(page, 'proposal-before')
  await section(page).getByRole('button', { name: 'Run backtest' }).click()
  await expect(section(page)).toContainText('3 firings before, 2 firings after: 0 added, 1 gone, 2 the same')
  await expect(section(page).getByRole('img', { name: 'Firings of errs before and after' })).toBeVisible()
  await section(page).getByText('Entities', { exact: true }).click()
  await expect(section(page).getByRole('row', { name: 'search 1 0' })).toBeVisible()
  await section(page).getByText('Firings that differ').click()
  await expect(section(page).getByText('gone: search')).toBeVisible()
  await shots(page, 'proposal-done')
  expect(await accessibilityFaults(page, 'a proposal with its backtest')).toEqual([])
})

test('a catalog file shows it under its plan, and a backtest that runs is cancelled', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/changes?tab=catalog&view=import`)
  await page.getByRole('textbox', { name: 'Catalog file to import' }).fill(CATALOG('2h'))
  await section(page).getByRole('button', { name: 'Run backtest' }).click()
  await expect(section(page)).toContainText('3 firings before, 3 firings after: all the same')
  await expect(section(page)).toContainText('within a cooldown: 3 before, 3 after')
  await shots(page, 'catalog-done')

  // The answer is held back, so that there is something to cancel.
  let isAsked = false
  await page.route('**/api/change-sets/backtest', () => {
    isAsked = true
  })
  await section(page).getByRole('button', { name: 'Run backtest' }).click()
  await expect.poll(() => isAsked).toBe(true)
  await expect(section(page).getByRole('progressbar')).toBeAttached()
  await section(page).getByRole('button', { name: 'Cancel' }).click()
  await expect(section(page).getByRole('button', { name: 'Run backtest' })).toBeVisible()
  await expect(section(page)).toContainText('Stored events run through the triggers')
})

test('many triggers are shown a few at a time, and what fails is said', async ({ page, daemon }) => {
  const triggers = Array.from(
    { length: 12 },
    (_, n) => `  - { name: t${n}, sources: [gw], condition: { event: any }, cooldown: 1s }\n`,
  )
  await goTo(page, `${daemon.url}/changes?tab=catalog&view=import`)
  await page.getByRole('textbox', { name: 'Catalog file to import' }).fill(CATALOG('1h') + triggers.join(''))
  await section(page).getByRole('button', { name: 'Run backtest' }).click()
  const charts = section(page).getByRole('img', { name: /^Firings of/ })
  await expect(charts).toHaveCount(8)
  await section(page).getByRole('button', { name: 'Show 4 more triggers' }).click()
  await expect(charts).toHaveCount(12)
  await shots(page, 'catalog-many')

  await page.route('**/api/change-sets/backtest', (route) =>
    route.fulfill({ status: 503, json: { error: 'unavailable', detail: 'the daemon is starting' } }),
  )
  await section(page).getByRole('button', { name: 'Run backtest' }).click()
  await expect(section(page)).toContainText('the daemon is starting')
  await shots(page, 'catalog-failed')
})
