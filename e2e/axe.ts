/** Accessibility of a page as it stands, in both colour schemes: only contrast differs between them. */
import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']

/** @param what the page is called in a fault. @returns a line for each fault; none: there is no fault */
export async function accessibilityFaults(page: Page, what: string): Promise<string[]> {
  const faults: string[] = []
  for (const scheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    await page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor({ state: 'attached' })
    const axe = new AxeBuilder({ page })
    const { violations } = await (scheme === 'light'
      ? axe.withTags(TAGS)
      : axe.withRules(['color-contrast'])
    ).analyze()
    for (const { id, nodes } of violations)
      for (const { html } of nodes) faults.push(`${what}, ${scheme}: ${id}: ${html.slice(0, 200)}`)
  }
  return faults
}
