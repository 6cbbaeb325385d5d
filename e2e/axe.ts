/** Accessibility of a page as it stands, in both colour schemes: only contrast differs between them. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from '@playwright/test'
import type { RunOptions } from 'axe-core'

/** The small form, which a page reads in half the time of the other (2026-11-26: 0.08 s for 0.16 s). */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']
/** Style sheets are not fetched again: no rule of these tags looks into them. */
const EACH: RunOptions = { preload: false, iframes: false }
const STRUCTURE: RunOptions = {
  ...EACH,
  resultTypes: ['violations'],
  runOnly: { type: 'tag', values: TAGS },
  rules: { 'color-contrast': { enabled: false } },
}
const CONTRAST: RunOptions = {
  ...EACH,
  resultTypes: ['violations', 'passes'],
  elementRef: true,
  selectors: false,
  runOnly: { type: 'rule', values: ['color-contrast'] },
}

/**
 * Colours of text that axe found readable, in this worker. Four fifths of axe's time went into contrast, and nearly all of it
 * into what it had measured on the page before: the menu, heads of tables, fields of forms (2026-11-27).
 */
const readable = new Set<string>()

/** Colours on their way from one scheme to the other are no fault. */
const SETTLE = `for (const animation of document.getAnimations())
  if (animation instanceof CSSTransition) animation.finish()`

/**
 * Runs in the page: what stands on the page as text, by its colour, size and weight and all that is painted behind it.
 * What is laid over others has its class in that, too, as it may lie on what it does not stand in.
 */
const COLOURS = `(() => {
  const around = new Map()
  const elements = new Map()
  for (const element of document.querySelectorAll('html, body, body *')) {
    const style = getComputedStyle(element)
    let { laid, ground } = around.get(element.parentNode) ?? { laid: '', ground: '' }
    if (/^(absolute|fixed|sticky)$/.test(style.position)) laid += ' ' + element.className
    for (const [name, usual] of [['opacity', '1'], ['filter', 'none'], ['mixBlendMode', 'normal']])
      if (style[name] !== usual) laid += ' ' + style[name]
    const { backgroundColor: colour, backgroundImage: image } = style
    // Nothing is seen of what is behind a colour that covers it.
    if (colour.startsWith('rgb(')) ground = colour
    else if (colour !== 'rgba(0, 0, 0, 0)') ground += ' ' + colour
    if (image !== 'none') ground += ' ' + image
    around.set(element, { laid, ground })
    const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
    const isField = element.matches('select, input:not([type=checkbox], [type=radio], [type=range]), textarea')
    if (!isText && !(isField && (element.value || element.placeholder))) continue
    const look = [style.color, style.fontSize, style.fontWeight, style.textShadow, ground, laid].join('|')
    elements.set(look, [...(elements.get(look) ?? []), element])
  }
  window.colours = elements
  return [...elements.keys()]
})()`

/** @param what the page is called in a fault. @returns a line for each fault; none: there is no fault */
export async function accessibilityFaults(page: Page, what: string): Promise<string[]> {
  const faults: string[] = []
  // The scheme the page has comes first: each change of it draws the whole page anew.
  const now = await page.locator('html').getAttribute('data-mantine-color-scheme')
  // Run in the page itself: its pages have no frames, for which a driver would open more pages.
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(AXE)
  for (const scheme of now === 'dark' ? (['dark', 'light'] as const) : (['light', 'dark'] as const)) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
    await page.locator(`html[data-mantine-color-scheme="${scheme}"]`).waitFor({ state: 'attached' })
    await page.evaluate(SETTLE)
    // But for its colours a page is the same in both.
    const found = [...(await unreadable(page)), ...(scheme === 'light' ? await structureFaults(page) : [])]
    for (const fault of found) faults.push(`${what}, ${scheme}: ${fault}`)
  }
  return faults
}

/** In the page: whether an element can be read just now. axe says nothing of what is hidden, or under something else. */
const IS_SEEN = `element.checkVisibility() && (({ x, y, width, height }) => {
  const top = document.elementFromPoint(x + width / 2, y + height / 2)
  return width > 1 && height > 1 && (top === null ? y > innerHeight : top.contains(element) || element.contains(top))
})(element.getBoundingClientRect())`

/** A line for each fault. */
const LINES = `violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200)))`

/** Only the faults leave the page: what axe found right is a hundred times as much. */
const structureFaults = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(
    `axe.run(document, ${JSON.stringify(STRUCTURE)}).then(({ violations }) => ${LINES})`,
  )

/** Text that stands out too little: what has other colours than all that was found readable before is measured. */
async function unreadable(page: Page): Promise<string[]> {
  const unknown = (await page.evaluate<string[]>(COLOURS)).filter((look) => !readable.has(look))
  if (unknown.length === 0) return []
  const { faults, passed } = await page.evaluate<{ faults: string[]; passed: string[] }>(
    `(() => {
      const looks = new Map()
      for (const look of ${JSON.stringify(unknown)})
        for (const element of colours.get(look)) if (${IS_SEEN}) looks.set(element, look)
      if (looks.size === 0) return { faults: [], passed: [] }
      return axe.run({ include: [...looks.keys()] }, ${JSON.stringify(CONTRAST)}).then(({ violations, passes }) => ({
        faults: ${LINES},
        passed: passes.flatMap(({ nodes }) => nodes.map(({ element }) => looks.get(element))).filter(Boolean),
      }))
    })()`,
  )
  if (faults.length === 0) for (const look of passed) readable.add(look)
  return faults
}
