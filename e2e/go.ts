/** Going to a page as a link of the console does: what is loaded stays loaded. */
import type { Page } from '@playwright/test'

/** @param url of the console; the first page is loaded, and so is one of another daemon */
export async function goTo(page: Page, url: string): Promise<void> {
  const { origin, pathname, search } = new URL(url)
  if (!page.url().startsWith(`${origin}/`)) {
    await page.goto(url)
    return
  }
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(pathname + search)}); dispatchEvent(new PopStateEvent('popstate'))`,
  )
}
