/**
 * What stays readable between a phone and a desk, where the menu stands beside the page: what an event says, names of
 * tables, and what takes a long name out.
 */
import { expect } from '@playwright/test'
import { shareDemo, test } from './daemon.ts'
import { goTo, stillLoading } from './go.ts'

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
    for (const path of ['/agents', '/triggers', '/sources', '/runs']) {
      await goTo(page, daemon.url + path)
      await expect(page.locator('main td').first()).toBeVisible()
      await expect(stillLoading(page)).toHaveCount(0)
      for (const one of await page.evaluate<string[]>(BROKEN)) wrong.push(`${path} at ${width}: ${one}`)
    }
  }
  expect(wrong).toEqual([])
})

test('on a phone what takes a long entity out is in view, and tabs stand in one row with the chosen one in it', async ({
  page,
  daemon,
}) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await goTo(page, `${daemon.url}/explore?l=service=${LONG}`)
  await expect(page.getByRole('button', { name: `Remove service=${LONG}` })).toBeInViewport({ ratio: 1 })
  await goTo(page, `${daemon.url}/settings?tab=prices`)
  const chosen = page.getByRole('tab', { selected: true })
  // A scrolled row may stand a part of a pixel off.
  await expect(chosen).toBeInViewport({ ratio: 0.98 })
  const tops = await page.getByRole('tab').evaluateAll((tabs) =>
    // The page's own types are not those of this file.
    (tabs as { getBoundingClientRect(): { top: number } }[]).map((tab) => tab.getBoundingClientRect().top),
  )
  expect(new Set(tops).size).toBe(1)
})
