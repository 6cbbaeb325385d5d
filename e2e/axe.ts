/** Accessibility of a page as it stands, in both colour schemes: only contrast differs between them. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from '@playwright/test'
import type { RunOptions } from 'axe-core'

/** The small form, which a page reads in half the time of the other (2026-11-26: 0.08 s for 0.16 s). */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']
/** Style sheets are not fetched again: no rule of these tags looks into them. */
const EACH: RunOptions = { resultTypes: ['violations'], preload: false, iframes: false }
const WANTED: Record<'dark' | 'light', RunOptions> = {
  dark: { ...EACH, runOnly: { type: 'rule', values: ['color-contrast'] } },
  light: { ...EACH, runOnly: { type: 'tag', values: TAGS } },
}

/** Colours on their way from one scheme to the other are no fault. */
const SETTLE = `for (const animation of document.getAnimations())
  if (animation instanceof CSSTransition) animation.finish()`

/** @param what the page is called in a fault. @returns a line for each fault; none: there is no fault */
export async function accessibilityFaults(page: Page, what: string): Promise<string[]> {
  const faults: string[] = []
  // The scheme the page has comes first: each change of it draws the whole page anew.
  const now = await page.locator('html').getAttribute('data-mantine-color-scheme')
  for (const scheme of now === 'dark' ? (['dark', 'light'] as const) : (['light', 'dark'] as const)) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    await page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor({ state: 'attached' })
    // Run in the page itself: its pages have no frames, for which a driver would open more pages.
    if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(AXE)
    // Only the faults leave the page: what axe found right is a hundred times as much.
    const found = await page.evaluate<string[]>(
      `${SETTLE}
      axe.run(document, ${JSON.stringify(WANTED[scheme])}).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`,
    )
    for (const fault of found) faults.push(`${what}, ${scheme}: ${fault}`)
  }
  return faults
}
