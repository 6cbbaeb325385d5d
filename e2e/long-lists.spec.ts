/** Lists of an instance that has many parts: a page of rows is drawn, and what is looked for is found by typing. */
import { expect } from '@playwright/test'
import { share, test } from './daemon.ts'
import { goTo, placeOf } from './go.ts'

const MANY = 130
/** As of other lists (budgets.spec.ts); one of triggers has 33 elements in a row. */
const ELEMENTS_MAX = 2_500

share({
  prepare: async (daemon) => {
    const names = Array.from({ length: MANY }, (_, n) => `part-${n}`)
    const lines = [
      'sources:',
      ...names.map((name) => `  - { name: ${name}, connector: webhook }`),
      'triggers:',
      ...names.map((name) => `  - { name: ${name}, sources: [${name}], condition: { event: any } }`),
      'agents:',
      ...names.map((name) => `  - { name: ${name}, prompt: Look., model: m1 }`),
    ]
    const answer = await daemon.call('POST', '/api/catalog/import', { yaml: lines.join('\n') })
    expect(answer.status, await answer.text()).toBe(200)
  },
})

test('show 50 rows and how many there are; more are asked for; a filter is kept over Back and a reload', async ({
  page,
  daemon,
}) => {
  const rows = page.getByRole('main').getByRole('row')
  const elements = () => page.evaluate<number>(`document.querySelectorAll('*').length`)
  for (const path of ['/sources', '/triggers', '/agents', '/projects']) {
    await goTo(page, daemon.url + path)
    if (path !== '/projects') await expect(rows).toHaveCount(51)
    expect([path, (await elements()) < ELEMENTS_MAX]).toEqual([path, true])
  }
  await goTo(page, `${daemon.url}/sources`)
  await expect(page.getByText(`50 of ${MANY} are shown`)).toBeVisible()
  await page.getByRole('button', { name: 'Show 50 more sources' }).press('Enter')
  await expect(rows).toHaveCount(101)
  await page.getByRole('button', { name: 'Show 30 more sources' }).press('Enter')
  await expect(rows).toHaveCount(MANY + 1)
  // The button is gone, and the focus stays on the page.
  await expect(page.getByRole('button', { name: /more sources/ })).toHaveCount(0)
  await expect(page.locator('main :focus')).toHaveCount(1)

  await page.getByRole('textbox', { name: 'Filter sources' }).fill('webhook PART-12')
  await expect(rows).toHaveCount(12)
  await expect(page).toHaveURL(/q=webhook\+PART-12/)
  await page.getByRole('link', { name: 'part-129' }).click()
  await expect(page.getByRole('heading', { name: 'part-129', level: 1 })).toBeVisible()
  await page.goBack()
  await expect(rows).toHaveCount(12)
  await page.reload()
  await expect(rows).toHaveCount(12)
  await page.getByRole('textbox', { name: 'Filter sources' }).fill('nothing')
  await expect(page.getByText(`None of the ${MANY} sources match.`)).toBeVisible()
  // The page of the menu is all of it again, also where the address did not have all that was typed.
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Sources' }).click()
  await expect(rows).toHaveCount(51)

  const { projects } = await daemon.ask<{ projects: { id: string; name: string }[] }>('GET', '/api/projects')
  const { id } = projects.find(({ name }) => name === 'Default')!
  await goTo(page, `${daemon.url}/projects/${id}`)
  const watches = page.getByRole('region', { name: 'Watches' })
  await expect(watches.getByRole('link', { name: /^part-/ })).toHaveCount(10)
  await expect(watches.getByText(`10 of ${MANY} are shown`)).toBeVisible()
  await page.getByRole('tab', { name: 'Parts' }).click()
  await expect(page.getByRole('table', { name: 'Triggers' }).getByRole('row')).toHaveCount(51)
  await page.getByRole('textbox', { name: 'Filter parts' }).fill('part-77')
  await expect(rows).toHaveCount(6)
})

test('many sources that are chosen leave room for their events, and Explore says when there are more than it reads', async ({
  page,
  daemon,
}) => {
  const query = Array.from({ length: 100 }, (_, n) => `source=part-${n}`).join('&')
  await goTo(page, `${daemon.url}/explore?${query}`)
  await expect(page.getByText(`100 of ${MANY} sources: no read takes more`)).toBeVisible()
  const chosen = page.locator('.mantine-MultiSelect-pillsList').filter({ hasText: 'part-99' })
  expect((await placeOf(chosen)).height).toBeLessThan(100)
})
