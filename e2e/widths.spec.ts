/**
 * What stays readable between a phone and a desk, where the menu stands beside the page: what an event says, names of
 * tables, and what takes a long name out.
 */
import { expect } from '@playwright/test'
import { shareDemo, test } from './daemon.ts'
import { goTo, placeOf, stillLoading } from './go.ts'

shareDemo()

const WIDTHS = [768, 900, 1024]
/** Pixels of an event's text at least: some twenty letters. */
const TEXT_LEAST = 150
/** As long as names of real systems are. */
const LONG = 'payments-gateway-reconciliation-and-settlement-service-eu-west-1'

/** Words of names in tables that stand on two lines, each with its name. */
const BROKEN = `[...document.querySelectorAll('.rows td a')].flatMap((link) => {
  const range = document.createRange()
  const text = document.createTreeWalker(link, NodeFilter.SHOW_TEXT)
  const found = []
  while (text.nextNode())
    for (const { index, 0: word } of text.currentNode.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
      range.setStart(text.currentNode, index)
      range.setEnd(text.currentNode, index + word.length)
      const lines = [...range.getClientRects()].filter(({ width }) => width > 1).map(({ top }) => Math.round(top))
      if (new Set(lines).size > 1) found.push(word + ' of ' + link.textContent)
    }
  return found
})`

/** How many links of tables have the colour that a browser gives them. */
const UNSTYLED = `[...document.querySelectorAll('.rows td a')].filter((link) => {
  const unset = document.createElement('a')
  unset.href = '#'
  unset.className = 'unset'
  link.after(unset)
  const is = getComputedStyle(link).color === getComputedStyle(unset).color
  unset.remove()
  return is
}).length`

test('beside the menu an event says what it says, and no name of a table is broken within a word', async ({
  page,
  daemon,
}) => {
  test.slow()
  const made = await daemon.call('POST', '/api/agents/builtin', {
    name: 'first-responder-for-reconciliation-and-settlement',
    prompt: 'Say what broke.',
    trigger: 'demo-errors',
  })
  expect(made.status).toBeLessThan(300)
  const wrong: string[] = []
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    for (const path of ['/explore?l=service=checkout', '/sources/demo-app-logs?tab=events']) {
      await goTo(page, daemon.url + path)
      await expect(page.locator('.timeline-row .row-text').first()).toBeAttached()
      const least = await page.evaluate<number>(
        `Math.min(...[...document.querySelectorAll('.timeline-row .row-text')].map((one) => one.offsetWidth))`,
      )
      if (least < TEXT_LEAST) wrong.push(`${path} at ${width}: ${least} px of text`)
    }
    await goTo(page, `${daemon.url}/incidents/1`)
    await expect(page.locator('.evidence-row[data-kind="change"]').first()).toBeVisible()
    const narrow = await page.evaluate<number>(
      `Math.min(...[...document.querySelectorAll('.evidence-row > a:not([class])')].map((one) => one.offsetWidth))`,
    )
    if (narrow < TEXT_LEAST) wrong.push(`evidence at ${width}: ${narrow} px of text`)
    for (const path of ['/agents', '/triggers', '/sources', '/runs']) {
      await goTo(page, daemon.url + path)
      await expect(page.locator('main td').first()).toBeVisible()
      await expect(stillLoading(page)).toHaveCount(0)
      for (const one of await page.evaluate<string[]>(BROKEN)) wrong.push(`${path} at ${width}: ${one}`)
      const plain = await page.evaluate<number>(UNSTYLED)
      if (plain > 0) wrong.push(`${path} at ${width}: ${plain} links in the browser's own colour`)
    }
  }
  expect(wrong).toEqual([])
})

test('at any width the fields of a source show whole what makes a label of them', async ({
  page,
  daemon,
}) => {
  for (const width of [720, 768, 1024]) {
    await page.setViewportSize({ width, height: 900 })
    await goTo(page, `${daemon.url}/sources/demo-app-logs?tab=fields`)
    // Between the two it is a card for each field.
    await expect(page.getByRole('button', { name: /^Add .* as a label$/ }).first()).toBeInViewport({
      ratio: 1,
    })
    await expect(page.getByText('entity key')).toBeInViewport({ ratio: 1 })
  }
})

test('at 720 pixels and on a phone lists of runs, deliveries and agents are not cut off at the right', async ({
  page,
  daemon,
}) => {
  // A day later, when times say their day, too.
  await page.clock.setFixedTime(Date.now() + 100_000_000)
  for (const path of ['/runs', '/deliveries', '/agents']) {
    await goTo(page, daemon.url + path)
    await expect(page.locator('.rows td').first()).toBeVisible()
    for (const width of [720, 390]) {
      await page.setViewportSize({ width, height: 900 })
      // Marks too, which a card cuts off where they stick out.
      const hidden = await page.evaluate<number>(
        `(() => {
          const frame = document.querySelector('.rows-frame')
          const { right } = frame.getBoundingClientRect()
          const ends = [...frame.querySelectorAll('td *')].map((one) => one.getBoundingClientRect().right)
          return Math.max(frame.scrollWidth - frame.clientWidth, ...ends.map((end) => Math.ceil(end - right)))
        })()`,
      )
      expect.soft(hidden, `${path} at ${width}`).toBeLessThanOrEqual(0)
    }
  }
})

test('Explore calls a project by its name, whose id is the label of its findings', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/explore`)
  await page.getByRole('button', { name: /^Demo shop \d/ }).click()
  await expect(page).toHaveURL(/l=project(=|%3D)uc_/)
  await expect(page.getByText('project=Demo shop')).toBeVisible()
})

test('on a phone what takes a long entity out is in view, and tabs stand in one row with the chosen one in it', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await goTo(page, `${daemon.url}/explore?l=service=${LONG}`)
  await expect(page.getByRole('button', { name: `Remove service=${LONG}` })).toBeInViewport({ ratio: 1 })
  // What is asked for leaves room for what was found: what is set is unfolded by a button, which says that it is.
  await goTo(page, `${daemon.url}/explore?l=service=checkout&type=error`)
  expect((await placeOf(page.locator('.timeline-row').first())).y).toBeLessThan(844 * 0.7)
  await expect(page.getByRole('combobox', { name: 'Event types' })).toHaveCount(0)
  await page.getByRole('button', { name: 'Filters: 1' }).click()
  await expect(page.getByRole('combobox', { name: 'Event types' })).toBeVisible()
  for (const path of ['/settings?tab=prices', '/triggers/demo-errors?tab=history']) {
    await goTo(page, daemon.url + path)
    const chosen = page.getByRole('tab', { selected: true })
    // A scrolled row may stand a part of a pixel off.
    await expect(chosen).toBeInViewport({ ratio: 0.98 })
    const tops = await page.getByRole('tab').evaluateAll((tabs) =>
      // The page's own types are not those of this file.
      (tabs as { getBoundingClientRect(): { top: number } }[]).map((tab) => tab.getBoundingClientRect().top),
    )
    expect(new Set(tops).size).toBe(1)
  }
})

test('on a phone the chart of an incident says the whole time it fired, minutes later, too', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  // The chart goes on until now: its mark is at three quarters of it.
  await page.clock.setFixedTime(Date.now() + 200_000)
  await goTo(page, `${daemon.url}/incidents/1`)
  const name = page.locator('.fired-name')
  await expect(name).toHaveText(/^fired \d\d:\d\d:\d\d$/)
  const right = await page.evaluate<number>(
    `document.querySelector('.fired-name').getBoundingClientRect().right - document.querySelector('.fired-name').ownerSVGElement.getBoundingClientRect().right`,
  )
  expect(right).toBeLessThanOrEqual(0)
})

test('on a phone a card names nothing that it does not have', async ({ page, daemon }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  const made = await daemon.call('POST', '/api/entities/joined', {
    ...{ name: 'cart', is: ['service=cart', 'repo=shop/cart'], owned_by: ['team=shop'] },
  })
  expect(made.status).toBe(201)
  await goTo(page, `${daemon.url}/entities`)
  const row = page.getByRole('row').filter({ hasText: 'cart' })
  await expect(row.locator('[data-label="Owned by"]')).toHaveText('team=shop')
  await expect(row.locator('[data-label="Kind"]')).toBeHidden()
})

test('on a phone what svc itself lacks leaves the page its room, and is read with a tap', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  const detail = 'agents are switched on and no model provider is set, so none of them can run; '.repeat(3)
  await page.route('**/health', (route) =>
    route.fulfill({ status: 200, json: { status: 'degraded', detail, version: '1' } }),
  )
  await page.goto(`${daemon.url}/incidents`)
  const banner = page.getByRole('status').filter({ hasText: 'Degraded' })
  expect((await placeOf(banner)).height).toBeLessThan(110)
  await banner.getByText('What is wrong').click()
  await expect(banner.getByText('Agents are switched on')).toBeVisible()
})
