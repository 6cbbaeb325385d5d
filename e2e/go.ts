/** Going to pages of the console, and pressing keys once they listen. */
import { expect, type Locator, type Page } from '@playwright/test'

/**
 * Goes to a page, which from then on is the one on the screen.
 * @param url of the console; the first page is loaded, and so is one of another daemon
 */
export async function goTo(page: Page, url: string): Promise<void> {
  const { origin, pathname, search } = new URL(url)
  if (page.url().startsWith(`${origin}/`))
    await page.evaluate(
      `history.pushState(null, '', ${JSON.stringify(pathname + search)}); dispatchEvent(new PopStateEvent('popstate'))`,
    )
  else await page.goto(url)
  // What the page before has is not taken for this one's.
  await settled(page)
}

/**
 * Waits for the page's own signs that it is ready: it names its path once it listens to its keys, and a task of
 * the lowest priority runs once nothing that was to run is left, such as the listeners of what was just drawn.
 * @param shown path of the page that is drawn, where the address is of the next one already
 */
export async function settled(page: Page, shown = ''): Promise<void> {
  // Asked by evaluate, which the console's content security policy does not bear on; again where a load ends what was asked.
  await expect(async () => {
    await page.evaluate(`(${WHEN_READY})(${JSON.stringify(shown)})`)
  }).toPass({ timeout: 60_000, intervals: [20, 50, 100] })
}

/**
 * Runs in the page, which waits itself: nearly every step of a test waits for this, and to be asked now and then takes
 * twice the calls, and time between them. The last task comes after all that waits to run; not by requestIdleCallback,
 * which Chromium holds back for seconds on some idle pages, as after a second Tab without a frame between (2026-11-26).
 */
const WHEN_READY = `async (shown) => {
  const isReady = () => document.documentElement.dataset.page === (shown || location.pathname)
  for (let waited = 0; !isReady(); waited += 10) {
    if (waited > 5_000) throw new Error('at ' + location.pathname + ' the page is ' + document.documentElement.dataset.page)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await scheduler.postTask(() => undefined, { priority: 'background' })
}`

/** What stands on a page in place of what it is still reading. */
export const stillLoading = (page: Page): Locator =>
  page.locator('.mantine-Skeleton-root:visible, .mantine-Loader-root:visible, [aria-label="Loading"]')

/** Where it is, in pixels of the window, once the page is ready and it stands still: what loads moves what is on it. */
export async function placeOf(
  what: Locator,
): Promise<{ x: number; y: number; width: number; height: number }> {
  await settled(what.page())
  let at = ''
  await expect
    .poll(async () => {
      const before = at
      at = JSON.stringify(await what.boundingBox())
      return at !== 'null' && at === before
    })
    .toBe(true)
  return JSON.parse(at) as { x: number; y: number; width: number; height: number }
}

/** Presses keys, one after another, each once the page is ready for it. */
export async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) {
    await settled(page)
    await page.keyboard.press(key)
  }
}

/**
 * Waits until what opened over the page has taken the focus and keeps it within. A dialog does so by two timers, of its
 * element and of its effect; a key that is pressed before goes to what the dialog focuses first, such as Cancel, and a Tab
 * out of the dialog.
 */
export async function focusKept(page: Page): Promise<void> {
  await settled(page)
  // The effect has run, so this timer is later than that of the effect.
  await page.evaluate('new Promise((done) => setTimeout(done))')
}

/** Presses a key on a part of a dialog once the dialog has taken the focus. */
export async function pressInDialog(what: Locator, key: string): Promise<void> {
  const page = what.page()
  await expect(page.locator('[aria-modal="true"]:focus-within')).toHaveCount(1)
  await focusKept(page)
  await what.press(key)
}
